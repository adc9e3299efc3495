"""The switch of a bulk load happens as planned or not at all; the former index is kept until the new one was read."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.integration.bulk.test_bulk import load, opened, rows, written
from tests.integration.bulk.test_bulk_writes import ACCEPTED, LOCKED, NEW, OLD, STEPS, Step, Writes, at, doc
from trueweave import AsyncTrueweave, NameKey, ResolutionSettings, Source
from trueweave.bulk.pipeline import Told
from trueweave.bulk.run import untold
from trueweave.errors import (
    ConfigError,
    DatabaseError,
    SpaceMismatch,
    UnknownWorkspace,
    WorkspaceLoading,
    WorkspaceMoving,
)
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.ingest.own import Given
from trueweave.store.postgres import bulk
from trueweave.store.postgres.cluster.temporary_workspaces import drop_expired
from trueweave.store.postgres.record import record
from trueweave.testing import HashEmbedder

LOADED = {f"a.jsonl#{n}" for n in range(20, 26)}

# What a load does with each table of a workspace. A new table has to be put here.
TREATED = {
    "carried over by the switch": """budget spend reply rejection source ingest_job ingest_job_document kept_response
        failed_work erasure summary stale_text job audit_log reader bench_question bench_run bench_outcome
        bench_passage connector_document connector_source access_rule pending_certificate watch alert alert_passage""",
    "built": """document chunk mention link facet ordered_facet recipe name name_key name_pair alike entity relation
        phrase phrase_count occurrence bm25_index chunk_words word corpus text_language stored_bytes view_version
        own_table removed_vector pending_link pending_match dirty_name dirty_pair""",
    "followed": "rule rule_name",
    "found again": "community member hierarchy report retired_community suggestion",
    "refused, as nothing can follow": "consumer projection outbox",
    "refused, as former versions would be lost": "history shown",
    "short-lived": "work_lease",
}
TABLES = """
    SELECT array_agg(table_name::text) FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'trueweave' AND column_name = 'workspace' AND table_type = 'BASE TABLE'
        AND NOT starts_with(table_name, 'vector_')
