"""The queue: each workspace sees its own jobs, and a worker for all gives each its turn."""

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import psycopg
import pytest

from tests.integration.ingest.test_worker import CAPITALS, QUICK, Scripted
from trueweave import AsyncTrueweave, Chunk, Settings, Source
from trueweave.core.events import ignore
from trueweave.engine.worker import work_for_all
from trueweave.errors import ModelRefused, UnknownWorkspace
from trueweave.extend import Database, Extraction, Workspace
from trueweave.ingest import worker as workers
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.worker import Worker, worker_of
from trueweave.store.postgres.queue import queue
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.queue.queue import Queue
from trueweave.store.postgres.record import record, sources
from trueweave.testing import HashEmbedder

PATIENCE = 60


def make_workspaces(url: str, number: int) -> list[int]:
    """New workspaces with nothing in them."""
    with psycopg.connect(url, autocommit=True) as owner:
        made = "INSERT INTO trueweave.workspace (name) SELECT 'tenant ' || n FROM generate_series(1, %s) n RETURNING id"
        return sorted(id_ for (id_,) in owner.execute(made, (number,)))


def put(url: str, *jobs: tuple[int, int]) -> None:
    """So many jobs into each of these workspaces."""
    with psycopg.connect(url, autocommit=True) as owner:
        for workspace, number in jobs:
            one = "INSERT INTO trueweave.job (workspace, kind) SELECT %s, 'document' FROM generate_series(1, %s)"
            owner.execute(one, (workspace, number))


def left(url: str) -> int:
    with psycopg.connect(url) as owner:
        row = owner.execute("SELECT count(*) FROM trueweave.job").fetchone()
    assert row
    return int(row[0])


async def test_no_workspace_sees_or_changes_another_s_jobs(database: Database, url: str) -> None:
    mine, other = [await AsyncTrueweave.enter(database, name, HashEmbedder()) for name in ("mine", "other")]
    async with other.workspace.transaction() as tx:
        await queue.enqueue(tx, "document", [b"secret uri"])
    assert left(url) == 1
    async with mine.workspace.transaction() as tx:
        for statement in ("SELECT FROM job", "DELETE FROM job", "UPDATE job SET kind = kind"):
            assert (await tx.connection.execute(statement.encode())).rowcount == 0, statement
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        async with mine.workspace.transaction() as tx:
            await tx.connection.execute(
                f"INSERT INTO job (workspace, kind) VALUES ({other.workspace.id}, 'x')".encode()
            )
    async with Liveness(database) as liveness:
        assert await Queue(database, liveness, mine.workspace, share=10).claim(10, 0) == []
        [claimed] = await Queue(database, liveness, other.workspace, share=10).claim(10, 0)
        assert claimed.payload == b"secret uri"


async def test_workspaces_take_turns_and_one_with_many_jobs_makes_no_other_wait(
    database: Database, liveness: Liveness, url: str
) -> None:
    ids = make_workspaces(url, 1001)
    busy, others = ids[500], {*ids} - {ids[500]}
    put(url, (busy, 10_000))
    workers_ = [Queue(database, liveness, None, share=1000) for _ in range(3)]
    for one in workers_:  # at work in the busy one, before the others have anything to do
        assert {job.workspace for job in await one.claim(4, 0)} == {busy}
    put(url, *((id_, 1) for id_ in others))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE trueweave.job")
    order: list[int] = []
    before: dict[int, int] = {}
    while len(before) < len(others):
        for one in workers_:
            claimed = await one.claim(8, 0)
            assert len(claimed) == 8
            for job in claimed:
                order.append(job.workspace)
                if job.workspace != busy:
                    before[job.workspace] = order.count(busy)
                await one.finish(job)
    assert order.count(busy) >= len(workers_)
    assert max(before.values()) <= len(workers_)  # jobs of the busy one that went before


async def test_a_limit_holds_for_a_workspace_over_all_workers_and_a_share_at_each(
    database: Database, liveness: Liveness, url: str
) -> None:
    limited, open_ = make_workspaces(url, 2)
    put(url, (limited, 50), (open_, 50))
    await AsyncTrueweave(Workspace(database, limited), settings=Settings()).maintenance.change_settings(
        {"jobs_at_once": 3}
    )
    here, there = (Queue(database, liveness, None, share=10, limit=40) for _ in range(2))
    counts = Counter(job.workspace for job in await here.claim(100, 0))
    assert counts == {limited: 3, open_: 10}
    async with Liveness(database) as elsewhere:
        there = Queue(database, elsewhere, None, share=10, limit=15)
        claimed = await there.claim(100, 0)
        assert Counter(job.workspace for job in claimed) == {open_: 5}
        await there.release((claimed[0], 0.0))
        assert len(await there.claim(100, 0)) == 1


async def test_settling_is_done_by_one_at_a_time_and_goes_first(database: Database, liveness: Liveness) -> None:
    one = await AsyncTrueweave.enter(database, "one")
    async with one.workspace.transaction() as tx:
        await queue.enqueue(tx, "document", [b"[]"] * 3)
        await queue.enqueue(tx, "settle", [b""] * 3)
        await queue.ask_for(tx, "settle")
        await queue.ask_for(tx, "settle", after=5)
    claims = Queue(database, liveness, one.workspace, share=10)
    claimed = await claims.claim(10, 0)
    assert [job.kind for job in claimed] == ["settle", "document", "document", "document"]
    await claims.finish(claimed[0])
    assert [job.kind for job in await claims.claim(10, 0)] == ["settle"]


