"""Vectors of a large workspace in partitions: how they grow online, and what happens when somebody is stopped."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings
from trueweave.bulk.flows import LocalFlow
from trueweave.bulk.run import bulk_load
from trueweave.engine.database import opened_database
from trueweave.engine.model_settings import recipe
from trueweave.engine.workspace_models import models_of_load
from trueweave.extend import Database, Workspace
from trueweave.retrieval.methods.naive import Naive
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import ConditionShape, FilterShape
from trueweave.store.postgres.search.search import VectorLayout
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.store.postgres.vectors.own_tables import OwnTable
from trueweave.store.postgres.vectors.vectors import half
from trueweave.testing import HashEmbedder, ModelServer

WORDS = ("anchor", "barrel", "candle", "dragon", "engine", "feather", "garden", "harbour", "island", "jungle")
ROWS = 20  # of a partition


NOTE_MEMORY = """
CREATE FUNCTION note_memory() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.noted VALUES (current_setting('maintenance_work_mem')); END $$;
CREATE EVENT TRIGGER note_memory ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION note_memory();
"""


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty vectors are many, and twenty fill a partition."""
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 50)
    monkeypatch.setattr(own_tables, "graph_room", lambda _memory: ROWS * own_tables.graph_bytes(64))
    monkeypatch.setattr(own_tables, "_COPIED_AT_ONCE", 7)


def documents(count: int, start: int = 0) -> list[Document]:
    texts = (f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n}" for n in range(start, start + count))
    return [Document(text, (Chunk(text, mentions=(Mention(f"Thing {text}"),)),)) for text in texts]


def tables(url: str) -> list[tuple[str, int, bool, str]]:
    with psycopg.connect(url) as connection:
        rows = "SELECT name, partitions, indexed, state FROM trueweave.own_table WHERE kind = 'chunk' ORDER BY version"
        return connection.execute(rows).fetchall()


