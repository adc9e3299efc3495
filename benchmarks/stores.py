"""PostgreSQL, Neo4j and Chroma: loading, neighbourhoods and nearest vectors, each beside the bare store.

    python benchmarks/stores.py            # 310,116 triples, 100,000 vectors; writes benchmarks/results/stores.json
    python benchmarks/stores.py --vectors 20000 --triples 100000    # a part, which the results say
    python benchmarks/stores.py --only graph    # or vectors; the figures of the other stay as they are
    python benchmarks/stores.py --smoke    # a few hundred triples, 2,000 vectors; writes nothing

The bare store is the same server, asked by its own driver: for neighbourhoods and by Chroma the same that Trueweave
asks, for PostgreSQL's vectors one plain statement on one table. A question is one call on a reader opened for it, as
each question has; `again` is another call on the same reader, which knows the copy by then. The last line printed is
one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import bare
import corpora
import numpy as np
import psycopg
from asking import KnownVectors, Target, listed, p50, p95
from bare_stores import BareChroma, BareNeo4j, BarePostgres, copy_relations, load_vectors
from numpy.typing import NDArray
from served import served
from watch import Server

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Settings
from trueweave.extend import Embedder, Readers
from trueweave.store.chroma.target import collection_name
from trueweave.store.others import StoreClients
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import ALL
from trueweave.store.postgres.vectors import own_tables, vectors

sys.path.append(str(Path(__file__).parents[1]))

from tests.servers import ChromaServer, Neo4jServer, no_neo4j

Figures = dict[str, Any]
Call = Callable[[int], Awaitable[Sequence[Any]]]
_Sent = tuple[str, dict[str, Any]]

RESULTS = Path(__file__).parent / "results" / "stores.json"
TRIPLES, VECTORS = 310_116, 100_000
DIMENSIONS, CLUSTERS = 384, 200
OF_BARE = 1.5  # the target: a query takes at most so many times as long as through the bare driver
NEAREST = 10
_SHAPES = [(hops, seeds) for hops in (1, 2) for seeds in (10, 100)]


class Bench:
    """A PostgreSQL, a folder for other servers, and how much is loaded and asked."""

    def __init__(
        self, server: Server, folder: Path, triples: int, vectors: int, warm: int, questions: int, *, fast: bool
    ) -> None:
        self._server = server
        self._folder = folder
        self._triples = triples
        self._vectors = vectors
        self._warm = warm  # rounds before those that are measured
        self._questions = questions
        self._fast = fast
        self.targets: list[Target] = []

    # --- vectors ------------------------------------------------------------------------------------------

    # Each vector is that of a document of one short chunk. PostgreSQL has these documents with all that belongs to
    # them, Chroma a copy of what has a vector. The bare ones: one table by COPY and its HNSW index; upserts.
    def vectors(self) -> Figures:
        chroma = ChromaServer(self._folder / "chroma")
        chroma.start()
        try:
            with self._server.database("stores_vectors") as url:
                asyncio.run(migrate(url))
                return asyncio.run(self._on_vectors(url, chroma.url))
        finally:
            chroma.stop()

    async def _on_vectors(self, url: str, chroma_url: str) -> Figures:
        made = _clustered(self._vectors + self._warm + self._questions)
        stored, asked = made[: self._vectors], made[self._vectors :]
        known = {f"Passage {n}.": vector for n, vector in enumerate(stored)}
        embedder = KnownVectors("generated", DIMENSIONS, "cosine", known)
        figures: Figures = {"vectors": len(stored), "dimensions": DIMENSIONS, "clusters": CLUSTERS}
        figures["questions"] = self._questions
        async with _opened(url, embedder, chroma_url=chroma_url, vectors="chroma") as (trueweave, through):
            started = time.perf_counter()
            await trueweave.add_documents(_passages(len(stored)))
            ours = time.perf_counter() - started
            ids = _chunk_ids(url, len(stored))
            halves = stored.astype(np.float16)
            theirs = load_vectors(url, ids, halves)
            pg = figures["postgresql"] = {"load": _loading(len(stored), ours, sum(theirs.values()))}
            pg["load"]["bare"]["hnsw_seconds"] = round(theirs["hnsw"], 1)
            pg["load"]["vectors_in_hnsw"] = await _in_own_table(trueweave, url)
            _tell(f"postgresql: {json.dumps(pg['load'])}")

            started = time.perf_counter()
            await trueweave.projections.catch_up("chroma")
            ours = time.perf_counter() - started
            bare_chroma = BareChroma(chroma_url)
            chroma = figures["chroma"] = {"load": _loading(len(stored), ours, bare_chroma.load(ids, halves))}
            _tell(f"chroma: {json.dumps(chroma['load'])}")

            copy, _ = await projections.live(trueweave.workspace, "chroma")
            assert copy
            collection = bare_chroma.client.get_collection(collection_name(copy, "chunk"), embedding_function=None)
            plain = await BarePostgres.open(url)
            _vacuum(url)
            own = VectorLayoutCache(trueweave.workspace)
            kept: list[Readers] = []

            async def of_postgres(n: int) -> Sequence[UUID]:
                readers = open_readers(own, Filter())
                return [one.item for one in (await readers.vectors.nearest("chunk", asked[n : n + 1], NEAREST))[0]]

            async def of_bare_postgres(n: int) -> Sequence[UUID]:
                return await plain.nearest(vectors.half(asked[n]), NEAREST)

            async def of_chroma(n: int) -> Sequence[UUID]:
                kept[:] = [through(own)]
                return [one.item for one in (await kept[0].vectors.nearest("chunk", asked[n : n + 1], NEAREST))[0]]

            async def again(n: int) -> Sequence[UUID]:
                found = await kept[0].vectors.nearest("chunk", asked[n : n + 1], NEAREST)
                return [one.item for one in found[0]]

            async def of_bare_chroma(n: int) -> Sequence[UUID]:
                found = collection.query(query_embeddings=asked[n : n + 1], n_results=NEAREST, include=["distances"])
                return [UUID(id_) for id_ in found["ids"][0]]

            by_pg = await self._in_turns({"trueweave": of_postgres, "bare": of_bare_postgres})
            by_chroma = await self._in_turns({"trueweave": of_chroma, "again": again, "bare": of_bare_chroma})
            await plain.connection.close()
        exact = _exact(halves, asked[self._warm :].astype(np.float16), ids)
        for store, found in (("postgresql", by_pg), ("chroma", by_chroma)):
            figures[store]["nearest_10"] = self._judged(f"nearest {NEAREST}, {store}", found)
            for name in ("trueweave", "bare"):
                figures[store]["nearest_10"][name]["recall_at_10"] = _recall(found[name][1], exact)
            _tell(f"{store}: {json.dumps(figures[store]['nearest_10'])}")
        return figures

    # --- the graph ----------------------------------------------------------------------------------------

    # Each entity is a document with the triples that begin at it. The bare ones: the same rows by COPY into empty twins
    # of their tables; the same nodes and relationships, without their labels and types, by UNWIND.
    def graph(self) -> Figures:
        problem = no_neo4j()
        if problem:
            print(f"Neo4j is left out: {problem}", file=sys.stderr)
        neo4j = Neo4jServer(self._folder / "neo4j", fast=self._fast)
        if not problem:
            neo4j.start()
        try:
            with self._server.database("stores_graph") as url:
                asyncio.run(migrate(url))
                return asyncio.run(self._on_graph(url, "" if problem else neo4j.url, problem))
        finally:
            if not problem:
                neo4j.stop()

    async def _on_graph(self, url: str, neo4j_url: str, problem: str) -> Figures:
        documents = list(_triples(self._triples))
        triples = sum(len(document.chunks[0].links) for document in documents)
        others = {"neo4j_url": neo4j_url, "graph": "neo4j"} if neo4j_url else {}
        async with _opened(url, None, **others) as (trueweave, through):
            started = time.perf_counter()
            await trueweave.add_documents(documents)
            ours = time.perf_counter() - started
            status = await trueweave.status()
            twins = bare.load_again(url, trueweave.workspace.id)
            figures: Figures = {"triples": triples, "entities": status.entities, "relations": status.relations}
            figures["questions"] = self._questions
            figures["postgresql"] = {"load": _loading(triples, ours, twins["copy"])}
            _tell(f"postgresql: {json.dumps(figures)}")
            _vacuum(url)
            figures["postgresql"] |= await self._neighbourhoods_in_postgres(url, trueweave)
            if not neo4j_url:
                return {**figures, "neo4j": {"note": f"left out: {problem}"}}
            plain = BareNeo4j(neo4j_url)
            started = time.perf_counter()
            await trueweave.projections.catch_up("neo4j")
            ours = time.perf_counter() - started
            nodes, relationships = await plain.counts()
            _tell(f"neo4j has {nodes} nodes and {relationships} relationships after {ours:.1f} s")
            found = await self._neighbourhoods_in_neo4j(url, trueweave, through, plain)
            again, theirs = await plain.load_again()
            assert again == nodes + relationships
            figures["neo4j"] = {
                "nodes": nodes,
                "relationships": relationships,
                "load": _loading(again, ours, theirs),
                **found,
            }
            _tell(f"neo4j: {json.dumps(figures['neo4j']['load'])}")
            await plain.driver.close()
        return figures

    async def _neighbourhoods_in_postgres(self, url: str, trueweave: AsyncTrueweave) -> Figures:
        copy_relations(url)
        plain = await BarePostgres.open(url)
        own = VectorLayoutCache(trueweave.workspace)
        figures: Figures = {}
        for hops, seeds in _SHAPES:
            starts = self._starts(url, seeds)
            statement = search.neighbourhood(hops, ALL.shape)

            async def ours(n: int, hops: int = hops, starts: list[list[UUID]] = starts) -> Sequence[UUID]:
                return await open_readers(own, Filter()).graph.neighbourhood(starts[n], hops)

            async def theirs(n: int, statement: bytes = statement, starts: list[list[UUID]] = starts) -> Sequence[UUID]:
                return await plain.relations(statement, starts[n])

            measured = await self._in_turns({"trueweave": ours, "bare": theirs})
            _check_same(measured)
            figures[_name(hops, seeds)] = self._judged(f"{_name(hops, seeds)}, postgresql", measured)
            _tell(f"postgresql, {_name(hops, seeds)}: {json.dumps(figures[_name(hops, seeds)])}")
        await plain.connection.close()
        return figures

    async def _neighbourhoods_in_neo4j(
        self, url: str, trueweave: AsyncTrueweave, through: Callable[[VectorLayoutCache], Readers], plain: BareNeo4j
    ) -> Figures:
        own = VectorLayoutCache(trueweave.workspace)
        figures: Figures = {}
        kept: list[Readers] = []
        for hops, seeds in _SHAPES:
            starts = self._starts(url, seeds)
            sent = [await _sent(through(own), some, hops) for some in starts]

            async def ours(n: int, hops: int = hops, starts: list[list[UUID]] = starts) -> Sequence[UUID]:
                kept[:] = [through(own)]
                return await kept[0].graph.neighbourhood(starts[n], hops)

            async def again(n: int, hops: int = hops, starts: list[list[UUID]] = starts) -> Sequence[UUID]:
                return await kept[0].graph.neighbourhood(starts[n], hops)

            async def theirs(n: int, sent: list[list[_Sent]] = sent) -> Sequence[UUID]:
                return list(map(UUID, await plain.relations(sent[n])))

            measured = await self._in_turns({"trueweave": ours, "again": again, "bare": theirs})
            _check_same(measured)
            record = [
                await open_readers(own, Filter()).graph.neighbourhood(some, hops) for some in starts[self._warm :]
            ]
            same = sum(a == b for a, b in zip(record, measured["trueweave"][1], strict=True))
            figures[_name(hops, seeds)] = self._judged(f"{_name(hops, seeds)}, neo4j", measured)
            figures[_name(hops, seeds)]["same_as_postgresql"] = round(same / len(record), 3)
            _tell(f"neo4j, {_name(hops, seeds)}: {json.dumps(figures[_name(hops, seeds)])}")
        return figures

    def _starts(self, url: str, seeds: int) -> list[list[UUID]]:
        """For each round the entities that it starts from."""
        with bare.connect(url) as connection:
            entities = [id_ for (id_,) in connection.execute("SELECT id FROM entity ORDER BY id")]
        chance = random.Random(11)
        return [chance.sample(entities, min(seeds, len(entities))) for _ in range(self._warm + self._questions)]

    # --- measuring ----------------------------------------------------------------------------------------

    async def _in_turns(self, calls: dict[str, Call]) -> dict[str, tuple[list[float], list[Sequence[Any]]]]:
        """What each call gave for each question, and the milliseconds; they take turns, and every other round the bare
        one is first. `again` stays behind the one that it repeats."""
        measured: dict[str, tuple[list[float], list[Sequence[Any]]]] = {name: ([], []) for name in calls}
        for n in range(self._warm + self._questions):
            for name in sorted(calls, key=lambda name: (name == "bare") == bool(n % 2)):
                started = time.perf_counter()
                found = await calls[name](n)
                if n >= self._warm:
                    measured[name][0].append(1000 * (time.perf_counter() - started))
                    measured[name][1].append(found)
        return measured

    def _judged(self, what: str, measured: dict[str, tuple[list[float], list[Sequence[Any]]]]) -> Figures:
        figures: Figures = {name: {"p50_ms": p50(ms), "p95_ms": p95(ms)} for name, (ms, _) in measured.items()}
        bare_ms = measured["bare"][0]
        ratio = round(p50(measured["trueweave"][0]) / p50(bare_ms), 2)
        if "again" in measured:
            figures["again"]["ratio"] = round(p50(measured["again"][0]) / p50(bare_ms), 2)
        self.targets.append(target := Target(f"{what}, of the bare driver's time", OF_BARE, ratio))
        return {**figures, "ratio": ratio, "met": target.is_met}


@asynccontextmanager
async def _opened(
    url: str, embedder: Embedder | None, **others: str
) -> AsyncIterator[tuple[AsyncTrueweave, Callable[[VectorLayoutCache], Readers]]]:
    """A workspace, and what opens readers for a question as its settings say."""
    settings = Settings.model_validate({"database_url": url, "workspace": "stores", "graph_vectors": True, **others})
    clients = StoreClients()
    async with AsyncTrueweave.open(embedder=embedder, settings=settings) as trueweave:

        def through(own: VectorLayoutCache) -> Readers:
            return clients.readers(settings, trueweave.workspace, open_readers(own, Filter()))

        yield trueweave, through
    await clients.aclose()


async def _sent(readers: Readers, entities: Sequence[UUID], hops: int) -> list[_Sent]:
    """The statements that Neo4j is sent for a neighbourhood, one for each hop, with their parameters."""
    client = readers.graph._client  # type: ignore[attr-defined]  # noqa: SLF001
    with patch.object(client, "rows", wraps=client.rows) as rows:
        await readers.graph.neighbourhood(entities, hops)
    return [(call.args[0], dict(call.kwargs)) for call in rows.call_args_list if "entities" in call.kwargs]


def _triples(most: int) -> Iterator[Document]:
    """Freebase's entities with their triples, up to so many."""
    left = most
    for document in corpora.freebase():
        [chunk] = document.chunks
        yield replace(document, chunks=(replace(chunk, links=chunk.links[:left]),))
        left -= min(left, len(chunk.links))
        if not left:
            return


