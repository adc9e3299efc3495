"""The benchmark data beside the project, as documents. See the README of that folder for where it comes from."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from weft import Chunk, Document, Link, Mention
from weft.extract import given

BENCH = Path(os.environ.get("WEFT_BENCH_DATA", Path(__file__).parents[2] / "shared" / "bench"))


def missing() -> str | None:
    """What to tell somebody who has no benchmark data; None when it is there."""
    return None if BENCH.is_dir() else f"no benchmark data at {BENCH}: set WEFT_BENCH_DATA to the folder that holds it"


def rows(name: str) -> Iterator[Any]:
    with gzip.open(BENCH / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def musique_train100() -> list[Document]:
    """1,890 passages with the entities and triples that GPT-3.5 found in them."""
    folder = BENCH / "musique_train100"
    return list(given.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz"))


def wordnet() -> Iterator[Document]:
    """117,659 word senses with 235,402 relations. A sense is named with its number, as senses share their words."""
    yield from _graph("wordnet30", "passages", lambda row: f"{row['title']} ({row['synset']})")


def debian() -> Iterator[Document]:
    """63,436 packages with 308,904 dependencies."""
    yield from _graph("debian12", "passages", lambda row: str(row["title"]))


def freebase() -> Iterator[Document]:
    """14,541 entities with 310,116 triples; there is no text but the names."""
    yield from _graph("fb15k237", "entities", lambda row: f"{row['name']} ({row['mid']})")


def scale() -> Iterator[Document]:
    """All three: 195,636 documents, 854,422 edges."""
    return chain(wordnet(), debian(), freebase())


def passages() -> Iterator[str]:
    """202,187 real passages without a graph."""
    for name in ("wikipedia_paragraphs", "debian12", "wordnet30"):
        for row in rows(f"scale/{name}/passages"):
            yield f"{row['title']}\n{row['text']}"


def _graph(folder: str, nodes: str, name: Any) -> Iterator[Document]:
    listed = list(rows(f"scale/{folder}/{nodes}"))
    relations = [row["relation"] for row in rows(f"scale/{folder}/relations")]
    edges: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for source, relation, target in rows(f"scale/{folder}/triples"):
        edges[source].append((relation, target))
    names = [name(row) for row in listed]
    for number, row in enumerate(listed):
        links = tuple(Link(names[number], names[to], relations[by]) for by, to in edges[number])
        text = str(row.get("text") or names[number])
        chunk = Chunk(text, mentions=(Mention(names[number]),), links=links)
        yield Document(f"{folder}/{number}", (chunk,), title=names[number])


def person_names(seed: int) -> Iterator[str]:
    """Distinct names of two or three words, put together at random from the words of real names, without end."""
    words = sorted({w for row in rows("scale/fb15k237/entities") for w in row["name"].split() if w.isalpha()})
    chosen = random.Random(seed)
    seen: set[str] = set()
    while True:
        name = " ".join(chosen.choices(words, k=chosen.choice((2, 2, 3))))
        if name not in seen:
            seen.add(name)
            yield name
