"""A property graph store for LlamaIndex.

from llama_index.core import PropertyGraphIndex
from trueweave import Trueweave
from trueweave.integrations.llama_index_graph import LlamaIndexGraphStore

with Trueweave() as trueweave:
    index = PropertyGraphIndex.from_existing(LlamaIndexGraphStore(trueweave), llm=llm, embed_kg_nodes=False)
    nodes = index.as_retriever().retrieve("Who wrote to Babbage?")
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn
from uuid import UUID

try:
    from llama_index.core.graph_stores.types import EntityNode, LabelledNode, PropertyGraphStore, Relation, Triplet
    from llama_index.core.schema import BaseNode
    from llama_index.core.vector_stores.types import VectorStoreQuery
except ModuleNotFoundError as error:
    from trueweave.integrations.passages import not_installed

    raise not_installed("LlamaIndex", "llama-index", error) from error

import numpy as np

from trueweave.core.errors import AmbiguousName, InvalidArgument, TrueweaveError, UnknownEntity
from trueweave.core.graph import GraphNode
from trueweave.core.graph import Relation as OwnRelation
from trueweave.core.record import NameKey
from trueweave.engine.sync import Trueweave
from trueweave.integrations.llama_index import text_node

_SOURCE = "triplet_source_id"  # LlamaIndex's name for the chunk that a triplet is from
_ID = "entity_id"
_MOST = 500  # entities that are read at once
_READ_ONLY = (
    "the graph of Trueweave is made from its documents, so LlamaIndex can read it and not write it. Add and remove "
    "documents with `trueweave.add` and `trueweave.remove`; change names and facts with `trueweave.rules`."
)


class LlamaIndexGraphStore(PropertyGraphStore):
    """The graph of an open workspace as a property graph store of LlamaIndex, to read from.

    An entity is an `EntityNode` with its type as the label, and its id in the property `entity_id`: LlamaIndex
    identifies entities by name, and several may have the same one. The properties of a triplet's first node have the
    chunk that states it, so that retrievers of LlamaIndex with `include_text` return its text. Everything that writes
    raises TrueweaveError.
    """

    supports_structured_queries = False
    supports_vector_queries = True

    def __init__(self, trueweave: Trueweave) -> None:
        self._trueweave = trueweave

    @property
    def client(self) -> Trueweave:
        """The open workspace."""
        return self._trueweave

    def get(self, properties: dict[str, Any] | None = None, ids: list[str] | None = None) -> list[LabelledNode]:
        """The entities with these ids: names, or ids of Trueweave; without `ids`, the most mentioned ones. Of
        `properties`, `triplet_source_id` (the id of a chunk) and `label` (a type) are supported."""
        wanted = dict(properties or {})
        chunk, label = wanted.pop(_SOURCE, None), wanted.pop("label", None)
        if wanted:
            raise InvalidArgument(
                f"entities cannot be found by {', '.join(wanted)}. Use the names or ids, {_SOURCE} or label."
            )
        if chunk is not None:
            found = list(self._trueweave.graph.subgraph(chunks=[UUID(str(chunk))], limit=_MOST).nodes)
        elif ids is not None:
            found = self._nodes(self._ids(ids))
        else:
            listed = self._trueweave.graph.entities(_MOST, type=str(label or ""))
            found = self._nodes([one.id for one in listed])
        named = None if ids is None else {*ids, *map(str, self._ids(ids))} if chunk is not None else None
        return [
            entity_node(node)
            for node in found
            if (label is None or node.type == label) and (named is None or node.name in named or str(node.id) in named)
        ]

    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """The heaviest relations of entities with these names or ids, or with these properties (see `get`), optionally
        only those with some labels. Without any entity, the heaviest ones of all."""
        starts = self._ids([*(entity_names or ()), *(ids or ())])
        if properties:
            starts += [UUID(node.properties[_ID]) for node in self.get(properties)]
        if not starts and (entity_names or ids or properties):
            return []
        found = self._trueweave.graph.relations(*starts, limit=_MOST)
        return self._triplets(one for one in found if not relation_names or _label(one) in relation_names)

    def get_rel_map(
        self,
        graph_nodes: Sequence[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """The heaviest relations within `depth` hops of these nodes, nearer ones first."""
        reached = set(self._ids([str(node.properties.get(_ID, node.id)) for node in graph_nodes]))
        edge, found = reached, dict[UUID, OwnRelation]()
        for _ in range(depth):
            if not edge or len(found) >= limit:
                break
            near = self._trueweave.graph.relations(*edge, limit=_MOST)
            found |= {one.id: one for one in near if one.id not in found and _label(one) not in (ignore_rels or ())}
            edge = {end for one in near for end in (one.source, one.target)} - reached
            reached |= edge
        return self._triplets(list(found.values())[:limit])

    def get_llama_nodes(self, node_ids: Sequence[str]) -> list[BaseNode]:
        """The chunks with these ids, as nodes of LlamaIndex. Those of documents that were removed are left out."""
        wanted = dict.fromkeys(id_ for one in node_ids if (id_ := _uuid(one)))
        return [text_node(passage) for passage in self._trueweave.passages(*wanted)]

    def vector_query(self, query: VectorStoreQuery, **_: Any) -> tuple[list[LabelledNode], list[float]]:
        """The entities nearest to a vector, which must be of the embedding model of the workspace, or to a text."""
        if query.filters:
            raise InvalidArgument("the store has no metadata filters. Use a retriever of Trueweave with filter=.")
        if query.query_embedding is not None:
            vector = np.array(query.query_embedding, dtype=np.float32)
            hits = self._trueweave.graph.nearest("entity", vector, query.similarity_top_k)
            scores = {hit.id: 1 - hit.distance for hit in hits}
        elif query.query_str:
            found = self._trueweave.graph.search_entities(query.query_str, query.similarity_top_k)
            scores = {one.item.id: one.score for one in found.items}
        else:
            raise InvalidArgument("the query has neither a vector nor a text.")
        nodes = {node.id: node for node in self._nodes(list(scores))}
        return [entity_node(nodes[id_]) for id_ in scores if id_ in nodes], [
            scores[id_] for id_ in scores if id_ in nodes
        ]

    def get_schema(self, refresh: bool = False) -> dict[str, dict[str, int]]:
        """The types of entities and relations, with their numbers."""
        types = self._trueweave.graph.types()
        kinds = {"entities": types.entities, "relations": types.relations}
        return {kind: {one.type: one.count for one in counted} for kind, counted in kinds.items()}

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> NoReturn:
        """Raises TrueweaveError: Trueweave has no query language. A copy in Neo4j has one."""
        raise TrueweaveError(
            "Trueweave has no query language for its graph. Keep a copy in Neo4j (`trueweave project start neo4j`), "
            "and query that with LlamaIndex's store for Neo4j."
        )

    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> NoReturn:
        """Raises TrueweaveError: the graph is made from documents."""
        raise TrueweaveError(_READ_ONLY)

    def upsert_relations(self, relations: list[Relation]) -> NoReturn:
        """Raises TrueweaveError: the graph is made from documents."""
        raise TrueweaveError(_READ_ONLY)

    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> NoReturn:
        """Raises TrueweaveError: the graph is made from documents."""
        raise TrueweaveError(_READ_ONLY)

    # --- the same without blocking the event loop ------------------------------------------------------

    async def aget(self, properties: dict[str, Any] | None = None, ids: list[str] | None = None) -> list[LabelledNode]:
        """The same as `get`."""
        return await asyncio.to_thread(self.get, properties, ids)

    async def aget_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """The same as `get_triplets`."""
        return await asyncio.to_thread(self.get_triplets, entity_names, relation_names, properties, ids)

    async def aget_rel_map(
        self,
        graph_nodes: Sequence[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """The same as `get_rel_map`."""
        return await asyncio.to_thread(self.get_rel_map, graph_nodes, depth, limit, ignore_rels)

    async def aget_llama_nodes(self, node_ids: Sequence[str]) -> list[BaseNode]:
        """The same as `get_llama_nodes`."""
        return await asyncio.to_thread(self.get_llama_nodes, node_ids)

    async def avector_query(self, query: VectorStoreQuery, **_: Any) -> tuple[list[LabelledNode], list[float]]:
        """The same as `vector_query`."""
        return await asyncio.to_thread(self.vector_query, query)

    # ----------------------------------------------------------------------------------------------------

    def _ids(self, given: Iterable[str]) -> list[UUID]:
        """The ids of entities that are given by id or name: all entities with a name. Unknown names are left out."""
        found: dict[UUID, None] = {}
        for one in dict.fromkeys(given):
            if id_ := _uuid(one):
                found[id_] = None
                continue
            try:
                found[self._id(one)] = None
            except AmbiguousName as error:
                found |= dict.fromkeys(self._id(NameKey(*typed.rsplit("::", 1))) for typed in error.near)
            except UnknownEntity:
                continue
        return list(found)

    def _id(self, name: str | NameKey) -> UUID:
        return self._trueweave.graph.entity(name, relations=1, passages=1).entity.id

    def _nodes(self, ids: Sequence[UUID]) -> list[GraphNode]:
        """These entities, in order. Those that do not exist are left out."""
        found = self._trueweave.graph.subgraph(ids[:_MOST], limit=_MOST).nodes if ids else ()
        nodes = {node.id: node for node in found}
        return [nodes[id_] for id_ in ids if id_ in nodes]

    def _triplets(self, relations: Iterable[OwnRelation]) -> list[Triplet]:
        all_ = list(relations)
        ends = self._nodes(list(dict.fromkeys(end for one in all_ for end in (one.source, one.target))))
        nodes = {node.id: node for node in ends}
        stated = self._trueweave.graph.relation_passages(*(one.id for one in all_)) if all_ else {}
        return [
            (entity_node(nodes[one.source], source), graph_relation(one, nodes), entity_node(nodes[one.target], source))
            for one in all_
            if one.source in nodes and one.target in nodes
            for source in [next((str(passage.id) for passage in stated.get(one.id, ())), None)]
        ]


def entity_node(node: GraphNode, source: str | None = None) -> EntityNode:
    """An entity as LlamaIndex has it, and the chunk that it was found in, if given."""
    properties: dict[str, Any] = {_ID: str(node.id), "mentions": node.count, "degree": node.degree}
    if source:
        properties[_SOURCE] = source
    return EntityNode(name=node.name, label=node.type or "entity", properties=properties)


def graph_relation(relation: OwnRelation, nodes: Mapping[UUID, GraphNode]) -> Relation:
    """A relation as LlamaIndex has it. `nodes` has the entities at its ends."""
    return Relation(
        label=_label(relation),
        source_id=nodes[relation.source].name,
        target_id=nodes[relation.target].name,
        properties={
            "relation_id": str(relation.id),
            "description": relation.summary or relation.description,
            "keywords": list(relation.keywords),
            "weight": relation.weight,
        },
    )


def _label(relation: OwnRelation) -> str:
    return relation.type or "related to"


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
