"""Workspaces on several PostgreSQL servers: placed, found, worked, moved under load, and dropped."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress

import psycopg
import pytest

from tests.conftest import quick_server
from tests.integration.store.test_owner import owned_url  # noqa: F401 (a fixture)
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings, Source
from trueweave.engine.database import opened_database
from trueweave.engine.worker import work_for_all
from trueweave.errors import ConfigError, DatabaseError, UnknownWorkspace, WorkspaceMoving
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.cluster import moving, servers
from trueweave.store.postgres.cluster.joining import join_servers, list_servers, migrate_servers, weigh_server
from trueweave.store.postgres.cluster.moving import MoveProgress, OwnerAddress, move_workspace, settle_copies
from trueweave.store.postgres.cluster.servers import Servers, measure
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.testing import Databases, HashEmbedder

Addresses = dict[str, OwnerAddress]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Databases]:
    """Databases on another PostgreSQL server than that of all tests."""
    with quick_server() as server:
        made = Databases(server.url)
        asyncio.run(made.prepare())
        yield made


@pytest.fixture
def addresses(url: str, elsewhere: Databases) -> Iterator[Addresses]:
    """A home, and a server that is joined to it."""
    east = elsewhere.make()
    found = {"home": OwnerAddress(url), "east": OwnerAddress(east)}
    assert asyncio.run(join_servers(found)) == ["east"]
    yield found
    elsewhere.drop(east)


@pytest.fixture
async def home(addresses: Addresses) -> AsyncIterator[Database]:
    async with opened(addresses) as database:
        yield database


@asynccontextmanager
async def opened(addresses: Addresses) -> AsyncIterator[Database]:
    """The home as another process has it open."""
    settings = Settings(
        database_url=addresses["home"].url,
        server_urls={name: one.url for name, one in addresses.items() if name != "home"},
    )
    async with opened_database(settings) as database:
        yield database


async def enter(home: Database, name: str = "tenant") -> AsyncTrueweave:
    return await AsyncTrueweave.enter(home, name, HashEmbedder(), settings=Settings(extractor="capitals"))


def document(n: int) -> Document:
    said = Chunk(
        f"Ada Lovelace wrote note {n} to Charles Babbage",
        mentions=(Mention("Ada Lovelace", description=f"wrote note {n}"), Mention("Charles Babbage")),
        links=(Link("Ada Lovelace", "Charles Babbage", "wrote to", ("letters",)),),
    )
    return Document(f"note-{n}", (said,), metadata={"n": n})


async def _server_of(home: Database, workspace: Workspace) -> str:
    assert home.servers
    placed = await workspace.placed()
    named = {await home.servers.database(name): name for name in ("home", *home.servers.names)}
    return named[placed]


def _value(url: str, query: str, *params: object) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode(), params).fetchone()
        return row[0] if row else None


def _rows_left(url: str, workspace: int) -> int:
    """How many rows of a workspace there are in a database, in all tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'trueweave' "
            "AND column_name = 'workspace' AND table_name <> 'audit_log'"
        ).fetchall()
        counting = b"SELECT count(*) FROM trueweave.%s WHERE workspace = %d"
        counts = [connection.execute(counting % (table.encode(), workspace)).fetchone() for (table,) in tables]
    return sum(row[0] for row in counts if row)


async def test_new_workspaces_go_to_the_server_with_the_least_load(home: Database, addresses: Addresses) -> None:
    """By weight: one that is to hold three times as much gets three times as many; one without weight gets none."""
    await weigh_server(addresses["home"], "east", 3)
    for n in range(8):
        await home.find_workspace(f"tenant {n}", make=True)
    assert {one.name: one.workspaces for one in await list_servers(addresses)} == {"home": 2, "east": 6}
    await weigh_server(addresses["home"], "east", 0)
    assert home.servers
    made = [await home.make_workspace("tenant 1") for _ in range(3)]
    assert made == ["tenant 1-2", "tenant 1-3", "tenant 1-4"]
    assert {one.name: one.workspaces for one in await list_servers(addresses)} == {"home": 5, "east": 6}


