"""`given`: documents whose entities and triples somebody already has, as JSON lines. No model is asked.

One document a line, plain or gzipped:

    {"uri": "…", "title": "…", "text": "…", "metadata": {…},
     "entities": ["Ada Lovelace", {"name": "…", "type": "…", "description": "…", "emphasis": 7}],
     "triples": [["Ada Lovelace", "worked with", "Charles Babbage"]],
     "relations": [{"source": "…", "target": "…", "description": "…", "keywords": ["…"], "strength": 8}]}

or with `"chunks": [{"text": …, "start": …, "entities": …, "triples": …}, …]` in place of one text. `id` or `passage_id`
serve as the uri too.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weft.errors import InvalidDocument
from weft.types import Chunk, Document, Link, Mention


def read(path: Path) -> Iterator[Document]:
    """The documents of a JSON lines file, one at a time."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    made = document(json.loads(line))
                except (InvalidDocument, KeyError, TypeError, ValueError) as error:
                    problem = f"it has no {error}" if isinstance(error, KeyError) else str(error)
                    raise InvalidDocument(
                        f"{path}, line {number}: {problem}. Mend that line and add the file again."
                    ) from error
                yield made


def document(row: Mapping[str, Any]) -> Document:
    """One document from what was given for it."""
    if not isinstance(row, Mapping):
        raise InvalidDocument("it is not a JSON object")
    uri = str(row.get("uri") or row.get("id") or row["passage_id"])
    parts = row.get("chunks") or [row]
    return Document(uri, tuple(map(chunk, parts)), str(row.get("title") or ""), row.get("metadata") or {})


def chunk(row: Mapping[str, Any]) -> Chunk:
    """One chunk from what was given for it."""
    return Chunk(
        text=str(row["text"]),
        start=int(row.get("start") or 0),
        tokens=int(row.get("tokens") or 0),
        mentions=tuple(_mention(given) for given in row.get("entities") or () if _name(given)),
        links=(
            *(_triple(given) for given in row.get("triples") or () if all(given)),
            *(_relation(given) for given in row.get("relations") or ()),
        ),
    )


def _name(given: str | Mapping[str, Any]) -> str:
    return (given if isinstance(given, str) else str(given["name"])).strip()


def _mention(given: str | Mapping[str, Any]) -> Mention:
    if isinstance(given, str):
        return Mention(given)
    return Mention(
        _name(given),
        str(given.get("type") or ""),
        str(given.get("description") or ""),
        int(given.get("emphasis") or 5),
        _spans(given),
    )


def _triple(given: list[str]) -> Link:
    source, said, target = given
    return Link(source, target, said)


def _relation(given: Mapping[str, Any]) -> Link:
    return Link(
        str(given["source"]),
        str(given["target"]),
        str(given.get("description") or ""),
        tuple(given.get("keywords") or ()),
        int(given.get("strength") or 5),
        int(given.get("emphasis") or 5),
        _spans(given),
        str(given.get("source_type") or ""),
        str(given.get("target_type") or ""),
    )


def _spans(given: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    return tuple((int(start), int(end)) for start, end in given.get("spans") or ())
