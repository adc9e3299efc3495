"""The plan for settling a batch: the difference between the view before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar
from uuid import UUID

from trueweave.core.graph import VectorKind
from trueweave.graph.aggregate import EMPTY, EntityRow, Histogram, NamePairRow, NameRow, RelationRow, add

Pair = tuple[UUID, UUID]
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Batch:
    """What is settled together: versions of documents that enter the view (+1) or leave it (-1), names to resolve
    again, and pairs of names whose relation must be computed again."""

    documents: dict[UUID, int]
    dirty_names: tuple[UUID, ...] = ()
    dirty_pairs: tuple[Pair, ...] = ()

    @property
    def coming(self) -> list[UUID]:
        return [id_ for id_, sign in self.documents.items() if sign > 0]

    @property
    def going(self) -> list[UUID]:
        return [id_ for id_, sign in self.documents.items() if sign < 0]

    def __bool__(self) -> bool:
        return bool(self.documents or self.dirty_names or self.dirty_pairs)


class PhraseCount(NamedTuple):
    """The change in how often something is said of a name or a pair of names, and with how much emphasis. Kind:
    d(escription), k(eyword) or t(ype), which is a first keyword and is decided by votes."""

    owner: UUID
    kind: str
    hash: UUID
    value: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    weight: int

    def plus(self, other: PhraseCount) -> PhraseCount:
        """The same phrase, with both counts added."""
        return PhraseCount(*self[:4], self.count + other.count, self.weight + other.weight)


class PhraseDeltas(NamedTuple):
    """The changes of a batch in what is said: in the descriptions of names, and in the descriptions, keywords and types
    of pairs of names."""

    of_names: list[PhraseCount]
    descriptions: list[PhraseCount]
    keywords: list[PhraseCount]
    types: list[PhraseCount]


class ChangedText(NamedTuple):
    """A new or changed text, which must be embedded."""

    kind: VectorKind
    id: UUID
    hash: UUID
    text: str


class Sums(NamedTuple):
    """What a batch adds to a name or a pair of names."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    weight: int
    histogram: Histogram


@dataclass(frozen=True, slots=True)
class Plan:
    """All rows that settling a batch writes and removes."""

    batch: Batch
    names: list[NameRow]
    name_pairs: list[NamePairRow]
    gone_name_pairs: list[Pair]
    phrase_counts: list[PhraseCount]
    entities: list[EntityRow]
    gone_entities: list[UUID]
    relations: list[RelationRow]
    gone_relations: list[UUID]
    chunks: list[UUID]
    gone_chunks: list[UUID]
    texts: list[ChangedText]


def sums(rows: Iterable[tuple[K, int, int, int]]) -> dict[K, Sums]:
    """Rows of (key, emphasis, count, weight), summed by key."""
    added: defaultdict[K, list[int]] = defaultdict(lambda: [0] * 10)  # the weight, then the histogram
    for key, emphasis, count, weight in rows:
        of_key = added[key]
        of_key[0] += weight
        of_key[emphasis] += count
    return {key: Sums(sum(counts), weight, tuple(counts)) for key, (weight, *counts) in added.items()}


def changed_name(row: NameRow, by: Sums | None) -> NameRow:
    """The name with the changes of a batch."""
    if by is None:
        return row
    return row._replace(count=row.count + by.count, histogram=add(row.histogram, by.histogram))


def changed_name_pair(pair: Pair, row: NamePairRow | None, by: Sums | None) -> NamePairRow:
    """The pair of names with the changes of a batch; a new pair starts from zero."""
    if by is None:
        return row or NamePairRow(*pair, 0, 0, EMPTY, None)
    if row is None:
        return NamePairRow(*pair, by.count, by.weight, by.histogram, None)
    histogram = add(row.histogram, by.histogram)
    return NamePairRow(*pair, row.count + by.count, row.weight + by.weight, histogram, row.relation)