async def test_a_large_server_gets_fewer_workspaces(home: Database, addresses: Addresses) -> None:
    assert home.servers
    for name in ("home", "east"):
        await measure(home.servers, name)
    async with home.transaction(None) as tx:
        await tx.run("servers.note_size", name="home", size=10**12)
    for n in range(4):
        await home.find_workspace(f"tenant {n}", make=True)
    assert {one.name: one.workspaces for one in await list_servers(addresses)} == {"home": 0, "east": 4}


async def _on_east(home: Database, addresses: Addresses, name: str = "tenant") -> AsyncTrueweave:
    """A workspace on the other server, with documents."""
    await weigh_server(addresses["home"], "home", 0)
    trueweave = await enter(home, name)
    await trueweave.add_documents([document(n) for n in range(20)])
    assert await _server_of(home, trueweave.workspace) == "east"
    return trueweave


async def test_a_workspace_elsewhere_does_all_that_one_at_home_does(home: Database, addresses: Addresses) -> None:
    async with aclosing(await _on_east(home, addresses)) as trueweave:
        found = await trueweave.retrieve("Who wrote to Babbage?", method="keyword")
        assert found.passages
        assert (await trueweave.maintenance.verify()).exact
        added = await trueweave.add(Source("letter", "Ada Lovelace wrote to Charles Babbage in London."))
        assert (added.extracted, added.failed) == (1, 0)
        await trueweave.remove(["letter"])
        await trueweave.maintenance.change_settings({"max_answer_tokens": 77})
        assert _rows_left(addresses["home"].url, trueweave.workspace.id) == 0
    async with opened(addresses) as again, aclosing(await enter(again)) as other:
        assert other.settings.max_answer_tokens == 77
        assert (await other.status()).documents == 20
        assert await other.maintenance.drop() == 20
    with pytest.raises(UnknownWorkspace):
        await AsyncTrueweave.enter(home, "tenant", make=False)
    assert _rows_left(addresses["east"].url, trueweave.workspace.id) == 0


async def test_a_process_without_the_servers_says_what_to_set(home: Database, addresses: Addresses) -> None:
    async with aclosing(await _on_east(home, addresses)), Database(addresses["home"].url) as alone:
        with pytest.raises(ConfigError, match=r"on the server east.*server_urls"):
            await enter(alone)
        made = await alone.find_workspace("another", make=True)
        assert made
        assert await made.placed() is alone


async def test_only_an_empty_server_is_joined_and_only_under_its_name(
    addresses: Addresses, elsewhere: Databases, url: str
) -> None:
    west = elsewhere.make()
    async with Database(west) as used:
        await used.find_workspace("somebody's", make=True)
    with pytest.raises(DatabaseError, match="has workspaces of its own"):
        await join_servers({"home": addresses["home"], "west": OwnerAddress(west)})
    with pytest.raises(DatabaseError, match="is the server east"):
        await join_servers({"home": addresses["home"], "north": addresses["east"]})
    with pytest.raises(DatabaseError, match="is the server east of another home"):
        await join_servers({"home": addresses["east"], "north": OwnerAddress(west)})
    assert await join_servers(addresses) == []
    elsewhere.drop(west)
    settings = Settings(database_url=url, server_urls={"north": addresses["east"].url})
    async with opened_database(settings) as home:
        assert home.servers
        with pytest.raises(DatabaseError, match="the settings call it north"):
            await home.servers.database("north")


