"""Reads what documents say about one entity or one relation: where it is mentioned or stated, with the text around."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from trueweave.core.dates import date_of
from trueweave.core.evidence import DocumentMentions, MentionCounts
from trueweave.core.graph import Relation
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view.read import relation

AROUND = 1000  # characters read on both sides of a span
WHOLE = 20_000  # characters read of a chunk without a span

MentionPlace = tuple[str, int, int, int]  # uri, number of the chunk, span in the chunk
StatementPlace = tuple[str, int, int]  # uri, number of the chunk, number of the statement in the chunk


class Surroundings(NamedTuple):
    """A span of a chunk, and the text around it. If `end` is 0 there is no span, and the text is the beginning of the
    chunk. All positions are in the chunk; `offset` is where the chunk begins in the document."""

    offset: int
    start: int
    end: int
    skipped: int
    text: str


class FoundMention(NamedTuple):
    """A place where a document mentions an entity, by one of these names."""

    place: MentionPlace
    title: str
    chunk: UUID
    names: list[str]
    around: Surroundings


class FoundStatement(NamedTuple):
    """A relation as a chunk states it."""

    place: StatementPlace
    title: str
    chunk: UUID
    source: str
    target: str
    description: str
    keywords: list[str]
    strength: float
    around: Surroundings
    date: str


class Mentioned(NamedTuple):
    """Whose mentions are read: those of an entity, or those of some names."""

    entity: UUID | None
    names: Ids


class Stated(NamedTuple):
    """Whose statements are read: those of a relation, or those of some pairs of names."""

    relation: UUID | None
    sources: Ids
    targets: Ids


def of_one(entity: UUID) -> Mentioned:
    """The mentions of an entity by all its names."""
    return Mentioned(entity, Ids())


def of_names(names: Iterable[UUID]) -> Mentioned:
    """The mentions of these names."""
    return Mentioned(None, Ids(names))


def of_pair(relation: UUID) -> Stated:
    """The statements of a relation by all its pairs of names."""
    return Stated(relation, Ids(), Ids())


def of_name_pairs(pairs: Iterable[tuple[UUID, UUID]]) -> Stated:
    """The statements of these pairs of names."""
    both = list(pairs)
    return Stated(None, Ids(source for source, _ in both), Ids(target for _, target in both))


async def is_entity(tx: Transaction, entity: UUID) -> bool:
    """Whether there is an entity with this id."""
    return bool(await tx.rows("lookup.entities_between", first=entity, last=entity))


async def of_entity(
    tx: Transaction, of: Mentioned, limit: int, document: str = "", after: MentionPlace | None = None
) -> list[FoundMention]:
    """Where documents mention an entity, by uri and position; optionally only one document; with `after`, the places
    after this one. Every call reads all mentions of the entity, but the text of those alone that it returns."""
    uri, n, first, behind = after or (None, None, None, None)
    rows = await tx.rows(
        "mentions.of_entity",
        **of._asdict(),
        document=document,
        limit=limit,
        uri=uri,
        n=n,
        first=first,
        behind=behind,
        around=AROUND,
        whole=WHOLE,
    )
    return [
        FoundMention((uri, n, start, end), title, chunk, names, Surroundings(offset, start, end, skipped, text))
        for uri, title, chunk, n, offset, start, end, names, skipped, text in rows
    ]


async def counts(tx: Transaction, of: Mentioned, limit: int) -> MentionCounts:
    """How often documents mention an entity, for the `limit` documents that do so most."""
    rows = await tx.rows("mentions.counts", **of._asdict(), limit=limit)
    mentions, documents = rows[0][3:] if rows else (0, 0)
    return MentionCounts(mentions, documents, tuple(DocumentMentions(*row[:3]) for row in rows))


async def one_relation(tx: Transaction, id_: UUID) -> Relation | None:
    """The relation with this id."""
    rows = await tx.rows("mentions.relation", id=id_)
    return relation(*rows[0]) if rows else None


async def of_relation(
    tx: Transaction, of: Stated, limit: int, after: StatementPlace | None = None
) -> list[FoundStatement]:
    """The statements of a relation, by uri and position; with `after`, those after this place."""
    uri, chunk_n, n = after or (None, None, None)
    rows = await tx.rows(
        "mentions.of_relation",
        **of._asdict(),
        limit=limit,
        uri=uri,
        chunk_n=chunk_n,
        n=n,
        around=AROUND,
        whole=WHOLE,
    )
    return [
        FoundStatement(
            (uri, chunk_n, n),
            title,
            chunk,
            source,
            target,
            description,
            keywords,
            strength / THOUSANDTHS,
            Surroundings(offset, start, end, skipped, text),
            date_of(date),
        )
        for (
            uri, title, chunk, chunk_n, n, offset, start, end, source, target, description, keywords, strength, skipped,
            text, date,
        ) in rows
    ]  # fmt: skip
