"""Adds, removes and lists documents through a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueweave.client.following import finished, tell_of_documents
from trueweave.client.forms import document_details, filter_text, part
from trueweave.client.requests import WorkspaceRequests
from trueweave.client.uploads import Submission, estimate, lines_of
from trueweave.core.errors import ConfigError
from trueweave.core.events import Added, CountingListener, Listener, Progress, Refused, ignore, unseen
from trueweave.core.evidence import DocumentDetails, Filter
from trueweave.core.jobs import DocumentInfo
from trueweave.core.money import Estimate
from trueweave.core.record import Document, NamedFile, Source
from trueweave.core.streams import Stream
from trueweave.ingest.extract import preannotated

_URIS_AT_ONCE = 1000
_CHUNKS_AT_ONCE = 200


class ClientDocumentCalls:
    """The calls of `AsyncClient` for documents."""

    _requests: WorkspaceRequests

    async def add(
        self, *what: str | Path | Source, listener: Listener = ignore, prune: bool = False, refresh: bool = False
    ) -> Added:
        """Add files, whole folders and texts. They are sent to the server, where each becomes a document, which its
        workers process and index as the settings there say. This waits until they are indexed; `jobs.submit` does not.

        Unchanged documents are left alone, so you can simply repeat a call that was interrupted. The listener receives
        what was found and what could not be read, how many documents are indexed, and at the end the outcome of each.
        With `refresh`, unchanged documents are processed again if an earlier version of the extractor or of its prompts
        made them. `prune` is an error here: it needs direct access to the database.
        """
        if prune:
            raise ConfigError(
                "a client cannot tell which documents are gone from a folder, as the server reads the files. Remove "
                "them by their uris, or run `trueweave sync` beside the database."
            )
        counted = CountingListener(listener, Added())
        job = await Submission(self._requests, counted, refresh=refresh).submit(what)
        await finished(self._requests, job, counted.total.unchanged, counted)
        await tell_of_documents(self._requests, job, counted)
        return counted.total

    async def estimate(
        self, *what: str | Path | Source | NamedFile, listener: Listener = ignore, refresh: bool = False
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist is UnreadableFile."""
        return await estimate(self._requests, what, listener, refresh=refresh)

    async def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = unseen,
        refused: Callable[[Refused], None] | None = None,
    ) -> int:
        """Store documents whose entities and relations are given, and settle them; how many were new or changed.

        A document whose uri is already there replaces the one of that uri. Documents are read as they are stored, so
        there may be more of them than fit in memory. `progress` is told how many more are done. One that cannot be
        stored is an error that names it, or `refused` is told of it and the others go on.
        """
        source, new = iter(documents), 0
        while lines := await asyncio.to_thread(lines_of, source):

            @asynccontextmanager
            async def body(content: bytes = b"".join(lines)) -> AsyncIterator[Mapping[str, Any]]:
                yield {"content": content}

            data = await self._requests.upload(
                "/documents/annotated", body, once=True, exact="true", strict="false" if refused else "true"
            )
            new += part(data, "new")
            for one in part(data, "told"):
                if refused:
                    refused(Refused(part(one, "place"), part(one, "reason")))
            progress(part(data, "documents"))
        return new

    async def remove(self, uris: Sequence[str]) -> int:
        """Remove these documents, all in one pass, and settle; how many there were.

        Their text is erased everywhere: also from what models replied about it, and from reports that may quote it,
        which are to be written again.
        """
        removed = 0
        for first in range(0, len(uris), _URIS_AT_ONCE):
            body = {"uris": list(uris[first : first + _URIS_AT_ONCE])}
            removed += part(await self._requests.write("/documents/delete", body), "removed")
        return removed

    def documents(self) -> Stream[Document]:
        """All documents as they were stored, in no particular order."""
        return self._requests.streams.hand_out(self._documents())

    async def _documents(self) -> AsyncGenerator[Document, None]:
        async with self._requests.lines("/documents/export") as lines:
            async for line in lines:
                row = json.loads(line)
                yield preannotated.document(row, part(row, "uri"))

    async def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document of this uri: its title and metadata, so many of its chunks from the `first` on, with their
        places, and the entities that it mentions most. With a `start`, chunks are counted from the one that this
        character of the document is in. UnknownDocument where there is none, with uris like it."""
        found: DocumentDetails | None = None
        while found is None or len(found.passages) < min(chunks, found.chunks - first):
            seen = len(found.passages) if found else 0
            page = document_details(
                await self._requests.get(
                    "/document",
                    uri=uri,
                    first=first + seen,
                    chunks=min(chunks - seen, _CHUNKS_AT_ONCE),
                    entities=entities,
                    start=start,
                )
            )
            found = page if found is None else replace(found, passages=found.passages + page.passages)
            if len(page.passages) < _CHUNKS_AT_ONCE:
                break
        return found

    # --- written by `make sync` from engine/documents.py and the server's routes ---

    async def list_documents(
        self, limit: int = 50, *, noted: bool = False, after: str = "", prefix: str = "", filter: Filter | None = None
    ) -> list[DocumentInfo]:
        """The documents that are there and pass a filter, by uri; only those with a note, or whose uri begins with a
        `prefix`, if that is wanted. The next page begins after the last uri of this one."""
        return await self._requests.listed(
            "/documents",
            DocumentInfo,
            limit,
            noted="true" if noted else None,
            after=after or None,
            prefix=prefix or None,
            filter=filter_text(filter),
        )
