"""Finds files in folders and by patterns, and reads the documents in them."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from trueweave.core.errors import InvalidDocument, NotText, UnreadableFile
from trueweave.core.events import Refused, Skipped, Unreadable
from trueweave.core.protocols import Loader
from trueweave.core.record import NamedFile, Source
from trueweave.core.settings import Settings
from trueweave.ingest import reading_limits
from trueweave.ingest.loading.documents import Parsed, counting_scans, with_options
from trueweave.ingest.loading.installed import loaders, unloaded_loaders
from trueweave.ingest.loading.own_files import NO_FOLDERS, OWN, OwnFolders, is_own_name, is_own_page
from trueweave.ingest.loading.secret_files import named_like_secret, secret_in
from trueweave.ingest.loading.walking import Entry, Pattern, Walk, is_folder
from trueweave.ingest.parsers.ocr import NoTextFound
from trueweave.text.uris import Naming

Loaded = Source | Refused | Unreadable | Skipped
Listed = NamedFile | Unreadable | Skipped

_LOOKED_AT = 2**20  # bytes at the start of a file that are searched for secrets


def _ignore(_: str) -> None:
    """Ignore it."""


@dataclass(frozen=True)
class Files:
    """Reads files, folders and patterns such as `notes/**/*.md`.

    A file that cannot be read completely is reported by name, and does not stop the others. In folders and by patterns,
    hidden files, links, files of other types and files that .gitignore and .trueweaveignore exclude are skipped, and
    reported by reason. A file given explicitly is always tried, unless it contains keys or secrets. With `no_ignore`,
    ignore files and secrets do not matter. Trueweave's own files are never read. A pattern matches files, not folders.
    """

    naming: Naming = field(default_factory=Naming)
    follow_links: bool = False
    loaders: Mapping[str, Loader] = field(default_factory=loaders)
    whole: Callable[[str], None] = _ignore  # called with the uri of each file that was read completely
    no_ignore: bool = False
    own: OwnFolders = NO_FOLDERS

    @classmethod
    def of(cls, settings: Settings, *own: Path, whole: Callable[[str], None] = _ignore) -> Self:
        """A reader with the options of the settings that enters none of Trueweave's `own` folders."""
        folders = (settings.data_directory, settings.bench_data, settings.model_folder, settings.prompt_folder)
        return cls(
            Naming(settings.project_folder),
            follow_links=settings.follow_links,
            loaders={
                suffix: with_options(loader, settings.ocr, settings.model_for("vision") or "")
                for suffix, loader in loaders().items()
            },
            whole=whole,
            no_ignore=settings.no_ignore,
            own=OwnFolders.of(*folders, *own),
        )

    def counting_scans(self) -> Self:
        """The same, but pages that OCR would read are counted and not read."""
        return replace(self, loaders={suffix: counting_scans(loader) for suffix, loader in self.loaders.items()})

    def sources(self, paths: Iterable[Path | str]) -> Iterator[Loaded]:
        """The documents in these, one at a time and in a fixed order."""
        for given in paths:
            for one, is_found in self._listed(str(given)):
                if not isinstance(one, NamedFile):
                    yield one
                elif loader := self._loader(one.path):
                    yield from self._load(one, loader, found=is_found)
                else:
                    advice = "" if self._unloaded else "; convert it to text, HTML or PDF."
                    yield Unreadable(one.uri, f"{one.uri} cannot be read: {self._no_loader(one.path)}{advice}")

    def files(self, paths: Iterable[Path | str], *, also: Collection[str] = ()) -> Iterator[Listed]:
        """The files that `sources` would read, with their uris, without loading them; and those with an extension of
        `also`, which the caller reads."""
        for given in paths:
            for one, _ in self._listed(str(given), also):
                yield one

    def named(self, file: NamedFile) -> Iterator[Loaded]:
        """The documents in a file with its own uri. Messages do not contain its path."""
        path, loader = file.path, self._loader(file.path)
        if loader is None:
            yield Unreadable(file.uri, f"{file.uri} cannot be read: {self._no_loader(path)}; convert it to text.")
            return
        if not isinstance(problem := _regular(path, file.uri), NamedFile):
            yield problem
            return
        for one in self._load(file, loader):
            yield _called(one, str(path), file.uri)

    def fetched(self, file: NamedFile, loader: Loader | None = None) -> Iterator[Loaded]:
        """The documents in a file that a connector fetched, unless it contains keys or secrets. Its extension selects
        the loader, unless one is given; that gets the options of the one for its extension."""
        checked, own = self._checked(file.path, file.uri), self._loader(file.path)
        if loader and isinstance(own, Parsed):
            loader = with_options(loader, own.ocr, own.picture_model)
        if not isinstance(checked, NamedFile):
            yield checked
        elif chosen := loader or own:
            for one in self._load(file, chosen, found=True):
                yield _called(one, str(file.path), file.uri)
        else:
            yield Skipped(file.uri, self._no_loader(file.path))

    def _listed(self, given: str, also: Collection[str] = ()) -> Iterator[tuple[Listed, bool]]:
        """The files that a path or a pattern selects, and whether they were found in a folder or by the pattern."""
        path = Path(given)
        if is_folder(path):
            inside = self.naming.within(self.naming.uri(path))
            for entry in self._walk.entries(path):
                yield self._found(entry, inside + entry.inside, also), True
        elif os.path.lexists(path):
            yield self._checked(path, self.naming.uri(path)), False
        else:
            pattern = Pattern.of(given)
            is_empty = True
            for entry in pattern.files(self._walk) if pattern else ():
                is_empty = False
                yield self._found(entry, self.naming.uri(entry.path), also), True
            if is_empty:
                yield Unreadable(_shown(given), f"{_shown(given)} does not exist. Check the path."), False

    @property
    def _walk(self) -> Walk:
        return Walk(self.follow_links, not self.no_ignore, self.naming.folder, self.own)

    def _found(self, entry: Entry, uri: str, also: Collection[str]) -> Listed:
        """A file that was found in a folder or by a pattern."""
        if entry.error:
            return _refused(posixpath.normpath(uri), entry.error)  # an ignore file may be above the folder
        if reason := entry.reason or self._unwanted(entry.path.name):
            return Skipped(_shown(uri), reason)
        if entry.path.suffix not in also and not self._loader(entry.path):
            return Skipped(_shown(uri), self._no_loader(entry.path))
        return self._checked(entry.path, uri)

    def _checked(self, path: Path, uri: str) -> Listed:
        """A file by its name, if it can be read and is neither Trueweave's own nor a secret."""
        if reason := self._unwanted(path.name):
            return Skipped(_shown(uri), reason)
        file = _regular(path, uri)
        if isinstance(file, Unreadable):
            return file
        try:
            with path.open("rb") as opened:
                start = opened.read(_LOOKED_AT)
        except OSError as error:
            return _refused(uri, error)
        if is_own_page(start):
            return Skipped(uri, OWN)
        if not self.no_ignore and (secret := secret_in(start)):
            return Skipped(uri, f"containing {secret}; --no-ignore reads them")
        return file

    def _unwanted(self, name: str) -> str:
        """Why a file of this name is not read, if so."""
        if is_own_name(name):
            return OWN
        is_secret = not self.no_ignore and named_like_secret(name)
        return "named like a key or secret; --no-ignore reads them" if is_secret else ""

    def _load(self, file: NamedFile, loader: Loader, *, found: bool = False) -> Iterator[Loaded]:
        path, uri, limits = file.path, file.uri, reading_limits.current()
        try:
            is_whole = True
            limits.check()
            for loaded in loader.load(path, uri):
                limits.check()
                is_whole = is_whole and not isinstance(loaded, Refused)
                yield loaded
            if is_whole:
                self.whole(uri)
        except NotText as error:
            # Only its content tells whether a file without an extension is text.
            is_other = found and not path.suffix
            yield Skipped(uri, "not text, and without an extension") if is_other else Unreadable(uri, str(error))
        except NoTextFound as error:
            # A folder may hold any number of pictures.
            yield Skipped(uri, error.reason) if found else Unreadable(uri, str(error))
        except InvalidDocument as error:
            yield Unreadable(uri, str(error))
        except UnicodeDecodeError as error:  # from a loader that decodes on its own
            wrong, encoding = error.object[error.start], error.encoding
            yield Unreadable(uri, f"{uri} is not {encoding}: byte {wrong:#04x} is not valid. Save it as {encoding}.")
        except OSError as error:
            yield _refused(uri, error)

    def _no_loader(self, path: Path) -> str:
        """Why there is no loader for a file: its loader may have failed to load."""
        ending = f"{_shown(path.suffix)} files" if path.suffix else "files without an extension"
        return ", and ".join((f"there is no reader for {ending}", *self._unloaded))

    @cached_property
    def _unloaded(self) -> list[str]:
        return [one.problem for one in unloaded_loaders()]

    def _loader(self, path: Path) -> Loader | None:
        endings = ("".join(path.suffixes[-2:]).lower(), path.suffix.lower())
        return next((self.loaders[ending] for ending in endings if ending in self.loaders), None)


def check_present(what: Iterable[object]) -> None:
    """Raise UnreadableFile for a path among these that does not exist. A pattern may match nothing."""
    for one in what:
        if isinstance(one, str | Path) and not os.path.lexists(one) and Pattern.of(str(one)) is None:
            raise UnreadableFile(
                f"there is no file or folder {_shown(str(one))[:100]!r}. Check the path. To add a text, pass "
                "Source(uri, text)."
            )


def _regular(path: Path, uri: str) -> NamedFile | Unreadable:
    """A file by its name, if it is one that can be read."""
    if uri != (name := _shown(uri)):
        return Unreadable(name, f"{name} has a name that is not UTF-8. Rename it.")
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe or a device could block forever
            return Unreadable(uri, f"{uri} is not a regular file. Pass its content on standard input.")
        return NamedFile(path, uri)
    except InvalidDocument as error:
        return Unreadable(uri, str(error))
    except OSError as error:
        return _refused(uri, error)


def _called(loaded: Loaded, path: str, uri: str) -> Loaded:
    """The same with the uri of a file instead of its path."""
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
    """The path in printable form, even if it is not valid text."""
    return path.encode(errors="replace").decode()
