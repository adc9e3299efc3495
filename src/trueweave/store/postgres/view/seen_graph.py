"""The graph as far as a transaction with a sight sees it, computed from the mentions and links that it sees.

Entities and relations are stored as they follow from all documents. Here they are aggregated again, by the same
functions, from what is visible; only the grouping of names into entities starts from the stored one. Names that are
connected by an invisible name alone are different entities here. The part of a stored entity with the smallest name
keeps its id; other parts have the id of their smallest name.

What is read is bounded by `MOST_READ` rows, because it is computed in memory: beyond it NotForRestricted is raised.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.errors import NotForRestricted
from trueweave.core.graph import Entity, Relation, RuleKind
from trueweave.graph import aggregate
from trueweave.graph.aggregate import DESCRIPTIONS_KEPT, EntityRow, NamePairRow, NameRow, Phrase, RelationRow
from trueweave.graph.components import NameRule, components
from trueweave.graph.facts import FactDecisions, FactRule, decisions
from trueweave.graph.labels import described, labels, latest
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import read, view
from trueweave.text.names import said_hash

MOST_READ = 200_000  # names or pairs of names that one look-up reads

Pair = tuple[UUID, UUID]

_TOO_MUCH = (
    f"this look-up would compute the graph from more than {MOST_READ:,} names or pairs of names, because it is asked "
    "under rights or a filter. Look up one entity, or take a filter that fewer documents pass."
)


class _Name(NamedTuple):
    written: str
    type: str
    stored: UUID


class SeenGraph:
    """Reads entities and relations as they are needed, and keeps them for its transaction, which must be a snapshot."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._names: dict[UUID, _Name] = {}
        self._entity_of: dict[UUID, UUID] = {}
        self._members: dict[UUID, list[UUID]] = {}
        self._stored: set[UUID] = set()  # stored entities whose names were read
        self._known_rules: tuple[list[NameRule], list[FactRule]] | None = None
        self._differs: bool | None = None
        self._facts: FactDecisions | None = None
        self._spelled: dict[UUID, str] = {}  # names by id, of some of which only this is known
        self._counts: dict[UUID, tuple[int, aggregate.Histogram]] = {}
        self._pairs: dict[Pair, NamePairRow] = {}
        self._relations: dict[Pair, list[NamePairRow]] = {}  # by the entities at both ends, each complete
        self._beside: defaultdict[UUID, set[Pair]] = defaultdict(set)
        self._related: set[UUID] = set()  # entities whose relations were all read

    # --- names and their entities -------------------------------------------------------------------------

    async def entity_of(self, names: Iterable[tuple[UUID, UUID]]) -> dict[UUID, UUID]:
        """For each of these names, given with its stored entity, the entity that it is a name of."""
        named = dict(names)
        if not await self._may_differ():
            return named
        await self._read_names(set(named.values()))
        return {name: self._entity_of[name] for name in named}

    async def known(self, ids: Iterable[UUID]) -> list[UUID]:
        """Those of these entities that exist, in that order, without suppressed ones."""
        wanted = list(dict.fromkeys(ids))
        await self._read_names({one for one in wanted if one not in self._members})
        others = [one for one in wanted if one not in self._members]
        if others and await self._may_differ():  # they may be parts of stored entities
            rows = await self._tx.rows("seen.entities_of_names", ids=Ids(others))
            await self._read_names({stored for (stored,) in rows})
        suppressed = (await self.facts()).suppressed
        return [one for one in wanted if one in self._members and one not in suppressed]

    async def between(self, first: UUID, last: UUID, most: int) -> list[UUID]:
        """The first entities with ids in this range."""
        rows = await self._tx.rows("seen.entities_between", first=first, last=last, most=MOST_READ + 1)
        await self._read_names({stored for (stored,) in self.within_bounds(rows)})
        found = sorted(one for one in self._members if first <= one <= last)
        return (await self.known(found))[:most]

    async def all_entities(self) -> list[UUID]:
        """All entities, without suppressed ones."""
        await self._take_names(await self._tx.rows("seen.names", entities=None, most=MOST_READ + 1))
        suppressed = (await self.facts()).suppressed
        return [one for one in self._members if one not in suppressed]

    def names_of(self, entity: UUID) -> list[UUID]:
        """The names of a known entity, by id."""
        return sorted(self._members[entity])

    async def facts(self) -> FactDecisions:
        """What people's rules decide about these entities and relations."""
        if self._facts is None:
            _, rules = await self._rules()
            await self._read_names({one.entity for one in rules if one.entity})
            self._facts = decisions(one._replace(entity=self._entity_of[one.name]) for one in rules)
        return self._facts

    async def _rules(self) -> tuple[list[NameRule], list[FactRule]]:
        """The rules on visible names: those on names, and those on facts. They are made by people, so there are few."""
        if self._known_rules is None:
            rows = await self._tx.rows("seen.rules") if await self._may_differ() else []
            names: defaultdict[tuple[int, RuleKind, str], set[UUID]] = defaultdict(set)
            for order, kind, label, side, name, _ in rows:
                if side == 0:
                    names[order, kind, label].add(name)
            about_names = [NameRule(order, kind, frozenset(ids), label) for (order, kind, label), ids in names.items()]
            self._known_rules = about_names, [FactRule(*row) for row in rows if row[3]]
        return self._known_rules

    async def _may_differ(self) -> bool:
        """Whether anything but equal names connects names or hides relations, so that what is stored may differ."""
        if self._differs is None:
            self._differs = bool(await self._tx.value("seen.may_differ"))
        return self._differs

    async def _read_names(self, stored: Collection[UUID]) -> None:
        new = [one for one in stored if one not in self._stored]
        if new:
            self._stored.update(new)
            await self._take_names(await self._tx.rows("seen.names", entities=Ids(new), most=MOST_READ + 1))

    async def _take_names(self, rows: list[Row]) -> None:
        for id_, written, type_, stored, count, histogram in self.within_bounds(rows):
            self._names[id_] = _Name(written, type_, stored)
            self._spelled[id_] = written
            self._counts[id_] = count, tuple(histogram)
            self._stored.add(stored)
        await self._connect([id_ for id_, *_ in rows])

    async def _connect(self, names: Sequence[UUID]) -> None:
        """Group these names, which are all those of their stored entities, into entities."""
        groups: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for name in names:
            groups[self._names[name].stored].append(name)
        parts = {stored: [sorted(group)] for stored, group in groups.items()}
        several = [name for group in groups.values() if len(group) > 1 for name in group]
        if several and await self._may_differ():
            for stored in {self._names[name].stored for name in several}:
                parts[stored] = []
            rules, _ = await self._rules()
            for part in components(several, await view.alike(self._tx, several), rules):
                parts[self._names[min(part)].stored].append(sorted(part))
        for stored, found in parts.items():
            for n, members in enumerate(sorted(found)):
                entity = members[0] if n else stored
                self._members[entity] = members
                self._entity_of |= dict.fromkeys(members, entity)

    def within_bounds(self, rows: list[Row]) -> list[Row]:
        if len(rows) > MOST_READ:
            raise NotForRestricted(_TOO_MUCH)
        return rows

    # --- entities -----------------------------------------------------------------------------------------

    async def called(self, ids: Sequence[UUID]) -> dict[UUID, EntityRow]:
        """These known entities with what follows from their names: name, type, aliases and count."""
        return await self._entity_rows(ids, {}, {})

    async def entities(self, ids: Iterable[UUID]) -> list[Entity]:
        """The entities with these ids, in that order, without those that do not exist."""
        known = await self.known(ids)
        names = [name for one in known for name in self._members[one]]
        said: defaultdict[UUID, list[Phrase]] = defaultdict(list)
        for name, *phrase in await self._rows("seen.said_of_names", names, kept=DESCRIPTIONS_KEPT):
            said[name].append(Phrase(*phrase))
        rows = await self._entity_rows(known, said, await self.degrees(known))
        summaries = await self._summaries(rows.values())
        return [
            read.entity(*row[:6], list(row.histogram), row.degree, summaries.get(row.text_hash, ""))
            for row in rows.values()
        ]

    async def _entity_rows(
        self, ids: Sequence[UUID], said: dict[UUID, list[Phrase]], degrees: dict[UUID, int]
    ) -> dict[UUID, EntityRow]:
        await self._read_names({one for one in ids if one not in self._members})
        rules, _ = await self._rules()
        renamed, retyped, told = (labels(rules, kind) for kind in ("rename", "retype", "describe"))
        found: dict[UUID, EntityRow] = {}
        for id_ in ids:
            members = self._members[id_]
            rows = [NameRow(name, *self._names[name][:2], *self._counts[name], id_) for name in members]
            phrases = described(latest(told, members)) or [one for name in members for one in said.get(name, ())]
            label, kind = latest(renamed, members), latest(retyped, members)
            found[id_] = aggregate.entity(id_, rows, phrases, degrees.get(id_, 0), label, kind)
        return found

    async def degrees(self, ids: Sequence[UUID]) -> dict[UUID, int]:
        """How many relations each of these known entities has."""
        await self._relate(ids)
        return {id_: len(self._beside[id_]) for id_ in ids}

    # --- relations ----------------------------------------------------------------------------------------

    async def relations_of(self, ids: Sequence[UUID]) -> dict[Pair, int]:
        """All relations from and to these known entities, by the entities at both ends, with their weights."""
        await self._relate(ids)
        return {pair: self.weight(pair) for id_ in ids for pair in self._beside[id_]}

    async def all_relations(self) -> dict[Pair, int]:
        """All relations, by the entities at both ends, with their weights."""
        await self._take_pairs(await self._tx.rows("seen.pairs", names=None, relations=None, most=MOST_READ + 1))
        return {pair: self.weight(pair) for pair in self._relations}

    async def with_ids(self, ids: Iterable[UUID]) -> dict[UUID, Pair]:
        """The relations with these ids, by the entities at both ends."""
        wanted = set(ids)
        given: dict[str, Any] = {"names": None, "relations": Ids(wanted), "most": MOST_READ + 1}
        await self._take_pairs(await self._tx.rows("seen.pairs", **given) if wanted else [])
        found = self._among(wanted)
        if len(found) < len(wanted) and await self._may_differ():
            await self.all_relations()
            found = self._among(wanted)
        return found

    def _among(self, ids: Collection[UUID]) -> dict[UUID, Pair]:
        return {id_: pair for pair in self._relations if (id_ := aggregate.relation_id(*pair)) in ids}

    async def stated_in(self, document: UUID) -> set[Pair]:
        """The relations that a document states, by the entities at both ends."""
        rows = await self._tx.rows("seen.pairs_of_document", document=document)
        stored = {name: end for row in rows for name, end in zip(row[:2], row[2:], strict=True)}
        entity_of = await self.entity_of(stored.items())
        return {(entity_of[source], entity_of[target]) for source, target, *_ in rows}

    def weight(self, pair: Pair) -> int:
        """The weight of a relation that was read, in thousandths."""
        return sum(one.weight for one in self._relations[pair])

    def named(self, pair: Pair) -> tuple[str, str]:
        """The names of both ends of a relation that was read and spelled, as `aggregate.relation` gives them."""
        row = self._relation_row(pair, {}, {}, {}, {})
        return row.source_name, row.target_name

    async def spell(self, pairs: Iterable[Pair]) -> None:
        """Read the spellings of the names in these relations."""
        names = {name for pair in pairs for one in self._relations[pair] for name in (one.source, one.target)}
        self._spelled |= dict(await self._rows("seen.spellings", [one for one in names if one not in self._spelled]))

    def name_pairs(self, pair: Pair) -> list[Pair]:
        """The pairs of names of a relation that was read, in order."""
        return sorted((one.source, one.target) for one in self._relations[pair])

    async def relations(self, pairs: Sequence[Pair]) -> list[Relation]:
        """These relations, which were read, in that order, with summaries."""
        rows = await self.relation_rows(pairs)
        summaries = await self._summaries(rows)
        return [
            read.relation(
                *row[:5], row.description, row.keywords, row.weight, row.count, list(row.histogram),
                summaries.get(row.text_hash, ""), row.type,
            )
            for row in rows
        ]  # fmt: skip

    async def relation_rows(self, pairs: Sequence[Pair]) -> list[RelationRow]:
        """These relations, which were read, in that order."""
        await self.spell(pairs)
        both = [(one.source, one.target) for pair in pairs for one in self._relations[pair]]
        given: dict[str, Any] = {"sources": Ids(s for s, _ in both), "targets": Ids(t for _, t in both)}
        said: defaultdict[Pair, list[Phrase]] = defaultdict(list)
        words: defaultdict[Pair, list[Phrase]] = defaultdict(list)
        votes: defaultdict[Pair, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        if both:
            for source, target, *phrase in await self._tx.rows("seen.said_of_pairs", kept=DESCRIPTIONS_KEPT, **given):
                said[source, target].append(Phrase(*phrase))
            for source, target, word, weight, first in await self._tx.rows("seen.keywords_of_pairs", **given):
                words[source, target].append(Phrase(said_hash(word), word, weight))
                if first:
                    votes[source, target][word.lower()] += first
        types = {
            pair: [Phrase(said_hash(word), word, count) for word, count in counts.items()]
            for pair, counts in votes.items()
        }
        decided = (await self.facts()).relations
        return [self._relation_row(pair, said, words, types, decided.get(pair, {})) for pair in pairs]

    def _relation_row(
        self,
        pair: Pair,
        said: dict[Pair, list[Phrase]],
        words: dict[Pair, list[Phrase]],
        types: dict[Pair, list[Phrase]],
        decided: Any,
    ) -> RelationRow:
        group = self._relations[pair]
        both = [(one.source, one.target) for one in group]
        written = {name: self._spelled[name] for ends in both for name in ends}
        return aggregate.relation(
            aggregate.relation_id(*pair),
            pair,
            group,
            written,
            described(decided.get("describe")) or [one for ends in both for one in said.get(ends, ())],
            [one for ends in both for one in words.get(ends, ())],
            described(decided.get("retype")) or [one for ends in both for one in types.get(ends, ())],
        )

    async def _relate(self, ids: Iterable[UUID]) -> None:
        new = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._related]
        if not new:
            return
        await self._read_names({one for one in new if one not in self._members})
        names = Ids(name for id_ in new for name in self._members[id_])
        await self._take_pairs(await self._tx.rows("seen.pairs", names=names, relations=None, most=MOST_READ + 1))
        self._related.update(new)

    async def _take_pairs(self, rows: list[Row]) -> None:
        """Take these pairs of names, which are all those of their relations."""
        facts = await self.facts()
        new = [row for row in self.within_bounds(rows) if row[:2] not in self._pairs]
        stored = {name: end for row in new for name, end in ((row[0], row[5]), (row[1], row[6]))}
        entity_of = await self.entity_of(stored.items())
        for source, target, count, weight, histogram, *_ in new:
            pair = NamePairRow(source, target, count, weight, tuple(histogram), None)
            self._pairs[source, target] = pair
            ends = entity_of[source], entity_of[target]
            if ends[0] != ends[1] and not facts.hide(*ends):
                self._relations.setdefault(ends, []).append(pair)
                self._beside[ends[0]].add(ends)
                self._beside[ends[1]].add(ends)

    async def _summaries(self, rows: Iterable[EntityRow | RelationRow]) -> dict[UUID, str]:
        """The summaries of long descriptions, by the hashes of the texts that they are in."""
        long = [row.text_hash for row in rows if len(row.description) > view.LONG_DESCRIPTION]
        return dict(await self._rows("seen.summaries", long))

    async def _rows(self, query: str, ids: Collection[UUID], **params: Any) -> list[Row]:
        return await self._tx.rows(query, ids=Ids(ids), **params) if ids else []