def _passages(count: int) -> Iterator[Document]:
    return (Document(f"vectors/{n}", (Chunk(f"Passage {n}."),)) for n in range(count))


def _clustered(count: int) -> NDArray[np.float32]:
    """Unit vectors around some centres."""
    chance = np.random.default_rng(13)
    centres = chance.standard_normal((CLUSTERS, DIMENSIONS))
    made = centres[chance.integers(CLUSTERS, size=count)] + 0.8 * chance.standard_normal((count, DIMENSIONS))
    unit: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _exact(stored: NDArray[np.float16], asked: NDArray[np.float16], ids: Sequence[UUID]) -> list[set[UUID]]:
    """The nearest of each, by comparing with all of them."""
    whole = stored.astype(np.float32)
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    return [{ids[n] for n in np.argsort(-(whole @ one))[:NEAREST]} for one in asked.astype(np.float32)]


def _recall(found: Sequence[Sequence[UUID]], exact: Sequence[set[UUID]]) -> float:
    return round(
        sum(len(best & set(some)) for some, best in zip(found, exact, strict=True)) / (NEAREST * len(exact)), 3
    )


def _loading(rows: int, ours: float, theirs: float) -> Figures:
    return {
        "rows": rows,
        "trueweave": {"seconds": round(ours, 1), "rows_per_second": round(rows / ours)},
        "bare": {"seconds": round(theirs, 1), "rows_per_second": round(rows / theirs)},
        "ratio": round(ours / theirs, 2),
    }


