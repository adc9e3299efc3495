"""A failure in one workspace stays there, and one of a background task is seen: the others go on."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import QueryCanceled, UndefinedTable

from tests.integration.serving import serving
from trueweave import AsyncTrueweave, Chunk, Document, Listener, Mention, Settings, Source, TrueweaveError
from trueweave.core.projections import ProjectedKind, ProjectionCopy
from trueweave.core.protocols import NameLookup
from trueweave.engine.worker import Serving, work_for_all
from trueweave.errors import DatabaseError, StoreError
from trueweave.extend import Database, ProjectedBatch, VectorKind, Workspace
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.worker import Worker
from trueweave.server import services
from trueweave.store.postgres.projection import projections
from trueweave.store.projection import projector
from trueweave.store.projection.projector import Projector

SETTINGS = Settings(extractor="capitals")
TIMED_OUT = QueryCanceled("canceling statement due to statement timeout")


async def eventually(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await what():  # noqa: ASYNC110 (others act)
            await asyncio.sleep(0.02)


@asynccontextmanager
async def beside(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> AsyncIterator[asyncio.Task[None]]:
    """A task that works until it is stopped, beside what is done inside."""
    stop = asyncio.Event()
    task = asyncio.create_task(work(stop))
    try:
        yield task
        stop.set()
        await asyncio.wait_for(task, 30)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def two(database: Database) -> AsyncIterator[tuple[AsyncTrueweave, AsyncTrueweave]]:
    """Two workspaces, made in this order."""
    async with (
        aclosing(await AsyncTrueweave.enter(database, "one", settings=SETTINGS)) as one,
        aclosing(await AsyncTrueweave.enter(database, "two", settings=SETTINGS)) as other,
    ):
        yield one, other


# --- workers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [TIMED_OUT, UndefinedTable("no such table"), DatabaseError("read only"), KeyError("bug")]
)
async def test_a_worker_for_all_goes_on_when_the_jobs_of_one_workspace_fail(
    database: Database, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: Counter[int] = Counter()
    real = Serving.dependencies

    @asynccontextmanager
    async def dependencies(self: Serving, workspace: Workspace) -> AsyncIterator[WorkerDependencies]:
        tried[workspace.id] += 1
        if workspace.id == one.workspace.id and tried[workspace.id] <= 2:
            raise error
        async with real(self, workspace) as found:
            yield found

    monkeypatch.setattr(Serving, "dependencies", dependencies)
    settings = SETTINGS.model_copy(update={"try_again_after": 0.05})
    async with two(database) as (one, other):
        for trueweave in (one, other):
            await trueweave.jobs.submit(Source("a", "Ada met Bob."))
        async with beside(lambda stop: work_for_all(database, settings, stop=stop)) as working:

            async def are_indexed() -> bool:
                assert not working.done(), working.exception()
                return [(await trueweave.status()).documents for trueweave in (one, other)] == [1, 1]

            await eventually(are_indexed)


async def test_a_workspace_that_keeps_failing_is_tried_less_and_less_often(database: Database) -> None:
    async with two(database) as (one, other):
        serving = Serving(database, SETTINGS, one._core._factory, database)  # type: ignore[arg-type]
        worker = Worker(database, serving.dependencies)
        delays = [worker._postponed(one.workspace.id, DatabaseError("read only")).delay for _ in range(6)]
        assert delays == [5, 10, 20, 40, 60, 60]
        assert worker._postponed(other.workspace.id, DatabaseError("read only")).delay == 5


async def test_cleaning_up_goes_on_when_it_fails_in_one_workspace(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[int] = []

    async def clean_up(self: Serving, workspace: Workspace) -> None:
        cleaned.append(workspace.id)
        if workspace.id == one.workspace.id:
            raise TIMED_OUT

    monkeypatch.setattr(Serving, "_clean_up", clean_up)
    async with (
        two(database) as (one, other),
        beside(lambda stop: work_for_all(database, SETTINGS, stop=stop)) as working,
    ):

        async def is_cleaned() -> bool:
            assert not working.done(), working.exception()
            return other.workspace.id in cleaned

        await eventually(is_cleaned)


async def test_a_server_whose_worker_has_failed_is_not_ready_and_restarts_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, fails, restarts = 0, asyncio.Event(), asyncio.Event()

    async def work(_: Database, settings: Settings, listener: Listener, stop: asyncio.Event) -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            await fails.wait()
            raise KeyError("a bug")
        restarts.set()
        await stop.wait()

    monkeypatch.setattr(services, "work_for_all", work)
    async with serving(url, works=True) as served, served.client() as client:
        assert (await client.get("/readyz")).status_code == 200
        fails.set()
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        assert "worker" in answer.json()["detail"]
        assert (await client.get("/healthz")).status_code == 200
        await asyncio.wait_for(restarts.wait(), 10)
        assert (await client.get("/readyz")).status_code == 200


# --- projectors ---------------------------------------------------------------------------------------


class Copies:
    """A store in memory that keeps positions only; `before_write` may do something first."""

    name = "neo4j"
    kinds: tuple[ProjectedKind, ...] = ("document", "chunk", "entity", "relation")
    vector_kinds: tuple[VectorKind, ...] = ()

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}
        self.before_write: Callable[[], Awaitable[None]] | None = None
        self.cannot_drop: set[str] = set()

    async def begin(self, copy: ProjectionCopy) -> None:
        self.positions.setdefault(copy.id, -1)

    async def position(self, copy: str) -> int | None:
        return self.positions.get(copy)

    async def write(self, copy: str, batch: ProjectedBatch, names: NameLookup, position: int) -> None:
        if self.before_write:
            act, self.before_write = self.before_write, None
            await act()

    async def advance(self, copy: str, before: int, position: int) -> None:
        self.positions[copy] = position

    async def drop(self, copy: str) -> None:
        if copy in self.cannot_drop:
            raise StoreError("it cannot be dropped")
        self.positions.pop(copy, None)

    async def contents(self, copy: str, kind: ProjectedKind) -> AsyncIterator[dict[UUID, str]]:
        yield {}

    def expected(self, batch: ProjectedBatch, kind: ProjectedKind) -> dict[UUID, str]:
        return {}


@asynccontextmanager
async def projected(database: Database, target: Copies) -> AsyncIterator[tuple[AsyncTrueweave, AsyncTrueweave]]:
    """Two workspaces that are to be copied, and a projector that begins with the first."""
    async with two(database) as (one, other):
        for trueweave in (one, other):
            await trueweave.add_documents([Document("a", (Chunk("Ada", mentions=(Mention("Ada"),)),))])
            async with trueweave.workspace.transaction() as tx:
                await projections.enable(tx, target.name)
        async with beside(Projector(database, target).run) as projecting:
            yield one, other

            async def is_copied() -> bool:
                assert not projecting.done(), projecting.exception()
                return all(one.live for one in await other.projections.status())

            await eventually(is_copied)


async def test_a_projector_goes_on_when_a_workspace_is_dropped_while_it_is_copied(database: Database) -> None:
    target, dropped = Copies(), asyncio.Event()

    async def drop() -> None:
        await one.maintenance.drop()
        dropped.set()

    target.before_write = drop
    async with projected(database, target) as (one, _):
        await asyncio.wait_for(dropped.wait(), 30)


@pytest.mark.parametrize("error", [TIMED_OUT, UndefinedTable("no such table"), TrueweaveError("odd"), KeyError("bug")])
async def test_a_projector_goes_on_when_one_workspace_cannot_be_copied(
    database: Database, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Copies()
    monkeypatch.setattr(projector, "_FIRST_HOLD", 0.05)

    async def fail() -> None:
        target.before_write = fail if runs.total() < 2 else None
        runs["fail"] += 1
        raise error

    runs: Counter[str] = Counter()
    target.before_write = fail
    async with projected(database, target) as (one, _):

        async def is_copied() -> bool:
            return all(each.live for each in await one.projections.status())

        await eventually(is_copied)  # it is tried again


async def test_a_projector_goes_on_when_the_copy_of_a_dropped_workspace_cannot_be_dropped(database: Database) -> None:
    target = Copies()
    async with projected(database, target) as (one, other):

        async def are_copied() -> bool:
            return all(each.live for each in (*await one.projections.status(), *await other.projections.status()))

        await eventually(are_copied)
        target.cannot_drop.update(target.positions)
        await one.maintenance.drop()
        before = dict(target.positions)
        await other.add_documents([Document("b", (Chunk("Bob", mentions=(Mention("Bob"),)),))])

        async def is_followed() -> bool:
            return target.positions != before

        await eventually(is_followed)
