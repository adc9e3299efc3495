"""Look-ups stay look-ups, also in a workspace that the planner's statistics have never seen.

A regression: with statistics on the workspace column, the planner took a new workspace to have one row, read all its
rows for every key, and a load became quadratic.
"""

import re
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.integration.index.test_settle import document, store
from trueweave import AsyncTrueweave, Chunk, Document, Link, Source
from trueweave.extend import Database
from trueweave.store.postgres.binary_params import Numbers, array
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.record.sources import submit
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import ALL, ConditionShape, FilterShape
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.view.graph_lookups import GraphLookups
from trueweave.store.postgres.view.read import DocumentSelection
from trueweave.testing import Databases, HashEmbedder

LOOK_UPS = {
    "settle.pending_matches": ("documents", "dirty_names"),
    "settle.name_deltas": ("documents", "signs"),
    "settle.name_pair_deltas": ("documents", "signs"),
    "settle.chunk_changes": ("documents", "signs"),
    "settle.names": ("names",),
    "settle.neighbours": ("names",),
    "settle.members": ("entities",),
    "settle.alike": ("names",),
    "settle.entities": ("entities",),
    "settle.name_pairs": ("sources", "targets"),
    "settle.name_pairs_of_names": ("names",),
    "settle.name_pairs_of_relations": ("relations",),
    "settle.relations": ("relations",),
    "resolve.candidates": ("keys", "who", "masks", "most"),
    "record.lock_versions": ("uris",),
    "record.forget_invisible": ("uris", "keep"),
    "record.unset_current": ("uris", "keep"),
    "source.in_record": ("uris", "ids", "made"),
    "source.in_queue": ("uris", "ids"),
    "source.begin": ("uris", "ids"),
    "source.finish": ("uris", "ids"),
    "source.withdraw": ("uris",),
    "settle.due_versions": ("uris",),
    "link.changed": ("documents", "gone"),
    "link.phrases": ("phrases",),
    "link.texts": ("chunks",),
    "link.longest": ("firsts",),
    "link.known": ("phrases",),
}


def documents(prefix: str, count: int) -> Any:
    for n in range(count):
        name = f"{prefix} {n:04d}"
        yield document(f"{prefix}/{n}", name, links=[Link(name, f"{prefix} {n // 2:04d}", "follows")])


@pytest.fixture(scope="module")
async def filled(databases: Databases) -> AsyncIterator[str]:
    """A database with two workspaces, of which one came after the statistics were made."""
    url = databases.make()
    async with Database(url) as database:
        known = await AsyncTrueweave.enter(database, "known", HashEmbedder(8))
        await known.add_documents(documents("Known", 600))
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("ANALYZE")
        stranger = await AsyncTrueweave.enter(database, "stranger", HashEmbedder(8))
        await stranger.add_documents(documents("Strange", 600))
        await store(stranger, *documents("Waiting", 400))
        for some in (known, stranger):
            texts = [Source(f"Handed/{n}", f"text {n}") for n in range(600)]
            await submit(some.workspace, texts, "{}")
    yield url
    databases.drop(url)


@pytest.fixture
async def copy(databases: Databases, filled: str) -> AsyncIterator[str]:
    url = databases.make(like=filled)
    yield url
    databases.drop(url)


@pytest.fixture
async def stranger(copy: str) -> AsyncIterator[AsyncTrueweave]:
    """A workspace that came after the statistics were made."""
    async with Database(copy) as database:
        yield await AsyncTrueweave.enter(database, "stranger", HashEmbedder(8))


async def _some(tx: Transaction, query: str, parameter: str) -> Any:
    """Twenty keys of the right kind."""
    columns = {
        "documents": "id FROM document",
        "dirty_names": "id FROM name",
        "names": "id FROM name",
        "keys": "key FROM name_key",
        "entities": "id FROM entity",
        "relations": "id FROM relation",
        "sources": "source FROM name_pair",
        "targets": "target FROM name_pair",
        "uris": "uri FROM document",
        "keep": "id FROM document",
        "ids": "id FROM source",
        "chunks": "id FROM chunk",
        "gone": "id FROM chunk",
        "firsts": "first FROM phrase",
        "phrases": "id FROM phrase",
    }
    if parameter == "made":
        return None
    if parameter not in columns:
        return Numbers([1] * 20)
    named = columns[parameter] if (parameter, query.partition(".")[0]) != ("uris", "source") else "uri FROM source"
    rows = await (await tx.execute(f"SELECT {named} LIMIT 20")).fetchall()
    values = [value for (value,) in rows]
    return array(values)


@pytest.fixture
async def outgrown(database: Database, url: str) -> AsyncTrueweave:
    """A workspace whose statistics are of the time when its names were stored and none was settled yet."""
    trueweave = await AsyncTrueweave.enter(database, "new", HashEmbedder(8))
    await store(trueweave, *documents("New", 600))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE")
    await trueweave.maintenance.settle()
    return trueweave


