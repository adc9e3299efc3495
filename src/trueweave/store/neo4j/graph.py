"""The graph, in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from trueweave.core.errors import ProjectionMissing
from trueweave.core.memo import Memo
from trueweave.core.protocols import ChunkMention, FindCopy, Neighbourhood, RecordReader
from trueweave.store.limits import FAN_OUT, MOST_AROUND, MOST_RELATIONS, NAMES, WIDE
from trueweave.store.neo4j.client import Neo4jClient, Row, query
from trueweave.store.neo4j.vocabulary import RELATED, escaped


class Neo4jGraph:
    """A `GraphReader` for one question. `copy` finds the copy to read; the record decides what passes the filter."""

    def __init__(self, client: Neo4jClient, copy: FindCopy, record: RecordReader) -> None:
        self._client = client
        self._find_copy = copy
        self._record = record
        self._memo = Memo()

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
        """The relations of these entities and, for each `followed` entity, the chunks that mention most of its
        neighbours."""
        row = await self._row("around", entities=entities, followed=followed, each=each)
        mentions = [
            ChunkMention(UUID(entity), UUID(chunk), neighbours)
            for entity, told in row["mentions"]
            for chunk, neighbours in told
        ]
        return Neighbourhood(list(map(UUID, row["relations"])), mentions)

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        """The relations reachable from these entities, in either direction, within this many hops."""
        reached = dict.fromkeys(entities)
        found: dict[str, tuple[int, float, str, str]] = {}
        for hop in range(1, hops + 1):
            name, left = "hop" if hop < hops else "last_hop", MOST_RELATIONS - len(found)
            row = await self._row(name, entities=list(reached), seen=list(found), most=left)
            found |= {id_: (hop, -weight, source, target) for id_, weight, source, target in row["relations"]}
            if len(found) == MOST_RELATIONS:
                break  # relations of further hops would rank after all of these
            reached |= dict.fromkeys(map(UUID, row["others"]))
        return [UUID(id_) for id_ in sorted(found, key=lambda id_: (found[id_], id_))]

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        row = await self._row("chunks_of_entities", ids=entities)
        return [(UUID(id_), UUID(chunk)) for id_, chunk in row["pairs"]]

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        row = await self._row("chunks_of_relations", ids=relations)
        return [(UUID(id_), UUID(chunk)) for id_, chunk in row["pairs"]]

    async def _row(self, name: str, **params: Any) -> Row:
        """The single row that a statement returns."""
        nothing: Row = {"relations": [], "mentions": [], "pairs": [], "others": []}
        given = {key: _ids(value) if isinstance(value, Sequence) else value for key, value in params.items()}
        if not any(value for value in given.values() if isinstance(value, list)):
            return nothing
        documents = await self._memo.once("documents", self._record.documents)
        if documents is not None and not documents:
            return nothing
        copy = await self._memo.once("copy", self._find_copy)
        if documents is not None:
            given["documents"] = await self._memo.once("listed", lambda: _listed(documents))
        types = self._client.types.get(copy) or await self._read_types(copy)
        while True:
            statement = _statement(name, types, filtered=documents is not None)
            rows = await self._client.rows(statement, copy=copy, **given)
            if not rows:
                raise _missing(copy)
            if rows[0]["types"] == len(types):
                return rows[0].data()
            types = await self._read_types(copy)  # more types have been added since

    async def _read_types(self, copy: str) -> list[str]:
        """The types of relations in a copy. Statements list them so that Neo4j does not visit mentions. Types are never
        removed, so their number shows whether the list is up to date."""
        rows = await self._client.rows(query("copy"), copy=copy)
        if not rows:
            raise _missing(copy)
        self._client.types[copy] = found = list(rows[0]["types"])
        return found


def _missing(copy: str) -> ProjectionMissing:
    return ProjectionMissing(
        f"Neo4j has no copy {copy} of this workspace any more. Run `trueweave project rebuild neo4j`, or set "
        'graph = "postgresql" to answer from the record meanwhile.'
    )


def _statement(name: str, known: Sequence[str], *, filtered: bool) -> str:
    types = "|".join(map(escaped, (RELATED, *known)))
    bounds = {"fan_out": FAN_OUT, "names": NAMES}
    c_visible = "c.document IN $documents" if filtered else "true"
    r_visible = query("relation_visible") if filtered else "true"
    if name == "around":
        edges = query("edges", types=types, r_visible=r_visible, **bounds)
        mentioned = query("mentioned", **bounds)
        return query(name, edges=edges, mentioned=mentioned, c_visible=c_visible, most_around=MOST_AROUND)
    if name == "chunks_of_entities":
        return query(name, mentioned=query("mentioned", **bounds), c_visible=c_visible)
    if name == "chunks_of_relations":
        return query(name, c_visible=c_visible, **bounds)
    edges = query("edges", types=types, r_visible=r_visible, **bounds)
    others = "WITH copy, relations, [] AS others" if name == "last_hop" else query("others", edges=edges, wide=WIDE)
    return query("hop", edges=edges, others=others)


def _ids(values: Sequence[UUID]) -> list[str]:
    return [str(id_) for id_ in values]


async def _listed(documents: Sequence[UUID]) -> list[str]:
    return _ids(documents)
