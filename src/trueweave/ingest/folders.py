"""Resolves paths to documents, and finds documents whose files no longer exist."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trueweave.ingest.loading import Pattern
from trueweave.ingest.loading.mail import MAIL_SUFFIXES
from trueweave.ingest.seen import Seen
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.record import sources
from trueweave.text.uris import ROW, Naming, is_absolute


@dataclass(frozen=True)
class Folder:
    """A folder, as the prefix of its uris."""

    prefix: str

    def has(self, uri: str) -> bool:
        # The project's own folder excludes files outside it and uris that are not paths.
        return uri.startswith(self.prefix) if self.prefix else not (uri.startswith("/") or is_absolute(uri))


async def matching(
    workspace: Workspace, what: Sequence[str], naming: Naming, *, former: bool = False
) -> dict[str, list[str]]:
    """The uris of the documents that each of these selects: the path of a file, a folder or a pattern, or a uri.

    A file also selects its rows, a mail its attachments, and the prefix of an import all its documents
    (`graphrag:ragtest`). If it is both the path of one document and the uri of another, the path wins. With `former`,
    documents of which only former versions are kept are selected, too.
    """
    named = {given: naming.uri(given) for given in what}
    known = await _known(workspace, [*named.values(), *named], former=former)
    found = {given: [uri] if uri in known else [given] if given in known else [] for given, uri in named.items()}
    wanted = {given: _Wanted.of(given, naming) for given, uris in found.items() if not uris}
    attached = {given: f"{uris[0]}{ROW}" for given, uris in found.items() if uris and _is_mail(uris[0])}
    if wanted or attached:
        async for page in _uris(workspace, former=former):
            for given, one in wanted.items():
                found[given] += filter(one.has, page)
            for given, prefix in attached.items():
                found[given] += (uri for uri in page if uri.startswith(prefix))
    return found


async def gone(workspace: Workspace, folders: Sequence[Folder], naming: Naming, seen: Seen) -> list[str]:
    """The uris of documents whose files no longer exist in these folders, and of rows that were deleted from their
    files. The documents of a file that exists but cannot be read are kept."""
    found: list[str] = []
    async for page in _uris(workspace):
        inside = [uri for uri in page if any(folder.has(uri) for folder in folders)]
        found += await asyncio.to_thread(lambda uris: [uri for uri in uris if _is_gone(uri, naming, seen)], inside)
    return found


def _is_mail(uri: str) -> bool:
    return PurePosixPath(uri).suffix.lower() in MAIL_SUFFIXES


@dataclass(frozen=True)
class _Wanted:
    """The possible meanings of a path or a uri: a folder, a file of rows, or a pattern."""

    given: str
    uri: str
    folder: Folder
    pattern: Pattern | None

    @classmethod
    def of(cls, given: str, naming: Naming) -> _Wanted:
        pattern = Pattern.of(given)
        uri = naming.uri(pattern.top if pattern else given)
        return cls(given, uri, Folder(naming.within(uri)), pattern)

    def has(self, uri: str) -> bool:
        if is_absolute(self.given) and uri.startswith(f"{self.given}{ROW}"):
            return True
        if self.pattern is None:
            return self.folder.has(uri) or uri.startswith(f"{self.uri}{ROW}")
        inside = uri.removeprefix(self.folder.prefix)
        return self.folder.has(uri) and any(map(self.pattern.matches, (inside, inside.partition(ROW)[0])))


def _is_gone(uri: str, naming: Naming, seen: Seen) -> bool:
    if seen.has(uri) or not _is_missing(naming.path(uri)):
        return False
    file = uri
    while ROW in file:
        file = file.rpartition(ROW)[0]
        if not _is_missing(naming.path(file)):
            return seen.is_whole(file)
    return True


def _is_missing(path: Path) -> bool:
    """Whether a file certainly does not exist: in an inaccessible folder it might."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # it is inaccessible, or not a path at all
        return False


async def _known(workspace: Workspace, uris: Sequence[str], *, former: bool) -> set[str]:
    async with workspace.transaction() as tx:
        return await sources.known(tx, uris, former=former)


async def _uris(workspace: Workspace, *, former: bool = False) -> AsyncIterator[list[str]]:
    """The uris of all stored or queued documents, in batches; with `former`, also of those with former versions."""
    after = ""
    while True:
        async with workspace.transaction() as tx:
            page = await sources.uris(tx, after, former=former)
        if not page:
            return
        yield page
        after = page[-1]
