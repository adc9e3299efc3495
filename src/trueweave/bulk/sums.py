"""Aggregating what many documents say, in two steps: within a shard, then over all shards by key.

Everything is a sum of integers by key, so it does not matter how documents are distributed over shards, or in which
order these arrive. The result is the same as from settling the same documents one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from trueweave.core.record import ResolutionSettings
from trueweave.graph.aggregate import (
    EntityRow,
    Histogram,
    NamePairRow,
    NameRow,
    Phrase,
    RelationRow,
    add,
    entity,
    name_pair_id,
    relation,
    relation_id,
)
from trueweave.graph.alike import alike, compared, keys, mask, most_changes, probes
from trueweave.graph.contribution import LinkRow, MentionRow
from trueweave.graph.plan import PhraseCount
from trueweave.text.names import key

Pair = tuple[UUID, UUID]
Counted = dict[tuple[str, UUID], tuple[str, int, int]]  # by kind and hash: the value, how often, with how much emphasis


class NameSum(NamedTuple):
    """A name, the sums over its mentions, and what is said about it."""

    id: UUID
    written: str
    type: str
    histogram: Histogram
    said: Counted


class PairSum(NamedTuple):
    """Two names as written, the sums over the links from one to the other, and what is said about them."""

    source: UUID
    target: UUID
    source_written: str
    target_written: str
    weight: int
    histogram: Histogram
    said: Counted


class KeyEntry(NamedTuple):
    """A name under one of its keys: either stored there, or searching for others there."""

    key: int
    name: UUID
    form: str
    mask: int
    is_stored: bool


@dataclass(frozen=True)
class EntityOf:
    """The entity of each name. Names that are not similar to others and had no entity before are not listed: their
    entity is derived from the name. Such an id must be new in every load, as a former one may belong to other names by
    now."""

    load: str
    listed: Mapping[UUID, UUID] = field(default_factory=dict)

    def __call__(self, name: UUID) -> UUID:
        return self.listed.get(name) or key("entity", self.load, name.hex)


def part_of(id_: UUID, parts: int) -> int:
    """The part that an id belongs to. Ids are hashes, so parts are about equal."""
    return id_.int % parts


# --- names ------------------------------------------------------------------------------------------


def sum_mentions(mentions: Iterable[MentionRow]) -> list[NameSum]:
    """The sums over the mentions of a shard, for each name."""
    written: dict[UUID, tuple[str, str]] = {}
    counts: defaultdict[UUID, list[int]] = defaultdict(lambda: [0] * 9)
    said: defaultdict[UUID, Counted] = defaultdict(dict)
    for row in mentions:
        written[row.name] = row.written, row.type
        counts[row.name][row.emphasis - 1] += 1
        if row.description:
            _count(said[row.name], "d", row.description_hash, row.description, 1, row.emphasis)
    return [NameSum(id_, *written[id_], tuple(found), said.get(id_, {})) for id_, found in counts.items()]


def merge_names(sums: Iterable[NameSum]) -> list[NameSum]:
    """The sums of all shards, one for each name."""
    merged: dict[UUID, NameSum] = {}
    for one in sums:
        before = merged.get(one.id)
        if before is not None:
            one = one._replace(histogram=add(before.histogram, one.histogram), said=_merged(before.said, one.said))
        merged[one.id] = one
    return list(merged.values())


# --- alike names ------------------------------------------------------------------------------------


def key_entries(names: Iterable[NameSum], how: ResolutionSettings) -> list[KeyEntry]:
    """The keys under which these names are stored, and those under which they search for others."""
    entries: list[KeyEntry] = []
    for name in names:
        form = compared(name.written, how)
        bits = mask(form)
        entries += [KeyEntry(one, name.id, form, bits, True) for one in keys(form, name.type, how)]
        entries += [KeyEntry(one, name.id, form, bits, False) for one in probes(form, name.type, how)]
    return entries


def alike_pairs(entries: Iterable[KeyEntry], how: ResolutionSettings) -> set[Pair]:
    """The pairs of names alike among those under the same keys, the smaller id first."""
    stored: defaultdict[int, list[KeyEntry]] = defaultdict(list)
    looking: list[KeyEntry] = []
    for entry in entries:
        if entry.is_stored:
            stored[entry.key].append(entry)
        else:
            looking.append(entry)
    candidates: dict[Pair, tuple[str, str]] = {}
    for one in looking:
        others = stored.get(one.key, ())
        if len(others) == 1 and others[0].name == one.name:
            continue
        most = most_changes(one.form, how)
        for other in others:
            if other.name != one.name and (other.mask ^ one.mask).bit_count() <= most:
                pair = (one.name, other.name) if one.name < other.name else (other.name, one.name)
                candidates[pair] = one.form, other.form
    verdicts = alike(list(candidates.values()), how)
    return {pair for pair, is_alike in zip(candidates, verdicts, strict=True) if is_alike}


# --- relations --------------------------------------------------------------------------------------


def sum_links(links: Iterable[LinkRow], written: Mapping[UUID, str]) -> list[PairSum]:
    """The sums over the links of a shard, for each pair of names; `written` has the spelling of each name."""
    counts: defaultdict[Pair, list[int]] = defaultdict(lambda: [0] * 9)
    weights: defaultdict[Pair, int] = defaultdict(int)
    said: defaultdict[Pair, Counted] = defaultdict(dict)
    for row in links:
        pair = row.source, row.target
        counts[pair][row.emphasis - 1] += 1
        weights[pair] += row.strength
        if row.description:
            _count(said[pair], "d", row.description_hash, row.description, 1, row.emphasis)
        for n, word in enumerate(row.keywords):
            _count(said[pair], "k", key("said", word), word, 1, row.emphasis)
            if n == 0:
                _count(said[pair], "t", key("said", word.lower()), word.lower(), 1, 1)
    return [
        PairSum(*pair, written[pair[0]], written[pair[1]], weights[pair], tuple(found), said.get(pair, {}))
        for pair, found in counts.items()
    ]


def merge_pairs(sums: Iterable[PairSum]) -> list[PairSum]:
    """The sums of all shards, one for each pair of names."""
    merged: dict[Pair, PairSum] = {}
    for one in sums:
        pair = one.source, one.target
        before = merged.get(pair)
        if before is not None:
            one = one._replace(
                weight=before.weight + one.weight,
                histogram=add(before.histogram, one.histogram),
                said=_merged(before.said, one.said),
            )
        merged[pair] = one
    return list(merged.values())


class Related(NamedTuple):
    """The rows of some pairs of names, and of the relations that they form."""

    name_pairs: list[NamePairRow]
    phrase_counts: list[PhraseCount]
    relations: list[RelationRow]


def relate(sums: Sequence[PairSum], entity_of: EntityOf) -> Related:
    """The rows for these pairs of names; for two entities, they must have all pairs or none."""
    groups: defaultdict[tuple[UUID, Pair], list[tuple[PairSum, NamePairRow]]] = defaultdict(list)
    name_pairs: list[NamePairRow] = []
    phrase_counts: list[PhraseCount] = []
    for one in sums:
        ends = entity_of(one.source), entity_of(one.target)
        related = relation_id(*ends) if ends[0] != ends[1] else None
        row = NamePairRow(one.source, one.target, sum(one.histogram), one.weight, one.histogram, related)
        name_pairs.append(row)
        phrase_counts += _phrase_counts(name_pair_id(one.source, one.target), one.said)
        if related:
            groups[related, ends].append((one, row))
    relations: list[RelationRow] = []
    for (id_, ends), group in groups.items():
        pairs = [one for one, _ in group]
        written = {p.source: p.source_written for p in pairs} | {p.target: p.target_written for p in pairs}
        kinds = (_phrases((p.said for p in pairs), kind) for kind in ("d", "k", "t"))
        relations.append(relation(id_, ends, [row for _, row in group], written, *kinds))
    return Related(name_pairs, phrase_counts, relations)


# --- entities ---------------------------------------------------------------------------------------


class Gathered(NamedTuple):
    """The rows of some names, and of the entities that they form."""

    names: list[NameRow]
    phrase_counts: list[PhraseCount]
    entities: list[EntityRow]


def gather(sums: Iterable[NameSum], degrees: Mapping[UUID, int], entity_of: EntityOf) -> Gathered:
    """The rows for these names; for each entity, they must have all names or none."""
    groups: defaultdict[UUID, list[NameSum]] = defaultdict(list)
    for one in sums:
        groups[entity_of(one.id)].append(one)
    names: list[NameRow] = []
    phrase_counts: list[PhraseCount] = []
    entities: list[EntityRow] = []
    for id_, group in groups.items():
        rows = [NameRow(n.id, n.written, n.type, sum(n.histogram), n.histogram, id_) for n in group]
        names += rows
        for one in group:
            phrase_counts += _phrase_counts(one.id, one.said)
        said = _phrases((n.said for n in group), "d")
        entities.append(entity(id_, rows, said, degrees.get(id_, 0)))
    return Gathered(names, phrase_counts, entities)


# --- phrases ----------------------------------------------------------------------------------------


def _count(said: Counted, kind: str, hash_: UUID, value: str, count: int, weight: int) -> None:
    _, counted, weighed = said.get((kind, hash_), ("", 0, 0))
    said[kind, hash_] = value, counted + count, weighed + weight


def _merged(one: Counted, other: Counted) -> Counted:
    if not one or not other:
        return one or other
    merged = dict(one)
    for (kind, hash_), counted in other.items():
        _count(merged, kind, hash_, *counted)
    return merged


def _phrase_counts(owner: UUID, said: Counted) -> Iterable[PhraseCount]:
    return (PhraseCount(owner, kind, hash_, *counted) for (kind, hash_), counted in said.items())


def _phrases(said: Iterable[Counted], kind: str) -> list[Phrase]:
    return [
        Phrase(hash_, value, weight)
        for one in said
        for (of_kind, hash_), (value, _, weight) in one.items()
        if of_kind == kind
    ]
