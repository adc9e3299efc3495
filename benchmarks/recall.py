"""How many of the ten nearest chunks a search finds, and in what time, by size and by filter.

    python benchmarks/recall.py                   # 20,000, 100,000 and 230,000 passages; writes results/recall.json
    python benchmarks/recall.py --sizes 20000     # this size; the results of others stay
    python benchmarks/recall.py --smoke           # 2,000 and 12,000 passages; writes nothing

The passages are real ones: paragraphs of Wikipedia, descriptions of packages, senses of words. Their vectors are means
of vectors of their words, by MiniLM (384 dimensions) without what all words have in common, weighted by how rare the
words are: a model would take hours for as many passages. The questions are those of three sets, 60 in all. Documents
of one chunk and their vectors are written to the product's tables, and searched by the product's reader. A share of
documents is drawn at random, but `other subject`: all descriptions of packages, which no question is about. Right is
what a comparison with all vectors that pass finds. What is loaded stays in `.recall/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import corpora
import numpy as np
import psycopg
from asking import KnownVectors, p50, p95
from minilm import minilm
from numpy.typing import NDArray
from served import served

from trueweave import AsyncTrueweave, Filter, Settings
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space

Figures = dict[str, Any]
Matrix = NDArray[np.float32]

KEPT = Path(__file__).parent / ".recall"
RESULTS = Path(__file__).parent / "results" / "recall.json"
SIZES = (20_000, 100_000, 230_000)
SMALL = (2_000, 12_000)
SHARES = {"0.1 %": 0.001, "1 %": 0.01, "10 %": 0.1, "90 %": 0.9}
LIMIT = 10
WORDS, FEW_WORDS = 40_000, 1_000  # that are embedded
SETS = ("hotpotqa", "musique", "twowiki")
OTHER_SUBJECT = "debian12"

_SERVER = {"shared_buffers": "3GB", "max_wal_size": "8GB", "maintenance_work_mem": "1GB"}
_QUESTIONS, _WARM = 60, 10
_DOCUMENTS_AT_ONCE = 5_000
_WORD = re.compile(r"[a-z0-9]+")


class Passages(NamedTuple):
    """Passages in random order: which collection each is from, their vectors, and those of questions."""

    sources: list[str]
    vectors: Matrix
    questions: Matrix


def _texts() -> dict[str, str]:
    """All passages with the collection that each is from, every beginning a sample of the whole."""
    found = {
        text: name for name in ("wikipedia_paragraphs", "debian12", "wordnet30") for text in corpora.passages(name)
    }
    for name in SETS:
        found |= {f"{row['title']}\n{row['text']}": name for row in corpora.rows(f"{name}/corpus")}
    shuffled = list(found.items())
    random.Random(7).shuffle(shuffled)
    return dict(shuffled)


async def _passages(folder: Path, most: int, words: int) -> Passages:
    kept = folder / f"vectors-{most}-{words}.npz"
    texts = dict(islice(_texts().items(), most))
    if not kept.exists():
        asked = [row["question"] for name in SETS for row in islice(corpora.rows(f"{name}/questions"), _QUESTIONS // 3)]
        counts = Counter(word for text in texts for word in set(_WORD.findall(text.lower())))
        common = dict(counts.most_common(words))
        embedded = np.asarray(await (await minilm()).embed(list(common), "document"))
        rarity = np.log(len(texts) / np.asarray(list(common.values())))[:, None]
        weighted = ((embedded - embedded.mean(axis=0)) * rarity).astype(np.float32)
        place = {word: n for n, word in enumerate(common)}
        made = [_means(some, place, weighted) for some in (list(texts), asked)]
        np.savez(kept, passages=made[0], questions=made[1])
    with np.load(kept) as saved:
        return Passages(list(texts.values()), saved["passages"], saved["questions"])


def _means(texts: Sequence[str], place: dict[str, int], weighted: Matrix) -> Matrix:
    made = np.zeros((len(texts), weighted.shape[1]), np.float32)
    for n, text in enumerate(texts):
        known = [place[word] for word in _WORD.findall(text.lower()) if word in place]
        made[n] = weighted[known].sum(axis=0) if known else weighted[n % len(weighted)]
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray((made / np.maximum(lengths, 1e-9)).astype(np.float16), np.float32)  # as they are stored


class Bench:
    """The benchmark on one server."""

    def __init__(self, url: str, folder: Path, passages: Passages) -> None:
        self._url = url
        self._folder = folder
        self._passages = passages
        self._embedder = KnownVectors("means of words", passages.vectors.shape[1], "cosine", {})
        chance = np.random.default_rng(3).random(len(passages.sources))
        self._passing = {"all": np.ones(len(chance), bool)}
        self._passing |= {name: chance < share for name, share in SHARES.items()}
        self._passing["other subject"] = np.asarray([source == OTHER_SUBJECT for source in passages.sources])

    async def at(self, size: int) -> Figures:
        settings = Settings.model_validate(
            {"database_url": self._url, "workspace": f"recall-{size}", "project_folder": self._folder}
        )
        async with AsyncTrueweave.open(embedder=self._embedder, settings=settings) as trueweave:
            await self._load(trueweave.workspace, size)
            figures: Figures = {}
            for name in self._passing:
                figures[name] = await self._searched(trueweave.workspace, size, name)
                _tell(f"{size}, {name}: {json.dumps(figures[name])}")
        return figures

    async def _load(self, workspace: Workspace, size: int) -> None:
        where = await vectors.make_space(workspace, self._embedder)
        if (present := await vectors.count_present(workspace, where)) == size:
            return
        for first in range(present, size, _DOCUMENTS_AT_ONCE):
            await self._write(workspace, where, range(first, min(size, first + _DOCUMENTS_AT_ONCE)))
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        began = time.perf_counter()
        await vectors.move_to_own_table(workspace, vectors.MOST_IN_COMMON)
        _tell(f"{size}: indexed in {time.perf_counter() - began:.0f} s")

    async def _write(self, workspace: Workspace, where: Space, which: range) -> None:
        """Documents of one chunk each, and their vectors."""
        async with workspace.transaction(unhurried=True) as tx:
            run = tx.connection.execute
            await run("CREATE TEMP TABLE IF NOT EXISTS came (id uuid, n int, shares text[]) ON COMMIT DELETE ROWS")
            await tx.copy("came", ("uuid", "int4", "text[]"), ((_id(n), n, self._shares(n)) for n in which))
            await run(
                """INSERT INTO document
                    (id, uri, title, content_hash, metadata, places, notes, size, current, visible)
                SELECT id, n::text, n::text, id, jsonb_build_object('share', shares), '[]', '{}', 1, true, true
                FROM came"""
            )
            await run(
                "INSERT INTO facet (document, facet) "
                "SELECT d.id, facets(d.metadata) FROM came JOIN document d USING (id)"
            )
            await run(
                "INSERT INTO chunk (document, id, n, start, tokens, text, text_hash) "
                "SELECT id, id, 0, 0, 1, n::text, id FROM came"
            )
            each = zip(which, self._passages.vectors[which.start : which.stop], strict=True)
            new = [vectors.Vector("chunk", _id(n), _id(n), vectors.half(one)) for n, one in each]
            await vectors.write(tx, where, new, ())

    def _shares(self, n: int) -> list[str]:
        return [name for name, passing in self._passing.items() if name != "all" and passing[n]]

    async def _searched(self, workspace: Workspace, size: int, name: str) -> Figures:
        """Recall, and the time with all that a question does first: the filter is looked up each time."""
        passing = np.flatnonzero(self._passing[name][:size])
        chosen = Filter(metadata={"share": name}) if name != "all" else Filter()
        cache = VectorLayoutCache(workspace)
        found: list[list[float]] = []
        times: list[float] = []
        for is_measured in (False, True):
            for question in self._passages.questions[: None if is_measured else _WARM]:
                began = time.perf_counter()
                [near] = await open_readers(cache, chosen).vectors.nearest("chunk", question[None], LIMIT)
                if is_measured:
                    times.append(1000 * (time.perf_counter() - began))
                    found.append([one.score for one in near])
        right = self._passages.questions @ self._passages.vectors[passing].T
        least = -np.sort(-right, axis=1)[:, :LIMIT]
        hits = [sum(score >= best[-1] - 1e-4 for score in mine) for mine, best in zip(found, least, strict=True)]
        return {
            "passing": len(passing),
            "recall": round(sum(hits) / least.size, 4),
            "worst": round(min(hits) / least.shape[1], 2),
            "p50_ms": p50(times),
            "p95_ms": p95(times),
        }


def _id(n: int) -> UUID:
    return UUID(int=(n + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


async def run(url: str, folder: Path, sizes: Sequence[int], words: int) -> Figures:
    await migrate(url)
    bench = Bench(url, folder, await _passages(folder, SMALL[-1] if words == FEW_WORDS else SIZES[-1], words))
    return {str(size): await bench.at(size) for size in sizes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="two small sizes, to see that it runs; writes nothing")
    parser.add_argument("--sizes", default="", help="sizes to measure, as in 20000,100000; the results of others stay")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    sizes = SMALL if options.smoke else [int(size) for size in options.sizes.split(",") if size] or SIZES
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing) if options.smoke else KEPT
        with served(folder, _SERVER) as server:
            figures = asyncio.run(run(server.url, folder, sizes, FEW_WORDS if options.smoke else WORDS))
    if not options.smoke:
        kept = json.loads(RESULTS.read_text())["sizes"] if options.sizes and RESULTS.exists() else {}
        sizes_ = dict(sorted((kept | figures).items(), key=lambda one: int(one[0])))
        figures = {"searches": _QUESTIONS, "dimensions": 384, "sizes": sizes_}
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
