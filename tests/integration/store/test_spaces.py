"""Embedding spaces: small workspaces exact, large ones by an index of their own, and a change of model at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.errors import BudgetReached, ConfigError, SpaceMismatch
from trueweave.extend import Database, Hit, Vectors
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder, ModelServer

WORDS = ("anchor", "barrel", "candle", "dragon", "engine", "feather", "garden", "harbour", "island", "jungle")


def documents(count: int, start: int = 0) -> list[Document]:
    """Texts of three words each, no two alike."""
    texts = (f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n}" for n in range(start, start + count))
    return [Document(text, (Chunk(text, mentions=(Mention(f"Thing {text}"),)),)) for text in texts]


async def nearest(trueweave: AsyncTrueweave, text: str, limit: int = 5, dimensions: int = 64) -> list[Hit]:
    return await trueweave.graph.nearest("chunk", (await HashEmbedder(dimensions).embed([text], "document"))[0], limit)


def tables_and_indexes(url: str) -> tuple[set[str], set[str]]:
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'vector%'")
        indexes = connection.execute("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'")
        return {name for (name,) in tables}, {name for (name,) in indexes}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty vectors are many."""
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 50)


async def test_a_small_workspace_is_searched_exactly(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(40))
    assert tables_and_indexes(url)[1] == set()
    [first, *_] = await nearest(trueweave, "anchor barrel 10")
    assert first.distance == pytest.approx(0, abs=1e-3)


@pytest.mark.usefixtures("few")
async def test_a_large_workspace_gets_tables_and_indexes_of_its_own(trueweave: AsyncTrueweave, url: str) -> None:
    small = await AsyncTrueweave.enter(trueweave.database, "small", HashEmbedder())
    await small.add_documents(documents(3))
    await trueweave.add_documents(documents(60))
    tables, indexes = tables_and_indexes(url)
    own = {f"vector_1_{kind}_{trueweave.workspace.id}_v1_p0" for kind in ("chunk", "entity")}
    assert own == {table for table in tables if table.count("_") > 2}
    assert {f"{table}_hnsw" for table in own} == indexes
    assert len(await nearest(small, "anchor", 100)) == 3
    assert len({hit.id for hit in await nearest(trueweave, "anchor", 100)}) == 60
    assert (await trueweave.maintenance.verify()).exact
    assert (await small.maintenance.verify()).exact


@pytest.mark.usefixtures("few")
async def test_what_comes_after_the_index_is_found_removed_and_moved_too(trueweave: AsyncTrueweave, url: str) -> None:
    first, later = documents(60), documents(20, start=60)
    await trueweave.add_documents(first)
    await trueweave.add_documents(later)
    for document in (first[7], later[7]):
        [hit, *_] = await nearest(trueweave, document.uri)
        assert hit.distance == pytest.approx(0, abs=1e-3), "both the own table and the common one are searched"
    await trueweave.remove([first[7].uri, later[7].uri])
    for document in (first[7], later[7]):
        [hit, *_] = await nearest(trueweave, document.uri)
        assert hit.distance > 1e-2, "a vector is removed wherever it is"
    await trueweave.add_documents(documents(60, start=80))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.vector_1_chunk").fetchone() == (0,), "moved in bulk"
    assert (await trueweave.maintenance.verify()).exact


@pytest.mark.usefixtures("few")
async def test_a_worker_that_is_to_stop_breaks_off_building_an_index_and_the_next_one_builds_it(
    trueweave: AsyncTrueweave, url: str
) -> None:
    await trueweave.add_documents(documents(60))
    own = f"vector_1_chunk_{trueweave.workspace.id}_v1_p0"
    _lose_index(url, own)
    with psycopg.connect(url) as blocking:
        blocking.execute(f"LOCK TABLE trueweave.{own} IN ROW EXCLUSIVE MODE")  # while it is held, no index is built
        stop = asyncio.Event()
        working = asyncio.create_task(trueweave.work(stop=stop))
        await _eventually(lambda: _is_waited_for(url, own))
        stop.set()
        async with asyncio.timeout(10):
            await working
    assert f"{own}_hnsw" not in tables_and_indexes(url)[1]
    stop.clear()
    working = asyncio.create_task(trueweave.work(stop=stop))
    await _eventually(lambda: f"{own}_hnsw" in tables_and_indexes(url)[1])
    stop.set()
    await working


@pytest.mark.usefixtures("few")
async def test_an_index_is_built_by_one_process_and_others_do_not_wait_for_it(
    trueweave: AsyncTrueweave, url: str
) -> None:
    await trueweave.add_documents(documents(60))
    own = f"vector_1_chunk_{trueweave.workspace.id}_v1_p0"
    _lose_index(url, own)
    with psycopg.connect(url) as blocking:
        blocking.execute(f"LOCK TABLE trueweave.{own} IN ROW EXCLUSIVE MODE")
        building = asyncio.create_task(vectors.move_to_own_table(trueweave.workspace, 0))
        await _eventually(lambda: _is_waited_for(url, own))
        async with asyncio.timeout(10):
            await vectors.move_to_own_table(trueweave.workspace, 0)
        assert not building.done()
    async with asyncio.timeout(10):
        await building
    assert f"{own}_hnsw" in tables_and_indexes(url)[1]


