"""The output of Microsoft GraphRAG: Parquet tables of documents, text units, entities and relationships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.core.events import Listener
from trueweave.core.record import Chunk, Document, Json, Mention
from trueweave.formats.importing.annotations import Annotations, GivenRelation
from trueweave.formats.importing.assembling import TextUnit, assembled, chunks
from trueweave.formats.importing.telling import note
from trueweave.text.names import storable
from trueweave.text.uris import ROW

Row = Mapping[str, Any]

UNITS, ENTITIES, RELATIONS = "text_units.parquet", "entities.parquet", "relationships.parquet"
_DOCUMENTS, _REPORTS, _CLAIMS = "documents.parquet", "community_reports.parquet", "covariates.parquet"
_AT_ONCE = 500  # rows
_BUFFER = 2**20  # bytes of each column
_OWNER = ("document_id", "document_ids")
_NO_DOCUMENT = "text-units"  # for text units that belong to no document


def folder_of(path: Path) -> Path:
    """Where the tables are: in the folder itself, or in `output` of a GraphRAG project."""
    return path / "output" if not (path / ENTITIES).exists() and (path / "output" / ENTITIES).exists() else path


def read(path: Path, uri: str, listener: Listener | None = None, *, reports: bool = False) -> Iterator[Document]:
    """The documents of an index, each with the text units that GraphRAG cut it into; with `reports`, also its community
    reports, as separate documents.

    Entities, relationships, ids and the titles of documents are kept in memory. GraphRAG writes the text units of a
    document together, so texts are in memory for one document at a time.
    """
    folder = folder_of(path)
    known: dict[str, str] = {}
    sizes: Counter[str] = Counter()
    for row in _rows(folder / UNITS, ("id",), _OWNER) if (folder / UNITS).is_file() else ():
        sizes[_owner(row)] += 1
        known[row["id"]] = row["id"]
    annotations = _annotations(folder, known)
    titles = _titles(folder / _DOCUMENTS)
    for document, units in assembled(_units(folder / UNITS), sizes):
        title, metadata = titles.get(document, ("", {}))
        made = chunks(units, annotations)
        yield Document(f"{uri}{ROW}{document}", made, title, metadata, origin=f"{folder / UNITS}, {document}")
    yield from annotations.unattached(uri)
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


def _owner(row: Row) -> str:
    """The document of a text unit. Before version 3 a text unit could have several, and is assigned to the first."""
    several = row["document_ids"] or ()
    return str(row["document_id"] or next(iter(several), None) or _NO_DOCUMENT)


def _units(path: Path) -> Iterator[TextUnit]:
    if path.is_file():
        for order, row in enumerate(_rows(path, ("id", "text"), ("n_tokens", *_OWNER))):
            yield TextUnit(_owner(row), order, row["id"], row["text"] or "", int(row["n_tokens"] or 0))


def _annotations(folder: Path, known: dict[str, str]) -> Annotations:
    annotations = Annotations(known)
    for row in _rows(folder / ENTITIES, ("title",), ("type", "description", "text_unit_ids")):
        entity = Mention(row["title"] or "", row["type"] or "", row["description"] or "")
        annotations.add_entity(entity, _shared(row["text_unit_ids"], known))
    for row in _rows(folder / RELATIONS, ("source", "target"), ("description", "weight", "text_unit_ids")):
        relation = GivenRelation(row["source"] or "", row["target"] or "", row["description"] or "", (), row["weight"])
        annotations.add_relation(relation, _shared(row["text_unit_ids"], known))
    return annotations


def _shared(ids: Sequence[str] | None, known: dict[str, str]) -> list[str]:
    """These ids, using the string objects that are already in memory."""
    return [known.get(id_, id_) for id_ in ids or ()]


def _titles(path: Path) -> dict[str, tuple[str, dict[str, Json]]]:
    """The title of each document, and its creation date."""
    if not path.is_file():
        return {}
    found: dict[str, tuple[str, dict[str, Json]]] = {}
    for row in _rows(path, ("id",), ("title", "creation_date")):
        date = row["creation_date"]
        found[str(row["id"])] = storable(row["title"] or ""), {"creation_date": str(date)} if date else {}
    return found


def _reports(path: Path, uri: str) -> Iterator[Document]:
    if not path.is_file():
        raise UnreadableFile(f"{path} does not exist, so there are no reports to import. Omit --reports.")
    for row in _rows(path, ("community", "full_content"), ("title", "level", "rank")):
        made: list[Chunk] = []
        for n, section in enumerate(storable(row["full_content"] or "").split("\n## ")):
            made.append(Chunk(f"## {section}" if n else section, made[-1].end + 1 if made else 0))
        metadata: dict[str, Json] = {"kind": "community report", "level": row["level"], "rank": row["rank"]}
        title = storable(row["title"] or "")
        yield Document(f"{uri}{ROW}report-{row['community']}", tuple(made), title, metadata, origin=str(path))


def _rows(path: Path, needed: Sequence[str], others: Sequence[str] = ()) -> Iterator[Row]:
    """These columns of a table, row by row. Missing columns among `others` are None."""
    with _file(path) as file:
        names = file.schema_arrow.names
        if missing := [name for name in needed if name not in names]:
            told = ", ".join(missing)
            raise UnreadableFile(f"{path} has no column {told}, so GraphRAG did not write it. Check the path.")
        there = [*needed, *(name for name in others if name in names)]
        absent = dict.fromkeys(name for name in others if name not in names)
        for batch in file.iter_batches(_AT_ONCE, columns=there):
            for row in batch.to_pylist():
                yield {**absent, **row}


def _file(path: Path) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ConfigError('reading the output of GraphRAG needs pyarrow: pip install "trueweave[formats]"') from error
    if not path.is_file():
        raise UnreadableFile(f"{path} does not exist, so {path.parent} is not the output of GraphRAG. Check the path.")
    try:
        return ParquetFile(path, buffer_size=_BUFFER)  # without it, a column of a whole row group would be read at once
    except ArrowException as error:
        raise UnreadableFile(f"{path} is not Parquet: {error}. Run GraphRAG again to write it.") from error
