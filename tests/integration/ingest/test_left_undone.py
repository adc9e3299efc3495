"""What somebody had to leave undone, at whatever moment, is taken up by whoever works next."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import combinations
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.integration.ingest.test_worker import CAPITALS, QUICK, Mill
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings, Source
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.engine.storing import store
from trueweave.errors import Defect
from trueweave.extend import Database, Vectors
from trueweave.graph.contribution import contribution
from trueweave.index.settle import SettleResult, settle
from trueweave.ingest import jobs
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import Postponed, WorkerControls, WorkerDependencies, WorkspaceJobs
from trueweave.ingest.worker import worker_of
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue import leases
from trueweave.store.postgres.queue.leases import LeaseKind
from trueweave.store.postgres.queue.liveness import LEASE, Liveness
from trueweave.store.postgres.queue.queue import Kind, enqueue, forget_jobs
from trueweave.testing import Faults, HashEmbedder, ModelServer

DUE = "SELECT 1 FROM trueweave.document WHERE current <> visible FOR UPDATE"


@pytest.fixture
def mill(trueweave: AsyncTrueweave) -> Mill:
    return Mill(trueweave)


async def finished(mill: Mill, kit: WorkerDependencies | None = None) -> None:
    """Work until nothing is left."""
    kit = kit or WorkerDependencies(lambda _: mill.extractor, HashEmbedder())
    made = worker_of(mill.trueweave.workspace, kit, mill.events.append, replace(QUICK, idle=0.1))
    no_more = asyncio.Event()
    no_more.set()
    await asyncio.wait_for(made.run_until_done(no_more), 20)


async def handed_in(mill: Mill, *sources: Source) -> None:
    await take_in(mill.trueweave.workspace, sources, CAPITALS, mill.events.append)


async def eventually(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await what():  # noqa: ASYNC110 (other processes act too)
            await asyncio.sleep(0.02)


async def test_descriptions_that_others_left_to_be_summed_up_are_summed_up(mill: Mill) -> None:
    said = [Mention("Ada", description=f"{n} " + "she wrote letters " * 20) for n in range(20)]
    chunks = tuple(Chunk(f"Ada {n}", start=10 * n, mentions=(mention,)) for n, mention in enumerate(said))
    await mill.trueweave.add_documents([Document("a", chunks)])
    asked: list[str] = []

    async def summarise(name: str, descriptions: str) -> str:
        asked.append(name)
        return "She wrote."

    await finished(mill, WorkerDependencies(lambda _: mill.extractor, HashEmbedder(), summarise))
    assert asked == ["Ada"]
    assert [entity.summary for entity in await mill.trueweave.graph.entities()] == ["She wrote."]


async def test_what_another_settler_held_and_then_left_is_settled(mill: Mill, url: str) -> None:
    await store(mill.trueweave._core, [contribution(Document("a", (Chunk("Ada", mentions=(Mention("Ada"),)),)))])
    async with await psycopg.AsyncConnection.connect(url) as other:
        assert (await other.execute(DUE)).rowcount == 1
        working = asyncio.create_task(finished(mill))
        await asyncio.sleep(1)
        assert (await mill.trueweave.status()).entities == 0
        await other.rollback()
        await working
    assert (await mill.trueweave.status()).entities == 1


async def hold(mill: Mill, kind: LeaseKind, subject: str = "") -> None:
    """Take a lease as a process that dies right after; it lasts until `expire`."""
    async with mill.trueweave.workspace.transaction() as tx:
        assert await leases.take(tx, uuid4(), kind, {subject})
        await tx.execute("UPDATE work_lease SET until = clock_timestamp() + interval '1 hour'")


async def expire(mill: Mill) -> None:
    async with mill.trueweave.workspace.transaction() as tx:
        await tx.execute("UPDATE work_lease SET until = now() WHERE until > now() + interval '1 minute'")


async def run_job(mill: Mill, kind: Kind) -> None:
    """Run a job of a kind in an otherwise empty queue."""
    async with mill.trueweave.workspace.transaction() as tx:
        await forget_jobs(tx)
    kit = WorkerDependencies(lambda _: mill.extractor, HashEmbedder())
    patient = replace(QUICK, try_again_after=leases.SECONDS)  # what is asked for again must not be due at once
    controls = WorkerControls(mill.events.append, patient, asyncio.Semaphore(1), asyncio.Event(), lambda: None)
    jobs = WorkspaceJobs(mill.trueweave.workspace, kit, controls, lambda error: Postponed(str(error)))
    await jobs.carry_out(kind, b"")


async def queued(mill: Mill) -> dict[str, float]:
    """The kinds of the jobs in the queue, each with the seconds until it is due."""
    async with mill.trueweave.workspace.transaction() as tx:
        rows = await tx.execute("SELECT kind, max(extract(epoch FROM due - now())) FROM job GROUP BY kind")
        return {kind: float(due) for kind, due in await rows.fetchall()}


async def test_documents_of_a_dead_settler_are_indexed_although_others_were_indexed_meanwhile(mill: Mill) -> None:
    await store(mill.trueweave._core, [contribution(Document("a", (Chunk("Ada", mentions=(Mention("Ada"),)),)))])
    await hold(mill, "document", "a")
    await handed_in(mill, Source("b", "Bob"))
    working = asyncio.create_task(finished(mill))

    async def bob_is_indexed() -> bool:
        return [entity.name for entity in await mill.trueweave.graph.entities()] == ["Bob"]

    await eventually(bob_is_indexed)
    assert not working.done()
    await expire(mill)
    await working
    assert {entity.name for entity in await mill.trueweave.graph.entities()} == {"Ada", "Bob"}


async def test_settling_asks_again_for_what_another_holds_whatever_else_it_settled(mill: Mill) -> None:
    for name in ("Ada", "Bob"):
        await store(mill.trueweave._core, [contribution(Document(name, (Chunk(name, mentions=(Mention(name),)),)))])
    await hold(mill, "document", "Ada")
    await run_job(mill, "settle")
    assert [entity.name for entity in await mill.trueweave.graph.entities()] == ["Bob"]
    assert (await queued(mill))["settle"] <= leases.SECONDS
    await expire(mill)
    await run_job(mill, "settle")
    assert (await mill.trueweave.status()).entities == 2
    assert await queued(mill) == {}


async def test_a_large_document_of_a_dead_settler_is_asked_for_again(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("trueweave.ingest.jobs", "trueweave.index.settle"):
        monkeypatch.setattr(f"{module}.ROWS_AT_ONCE", 1)
    mentions = tuple(map(Mention, ("Ada", "Bob", "Carol")))
    await store(mill.trueweave._core, [contribution(Document("a", (Chunk("Ada Bob Carol", mentions=mentions),)))])
    await hold(mill, "document", "a")
    await run_job(mill, "large")
    assert 0 < (await queued(mill))["large"] <= leases.SECONDS
    await expire(mill)
    await run_job(mill, "large")
    assert (await mill.trueweave.status()).entities == 3
    assert await queued(mill) == {}


async def test_reports_that_a_dead_process_was_writing_are_asked_for_again(mill: Mill) -> None:
    names = ("Ada", "Bob", "Carol")
    links = tuple(Link(a, b) for a, b in combinations(names, 2))
    chunk = Chunk("Ada Bob Carol", mentions=tuple(map(Mention, names)), links=links)
    await mill.trueweave.add_documents([Document("a", (chunk,))])
    assert (await mill.trueweave.communities.find()).added
    await mill.trueweave.communities.request_reports()
    await hold(mill, "reports")
    await run_job(mill, "report")
    assert 0 < (await queued(mill))["report"] <= leases.SECONDS
    await expire(mill)
    await run_job(mill, "report")
    assert await queued(mill) == {}


def test_leases_on_documents_end_before_others_notice_that_their_process_is_dead() -> None:
    """Otherwise a worker that takes over the jobs of a dead process finds their documents taken."""
    assert leases.SECONDS < LEASE


async def test_one_settling_does_for_all_that_wait(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    await handed_in(mill, Source("a", "Ada knows Bob"))
    settled = 0

    async def counted(*given: Any, **named: Any) -> SettleResult:
        nonlocal settled
        settled += 1
        return await settle(*given, **named)

    monkeypatch.setattr(jobs, "settle", counted)
    async with mill.trueweave.workspace.transaction() as tx:
        await enqueue(tx, "settle", [b""] * 100)
    await finished(mill)
    assert settled < 10


async def test_a_bug_of_an_embedding_model_ends_a_run_and_leaves_the_job(mill: Mill) -> None:
    class Broken(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            raise KeyError("a bug")

    await handed_in(mill, Source("a", "Ada knows Bob"))
    with pytest.raises(Defect, match="a bug"):
        await finished(mill, WorkerDependencies(lambda _: mill.extractor, Broken()))
    await finished(mill)
    assert (await mill.trueweave.status()).entities == 3


async def test_a_document_is_not_blamed_for_a_database_that_went_away_again_and_again(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_STARTS", 3)
    mill.extractor.error = psycopg.OperationalError("away")
    await handed_in(mill, Source("a", "Ada"))
    working = asyncio.create_task(finished(mill))

    async def is_tried_often() -> bool:
        return len(mill.extractor.worked) > 5

    await eventually(is_tried_often)
    mill.extractor.error = None
    await working
    assert await mill.trueweave.maintenance.failed_documents() == []


async def test_documents_are_handed_in_though_the_database_was_away(url: str) -> None:
    faults = Faults()
    async with Database(url, connection_class=faults.connection_class()) as database:
        mill = Mill(await AsyncTrueweave.enter(database, "test", HashEmbedder()))
        for chance in range(8):
            faults.break_at(chance)
            await handed_in(mill, Source("a", f"Ada {chance}"))
            faults.break_at(None)
        await finished(mill)
        assert [chunk.text async for d in mill.trueweave.documents() for chunk in d.chunks] == ["Ada 7"]


async def test_a_worker_waits_for_a_database_that_is_lost_while_it_starts(url: str) -> None:
    faults, stop = Faults(), asyncio.Event()
    stop.set()
    async with (
        ModelServer(lambda _: "") as server,
        Database(url, connection_class=faults.connection_class()) as database,
    ):
        settings = Settings(extractor="capitals", embedding_model="vllm/any", embedding_url=server.url)
        for chance in range(25):
            async with aclosing(await AsyncTrueweave.enter(database, f"test {chance}", settings=settings)) as trueweave:
                faults.break_at(chance)
                await asyncio.wait_for(trueweave.work(stop=stop), 20)
                faults.break_at(None)


async def test_one_who_lives_keeps_what_it_asks_for_when_the_database_was_away(url: str, database: Database) -> None:
    workspace = await database.find_workspace("test", make=True)
    assert workspace
    async with Liveness(database) as here, Liveness(database) as there:
        replies = PostgresReplies(workspace, here, "m")
        key = uuid4()
        assert await replies.ask(key) is None
        other = asyncio.create_task(PostgresReplies(workspace, there, "m").ask(key))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND datname = current_database()"
            )
        await asyncio.sleep(2)
        assert not other.done()
        await replies.keep(key, b"reply", Purpose("answer"))
        assert await asyncio.wait_for(other, 5) == b"reply"
