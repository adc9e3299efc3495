"""Names of documents: what a file, and a row in a file, is called."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

ROW = "#"  # between a file's uri and what names a row in it

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # of two letters at least: C: is a drive


def is_absolute(uri: str) -> bool:
    """Whether a uri means the same wherever it stands, as `https://example.org/a` and `urn:isbn:1` do."""
    return bool(_SCHEME.match(uri))


@dataclass(frozen=True, slots=True)
class Naming:
    """How files are called: by their path from the project's folder, and outside of it by their whole path.

    So the name does not depend on the current folder, or on how the path is written, and files of two folders are never
    called the same. Slashes stand between folders on every system.
    """

    folder: Path | None = None

    def uri(self, path: Path | str) -> str:
        """The uri of a file or folder; that of the project's folder is a dot."""
        written = _absolute(Path(path))
        real = Path(os.path.realpath(written.parent), written.name)
        for folder, whole in ((_absolute(self.folder), written), (_real(self.folder), real)) if self.folder else ():
            if whole.is_relative_to(folder):
                return whole.relative_to(folder).as_posix()
        return real.as_posix()

    def path(self, uri: str) -> Path:
        """Where the file of this uri is, if it is that of a file."""
        return Path(self.folder or "/", uri)

    def within(self, uri: str) -> str:
        """What the uris of all files in a folder begin with."""
        return "" if uri == "." else f"{uri.rstrip('/')}/"


def _absolute(path: Path) -> Path:
    """The path from the root, with links as they are written, unless leaving out `..` would lead elsewhere."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - `Path.absolute` keeps the dots
    if ".." in path.parts and os.path.realpath(path.parent) != os.path.realpath(whole.parent):
        return Path(os.path.realpath(path.parent), path.name) if path.name != ".." else _real(path)
    return whole


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
