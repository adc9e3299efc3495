"""The working directory of LightRAG with its default storages: JSON files and a graph as GraphML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from trueweave.core.errors import UnreadableFile
from trueweave.core.events import Listener
from trueweave.core.record import Document, Mention
from trueweave.formats.importing.annotations import Annotations, GivenRelation
from trueweave.formats.importing.assembling import TextUnit, assembled, chunks
from trueweave.formats.importing.graphml import elements
from trueweave.formats.importing.graphs import keywords_in, number
from trueweave.formats.importing.json_object import members
from trueweave.formats.importing.telling import counted, note
from trueweave.text.names import storable
from trueweave.text.uris import ROW

CHUNKS, GRAPH = "kv_store_text_chunks.json", "graph_chunk_entity_relation.graphml"
_STATUS = "kv_store_doc_status.json"
_OF_ENTITIES, _OF_RELATIONS = "kv_store_entity_chunks.json", "kv_store_relation_chunks.json"
_BETWEEN = "<SEP>"
_UNKNOWN = frozenset({"UNKNOWN", "unknown_source"})  # LightRAG's defaults for missing values
_NAMED = 3


def read(path: Path, uri: str, listener: Listener | None = None) -> Iterator[Document]:
    """The documents of a working directory, each with its chunks as LightRAG cut them.

    Entities, relations and the ids of chunks are kept in memory. LightRAG writes the chunks of a document together, so
    texts are in memory for one document at a time.
    """
    _check(path)
    files: dict[str, str] = {}  # of documents
    sizes: Counter[str] = Counter()
    known: dict[str, str] = {}
    for id_, row in members(path / CHUNKS):
        document = _document_of(id_, row)
        sizes[document] += 1
        known[id_] = id_
        files.setdefault(document, str(row.get("file_path") or ""))
    annotations = _annotations(path, known)
    for document, units in assembled(_units(path), sizes):
        file = "" if files[document] in _UNKNOWN else storable(files[document])
        made = chunks(units, annotations)
        metadata = {"file_path": file} if file else {}
        yield Document(f"{uri}{ROW}{document}", made, PurePosixPath(file).name, metadata, origin=f"{path}, {document}")
    yield from annotations.unattached(uri)
    annotations.tell(listener, uri)
    _tell_unprocessed(path, listener)


def _check(path: Path) -> None:
    for name in (CHUNKS, GRAPH):
        if not (path / name).is_file():
            raise UnreadableFile(
                f"{path} has no {name}, so it is not a working directory of LightRAG with its default storages. "
                "Name the folder that contains that file; with a LightRAG workspace it is a subfolder. Data that "
                "LightRAG stores in a database cannot be imported."
            )


def _document_of(id_: str, row: Any) -> str:
    if not isinstance(row, dict) or not isinstance(row.get("content"), str):
        raise UnreadableFile(f"{CHUNKS}: {id_} has no content. Run LightRAG again to write it.")
    return str(row.get("full_doc_id") or id_)


def _units(path: Path) -> Iterator[TextUnit]:
    for id_, row in members(path / CHUNKS):
        order, tokens = number(row.get("chunk_order_index")), number(row.get("tokens"))
        yield TextUnit(_document_of(id_, row), int(order or 0), id_, row["content"], int(tokens or 0))


def _annotations(path: Path, known: dict[str, str]) -> Annotations:
    """Entities and relations, each with all its chunks: the graph lists only the first 200."""
    annotations = Annotations(known)
    of_entities, of_relations = _chunk_lists(path / _OF_ENTITIES, known), _chunk_lists(path / _OF_RELATIONS, known)
    for ends, values in elements(path / GRAPH):
        described, listed = _described(values), values.get("source_id", "").split(_BETWEEN)
        if len(ends) == 1:
            type_ = values.get("entity_type", "")
            entity = Mention(ends[0], "" if type_ in _UNKNOWN else type_, described)
            annotations.add_entity(entity, of_entities.pop(ends[0], ()) or listed)
        else:
            source, target = ends
            said = described, tuple(keywords_in(values)), number(values.get("weight"))
            from_chunks = of_relations.pop(_BETWEEN.join(sorted(ends)), ()) or listed
            annotations.add_relation(GivenRelation(source, target, *said), from_chunks)
    return annotations


def _described(values: Mapping[str, str]) -> str:
    """The description, with one line for each of the parts that LightRAG joined."""
    return "\n".join(part.strip() for part in values.get("description", "").split(_BETWEEN) if part.strip())


def _chunk_lists(path: Path, known: dict[str, str]) -> dict[str, Sequence[str]]:
    """The chunk ids by the name of an entity, or by both names of a relation. Older versions have no such file."""
    if not path.is_file():
        return {}
    return {key: [known.get(id_, id_) for id_ in row.get("chunk_ids") or ()] for key, row in members(path)}


def _tell_unprocessed(path: Path, listener: Listener | None) -> None:
    if not (path / _STATUS).is_file():
        return
    left = [
        str(row.get("file_path") or id_) for id_, row in members(path / _STATUS) if row.get("status") != "processed"
    ]
    if left:
        named = ", ".join(left[:_NAMED]) + (" …" if len(left) > _NAMED else "")
        told = counted(len(left), "document")
        note(
            listener,
            f"{told} had not been processed by LightRAG to the end ({named}): add the files with `trueweave add`.",
        )
