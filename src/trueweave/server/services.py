"""Services shared by all requests of one server."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from trueweave.core.errors import DatabaseUnavailable, TrueweaveError
from trueweave.core.settings import Settings
from trueweave.core.supervising import background
from trueweave.core.telemetry.measurements import measured_by
from trueweave.engine.database import opened_database
from trueweave.engine.factory import ModelFactory
from trueweave.engine.worker import work_for_all
from trueweave.server.activity import ActivityFeed
from trueweave.server.daily_limits import DailyLimits
from trueweave.server.local_login import LocalLogin
from trueweave.server.login_attempts import LoginAttempts
from trueweave.server.metrics import Metrics
from trueweave.server.origins import SessionOrigins
from trueweave.server.pasts import PastIndexes
from trueweave.server.provider_login import ProviderLogin
from trueweave.server.readers import UploadReaders
from trueweave.server.shutdown import Shutdown
from trueweave.server.throttle import Questions
from trueweave.server.tokens import Tokens
from trueweave.server.workspaces import OpenWorkspaces
from trueweave.store.postgres.access import api_keys, audit, sessions
from trueweave.store.postgres.access.api_keys import ValidKey
from trueweave.store.postgres.access.audit import AuditEntry
from trueweave.store.postgres.access.sessions import ValidSession
from trueweave.store.postgres.batcher import Batcher
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.money import caller_usage
from trueweave.store.postgres.public_errors import translated

V = TypeVar("V", bound=NamedTuple)

_log = logging.getLogger(__name__)
_KEY_FRESH = 5.0  # seconds for which a valid key or session is cached
_UNKNOWN_FRESH = 60.0  # seconds for which an unknown one is cached
_KEYS = 10_000
_ENTRIES = 10_000
_AT_ONCE = 500
_OF_ADDRESS, _OF_ALL = 20, 600  # requests without a valid key in the audit log per minute: of one address, and in all
_PRUNE_EVERY = 3600.0


class _Known(Generic[V]):
    """Caches recently used secrets of keys or sessions, so that not every request queries the database.

    Unknown secrets are cached, too. That cannot block a new one: it is random, so nobody can have sent it before it was
    created. Secrets that are not cached are looked up in batches, one transaction at a time, however many arrive.
    """

    def __init__(
        self, has_form: Callable[[str], bool], find: Callable[[Sequence[str]], Awaitable[Sequence[V | None]]]
    ) -> None:
        self._has_form = has_form
        self._known: OrderedDict[bytes, tuple[V, float]] = OrderedDict()  # by hash, so that no secret is stored
        self._unknown: OrderedDict[bytes, float] = OrderedDict()
        self._look_up = Batcher[str, V | None](find, pause=0)

    async def find(self, secret: str) -> V | None:
        """What this secret belongs to; None if it is not valid. A key or session that ended seconds ago may still be
        accepted."""
        if not self._has_form(secret):
            return None
        hashed, now = hashlib.sha256(secret.encode()).digest(), time.monotonic()
        found, since = self._known.get(hashed, (None, 0.0))
        if found and now - since < _KEY_FRESH:
            return found
        if now - self._unknown.get(hashed, -_UNKNOWN_FRESH) < _UNKNOWN_FRESH:
            return None
        with translated():
            valid = await self._look_up(secret)
        self._known.pop(hashed, None)
        if valid:
            self._known[hashed] = valid, time.monotonic()
        else:
            self._unknown[hashed] = time.monotonic()
        for remembered in (self._known, self._unknown):
            while len(remembered) > _KEYS:
                remembered.popitem(last=False)
        return valid

    def _forget(self, is_gone: Callable[[V], bool]) -> None:
        for hashed in [hashed for hashed, (one, _) in self._known.items() if is_gone(one)]:
            del self._known[hashed]


class KnownKeys(_Known[ValidKey]):
    """Caches recently used keys."""

    def __init__(self, database: Database) -> None:
        super().__init__(api_keys.is_key, lambda tokens: api_keys.find(database, tokens))

    def forget(self, prefix: str) -> None:
        """Remove this key from the cache."""
        self._forget(lambda key: key.prefix == prefix)


class KnownSessions(_Known[ValidSession]):
    """Caches recently used sessions."""

    def __init__(self, database: Database) -> None:
        super().__init__(sessions.is_session, lambda secrets: sessions.find(database, secrets))

    def forget(self, secret: str) -> None:
        """Remove this session from the cache."""
        self._known.pop(api_keys.hash_of(secret), None)

    def forget_key(self, prefix: str) -> None:
        """Remove the sessions of this key from the cache."""
        self._forget(lambda session: session.key == prefix)


class Readiness:
    """Checks whether the database answers. Concurrent checks share one query."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking: asyncio.Task[bool] | None = None

    async def check(self, patience: float) -> None:
        """Raise DatabaseError if the database does not answer within `patience` seconds, or cannot be used."""
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.create_task(api_keys.any_valid(self._database))
        await asyncio.wait((asking,), timeout=patience)
        if not asking.done():
            raise DatabaseUnavailable(f"the database did not answer within {patience:g} s")
        with translated():
            await asking

    async def aclose(self) -> None:
        """Cancel a check in progress."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)


class AuditLog:
    """Records writes and refused requests, in batches in the background.

    Anybody can send a request without a valid key. Only the first ones of each address and minute are recorded; the
    others are counted in the process log.
    """

    def __init__(self, database: Database, kept: timedelta, now: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._kept = kept
        self._now = now
        self._waiting: asyncio.Queue[AuditEntry] = asyncio.Queue(_ENTRIES)
        self._minute = 0
        self._unauthorized: Counter[str] = Counter()
        self._left_out = 0

    def add(self, entry: AuditEntry) -> None:
        """Queue an entry. If the database cannot keep up, it goes to the process log instead."""
        try:
            self._waiting.put_nowait(entry)
        except asyncio.QueueFull:
            _log.error("the audit log is full: %s", entry, extra={"event": "audit.lost"})

    def add_unauthorized(self, entry: AuditEntry, address: str) -> None:
        """Record a request without a valid key, unless its address or the server is over the limit for this minute."""
        if (minute := int(self._now() // 60)) != self._minute:
            self._minute = minute
            self._unauthorized.clear()
            self._tell_left_out()
        if self._unauthorized[address] < _OF_ADDRESS and self._unauthorized.total() < _OF_ALL:
            self._unauthorized[address] += 1
            self.add(entry)
        else:
            self._left_out += 1

    def _tell_left_out(self) -> None:
        if self._left_out:
            told = "%d more requests without a valid key are not in the audit log"
            _log.warning(told, self._left_out, extra={"event": "audit.sampled", "requests": self._left_out})
            self._left_out = 0

    async def run(self) -> None:
        """Write queued entries until cancelled, and prune old ones."""
        pruned = -_PRUNE_EVERY
        while True:
            first = await self._waiting.get()
            await self._write([first, *self._rest()])
            if time.monotonic() - pruned > _PRUNE_EVERY:
                pruned = time.monotonic()
                await self._try(audit.prune(self._database, self._kept))
                await self._try(caller_usage.prune(self._database, self._kept))

    async def flush(self) -> None:
        """Write all queued entries."""
        self._tell_left_out()
        while some := self._rest():
            await self._write(some)

    def _rest(self) -> list[AuditEntry]:
        some: list[AuditEntry] = []
        while len(some) < _AT_ONCE and not self._waiting.empty():
            some.append(self._waiting.get_nowait())
        return some

    async def _write(self, entries: list[AuditEntry]) -> None:
        if not await self._try(audit.write(self._database, entries)):
            for entry in entries:
                _log.error("not in the audit log: %s", entry, extra={"event": "audit.lost"})

    async def _try(self, act: Awaitable[None]) -> bool:
        try:
            with translated():
                await act
        except TrueweaveError as error:
            _log.error("the audit log cannot be written: %s", error, extra={"event": "audit.failed"})
            return False
        return True


@dataclass(frozen=True)
class Services:
    """The services of one server. `tokens` is None if no identity provider is configured, and `login` if browsers
    cannot log in there."""

    settings: Settings
    database: Database
    workspaces: OpenWorkspaces
    pasts: PastIndexes
    keys: KnownKeys
    sessions: KnownSessions
    origins: SessionOrigins
    attempts: LoginAttempts
    local: LocalLogin | None
    login: ProviderLogin | None
    tokens: Tokens | None
    audit: AuditLog
    asking: Questions
    daily: DailyLimits
    readiness: Readiness
    readers: UploadReaders
    stopping: asyncio.Event
    metrics: Metrics
    activity: ActivityFeed


@asynccontextmanager
async def opened_services(
    settings: Settings,
    metrics: Metrics,
    shutdown: Shutdown,
    origins: SessionOrigins,
    local: LocalLogin | None = None,
    *,
    works: bool,
) -> AsyncIterator[Services]:
    """Open the services of a server for as long as it runs. With `works`, it also runs a worker."""
    async with opened_database(settings) as database, ModelFactory(database, settings.lease) as models:
        tokens = Tokens(database, settings) if settings.oidc_issuer else None
        services = Services(
            settings,
            database,
            OpenWorkspaces(database, settings, models),
            PastIndexes(settings.past_indexes),
            KnownKeys(database),
            KnownSessions(database),
            origins,
            LoginAttempts(),
            local,
            ProviderLogin(settings, tokens) if tokens and settings.oidc_client_id else None,
            tokens,
            AuditLog(database, timedelta(days=settings.log_days)),
            Questions(settings.key_questions_at_once),
            DailyLimits(database, settings),
            Readiness(database),
            UploadReaders(settings),
            shutdown.stopping,
            metrics,
            ActivityFeed(shutdown.stopping),
        )
        if database.standbys:
            database.standbys.start()
        watching = metrics.watch(database, asyncio.get_running_loop())
        auditing = background("audit log", services.audit.run)
        keeping = background("past indexes", services.pasts.run)
        with measured_by(metrics.measured):
            work = partial(work_for_all, database, settings, metrics.heard, shutdown.stopping)
            working = background("worker", work, shutdown.stopping) if works else None
        try:
            yield services
        finally:
            shutdown.stopping.set()
            shutdown.begin()
            metrics.unwatch(watching)
            auditing.cancel()
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await auditing
            await services.audit.flush()
            with suppress(asyncio.CancelledError):
                await keeping
            await services.pasts.aclose()
            if working:
                await asyncio.wait((working,), timeout=shutdown.grace_left)
                working.cancel()  # unfinished jobs go back to the queue
                await asyncio.gather(working, return_exceptions=True)
            await services.readiness.aclose()
            if services.tokens:
                await services.tokens.aclose()
            await services.workspaces.aclose()
