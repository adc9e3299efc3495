"""Uris of documents: the names of files and of rows in files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

ROW = "#"  # between the uri of a file and the name of a row in it

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # at least two letters: C: is a drive


def is_absolute(uri: str) -> bool:
    """Whether a uri means the same everywhere, as `https://example.org/a` and `urn:isbn:1` do."""
    return bool(_SCHEME.match(uri))


def is_address(given: object) -> bool:
    """Whether this is the address of another system rather than a path, such as `https://example.org/`."""
    return isinstance(given, str) and _ADDRESS.match(given) is not None


@dataclass(frozen=True, slots=True)
class Naming:
    """How files get their uris: the path from the project folder, or outside it the absolute path.

    So the uri does not depend on the current folder or on how the path is written, and files in two folders never have
    the same one. Folders are separated by slashes on every system.
    """

    folder: Path | None = None

    def uri(self, path: Path | str) -> str:
        """The uri of a file or folder; a dot for the project folder."""
        written = _absolute(Path(path))
        real = Path(os.path.realpath(written.parent), written.name)
        for folder, whole in ((_absolute(self.folder), written), (_real(self.folder), real)) if self.folder else ():
            if whole.is_relative_to(folder):
                return whole.relative_to(folder).as_posix()
        return real.as_posix()

    def path(self, uri: str) -> Path:
        """The path of the file with this uri, if it is that of a file."""
        return Path(self.folder or "/", uri)

    def within(self, uri: str) -> str:
        """The common prefix of the uris of all files in a folder."""
        return "" if uri == "." else f"{uri.rstrip('/')}/"


def _absolute(path: Path) -> Path:
    """The absolute path, with links as written, unless removing `..` would lead elsewhere."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - `Path.absolute` keeps the dots
    if ".." in path.parts and os.path.realpath(path.parent) != os.path.realpath(whole.parent):
        return Path(os.path.realpath(path.parent), path.name) if path.name != ".." else _real(path)
    return whole


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
