"""LangChain's GraphDocuments: one text each, with the nodes and relationships that a model found in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from trueweave.core.record import Chunk, Document, Json, Link, Mention
from trueweave.formats.importing.annotations import strengths
from trueweave.formats.importing.graphs import keywords_in, number
from trueweave.formats.importing.statements import of_entity, of_relation
from trueweave.text.names import storable, tidy
from trueweave.text.uris import ROW

_UNTYPED = "Node"  # LangChain's default type


class GraphDocumentNode(Protocol):
    """A node of LangChain."""

    @property
    def id(self) -> str | int: ...
    @property
    def type(self) -> str: ...
    @property
    def properties(self) -> dict[str, Any]: ...


class GraphDocumentRelationship(Protocol):
    """A relationship of LangChain."""

    @property
    def source(self) -> GraphDocumentNode: ...
    @property
    def target(self) -> GraphDocumentNode: ...
    @property
    def type(self) -> str: ...
    @property
    def properties(self) -> dict[str, Any]: ...


class GraphDocument(Protocol):
    """A GraphDocument, from whichever LangChain package."""

    @property
    def nodes(self) -> Sequence[GraphDocumentNode]: ...
    @property
    def relationships(self) -> Sequence[GraphDocumentRelationship]: ...
    @property
    def source(self) -> Any: ...


def read(graphs: Iterable[GraphDocument], uri: str) -> Iterator[Document]:
    """A document for each GraphDocument; its uri is `uri` and the id of its source, or else its number."""
    for number_, graph in enumerate(graphs, 1):
        source = graph.source
        metadata = _metadata(getattr(source, "metadata", None) or {})
        mentions = tuple(_mention(node) for node in graph.nodes if tidy(str(node.id)))
        links = tuple(_link(one) for one in graph.relationships if _has_names(one))
        text = storable(getattr(source, "page_content", "") or "")
        if not text.strip():
            stated = (*map(of_entity, mentions), *map(of_relation, links))
            text = "\n".join(statement.text for statement in stated)
        name = str(getattr(source, "id", None) or number_)
        title = str(metadata.get("title") or metadata.get("source") or "")
        chunk = Chunk(text, mentions=mentions, links=links)
        yield Document(f"{uri}{ROW}{name}", (chunk,), title, metadata, origin=f"{uri}, {number_}")


def _has_names(relationship: GraphDocumentRelationship) -> bool:
    return all(tidy(str(end.id)) for end in (relationship.source, relationship.target))


def _mention(node: GraphDocumentNode) -> Mention:
    return Mention(str(node.id), _type(node), str(node.properties.get("description") or ""))


def _link(relationship: GraphDocumentRelationship) -> Link:
    source, target, values = relationship.source, relationship.target, relationship.properties
    predicate = relationship.type.replace("_", " ").lower()
    described = str(values.get("description") or "")
    keywords = dict.fromkeys((predicate, *keywords_in(values)))
    said = described or predicate, tuple(keywords), strengths(number(values.get("weight")), 1)[0]
    return Link(str(source.id), str(target.id), *said, source_type=_type(source), target_type=_type(target))


def _type(node: GraphDocumentNode) -> str:
    return "" if node.type == _UNTYPED else node.type


def _metadata(given: Mapping[str, Any]) -> dict[str, Json]:
    """The metadata as JSON; values that JSON cannot represent, such as dates, become text."""
    written = storable(json.dumps(dict(given), default=str, ensure_ascii=False).replace("\\u0000", ""))
    found: dict[str, Json] = json.loads(written)
    return found
