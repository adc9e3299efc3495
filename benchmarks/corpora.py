"""The benchmark data beside the project, as documents. See the README of that folder for where it comes from."""

from __future__ import annotations

import gzip
import heapq
import json
import os
import random
import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import chain, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

from trueweave import Chunk, Document, Link, Mention
from trueweave.ingest.extract import preannotated

BENCH = Path(os.environ.get("TRUEWEAVE_BENCH_DATA", Path(__file__).parents[2] / "shared" / "bench"))


def missing() -> str | None:
    """What to tell somebody who has no benchmark data; None when it is there."""
    return (
        None
        if BENCH.is_dir()
        else f"no benchmark data at {BENCH}: set TRUEWEAVE_BENCH_DATA to the folder that holds it"
    )


def are_there(*, smoke: bool) -> bool:
    """Whether there is benchmark data. Without it a smoke run says that it is skipped, and any other ends here."""
    problem = missing()
    if problem and not smoke:
        sys.exit(problem)
    if problem:  # nothing to try it on here, which is no fault of the code
        print(f"skipped: {problem}")
    return problem is None


def rows(name: str) -> Iterator[Any]:
    with gzip.open(BENCH / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def musique_train100() -> list[Document]:
    """1,890 passages with the entities and triples that GPT-3.5 found in them."""
    folder = BENCH / "musique_train100"
    return list(preannotated.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz"))


def christmas_carol() -> list[Document]:
    """42 chunks of the book with the 374 entities and 186 relations that GPT-4o found in them, asked twice for each."""
    return _extracted("christmas_carol/nano", asked=2)


def medical() -> list[Document]:
    """199 chunks of texts for patients with the 1,764 entities and 1,904 relations that GPT-4o mini found in them."""
    return _extracted("graphragbench_medical")


def _extracted(folder: str, asked: int = 1) -> list[Document]:
    """Chunks, each a document, with what a model found. The weight of a relation is the sum over its statements."""
    types: dict[str, str] = {}
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    links: defaultdict[str, list[Link]] = defaultdict(list)
    for row in rows(f"{folder}/entities"):
        name, kind = row["name"], "" if row["type"] == "UNKNOWN" else row["type"]
        types[name] = kind
        for chunk, said in _stated(row):
            mentions[chunk].append(Mention(name, kind, said))
    for row in rows(f"{folder}/relations"):
        source, target, stated = row["source"], row["target"], _stated(row)
        words = tuple(word for listed in row.get("keywords", ()) for word in listed.split(","))
        strength = min(max(round(row["weight"] / (asked * len(stated))), 1), 10)
        for chunk, said in stated:
            link = Link(source, target, said, words, strength, source_type=types[source], target_type=types[target])
            links[chunk].append(link)
    return [
        Document(
            f"{folder}/{row['order']}",
            (Chunk(row["text"], mentions=tuple(mentions[row["id"]]), links=tuple(links[row["id"]])),),
        )
        for row in rows(f"{folder}/chunks")
    ]


def _stated(row: Any) -> list[tuple[str, str]]:
    """Which chunk says what. Where more is said than there are chunks, the last one says the rest."""
    said = dict.fromkeys(row["descriptions"])
    last = row["chunk_ids"][-1]
    return [(chunk or last, description or "") for chunk, description in zip_longest(row["chunk_ids"], said)]


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


def passages(*names: str) -> Iterator[str]:
    """202,187 real passages without a graph; of some of the three collections alone, if these are named."""
    for name in names or ("wikipedia_paragraphs", "debian12", "wordnet30"):
        for row in rows(f"scale/{name}/passages"):
            yield f"{row['title']}\n{row['text']}"


def mixture(share: float = 1) -> Iterator[Document]:
    """202,187 passages with 544,306 relations, or a share, in an order of which every beginning is like the whole.

    It has the same share of wordnet30, debian12 and wikipedia_paragraphs, and its graph is about as dense: passages
    that are related come near each other, and a relation is stated by the later of its two ends.
    """
    names = {
        "wordnet30": lambda row: f"{row['title']} ({row['synset']})",
        "debian12": lambda row: str(row["title"]),
        "wikipedia_paragraphs": lambda row: str(row["title"]),
    }
    parts = [_spread(_growing(folder, name, share)) for folder, name in names.items()]
    return map(itemgetter(1), heapq.merge(*parts, key=itemgetter(0)))


def _spread(documents: list[Document]) -> Iterator[tuple[float, Document]]:
    """Documents, each with its place between 0 and 1."""
    return (((n + 0.5) / len(documents), document) for n, document in enumerate(documents))


def _growing(folder: str, name: Any, share: float) -> list[Document]:
    listed = list(rows(f"scale/{folder}/passages"))
    del listed[int(len(listed) * share) :]
    edges: list[tuple[int, str, int]] = []
    if (BENCH / f"scale/{folder}/triples.jsonl.gz").exists():
        relations = [row["relation"] for row in rows(f"scale/{folder}/relations")]
        edges = [
            (source, relations[by], target)
            for source, by, target in rows(f"scale/{folder}/triples")
            if max(source, target) < len(listed)
        ]
    order = _walk(len(listed), [(source, target) for source, _, target in edges])
    place = {number: n for n, number in enumerate(order)}
    names = [name(row) for row in listed]
    links: defaultdict[int, list[Link]] = defaultdict(list)
    for source, by, target in edges:
        links[max(source, target, key=place.__getitem__)].append(Link(names[source], names[target], by))
    return [
        Document(
            f"{folder}/{number}",
            (Chunk(listed[number]["text"], mentions=(Mention(names[number]),), links=tuple(links[number])),),
            title=names[number],
        )
        for number in order
    ]


def _walk(size: int, edges: list[tuple[int, int]]) -> list[int]:
    """All numbers, breadth first along the edges from where chance begins."""
    beside: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in edges:
        beside[source].append(target)
        beside[target].append(source)
    chance = random.Random(0)
    starts = list(range(size))
    chance.shuffle(starts)
    seen: set[int] = set()
    order: list[int] = []
    for start in starts:
        waiting = deque([start] if start not in seen else [])
        seen.add(start)
        while waiting:
            order.append(now := waiting.popleft())
            others = [other for other in dict.fromkeys(beside[now]) if other not in seen]
            chance.shuffle(others)
            seen.update(others)
            waiting.extend(others)
    return order


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