def _check_same(measured: dict[str, tuple[list[float], list[Sequence[Any]]]]) -> None:
    for n, (ours, theirs) in enumerate(zip(measured["trueweave"][1], measured["bare"][1], strict=True)):
        if set(ours) != set(theirs):
            raise RuntimeError(f"in round {n} Trueweave found {len(ours)} relations, the bare statement {len(theirs)}")


def _chunk_ids(url: str, count: int) -> list[UUID]:
    """The chunks in the order of their vectors."""
    with bare.connect(url) as connection:
        rows = connection.execute("SELECT d.uri, c.id FROM chunk c JOIN document d ON d.id = c.document").fetchall()
    of = {int(uri.rpartition("/")[2]): id_ for uri, id_ in rows}
    return [of[n] for n in range(count)]


async def _in_own_table(trueweave: AsyncTrueweave, url: str) -> int:
    """How many vectors are in the table with the HNSW index; the others are compared one by one."""
    async with trueweave.workspace.transaction() as tx:
        space = await vectors.space(tx)
        assert space
        own = (await own_tables.find(tx, space)).current.get("chunk")
    with bare.connect(url) as connection:
        counted = connection.execute(f"SELECT count(*) FROM {own.name}").fetchone() if own else (0,)
    assert counted
    return int(counted[0])


