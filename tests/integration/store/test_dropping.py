"""A workspace that is dropped leaves nothing behind, whoever was writing to it."""

import asyncio

import psycopg
import pytest
from psycopg import sql

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Source
from trueweave.errors import UnknownWorkspace
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import read
from trueweave.testing import HashEmbedder

MARKER = "Quixelbrand"


def found_in(url: str, marker: str) -> dict[str, int]:
    """Tables of Trueweave's schemas that have rows with this text in them, and how many."""
    found = {}
    with psycopg.connect(url) as owner:
        tables = owner.execute(
            "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE nspname = 'trueweave' AND relkind = 'r'"
        ).fetchall()
        for schema, name in tables:
            query = sql.SQL("SELECT count(*) FROM {} AS t WHERE t::text ~ %s OR t::text ~ %s")
            hidden = marker.encode().hex()  # as a column of bytes shows it
            row = owner.execute(query.format(sql.Identifier(schema, name)), (marker, hidden)).fetchone()
            if row and row[0]:
                found[f"{schema}.{name}"] = row[0]
    return found


def rows_of(url: str, workspace: int) -> dict[str, int]:
    """Tables that have rows of a workspace, and how many."""
    found = {}
    with psycopg.connect(url) as owner:
        tables = owner.execute(
            "SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace' "
            "WHERE relnamespace = 'trueweave'::regnamespace AND relkind = 'r'"
        ).fetchall()
        for (name,) in tables:
            query = sql.SQL("SELECT count(*) FROM trueweave.{} WHERE workspace = %s").format(sql.Identifier(name))
            row = owner.execute(query, (workspace,)).fetchone()
            if row and row[0]:
                found[name] = row[0]
    return found


def documents(n: int) -> list[Document]:
    said = [Chunk(f"{MARKER} {n} {k}", start=100 * k, mentions=(Mention(f"{MARKER} {n} {k}"),)) for k in range(5)]
    return [Document(f"{MARKER}/{n}", tuple(said))]


@pytest.fixture
def settings() -> Settings:
    return Settings(workspace="test", extractor="capitals")


@pytest.mark.parametrize("moment", [0.0, 0.3, 0.8])
async def test_documents_that_are_being_added_leave_nothing_behind(url: str, settings: Settings, moment: float) -> None:
    async with (
        AsyncTrueweave.open(url, settings=settings, embedder=HashEmbedder()) as adding,
        AsyncTrueweave.open(url, settings=settings, embedder=HashEmbedder()) as other,
    ):
        sources = [Source(f"{MARKER}/{n}", f"{MARKER} {n} met Lady Maron in the Tower.") for n in range(300)]
        added = asyncio.create_task(adding.add(*sources))
        await asyncio.sleep(moment)
        assert await asyncio.wait_for(other.maintenance.drop(), 120) >= 0
        with pytest.raises(UnknownWorkspace, match="was dropped"):
            await asyncio.wait_for(added, 120)
    assert found_in(url, MARKER) == {}
    assert rows_of(url, adding.workspace.id) == {}


async def test_all_who_write_at_once_are_fenced_out(url: str, trueweave: AsyncTrueweave) -> None:
    async def write(n: int) -> None:
        for k in range(20):
            await trueweave.add_documents(documents(20 * n + k))

    async with Database(url) as roomy:
        writing = [asyncio.create_task(write(n)) for n in range(4)]
        await asyncio.sleep(0.5)
        await read.drop_workspace(Workspace(roomy, trueweave.workspace.id))
        for outcome in await asyncio.gather(*writing, return_exceptions=True):
            assert isinstance(outcome, UnknownWorkspace), outcome
    assert found_in(url, MARKER) == {}
    assert rows_of(url, trueweave.workspace.id) == {}


async def test_one_who_writes_is_waited_for_and_one_who_comes_later_is_refused(
    url: str, trueweave: AsyncTrueweave
) -> None:
    workspace = trueweave.workspace
    async with workspace.transaction() as writing:
        dropping = asyncio.create_task(read.drop_workspace(workspace))
        await asyncio.sleep(0.5)
        assert not dropping.done()
        with pytest.raises(UnknownWorkspace):  # at once, without waiting for the one who drops
            async with asyncio.timeout(10), workspace.transaction():
                pass
        await writing.execute("INSERT INTO dirty_name (name) VALUES (gen_random_uuid())")
    await asyncio.wait_for(dropping, 30)
    assert rows_of(url, workspace.id) == {}


async def test_a_drop_that_was_interrupted_is_ended_by_the_next(
    url: str, trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.add_documents(documents(1))

    async def interrupted(self: Transaction, query: str, /, **params: object) -> int:
        if query == "read.await_writers":
            raise ConnectionError
        return await run(self, query, **params)

    run = Transaction.run
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", interrupted)
        with pytest.raises(ConnectionError):
            await trueweave.maintenance.drop()
    assert found_in(url, MARKER) != {}
    with pytest.raises(UnknownWorkspace, match="trueweave workspace drop"):
        await trueweave.status()
    again = await AsyncTrueweave.enter(trueweave.database, "test", make=False)
    assert await again.maintenance.drop() == 1
    assert found_in(url, MARKER) == {}
    assert await trueweave.database.find_workspace("test", make=False) is None


async def test_dropping_twice_at_once_does_no_harm(url: str, trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(documents(1))
    await asyncio.gather(trueweave.maintenance.drop(), trueweave.maintenance.drop())
    assert rows_of(url, trueweave.workspace.id) == {}
