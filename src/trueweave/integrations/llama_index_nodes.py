"""Nodes of LlamaIndex with their entities and relations, in both directions.

from trueweave import Trueweave
from trueweave.integrations.llama_index_nodes import from_nodes, with_graph

with Trueweave() as trueweave:
    trueweave.add_documents(from_nodes(extracted))  # what an extractor of LlamaIndex found becomes the graph
    nodes = with_graph(trueweave, retriever.retrieve("Who wrote to Babbage?"))  # and passages come with it
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

try:
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
    from llama_index.core.schema import BaseNode, NodeWithScore
except ModuleNotFoundError as error:
    from trueweave.integrations.passages import not_installed

    raise not_installed("LlamaIndex", "llama-index", error) from error

from trueweave.core.record import Chunk, Document, Json, Link, Mention
from trueweave.engine.sync import Trueweave
from trueweave.ingest.extract.spans import Finder
from trueweave.integrations.llama_index_graph import entity_node, graph_relation
from trueweave.text.names import storable, tidy

_UNTYPED = "entity"  # LlamaIndex's default label
_MOST = 500  # entities of a passage
# Where extractors of LlamaIndex, and the examples in its documentation, put descriptions.
_ENTITY_TEXT = ("description", "entity_description")
_RELATION_TEXT = ("description", "relationship_description")


def with_graph(trueweave: Trueweave, nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes of a `LlamaIndexRetriever`, with the entities that each passage mentions and the heaviest relations
    between these, under LlamaIndex's `KG_NODES_KEY` and `KG_RELATIONS_KEY` in the metadata.

    A language model does not see these two. LlamaIndex's property graph stores take such nodes as they are.
    """
    return [_with_graph(trueweave, one) for one in nodes]


def _with_graph(trueweave: Trueweave, found: NodeWithScore) -> NodeWithScore:
    mentioned = trueweave.graph.subgraph(chunks=[UUID(found.node.node_id)], limit=_MOST).nodes
    nodes = {node.id: node for node in mentioned}
    related = trueweave.graph.relations(*nodes, limit=_MOST) if nodes else []
    between = [one for one in related if one.source in nodes and one.target in nodes]
    node = found.node.model_copy(deep=True)
    node.metadata[KG_NODES_KEY] = [entity_node(one, node.node_id) for one in mentioned]
    node.metadata[KG_RELATIONS_KEY] = [graph_relation(one, nodes) for one in between]
    node.excluded_llm_metadata_keys += [KG_NODES_KEY, KG_RELATIONS_KEY]
    node.excluded_embed_metadata_keys += [KG_NODES_KEY, KG_RELATIONS_KEY]
    return NodeWithScore(node=node, score=found.score)


def from_nodes(nodes: Iterable[BaseNode]) -> Iterator[Document]:
    """Documents for `add_documents`, from nodes with entities and relations, as extractors of LlamaIndex leave them.

    Each node is a chunk, and the nodes of one source are one document, which is identified by the id of the source.
    Nodes without entities are chunks without mentions.
    """
    of_source: dict[str, list[BaseNode]] = {}
    for node in nodes:
        of_source.setdefault(_uri(node), []).append(node)
    for uri, some in of_source.items():
        some.sort(key=_start)
        metadata = _json(some[0].metadata)
        yield Document(uri, tuple(map(_chunk, some)), str(metadata.get("title") or ""), metadata)


def _uri(node: BaseNode) -> str:
    return str(node.metadata.get("uri") or node.ref_doc_id or node.node_id)


def _start(node: BaseNode) -> int:
    return getattr(node, "start_char_idx", None) or 0


def _chunk(node: BaseNode) -> Chunk:
    text = storable(node.get_content())
    entities = [one for one in node.metadata.get(KG_NODES_KEY) or () if isinstance(one, EntityNode)]
    relations: list[Relation] = node.metadata.get(KG_RELATIONS_KEY) or []
    named = {one.id: one for one in entities if tidy(one.name)}
    finder = Finder(text)
    mentions = tuple(
        Mention(one.name, _type(one), _text(one.properties, _ENTITY_TEXT), spans=finder.find(one.name))
        for one in named.values()
    )
    links = tuple(_link(one, named) for one in relations if tidy(one.source_id) and tidy(one.target_id))
    return Chunk(text, _start(node), mentions=mentions, links=links)


def _link(relation: Relation, named: Mapping[str, EntityNode]) -> Link:
    predicate = relation.label.replace("_", " ").lower()
    described = _text(relation.properties, _RELATION_TEXT)
    keywords = dict.fromkeys(chain([predicate], map(str, relation.properties.get("keywords") or ())))
    source, target = named.get(relation.source_id), named.get(relation.target_id)
    return Link(
        source.name if source else relation.source_id,
        target.name if target else relation.target_id,
        described or predicate,
        tuple(keywords),
        source_type=_type(source) if source else "",
        target_type=_type(target) if target else "",
    )


def _type(entity: EntityNode) -> str:
    return "" if entity.label == _UNTYPED else entity.label


def _text(properties: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(properties[name]) for name in names if properties.get(name)), "")


def _json(metadata: Mapping[str, Any]) -> dict[str, Json]:
    """The metadata of a document as JSON, without the graph; values that JSON cannot represent become text."""
    plain = {name: value for name, value in metadata.items() if name not in (KG_NODES_KEY, KG_RELATIONS_KEY)}
    written = storable(json.dumps(plain, default=str, ensure_ascii=False).replace("\\u0000", ""))
    found: dict[str, Json] = json.loads(written)
    return found
