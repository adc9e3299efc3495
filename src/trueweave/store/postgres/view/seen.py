"""Look-ups as far as a transaction with a sight sees the workspace: as in a workspace that has only those documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from trueweave.core.evidence import EntitySpan, MentionCounts
from trueweave.core.graph import Entity, GraphEdge, GraphNode, GraphTypes, Relation, TypeCount
from trueweave.core.jobs import Status
from trueweave.graph.aggregate import THOUSANDTHS, relation_id
from trueweave.graph.paths import Edge
from trueweave.store.limits import NAMES
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import mentions
from trueweave.store.postgres.view.graph_lookups import (
    COMPLETED,
    LOOKED_THROUGH,
    MOST_CHARACTERS,
    EntityPlace,
    GraphLookups,
    Neighbours,
    RelationPlace,
    SpanPlace,
)
from trueweave.store.postgres.view.lookup import FoundDocument
from trueweave.store.postgres.view.mentions import FoundMention, FoundStatement, MentionPlace, StatementPlace
from trueweave.store.postgres.view.seen_graph import MOST_READ, Pair, SeenGraph

_SAME_BEGINNING = 2  # entities with ids that begin alike, of which one more is enough to tell


def lookups(tx: Transaction) -> GraphLookups:
    """The look-ups for a transaction, which is to be a snapshot: in all documents, or in those that it sees."""
    return SeenLookups(tx) if tx.is_restricted else GraphLookups(tx)


class SeenLookups(GraphLookups):
    """Look-ups in the graph of the documents that a transaction sees.

    What is about given entities reads them and their relations. Lists of all entities or relations, and their types,
    are computed from all visible names or pairs of names. Both are bounded: see `SeenGraph`.
    """

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self._graph = SeenGraph(tx)

    async def status(self) -> Status:
        [(documents, chunks, due, dirty_names, model, vectors, are_stored)] = await self._tx.rows("seen.status")
        if are_stored:
            [(entities, relations)] = await self._tx.rows("seen.sizes")
        else:
            entities = len(await self._graph.all_entities())
            relations = len(await self._graph.all_relations())
        return Status(documents, chunks, entities, relations, due, dirty_names, model or "", vectors)

    # --- names --------------------------------------------------------------------------------------------

    async def _named(self, name: str, phrase: int | None, type_: str) -> list[tuple[UUID, bool]]:
        rows = await self._tx.rows("seen.named", name=name, phrase=phrase, type=type_)
        entity_of = await self._graph.entity_of((id_, stored) for id_, stored, _ in rows)
        exactly: defaultdict[UUID, bool] = defaultdict(bool)
        for id_, _, is_exact in rows:
            exactly[entity_of[id_]] |= is_exact
        return list(exactly.items())

    async def _between(self, first: UUID, last: UUID) -> list[UUID]:
        return await self._graph.between(first, last, _SAME_BEGINNING)

    async def completions(self, text: str, limit: int, *, examined: int = COMPLETED) -> list[GraphNode]:
        rows = await self._tx.rows("seen.completions", text=text, examined=examined)
        entity_of = await self._graph.entity_of((id_, stored) for id_, stored, *_ in rows)
        best: dict[UUID, tuple[int, int, str]] = {}
        for id_, _, place, count, folded in rows:
            other = best.get(entity := entity_of[id_], (place, 0, folded))
            best[entity] = min(place, other[0]), min(-count, other[1]), min(folded, other[2])
        chosen = sorted(best, key=lambda one: (*best[one], one))[:limit]
        return await self._drawn(await self._graph.known(chosen))

    async def _live_names(self, after: UUID, limit: int) -> list[Row]:
        suppressed = (await self._graph.facts()).suppressed
        hidden = Ids(name for one in suppressed for name in self._graph.names_of(one))
        return await self._tx.rows("seen.live_names", after=after, limit=limit, hidden=hidden)

    async def _names_with(self, sought: Sequence[str], limit: int, type_: str) -> Sequence[tuple[UUID, int]]:
        rows = self._graph.within_bounds(
            await self._tx.rows("seen.names_with_words", patterns=list(sought), most=MOST_READ + 1)
        )
        entity_of = await self._graph.entity_of((id_, stored) for id_, stored, *_ in rows)
        best: dict[UUID, tuple[int, int, int]] = {}
        for id_, _, hits, length, count in rows:
            rank = -hits, length, -count
            best[entity_of[id_]] = min(rank, best.get(entity_of[id_], rank))
        ranked = sorted(best, key=lambda one: (*best[one], one))
        if type_:
            called = await self._graph.called(await self._graph.known(ranked))
            ranked = [one for one in ranked if one in called and called[one].type.lower() == type_.lower()]
        return [(one, -best[one][0]) for one in ranked[:limit]]

    async def _relations_with(self, sought: Sequence[str], limit: int) -> Sequence[tuple[UUID, int]]:
        pairs = list(await self._graph.all_relations())
        rows = await self._graph.relation_rows(pairs)
        texts = Texts(" ".join((one.source_name, one.target_name, *one.keywords, one.description)) for one in rows)
        found = await self._tx.rows("seen.words_in", patterns=list(sought), texts=texts)
        hits = [(rows[n - 1], number) for n, number in found]
        ranked = sorted(hits, key=lambda one: (-one[1], -one[0].weight, one[0].id))
        return [(row.id, number) for row, number in ranked[:limit]]

    # --- entities and relations ---------------------------------------------------------------------------

    async def is_entity(self, entity: UUID) -> bool:
        return bool(await self._graph.known([entity]))

    async def entities(self, limit: int, type_: str = "", after: EntityPlace | None = None) -> list[Entity]:
        called = await self._graph.called(await self._graph.all_entities())
        places = [(-row.count, row.name, id_) for id_, row in called.items() if type_.lower() in ("", row.type.lower())]
        if after:
            count, name, id_ = after
            places = [one for one in places if one > (-count, name, id_)]
        return await self._graph.entities(id_ for *_, id_ in sorted(places)[:limit])

    async def entities_with(self, ids: Sequence[UUID]) -> list[Entity]:
        """The entities with these ids, in that order, without those that do not exist."""
        return await self._graph.entities(ids)

    async def relation(self, id_: UUID) -> Relation | None:
        return next(iter(await self.relations_with([id_])), None)

    async def relations_with(self, ids: Sequence[UUID]) -> list[Relation]:
        """The relations with these ids, in that order, without those that do not exist."""
        found = await self._graph.with_ids(ids)
        return await self._graph.relations([found[id_] for id_ in ids if id_ in found])

    async def relations(
        self, limit: int, of: Sequence[UUID] = (), after: RelationPlace | None = None
    ) -> list[Relation]:
        weights = await self._weights(of)
        places = {(-weight, relation_id(*pair)): pair for pair, weight in weights.items()}
        if after:
            place = -round(after[0] * THOUSANDTHS), after[1]
            places = {one: pair for one, pair in places.items() if one > place}
        return await self._graph.relations([places[one] for one in sorted(places)[:limit]])

    async def _weights(self, of: Sequence[UUID]) -> dict[Pair, int]:
        """The weights of the relations of some entities, or of all relations."""
        if not of:
            return await self._graph.all_relations()
        return await self._graph.relations_of(await self._graph.known(of))

    async def relations_of(self, ids: Sequence[UUID], limit: int) -> list[Relation]:
        weights = await self._graph.relations_of(await self._graph.known(ids))
        return await self._graph.relations(await self._heaviest(weights, limit))

    async def heaviest_relations(self, limit: int) -> list[UUID]:
        return [relation_id(*pair) for pair in await self._heaviest(await self._graph.all_relations(), limit)]

    async def _heaviest(self, weights: Mapping[Pair, int], limit: int) -> list[Pair]:
        """The heaviest relations; of the same weight, by the names of their ends."""
        by_weight = sorted(weights, key=lambda pair: -weights[pair])
        least = weights[by_weight[limit - 1]] if 0 < limit <= len(by_weight) else 0
        enough = [pair for pair in by_weight if weights[pair] >= least]
        await self._graph.spell(enough)
        return sorted(enough, key=lambda pair: (-weights[pair], *self._graph.named(pair), relation_id(*pair)))[:limit]

    async def types(self, limit: int) -> GraphTypes:
        entities = await self._graph.called(await self._graph.all_entities())
        relations = await self._graph.relation_rows(list(await self._graph.all_relations()))
        return GraphTypes(
            _most_frequent((one.type for one in entities.values()), limit),
            _most_frequent((one.type for one in relations), limit),
        )

    # --- paths and parts ----------------------------------------------------------------------------------

    async def _edges(self, ids: Sequence[UUID], fan_out: int) -> list[Edge]:
        followed = await self._followed(ids, fan_out)
        return [Edge(relation_id(*pair), *pair, self._graph.weight(pair)) for pair, _ in followed]

    async def _followed(self, ids: Sequence[UUID], fan_out: int) -> list[tuple[Pair, UUID]]:
        """The heaviest relations of each entity, in both directions, each with the entity at the other end."""
        known = await self._graph.known(ids)
        weights = await self._graph.relations_of(known)
        leaving, arriving = _by_end(weights, 0), _by_end(weights, 1)
        return [
            (pair, pair[1 - end])
            for id_ in known
            for end, beside in enumerate((leaving, arriving))
            for pair in beside[id_][:fan_out]
        ]

    async def neighbourhood(self, ids: Sequence[UUID], hops: int, *, wide: int, fan_out: int, most: int) -> list[UUID]:
        """The relations reachable from entities, hop by hop: see `neighbourhood` in search.sql."""
        reached, hop_of = dict.fromkeys(ids), dict[Pair, int]()
        for hop in range(1, hops + 1):
            edges = await self._followed(list(reached), fan_out)
            for pair, _ in edges:
                hop_of.setdefault(pair, hop)
            edges.sort(key=lambda one: (-self._graph.weight(one[0]), one[1]))
            reached |= dict.fromkeys(other for _, other in edges[:wide])
        weights = {pair: -self._graph.weight(pair) for pair in hop_of}
        nearest = sorted(hop_of, key=lambda pair: (hop_of[pair], weights[pair], relation_id(*pair)))[:most]
        await self._graph.spell(nearest)
        nearest.sort(key=lambda pair: (hop_of[pair], weights[pair], *self._graph.named(pair), relation_id(*pair)))
        return [relation_id(*pair) for pair in nearest]

    async def relations_among(self, ids: Sequence[UUID], limit: int) -> list[UUID]:
        return [edge.id for edge in (await self._edges_among(ids, limit, None))[0]]

    async def _nodes(
        self, ids: Sequence[UUID], chunks: Sequence[UUID], limit: int
    ) -> tuple[tuple[GraphNode, ...], int]:
        given = await self._graph.known(ids)
        rows = await self._tx.rows("seen.names_in_chunks", ids=Ids(chunks)) if chunks else []
        entity_of = await self._graph.entity_of((id_, stored) for id_, stored in rows)
        others = [one for one in await self._graph.known(entity_of.values()) if one not in given]
        degrees, called = await self._graph.degrees(others), await self._graph.called(others)
        others.sort(key=lambda one: (-degrees[one], called[one].name, one))
        return tuple(await self._drawn([*given, *others][:limit])), len(given) + len(others)

    async def _drawn(self, known: Sequence[UUID]) -> list[GraphNode]:
        called, degrees = await self._graph.called(known), await self._graph.degrees(known)
        return [GraphNode(id_, row.name, row.type, row.count, degrees[id_]) for id_, row in called.items()]

    async def _edges_among(
        self, ids: Sequence[UUID], limit: int, document: UUID | None
    ) -> tuple[tuple[GraphEdge, ...], int]:
        among = set(known := await self._graph.known(ids))
        weights = await self._graph.relations_of(known)
        leaving = _by_end(weights, 0)
        stated = await self._graph.stated_in(document) if document else weights.keys()
        found = [pair for id_ in known for pair in leaving[id_][:LOOKED_THROUGH] if pair[1] in among and pair in stated]
        found.sort(key=lambda pair: (-weights[pair], relation_id(*pair)))
        rows = await self._graph.relation_rows(found[:limit])
        edges = (GraphEdge(one.id, one.source, one.target, one.type, one.weight / THOUSANDTHS) for one in rows)
        return tuple(edges), len(found)

    async def _neighbours(
        self, ids: Sequence[UUID], shown: Sequence[UUID], wanted: Neighbours, limit: int
    ) -> Sequence[tuple[UUID, int]]:
        known = await self._graph.known(ids)
        weights = await self._graph.relations_of(known)
        leaving, arriving = _by_end(weights, 0), _by_end(weights, 1)
        stated = await self._graph.stated_in(wanted.document) if wanted.document else weights.keys()
        left_out = {*wanted.exclude, *shown}
        near: defaultdict[UUID, dict[UUID, int]] = defaultdict(dict)
        for id_ in known:
            for pair in (*leaving[id_][:LOOKED_THROUGH], *arriving[id_][:LOOKED_THROUGH]):
                other = pair[0] if pair[1] == id_ else pair[1]
                if weights[pair] >= wanted.least and other not in left_out and pair in stated:
                    near[id_][other] = max(near[id_].get(other, 0), weights[pair])
        every = list(dict.fromkeys(other for others in near.values() for other in others))
        if wanted.types:
            called, types = await self._graph.called(every), {type_.lower() for type_ in wanted.types}
            every = [one for one in every if called[one].type.lower() in types]
        counted = set(every)
        best: dict[UUID, int] = {}
        for others in near.values():
            ranked = sorted((one for one in others if one in counted), key=lambda one: (-others[one], one))
            for other in ranked[: wanted.limit]:
                best[other] = max(best.get(other, 0), others[other])
        return [(one, len(counted)) for one in sorted(best, key=lambda one: (-best[one], one))[:limit]]

    # --- in documents -------------------------------------------------------------------------------------

    async def chunks_of(self, kind: str, ids: Sequence[UUID], each: int) -> dict[UUID, list[UUID]]:
        rows = await (self._of_entities(ids, each) if kind == "entities" else self._of_relations(ids, each))
        found: dict[UUID, list[UUID]] = {id_: [] for id_ in ids}
        for id_, chunk in rows:
            found[id_].append(chunk)
        return found

    async def _of_entities(self, ids: Sequence[UUID], each: int) -> list[Row]:
        known = await self._graph.known(ids)
        both = [(id_, name) for id_ in known for name in self._graph.names_of(id_)[:NAMES]]
        given = {"entities": Ids(id_ for id_, _ in both), "names": Ids(name for _, name in both)}
        return await self._tx.rows("seen.chunks_of_entities", each=each, **given)

    async def _of_relations(self, ids: Sequence[UUID], each: int) -> list[Row]:
        found = await self._graph.with_ids(ids)
        stated = [(id_, *ends) for id_, pair in found.items() for ends in self._graph.name_pairs(pair)[:NAMES]]
        columns: list[Any] = [Ids(column) for column in zip(*stated, strict=True)] or [Ids()] * 3
        given = dict(zip(("relations", "sources", "targets"), columns, strict=True))
        return await self._tx.rows("seen.chunks_of_relations", each=each, **given)

    async def spans(
        self, of: FoundDocument, start: int, end: int | None, limit: int, after: SpanPlace | None = None
    ) -> list[EntitySpan]:
        first, until = max(start, after[0]) if after else start, MOST_CHARACTERS if end is None else end
        rows = await self._tx.rows("seen.document_mentions", id=of.id, start=first, end=until)
        entity_of = await self._graph.entity_of((name, stored) for *_, name, stored in rows)
        called = await self._graph.called(await self._graph.known(entity_of.values()))
        places = {(begins, behind, chunk, entity_of[name]) for begins, behind, chunk, name, _ in rows}
        chosen = sorted(one for one in places if one[-1] in called and (after is None or one > after))[:limit]
        return [EntitySpan(*one, called[one[-1]].name, called[one[-1]].type) for one in chosen]

    async def mentioned(self, of: FoundDocument, limit: int) -> dict[UUID, int]:
        rows = await self._tx.rows("seen.document_names", id=of.id)
        entity_of = await self._graph.entity_of((name, stored) for name, stored, *_ in rows)
        counts, written = Counter[UUID](), dict[UUID, str]()
        for name, _, count, spelling in rows:
            counts[entity := entity_of[name]] += count
            written[entity] = min(spelling, written.get(entity, spelling))
        most = sorted(counts, key=lambda one: (-counts[one], written[one], one))[:limit]
        return {one: counts[one] for one in most}

    async def mentions(
        self, entity: UUID, limit: int, document: str = "", after: MentionPlace | None = None
    ) -> list[FoundMention]:
        names = [name for one in await self._graph.known([entity]) for name in self._graph.names_of(one)]
        return await mentions.of_entity(self._tx, mentions.of_names(names), limit, document, after)

    async def mention_counts(self, entity: UUID, limit: int) -> MentionCounts:
        names = [name for one in await self._graph.known([entity]) for name in self._graph.names_of(one)]
        return await mentions.counts(self._tx, mentions.of_names(names), limit)

    async def statements(self, relation: UUID, limit: int, after: StatementPlace | None = None) -> list[FoundStatement]:
        found = await self._graph.with_ids([relation])
        pairs = [ends for pair in found.values() for ends in self._graph.name_pairs(pair)]
        return await mentions.of_relation(self._tx, mentions.of_name_pairs(pairs), limit, after)


def _by_end(weights: Mapping[Pair, int], end: int) -> defaultdict[UUID, list[Pair]]:
    """The relations of each entity at their first (0) or second end (1), the heaviest first."""
    found: defaultdict[UUID, list[Pair]] = defaultdict(list)
    for pair in sorted(weights, key=lambda pair: (-weights[pair], pair[1 - end])):
        found[pair[end]].append(pair)
    return found


def _most_frequent(types: Iterable[str], limit: int) -> tuple[TypeCount, ...]:
    counts = Counter(types)
    return tuple(TypeCount(one, counts[one]) for one in sorted(counts, key=lambda one: (-counts[one], one))[:limit])