async def test_a_workspace_is_moved_while_it_is_read_and_written(
    home: Database, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers never fail, in this process or another. A writer is refused meanwhile, goes on after it, and loses
    nothing. The digests are equal, and the old copy is gone after a while."""
    monkeypatch.setattr(moving, "GRACE", servers.GRACE / 1000)
    async with AsyncExitStack() as stack:
        trueweave = await stack.enter_async_context(aclosing(await enter(home)))
        await trueweave.add_documents([document(n) for n in range(60)])
        other = await enter(await stack.enter_async_context(opened(addresses)))
        await stack.enter_async_context(aclosing(other))
        done = asyncio.Event()
        reads, added, refused = [0, 0], 60, 0

        async def read(reader: int, one: AsyncTrueweave) -> None:
            while not done.is_set():
                found = await one.retrieve("Who wrote to Babbage?", method=("keyword", "naive")[reader])
                assert found.passages
                assert (await one.status()).documents >= 60
                reads[reader] += 1

        async def write() -> None:
            nonlocal added, refused
            while not done.is_set():
                try:
                    await trueweave.add_documents([document(added)])
                    added += 1
                except WorkspaceMoving:
                    refused += 1
                    await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(one) for one in (read(0, trueweave), read(1, other), write())]
        await asyncio.sleep(0.3)
        steps: list[str] = []

        def told(progress: MoveProgress) -> None:
            steps.append(progress.step)
            for task in tasks:
                assert not task.done()

        moved = await move_workspace("tenant", "east", addresses, told)
        at_switch = list(reads)
        await asyncio.sleep(servers.FRESH + 1)  # by now all have learnt of it
        done.set()
        await asyncio.gather(*tasks)
        assert (moved.source, moved.target) == ("home", "east")
        assert moved.rows > 500
        assert moved.bytes > 10_000
        assert all(after > before > 0 for after, before in zip(reads, at_switch, strict=True))
        assert {"copying chunk", "comparing"} <= {*steps}
        assert added > 60
        assert (await trueweave.status()).documents == added
        assert [await _server_of(one.database, one.workspace) for one in (trueweave, other)] == ["east", "east"]
        assert (await trueweave.maintenance.verify()).exact
        assert home.servers
        assert await settle_copies(home.servers, "home") == 1
        assert _rows_left(addresses["home"].url, trueweave.workspace.id) == 0
        assert await settle_copies(home.servers, "home") == 0
        assert (await other.status()).documents == added


async def test_a_workspace_moves_there_and_back_with_all_it_has(
    home: Database, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also vectors in a table of its own, rules, reports, jobs and bookings; and numbers that are given out go on above
    those that came along."""
    async with aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(n) for n in range(30)])
        await trueweave.communities.find()
        async with trueweave.workspace.transaction() as tx:
            space = await vectors.space(tx)
            assert space
            own = await own_tables.make(tx, space, "chunk", 4)
            await tx.execute(f"INSERT INTO {own} SELECT * FROM vector_{space.id}_chunk")
            await tx.execute(f"DELETE FROM vector_{space.id}_chunk")
            indexed = (await own_tables.find(tx, space)).current["chunk"]
            await tx.execute("INSERT INTO job (kind, payload) VALUES ('none', '1'), ('none', '2')")
            await tx.execute("INSERT INTO budget (price) VALUES (5)")
            await tx.execute("INSERT INTO spend VALUES (DEFAULT, gen_random_uuid(), 's', '', 'm', 1, 1, 1, 'open', 1)")
            await tx.execute("INSERT INTO reply VALUES (DEFAULT, gen_random_uuid(), 'm', 'r', 1)")
            await tx.execute("INSERT INTO reply VALUES (DEFAULT, gen_random_uuid(), 'm', NULL, 1)")
            changes = await (await tx.execute("SELECT count(*), max(position) FROM outbox")).fetchone()
            await tx.execute("UPDATE workspace SET graph_vectors = 'making'")
        await own_tables.index(trueweave.workspace, [indexed])
        digest, here = await trueweave.maintenance.digest(), trueweave.workspace.id
        await move_workspace("tenant", "east", addresses)
        home.servers.expire()  # type: ignore[union-attr]
        assert (await trueweave.status()).graph_vectors == "making"
        async with trueweave.workspace.transaction() as tx:
            assert changes == await (await tx.execute("SELECT count(*), max(position) FROM outbox")).fetchone()
            assert await (await tx.execute("SELECT payload FROM job ORDER BY id")).fetchall() == [(b"1",), (b"2",)]
            assert await (await tx.execute("SELECT price FROM budget")).fetchall() == [(5,)]
            assert await (await tx.execute("SELECT state FROM spend")).fetchall() == [("open",)]
            assert await (await tx.execute("SELECT payload FROM reply")).fetchall() == [(b"r",)]
            assert await (await tx.execute("SELECT indexed, partitions FROM own_table")).fetchall() == [(True, 4)]
            built = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'"
            assert await (await tx.execute(built)).fetchone() == (4,)
        assert await trueweave.retrieve("Who wrote to Babbage?", method="naive")
        await trueweave.add_documents([document(30)])
        async with trueweave.workspace.transaction() as tx:
            newest = await (await tx.execute("SELECT max(position) FROM outbox")).fetchone()
        assert newest
        assert changes
        assert newest[0] > changes[1]
        await trueweave.remove(["note-30"])
        assert await trueweave.maintenance.digest() == digest
        monkeypatch.setattr(moving, "USABLE", 0)
        began = time.monotonic()
        moved = await move_workspace("tenant", "home", addresses)  # what it left there is cleared first
        assert time.monotonic() - began > servers.FRESH / 2  # when nobody reads it any longer
        home.servers.expire()  # type: ignore[union-attr]
        assert moved.digest == digest == await trueweave.maintenance.digest()
        assert await _server_of(home, trueweave.workspace) == "home"
        assert _value(addresses["east"].url, "SELECT place FROM trueweave.workspace WHERE id = %s", here) == "left"
        with pytest.raises(DatabaseError, match="already on the server home"):
            await move_workspace("tenant", "home", addresses)