async def test_jobs_of_a_process_that_is_gone_are_claimed_by_others(
    database: Database, liveness: Liveness, url: str
) -> None:
    [id_] = make_workspaces(url, 1)
    put(url, (id_, 1))
    async with Liveness(database) as dying:
        [lost] = await Queue(database, dying, None, share=5).claim(5, 0)
        alive = Queue(database, liveness, None, share=5)
        assert await alive.claim(5, 0) == []
    [found] = await alive.claim(5, 2)
    assert found.id == lost.id
    await Queue(database, dying, None, share=5).finish(lost)  # it comes back, and has no say any more
    assert left(url) == 1
    await alive.finish(found)
    assert left(url) == 0


async def test_jobs_that_a_worker_does_not_know_it_claimed_wait_again(
    database: Database, liveness: Liveness, url: str
) -> None:
    [id_] = make_workspaces(url, 1)
    put(url, (id_, 3))
    mine, other = (Queue(database, liveness, None, share=5) for _ in range(2))
    [known] = await mine.claim(1, 0)
    [_lost] = await mine.claim(1, 0)  # as if the connection had broken before this came back
    [of_another] = await other.claim(5, 0)
    await mine.release_unknown([known])
    [again] = await mine.claim(5, 0)
    assert again.id == _lost.id
    await other.finish(of_another)
    assert left(url) == 2


async def test_a_worker_of_a_workspace_that_was_dropped_is_told_so(database: Database) -> None:
    dropped = await AsyncTrueweave.enter(database, "dropped", HashEmbedder())
    await dropped.maintenance.drop()
    with pytest.raises(UnknownWorkspace):
        await worker_of(dropped.workspace, WorkerDependencies(lambda _: Scripted())).run()


async def test_one_worker_works_for_all_workspaces_on_few_connections(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_OPEN", 5)
    opened = [await AsyncTrueweave.enter(database, f"tenant {n}", settings=Settings()) for n in range(20)]
    for one in opened:
        await take_in(one.workspace, [Source("a", "Ada met Bob"), Source("b", "Bob met Cy")], CAPITALS, ignore)
    stop = asyncio.Event()
    most = 0
    async with Database(url, connections=4) as own:
        working = asyncio.create_task(work_for_all(own, Settings(extractor="capitals"), stop=stop))
        async with asyncio.timeout(PATIENCE):
            while left(url) or any([(await one.status()).documents < 2 for one in opened]):
                assert not working.done()
                with psycopg.connect(url) as owner:
                    seen = owner.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
                    most = max(most, (seen.fetchone() or (0,))[0])
                await asyncio.sleep(0.05)
        stop.set()
        await working
    assert most <= 4 + 1 + 10 + 1  # its pool and its lease, and the pool and the connection of this test
    assert {(await one.status()).entities for one in opened} == {2}


async def test_a_workspace_whose_settings_are_at_fault_stops_nobody_else(database: Database, url: str) -> None:
    bad, good = [await AsyncTrueweave.enter(database, name, settings=Settings()) for name in ("bad", "good")]
    for one in (bad, good):
        await take_in(one.workspace, [Source("a", "Ada met Bob")], CAPITALS, ignore)

    class Refused(Scripted):
        async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
            raise ModelRefused("the key is wrong")

    @asynccontextmanager
    async def dependencies(workspace: Workspace) -> AsyncIterator[WorkerDependencies]:
        extractor = Refused() if workspace.id == bad.workspace.id else Scripted()
        yield WorkerDependencies(lambda _: extractor)

    worker = Worker(database, dependencies, pace=QUICK, patient=True)
    working = asyncio.create_task(worker.run())
    async with asyncio.timeout(PATIENCE):
        while (await good.status()).documents < 1:  # noqa: ASYNC110 (the worker acts)
            await asyncio.sleep(0.02)
    worker.stop()
    await working
    assert (await bad.status()).documents == 0
    assert left(url) >= 1


async def test_removing_a_document_takes_it_out_of_jobs_that_wait_and_reads_none_of_them(database: Database) -> None:
    """However long the queue is: what a process reads of it is not more for more jobs."""
    mine = await AsyncTrueweave.enter(database, "mine", HashEmbedder())
    jobs = [sources.Job(f"{n}/{'x' * 2000}", uuid4()) for n in range(4000)]
    payloads = [sources.packed(jobs[n : n + 16]) for n in range(0, len(jobs), 16)]
    async with mine.workspace.transaction() as tx:
        await queue.enqueue(tx, "document", [*payloads, b"", sources.packed(jobs[:1])])
        await queue.enqueue(tx, "settle", [b""])
    gone = [jobs[0].uri, jobs[1].uri, jobs[3999].uri]
    tracemalloc.start()
    await record.withdraw(mine.workspace, gone)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    async with mine.workspace.transaction() as tx:
        rows = await (await tx.execute("SELECT payload FROM job WHERE kind = 'document' ORDER BY id")).fetchall()
        left = [sources.unpacked(bytes(payload)) for (payload,) in rows]
    assert [job for some in left for job in some] == [job for job in jobs if job.uri not in gone]
    assert len(left) == 251, "the job that was for one of them alone is gone, and the others are where they were"
