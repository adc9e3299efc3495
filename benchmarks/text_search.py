"""What text search finds beside bm25s, and what it costs as a workspace grows.

    python benchmarks/text_search.py            # full size: ten minutes; writes benchmarks/results/text_search.json
    python benchmarks/text_search.py --smoke    # a hundredth of the size; writes nothing
    python benchmarks/text_search.py --only b

The last line printed is one JSON object with all figures. Their meaning is told beside each part below.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple
from uuid import UUID

import bm25s  # type: ignore[import-untyped]
import corpora
import psutil
import psycopg
import Stemmer  # type: ignore[import-not-found]
from served import served

from trueweave import AsyncTrueweave, Chunk, Document
from trueweave.extend import Database
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.schema.migrate import migrate

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "text_search.json"
K1, B = 1.2, 0.75
ASKED = 300  # questions for each figure of time
TURNS = 4  # how often each of them is asked once all is warm; its fastest answer counts
TABLES = ("bm25_index", "word", "corpus")


class Question(NamedTuple):
    """A question, and the places of the passages that answer it."""

    text: str
    supporting: frozenset[int]


def benchmark(folder: str) -> tuple[list[str], list[Question]]:
    """The passages of a question set, and its questions without those that its README says to leave out."""
    rows = list(corpora.rows(f"{folder}/corpus"))
    places = {row["id"]: place for place, row in enumerate(rows)}
    questions = [
        Question(row["question"], frozenset(places[id_] for id_ in row["supporting"]))
        for row in corpora.rows(f"{folder}/questions")
        if row.get("gold_complete", True) and "AMOR" not in row.get("source", "")
    ]
    return [f"{row['title']}\n{row['text']}" for row in rows], questions


class Bench:
    """One database for all parts, and the size at which they run (1 = full)."""

    def __init__(self, url: str, smoke: bool) -> None:
        self._url = url
        self._smoke = smoke

    # (a) How many of a question's passages are among the first five, in per cent, beside bm25s with the stemmer and the
    # stop words that it recommends.
    async def a_recall(self, database: Database) -> Figures:
        figures: Figures = {}
        for name in ("hotpotqa_train100",) if self._smoke else ("musique", "twowiki", "hotpotqa"):
            texts, questions = benchmark(name)
            trueweave = await AsyncTrueweave.enter(database, f"a {name}")
            await _add(trueweave, texts)
            mine = [await _search(trueweave, question.text, 5) for question in questions]
            theirs = _bm25s(texts, [question.text for question in questions])
            figures[name] = {
                "questions": len(questions),
                "passages": len(texts),
                "recall_at_5": _recall(mine, questions),
                "bm25s_recall_at_5": _recall(theirs, questions),
            }
            await trueweave.maintenance.drop()
        return figures

    # (b) Milliseconds for ten chunks, of the SQL function alone, in workspaces of 2,000, 20,000 and 200,000 real
    # passages, for real questions and for some words of a random passage each. Growth is that of the server's processor
    # time, the mean over all questions, as the clock tells more of who else uses the machine. `same_best` is how many
    # of the ten are as good as they would be if every chunk were weighed. Beside it how long it takes to add the
    # passages, what of it is for text search, and the room that this takes on disk.
    async def b_growth(self, database: Database) -> Figures:
        sizes = (200, 2000) if self._smoke else (2000, 20_000, 200_000)
        texts = list(islice(corpora.passages(), 4000 if self._smoke else None))
        random.Random(0).shuffle(texts)
        chance = random.Random(1)
        made = [_some_words(chance.choice(texts), chance) for _ in range(ASKED)]
        real = [question.text for question in benchmark("hotpotqa_train100" if self._smoke else "hotpotqa")[1]][:ASKED]
        figures: Figures = {}
        for size in sizes:
            trueweave = await AsyncTrueweave.enter(database, f"b {size}")
            self._tidy()
            before = self._bytes()
            seconds = await _add(trueweave, texts[:size])
            taken = self._bytes() - before
            figures[f"{size}_chunks"] = {
                "real_questions": await _timed(trueweave, real),
                "random_words": await _timed(trueweave, made),
                "seconds_to_add": round(seconds, 1),
                "ms_per_chunk_for_text_search": await _indexing(trueweave, texts[:size]),
                "megabytes": round(taken / 1e6, 1),
            }
            print(f"  {size}: {json.dumps(figures[f'{size}_chunks'])}", file=sys.stderr)
            await trueweave.maintenance.drop()
        for kind in ("real_questions", "random_words"):
            spent = [figures[f"{size}_chunks"][kind]["server_cpu_ms"] for size in sizes]
            figures[f"growth_{kind}"] = [round(b / a, 2) for a, b in pairwise(spent)]
        return figures

    def _tidy(self) -> None:
        """Take away what dropped workspaces left behind, or a new one would seem to need no room."""
        with psycopg.connect(self._url, autocommit=True) as owner:
            owner.execute("VACUUM FULL trueweave.bm25_index, trueweave.word, trueweave.corpus")

    def _bytes(self) -> int:
        with psycopg.connect(self._url, autocommit=True) as owner:
            [row] = owner.execute(
                "SELECT sum(pg_total_relation_size(('trueweave.' || t)::regclass)) FROM unnest(%s::text[]) t",
                (list(TABLES),),
            ).fetchall()
            return int(row[0])


async def _add(trueweave: AsyncTrueweave, texts: Sequence[str]) -> float:
    """Add a document for each text, named by its place; how many seconds that took."""
    started = time.perf_counter()
    await trueweave.add_documents(Document(f"{place}", (Chunk(text),)) for place, text in enumerate(texts))
    return time.perf_counter() - started


async def _search(trueweave: AsyncTrueweave, question: str, most: int) -> list[int]:
    """The places of the texts that answer best."""
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        rows = await tx.execute(
            "SELECT d.uri FROM search_text(%(question)s, %(most)s, %(k1)s, %(b)s, NULL) s"
            " JOIN chunk c ON c.id = s.chunk JOIN document d ON d.id = c.document ORDER BY s.score DESC, s.chunk",
            {"question": question, "most": most, "k1": K1, "b": B},
        )
        return [int(uri) for (uri,) in await rows.fetchall()]


def _bm25s(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    how = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    retriever = bm25s.BM25(k1=K1, b=B)
    retriever.index(bm25s.tokenize(list(texts), **how), show_progress=False)
    found, _ = retriever.retrieve(bm25s.tokenize(list(questions), **how), k=5, show_progress=False)
    return [list(map(int, places)) for places in found]


def _recall(found: Sequence[Sequence[int]], questions: Sequence[Question]) -> float:
    each = (
        len(q.supporting.intersection(places)) / len(q.supporting) for places, q in zip(found, questions, strict=True)
    )
    return round(100 * mean(each), 2)


async def _timed(trueweave: AsyncTrueweave, questions: Sequence[str]) -> Figures:
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        server = psutil.Process(tx.connection.info.backend_pid)
        times = [[await _milliseconds(tx, question) for question in questions]]
        spent = -sum(server.cpu_times()[:2])
        times += [[await _milliseconds(tx, question) for question in questions] for _ in range(TURNS)]
        spent += sum(server.cpu_times()[:2])
        best = sorted(map(min, zip(*times, strict=True)))
        every = [id_ for (id_,) in await (await tx.execute("SELECT id FROM document")).fetchall()]
        some = questions[:: 1 + len(every) // 20_000]  # to weigh every chunk takes seconds where there are many
        good = [_as_good(await _ten(tx, question), await _ten(tx, question, every)) for question in some]
    return {
        "server_cpu_ms": round(1000 * spent / (TURNS * len(questions)), 2),
        "p50_ms": round(median(best), 2),
        "p95_ms": round(best[int(0.95 * len(best))], 2),
        "same_best": round(mean(good), 4),
    }


async def _milliseconds(tx: Transaction, question: str) -> float:
    started = time.perf_counter()
    await _ten(tx, question)
    return 1000 * (time.perf_counter() - started)


async def _ten(tx: Transaction, question: str, scope: list[UUID] | None = None) -> list[float]:
    """The scores of the ten chunks that answer best."""
    rows = await tx.execute(
        "SELECT score FROM search_text(%(question)s, 10, %(k1)s, %(b)s, %(scope)s)",
        {"question": question, "k1": K1, "b": B, "scope": scope},
    )
    return [score for (score,) in await rows.fetchall()]


def _as_good(found: Sequence[float], best: Sequence[float]) -> float:
    return sum(a > b - 1e-9 for a, b in zip(found, best, strict=False)) / len(best) if best else 1.0


async def _indexing(trueweave: AsyncTrueweave, texts: Sequence[str]) -> float:
    """Milliseconds for each of up to 1,000 chunks more, of the statement in settling that makes them searchable."""
    added = [Document(f"again/{place}", (Chunk(text),)) for place, text in enumerate(texts[:1000])]
    await trueweave.add_documents(added)
    async with trueweave.workspace.transaction() as tx:
        query = "SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.uri LIKE 'again/%%'"
        ids = [id_ for (id_,) in await (await tx.execute(query, {})).fetchall()]
        await tx.run("text.index", coming=[], going=ids)
        started = time.perf_counter()
        for first in range(0, len(ids), 256):
            await tx.run("text.index", coming=ids[first : first + 256], going=[])
        return round(1000 * (time.perf_counter() - started) / len(ids), 3)


def _some_words(text: str, chance: random.Random) -> str:
    words = text.split()
    return " ".join(chance.sample(words, min(len(words), chance.randint(3, 10))))


async def run(url: str, smoke: bool, only: str) -> Figures:
    await migrate(url)
    bench = Bench(url, smoke)
    figures: Figures = {}
    async with Database(url) as database:
        for name, part in {"a": bench.a_recall, "b": bench.b_growth}.items():
            if not only or name in only:
                print(f"({name}) {part.__name__}", file=sys.stderr)
                started = time.perf_counter()
                figures[name] = await part(database)
                print(f"  took {time.perf_counter() - started:.0f} s: {json.dumps(figures[name])}", file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the size, to see that it runs")
    parser.add_argument("--only", default="", help="parts to run, as in a,b; results are not written then")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        figures = asyncio.run(run(server.url, options.smoke, options.only))
    if not options.smoke and not options.only:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
