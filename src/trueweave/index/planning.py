"""Plans a batch: what changes in the view if these documents are added and removed.

The cost depends on what changes, not on what exists. Sums are kept per name and per pair of names, so adding to an
entity with a hundred thousand mentions is as cheap as adding to one with ten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from uuid import UUID, uuid4

from trueweave.graph.aggregate import (
    DESCRIPTIONS_KEPT,
    KEYWORDS_KEPT,
    EntityRow,
    NamePairRow,
    NameRow,
    Phrase,
    RelationRow,
    entity,
    entity_text,
    name_pair_id,
    relation,
    relation_id,
    relation_text,
)
from trueweave.graph.components import NameRule, components, inherit
from trueweave.graph.facts import FactDecisions, decisions
from trueweave.graph.labels import described, labels, latest
from trueweave.graph.plan import (
    Batch,
    ChangedText,
    Pair,
    PhraseCount,
    PhraseDeltas,
    Plan,
    Sums,
    changed_name,
    changed_name_pair,
)
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import view

Said = Mapping[UUID, list[Phrase]]


@dataclass(slots=True)
class _Names:
    """The names that a batch affects, before and after it."""

    before: dict[UUID, NameRow] = field(default_factory=dict)
    after: dict[UUID, NameRow] = field(default_factory=dict)
    loose: set[UUID] = field(default_factory=set)  # current names whose entity must be determined again
    moved: set[UUID] = field(default_factory=set)  # those of them that move to another entity
    rules: list[NameRule] = field(default_factory=list)

    def entity(self, name: UUID) -> UUID | None:
        return self.after[name].entity


@dataclass(slots=True)
class _Relations:
    """The relations that a batch affects."""

    written: list[RelationRow]
    gone: list[UUID]
    old: dict[UUID, RelationRow]
    degrees: dict[UUID, int]  # how many relations each entity gains or loses


class Planner:
    """Reads what a batch affects, step by step, and computes the plan.

    All reads must be consistent: the transaction is a snapshot, or holds the view lock.
    """

    def __init__(self, tx: Transaction, batch: Batch) -> None:
        self._tx = tx
        self._batch = batch

    async def plan(self) -> Plan:
        batch = self._batch
        deltas = await view.name_deltas(self._tx, batch)
        phrases = await view.phrase_count_deltas(self._tx, batch)
        names = await self._gather(deltas)
        await self._resolve(names)
        facts = await self._facts(names)
        core = set(names.before)
        old_name_pairs, name_pairs = await self._name_pairs(await view.name_pair_deltas(self._tx, batch), names, facts)
        relations = await self._relations(old_name_pairs, name_pairs, names, phrases, facts)
        entities, gone_entities, texts = await self._entities(names, core, relations.degrees, phrases.of_names, facts)
        chunks, gone_chunks, chunk_texts = await view.chunk_changes(self._tx, batch)
        return Plan(
            batch,
            names=[row for id_, row in names.after.items() if row != names.before[id_]],
            name_pairs=[
                name_pair
                for pair, name_pair in name_pairs.items()
                if name_pair.count and name_pair != old_name_pairs.get(pair)
            ],
            gone_name_pairs=[
                pair for pair, name_pair in name_pairs.items() if not name_pair.count and pair in old_name_pairs
            ],
            phrase_counts=list(chain(*phrases)),
            entities=entities,
            gone_entities=gone_entities,
            relations=relations.written,
            gone_relations=relations.gone,
            chunks=chunks,
            gone_chunks=gone_chunks,
            texts=[*chunk_texts, *texts, *_relation_texts(relations)],
        )

    async def _gather(self, deltas: Mapping[UUID, Sums]) -> _Names:
        """All names that can change: those in the batch, those similar to an added or removed name, and those of their
        entities."""
        dirty_names = set(self._batch.dirty_names)
        own = await view.names(self._tx, dirty_names.union(deltas))
        names = _Names(before=dict(own))
        after = {id_: changed_name(row, deltas.get(id_)) for id_, row in own.items()}
        stirred = {id_ for id_ in own if id_ in dirty_names or (own[id_].entity is None) == bool(after[id_].count)}
        near = await view.neighbours(self._tx, stirred)
        live_near = {id_: row for id_, row in near.items() if row.entity is not None}
        names.before |= live_near
        entities = {row.entity for row in names.before.values() if row.entity is not None}
        members = await view.members(self._tx, entities)
        names.before |= members
        names.after = {id_: changed_name(row, deltas.get(id_)) for id_, row in names.before.items()}
        shaken = {names.before[id_].entity for id_ in stirred.union(live_near)} - {None}
        names.loose = {
            id_
            for id_, row in names.after.items()
            if row.count and (row.entity in shaken or (row.entity is None and id_ in stirred))
        }
        names.rules = await view.rules(self._tx, names.before)
        return names

    async def _resolve(self, names: _Names) -> None:
        """Assign every loose name to its entity, and unassign names that nothing mentions any more."""
        groups = components(names.loose, await view.alike(self._tx, names.loose), names.rules)
        former = {id_: (row.entity, row.count) for id_, row in names.before.items() if row.entity is not None}
        for group, kept in zip(groups, inherit(groups, former), strict=True):
            id_ = kept or uuid4()
            for name in group:
                names.after[name] = names.after[name]._replace(entity=id_)
                if names.before[name].entity not in (None, id_):
                    names.moved.add(name)
        for name, row in names.after.items():
            if not row.count and row.entity is not None:
                names.after[name] = row._replace(entity=None)

    async def _facts(self, names: _Names) -> FactDecisions:
        """The rules about entities and relations, after names are assigned.

        If a name in such a rule moves to another entity, the relations of all names of both entities change.
        """
        rules = await view.fact_rules(self._tx)
        shaken: set[UUID | None] = set()
        for rule in rules:
            if rule.name in names.after and names.before[rule.name].entity != names.entity(rule.name):
                shaken |= {names.before[rule.name].entity, names.entity(rule.name)} - {None}
        if shaken:
            names.moved |= {id_ for id_ in names.after if shaken & {names.before[id_].entity, names.entity(id_)}}
        return decisions(r._replace(entity=names.entity(r.name)) if r.name in names.after else r for r in rules)

    async def _name_pairs(
        self, deltas: Mapping[Pair, Sums], names: _Names, facts: FactDecisions
    ) -> tuple[dict[Pair, NamePairRow], dict[Pair, NamePairRow]]:
        """The pairs of names that were added to or must be computed again, and all pairs whose names move to another
        entity: before and after."""
        old = await view.name_pairs(self._tx, {*deltas, *self._batch.dirty_pairs})
        old |= await view.name_pairs_of_names(self._tx, names.moved)
        ends = await view.names(self._tx, {end for pair in old for end in pair}.difference(names.before))
        names.before |= ends
        names.after |= ends
        name_pairs: dict[Pair, NamePairRow] = {}
        for pair in {**old, **deltas}:
            name_pair = changed_name_pair(pair, old.get(pair), deltas.get(pair))
            related = _related(names.entity(pair[0]), names.entity(pair[1]), facts) if name_pair.count else None
            name_pairs[pair] = name_pair._replace(relation=related)
        return old, name_pairs

    async def _relations(
        self,
        old_name_pairs: Mapping[Pair, NamePairRow],
        name_pairs: Mapping[Pair, NamePairRow],
        names: _Names,
        phrases: PhraseDeltas,
        facts: FactDecisions,
    ) -> _Relations:
        """The relations that those pairs of names belonged to or now belong to, summed again over all their pairs."""
        affected = {t.relation for t in (*old_name_pairs.values(), *name_pairs.values()) if t.relation}
        old = await view.relations(self._tx, affected)
        stored = await view.name_pairs_of_relations(self._tx, old)
        groups: defaultdict[UUID, list[NamePairRow]] = defaultdict(list)
        for name_pair in {**stored, **name_pairs}.values():
            if name_pair.relation:
                groups[name_pair.relation].append(name_pair)
        ends = await view.names(self._tx, {end for pair in stored for end in pair}.difference(names.before))
        spelling = {id_: row.written for id_, row in {**ends, **names.before}.items()}
        known = {name_pair_id(*pair) for pair in {**stored, **old_name_pairs}}
        said = await self._said("d", known, DESCRIPTIONS_KEPT, phrases.descriptions)
        words = await self._said("k", known, KEYWORDS_KEPT, phrases.keywords)
        types = await self._said("t", known, 1, phrases.types)
        written: list[RelationRow] = []
        degrees: defaultdict[UUID, int] = defaultdict(int)
        for id_, group in groups.items():
            before = old.get(id_)
            pair = (before.source, before.target) if before else _ends(group[0], names)
            owners = [name_pair_id(t.source, t.target) for t in group]
            decided = facts.relations.get(pair, {})
            row = relation(
                id_,
                pair,
                group,
                spelling,
                described(decided.get("describe")) or _all(said, owners),
                _all(words, owners),
                described(decided.get("retype")) or _all(types, owners),
            )
            if row != before:
                written.append(row)
            if before is None:
                degrees[row.source] += 1
                degrees[row.target] += 1
        gone = [row for id_, row in old.items() if id_ not in groups]
        for row in gone:
            degrees[row.source] -= 1
            degrees[row.target] -= 1
        return _Relations(written, [row.id for row in gone], old, degrees)

    async def _entities(
        self,
        names: _Names,
        core: Collection[UUID],
        degrees: Mapping[UUID, int],
        phrase_counts: list[PhraseCount],
        facts: FactDecisions,
    ) -> tuple[list[EntityRow], list[UUID], list[ChangedText]]:
        """The entities whose names or number of relations changed; removed entities; texts to embed."""
        dirty: set[UUID] = set()
        dirty_names = set(self._batch.dirty_names)
        for id_ in core:
            before, after = names.before[id_], names.after[id_]
            if before != after or id_ in dirty_names:
                dirty.update(e for e in (before.entity, after.entity) if e)
        dirty.update(e for t in phrase_counts if t.owner in names.after and (e := names.entity(t.owner)))
        groups: defaultdict[UUID, list[NameRow]] = defaultdict(list)
        for id_ in core:
            row = names.after[id_]
            if row.entity in dirty and row.entity not in facts.suppressed:
                groups[row.entity].append(row)
        old = await view.entities(self._tx, dirty.union(degrees))
        known = {row.id for group in groups.values() for row in group if names.before[row.id].count}
        said = await self._said("d", known, DESCRIPTIONS_KEPT, phrase_counts)
        renamed, retyped, told = (labels(names.rules, kind) for kind in ("rename", "retype", "describe"))
        # A suppressed entity has no row with its number of relations.
        back = [id_ for id_, group in groups.items() if any(names.before[n.id].entity == id_ for n in group)]
        related = await view.degrees(self._tx, [id_ for id_ in back if id_ not in old])
        rows: list[EntityRow] = []
        for id_, group in groups.items():
            degree = (old[id_].degree if id_ in old else related.get(id_, 0)) + degrees.get(id_, 0)
            ids = [name.id for name in group]
            description = described(latest(told, ids)) or _all(said, ids)
            rows.append(entity(id_, group, description, degree, latest(renamed, ids), latest(retyped, ids)))
        rows += [
            old[id_]._replace(degree=old[id_].degree + change)
            for id_, change in degrees.items()
            if id_ not in dirty and change and id_ in old
        ]
        rows = [row for row in rows if row != old.get(row.id)]
        gone = [id_ for id_ in dirty if id_ in old and id_ not in groups]
        texts = [
            ChangedText("entity", row.id, row.text_hash, entity_text(row.name, row.type, row.description))
            for row in rows
            if row.id not in old or old[row.id].text_hash != row.text_hash
        ]
        return rows, gone, texts

    async def _said(self, kind: str, known: Collection[UUID], most: int, phrase_counts: list[PhraseCount]) -> Said:
        """The statements about each owner with most weight; `known` are owners that had statements before.

        This reads what the batch changes and as many more, so the first `most` are among them in any case.
        """
        changing = _by_owner(phrase_counts)
        affected = {owner: changing.get(owner, []) for owner in known}
        limits = {owner: most + len(counts) for owner, counts in affected.items()}
        stored = _by_owner(await view.said(self._tx, kind, limits, [*chain.from_iterable(affected.values())]))
        summed = {owner: _summed(counts, affected[owner]) for owner, counts in stored.items()}
        return {
            owner: [Phrase(one.hash, one.value, one.weight) for one in counts if one.count > 0]
            for owner, counts in {**changing, **summed}.items()
        }


def _by_owner(phrase_counts: Iterable[PhraseCount]) -> dict[UUID, list[PhraseCount]]:
    owners: defaultdict[UUID, list[PhraseCount]] = defaultdict(list)
    for one in phrase_counts:
        owners[one.owner].append(one)
    return owners


def _summed(stored: Iterable[PhraseCount], changing: Iterable[PhraseCount]) -> list[PhraseCount]:
    """The statements about one owner after the batch."""
    sums = {one.hash: one for one in stored}
    for one in changing:
        before = sums.get(one.hash)
        sums[one.hash] = before.plus(one) if before else one
    return list(sums.values())


def _related(source: UUID | None, target: UUID | None, facts: FactDecisions) -> UUID | None:
    """The relation from one entity to another; None within one entity, to a removed entity, or if it is suppressed."""
    if source is None or target is None or source == target or facts.hide(source, target):
        return None
    return relation_id(source, target)


def _ends(name_pair: NamePairRow, names: _Names) -> Pair:
    source, target = names.entity(name_pair.source), names.entity(name_pair.target)
    assert source, "a live name has an entity"
    assert target, "a live name has an entity"
    return source, target


def _all(said: Said, owners: Iterable[UUID]) -> Iterable[Phrase]:
    for owner in owners:
        yield from said.get(owner, ())


def _relation_texts(relations: _Relations) -> Iterable[ChangedText]:
    for row in relations.written:
        old = relations.old.get(row.id)
        if old is None or old.text_hash != row.text_hash:
            text = relation_text(row.source_name, row.target_name, row.description, row.keywords)
            yield ChangedText("relation", row.id, row.text_hash, text)