def _lose_index(url: str, own: str) -> None:
    """Leave a table of vectors as somebody does who is killed while its index is built."""
    with psycopg.connect(url) as connection:
        connection.execute(f"DROP INDEX trueweave.{own}_hnsw")
        connection.execute("UPDATE trueweave.own_table SET indexed = false WHERE kind = 'chunk'")


def _is_waited_for(url: str, table: str) -> bool:
    """Whether somebody waits for a lock on a table."""
    with psycopg.connect(url) as connection:
        asked = "SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        return bool(connection.execute(asked, (f"trueweave.{table}",)).fetchall())


async def _eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 (others act, in the database)
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(("metric", "expected"), [("cosine", "same way"), ("l2", "near"), ("inner", "same way")])
async def test_each_metric_finds_its_own_nearest(database: Database, metric: Metric, expected: str) -> None:
    @dataclass(frozen=True)
    class Fixed:
        metric: Metric
        model: str = "fixed"
        dimensions: int = 2

        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            points = {"near": (1.0, 0.5), "same way": (9.0, 0.0), "elsewhere": (-1.0, 4.0)}
            return np.array([points.get(text, (0.0, 1.0)) for text in texts], dtype=np.float32)

    trueweave = await AsyncTrueweave.enter(database, metric, Fixed(metric))
    await trueweave.add_documents(Document(text, (Chunk(text),)) for text in ("near", "same way", "elsewhere"))
    [hit] = await trueweave.graph.nearest("chunk", np.array([1.0, 0.0], dtype=np.float32), 1)
    async with trueweave.workspace.transaction() as tx:
        cursor = await tx.execute("SELECT text FROM chunk WHERE id = %(id)s", {"id": hit.id})
        assert await cursor.fetchone() == (expected,)


@pytest.mark.usefixtures("few")
async def test_four_thousand_dimensions_are_stored_indexed_and_found(database: Database, url: str) -> None:
    trueweave = await AsyncTrueweave.enter(database, "wide", HashEmbedder(4000))
    await trueweave.add_documents(documents(60))
    assert f"vector_1_chunk_{trueweave.workspace.id}_v1_p0_hnsw" in tables_and_indexes(url)[1]
    [hit, *_] = await nearest(trueweave, "anchor barrel 10", dimensions=4000)
    assert hit.distance == pytest.approx(0, abs=1e-3)


async def test_more_dimensions_than_pgvector_can_index_are_refused(database: Database) -> None:
    with pytest.raises(ConfigError, match=r"4001 dimensions.*fewer"):
        await AsyncTrueweave.enter(database, "wider", HashEmbedder(4001))


@dataclass(frozen=True)
class WhileEmbedding:
    """Another model, during whose every call something happens."""

    happens: Callable[[], Awaitable[None]]
    model: str = "testing/other"
    dimensions: int = 16
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        await self.happens()
        return await HashEmbedder(self.dimensions).embed(texts, role)


async def test_a_change_of_model_is_seen_all_at_once_and_misses_nothing(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(20))
    other = AsyncTrueweave(trueweave.workspace, HashEmbedder())
    late = iter(documents(1, start=500))
    leaving = iter([documents(1)[0].uri])

    async def others_go_on() -> None:
        assert len(await nearest(other, "anchor", 100)) >= 19, "the old space answers until the switch"
        for document in late:
            await other.add_documents([document])
        for uri in leaving:
            await other.remove([uri])

    await trueweave.maintenance.change_space(WhileEmbedding(others_go_on))
    assert (await trueweave.status()).embedding_model == "testing/other"
    assert len(await nearest(trueweave, "anchor", 100, dimensions=16)) == 20
    assert (await trueweave.maintenance.verify()).exact
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.vector_1_chunk").fetchone() == (0,), (
            "the old ones are gone"
        )


async def test_two_workspaces_may_be_in_different_spaces(database: Database) -> None:
    a = await AsyncTrueweave.enter(database, "a", HashEmbedder(8))
    b = await AsyncTrueweave.enter(database, "b", HashEmbedder(32))
    for trueweave in (a, b):
        await trueweave.add_documents(documents(3))
    assert len(await nearest(a, "anchor", dimensions=8)) == len(await nearest(b, "anchor", dimensions=32)) == 3


