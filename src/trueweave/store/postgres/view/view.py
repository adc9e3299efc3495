"""The view: reading what a batch affects, and applying its plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from trueweave.graph.aggregate import EntityRow, NamePairRow, NameRow, RelationRow, name_pair_id
from trueweave.graph.components import NameRule
from trueweave.graph.facts import FactRule
from trueweave.graph.plan import Batch, ChangedText, Pair, PhraseCount, PhraseDeltas, Plan, Sums, sums
from trueweave.store.postgres.binary_params import Ids, Numbers, array
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queue import outbox
from trueweave.text.names import said_hash

LONG_DESCRIPTION = 2000  # characters; longer descriptions are summarised


async def name_deltas(tx: Transaction, batch: Batch) -> dict[UUID, Sums]:
    """What the batch adds to or subtracts from each name that its documents mention."""
    rows = await tx.rows("settle.name_deltas", **_signed(batch))
    return sums((name, emphasis, count, 0) for name, emphasis, count in rows)


async def name_pair_deltas(tx: Transaction, batch: Batch) -> dict[Pair, Sums]:
    """What the batch adds to or subtracts from each pair of names that its documents link."""
    rows = await tx.rows("settle.name_pair_deltas", **_signed(batch))
    return sums(((source, target), *rest) for source, target, *rest in rows)


async def phrase_count_deltas(tx: Transaction, batch: Batch) -> PhraseDeltas:
    """The changes in how often each description and keyword occurs."""
    signed = _signed(batch)
    named = await tx.rows("settle.name_description_deltas", **signed)
    described = await tx.rows("settle.name_pair_description_deltas", **signed)
    worded = [(name_pair_id(s, t), *rest) for s, t, *rest in await tx.rows("settle.name_pair_keyword_deltas", **signed)]
    return PhraseDeltas(
        [PhraseCount(name, "d", *rest) for name, *rest in named],
        [PhraseCount(name_pair_id(s, t), "d", *rest) for s, t, *rest in described],
        [
            PhraseCount(owner, "k", said_hash(word), word, count, weight)
            for owner, word, count, weight, _ in worded
            if count or weight
        ],
        _first_keywords((owner, word, first) for owner, word, _, _, first in worded if first),
    )


def _first_keywords(rows: Iterable[tuple[UUID, str, int]]) -> list[PhraseCount]:
    """The change in how many links of each pair of names, given by id, have a keyword in first place, ignoring case."""
    votes: defaultdict[tuple[UUID, str], int] = defaultdict(int)
    for owner, word, count in rows:
        votes[owner, word.lower()] += count
    return [
        PhraseCount(owner, "t", said_hash(word), word, count, count) for (owner, word), count in votes.items() if count
    ]


async def chunk_changes(tx: Transaction, batch: Batch) -> tuple[list[UUID], list[UUID], list[ChangedText]]:
    """The added chunks, the removed chunks, and the texts of the added ones."""
    rows = await tx.rows("settle.chunk_changes", **_signed(batch))
    texts = [ChangedText("chunk", id_, hash_, text) for id_, hash_, sign, text in rows if sign > 0]
    return [t.id for t in texts], [id_ for id_, _, sign, _ in rows if sign < 0], texts


async def names(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, NameRow]:
    return _names(await _rows_of(tx, "settle.names", names=ids))


async def neighbours(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, NameRow]:
    """The names that are similar to these or share a rule with them, live or not."""
    return _names(await _rows_of(tx, "settle.neighbours", names=ids))


async def members(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, NameRow]:
    """The names of these entities."""
    return _names(await _rows_of(tx, "settle.members", entities=ids))


async def alike(tx: Transaction, ids: Iterable[UUID]) -> list[Pair]:
    return [(a, b) for a, b in await _rows_of(tx, "settle.alike", names=ids)]


async def rules(tx: Transaction, ids: Iterable[UUID]) -> list[NameRule]:
    """The rules that mention any of these names, with all the names they mention."""
    found = await _rows_of(tx, "settle.rules", names=ids)
    return [NameRule(order, kind, frozenset(spoken_of), label) for order, kind, label, spoken_of in found]


async def fact_rules(tx: Transaction) -> list[FactRule]:
    """The rules about relations, and those that suppress entities: one row for each name they mention. They are made by
    people, so there are few."""
    return [FactRule(*row) for row in await tx.rows("settle.fact_rules")]


async def degrees(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, int]:
    """How many relations each of these entities has."""
    return dict(await _rows_of(tx, "settle.degrees", entities=ids))


async def entities(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, EntityRow]:
    rows = await _rows_of(tx, "settle.entities", entities=ids)
    return {row[0]: EntityRow._make((*row[:6], tuple(row[6]), *row[7:])) for row in rows}


async def relations(tx: Transaction, ids: Iterable[UUID]) -> dict[UUID, RelationRow]:
    rows = await _rows_of(tx, "settle.relations", relations=ids)
    return {row[0]: RelationRow._make((*row[:10], tuple(row[10]), row[11])) for row in rows}


async def name_pairs(tx: Transaction, pairs: Collection[Pair]) -> dict[Pair, NamePairRow]:
    if not pairs:
        return {}
    sources, targets = Ids(s for s, _ in pairs), Ids(t for _, t in pairs)
    return _name_pairs(await tx.rows("settle.name_pairs", sources=sources, targets=targets))


async def name_pairs_of_names(tx: Transaction, ids: Iterable[UUID]) -> dict[Pair, NamePairRow]:
    return _name_pairs(await _rows_of(tx, "settle.name_pairs_of_names", names=ids))


async def name_pairs_of_relations(tx: Transaction, ids: Iterable[UUID]) -> dict[Pair, NamePairRow]:
    return _name_pairs(await _rows_of(tx, "settle.name_pairs_of_relations", relations=ids))


async def said(
    tx: Transaction, kind: str, most: Mapping[UUID, int], changing: Collection[PhraseCount]
) -> list[PhraseCount]:
    """The descriptions or keywords of each owner with the greatest weight, up to its limit in `most`, plus those a
    batch will change."""
    if not most:
        return []
    rows = await tx.rows(
        "settle.said",
        kind=kind,
        owners=Ids(most),
        limits=Numbers(most.values()),
        changing=Ids(one.owner for one in changing),
        hashes=Ids(one.hash for one in changing),
    )
    return [PhraseCount(owner, kind, *rest) for owner, *rest in rows]


async def write(tx: Transaction, plan: Plan) -> None:
    """Apply a plan, except for vectors. Requires the view lock."""
    await _note_stale(tx, plan)
    names = [(n.id, n.count, _literal(n.histogram), n.entity) for n in plan.names]
    await _write(tx, "settle.write_names", ("id", "count", "histogram", "entity"), names)
    await _write(tx, "settle.remove_name_pairs", ("source", "target"), plan.gone_name_pairs)
    name_pairs = [(t.source, t.target, t.count, t.weight, _literal(t.histogram), t.relation) for t in plan.name_pairs]
    await _write(tx, "settle.write_name_pairs", NamePairRow._fields, name_pairs)
    await _write(tx, "settle.write_phrase_counts", PhraseCount._fields, plan.phrase_counts)
    less = [t[:3] for t in plan.phrase_counts if t.count < 0]
    await _write(tx, "settle.remove_phrase_counts", ("owner", "kind", "hash"), less)
    await _write(tx, "settle.remove_entities", ("ids",), [(id_,) for id_ in plan.gone_entities])
    entities = [(*e[:4], _quoted(e.aliases), e.count, _literal(e.histogram), *e[7:]) for e in plan.entities]
    await _write(tx, "settle.write_entities", EntityRow._fields, entities)
    await _write(tx, "settle.remove_relations", ("ids",), [(id_,) for id_ in plan.gone_relations])
    relations = [(*r[:7], _quoted(r.keywords), *r[8:10], _literal(r.histogram), r.text_hash) for r in plan.relations]
    await _write(tx, "settle.write_relations", RelationRow._fields, relations)
    await want_summaries(tx, plan.entities, plan.relations)
    await _write_documents(tx, plan.batch)
    await _write_outbox(tx, plan)
    if plan.batch.documents:
        await tx.run("link.changed", documents=Ids(plan.batch.coming), gone=Ids(plan.gone_chunks))
    if plan.chunks or plan.gone_chunks:
        await tx.run("text.index", coming=Ids(plan.chunks), going=Ids(plan.gone_chunks))


async def _note_stale(tx: Transaction, plan: Plan) -> None:
    await tx.run(
        "settle.note_stale",
        entities=Ids(e.id for e in plan.entities),
        entity_hashes=Ids(e.text_hash for e in plan.entities),
        gone_entities=Ids(plan.gone_entities),
        relations=Ids(r.id for r in plan.relations),
        relation_hashes=Ids(r.text_hash for r in plan.relations),
        gone_relations=Ids(plan.gone_relations),
        gone_chunks=Ids(plan.gone_chunks),
    )


async def want_summaries(tx: Transaction, entities: Iterable[EntityRow], relations: Iterable[RelationRow]) -> None:
    """Request summaries of those of these descriptions that are long."""
    long = [
        *((e.text_hash, "entity", e.id) for e in entities if len(e.description) > LONG_DESCRIPTION),
        *((r.text_hash, "relation", r.id) for r in relations if len(r.description) > LONG_DESCRIPTION),
    ]
    await _write(tx, "summary.request", ("hash", "kind", "id"), sorted(set(long)))


async def _write_documents(tx: Transaction, batch: Batch) -> None:
    if batch.documents:
        rows = await tx.rows("settle.show_and_hide", coming=Ids(batch.coming), going=Ids(batch.going))
        hidden = {id_ for (id_,) in rows}
        removed = [id_ for id_ in batch.going if id_ not in hidden]
        for table in ("links", "mentions", "chunks", "facets", "documents") if removed else ():
            await tx.run(f"settle.remove_{table}", ids=removed)
    if batch.dirty_names:
        await tx.run("settle.clear_dirty_names", names=list(batch.dirty_names))
    await _write(tx, "settle.clear_dirty_pairs", ("source", "target"), batch.dirty_pairs)


async def _write_outbox(tx: Transaction, plan: Plan) -> None:
    await outbox.add(
        tx,
        ("document", False, plan.batch.coming),
        ("document", True, plan.batch.going),
        ("chunk", False, plan.chunks),
        ("chunk", True, plan.gone_chunks),
        ("entity", False, (e.id for e in plan.entities)),
        ("entity", True, plan.gone_entities),
        ("relation", False, (r.id for r in plan.relations)),
        ("relation", True, plan.gone_relations),
    )


async def _write(tx: Transaction, query: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Run a query that takes one array per column."""
    if rows:
        await tx.run(query, **dict(zip(columns, map(array, zip(*rows, strict=True)), strict=True)))


async def _rows_of(tx: Transaction, query: str, **ids: Iterable[UUID]) -> list[Row]:
    [(parameter, values)] = ids.items()
    listed = Ids(values)
    return await tx.rows(query, **{parameter: listed}) if listed else []


def _signed(batch: Batch) -> dict[str, Any]:
    return {"documents": Ids(batch.documents), "signs": Numbers(batch.documents.values())}


def _names(rows: Iterable[Row]) -> dict[UUID, NameRow]:
    return {row[0]: NameRow._make((*row[:4], tuple(row[4]), row[5])) for row in rows}


def _name_pairs(rows: Iterable[Row]) -> dict[Pair, NamePairRow]:
    return {(row[0], row[1]): NamePairRow._make((*row[:4], tuple(row[4]), row[5])) for row in rows}


def _literal(values: Iterable[object]) -> str:
    """A PostgreSQL array of numbers or ids as text: arrays of different lengths can only be sent as text."""
    return "{" + ",".join(map(str, values)) + "}"


def _quoted(values: Iterable[str]) -> str:
    return _literal('"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for v in values)
