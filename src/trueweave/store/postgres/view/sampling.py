"""Samples of what documents say, for questions that are generated from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from trueweave.store.postgres.binary_params import Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.text.names import key

T = TypeVar("T")

_PAGE = 100  # entities or documents per statement
_WINDOW = 2400  # characters of a chunk that are read
_MOST_MENTIONS = 60  # of an entity that connects documents
_DOCUMENTS = 4  # of one entity
_CHUNKS = 3  # of one document


@dataclass(frozen=True, slots=True)
class SampledText:
    """A part of a chunk: where it begins in the document, whether it is cut at either end, and the names that the chunk
    mentions. `text_hash` is that of the whole chunk. `name` is the one for which it was chosen, if there is one."""

    uri: str
    title: str
    start: int
    text: str
    is_cut: tuple[bool, bool]
    names: tuple[str, ...]
    text_hash: UUID
    name: str = ""


async def bridges(workspace: Workspace, seed: int) -> AsyncIterator[list[SampledText]]:
    """Entities in random order, each as what several documents say around its name, one text for each document."""

    def texts(rows: Sequence[Row]) -> list[SampledText]:
        return [
            SampledText(uri, title, start, text, (before, after), tuple(sorted(names)), text_hash, name)
            for _, name, uri, title, start, text, before, after, names, text_hash in rows
        ]

    given = {"most": _MOST_MENTIONS, "documents": _DOCUMENTS, "window": _WINDOW}
    async for found in _walk(workspace, "sampling.bridges", seed, texts, given):
        yield found


async def chunks(workspace: Workspace, seed: int) -> AsyncIterator[list[SampledText]]:
    """Documents in random order, each as the beginnings of some of its chunks."""

    def texts(rows: Sequence[Row]) -> list[SampledText]:
        return [
            SampledText(uri, title, start, text, (False, after), tuple(sorted(names)), text_hash)
            for _, uri, title, start, text, after, names, text_hash in rows
        ]

    given = {"chunks": _CHUNKS, "window": _WINDOW, "seed": str(seed)}
    async for found in _walk(workspace, "sampling.chunks", seed, texts, given):
        yield found


async def places(tx: Transaction, quotes: Sequence[tuple[str, str]]) -> list[int | None]:
    """For each uri and quote, where in the document the quote begins; None if it is not there."""
    given = {"uris": Texts(uri for uri, _ in quotes), "quotes": Texts(quote for _, quote in quotes)}
    return [start for _, start in await tx.rows("sampling.quotes", **given)]


async def _walk(
    workspace: Workspace, query: str, seed: int, made: Callable[[Sequence[Row]], T], given: dict[str, Any]
) -> AsyncIterator[T]:
    """What the query finds for each id, from an id that the seed determines to the last one, and then from the first
    one. Only one page is in memory."""
    begin = key("sample", str(seed))
    for after, until in ((begin, None), (UUID(int=0), begin)):
        at: UUID | None = after
        while at is not None:
            async with workspace.transaction(snapshot=True) as tx:
                rows = await tx.rows(query, after=at, until=until, limit=_PAGE, **given)
            by_id: dict[UUID, list[Row]] = {}
            for row in rows:
                by_id.setdefault(row[0], []).append(row)
            for found in by_id.values():
                yield made([row for row in found if row[2] is not None])
            at = max(by_id) if by_id else None
