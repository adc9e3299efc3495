"""Walks folders in a fixed order, and matches patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import NamedTuple

from trueweave.ingest.loading.ignoring import IgnoreFiles
from trueweave.ingest.loading.own_files import NO_FOLDERS, POSTGRESQL, OwnFolders, is_cluster

HIDDEN = "hidden"
A_LINK = "a link; give its path, or --follow-links, to read it"
READ_ALREADY = "a link to a folder that is read anyway"


def is_folder(path: Path | str) -> bool:
    """Whether there is a folder; if it is inaccessible, reading it reports that."""
    return os.path.isdir(path)  # noqa: PTH112 - `Path.is_dir` raises where it may not look


def _is_link(path: Path) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - `Path.is_symlink` raises where it may not look


class Entry(NamedTuple):
    """An entry of a folder, by its relative path: a file to read, or the reason to skip it."""

    path: Path
    inside: str
    reason: str = ""
    error: OSError | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """Walks folders. Hidden files, links and Trueweave's own files are skipped.

    With `follow_links`, links are followed, and each folder is read once, so there are no cycles. With `ignore`, files
    that .gitignore and .trueweaveignore exclude are skipped; those of parent folders apply up to the git repository,
    and up to the `project`.
    """

    follow_links: bool = False
    ignore: bool = True
    project: Path | None = None
    own: OwnFolders = NO_FOLDERS

    def entries(self, top: Path) -> Iterator[Entry]:
        """The entries of a folder and its subfolders, in a fixed order."""
        links = _Links(top) if self.follow_links else None
        troubles: list[OSError] = []
        try:
            above = IgnoreFiles.above(top, self.project) if self.ignore else IgnoreFiles()
        except OSError as error:  # its patterns are unknown, so nothing is read
            yield _trouble(error, top)
            return
        ignored = {"": above}  # by the folders still to enter
        for folder, folders, files in os.walk(top, onerror=troubles.append, followlinks=self.follow_links):
            inside = "" if (rest := os.path.relpath(folder, top)) == "." else f"{Path(rest).as_posix()}/"
            yield from (_trouble(error, top) for error in troubles)
            troubles.clear()
            folders.sort()
            rules = ignored.pop(inside)
            try:
                rules = rules.within(Path(folder), inside) if self.ignore else rules
            except OSError as error:
                folders.clear()
                yield _trouble(error, top)
                continue
            if is_cluster(Path(folder), folders, files):
                folders.clear()
                yield Entry(Path(folder), inside.rstrip("/"), POSTGRESQL)
                continue
            for name in [*folders]:
                path = Path(folder, name)
                reason = self.own.reason(path) or rules.reason(f"{inside}{name}/")
                if reason := (_passed_over(path) if links is None else links.passed_over(path)) or reason:
                    folders.remove(name)
                    yield Entry(path, inside + name, reason)
                else:
                    ignored[f"{inside}{name}/"] = rules
            for name in sorted(files):
                path = Path(folder, name)
                reason = HIDDEN if name.startswith(".") else "" if links else _passed_over(path)
                yield Entry(path, inside + name, reason or rules.reason(inside + name))
        yield from (_trouble(error, top) for error in troubles)


def _passed_over(path: Path) -> str:
    """Why an entry of a folder is skipped; empty if it is not."""
    return HIDDEN if path.name.startswith(".") else A_LINK if _is_link(path) else ""


class _Links:
    """The folders that have been entered, if links are followed."""

    def __init__(self, top: Path) -> None:
        self._top = Path(os.path.realpath(top))
        self._entered = {self._top}

    def passed_over(self, folder: Path) -> str:
        """Why a subfolder is skipped; empty if it is not."""
        if folder.name.startswith("."):
            return HIDDEN
        real = Path(os.path.realpath(folder))
        if real in self._entered or (_is_link(folder) and real.is_relative_to(self._top)):
            return READ_ALREADY
        self._entered.add(real)
        return ""


def _trouble(error: OSError, top: Path) -> Entry:
    path = Path(error.filename)
    return Entry(path, Path(os.path.relpath(path, top)).as_posix(), error=error)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern such as `notes/**/*.md`: the folder where it begins, and the pattern for paths inside.

    The syntax is that of `glob`: `*` and `?` match within one name, `**` matches any number of folders, and none of
    them matches the start of a hidden name.
    """

    top: Path
    parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Pattern | None:
        """The pattern in a text; None if it has no wildcards."""
        parts = PurePath(text).parts
        first = next((n for n, part in enumerate(parts) if glob.has_magic(part)), None)
        return None if first is None else cls(Path(*parts[:first]), parts[first:])

    def files(self, walk: Walk) -> Iterator[Entry]:
        """The files that it matches, and skipped folders that might contain more matches."""
        for entry in walk.entries(self.top):
            if entry.reason not in ("", HIDDEN, READ_ALREADY) and is_folder(entry.path):
                if self._leads_into(entry.inside):
                    yield entry
            elif not entry.error and self.matches(entry.inside) and not is_folder(entry.path):
                yield entry

    def matches(self, inside: str) -> bool:
        """Whether a path relative to its folder matches."""
        return _match(inside.split("/"), self.parts)

    def _leads_into(self, inside: str) -> bool:
        return "**" in self.parts or inside.count("/") + 1 < len(self.parts)


def _match(names: list[str], parts: tuple[str, ...]) -> bool:
    """Whether names match the parts in order. `**` first matches nothing, then more and more.

    Only the last `**` needs backtracking: everything before it was matched as early as possible.
    """
    at, part = 0, 0
    again: tuple[int, int] | None = None
    while at < len(names):
        if part < len(parts) and parts[part] == "**":
            part += 1
            if part == len(parts):
                return not any(name.startswith(".") for name in names[at:])
            again = at, part
        elif part < len(parts) and _is_like(names[at], parts[part]):
            at, part = at + 1, part + 1
        elif again and not names[again[0]].startswith("."):
            again = again[0] + 1, again[1]
            at, part = again
        else:
            return False
    return part == len(parts)


def _is_like(name: str, part: str) -> bool:
    return fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))
