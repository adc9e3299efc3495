"""What Microsoft GraphRAG writes: Parquet tables of documents, text units, entities and relationships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trueweave.errors import ConfigError, UnreadableFile
from trueweave.events import Listener
from trueweave.importing.annotations import Annotations, GivenRelation
from trueweave.importing.assembling import TextUnit, assembled, chunks
from trueweave.importing.telling import note
from trueweave.text.names import storable
from trueweave.text.uris import ROW
from trueweave.types import Chunk, Document, Json, Mention

UNITS, ENTITIES, RELATIONS = "text_units.parquet", "entities.parquet", "relationships.parquet"
_DOCUMENTS, _REPORTS, _CLAIMS = "documents.parquet", "community_reports.parquet", "covariates.parquet"
_AT_ONCE = 500  # rows
_NO_DOCUMENT = "text-units"  # for text units that belong to no document


def folder_of(path: Path) -> Path:
    """Where the tables are: in the folder itself, or in `output` of a GraphRAG project."""
    return path / "output" if not (path / UNITS).exists() and (path / "output" / UNITS).exists() else path


def read(path: Path, uri: str, listener: Listener | None = None, *, reports: bool = False) -> Iterator[Document]:
    """The documents of an index, each with the text units that GraphRAG has cut it into; with `reports` also its
    community reports, as documents of their own.

    In memory are entities, relationships, ids, and the titles of documents. GraphRAG writes the text units of a
    document together, so texts are in memory document by document.
    """
    folder = folder_of(path)
    owner = _owner_column(folder / UNITS)
    known: dict[str, str] = {}
    sizes: Counter[str] = Counter()
    for row in _rows(folder / UNITS, ("id", owner)):
        sizes[_owner(row[owner])] += 1
        known[row["id"]] = row["id"]
    annotations = _annotations(folder, known)
    titles = _titles(folder / _DOCUMENTS)
    for document, units in assembled(_units(folder, owner), sizes):
        title, metadata = titles.get(document, ("", {}))
        made = chunks(units, annotations)
        yield Document(f"{uri}{ROW}{document}", made, title, metadata, origin=f"{folder / UNITS}, {document}")
    yield from annotations.apart(uri)
    if reports:
        yield from _reports(folder / _REPORTS, uri)
    annotations.tell(listener, uri)
    if (folder / _CLAIMS).is_file():
        note(listener, f"{_CLAIMS} is left out: there is no place for claims.")
    if (folder / _REPORTS).is_file() and not reports:
        note(
            listener,
            f"{_REPORTS} is left out: `trueweave communities build` finds communities of this graph and reports on "
            "them. To keep GraphRAG's reports as documents, import again with --reports (in Python, reports=True).",
        )


def _owner_column(path: Path) -> str:
    names = _file(path).schema_arrow.names
    owner = next((name for name in ("document_id", "document_ids") if name in names), None)
    if owner is None:
        raise UnreadableFile(f"{path} has no column document_id or document_ids. GraphRAG 1.0 and newer write one.")
    return owner


def _owner(value: Any) -> str:
    """The document of a text unit. In versions before 3 it could be of several, and is given to the first."""
    first = (value[0] if value else None) if isinstance(value, list) else value
    return str(first or _NO_DOCUMENT)


def _units(folder: Path, owner: str) -> Iterator[TextUnit]:
    for order, row in enumerate(_rows(folder / UNITS, ("id", "text", "n_tokens", owner))):
        yield TextUnit(_owner(row[owner]), order, row["id"], row["text"] or "", int(row["n_tokens"] or 0))


def _annotations(folder: Path, known: dict[str, str]) -> Annotations:
    annotations = Annotations(known)
    for row in _rows(folder / ENTITIES, ("title", "type", "description", "text_unit_ids")):
        entity = Mention(row["title"] or "", row["type"] or "", row["description"] or "")
        annotations.add_entity(entity, _shared(row["text_unit_ids"], known))
    for row in _rows(folder / RELATIONS, ("source", "target", "description", "weight", "text_unit_ids")):
        relation = GivenRelation(row["source"] or "", row["target"] or "", row["description"] or "", (), row["weight"])
        annotations.add_relation(relation, _shared(row["text_unit_ids"], known))
    return annotations


def _shared(ids: Sequence[str] | None, known: dict[str, str]) -> list[str]:
    """These ids, as the objects that are in memory already."""
    return [known.get(id_, id_) for id_ in ids or ()]


def _titles(path: Path) -> dict[str, tuple[str, dict[str, Json]]]:
    """The title of each document, and when it was made."""
    if not path.is_file():
        return {}
    columns = [name for name in ("id", "title", "creation_date") if name in _file(path).schema_arrow.names]
    found: dict[str, tuple[str, dict[str, Json]]] = {}
    for row in _rows(path, columns):
        date = row.get("creation_date")
        found[str(row["id"])] = storable(row.get("title") or ""), {"creation_date": str(date)} if date else {}
    return found


def _reports(path: Path, uri: str) -> Iterator[Document]:
    columns = ("community", "level", "title", "full_content", "rank")
    for row in _rows(path, columns) if path.is_file() else ():
        made: list[Chunk] = []
        for n, section in enumerate(storable(row["full_content"] or "").split("\n## ")):
            made.append(Chunk(f"## {section}" if n else section, made[-1].end + 1 if made else 0))
        metadata: dict[str, Json] = {"kind": "community report", "level": row["level"], "rank": row["rank"]}
        title = storable(row["title"] or "")
        yield Document(f"{uri}{ROW}report-{row['community']}", tuple(made), title, metadata, origin=str(path))


def _rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """These columns of a table, row by row."""
    file = _file(path)
    if missing := [name for name in columns if name not in file.schema_arrow.names]:
        raise UnreadableFile(f"{path} has no column {', '.join(missing)}. GraphRAG 1.0 and newer write it.")
    with file:
        for batch in file.iter_batches(_AT_ONCE, columns=list(columns)):
            yield from batch.to_pylist()


def _file(path: Path) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ConfigError('the output of GraphRAG is read by pyarrow: pip install "trueweave[formats]"') from error
    if not path.is_file():
        raise UnreadableFile(f"{path} is not there, so {path.parent} is not the output of GraphRAG. Check the path.")
    try:
        return ParquetFile(path)
    except ArrowException as error:
        raise UnreadableFile(f"{path} is not Parquet: {error}. Let GraphRAG write it again.") from error
