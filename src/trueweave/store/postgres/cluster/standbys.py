"""Standby servers: copies of the primary by streaming replication, from which questions are read.

A question reads from a standby only what it could have read from the primary: the primary is asked for its log
position, and a standby is used once it has replayed that much. So everything committed before the question was asked is
found, whichever process wrote it. Every statement returns the position of its server, which is checked again; if no
standby catches up in time, the primary answers. See docs/adr/0037-standbys.md.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from psycopg import Error
from psycopg.errors import QueryCanceled

from trueweave.core.errors import DatabaseError
from trueweave.core.supervising import background
from trueweave.store.postgres.batcher import Batcher
from trueweave.store.postgres.connections import PostgresConnection, Row, Timeouts, connect, location
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.failures import DRIVER_ERRORS, first_line
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.sight import Sight, statement
from trueweave.store.postgres.standby_reads import StandbyState

_log = logging.getLogger(__name__)

_INTERVAL = 1.0  # seconds between checks of all standbys
_PATIENCE = 2.0  # seconds that a standby has to report its position
_CONNECTION_WAIT = 2.0  # seconds that a question waits for a connection to a standby
_SAMPLES = 600  # positions of the primary remembered to compute the lag of standbys
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.016  # seconds between checks while a question waits for a standby
_IS_PRIMARY = "is the primary now"
_UNREACHABLE = (Error, DatabaseError, TimeoutError)


class Position(NamedTuple):
    """A position in the log of a primary. It is only comparable between servers of the same system and timeline."""

    system: int
    timeline: int
    lsn: int


@dataclass(frozen=True)
class StandbyOptions:
    """How far behind a standby may be and how long a question waits for one, both in seconds, and the maximum number of
    connections to each."""

    lag: float = 2.0
    wait: float = 0.25
    connections: int = 10
    timeouts: Timeouts = field(default_factory=Timeouts)
    slow_after: float = 0


class _StandbyDatabase(Database):
    """The connection pool of a standby. Connections to a server that is not a standby of this system are refused."""

    def __init__(self, url: str, primary: Position, options: StandbyOptions) -> None:
        super().__init__(url, timeouts=options.timeouts, connections=options.connections, slow_after=options.slow_after)
        self._primary = primary
        self._pool.timeout = _CONNECTION_WAIT
        told = "pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint"
        self._entering_replica = b", %s" % told.encode()

    async def _configure(self, connection: PostgresConnection) -> None:
        if problem := _refusal(await _ask(connection), self._primary):
            raise DatabaseError(f"{location(self.url)} {problem}")
        await super()._configure(connection)

    async def read_replayed(
        self, workspace: int, query: bytes, params: Mapping[str, Any] | None, sight: Sight | None
    ) -> tuple[int, list[Row]]:
        """The position that the server had replayed before running a statement, and the rows; position 0 if it is not a
        standby, or the workspace cannot be entered."""
        entering, entered = self._entry(workspace, sight)
        begun, rows = await self._together(entering + self._entering_replica, entered, statement(query, sight), params)
        is_there, is_standby, replayed = begun[-3:]
        return replayed if is_there and is_standby else 0, rows  # the primary knows what happened to the workspace


class _Replayed(NamedTuple):
    is_standby: bool
    position: Position


async def _ask(connection: PostgresConnection) -> _Replayed:
    row = await (await connection.execute(QUERIES["standby.replayed"])).fetchone()
    assert row is not None
    is_standby, *position = row
    return _Replayed(is_standby, Position(*position))


def _refusal(found: _Replayed, primary: Position) -> str:
    """Why a server must not be read from, whatever its position; empty if it may be."""
    if found.position.system != primary.system:
        return "is not a copy of the database of database_url: it belongs to another cluster"
    if not found.is_standby:
        is_same = found.position.timeline == primary.timeline
        return _IS_PRIMARY if is_same else "is not a standby: it was promoted, and another server is the primary"
    if found.position.timeline != primary.timeline:
        return (
            f"is on timeline {found.position.timeline}, but the primary is on {primary.timeline}. If it follows the "
            "primary, it is used again after its next checkpoint"
        )
    return ""


class Standby:
    """One standby, as this process sees it. It is left out when it fails, and used again when it recovers."""

    def __init__(self, url: str, options: StandbyOptions) -> None:
        self._url = url
        self.server = location(url)
        self.under_way = 0
        self.position = Position(0, 0, 0)
        self._options = options
        self._current_at: float | None = None  # when the primary last had nothing that this standby lacks
        self._problem = "was not reached yet"
        self._database: _StandbyDatabase | None = None
        self._connection: PostgresConnection | None = None  # outside the pool, which may be busy
        self._gone: asyncio.Future[None] | None = None  # done when the standby is left out
        self._looking: asyncio.Task[_Replayed | None] | None = None
        self._abandoned: set[asyncio.Task[Any]] = set()
        self._reads = self._failures = 0

    def state(self) -> StandbyState:
        """The current state."""
        lag = None if self._current_at is None else max(0.0, time.monotonic() - self._current_at)
        problem = self._problem
        if not problem and (lag is None or lag > self._options.lag):
            problem = "is too far behind" if lag is None else f"is {lag:.1f} s behind"
        return StandbyState(self.server, problem, problem == _IS_PRIMARY, lag, self._reads, self._failures)

    @property
    def is_usable(self) -> bool:
        return not self.state().problem

    async def check(self, samples: Sequence[tuple[float, Position]]) -> None:
        """Check its position, and start or stop using it. `samples` are times and positions of the primary, the last of
        them from now."""
        found = await asyncio.shield(self.look())
        if found is None:
            return
        _, primary = samples[-1]
        if refusal := _refusal(found, primary):
            await self._leave(refusal)
            return
        if self._database is None and not await self._enter(primary):
            return
        has = found.position
        known = [at for at, one in samples if one.timeline == has.timeline and one.lsn <= has.lsn]
        self._current_at = max(known, default=None)

    def look(self) -> asyncio.Task[_Replayed | None]:
        """Query its position, sharing the query with all who need it. If it does not answer, its last known position
        remains."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return self._looking

    async def _look(self) -> _Replayed | None:
        asking = asyncio.create_task(self._ask())
        try:
            # Not asyncio.timeout, which would wait until the server has processed the cancellation.
            await asyncio.wait((asking,), timeout=_PATIENCE)
            if not asking.done():
                raise TimeoutError(f"it did not respond for {_PATIENCE:g} s")
            found = asking.result()
        except _UNREACHABLE as error:
            await self._leave(f"does not answer: {first_line(error)}")
            return None
        finally:
            self._abandon(asking)
        self.position = found.position
        return found

    async def _ask(self) -> _Replayed:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._url, self._options.timeouts)
        return await _ask(self._connection)

    async def read(
        self, workspace: int, query: bytes, params: Mapping[str, Any] | None, least: int, sight: Sight | None = None
    ) -> tuple[int, list[Row]] | None:
        """Its position, and the rows of a statement; None if it had not replayed `least`, cancelled the statement, or
        failed: then the caller must ask the primary."""
        if self._database is None or self._gone is None:
            return None
        reading = asyncio.create_task(self._database.read_replayed(workspace, query, params, sight))
        self.under_way += 1
        found = None
        try:
            await asyncio.wait((reading, self._gone), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                found = reading.result()
        except QueryCanceled:  # it took too long, as it would on the primary
            raise
        except (*DRIVER_ERRORS, DatabaseError) as error:
            self._looking = self.look()  # so that others do not wait for a server that is gone
            said = "the standby %s did not answer, so the primary is asked: %s"
            _log.info(said, self.server, first_line(error), extra=self._about("passed_over"))
        finally:
            self.under_way -= 1
            self._abandon(reading)
        if found is None or found[0] < least:
            self._failures += 1
            return None
        self._reads += 1
        return found

    def _about(self, event: str) -> dict[str, str]:
        return {"event": f"standby.{event}", "server": self.server}

    def _abandon(self, statement: asyncio.Task[Any]) -> None:
        """Stop waiting for a running statement: a server without power stays silent for long."""
        if not statement.done():
            statement.cancel()
            self._abandoned.add(statement)
            statement.add_done_callback(self._forget)

    def _forget(self, statement: asyncio.Task[Any]) -> None:
        self._abandoned.discard(statement)
        if not statement.cancelled():
            statement.exception()  # retrieved so that asyncio does not log it

    async def _enter(self, primary: Position) -> bool:
        database = _StandbyDatabase(self._url, primary, self._options)
        try:
            async with asyncio.timeout(_PATIENCE):
                await database.open()
        except _UNREACHABLE as error:
            await database.close()
            await self._leave(f"cannot be used: {first_line(error)}")
            return False
        self._database, self._problem = database, ""
        self._gone = asyncio.get_running_loop().create_future()
        _log.info("questions are read from the standby %s", self.server, extra=self._about("used"))
        return True

    async def _leave(self, problem: str) -> None:
        if problem != self._problem:
            said = "the standby %s %s; questions are not read from it"
            level = logging.INFO if problem == _IS_PRIMARY else logging.WARNING
            _log.log(level, said, self.server, problem, extra=self._about("left_out"))
        self._problem, self._current_at = problem, None
        self._release()
        connection, self._connection = self._connection, None
        database, self._database = self._database, None
        if connection:
            await connection.close()
        if database:
            await database.close()

    def _release(self) -> None:
        """Make everybody with a running statement ask the primary."""
        if self._gone and not self._gone.done():
            self._gone.set_result(None)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait((self._looking,))
        self._release()
        if self._connection:
            await self._connection.close()
        if self._database:
            await self._database.close()
        await asyncio.gather(*self._abandoned, return_exceptions=True)


class Standbys:
    """The standbys of a primary. Nothing is opened until `start`, or until the first question."""

    def __init__(self, primary: Database, urls: Sequence[str], options: StandbyOptions) -> None:
        self._primary = primary
        self._options = options
        self._all = [Standby(url, options) for url in urls]
        self._samples: deque[tuple[float, Position]] = deque(maxlen=_SAMPLES)
        self._position = Batcher(self._positions, pause=0)
        self._sampled = asyncio.Event()
        self._watching: list[asyncio.Task[None]] = []

    def states(self) -> list[StandbyState]:
        """The current state of each standby."""
        return [one.state() for one in self._all]

    async def look(self, seconds: float) -> list[StandbyState]:
        """The state of each standby, as soon as questions can be read from all, or after this many seconds."""
        self.start()
        end = time.monotonic() + seconds
        while any(one.problem and not one.is_primary for one in self.states()) and time.monotonic() < end:  # noqa: ASYNC110 (few, and seldom)
            await asyncio.sleep(_LONGEST_PAUSE)
        return self.states()

    def start(self) -> None:
        """Start watching them."""
        if not self._watching:
            self._watching = [background("position of the primary", self._sample)]
            for n, one in enumerate(self._all, 1):  # by number: servers show names of failed tasks to everybody
                self._watching.append(background(f"standby {n}", partial(self._follow, one)))

    async def aclose(self) -> None:
        """Close all connections."""
        for task in self._watching:
            task.cancel()
        for task in self._watching:
            with suppress(asyncio.CancelledError):
                await task
        for one in self._all:
            await one.aclose()

    async def choose(self) -> tuple[Standby, int] | None:
        """The least busy standby that has everything committed before this call, and the log position up to which that
        is; None if no standby reaches it in time."""
        self.start()
        if not any(one.is_usable for one in self._all):
            return None
        position = await self._position(None)
        end, pause = time.monotonic() + self._options.wait, _FIRST_PAUSE
        while usable := [one for one in self._all if one.is_usable and one.position.timeline == position.timeline]:
            if ready := [one for one in usable if one.position.lsn >= position.lsn]:
                return min(ready, key=lambda one: one.under_way), position.lsn
            left = end - time.monotonic()
            if left <= 0:
                break
            await asyncio.wait([one.look() for one in usable], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not any(one.position.lsn >= position.lsn for one in usable):
                await asyncio.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
        return None

    async def _positions(self, askers: Sequence[None]) -> list[Position]:
        """The position of the primary, for all who asked before this began."""
        [row] = await self._primary.read(None, QUERIES["standby.position"].encode())
        return [Position(*row)] * len(askers)

    @property
    def _interval(self) -> float:
        return min(_INTERVAL, self._options.lag / 4)

    async def _sample(self) -> None:
        """Record the position of the primary repeatedly. While it does not answer, the lag of all standbys grows."""
        while True:
            at = time.monotonic()
            try:
                async with asyncio.timeout(_PATIENCE):
                    self._samples.append((at, await self._position(None)))
                self._sampled.set()
            except _UNREACHABLE as error:
                _log.debug("the primary does not say how far it is: %s", first_line(error))  # reported elsewhere
            await asyncio.sleep(self._interval)

    async def _follow(self, standby: Standby) -> None:
        await self._sampled.wait()
        while True:
            await standby.check(self._samples)
            await asyncio.sleep(self._interval)
