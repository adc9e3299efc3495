"""A yardstick for bulk loading: what one writes by hand on Ray for the same passages, without Trueweave.

Lines are parsed, names and triples are found in the same way (given, by capitals, or by spaCy), and documents, chunks,
mentions and links are copied to plain tables; names and pairs of names are added up by a shuffle and copied as well;
then the same keys and a text index are built. There is no resolution, no linking of names in texts, no weighing of
words, no row-level security, nothing is kept for a second try, and nothing else may be in the tables.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import md5
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import ray

LINES_AT_ONCE = 500
_NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")
_TABLES = {
    "document": "id uuid, uri text, title text",
    "chunk": "id uuid, document uuid, text text",
    "mention": "chunk uuid, name uuid, written text",
    "link": "chunk uuid, source uuid, target uuid, said text",
    "name": "id uuid, written text, count bigint",
    "pair": "source uuid, target uuid, count bigint",
}
_INDEXES = (
    "document (id)", "chunk (id)", "mention (chunk)", "mention (name)", "link (chunk)", "link (source)",
    "link (target)", "name (id)", "pair (source)", "pair (target)", "chunk USING gin (to_tsvector('english', text))",
)  # fmt: skip

Row = tuple[Any, ...]


def load(url: str, file: Path, pipeline: str | None) -> dict[str, float]:
    """Load a file of JSON lines; the seconds of working and loading, and of building the indexes. `pipeline` is one of
    spaCy; without it names are by their capitals where none are given."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE")
        connection.execute("CREATE SCHEMA bare")
        for name, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE bare.{name} ({columns})".encode())
        began = time.perf_counter()
        lines = file.read_text().splitlines()
        parts = 2 * int(ray.cluster_resources()["CPU"])  # type: ignore[no-untyped-call]
        work = ray.remote(_worked).options(num_cpus=1, num_returns=parts)
        add = ray.remote(_added).options(num_cpus=1)
        shards = [lines[at : at + LINES_AT_ONCE] for at in range(0, len(lines), LINES_AT_ONCE)]
        split: list[Any] = [work.remote(url, shard, pipeline, parts) for shard in shards]
        ray.get([add.remote(url, *sums) for sums in zip(*split, strict=True)])
        loaded = time.perf_counter()
        for index in _INDEXES:
            connection.execute(f"CREATE INDEX ON bare.{index}".encode())
        ended = time.perf_counter()
        connection.execute("DROP SCHEMA bare CASCADE")
    return {"work": loaded - began, "index": ended - loaded}


def _worked(url: str, lines: list[str], pipeline: str | None, parts: int) -> list[tuple[Counter[Row], Counter[Row]]]:
    rows: dict[str, list[Row]] = {name: [] for name in _TABLES}
    names: list[Counter[Row]] = [Counter() for _ in range(parts)]
    pairs: list[Counter[Row]] = [Counter() for _ in range(parts)]
    documents = [json.loads(line) for line in lines]
    for document, found in zip(documents, _found(documents, pipeline), strict=True):
        uri = document.get("uri") or document["id"]
        id_, chunk = _id("document", uri), _id("chunk", uri)
        rows["document"].append((id_, uri, document.get("title", "")))
        rows["chunk"].append((chunk, id_, _text(document)))
        written, links = found
        for one in written:
            name = _id("name", one.lower())
            rows["mention"].append((chunk, name, one))
            names[name.int % parts][name, one] += 1
        for source, said, target in links:
            ends = _id("name", source.lower()), _id("name", target.lower())
            rows["link"].append((chunk, *ends, said))
            pairs[(ends[0].int ^ ends[1].int) % parts][ends] += 1
    with psycopg.connect(url) as connection:
        for table in ("document", "chunk", "mention", "link"):
            _copy(connection, table, rows[table])
    return list(zip(names, pairs, strict=True))


def _added(url: str, *sums: tuple[Counter[Row], Counter[Row]]) -> None:
    names: Counter[Row] = Counter()
    pairs: Counter[Row] = Counter()
    for some_names, some_pairs in sums:
        names.update(some_names)
        pairs.update(some_pairs)
    with psycopg.connect(url) as connection:
        _copy(connection, "name", ((*name, count) for name, count in names.items()))
        _copy(connection, "pair", ((*pair, count) for pair, count in pairs.items()))


def _found(documents: list[Any], pipeline: str | None) -> Iterator[tuple[list[str], list[tuple[str, str, str]]]]:
    if pipeline:
        for read in _spacy(pipeline).pipe(map(_text, documents)):
            yield [entity.text for entity in read.ents], []
        return
    for document in documents:
        chunks = document.get("chunks")
        if chunks is None:
            yield _NAME.findall(document["text"]), []
        else:
            links = [
                (r["source"], r.get("description", ""), r["target"]) for c in chunks for r in c.get("relations", ())
            ]
            yield [e["name"] for c in chunks for e in c.get("entities", ())], links


def _text(document: Any) -> str:
    return " ".join(c["text"] for c in document["chunks"]) if "chunks" in document else str(document["text"])


@cache
def _spacy(pipeline: str) -> Any:
    import spacy

    return spacy.load(pipeline)


def _copy(connection: psycopg.Connection[Any], table: str, rows: Iterable[Row]) -> None:
    with connection.cursor().copy(f"COPY bare.{table} FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types([column.split()[1] for column in _TABLES[table].split(", ")])
        for row in rows:
            copy.write_row(row)


def _id(*parts: str) -> UUID:
    return UUID(bytes=md5("\x1f".join(parts).encode()).digest())