async def test_model_calls_are_booked_and_writes_held_while_a_workspace_is_moved(
    home: Database, addresses: Addresses
) -> None:
    """What a question books while all is copied is there after the move, and not twice. Who writes by way of
    `retry_while_down` waits for the end of the move."""
    async with aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(n) for n in range(5)])
        workspace = trueweave.workspace
        tasks: list[asyncio.Task[None]] = []
        async with workspace.transaction() as tx:
            await tx.execute("INSERT INTO budget (price) VALUES (5)")
            await tx.execute("INSERT INTO spend VALUES (DEFAULT, gen_random_uuid(), 's', '', 'm', 1, 1, 1, 'open', 1)")
            await tx.execute("INSERT INTO spend VALUES (DEFAULT, gen_random_uuid(), 's', '', 'm', 2, 2, 1, 'done', 1)")

        async def book() -> None:
            async with workspace.transaction(booking=True) as tx:
                await tx.execute("UPDATE budget SET price = 6")
                await tx.execute("UPDATE spend SET state = 'done', tokens_out = 9 WHERE tokens_in < 3")
                await tx.execute("INSERT INTO reply VALUES (DEFAULT, gen_random_uuid(), 'm', 'r', 1)")

        async def write() -> None:
            async with workspace.transaction() as tx:
                await tx.execute("INSERT INTO stale_text (hash) VALUES (gen_random_uuid())")

        async def refused() -> None:
            with pytest.raises(WorkspaceMoving, match="takes no writes"):
                await write()

        def told(progress: MoveProgress) -> None:
            if progress.step == "comparing":
                tasks.extend(map(asyncio.create_task, (book(), refused(), workspace.retry_while_down(write))))

        await move_workspace("tenant", "east", addresses, told)
        await asyncio.gather(*tasks)
        assert await _server_of(home, workspace) == "east"  # without being asked to look: a write was refused
        async with workspace.transaction() as tx:
            assert await (await tx.execute("SELECT price FROM budget")).fetchall() == [(6,)]
            spent = await (await tx.execute("SELECT tokens_in, tokens_out, state FROM spend ORDER BY 1")).fetchall()
            assert spent == [(1, 9, "done"), (2, 9, "done")]
            assert await (await tx.execute("SELECT payload FROM reply")).fetchall() == [(b"r",)]
            assert await (await tx.execute("SELECT count(*) FROM stale_text")).fetchall() == [(1,)]


