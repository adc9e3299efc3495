"""Looks up documents by uri, and what is in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.dates import date_in, date_of
from trueweave.core.evidence import DocumentOutline, Passage, place_at
from trueweave.core.record import Place
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view.likeness import MOST_READ, NAMES_AT_ONCE, NEAR, similar
from trueweave.text.folding import bare


async def near_uris(tx: Transaction, uri: str) -> list[str]:
    """The uris most similar to this one."""
    best: dict[str, float] = {}
    async for page in _uris(tx):
        best |= {page[n]: score for n, score in await asyncio.to_thread(similar, bare(uri), page)}
        best = dict(sorted(best.items(), key=lambda one: one[1], reverse=True)[:NEAR])
    return list(best)


async def _uris(tx: Transaction) -> AsyncIterator[list[str]]:
    after = ""
    for _ in range(MOST_READ // NAMES_AT_ONCE):
        page = [uri for (uri,) in await tx.rows("lookup.uris_after", after=after, limit=NAMES_AT_ONCE)]
        yield page
        if len(page) < NAMES_AT_ONCE:
            return
        after = page[-1]


# --- documents ----------------------------------------------------------------------------------------


class FoundDocument(NamedTuple):
    """A document without its text."""

    id: UUID
    uri: str
    title: str
    metadata: dict[str, Any]
    added: Any
    notes: list[str]
    chunks: int
    readers: list[str]


async def document(tx: Transaction, uri: str) -> FoundDocument | None:
    """The document with this uri."""
    rows = await tx.rows("lookup.document", uri=uri)
    return FoundDocument(*rows[0]) if rows else None


async def is_off(tx: Transaction, uri: str) -> bool:
    """Whether there is a document with this uri that is switched off."""
    return bool(await tx.value("lookup.is_off", uri=uri))


async def chunks(tx: Transaction, of: FoundDocument, first: int, limit: int, start: int = 0) -> list[Passage]:
    """Chunks of a document in order, from number `first`, counted from the chunk that contains the character
    `start`."""
    found = []
    stated = date_in(of.metadata)
    rows = await tx.rows("lookup.document_chunks", id=of.id, first=first, limit=limit, start=start)
    for id_, text, begins, places in rows:
        known = tuple(Place(*place) for place in places or ())
        page, headings = place_at(known, begins)
        found.append(Passage(id_, of.uri, of.title, text, begins, 0.0, page, headings, known, date=stated))
    return found


async def outline(tx: Transaction, of: FoundDocument, first: int, limit: int) -> DocumentOutline:
    """The structure of a document, with up to `limit` of its pages and sections from number `first`."""
    [(length, total, places)] = await tx.rows("lookup.document_outline", id=of.id, first=first, limit=limit)
    return DocumentOutline(of.uri, of.title, length, of.chunks, total, tuple(Place(*place) for place in places))


async def passages(tx: Transaction, ids: Sequence[UUID]) -> list[Passage]:
    """The chunks with these ids, in that order, without those of removed documents."""
    found = []
    for id_, uri, title, text, start, places, date in await tx.rows("lookup.passages", ids=Ids(dict.fromkeys(ids))):
        known = tuple(Place(*place) for place in places or ())
        page, headings = place_at(known, start)
        found.append(Passage(id_, uri, title, text, start, 0.0, page, headings, known, date=date_of(date)))
    return found
