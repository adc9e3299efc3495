"""Aggregation: entities from all mentions of their names, and relations from all links between two names.

Everything is aggregated as a sum of integers or as a multiset with counts: adding a document adds, removing it
subtracts, and the order does not matter. What people read (a name, a description) is computed from those sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from trueweave.text.names import key, normalise, pair_key

Histogram = tuple[int, ...]  # the number of mentions with emphasis 1, 2 … 9

EMPTY: Histogram = (0,) * 9
THOUSANDTHS = 1000  # the unit of strengths and weights, so that their sums are exact
DESCRIPTIONS_KEPT = 8
KEYWORDS_KEPT = 16
ALIASES_KEPT = 64


class NameRow(NamedTuple):
    """A name with the sums over its live mentions; `entity` is None while it has none."""

    id: UUID
    written: str
    type: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    histogram: Histogram
    entity: UUID | None


class Phrase(NamedTuple):
    """A description or keyword with its hash and weight: the sum of the emphases with which it was said of a name or a
    pair of names."""

    hash: UUID
    value: str
    weight: int


class NamePairRow(NamedTuple):
    """Two names with the sums over the live links from one to the other. The weight is in thousandths."""

    source: UUID
    target: UUID
    count: int  # type: ignore[assignment]  # hides tuple.count
    weight: int
    histogram: Histogram
    relation: UUID | None


class EntityRow(NamedTuple):
    """An entity as stored."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: list[str]
    count: int  # type: ignore[assignment]  # hides tuple.count
    histogram: Histogram
    degree: int
    text_hash: UUID


class RelationRow(NamedTuple):
    """A relation as stored. The weight is in thousandths."""

    id: UUID
    source: UUID
    target: UUID
    source_name: str
    target_name: str
    type: str
    description: str
    keywords: list[str]
    weight: int
    count: int  # type: ignore[assignment]  # hides tuple.count
    histogram: Histogram
    text_hash: UUID


def add(a: Sequence[int], b: Sequence[int]) -> Histogram:
    """The sum of two histograms."""
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def total(histograms: Iterable[Sequence[int]]) -> Histogram:
    """The sum of many histograms."""
    return tuple(map(sum, zip(*histograms, strict=True))) or EMPTY


def harmonic_emphasis(histogram: Sequence[int]) -> float:
    """The harmonic mean of the emphases counted in a histogram; 0 for an empty one."""
    weighted = sum(count / emphasis for emphasis, count in enumerate(histogram, 1))
    return sum(histogram) / weighted if weighted else 0.0


@lru_cache(maxsize=2**14)  # a batch needs each of its pairs several times
def name_pair_id(source: UUID, target: UUID) -> UUID:
    """The id under which descriptions and keywords of a pair of names are counted."""
    return pair_key("tie", source, target)


def relation_id(source: UUID, target: UUID) -> UUID:
    """The id of the relation from one entity to another."""
    return pair_key("relation", source, target)


def entity_text(name: str, type_: str, description: str) -> str:
    """The text that is embedded for an entity."""
    return name + (f" ({type_})" if type_ else "") + (f": {description}" if description else "")


def relation_text(source: str, target: str, description: str, keywords: Sequence[str]) -> str:
    """The text that is embedded for a relation. A keyword equal to the description, as in a bare triple, is left
    out."""
    others = [word for word in keywords if word != description]
    words = f" ({', '.join(others)})" if others else ""
    return f"{source} -> {target}{words}" + (f": {description}" if description else "")


def report_text(title: str, summary: str) -> str:
    """The text by which a report is found."""
    return f"{title}\n{summary}"


def chosen(said: Iterable[Phrase], most: int) -> list[str]:
    """The `most` values with the highest weights, in the order of their hashes: so the text made from them changes when
    another value is chosen, but not whenever one is repeated.

    A value shared by several names of an entity has the highest of its weights. A sum over all of them could not be
    computed from the first few of each.
    """
    best: dict[UUID, Phrase] = {}
    for phrase in said:
        other = best.get(phrase.hash)
        if other is None or phrase.weight > other.weight:
            best[phrase.hash] = phrase
    first = list(best.values())
    if len(first) > most:
        first = sorted(first, key=lambda phrase: (-phrase.weight, phrase.hash))[:most]
    return [phrase.value for phrase in sorted(first)]


def entity(
    id_: UUID,
    names: Sequence[NameRow],
    said: Iterable[Phrase],
    degree: int,
    label: str | None = None,
    type_label: str | None = None,
) -> EntityRow:
    """The entity that these live names form, with the most frequent spelling and type, unless a person gave it another
    name or type."""
    normal = _winner((normalise(n.written), n.count) for n in names)
    kind = _winner((n.type.lower(), n.count) for n in names)
    type_ = type_label or _winner((n.type, n.count) for n in names if n.type.lower() == kind)
    name = label or _winner((n.written, n.count) for n in names if normalise(n.written) == normal)
    description = "\n".join(chosen(said, DESCRIPTIONS_KEPT))
    aliases = [written for written in _ranked((n.written, n.count) for n in names) if written != name][:ALIASES_KEPT]
    count, histogram = sum(n.count for n in names), total(n.histogram for n in names)
    text_hash = key("text", entity_text(name, type_, description))
    return EntityRow(id_, name, type_, description, aliases, count, histogram, degree, text_hash)


def relation(
    id_: UUID,
    ends: tuple[UUID, UUID],
    name_pairs: Sequence[NamePairRow],
    written: Mapping[UUID, str],
    said: Iterable[Phrase],
    keywords: Iterable[Phrase],
    types: Iterable[Phrase],
) -> RelationRow:
    """The relation that these live pairs of names form.

    Its ends are named as in its most frequent pair, not by the entities' current names: otherwise one more spelling of
    a hub could change the texts of all its relations, which would all be embedded again.
    """
    main = min(name_pairs, key=lambda t: (-t.count, written[t.source], written[t.target], t.source, t.target))
    source, target = written[main.source], written[main.target]
    description = "\n".join(chosen(said, DESCRIPTIONS_KEPT))
    words = chosen(keywords, KEYWORDS_KEPT)
    type_ = next(iter(chosen(types, 1)), "")
    weight, count = sum(t.weight for t in name_pairs), sum(t.count for t in name_pairs)
    histogram = total(t.histogram for t in name_pairs)
    text_hash = key("text", relation_text(source, target, description, words))
    return RelationRow(id_, *ends, source, target, type_, description, words, weight, count, histogram, text_hash)


def _winner(votes: Iterable[tuple[str, int]]) -> str:
    """The value with the most votes; of several, the smallest."""
    return _ranked(votes)[0]


def _ranked(votes: Iterable[tuple[str, int]]) -> list[str]:
    sums: defaultdict[str, int] = defaultdict(int)
    for value, count in votes:
        sums[value] += count
    return sorted(sums, key=lambda value: (-sums[value], value))
