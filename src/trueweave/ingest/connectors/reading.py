"""One run over an address: list it, compare with the workspace, fetch what may have changed, find what is gone."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from uuid import UUID

from trueweave.core.connectors import Connector, ConnectorContext, Item
from trueweave.core.errors import InvalidDocument, ItemGone
from trueweave.core.events import Listener, Skipped, Unreadable
from trueweave.core.record import NamedFile, Source
from trueweave.ingest.connectors.installed import open_connector
from trueweave.ingest.connectors.listing import Listing, StoredItem
from trueweave.ingest.loading import Files, Loaded
from trueweave.ingest.seen import Seen
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.record import connector_documents
from trueweave.store.postgres.record.connector_documents import ConnectorDocument
from trueweave.text.names import key

MOST_REMOVED = 0.2  # share of the documents of an address or a watched folder that is removed without confirmation


@dataclass(frozen=True)
class Gone:
    """The documents of an address that are no longer there, and how many it had before."""

    uris: tuple[str, ...]
    documents: int

    @property
    def is_large(self) -> bool:
        """Whether removing them needs confirmation."""
        return len(self.uris) > MOST_REMOVED * self.documents


class AddressRun:
    """The items of one address in one run. Items are recorded with their versions as soon as their documents were
    submitted, so an interrupted run does not fetch them again."""

    def __init__(self, address: str, connector: Connector, context: ConnectorContext, folder: Path) -> None:
        self.address = address
        self._connector = connector
        self._most = context.max_items
        self._folder = folder
        self._origin = key("address", address)
        self._listing = Listing()
        self._recipe = ""
        self._readers: tuple[str, ...] | None = None
        self._is_whole = connector.is_complete
        self._done: list[ConnectorDocument] = []
        self._stop = threading.Event()
        self._busy = threading.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, address: str, context: ConnectorContext) -> AsyncIterator[Self]:
        """The run over an address, not listed yet. At the end its connections and files are released."""
        connector = await asyncio.to_thread(open_connector, address, context)
        with tempfile.TemporaryDirectory(prefix="trueweave-", ignore_cleanup_errors=True) as folder:
            run = cls(address, connector, context, Path(folder))
            try:
                yield run
            finally:
                await asyncio.to_thread(run._close)

    def _close(self) -> None:
        """Stop at the next item, wait for the one that is being fetched, and release everything."""
        self._stop.set()
        with self._busy:
            self._connector.close()
            self._listing.close()

    async def compare(
        self,
        workspace: Workspace,
        recipe: str,
        listener: Listener,
        *,
        again: bool = False,
        readers: tuple[str, ...] | None = None,
    ) -> None:
        """List the items, and find out which of them may have changed; with `again`, all of them may have. So may those
        that were last read for other `readers`: only their files tell whether they have their own."""
        self._recipe, self._readers = recipe, readers
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._list, lambda event: loop.call_soon_threadsafe(listener, event))
        if again:
            return
        for some in self._listing.items():
            items = {one.uri: self._key(one.readers) for one in some}
            async with workspace.transaction() as tx:
                stored = await connector_documents.stored(tx, self._origin, items)
            self._listing.compare(StoredItem(*one) for one in stored)

    def _key(self, readers: tuple[str, ...] | None) -> UUID:
        """A hash of what the documents of an item depend on besides its content."""
        given = self._readers if readers is None else readers
        return key("recipe", self._recipe, *([] if given is None else ["readers", *given]))

    def _list(self, tell: Callable[[Unreadable | Skipped], object]) -> None:
        with self._busy:
            self._fill(tell)

    def _fill(self, tell: Callable[[Unreadable | Skipped], object]) -> None:
        for n, one in enumerate(self._connector.items()):
            if self._stop.is_set():
                raise CancelledError
            if n == self._most:
                self._is_whole = False
                limit = f"{self.address} has more than {self._most:,} items, and only the first are read"
                tell(
                    Unreadable(
                        self.address, f"{limit}. Narrow the address; an administrator can raise source_max_items."
                    )
                )
                return
            if isinstance(one, Item):
                self._listing.add(one)
                continue
            self._is_whole = self._is_whole and isinstance(one, Skipped)
            tell(one)

    @property
    def new(self) -> int:
        return self._listing.counts()["new"]

    @property
    def changed(self) -> int:
        """The items that the workspace has in another version, or whose version is known only once they are fetched."""
        return self._listing.counts()["changed"]

    @property
    def unchanged(self) -> int:
        return self._listing.counts()["unchanged"]

    def documents(self, files: Files) -> Iterator[Loaded]:
        """The documents of the items that may have changed, fetched one item at a time."""
        for item, validator in self._listing.to_fetch():
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            try:
                yield from self._fetched(item, folder, validator, files)
            finally:  # if nobody iterates to the end, the folder of the run is deleted with all that is in it
                shutil.rmtree(folder, ignore_errors=True)

    def _fetched(self, item: Item, folder: Path, validator: str, files: Files) -> Iterator[Loaded]:
        try:
            with self._busy:
                if self._stop.is_set():
                    raise CancelledError
                fetched = self._connector.fetch(item, folder, validator)
        except ItemGone as error:
            if not self._listing.lost(item.uri):  # an address that was mistyped, for example
                yield Unreadable(item.uri, str(error))
            return
        except InvalidDocument as error:
            yield Unreadable(item.uri, str(error))
            return
        except OSError as error:
            yield Unreadable(item.uri, f"{item.uri} cannot be fetched: {error.strerror or error}.")
            return
        if fetched is None:
            self._done.append(ConnectorDocument("", item.uri, item.version, validator, self._key(item.readers)))
            return
        uris: list[str] = []
        is_whole = True
        last: Loaded | None = None
        for loaded in files.fetched(NamedFile(fetched.path, item.uri), fetched.loader):
            if last is not None:
                yield last
            last = _described(loaded, item) if isinstance(loaded, Source) else loaded
            is_whole = is_whole and isinstance(loaded, Source | Skipped)
            uris += [loaded.uri] if isinstance(loaded, Source) else []
        if is_whole:  # recorded with the batch that has the last of its documents
            recipe = self._key(item.readers)
            self._done += (ConnectorDocument(uri, item.uri, item.version, fetched.validator, recipe) for uri in uris)
        if last is not None:
            yield last

    async def record(self, workspace: Workspace) -> None:
        """Record the versions of the items that were read completely. Call it once their documents were submitted."""
        done, self._done = self._done, []
        if not done:
            return

        async def write() -> None:
            async with workspace.transaction() as tx:
                await connector_documents.record(tx, self._origin, done)

        await workspace.retry_while_down(write)

    async def gone(self, workspace: Workspace, seen: Seen) -> Gone:
        """The documents that are no longer at the address, and those that were deleted from an item with several.
        None if a part of the list could not be read, or the list is never complete."""
        found: list[str] = []
        documents = 0
        after = ""
        while self._is_whole:
            async with workspace.transaction() as tx:
                page = await connector_documents.page(tx, self._origin, after)
            if not page:
                break
            documents += len(page)
            for one in page:
                is_row_gone = seen.is_whole(one.item) and not seen.has(one.uri)
                if (is_row_gone or not self._listing.has(one.item)) and not one.is_elsewhere:
                    found.append(one.uri)
            after = page[-1].uri
        return Gone(tuple(found), documents)

    async def forget(self, workspace: Workspace, uris: Sequence[str]) -> None:
        """Forget documents that were removed."""
        async with workspace.transaction() as tx:
            await connector_documents.forget(tx, self._origin, uris)


def _described(source: Source, item: Item) -> Source:
    """A document with the metadata of its item, unless it has its own, and with the readers of its item."""
    given = dict(item.metadata) | ({"date": item.date.isoformat()} if item.date else {})
    title = given.pop("title", "") if not source.title else ""
    metadata = {**given, **source.metadata}
    title = title if isinstance(title, str) and title else source.title
    readers = source.readers if item.readers is None else item.readers
    return replace(source, metadata=metadata, title=title, readers=readers)
