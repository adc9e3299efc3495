"""`given`: documents with known entities and triples, as JSON lines. No model is called.

One document per line, plain or gzipped:

    {"uri": "…", "title": "…", "text": "…", "metadata": {…},
     "entities": ["Ada Lovelace", {"name": "…", "type": "…", "description": "…", "emphasis": 7}],
     "triples": [["Ada Lovelace", "worked with", "Charles Babbage"]],
     "relations": [{"source": "…", "target": "…", "description": "…", "keywords": ["…"], "strength": 8}]}

or with `"chunks": [{"text": …, "start": …, "entities": …, "triples": …}, …]` in place of one text. `id` or `passage_id`
are also accepted as the name, and the uri is that of the file, a # and the name: see `row_uri` in
`ingest/json_lines.py`. Texts and their annotations may be in two files with the same ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Refused
from trueweave.core.record import Box, Chunk, Document, Json, Link, Mention, Place, PlaceKind, Span, stated_readers
from trueweave.graph.contribution import place_rows
from trueweave.ingest.json_lines import Row, broken, lines, name_of, parsed, place, row_uri, rows
from trueweave.text.uris import Naming

_Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
_Exact = Annotated[str, StringConstraints(strip_whitespace=False)]
_lists = Strict(False)  # JSON has lists for tuples
_Place = Annotated[tuple[int, PlaceKind, _Exact, int, int | None], _lists]
_Picture = Annotated[tuple[int, PlaceKind, _Exact, int, int | None, Annotated[Box, _lists] | None, int | None], _lists]
_Triple = Annotated[list[str | None], Field(min_length=3, max_length=3)]


class _Given(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_nothing(cls, given: Any) -> Any:
        return {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else given


class _Entity(_Given):
    name: str
    type: str = ""
    description: str = ""
    emphasis: int = 5
    spans: list[_Pair] = []


class _Relation(_Given):
    source: str = Field(min_length=1)
    target: str = Field(min_length=1)
    description: str = ""
    keywords: list[str] = []
    strength: float = 5
    emphasis: int = 5
    spans: list[_Pair] = []
    source_type: str = ""
    target_type: str = ""


class _Chunk(_Given):
    text: _Exact  # offsets count every character
    start: int = 0
    tokens: int = 0
    entities: list[str | _Entity] = []
    triples: list[_Triple] = []
    relations: list[_Relation] = []


class _Document(_Given):
    title: _Exact = ""
    metadata: dict[_Exact, JsonValue] = {}
    places: list[_Place | _Picture] = []
    readers: list[str] | str | None = None
    chunks: list[_Chunk]


_FIELDS = {name for model in (_Entity, _Relation, _Chunk, _Document) for name in model.model_fields}


def read(
    path: Path,
    said: Path | None = None,
    *,
    uri: str | None = None,
    refused: Callable[[Refused], None] | None = None,
) -> Iterator[Document]:
    """The documents of a JSON lines file, one at a time. `uri` is that of the file; without it, its whole path.

    The annotations may be in a second file, `said`, whose rows have the same ids. It is only read ahead as far as the
    order of the two differs. An invalid row is an error, or `refused` is called with it.
    """
    known, file = _Said(said), uri if uri is not None else Naming().uri(path)
    for number, line in lines(path):
        try:
            row = parsed(line)
            made = document({**known.of(name_of(row)), **row}, row_uri(row, file), place(path, number))
        except InvalidDocument as error:
            problem = broken(path, number, str(error))
            if refused is None:
                raise problem from error
            refused(Refused(place(path, number), str(problem)))
        else:
            yield made


def read_exact(path: Path, *, refused: Callable[[Refused], None] | None = None) -> Iterator[Document]:
    """The documents of a file that `written` wrote, one per line, each with its own uri. An invalid line is an error,
    or `refused` is called with it."""
    for number, line in lines(path):
        uri = ""
        try:
            row = parsed(line)
            uri = name_of(row)
            made = document(row, uri)
        except InvalidDocument as error:
            told = f"{uri or f'line {number}'}: {error}"
            if refused is None:
                raise InvalidDocument(told) from error
            refused(Refused(uri or f"line {number}", told))
        else:
            yield made


def document(row: Row, uri: str, origin: str = "") -> Document:
    """One document from its annotations."""
    is_cut = bool(row.get("chunks")) or ("chunks" in row and "text" not in row)
    parts = row if is_cut else {**row, "chunks": [row]}
    try:
        given = _Document.model_validate(parts)
    except ValidationError as error:
        raise InvalidDocument(_problem(error)) from error
    places = tuple(Place(*place) for place in given.places)
    stated: Json = [*given.readers] if isinstance(given.readers, list) else given.readers
    readers = None if stated is None else stated_readers(uri, stated)
    return Document(uri, tuple(map(_chunk, given.chunks)), given.title, given.metadata, places, origin, readers)


def _problem(error: ValidationError) -> str:
    """The deepest of the problems: for a value that may be a string or an object, the one about the object."""
    worst = max(error.errors(), key=lambda one: len(one["loc"]))
    place = " ".join(str(part) for part in worst["loc"] if isinstance(part, int) or part in _FIELDS)
    return f"{place}: {worst['msg'].lower()}"


def _chunk(given: _Chunk) -> Chunk:
    mentions = (_Entity(name=e) if isinstance(e, str) else e for e in given.entities)
    triples = (_Relation(source=s, target=t, description=p) for s, p, t in given.triples if s and p and t)
    return Chunk(
        given.text,
        given.start,
        given.tokens,
        tuple(Mention(m.name, m.type, m.description, m.emphasis, _spans(m.spans)) for m in mentions if m.name),
        tuple(map(_link, (*triples, *given.relations))),
    )


def _link(given: _Relation) -> Link:
    said = given.description, tuple(given.keywords), given.strength, given.emphasis, _spans(given.spans)
    return Link(given.source, given.target, *said, given.source_type, given.target_type)


def _spans(given: list[_Pair]) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in given)


def written(document: Document) -> str:
    """A document as one line, which `document` reads back. Default values are omitted."""
    row: dict[str, Any] = {"uri": document.uri, "title": document.title, "metadata": dict(document.metadata)}
    if document.places:
        row["places"] = place_rows(document.places)
    if document.readers is not None:
        row["readers"] = list(document.readers)
    row["chunks"] = [_chunk_row(chunk) for chunk in document.chunks]
    kept = {key: value for key, value in row.items() if value or key in ("chunks", "readers")}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def _chunk_row(chunk: Chunk) -> dict[str, Any]:
    row: dict[str, Any] = {"text": chunk.text, "start": chunk.start, "tokens": chunk.tokens}
    row["entities"] = [_said_row(one) for one in chunk.mentions]
    row["relations"] = [_said_row(one) for one in chunk.links]
    return {key: value for key, value in row.items() if value or key == "text"}


def _said_row(said: Mention | Link) -> dict[str, Any]:
    kind: Any = type(said)
    values = ((name, default, getattr(said, name)) for name, default in _defaults(kind))
    return {name: value for name, default, value in values if value != default}


@cache
def _defaults(kind: type) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in fields(kind)]


class _Said:
    """Rows of a file, looked up by the document that they belong to."""

    def __init__(self, path: Path | None) -> None:
        self._rows = rows(path) if path else iter(())
        self._ahead: dict[str, Row] = {}

    def of(self, uri: str) -> Row:
        while uri not in self._ahead:
            _, row = next(self._rows, (0, None))
            if row is None:
                return {}
            self._ahead[name_of(row)] = row
        return self._ahead.pop(uri)