"""


def value(url: str, query: str, *params: object) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode(), params).fetchone()
        return row[0] if row else None


def change(url: str, statement: str, *params: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode(), params)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 (another process changes it)
            await asyncio.sleep(0.01)


async def start(it: AsyncTrueweave, folder: Path, told: Told = untold, embedder: HashEmbedder | None = OLD) -> None:
    """Load six documents beside the two that are there."""
    await load(
        it, folder, str(written(folder / "a.jsonl", rows(6, seed=2, first=20))), told=told, given=Given(embedder)
    )


async def prepare(it: AsyncTrueweave) -> None:
    await it.add_documents([doc("here", "Ada Lovelace", "London"), doc("there", "Grace Hopper", "Cobol")])


async def uris(database: Database, folder: Path) -> set[str]:
    async with opened(database, "bulk", folder, OLD) as it:
        assert (await it.maintenance.verify()).exact
        return {one.uri for one in await it.list_documents(100)}


async def test_one_who_writes_all_the_time_neither_stops_a_load_nor_loses_anything(
    database: Database, tmp_path: Path
) -> None:
    """Each time that the load has caught up there is more, so the last round is made while writers wait."""
    loop, added = asyncio.get_running_loop(), [0]
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)

        async def write() -> None:
            n = added[0] = added[0] + 1
            await it.add_documents([doc(f"more-{n}", "Alan Turing", f"Church {n}")])
            await it.remove([f"more-{n - 1}" if n > 1 else "here"])
            await it.rules.change_resolution(ResolutionSettings("fuzzy", 80 + n))
            if n % 2:
                await it.rules.merge(NameKey("Cobol"), NameKey(f"Church {n}"))
            else:
                await it.rules.undo((await it.rules.all())[-1].id)
            await it.communities.find()

        def told(stage: str, done: int, _total: int) -> None:
            if (stage, done) == ("Catching up", 1):
                asyncio.run_coroutine_threadsafe(write(), loop).result(60)

        await start(it, tmp_path, told)
    assert added == [5]
    assert await uris(database, tmp_path) == {"there", "more-5", *LOADED}
    async with opened(database, "bulk", tmp_path, OLD) as it:
        assert await it.rules.resolution() == ResolutionSettings("fuzzy", 85)
        assert [rule.names for rule in await it.rules.all()] == [(NameKey("Church 5"), NameKey("Cobol"))]
        assert await it.communities.hierarchy()


async def test_a_load_ends_with_an_error_if_documents_are_switched_off_until_its_last_round(
    database: Database, tmp_path: Path
) -> None:
    """They would be visible after the switch, until they are settled."""
    loop, switched = asyncio.get_running_loop(), [0]
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)

        async def switch() -> None:
            switched[0] += 1
            await (it.switch_off if switched[0] % 2 else it.switch_on)(["here"])

        def told(stage: str, done: int, _total: int) -> None:
            if (stage, done) == ("Catching up", 1):
                asyncio.run_coroutine_threadsafe(switch(), loop).result(60)

        with pytest.raises(DatabaseError, match="switched off again and again"):
            await start(it, tmp_path, told)
        assert switched == [5]
        assert await uris(database, tmp_path) == {"there"}
        await start(it, tmp_path)
    assert await uris(database, tmp_path) == {"there", *LOADED}
    async with opened(database, "bulk", tmp_path, OLD) as it:
        assert [one.uri for one in await it.list_documents(state="off")] == ["here"]
        assert await it.switch_on(["here"]) == 1
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


async def test_who_writes_during_the_switch_waits_and_is_told_to_open_the_workspace_again(
    database: Database, url: str, tmp_path: Path
) -> None:
    kinds = (*ACCEPTED, "budget", "reembed", "project", "move", "load")
    waiting: list[asyncio.Task[None]] = []
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with Database(url, connections=20) as others, opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        rule = await it.rules.merge(NameKey("Ada Lovelace"), NameKey("Grace Hopper"))
        await it.maintenance.settle()
        (tmp_path / "other").mkdir()
        async with opened(others, "bulk", tmp_path, OLD) as other:
            writes = Writes(others, other, tmp_path, rule.id)

            async def begin() -> None:
                waiting.extend(asyncio.create_task(writes.make(kind)) for kind in kinds)
                await until(lambda: int(str(value(url, locks))) >= len(ACCEPTED) + 3)

            await start(it, tmp_path, at(LOCKED, begin))
            await asyncio.gather(*waiting)
    assert not writes.acknowledged
    expected = {"move": DatabaseError, "load": WorkspaceLoading}
    for kind in kinds:
        assert isinstance(writes.raised[kind], expected.get(kind, UnknownWorkspace)), (kind, writes.raised[kind])
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


@pytest.mark.parametrize("step", [*STEPS, LOCKED], ids=lambda step: f"{step[0]} {step[1]}")
async def test_a_workspace_that_is_dropped_during_a_load_stays_dropped(
    database: Database, url: str, tmp_path: Path, step: Step
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)

        async def drop() -> None:
            async with database.transaction(it.workspace.id, dropping=True) as tx:
                await tx.run("read.begin_drop")  # the rest waits for the switch

        with pytest.raises((UnknownWorkspace, DatabaseError), match="dropped"):
            await start(it, tmp_path, at(step, drop))
    async with opened(database, "other", tmp_path) as other:
        await it.maintenance.drop()
        assert value(url, "SELECT count(*) FROM trueweave.workspace") == 1
        assert other.workspace.id == value(url, "SELECT id FROM trueweave.workspace")


async def test_dropping_by_a_handle_from_before_the_switch_is_refused(database: Database, tmp_path: Path) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        await start(it, tmp_path)
        with pytest.raises(UnknownWorkspace, match="Open it again"):
            await it.maintenance.drop()
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


@pytest.mark.parametrize("step", [("Counting words", 0), ("Catching up", 1), LOCKED], ids=str)
async def test_a_load_whose_index_was_dropped_as_left_behind_fails_and_changes_nothing(
    database: Database, url: str, tmp_path: Path, step: Step
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)

        async def expire() -> None:
            await asyncio.to_thread(
                change, url, "UPDATE trueweave.workspace SET expires = '-infinity' WHERE name LIKE 'bulk-%%'"
            )
            assert await drop_expired(database) == 1

        with pytest.raises(DatabaseError, match="Run the same command again"):
            await start(it, tmp_path, at(step, expire))
    assert await uris(database, tmp_path) == {"here", "there"}


async def test_an_index_that_expires_while_it_is_switched_to_is_not_dropped(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        made = await database.find_workspace("made", make=True)
        assert made
        copied = "UPDATE trueweave.workspace SET expires = '-infinity', space = (SELECT space FROM trueweave.workspace "
        change(url, f"{copied} WHERE name = 'bulk') WHERE name = 'made'")
        async with bulk.alone(it.workspace) as tx:
            await bulk.replace_by(tx, made.id)
            assert await drop_expired(database) == 0
        assert await drop_expired(database) == 0
    assert await uris(database, tmp_path) == set()  # nothing was built in it: what matters is that it is there


@pytest.mark.parametrize("wrong", ["missing", "dropped", "lasting", "moved", "space", "resolution", "rule", "target"])
async def test_a_switch_that_is_not_as_planned_raises_and_changes_nothing(
    database: Database, url: str, tmp_path: Path, wrong: str
) -> None:
    update = "UPDATE trueweave.workspace SET"
    planned = f"{update} space = (SELECT space FROM trueweave.workspace WHERE name = 'bulk'), expires = now() + '1 h' "
    changes = {
        "missing": "DELETE FROM trueweave.workspace WHERE name = 'made'",
        "dropped": f"{update} dropped = true WHERE name = 'made'",
        "lasting": f"{update} expires = NULL WHERE name = 'made'",
        "moved": f"{update} server = 'east', place = 'left' WHERE name = 'bulk'",
        "space": f"{update} space = NULL WHERE name = 'made'",
        "resolution": f"{update} threshold = 80 WHERE name = 'made'",
        "rule": f"{update} rules_hash = 7 WHERE name = 'made'",
        "target": f"{update} expires = 'infinity' WHERE name = 'bulk'",
    }
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        made = await database.find_workspace("made", make=True)
        assert made
        change(url, f"{planned} WHERE name = 'made'")
        change(url, changes[wrong])
        rows_before = value(url, "SELECT array_agg(w ORDER BY id)::text FROM trueweave.workspace w")
        with pytest.raises(DatabaseError, match="switching to the bulk load failed"):
            async with bulk.alone(it.workspace) as tx:
                await bulk.replace_by(tx, made.id)
        assert value(url, "SELECT array_agg(w ORDER BY id)::text FROM trueweave.workspace w") == rows_before


async def test_the_former_index_is_kept_until_the_new_one_was_read(
    database: Database, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The process of the load is gone right after the switch, and the new index cannot be read at first."""

    async def die(_workspace: object) -> None:
        raise DatabaseError("killed here")

    monkeypatch.setattr("trueweave.bulk.run.release_replaced_by", die)
    expires = "SELECT expires::text FROM trueweave.workspace WHERE replaced_by IS NOT NULL"
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        with pytest.raises(DatabaseError, match="killed here"):
            await start(it, tmp_path)
        change(url, "ALTER TABLE trueweave.relation RENAME TO moved_away")
        assert await drop_expired(database) == 0
        assert "cannot be read" in caplog.text
        assert value(url, expires) == "infinity"
        change(url, "ALTER TABLE trueweave.moved_away RENAME TO relation")
        assert await drop_expired(database) == 0
        assert value(url, expires) != "infinity"
        change(url, "UPDATE trueweave.workspace SET expires = now() - '1 s'::interval WHERE replaced_by IS NOT NULL")
        assert await drop_expired(database) == 1
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