class Killed(BaseException):
    """The process of the mover was killed: nothing that it would undo is undone."""


async def moved_again(addresses: Addresses) -> None:
    """Move the workspace to the other server, once PostgreSQL has noticed that the killed mover is gone."""
    async with asyncio.timeout(30):
        while True:
            try:
                await move_workspace("tenant", "east", addresses)
            except DatabaseError as error:
                if "by another process" not in str(error):
                    raise
                await asyncio.sleep(0.05)
            else:
                return


@pytest.mark.parametrize("step", ["waiting for jobs", "copying chunk", "comparing", "switching", "switched"])
@pytest.mark.parametrize("again", [True, False])
async def test_a_move_that_is_killed_is_undone_or_done(
    home: Database, addresses: Addresses, monkeypatch: pytest.MonkeyPatch, step: str, again: bool
) -> None:
    """By whoever runs it again, or by workers."""
    async with aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(n) for n in range(5)])
        digest = await trueweave.maintenance.digest()

        async def nothing(*_: object) -> None:
            return

        monkeypatch.setattr(moving._Move, "_undo", nothing)
        switch = moving._Move._switch

        async def switched(move: moving._Move, target: str) -> None:
            await switch(move, target)
            raise Killed

        def told(progress: MoveProgress) -> None:
            if progress.step == step:
                raise Killed

        with monkeypatch.context() as patch, suppress(Killed):
            if step == "switched":
                patch.setattr(moving._Move, "_switch", switched)
            await move_workspace("tenant", "east", addresses, told)
            pytest.fail("it went on")
        home.servers.expire()  # type: ignore[union-attr]
        assert (await trueweave.status()).documents == 5
        assert home.servers
        if again and step != "switched":
            await moved_again(addresses)
            home.servers.expire()
        elif again:
            with pytest.raises(DatabaseError, match="already on the server east"):
                await moved_again(addresses)
        is_moved = again or step == "switched"
        places: list[object] = []
        async with asyncio.timeout(30):
            while places != (["left", "here"] if is_moved else ["here", None]):
                for server in ("home", "east"):  # skips a workspace until PostgreSQL has released the lock of its move
                    await settle_copies(home.servers, server)
                places = [
                    _value(one.url, "SELECT place FROM trueweave.workspace WHERE name LIKE 'tenant%%'")
                    for one in addresses.values()
                ]
        await trueweave.add_documents([document(5)])
        await trueweave.remove(["note-5"])
        assert await trueweave.maintenance.digest() == digest
        assert await _server_of(home, trueweave.workspace) == ("east" if is_moved else "home")


async def test_a_process_that_is_killed_while_it_copies_leaves_nothing(home: Database, addresses: Addresses) -> None:
    async with aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(n) for n in range(5)])
        digest = await trueweave.maintenance.digest()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUEWEAVE_")}
        given = {"DATABASE_URL": addresses["home"].url, "SERVER_URLS": json.dumps({"east": addresses["east"].url})}
        with psycopg.connect(addresses["east"].url) as held_up:
            held_up.execute("LOCK TABLE trueweave.mention IN SHARE MODE")  # so that the copy is never complete
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "trueweave", "workspace", "move", "tenant", "--to", "east"),
                env={**clean, **{f"TRUEWEAVE_{name}": value for name, value in given.items()}},
            )
            waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'trueweave.mention'::regclass AND NOT granted"
            async with asyncio.timeout(60):
                while not _value(addresses["east"].url, waiting):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            process.kill()
            await process.wait()
        assert (await trueweave.retrieve("Who wrote to Babbage?", method="keyword")).passages
        with pytest.raises(WorkspaceMoving):
            await trueweave.add_documents([document(5)])
        assert home.servers
        async with asyncio.timeout(60):
            while not await settle_copies(home.servers, "home"):  # noqa: ASYNC110 (once PostgreSQL has noticed)
                await asyncio.sleep(0.1)
        await settle_copies(home.servers, "east")
        await trueweave.add_documents([document(5)])
        await trueweave.remove(["note-5"])
        assert await trueweave.maintenance.digest() == digest
        assert _rows_left(addresses["east"].url, trueweave.workspace.id) == 0