def _vacuum(url: str) -> None:
    """What autovacuum would do within minutes, so that it does not run meanwhile."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def _name(hops: int, seeds: int) -> str:
    return f"{hops}_hop{'s' if hops > 1 else ''}_from_{seeds}"


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few hundred triples and 2,000 vectors; writes nothing")
    parser.add_argument("--only", choices=("graph", "vectors"), help="one part; the figures of the other stay")
    parser.add_argument("--triples", type=int, default=TRIPLES, help="how many of Freebase's")
    parser.add_argument("--vectors", type=int, default=VECTORS, help="how many are generated")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    sizes = (300, 2000, 2, 5) if options.smoke else (options.triples, options.vectors, 15, 100)
    full = {"triples": TRIPLES, "vectors": VECTORS}
    figures: Figures = json.loads(RESULTS.read_text()) if options.only else {}
    figures |= {"full_size": full, "processors": os.cpu_count()}
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        bench = Bench(Server(server.url, server.directory), Path(root), *sizes, fast=not options.smoke)
        for name, part in (("vectors", bench.vectors), ("graph", bench.graph)):
            if options.only in (None, name):
                print(name, file=sys.stderr)
                started, busy = time.perf_counter(), round(os.getloadavg()[0], 1)
                figures[name] = {"load_before": busy, **part(), "targets": listed(bench.targets)}
                print(f"  took {time.perf_counter() - started:.0f} s", file=sys.stderr)
                for target in bench.targets:
                    print(target, file=sys.stderr)
                bench.targets.clear()
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