async def test_a_former_index_whose_successor_was_dropped_expires(
    database: Database, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(_workspace: object) -> None:
        raise DatabaseError("killed here")

    monkeypatch.setattr("trueweave.bulk.run.release_replaced_by", die)
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        with pytest.raises(DatabaseError, match="killed here"):
            await start(it, tmp_path)
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await it.maintenance.drop()
    await drop_expired(database)
    assert value(url, "SELECT expires < 'infinity' FROM trueweave.workspace")


async def test_a_load_is_refused_while_the_workspace_is_moved_or_embedded_anew(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        number = it.workspace.id
        with psycopg.connect(url, autocommit=True) as mover:
            mover.execute("SELECT pg_advisory_lock(1415005014, %s)", (number,))
            with pytest.raises(WorkspaceMoving):
                await start(it, tmp_path)
        change(url, "UPDATE trueweave.workspace SET next_space = 99 WHERE id = %s", number)
        with pytest.raises(WorkspaceLoading, match="reembed MODEL"):
            await start(it, tmp_path)
        change(url, "UPDATE trueweave.workspace SET next_space = NULL WHERE id = %s", number)
        with pytest.raises(SpaceMismatch):
            await start(it, tmp_path, embedder=NEW)
        change(url, "UPDATE trueweave.workspace SET place = 'draining' WHERE id = %s", number)  # by a move that died
        await start(it, tmp_path)
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


async def test_first_vectors_that_come_during_a_load_without_a_model_are_not_lost(
    database: Database, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path) as it:
        await prepare(it)

        async def embed() -> None:
            async with opened(database, "bulk", tmp_path, OLD) as other:
                await other.add_documents([doc("more", "Alan Turing", "Alonzo Church")])

        with pytest.raises(DatabaseError, match="embedding model"):
            await start(it, tmp_path, at(("Counting words", 0), embed), embedder=None)
    assert await uris(database, tmp_path) == {"here", "there", "more"}


async def test_a_document_that_could_not_be_indexed_by_a_bug_is_still_there_after_a_load(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        await record.store(it.workspace, [contribution(doc("failed", "Ida Rhodes", "London"))])
        failed = (
            "INSERT INTO trueweave.failed_work (workspace, kind, subject, label, error) "
            "VALUES (%s, 'settle', 'failed', 'failed', 'x')"
        )
        change(url, failed, it.workspace.id)
        await start(it, tmp_path)
    async with opened(database, "bulk", tmp_path, OLD) as it:
        assert (await it.status()).waiting_documents == 1
        assert [one.about for one in await it.maintenance.failed_work()] == ["failed"]
        await it.maintenance.retry()
    assert await uris(database, tmp_path) == {"here", "there", "failed", *LOADED}


LOADER = """
import asyncio, sys, time
from pathlib import Path
from tests.integration.bulk.test_bulk import load, opened
from trueweave.ingest.own import Given
from trueweave.extend import Database
from trueweave.testing import HashEmbedder

def told(stage, done, total):
    if stage == "Resolving names":
        print("loading", flush=True)
        time.sleep(600)

async def main(url, folder):
    async with Database(url) as database, opened(database, "bulk", folder, HashEmbedder(8)) as it:
        await load(it, folder, str(folder / "a.jsonl"), told=told, given=Given(HashEmbedder(8)))

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""


async def test_a_load_that_was_killed_does_not_keep_another_one_from_starting(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        written(tmp_path / "a.jsonl", rows(6, seed=2, first=20))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", LOADER, url, str(tmp_path)),
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[3],  # where it finds the tests
        )
        assert process.stdout
        assert await process.stdout.readline() == b"loading\n"
        with pytest.raises(WorkspaceLoading):
            await start(it, tmp_path)
        process.kill()
        await process.wait()
        await until(lambda: value(url, "SELECT count(*) FROM pg_locks WHERE classid = 1415005015") == 0)
        await start(it, tmp_path)
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


async def test_a_workspace_that_keeps_history_is_not_loaded(database: Database, tmp_path: Path) -> None:
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await prepare(it)
        async with bulk.only_load(it.workspace):
            with pytest.raises(WorkspaceLoading, match="keeping history is not possible during the load"):
                await it.history.keep()
        await it.history.keep()
        with pytest.raises(ConfigError, match="keeps history, which a bulk load would lose"):
            await start(it, tmp_path)
        await it.history.end()
        await start(it, tmp_path)
    assert await uris(database, tmp_path) == {"here", "there", *LOADED}


async def test_every_table_of_a_workspace_is_carried_over_or_built_by_a_load(url: str) -> None:
    """A new table has to be put into one of these lists, which say what a load does with it."""
    there = value(url, TABLES)
    assert isinstance(there, list)
    assert set(there) == {table for tables in TREATED.values() for table in tables.split()}


async def test_a_document_keeps_how_it_was_processed_and_its_readers(database: Database, tmp_path: Path) -> None:
    async def kept(it: AsyncTrueweave) -> dict[str, tuple[bool, list[str]]]:
        query = "SELECT uri, recipe IS NOT NULL, readers FROM document WHERE uri IN ('open', 'hr')"
        async with it.workspace.transaction() as tx:
            return {uri: (made, readers) for uri, made, readers in await (await tx.execute(query)).fetchall()}

    expected = {"open": (True, []), "hr": (True, ["hr"])}
    async with opened(database, "bulk", tmp_path, OLD) as it:
        await it.add(Source("open", "Ada Lovelace met Babbage."), Source("hr", "Ada Lovelace earns.", readers=("hr",)))
        assert await kept(it) == expected
        await start(it, tmp_path)
    async with opened(database, "bulk", tmp_path, OLD) as it:
        assert await kept(it) == expected
