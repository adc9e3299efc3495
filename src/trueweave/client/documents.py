"""Adds, removes and lists documents through a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.client.following import finished, tell_of_documents
from trueweave.client.forms import document_details, filter_text, moment, part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.client.uploads import Submission, estimate, lines_of
from trueweave.core.access import checked_readers
from trueweave.core.errors import ConfigError
from trueweave.core.events import Added, CountingListener, Listener, Progress, Refused, ignore, unseen
from trueweave.core.evidence import DocumentDetails, DocumentOutline, EntitySpan, Filter, Passage
from trueweave.core.jobs import DocumentInfo, DocumentOrder, ListedState
from trueweave.core.money import Estimate
from trueweave.core.record import Document, NamedFile, Source
from trueweave.core.streams import Stream
from trueweave.ingest.extract import preannotated
from trueweave.text.uris import is_address

_URIS_AT_ONCE = 1000
_CHUNKS_AT_ONCE = 200


def _listed(
    noted: bool, prefix: str, filter: Filter | None, state: ListedState, since: datetime | None
) -> dict[str, str | None]:
    """Which documents to list, as the server takes it."""
    return {
        "noted": "true" if noted else None,
        "prefix": prefix or None,
        "filter": filter_text(filter),
        "state": state or None,
        "since": moment(since),
    }


def _refuse_addresses(what: Iterable[object], secrets: Mapping[str, str] | None) -> None:
    """ConfigError for addresses of documents: this machine is to fetch nothing for the server, nor it for its users."""
    if secrets or any(map(is_address, what)):
        raise ConfigError(
            "a client does not fetch documents from addresses, and neither does its server. Run `trueweave add` with "
            "the address beside the database."
        )


class ClientDocumentCalls:
    """The calls of `AsyncClient` for documents."""

    _requests: WorkspaceRequests

    async def add(
        self,
        *what: str | Path | Source,
        listener: Listener = ignore,
        prune: bool = False,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> Added:
        """Add files, whole folders and texts. They are sent to the server, where each becomes a document, which its
        workers process and index as the settings there say. This waits until they are indexed; `jobs.submit` does not.

        Unchanged documents are left alone, so you can simply repeat a call that was interrupted. The listener receives
        what was found and what could not be read, how many documents are indexed, and at the end the outcome of each.
        With `refresh`, unchanged documents are processed again if an earlier version of the extractor or of its prompts
        made them. `prune`, `secrets` and addresses are errors here: they need direct access to the database.

        `readers` are the groups that can read these documents, except those that state their own, in their front matter
        for example; an empty list means everybody. Without it, documents keep the readers that they have. Readers of
        unchanged documents are changed at once, without a call of a model.

        `date` is the date of these documents in ISO 8601, except of those that state their own; it is `date` of their
        metadata. If they are added again without it, they have none.
        """
        _refuse_addresses(what, secrets)
        if prune:
            raise ConfigError(
                "a client cannot tell which files of a folder were removed, as the server reads the files. Remove "
                "them by their uris, or run `trueweave sync` beside the database."
            )
        counted = CountingListener(listener, Added())
        job = await Submission(self._requests, counted, refresh=refresh, readers=readers, date=date).submit(what)
        await finished(self._requests, job, counted.total.unchanged, counted)
        await tell_of_documents(self._requests, job, counted)
        return counted.total

    async def estimate(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist raises UnreadableFile. `secrets` and addresses are errors here: they
        need direct access to the database."""
        _refuse_addresses(what, secrets)
        return await estimate(self._requests, what, listener, refresh=refresh)

    async def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = unseen,
        refused: Callable[[Refused], None] | None = None,
        *,
        readers: Sequence[str] | None = None,
    ) -> int:
        """Store and index documents whose entities and relations are given. Returns how many were new or changed.

        A document replaces any earlier one with the same uri. Documents are read as they are stored, so there may be
        more of them than fit in memory. `progress` is called with the number of documents just done. A document that
        cannot be stored raises an error that names it; if `refused` is given, it is called instead, and the rest are
        still added. `readers` are those of documents that do not state theirs.
        """
        groups = None if readers is None else list(checked_readers(readers)) or ""
        source, new = iter(documents), 0
        while lines := await asyncio.to_thread(lines_of, source):

            @asynccontextmanager
            async def body(content: bytes = b"".join(lines)) -> AsyncIterator[Mapping[str, Any]]:
                yield {"content": content}

            data = await self._requests.upload(
                "/documents/annotated",
                body,
                once=True,
                exact="true",
                strict="false" if refused else "true",
                readers=groups,
            )
            new += part(data, "new")
            for one in part(data, "not_used"):
                if refused:
                    refused(Refused(part(one, "place"), part(one, "reason")))
            progress(part(data, "documents"))
        return new

    async def remove(self, uris: Sequence[str], *, erase: bool = False) -> int:
        """Remove these documents in one pass, and update the index. Returns how many of them existed.

        Their text is erased everywhere, including from cached model replies and from community reports that may quote
        it; those reports are marked to be written again. If the workspace keeps history, former versions and what was
        made from them stay, unless `erase` is set: then no version of these documents is kept.
        """
        return await self._write_all("/documents/delete", uris, "removed", erase=erase)

    async def switch_off(self, uris: Sequence[str]) -> int:
        """Switch these documents off, and update the index. Returns how many of them were switched on.

        They leave the index as removed documents do, but what was extracted from them stays stored. New versions of
        them are stored and stay switched off. Community reports that may quote them are erased.
        """
        return await self._write_all("/documents/off", uris, "switched")

    async def switch_on(self, uris: Sequence[str]) -> int:
        """Switch these documents on again, and update the index. Returns how many of them were switched off. Their
        passages are embedded again; nothing is extracted again."""
        return await self._write_all("/documents/on", uris, "switched")

    async def _write_all(self, path: str, uris: Sequence[str], counted: str, **more: bool) -> int:
        """The sum of a count over requests that have as many uris as one may have."""
        total = 0
        for first in range(0, len(uris), _URIS_AT_ONCE):
            body = {"uris": list(uris[first : first + _URIS_AT_ONCE]), **more}
            total += part(await self._requests.write(path, body), counted)
        return total

    def documents(self) -> Stream[Document]:
        """All documents as they were stored, in no particular order; without those that are switched off."""
        return self._requests.streams.hand_out(self._documents())

    async def _documents(self) -> AsyncGenerator[Document, None]:
        async with self._requests.lines("/documents/export") as lines:
            async for line in lines:
                row = json.loads(line)
                yield preannotated.document(row, part(row, "uri"))

    async def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document with this uri: its title and metadata, up to `chunks` of its chunks from number `first` on, with
        their positions, and the entities it mentions most. With `start`, chunks are counted from the one that contains
        this character of the document. Raises UnknownDocument, with similar uris, if there is none."""
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

    async def list_documents(
        self,
        limit: int = 50,
        *,
        noted: bool = False,
        after: str | tuple[datetime, str] = "",
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        order: DocumentOrder = "uri",
        since: datetime | None = None,
    ) -> list[DocumentInfo]:
        """The documents that pass a filter, sorted by uri or, with the order "added", the latest first; optionally only
        those with a note, whose uri begins with `prefix`, or that were added `since` a time. By default these are the
        documents in the index; with a `state`, those in this state, and with "any", also those in the queue and those
        that are switched off. For the next page, pass as `after` the last uri of this one, or a pair of its time and
        uri if the latest come first."""
        params = _listed(noted, prefix, filter, state, since)
        at, uri = (None, after) if isinstance(after, str) else after
        return await self._requests.listed(
            "/documents", DocumentInfo, limit, **params, order=order, added_before=moment(at), after=uri or None
        )

    async def count_documents(
        self,
        *,
        noted: bool = False,
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        since: datetime | None = None,
    ) -> int:
        """The number of documents that `list_documents` lists with these arguments."""
        params = _listed(noted, prefix, filter, state, since)
        return read(int, part(await self._requests.get("/documents", **params, limit=1, total="true"), "total"))

    # --- written by `make sync` from engine/documents.py and the server's routes ---

    async def document_outline(self, uri: str, *, first: int = 0, limit: int = 5000) -> DocumentOutline:
        """The structure of the document with this uri: its length, and up to `limit` of its pages and sections from
        number `first` on. Raises UnknownDocument, with similar uris, if there is none."""
        return read(DocumentOutline, await self._requests.get("/document/outline", uri=uri, first=first, limit=limit))

    async def document_mentions(
        self, uri: str, *, start: int = 0, end: int | None = None, limit: int = 1000
    ) -> list[EntitySpan]:
        """The spans of the document with this uri that mention entities, in order; optionally only those between the
        characters `start` and `end`. A span that several chunks contain is listed once for each of them. Raises
        UnknownDocument, with similar uris, if there is none."""
        return await self._requests.listed("/document/mentions", EntitySpan, limit, uri=uri, start=start, end=end)

    async def passages(self, *ids: UUID) -> list[Passage]:
        """The passages with these ids, such as those that a report cites, in that order. Passages of documents that
        were removed are left out."""
        if not ids:
            return []
        return read(
            list[Passage], part(await self._requests.get("/passages", id=[str(one) for one in ids]), "passages")
        )