async def test_owners_who_are_nobody_special_move_a_workspace(
    url: str,
    owned_url: str,  # noqa: F811
) -> None:
    """They are bound by row-level security themselves, as on a managed server."""
    addresses = {"home": OwnerAddress(owned_url), "east": OwnerAddress(url)}
    await migrate_servers(addresses)
    async with opened(addresses) as home, aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(n) for n in range(10)])
        for target in ("east", "home"):
            moved = await move_workspace("tenant", target, addresses)
            home.servers.expire()  # type: ignore[union-attr]
            assert moved.digest == await trueweave.maintenance.digest()
            assert (await trueweave.status()).documents == 10
            with psycopg.connect(addresses[moved.source].url) as owner:
                owner.execute("UPDATE trueweave.workspace SET left_until = now()")
            assert home.servers
            assert await settle_copies(home.servers, moved.source) == 1
        await trueweave.maintenance.drop()


async def test_one_move_at_a_time(home: Database, addresses: Addresses) -> None:
    async with aclosing(await enter(home)) as trueweave:
        await trueweave.add_documents([document(1)])
        seen: list[str] = []

        async def second() -> None:
            with pytest.raises(DatabaseError, match="is being moved or loaded in bulk by another process"):
                await move_workspace("tenant", "east", addresses)
            assert home.servers
            assert await settle_copies(home.servers, "home") == 0
            seen.append("refused")

        tasks = []

        def told(progress: MoveProgress) -> None:
            if progress.step == "copying chunk":
                tasks.append(asyncio.create_task(second()))

        await move_workspace("tenant", "east", addresses, told)
        await asyncio.gather(*tasks)
        assert seen == ["refused"]


async def test_what_is_known_lasts_while_the_home_is_away(
    home: Database, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For less than a workspace is read where it was: then nothing is read before the home says where it is."""
    async with aclosing(await _on_east(home, addresses)) as trueweave:
        known = home.servers
        assert isinstance(known, Servers)
        await trueweave.status()

        async def away(*_: object) -> dict[int, str | None]:
            raise psycopg.OperationalError("the home is away")

        with monkeypatch.context() as patch:
            patch.setattr(known, "_ask", away)
            known.expire()
            assert (await trueweave.status()).documents == 20
            patch.setattr(known, "_checked", time.monotonic() - servers.USABLE - 1)
            with pytest.raises(DatabaseError, match="the home is away"):
                await trueweave.status()
        assert (await trueweave.status()).documents == 20
    assert servers.GRACE.total_seconds() > servers.USABLE + servers.FRESH


async def test_workers_work_on_all_servers_and_follow_a_workspace(home: Database, addresses: Addresses) -> None:
    """Documents that wait are worked wherever their workspace is; jobs that wait go along with it."""
    settings = Settings(database_url=addresses["home"].url, extractor="capitals")
    async with AsyncExitStack() as stack:
        opened_ = [await AsyncTrueweave.enter(home, f"tenant {n}", settings=settings) for n in range(4)]
        for one in opened_:
            await stack.enter_async_context(aclosing(one))
            await one.jobs.submit(Source("letter", "Ada Lovelace wrote to Charles Babbage in London."))
        assert {await _server_of(home, one.workspace) for one in opened_} == {"home", "east"}
        await move_workspace(
            "tenant 0", "east" if await _server_of(home, opened_[0].workspace) == "home" else "home", addresses
        )
        stop = asyncio.Event()
        working = asyncio.create_task(work_for_all(home, settings, stop=stop))
        async with asyncio.timeout(30):
            for one in opened_:
                while (await one.status()).documents < 1:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        stop.set()
        await working
