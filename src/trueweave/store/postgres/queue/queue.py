"""The queue: jobs of all workspaces in one table, claimed by workers in turn. See docs/adr/0018-one-queue.md."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Literal, NamedTuple, get_args

from trueweave.store.postgres.batcher import Batcher
from trueweave.store.postgres.db import Database, Transaction, Workspace
from trueweave.store.postgres.queue.liveness import Liveness

Kind = Literal["document", "settle", "large", "summary", "report"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Settling comes first (a higher number goes first): it is short, and it makes new documents visible.
_PRIORITY: dict[Kind, int] = {"document": 0, "settle": 1, "large": 0, "summary": 0, "report": 0}

_NO_LIMIT = 2**31 - 1
_RECLAIM_EVERY = 1.0  # seconds


async def enqueue(tx: Transaction, kind: Kind, payloads: Sequence[bytes], after: float = 0) -> None:
    """Add jobs to the transaction's workspace, due after this many seconds."""
    if payloads:
        delay = timedelta(seconds=after)
        await tx.run("queue.enqueue", kind=kind, priority=_PRIORITY[kind], payloads=list(payloads), after=delay)


async def ask_for(tx: Transaction, kind: Kind, after: float = 0) -> None:
    """Add a job without a payload, unless one is already queued that is due by then."""
    await tx.run("queue.ask_for", kind=kind, priority=_PRIORITY[kind], after=timedelta(seconds=after))


async def is_asked_for(tx: Transaction, kind: Kind) -> bool:
    """Whether a job of this kind is queued or under way."""
    return bool(await tx.value("queue.is_asked_for", kind=kind))


async def absorb(tx: Transaction, kind: Kind) -> None:
    """Delete the queued jobs of a kind, for a caller about to do all of their work."""
    await tx.run("queue.absorb", kind=kind)


async def forget_jobs(tx: Transaction) -> None:
    """Delete all jobs of the workspace."""
    await tx.run("queue.forget")


async def workspaces(database: Database, after: int, limit: int) -> list[Workspace]:
    """The next workspaces, in order of their ids."""
    async with database.transaction(None) as tx:
        rows = await tx.rows("queue.workspaces", after=after, limit=limit)
    return [Workspace(database, id_) for (id_,) in rows]


class QueueState(NamedTuple):
    """The jobs of a kind in all workspaces: how many are due and waiting, not due yet, and running; and for how many
    seconds the oldest waiting job has been due."""

    kind: str
    waiting: int
    delayed: int
    running: int
    oldest: float


async def state(database: Database) -> list[QueueState]:
    """The contents of the queue by kind, on all servers together. Kinds without jobs are left out."""
    others = [await database.servers.database(name) for name in database.servers.names] if database.servers else []
    found: dict[str, QueueState] = {}
    for one in (database, *others):
        async with one.transaction(None) as tx:
            for kind, *counts, oldest in await tx.rows("queue.state"):
                before = found.get(kind, QueueState(kind, 0, 0, 0, 0.0))
                waiting, delayed, running = (sum(pair) for pair in zip(before[1:4], counts, strict=True))
                found[kind] = QueueState(kind, waiting, delayed, running, max(before.oldest, oldest))
    return list(found.values())


class ClaimedJob(NamedTuple):
    """A job that this process is working on, with the owner number it was claimed under."""

    workspace: int
    id: int
    kind: Kind
    payload: bytes
    owner: int


class Queue:
    """The queue as one worker uses it: for all workspaces in turn, or for one.

    `limit` is how many jobs of a workspace may run at once over all workers, unless the workspace's own settings say
    otherwise; `share` is how many of them may run in this worker.
    """

    def __init__(
        self, database: Database, liveness: Liveness, only: Workspace | None, *, share: int, limit: int | None = None
    ) -> None:
        self._database = database
        self._liveness = liveness
        self._only = only
        self._limit = limit or _NO_LIMIT
        self._share = share
        self._after = random.randrange(2**31)
        self._worker = random.getrandbits(63)
        self._reclaimed = -_RECLAIM_EVERY
        self.finish = Batcher(self._finish_all)
        self.release = Batcher(self._release_all)

    async def claim(self, most: int, now: float) -> list[ClaimedJob]:
        """Claim up to `most` jobs that are due, one from each workspace in turn. `now` is a clock's time in seconds."""
        owner = self._liveness.owner
        reclaim = now - self._reclaimed >= _RECLAIM_EVERY
        async with self._transaction() as tx:
            rows = await tx.rows(
                "queue.claim",
                owner=owner,
                worker=self._worker,
                most=most,
                after=self._after,
                limit=self._limit,
                share=self._share,
                reclaim=reclaim,
            )
        self._reclaimed = now if reclaim else self._reclaimed
        claimed = [ClaimedJob(workspace, id_, kind, payload, owner) for workspace, id_, kind, payload in rows]
        if claimed:
            self._after = claimed[-1].workspace
        return claimed

    async def release_unknown(self, known: Collection[ClaimedJob]) -> None:
        """Release jobs claimed by a transaction whose outcome this worker does not know: all but the `known` ones."""
        async with self._everywhere() as tx:
            await tx.run("queue.release_unknown", worker=self._worker, known=[job.id for job in known])

    @asynccontextmanager
    async def _everywhere(self) -> AsyncIterator[Transaction]:
        """A transaction without a workspace, in the database that holds the jobs."""
        database = await self._only.placed() if self._only else self._database
        async with database.transaction(None) as tx:
            yield tx

    def _transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return self._only.transaction() if self._only else self._database.transaction(None)

    async def _finish_all(self, jobs: Sequence[ClaimedJob]) -> list[None]:
        async def finish() -> None:
            async with self._everywhere() as tx:
                for owner in {job.owner for job in jobs}:
                    await tx.run("queue.finish", owner=owner, ids=[job.id for job in jobs if job.owner == owner])

        await self._database.retry_while_down(finish)
        return [None] * len(jobs)

    async def _release_all(self, jobs: Sequence[tuple[ClaimedJob, float]]) -> list[None]:
        async def release() -> None:
            async with self._everywhere() as tx:
                for owner in {job.owner for job, _ in jobs}:
                    some = [(job.id, timedelta(seconds=delay)) for job, delay in jobs if job.owner == owner]
                    ids, delays = map(list, zip(*some, strict=True))
                    await tx.run("queue.release", owner=owner, ids=ids, delays=delays)

        await self._database.retry_while_down(release)
        return [None] * len(jobs)