async def test_documents_added_after_a_question_in_the_same_process_have_vectors(database: Database) -> None:
    async with ModelServer() as server:
        settings = Settings(embedding_model="vllm/any", embedding_url=server.url)
        trueweave = await AsyncTrueweave.enter(database, "new", settings=settings)
        async with aclosing(trueweave):
            await trueweave.retrieve("Where is the anchor?", "keyword")
            await trueweave.add_documents(documents(3))
            assert len(await nearest(trueweave, "anchor")) == 3
            assert (await trueweave.status()).embedding_model == "vllm/any"


# --- another model, by its name -----------------------------------------------------------------------


def is_in_a_transaction(url: str) -> bool:
    """Whether somebody keeps a transaction open without doing anything in it."""
    with psycopg.connect(url, autocommit=True) as connection:
        idle = "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = current_database()"
        return connection.execute(idle).fetchone() is not None


async def test_no_transaction_is_open_while_the_new_model_embeds(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(3))
    open_ones: list[bool] = []

    async def look() -> None:
        open_ones.append(is_in_a_transaction(url))

    await trueweave.maintenance.change_space(WhileEmbedding(look))
    assert open_ones
    assert not any(open_ones)


async def test_a_change_of_model_that_was_stopped_goes_on_with_what_is_embedded(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_EMBEDDED_AT_ONCE", 10)
    await trueweave.add_documents(documents(20))
    calls = iter(range(3))

    async def stop() -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await trueweave.maintenance.change_space(WhileEmbedding(stop))
    assert (await trueweave.status()).embedding_model == "testing/hash"
    assert len(await nearest(trueweave, "anchor", 100)) == 20, "the old space answers"
    done: list[int] = []

    async def nothing() -> None: ...

    await trueweave.maintenance.change_space(WhileEmbedding(nothing), done.append)
    assert sum(done) == 20 + 20 - 30, "chunks and entities, less what was embedded before"
    assert len(await nearest(trueweave, "anchor", 100, dimensions=16)) == 20
    assert (await trueweave.maintenance.verify()).exact


async def test_a_change_of_model_comes_to_its_end_while_others_add_all_the_time(trueweave: AsyncTrueweave) -> None:
    other = AsyncTrueweave(trueweave.workspace, HashEmbedder())
    await trueweave.add_documents(documents(3))
    added = 3

    async def add_one() -> None:
        nonlocal added
        if (await other.status()).embedding_model == "testing/hash":
            await other.add_documents(documents(1, start=added))
            added += 1

    await trueweave.maintenance.change_space(WhileEmbedding(add_one))
    assert added > 3 + vectors._FREE_ROUNDS
    assert len(await nearest(trueweave, "anchor", 100, dimensions=16)) == added
    assert (await trueweave.status()).waiting_documents == 0
    assert (await trueweave.maintenance.verify()).exact


async def test_a_model_by_its_name_is_paid_from_the_budget_and_takes_over(database: Database, url: str) -> None:
    async with ModelServer(embedder=HashEmbedder(32)) as server:
        settings = Settings(embedding_url=server.url, prices={"openai/new": (Decimal(1), Decimal(0))})
        settings = settings.model_copy(update={"model_tries": 1})
        before = await AsyncTrueweave.enter(database, "test", HashEmbedder())
        await before.add_documents(documents(100))
        async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as trueweave:
            estimate = await trueweave.maintenance.estimate_reembed("openai/new")
            assert (estimate.texts, estimate.present) == (200, 0)
            assert estimate.price == Decimal(estimate.tokens) / 1_000_000
            await trueweave.budget.allow(tokens=estimate.tokens)
            with pytest.raises(BudgetReached):
                await trueweave.maintenance.reembed("openai/new")
            await trueweave.budget.allow()
            await trueweave.maintenance.reembed("openai/new")
            spent = [one for one in await trueweave.budget.receipt() if one.stage == "embed"]
            assert [(one.tokens_in, one.lost) for one in spent] == [(estimate.tokens, 0)], "each text is paid once"
            assert (await trueweave.status()).embedding_model == "openai/new"
            await trueweave.add_documents(documents(1, start=500))
            assert len(await nearest(trueweave, "anchor", 200, dimensions=32)) == 101
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.vector_1_chunk").fetchone() == (0,)
    with pytest.raises(SpaceMismatch, match=r"openai/new.*`trueweave reembed MODEL`"):
        await before.add_documents(documents(1, start=600))


async def test_what_a_change_of_model_that_was_given_up_left_is_dropped(trueweave: AsyncTrueweave, url: str) -> None:
    await trueweave.add_documents(documents(3))

    async def stop() -> None:
        raise KeyboardInterrupt

    async def nothing() -> None: ...

    with pytest.raises(KeyboardInterrupt):
        await trueweave.maintenance.change_space(WhileEmbedding(stop, "testing/given-up"))
    await trueweave.maintenance.change_space(WhileEmbedding(nothing))
    await trueweave.maintenance.drop()
    with psycopg.connect(url) as connection:
        for table in tables_and_indexes(url)[0]:
            assert connection.execute(f"SELECT count(*) FROM trueweave.{table}".encode()).fetchone() == (0,)
