"""What the index costs: loading, deleting, hubs, resolving, searching, each beside a yardstick in the same run.

    python benchmarks/index.py            # full size: about an hour; writes benchmarks/results/index.json
    python benchmarks/index.py --smoke    # the same at a hundredth of the size; writes nothing
    python benchmarks/index.py --only c,d

The last line printed is one JSON object with all figures. Their meaning is told beside each part below.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from string import ascii_lowercase
from typing import Any
from unittest.mock import patch

import bare
import corpora
import numpy as np

from trueweave import AsyncTrueweave, Chunk, Document, Event, Link, Mention, Settings, Source
from trueweave.events import Extracted
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.store.embedded import EmbeddedServer
from trueweave.store.postgres.record import record, resolution
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder
from trueweave.types import Resolution

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "index.json"


class Bench:
    """One database for all parts, and the size at which they run (1 = full)."""

    def __init__(self, url: str, size: float) -> None:
        self.url = url
        self.size = size

    def of(self, full: int, least: int = 10) -> int:
        return max(least, int(full * self.size))

    async def workspace(self, database: Database, name: str, dimensions: int | None = None) -> AsyncTrueweave:
        embedder = HashEmbedder(dimensions) if dimensions else None
        return await AsyncTrueweave.enter(database, name, embedder, settings=Settings(graph_vectors=True))

    # (a) Documents a second for passages with real triples, beside the same rows by COPY and HNSW build.
    async def a_load(self) -> Figures:
        documents = corpora.musique_train100()[: self.of(1890, 100)]
        runs = []
        async with Database(self.url) as database:
            for run in range(3):
                trueweave = await self.workspace(database, f"a{run}", 384)
                started = time.perf_counter()
                await trueweave.add_documents(documents)
                seconds = time.perf_counter() - started
                twin = bare.load_again(self.url, trueweave.workspace.id)
                runs.append((seconds, twin["copy"] + twin["hnsw"], twin["copy"]))
                status = await trueweave.status()
                await trueweave.maintenance.drop()
        seconds, bare_seconds, copy_seconds = (median(column) for column in zip(*runs, strict=True))
        return {
            "documents": len(documents),
            "entities": status.entities,
            "relations": status.relations,
            "documents_per_second": round(len(documents) / seconds, 1),
            "bare_documents_per_second": round(len(documents) / bare_seconds, 1),
            "bare_copy_only_documents_per_second": round(len(documents) / copy_seconds, 1),
            "of_bare": round(median(theirs / ours for ours, theirs, _ in runs), 2),
        }

    # (b) Everything in scale/*, through the normal path, by a process of its own: how fast, and in how much memory.
    # (c) Halfway, at 100,000 documents: deleting one, beside deleting the same one from an index of 1,000.
    async def b_scale(self) -> Figures:
        context = multiprocessing.get_context("spawn")
        answers: Any = context.Queue()
        process = context.Process(target=_load_scale, args=(self.url, self.size, answers), daemon=True)
        process.start()
        figures: Figures = await asyncio.to_thread(answers.get)
        process.join()
        return figures

    # (d) One more mention of an entity that has 100,000, beside one more of an entity that has 10.
    async def d_hub(self) -> Figures:
        async with Database(self.url) as database:
            trueweave = await self.workspace(database, "d", 64)
            sizes = {"Hub": self.of(100_000, 1000), "Small": 10}
            for name, times in sizes.items():
                await trueweave.add_documents(_mentioning(name, times))
            milliseconds: dict[str, list[float]] = {name: [] for name in sizes}
            for number in range(self.of(40, 5)):
                for name in sizes:
                    said = Mention(name, description=f"Seen again, number {number}."), Mention(f"Other {number}")
                    link = Link(name, f"Other {number}", "stands beside")
                    document = Document(f"more/{name}/{number}", (Chunk("One more.", mentions=said, links=(link,)),))
                    milliseconds[name].append(await _milliseconds(trueweave.add_documents([document])))
            await trueweave.maintenance.drop()
        hub, small = median(milliseconds["Hub"]), median(milliseconds["Small"])
        return {
            "mentions_of_hub": sizes["Hub"],
            "hub_ms": round(hub, 1),
            "small_ms": round(small, 1),
            "ratio": round(hub / small, 2),
        }

    # (e) Resolving 1,000 new names (half of them misspellings of known ones) against more and more known ones.
    async def e_resolve(self) -> Figures:
        figures: Figures = {}
        names = corpora.person_names(seed=1)
        known: list[str] = []
        async with Database(self.url) as database:
            trueweave = await self.workspace(database, "e")
            for target in (self.of(10_000, 1000), self.of(100_000, 2000), self.of(1_000_000, 4000)):
                more = list(islice(names, target - len(known)))
                await trueweave.add_documents(_mentioning_all(more, f"known/{target}"))
                known += more
                tries = [await self._resolve_thousand(trueweave, known, round_) for round_ in range(5)]
                found = tries[0][1]
                figures[f"{target}_names"] = {"ms_per_name": round(median(ms for ms, _ in tries), 3), "pairs": found}
            await trueweave.maintenance.drop()
        first, last = (figures[name]["ms_per_name"] for name in (next(iter(figures)), next(reversed(figures))))
        return {**figures, "growth": round(last / first, 2)}

    async def _resolve_thousand(self, trueweave: AsyncTrueweave, known: list[str], round_: int) -> tuple[float, int]:
        chosen = random.Random(round_)
        strangers = corpora.person_names(seed=100 + round_)
        new = [_misspelt(name, chosen) for name in chosen.sample(known, 500)] + list(islice(strangers, 500))
        await record.store(trueweave.workspace, [contribution(d) for d in _mentioning_all(new, f"new/{round_}")])
        async with trueweave.workspace.transaction() as tx:
            ids = [id_ for (id_,) in await (await tx.execute("SELECT name FROM pending_match")).fetchall()]
        started = time.perf_counter()
        pairs = await resolution.find_alike(trueweave.workspace, ids)
        seconds = time.perf_counter() - started
        await record.withdraw(trueweave.workspace, [f"new/{round_}/0"])
        await trueweave.maintenance.settle()
        await trueweave.maintenance.sweep()
        return 1000 * seconds / len(ids), pairs

    # (g) One file of 2.4 MB with 200,000 distinct names, by the capitals extractor, and twelve small documents that are
    # added while the large one is settled. Resolving is finding the names that are alike.
    async def g_names(self) -> Figures:
        modes: tuple[Resolution, ...] = ("exact", "fuzzy")
        return {mode: await self._many_names(mode, self.of(200_000, 2000)) for mode in modes}

    async def _many_names(self, mode: Resolution, names: int) -> Figures:
        settings = Settings(extractor="capitals", resolution=mode)
        resolving = Timed(resolution.find_alike)
        extracted = asyncio.Event()

        def listen(event: Event) -> None:
            if isinstance(event, Extracted):
                extracted.set()

        async with Database(self.url) as database, Database(self.url) as another:
            trueweave = await AsyncTrueweave.enter(database, f"g {mode}", settings=settings)
            beside = await AsyncTrueweave.enter(another, f"g {mode}", settings=settings)
            with patch.object(resolution, "find_alike", resolving):
                started = time.perf_counter()
                adding = asyncio.create_task(trueweave.add(Source("large", _made_up_names(names)), listener=listen))
                await extracted.wait()
                small = [Source(f"small/{n}", f"Ada Lovelace met Number{chr(65 + n)} there.") for n in range(12)]
                others = await _milliseconds(beside.add(*small))
                passed = not adding.done()
                await adding
                seconds = time.perf_counter() - started
            entities = (await trueweave.status()).entities
            await beside.aclose()
            await trueweave.aclose()
            await trueweave.maintenance.drop()
        return {
            "names": names,
            "entities": entities,
            "seconds": round(seconds, 1),
            "ms_per_name": round(1000 * seconds / names, 3),
            "ms_per_name_for_resolving": round(1000 * resolving.seconds / names, 3),
            "seconds_of_twelve_small_documents": round(others / 1000, 1),
            "small_ones_passed_by": passed,
        }

    # (f) The ten nearest chunks in workspaces that hold 0.1, 1, 10 and 90 % of 200,000 vectors, beside plain SQL.
    async def f_search(self) -> Figures:
        texts = list(islice(corpora.passages(), self.of(200_000, 2000) + 200))
        random.Random(0).shuffle(texts)
        asked, texts = texts[:100], texts[200:]
        shares = {"0.1%": 0.001, "1%": 0.01, "10%": 0.1, "90%": 0.889}
        embedder = HashEmbedder(384)
        queries = [vectors.half(v) for v in await embedder.embed(asked, "query")]
        figures: Figures = {}
        async with Database(self.url) as database:
            trueweaves: dict[str, AsyncTrueweave] = {}
            for share, part in shares.items():
                trueweaves[share] = trueweave = await self.workspace(database, f"f {share}", 384)
                mine, texts = (
                    texts[: int(len(texts) * part) + 1],
                    texts[int(len(texts) * part) + 1 :] if part < 0.5 else [],
                )
                started = time.perf_counter()
                await trueweave.add_documents(Document(f"{n}", (Chunk(text),)) for n, text in enumerate(mine))
                print(f"  {share}: {len(mine)} vectors in {time.perf_counter() - started:.0f} s", file=sys.stderr)
            shelf = bare.Shelf(self.url, [trueweave.workspace.id for trueweave in trueweaves.values()])
            for share, trueweave in trueweaves.items():
                figures[share] = await _search(trueweave, shelf, queries)
                await trueweave.maintenance.drop()
            shelf.close()
        return figures


async def _search(trueweave: AsyncTrueweave, shelf: bare.Shelf, queries: Sequence[Any]) -> Figures:
    truth, exact_ms = shelf.search("exact", trueweave.workspace.id, queries)
    filtered, filtered_ms = shelf.search("filtered hnsw", trueweave.workspace.id, queries)
    found: list[list[float]] = []
    times: list[float] = []
    for query in queries:
        vector = np.array(query.to_list(), dtype=np.float32)
        started = time.perf_counter()
        hits = await trueweave.graph.nearest("chunk", vector, 10)
        times.append(time.perf_counter() - started)
        found.append([hit.distance for hit in hits])
    ways = {"exact": (1.0, exact_ms), "filtered hnsw": (_recall(filtered, truth), filtered_ms)}
    best = min((ms, way) for way, (recall, ms) in ways.items() if recall >= 0.95)
    status = await trueweave.status()
    return {
        "vectors": status.chunks,
        "recall_at_10": round(_recall(found, truth), 4),
        "p50_ms": round(1000 * median(times), 2),
        "bare_best_p50_ms": round(best[0], 2),
        "bare_best_way": best[1],
        "bare_exact_p50_ms": round(exact_ms, 2),
        "bare_filtered_hnsw": {"recall_at_10": round(_recall(filtered, truth), 4), "p50_ms": round(filtered_ms, 2)},
    }


def _recall(found: Sequence[Sequence[float]], truth: Sequence[Sequence[float]]) -> float:
    """How many of the ten nearest were found; of several at the same distance, any will do."""
    hits = sum(sum(d <= right[-1] + 1e-6 for d in mine) for mine, right in zip(found, truth, strict=True) if right)
    return hits / sum(map(len, truth))


def _load_scale(url: str, size: float, answers: Any) -> None:
    answers.put(asyncio.run(_scale(Bench(url, size))))


async def _scale(bench: Bench) -> Figures:
    halfway, small = bench.of(100_000, 1500), bench.of(1000, 300)
    limit = bench.of(195_636, 2000)
    async with Database(bench.url) as database:
        little = await bench.workspace(database, "c little", 64)
        await little.add_documents(islice(corpora.wordnet(), small))
        trueweave = await bench.workspace(database, "b", 64)
        documents = corpora.scale()
        started = time.perf_counter()
        await trueweave.add_documents(islice(documents, halfway), _ticker("b"))
        loading = time.perf_counter() - started
        deleting = await _delete_same(little, trueweave, small, bench.of(40, 5))
        started = time.perf_counter()
        await trueweave.add_documents(islice(documents, max(0, limit - halfway)), _ticker("b"))
        loading += time.perf_counter() - started
        status = await trueweave.status()
        links = 0
        async with trueweave.workspace.transaction() as tx:
            row = await (await tx.execute("SELECT count(*) FROM link")).fetchone()
            links = row[0] if row else 0
        await trueweave.maintenance.drop()
        await little.maintenance.drop()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "b": {
            "documents": status.documents,
            "edges": links,
            "entities": status.entities,
            "relations": status.relations,
            "seconds": round(loading),
            "documents_per_second": round(status.documents / loading),
            "edges_per_second": round(links / loading),
            "client_peak_mb": round(peak),
        },
        "c": {"documents": [small, halfway], **deleting},
    }


async def _delete_same(little: AsyncTrueweave, large: AsyncTrueweave, among: int, times: int) -> Figures:
    """Delete the same documents from both, one at a time and by turns; they are put back afterwards."""
    chosen = random.Random(3).sample(range(among), times)
    picked = set(chosen)
    back = [d for n, d in enumerate(islice(corpora.wordnet(), among)) if n in picked]
    milliseconds: dict[AsyncTrueweave, list[float]] = {little: [], large: []}
    for document in back:
        for trueweave in (little, large):
            milliseconds[trueweave].append(await _milliseconds(trueweave.remove([document.uri])))
    await large.add_documents(back)
    a, b = median(milliseconds[little]), median(milliseconds[large])
    return {"little_ms": round(a, 1), "large_ms": round(b, 1), "ratio": round(b / a, 2)}


def _mentioning(name: str, times: int) -> Iterable[Document]:
    """Documents that mention one name so often, saying something else each time."""
    for start in range(0, times, 500):
        said = tuple(
            Mention(name, description=f"Seen for the {n}th time.") for n in range(start, min(times, start + 500))
        )
        yield Document(f"{name}/{start}", (Chunk(f"{name} at {start}", mentions=said),))


def _mentioning_all(names: Sequence[str], where: str) -> Iterable[Document]:
    for start in range(0, len(names), 1000):
        said = tuple(map(Mention, names[start : start + 1000]))
        yield Document(f"{where}/{start}", (Chunk(f"{where} {start}", mentions=said),))


def _misspelt(name: str, chosen: random.Random) -> str:
    at = chosen.randrange(len(name))
    return name[:at] + chosen.choice("aeiou") + name[at:]


async def _milliseconds(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - started)


def _ticker(part: str) -> Callable[[int], None]:
    """Tells a waiting person how far it got, every 10,000 documents."""
    done, started = 0, time.perf_counter()

    def tick(more: int) -> None:
        nonlocal done
        if done // 10_000 != (done + more) // 10_000:
            rate = (done + more) / (time.perf_counter() - started)
            print(f"  {part}: {done + more} documents, {rate:.0f} a second", file=sys.stderr)
        done += more

    return tick


class Timed:
    """A function that is awaited, and how many seconds that has taken."""

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self.seconds = 0.0
        self._function = function

    async def __call__(self, *args: Any) -> Any:
        started = time.perf_counter()
        try:
            return await self._function(*args)
        finally:
            self.seconds += time.perf_counter() - started


def _made_up_names(number: int) -> str:
    """A text with so many distinct names, of twelve characters for each."""
    chosen = random.Random(number)
    names: dict[str, None] = {}
    while len(names) < number:
        names["".join(chosen.choices(ascii_lowercase, k=7)).capitalize()] = None
    return " met ".join(names)


async def run(bench: Bench, only: str) -> Figures:
    await migrate(bench.url)
    parts: dict[str, Callable[[], Awaitable[Figures]]] = {
        "a": bench.a_load,
        "b": bench.b_scale,
        "d": bench.d_hub,
        "e": bench.e_resolve,
        "f": bench.f_search,
        "g": bench.g_names,
    }
    figures: Figures = {}
    for name, part in parts.items():
        if not only or name in only.replace("c", "b"):
            print(f"({name}) {part.__name__}", file=sys.stderr)
            started = time.perf_counter()
            answer = await part()
            figures |= answer if name == "b" else {name: answer}
            print(f"  took {time.perf_counter() - started:.0f} s: {json.dumps(answer)}", file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the size, to see that it runs")
    parser.add_argument("--only", default="", help="parts to run, as in a,d; the others' results stay")
    parser.add_argument("--database-url", help="a PostgreSQL to use in place of a bundled one of its own")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(Path(root, "server"))
        url = options.database_url or server.start()
        try:
            figures = asyncio.run(run(Bench(url, 0.01 if options.smoke else 1.0), options.only))
        finally:
            server.stop()
    if not options.smoke:
        before = json.loads(RESULTS.read_text()) if options.only and RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(before | figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
