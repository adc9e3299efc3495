"""Files: which of them there are in folders and by patterns, and the documents in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from trueweave.errors import InvalidDocument, NotText
from trueweave.events import Refused, Skipped, Unreadable
from trueweave.protocols import Loader
from trueweave.text.loading.installed import loaders, unloaded_loaders
from trueweave.text.loading.walking import Entry, Pattern, is_folder, walk
from trueweave.text.uris import Naming
from trueweave.types import NamedFile, Source

Loaded = Source | Refused | Unreadable | Skipped


def _ignore(_: str) -> None:
    """Ignore it."""


@dataclass(frozen=True)
class Files:
    """Reads files, folders and patterns such as `notes/**/*.md`.

    What cannot be read, or not to its end, is reported in a message that names the file, and does not stop the rest. In
    folders and by patterns, hidden files, links and files of other types are skipped, and reported with a reason that
    is the same for all that were skipped for it; a file that is named itself is always tried. A pattern finds files,
    not folders.
    """

    naming: Naming = field(default_factory=Naming)
    follow_links: bool = False
    loaders: Mapping[str, Loader] = field(default_factory=loaders)
    whole: Callable[[str], None] = _ignore  # called with the uri of each file that was read completely

    def sources(self, paths: Iterable[Path | str]) -> Iterator[Loaded]:
        """The documents in these, one at a time and in a fixed order."""
        for given in map(str, paths):
            if os.path.lexists(given):
                yield from self._named(Path(given))
            else:
                yield from self._pattern(given)

    def files(self, paths: Iterable[Path | str]) -> Iterator[NamedFile | Unreadable | Skipped]:
        """The files that `sources` would read, and what they are called, without reading any."""
        for given in map(str, paths):
            path = Path(given)
            if not os.path.lexists(given):
                yield from self._pattern_files(given)
            elif is_folder(path):
                inside = self.naming.within(self.naming.uri(path))
                for entry in walk(path, follow_links=self.follow_links):
                    yield self._file(entry, inside + entry.inside)
            else:
                yield _regular(path, self.naming.uri(path))

    def _pattern_files(self, given: str) -> Iterator[NamedFile | Unreadable | Skipped]:
        pattern = Pattern.of(given)
        found = False
        for entry in pattern.files(follow_links=self.follow_links) if pattern else ():
            found = True
            yield self._file(entry, self.naming.uri(entry.path))
        if not found:
            yield _missing(given)

    def _file(self, entry: Entry, uri: str) -> NamedFile | Unreadable | Skipped:
        """A file that was found in a folder or by a pattern."""
        if entry.error:
            return _refused(uri, entry.error)
        if entry.reason or not self._loader(entry.path):
            return Skipped(_shown(uri), entry.reason or self._no_loader(entry.path))
        return _regular(entry.path, uri)

    def named(self, file: NamedFile) -> Iterator[Loaded]:
        """The documents in a file that goes by a uri of its own. No message has its path."""
        path, loader = file.path, self._loader(file.path)
        if loader is None:
            yield Unreadable(file.uri, f"{file.uri} cannot be read: {self._no_loader(path)}; convert it to text.")
            return
        for one in self._load(path, file.uri, loader):
            yield _called(one, str(path), file.uri)

    def _named(self, path: Path) -> Iterator[Loaded]:
        """What is in a file or folder that was named."""
        uri = self.naming.uri(path)
        if is_folder(path):
            inside = self.naming.within(uri)
            for entry in walk(path, follow_links=self.follow_links):
                yield from self._found(entry, inside + entry.inside)
        elif loader := self._loader(path):
            yield from self._load(path, uri, loader)
        else:
            name, advice = _shown(uri), "" if self._unloaded else "; convert it to text, HTML or PDF."
            yield Unreadable(name, f"{name} cannot be read: {self._no_loader(path)}{advice}")

    def _pattern(self, given: str) -> Iterator[Loaded]:
        pattern = Pattern.of(given)
        found = False
        for entry in pattern.files(follow_links=self.follow_links) if pattern else ():
            found = True
            yield from self._found(entry, self.naming.uri(entry.path))
        if not found:
            yield _missing(given)

    def _found(self, entry: Entry, uri: str) -> Iterator[Loaded]:
        """What is in a file that was found in a folder or by a pattern."""
        if entry.error:
            yield _refused(uri, entry.error)
        elif entry.reason:
            yield Skipped(_shown(uri), entry.reason)
        elif loader := self._loader(entry.path):
            yield from self._load(entry.path, uri, loader, found=True)
        else:
            yield Skipped(_shown(uri), self._no_loader(entry.path))

    def _load(self, path: Path, uri: str, loader: Loader, *, found: bool = False) -> Iterator[Loaded]:
        if not isinstance(problem := _regular(path, uri), NamedFile):
            yield problem
            return
        try:
            is_whole = True
            for loaded in loader.load(path, uri):
                is_whole = is_whole and isinstance(loaded, Source)
                yield loaded
            if is_whole:
                self.whole(uri)
        except NotText as error:
            # Nothing but its content tells whether a file without an ending is text.
            is_other = found and not path.suffix
            yield Skipped(uri, "no text, and without an ending") if is_other else Unreadable(uri, str(error))
        except InvalidDocument as error:
            yield Unreadable(uri, str(error))
        except UnicodeDecodeError as error:  # from a loader that decodes on its own
            wrong, encoding = error.object[error.start], error.encoding
            yield Unreadable(uri, f"{uri} is not {encoding}: byte {wrong:#04x} is not valid. Save it as {encoding}.")
        except OSError as error:
            yield _refused(uri, error)

    def _no_loader(self, path: Path) -> str:
        """Why a file is not read that no loader is known for: it may be for one that could not be loaded."""
        ending = f"{_shown(path.suffix)} files" if path.suffix else "files without an ending"
        return ", and ".join((f"there is no reader for {ending}", *self._unloaded))

    @cached_property
    def _unloaded(self) -> list[str]:
        return [one.problem for one in unloaded_loaders()]

    def _loader(self, path: Path) -> Loader | None:
        endings = ("".join(path.suffixes[-2:]).lower(), path.suffix.lower())
        return next((self.loaders[ending] for ending in endings if ending in self.loaders), None)


def _regular(path: Path, uri: str) -> NamedFile | Unreadable:
    """A file by its name, if it is one that can be read."""
    if uri != (name := _shown(uri)):
        return Unreadable(name, f"{name} has a name that is not UTF-8. Rename it.")
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe or a device could wait for ever
            return Unreadable(uri, f"{uri} is not a regular file. Pass its content on standard input.")
        return NamedFile(path, uri)
    except InvalidDocument as error:
        return Unreadable(uri, str(error))
    except OSError as error:
        return _refused(uri, error)


def _missing(given: str) -> Unreadable:
    return Unreadable(_shown(given), f"{_shown(given)} is not there. Check the path.")


def _called(loaded: Loaded, path: str, uri: str) -> Loaded:
    """The same with the uri of a file in the place of its path."""
    match loaded:
        case Source():
            return replace(loaded, origin=loaded.origin.replace(path, uri))
        case Refused(place, reason):
            return Refused(place.replace(path, uri), reason.replace(path, uri))
        case Unreadable(_, reason):
            return Unreadable(uri, reason.replace(path, uri))
        case Skipped():
            return loaded


def _refused(uri: str, error: OSError) -> Unreadable:
    name = _shown(uri)
    return Unreadable(name, f"{name} cannot be read: {error.strerror or error}.")


def _shown(path: str) -> str:
    """The path as it can be printed, whatever bytes are in it."""
    return path.encode(errors="replace").decode()