async def test_every_look_up_probes_an_index_by_its_key(stranger: AsyncTrueweave) -> None:
    async with stranger.workspace.transaction() as tx:
        for query, parameters in LOOK_UPS.items():
            values = {parameter: await _some(tx, query, parameter) for parameter in parameters}
            rows = await (await tx.execute(f"EXPLAIN (ANALYZE) {QUERIES[query]}", values)).fetchall()
            plan = "\n".join(line for (line,) in rows)
            wasted = [int(n) for n in re.findall(r"Rows Removed by Filter: (\d+)", plan)]
            assert max(wasted, default=0) <= 20, f"{query}\n{plan}"


async def test_completing_a_name_reads_no_more_names_than_it_may(stranger: AsyncTrueweave) -> None:
    async with stranger.workspace.transaction() as tx:
        for text, most in (("strange 05", 2000), ("strange", 100), ("05", 100)):
            before = await _read_so_far(tx)
            found = await GraphLookups(tx).completions(text, 5, examined=most)
            read = (await _read_so_far(tx))["name"] - before.get("name", 0)
            assert [one.name[:9] for one in found] == ["Strange 0"] * 5
            assert read <= 100, text


async def test_the_latest_documents_are_read_from_an_index(stranger: AsyncTrueweave) -> None:
    async with stranger.workspace.transaction() as tx:
        # A thousand documents are fewer than sorting costs.
        await tx.execute("SET LOCAL enable_seqscan = off")
        await tx.execute("SET LOCAL enable_bitmapscan = off")
        await tx.execute("SET LOCAL enable_sort = off")
        rows = await tx.execute(f"EXPLAIN {_latest()}", {"limit": 50, "at": None, "after": "", **_ALL_STATES.values})
        listed = "\n".join(line for (line,) in await rows.fetchall())
        assert "Index Scan Backward using document_added" in listed, listed
        rows = await tx.execute(f"EXPLAIN {QUERIES['ingest_progress.activity']}")
        counted = "\n".join(line for (line,) in await rows.fetchall())
        assert "document_added" in counted, counted


_ALL_STATES = DocumentSelection(ALL.shape, ALL.params, "any")


def _latest() -> str:
    parts = _ALL_STATES.parts(QUERIES["read.after_added"])
    return QUERIES["read.documents"].format(**parts, order="added DESC, uri DESC")


async def test_phrases_are_never_looked_up_by_the_index_on_entities(outgrown: AsyncTrueweave, url: str) -> None:
    """A regression: no name had an entity when statistics were made, so this index seemed as good as that on phrases,
    and all names of the workspace were read for each phrase. Without the right one the choice is plain."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP INDEX trueweave.name_phrase")
    async with outgrown.workspace.transaction() as tx:
        values = {"phrases": await _some(tx, "link.phrases", "phrases")}
        rows = await (await tx.execute(f"EXPLAIN {QUERIES['link.phrases']}", values)).fetchall()
    assert "name_entity" not in str(rows)


@pytest.mark.parametrize("shape", [FilterShape(False, (ConditionShape(True, 0),)), FilterShape(True, ())])
async def test_chunks_are_looked_up_by_their_ids(stranger: AsyncTrueweave, copy: str, shape: FilterShape) -> None:
    """A regression: the primary key has the document before the id, and an index-only scan of a workspace's whole part
    of it seemed cheaper than one row by the index on ids."""
    with psycopg.connect(copy, autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
    async with stranger.workspace.transaction() as tx:
        space = await vectors.space(tx)
        assert space
        ranked = search.ranked("chunk", search.VectorLayout(space, (), ()), stranger.workspace.id, shape)
        values = {
            "ids": await _some(tx, "", "chunks"),
            "scope": await _some(tx, "", "documents"),
            "facet_0": '{"year": [1]}',
            "vector": vectors.half(np.ones(8, np.float32)),
        }
        for query in (QUERIES["search.mentioned"], ranked.decode()):
            plan = str(await (await tx.execute(f"EXPLAIN {query}", values)).fetchall())
            assert "using chunk_id on chunk" in plan
            assert "using chunk_pkey" not in plan, plan
            assert "Join Filter: (vector" not in plan, plan


async def test_text_search_reads_the_rows_of_its_words_and_no_others(stranger: AsyncTrueweave) -> None:
    """Its statements are inside functions, where no plan is shown: what they read is counted instead."""
    await stranger.add_documents(Document(f"z/{n}", (Chunk(f"zebra {n}"),)) for n in range(20))
    async with stranger.workspace.transaction() as tx:
        before = await _read_so_far(tx)
        found = await tx.execute("SELECT * FROM search_text('zebras, or the 7', 30, 1.2, 0.75, NULL)")
        assert found.rowcount == 20
        await tx.run("text.index", coming=[], going=[chunk for chunk, _ in (await found.fetchall())[:10]])
        read = {table: rows - before.get(table, 0) for table, rows in (await _read_so_far(tx)).items()}
    assert max(read.values()) <= 100, read


async def _read_so_far(tx: Transaction) -> dict[str, int]:
    """How many rows the transaction has read from each table."""
    rows = await tx.execute("SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables")
    return dict(await rows.fetchall())
