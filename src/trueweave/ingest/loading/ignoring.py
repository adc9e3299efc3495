"""Ignore files: the patterns of .gitignore and .trueweaveignore, in a folder and its parents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

NAMES = (".gitignore", ".trueweaveignore")  # the later one overrides the earlier one in the same folder


class _IgnoreFile(NamedTuple):
    """The patterns of one ignore file. A path from the top is matched without `base`, after `lead`."""

    name: str
    spec: GitIgnoreSpec
    base: str = ""
    lead: str = ""

    def decides(self, inside: str) -> bool | None:
        """Whether the path is ignored; None if no pattern matches."""
        return self.spec.check_file(self.lead + inside.removeprefix(self.base)).include


@dataclass(frozen=True, slots=True)
class IgnoreFiles:
    """The ignore files that hold for a folder, the outermost first. As in git, the innermost that matches decides."""

    files: tuple[_IgnoreFile, ...] = ()

    @classmethod
    def above(cls, top: Path, project: Path | None) -> IgnoreFiles:
        """Those of the parents of a folder, up to its git repository and to the project's folder. A folder that they
        ignore was given on purpose: then none of them apply."""
        here = Path(os.path.realpath(top))
        outermost = _outermost(here, project)
        if outermost is None:
            return cls()
        between = [folder for folder in reversed(here.parents) if folder.is_relative_to(outermost)]
        found = cls(
            tuple(
                _IgnoreFile(name, spec, lead=f"{here.relative_to(folder).as_posix()}/")
                for folder in between
                for name, spec in _read(folder)
            )
        )
        return cls() if found.reason("") else found

    def within(self, folder: Path, inside: str) -> IgnoreFiles:
        """These and those in a folder; `inside` is its path from the top, with a slash at the end. OSError where an
        ignore file cannot be read."""
        more = tuple(_IgnoreFile(name, spec, base=inside) for name, spec in _read(folder))
        return IgnoreFiles(self.files + more) if more else self

    def reason(self, inside: str) -> str:
        """Why a path from the top is ignored, or nothing. That of a folder ends with a slash."""
        for file in reversed(self.files):
            if (ignored := file.decides(inside)) is not None:
                return f"ignored by {file.name}; --no-ignore reads them" if ignored else ""
        return ""


def _outermost(here: Path, project: Path | None) -> Path | None:
    repository = next((one for one in (here, *here.parents) if os.path.exists(one / ".git")), None)  # noqa: PTH110
    limits = [repository, project and Path(os.path.realpath(project))]
    around = [one for one in limits if one and here.is_relative_to(one)]
    return min(around, key=lambda one: len(one.parts), default=None)


def _read(folder: Path) -> Iterator[tuple[str, GitIgnoreSpec]]:
    for name in NAMES:
        try:
            text = (folder / name).read_text("utf-8", errors="replace")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            continue
        yield name, GitIgnoreSpec.from_lines(filter(_is_pattern, text.splitlines()))


def _is_pattern(line: str) -> bool:
    """Whether a line is valid. Git also ignores invalid lines."""
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