def indexes(url: str, own: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'")
        return {name for (name,) in rows if name.startswith(f"{own}_p")}


async def found(trueweave: AsyncTrueweave) -> list[str]:
    """The documents of all passages that are found, each as often as it is."""
    evidence = await trueweave.retrieve("anchor", Naive(top_k=500))
    return [passage.uri for passage in evidence.passages]


async def ids_near(trueweave: AsyncTrueweave, text: str) -> list[float]:
    vector = (await HashEmbedder().embed([text], "document"))[0]
    return [hit.distance for hit in await trueweave.graph.nearest("chunk", vector, 500)]


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 (others act, in the database)
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(("rows", "partitions"), [(0, 1), (20, 1), (21, 2), (41, 4), (80, 4), (81, 8)])
def test_partitions_are_a_power_of_two_that_holds_all(rows: int, partitions: int) -> None:
    assert own_tables.partitions_for(rows, 64, 2**30) == partitions


async def test_a_search_merges_what_all_partitions_have(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(60))
    [(own, partitions, indexed, state)] = tables(url)
    assert (partitions, indexed, state) == (4, True, "current")
    assert indexes(url, own) == {f"{own}_p{n}" for n in range(4)}
    with psycopg.connect(url) as connection:
        sizes = [connection.execute(f"SELECT count(*) FROM trueweave.{own}_p{n}").fetchone() for n in range(4)]
    assert all(size and size[0] > 0 for size in sizes)
    distances = await ids_near(trueweave, "anchor barrel 10")
    assert len(distances) == 60
    assert distances == sorted(distances)
    assert distances[0] == pytest.approx(0, abs=1e-3)
    assert sorted(await found(trueweave)) == sorted(document.uri for document in documents(60))
    assert (await trueweave.maintenance.verify()).exact


async def test_partitions_double_while_others_write_and_read(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(60))
    other = AsyncTrueweave(trueweave.workspace, HashEmbedder())
    stop = asyncio.Event()
    reads = 0

    async def read() -> None:
        nonlocal reads
        while not stop.is_set():
            uris = await found(other)
            assert len(uris) == len({*uris}), "nothing is found twice"
            assert {document.uri for document in documents(40, 10)} <= {*uris}, "and nothing is missed"
            reads += 1

    async def write() -> None:
        for n in range(10):
            await other.remove([documents(1, n)[0].uri])
            await other.add_documents(documents(1, 500 + n))

    reading, writing = asyncio.create_task(read()), asyncio.create_task(write())
    for start in (100, 160, 220):
        await trueweave.add_documents(documents(60, start))
    await writing
    await trueweave.add_documents(documents(60, 280))
    stop.set()
    await reading
    assert reads > 3
    *left, (_, partitions, indexed, state) = tables(url)
    assert (partitions, indexed, state) == (16, True, "current")
    assert left
    assert all(one[-1] == "left" for one in left)
    assert sorted(await found(trueweave)) == sorted(
        document.uri for document in (*documents(50, 10), *documents(240, 100), *documents(10, 500))
    )
    assert (await trueweave.maintenance.verify()).exact


async def test_who_is_stopped_while_building_leaves_nothing_wrong_and_another_goes_on(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.add_documents(documents(60))

    async def stopped(_workspace: Workspace, _tables: Sequence[OwnTable]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as here:
        here.setattr(own_tables, "index", stopped)
        with pytest.raises(KeyboardInterrupt):
            await trueweave.add_documents(documents(60, 60))
    assert [one[-1] for one in tables(url)] == ["current", "building"]
    with monkeypatch.context() as here:
        here.setattr(vectors, "move_to_own_table", _nothing)
        await _change_some(trueweave)
    assert len(await found(trueweave)) == 119
    assert (await trueweave.maintenance.verify()).exact
    building = tables(url)[1][0]
    await vectors.move_to_own_table(trueweave.workspace, 0)
    [_, (own, partitions, indexed, state)] = tables(url)
    assert (own, partitions, indexed, state) == (building, 8, True, "current")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.removed_vector").fetchone() == (0,)
        common = connection.execute("SELECT count(*) FROM trueweave.vector_1_chunk").fetchone()
    assert common == (2,), "what was changed meanwhile waits for the next time"
    assert len(await found(trueweave)) == 119
    assert (await trueweave.maintenance.verify()).exact


async def _change_some(trueweave: AsyncTrueweave) -> None:
    """One document goes, one is changed, and one goes and comes back; all have been copied."""
    await trueweave.remove([documents(1, 5)[0].uri, documents(1, 65)[0].uri])
    changed = Document(documents(1, 66)[0].uri, (Chunk("quite another text"),))
    await trueweave.add_documents([changed, *documents(1, 5)])


async def test_two_who_build_at_once_do_no_harm(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.add_documents(documents(60))
    monkeypatch.setattr(vectors, "move_to_own_table", _nothing)  # or the removal may build a third, for fewer vectors
    async with trueweave.workspace.transaction() as tx:
        where = await vectors.space(tx)
    assert where
    common = vectors._common(where, "chunk")
    building = (own_tables.build(trueweave.workspace, where, "chunk", 8, common) for _ in range(2))
    await asyncio.gather(*building, trueweave.remove([documents(1)[0].uri]))
    assert [one[1:] for one in tables(url)][-1] == (8, True, "current")
    assert len(await found(trueweave)) == 59
    assert (await trueweave.maintenance.verify()).exact


async def test_vectors_are_not_moved_to_a_table_that_is_being_replaced(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(60))
    await trueweave.add_documents(documents(5, 60))
    async with trueweave.workspace.transaction() as tx:
        where = await vectors.space(tx)
        assert where
        own = (await own_tables.find(tx, where)).current["chunk"]
        await tx.run("own_tables.make", space=where.id, kind="chunk", partitions=8, state="building")
    await own_tables.move(trueweave.workspace, where, own, vectors._common(where, "chunk"))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.vector_1_chunk").fetchone() == (5,)


async def test_indexes_of_several_partitions_are_built_at_once(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tables, "BUILT_AT_ONCE", 3)
    async with trueweave.workspace.transaction() as tx:
        where = await vectors.space(tx)
        assert where
        name = await own_tables.make(tx, where, "chunk", 4)
        own = (await own_tables.find(tx, where)).current["chunk"]
    with psycopg.connect(url) as blocking:
        for n in range(4):
            blocking.execute(f"LOCK TABLE trueweave.{name}_p{n} IN ROW EXCLUSIVE MODE")
        building = asyncio.create_task(own_tables.index(trueweave.workspace, [own]))
        await eventually(lambda: _waiting(url) == 3)
        await asyncio.sleep(0.2)
        assert _waiting(url) == 3, "and no more than that"
    await building
    assert len(indexes(url, name)) == 4


async def test_an_index_is_built_in_as_much_memory_as_the_settings_say(url: str) -> None:
    settings = Settings(database_url=url, connections=5, index_memory_bytes=48 * 2**20)
    async with opened_database(settings) as database:
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        await trueweave.add_documents(documents(5))
        async with trueweave.workspace.transaction() as tx:
            where = await vectors.space(tx)
            assert where
            name = await own_tables.make(tx, where, "chunk", 1)
            own = (await own_tables.find(tx, where)).current["chunk"]
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("CREATE TABLE public.noted (memory text)")
            owner.execute("GRANT INSERT ON public.noted TO PUBLIC")
            owner.execute(NOTE_MEMORY)
            await own_tables.index(trueweave.workspace, [own])
            assert len(indexes(url, name)) == 1
            assert owner.execute("SELECT DISTINCT memory FROM public.noted").fetchall() == [("48MB",)]
        assert database.pool_stats()["pool_max"] == 5


async def test_a_table_that_was_left_stays_for_those_who_read_it(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tables, "KEPT", timedelta(0))
    await trueweave.add_documents(documents(60))
    async with trueweave.workspace.transaction(snapshot=True) as reader:
        await vectors.hold(reader)
        await trueweave.add_documents(documents(60, 60))
        await trueweave.maintenance.clean_up()
        assert [one[-1] for one in tables(url)] == ["left", "current"]
        every = await vectors.everything(reader)
        rows = await (await reader.connection.execute(every["chunk"].as_string() + " LIMIT 1000")).fetchall()
        assert len(rows) == 60, "as it was when the reader began"
    await trueweave.maintenance.clean_up()
    assert [one[-1] for one in tables(url)] == ["current"]
    assert len(await found(trueweave)) == 120


SHAPES = {
    "all": FilterShape(by_ids=False, conditions=()),
    "a condition": FilterShape(by_ids=False, conditions=(ConditionShape(has_values=True, ranges=0),)),
}


async def test_every_partition_is_searched_by_its_index_and_the_results_are_merged(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tables, "graph_room", lambda _memory: 400 * own_tables.graph_bytes(64))
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 1500)
    await trueweave.add_documents(replace(document, metadata={"k": 1}) for document in documents(1500))
    [(name, partitions, _, _)] = tables(url)
    assert partitions == 4
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE")
    async with trueweave.workspace.transaction() as tx:
        where = await vectors.space(tx)
    assert where
    at, here = VectorLayout(where, (name,), (400,)), trueweave.workspace.id
    statements = {f"near, {named}": search.near("chunk", at, here, 10, shape) for named, shape in SHAPES.items()}
    statements |= {f"both, {named}": search.both_lists(at, here, 10, shape) for named, shape in SHAPES.items()}
    vector = half((await HashEmbedder().embed(["anchor"], "query"))[0])
    bm25 = {"text": "anchor", "k1": 1.2, "b": 0.75}
    params = {"vectors": [vector], "vector": vector, "facet_0": json.dumps({"k": 1}), **bm25}
    async with trueweave.workspace.transaction() as tx:
        await tx.execute("SET LOCAL enable_sort = off")  # which is cheap, with vectors as few and short as these
        for named, statement in statements.items():
            explained = await tx.connection.execute(b"EXPLAIN (COSTS OFF) " + statement, params)
            plan = "\n".join(line for (line,) in await explained.fetchall())
            assert "Merge Append" in plan, f"{named}:\n{plan}"
            assert {f"{name}_p{n}_hnsw" for n in range(4)} <= {*plan.split()}, f"{named}:\n{plan}"
            # A regression: an iterative scan is sorted only nearly, and its first ten rows were taken for the nearest.
            assert "Presorted Key" not in plan, f"{named}:\n{plan}"
        nearest = await tx.execute(
            f"EXPLAIN (COSTS OFF) SELECT id FROM {name} ORDER BY v <=> %(vector)s LIMIT 10", {"vector": vector}
        )
        assert "Merge Append" in str(await nearest.fetchall())


async def test_a_bulk_load_is_indexed_in_as_many_partitions_as_it_takes(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with ModelServer(embedder=HashEmbedder()) as server:
        settings = Settings(
            extractor="capitals", project_folder=tmp_path, embedding_model="vllm/any", embedding_url=server.url
        )
        rows = ({"id": str(n), "text": f"{WORDS[n % 10]} {WORDS[n // 10]} met Person {n}."} for n in range(90))
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        async with aclosing(await AsyncTrueweave.enter(database, "bulk", settings=settings, make=True)) as trueweave:
            await bulk_load(
                trueweave.workspace,
                [str(tmp_path / "a.jsonl")],
                tmp_path / "spool",
                LocalFlow(),
                settings=settings,
                recipe=recipe(settings),
                embedder=await trueweave._core.embedding(),
                open_models=models_of_load,
            )
        current = [one for one in tables(url) if one[-1] == "current"]
        assert [one[1:] for one in current] == [(8, True, "current")]
        async with aclosing(await AsyncTrueweave.enter(database, "bulk", settings=settings)) as trueweave:
            assert len({*await found(trueweave)}) == 90
            assert (await trueweave.maintenance.verify()).exact


def _waiting(url: str) -> int:
    """How many wait for a lock on a table."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation'").fetchall()
        return len(rows)


async def _nothing(_workspace: Workspace, _written: int) -> None: ...
