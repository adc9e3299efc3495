"""Files: which of them there are in folders and by patterns, and the documents in them."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from trueweave.errors import ConfigError, InvalidDocument
from trueweave.events import Skipped, Unreadable
from trueweave.protocols import Loader
from trueweave.types import Source

GROUP = "trueweave.loaders"

Loaded = Source | Unreadable | Skipped


def loaders() -> dict[str, Loader]:
    """The loader for each ending of a file, as installed. One from elsewhere outweighs Trueweave's own.

    An entry point names a class or function that gives the loader without being told anything.
    """
    chosen: dict[str, tuple[EntryPoint, Loader]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (not _own(entry), entry.name)):
        loader: Loader = entry.load()()
        for suffix in loader.suffixes:
            other = chosen.get(suffix)
            if other and not _own(other[0]):
                raise ConfigError(f"{other[0].value} and {entry.value} both read {suffix} files; uninstall one of them")
            chosen[suffix] = entry, loader
    return {suffix: loader for suffix, (_, loader) in chosen.items()}


def sources(paths: Iterable[Path | str], loaders: Mapping[str, Loader]) -> Iterator[Loaded]:
    """The documents in files, folders and patterns such as `notes/**/*.md`, one at a time and in a fixed order.

    What cannot be read, or not to its end, is told in a message that names the file, and does not stop the rest. In
    folders, hidden files, links to folders and files of other endings are passed over, and that is told too, by a
    reason that is the same for all passed over for it; a file that is named itself is always tried. A pattern finds
    files, not folders. The uri of a file is its path from the current folder, if it is within, or else its whole path,
    with slashes on every system.
    """
    for given in map(str, paths):
        if os.path.lexists(given):
            yield from _named(Path(given), loaders)
        elif matches := sorted(filter(os.path.isfile, glob.iglob(given, recursive=True))):  # noqa: PTH207
            for match in matches:
                yield from _found(Path(match), loaders)
        else:
            yield Unreadable(_shown(given), f"{_shown(given)} is not there. Check the path.")


def uri_of(path: Path) -> str:
    """The uri under which a file is known: stable for as long as it stays where it is."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are written
    here = Path.cwd()
    return (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix()


def _own(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == "trueweave"


def _named(path: Path, loaders: Mapping[str, Loader]) -> Iterator[Loaded]:
    """What is in a file or folder that somebody named."""
    if path.is_dir():
        yield from _folder(path, loaders)
    elif loader := _loader(path, loaders):
        yield from _file(path, loader)
    else:
        known = " ".join(sorted(loaders))
        name = _shown(uri_of(path))
        yield Unreadable(name, f"{name} cannot be read: {_no_reader(path)}; there are for {known}.")


def _folder(top: Path, loaders: Mapping[str, Loader]) -> Iterator[Loaded]:
    troubles: list[OSError] = []
    for folder, folders, files in os.walk(top, onerror=troubles.append):
        yield from (_refused(error.filename, error) for error in troubles)
        troubles.clear()
        folders.sort()
        for name in [*folders]:
            if reason := _passed_over(Path(folder, name)):
                folders.remove(name)
                yield Skipped(_shown(uri_of(Path(folder, name))), reason)
        for path in (Path(folder, name) for name in sorted(files)):
            yield from _found(path, loaders)
    yield from (_refused(error.filename, error) for error in troubles)


def _found(path: Path, loaders: Mapping[str, Loader]) -> Iterator[Loaded]:
    """What is in a file that was found in a folder or by a pattern."""
    if path.name.startswith("."):
        yield Skipped(_shown(uri_of(path)), "hidden")
    elif loader := _loader(path, loaders):
        yield from _file(path, loader)
    else:
        yield Skipped(_shown(uri_of(path)), _no_reader(path))


def _passed_over(folder: Path) -> str:
    """Why a folder within another is not entered; empty, if it is."""
    if folder.name.startswith("."):
        return "hidden"
    return "a link to a folder; name it to have it read" if folder.is_symlink() else ""


def _file(path: Path, loader: Loader) -> Iterator[Loaded]:
    uri = uri_of(path)
    if uri != (name := _shown(uri)):
        yield Unreadable(name, f"{name} has a name that is not UTF-8. Rename it.")
        return
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe or a device could wait for ever
            yield Unreadable(uri, f"{uri} is no regular file. Give what comes out of it on standard input.")
        else:
            yield from loader.load(path, uri)
    except InvalidDocument as error:
        yield Unreadable(uri, str(error))
    except OSError as error:
        yield _refused(path, error)


def _loader(path: Path, loaders: Mapping[str, Loader]) -> Loader | None:
    endings = ("".join(path.suffixes[-2:]).lower(), path.suffix.lower())
    return next((loaders[ending] for ending in endings if ending in loaders), None)


def _no_reader(path: Path) -> str:
    return f"there is no reader for {f'{_shown(path.suffix)} files' if path.suffix else 'files without an ending'}"


def _refused(path: Path | str, error: OSError) -> Unreadable:
    name = _shown(uri_of(Path(path)))
    return Unreadable(name, f"{name} cannot be read: {error.strerror or error}.")


def _shown(path: str) -> str:
    """The path as it can be printed, whatever bytes are in it."""
    return path.encode(errors="replace").decode()
