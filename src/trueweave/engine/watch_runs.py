"""Asking the watches of a workspace again, and sending their alerts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeVar
from uuid import UUID, uuid4

from trueweave.core.errors import AccessDenied, TrueweaveError
from trueweave.core.evidence import Evidence, Filter, Query
from trueweave.core.protocols import Readers
from trueweave.core.record import EVERY_GROUP
from trueweave.core.watches import Alert, Watch
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.questions import QuestionCalls
from trueweave.engine.webhooks import Webhook
from trueweave.retrieval.context import QueryContext
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.db import Database, Transaction
from trueweave.store.postgres.failures import DRIVER_ERRORS
from trueweave.store.postgres.record import watches
from trueweave.store.postgres.record.watches import (
    PATIENCE,
    EvidenceChange,
    KnownWatch,
    WatchAnswer,
    WatchClaim,
    WatchPassage,
)
from trueweave.store.postgres.sight import Sight

T = TypeVar("T")

_TRIES = 3  # of a question during which the index changes
_MINUTE = timedelta(minutes=1)
_PAUSES = (_MINUTE, 5 * _MINUTE, 30 * _MINUTE, 120 * _MINUTE, 720 * _MINUTE)  # before an alert is sent again
_CHANGING = "the index changed each time that the question was asked; it is asked again in a minute"


class FoundNow(NamedTuple):
    """What a watch finds, and the state of the index that it is found in."""

    state: str
    evidence: Evidence
    passages: list[WatchPassage]


class _Questions(QuestionCalls):
    """Questions to the primary: a standby may not have what has changed."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    def _open_readers(self, filter: Filter) -> Readers:
        return self._core.open_readers(filter)


@dataclass(frozen=True)
class _Found:
    """A method that finds what was found already."""

    evidence: Evidence

    async def retrieve(self, _query: Query, _context: QueryContext) -> Evidence:
        return self.evidence


class WatchRuns:
    """The runs of the watches of one workspace. Keys of the callers of servers are in the database `home`."""

    def __init__(self, core: OpenWorkspace, home: Database) -> None:
        self.core = core
        self._home = home

    async def claim(self, claim: UUID, patience: timedelta = PATIENCE) -> list[WatchClaim]:
        """Claim some of the watches that are to be asked, or have an alert to be sent."""
        owner = (await self.core.liveness()).owner
        async with self.core.workspace.transaction() as tx:
            return await watches.claim_due(tx, owner, claim, patience)

    async def run(self, held: WatchClaim) -> None:
        """Ask a watch that this process has claimed, send its alerts, and release it. What prevents that is recorded
        with the watch."""
        not_asked = not_sent = ""
        try:
            async with self.core.workspace.transaction() as tx:
                known = await watches.known(tx, held.name)
            await self._check_key(known)
            not_asked = await self._ask(held, known.watch) if held.asks else ""
            not_sent = await self._send(held, known)
        except TrueweaveError as error:
            not_asked = str(error)
        except DRIVER_ERRORS:
            raise
        except Exception as error:
            not_asked = f"unexpected {type(error).__name__}. This is a bug: please report it."
            raise
        finally:
            problem = not_asked or not_sent
            await self._retried(lambda tx: watches.release(tx, held, problem, not_asked=bool(not_asked)))

    async def found(self, watch: Watch) -> FoundNow | None:
        """What a watch finds now; None if the index changes all the time."""
        questions = self._questions(watch)
        for _ in range(_TRIES):
            before = await self._state()
            evidence = await questions.retrieve(watch.question, watch.method or None, filter=watch.filter)
            if await self._state() == before:
                found = [WatchPassage(one.id, one.uri) for one in evidence.passages[: watch.passages]]
                return FoundNow(before, evidence, found)
        return None

    async def _ask(self, held: WatchClaim, watch: Watch) -> str:
        """Ask a watch, and record an alert if its evidence has changed; returns why it could not be asked."""
        found = await self.found(watch)
        if found is None:
            return _CHANGING
        async with self.core.workspace.transaction() as tx:
            change = watches.changed(await watches.evidence(tx, watch.name), found.passages)
        answer = await self._answer(watch, found, change)
        await self._retried(lambda tx: watches.record_asked(tx, held, found.state, change, answer))
        return ""

    async def _answer(self, watch: Watch, found: FoundNow, change: EvidenceChange) -> WatchAnswer:
        """The answer of an alert, from the passages that it has: with their documents it is erased. One that is begun
        below the limit of the day is completed."""
        if not (watch.answers and change):
            return WatchAnswer()
        async with self.core.workspace.transaction() as tx:
            if await watches.tokens_today(tx, watch.name) >= watch.tokens_per_day:
                return WatchAnswer(problem=f"the {watch.tokens_per_day:,} tokens that it has for a day are used")
        compared = Evidence(found.evidence.passages[: watch.passages])
        try:
            answer = await self._questions(watch).ask(watch.question, _Found(compared), filter=watch.filter)
        except TrueweaveError as error:
            return WatchAnswer(problem=str(error))
        return WatchAnswer(answer.text, "", answer.usage.tokens_in + answer.usage.tokens_out)

    async def _send(self, held: WatchClaim, known: KnownWatch) -> str:
        """Send the alerts that wait, in their order; returns why one could not be sent."""
        problem = ""
        while known.watch.webhook and not problem:
            async with self.core.workspace.transaction() as tx:
                waiting = await watches.waiting(tx, held)
            if waiting is None:
                break
            await self._check_key(known)  # which may have been revoked while the question was answered
            problem = await self._deliver(held, known, *waiting)
        return problem

    async def _deliver(self, held: WatchClaim, known: KnownWatch, alert: Alert, failed: int) -> str:
        """Send an alert, which has failed so often; returns why it could not be sent."""
        async with self.core.workspace.transaction() as tx:
            name = await tx.value("read.name")
        [whole] = await watches.with_passages(self.core.workspace, [alert])
        try:
            hook = Webhook.of(self.core.settings, name, known.watch.webhook, is_caller=known.key is not None)
            await asyncio.to_thread(hook.send, name, whole)
        except TrueweaveError as error:
            if failed < len(_PAUSES):
                await self._retried(lambda tx: watches.not_sent(tx, held, _PAUSES[failed]))
            else:
                await self._retried(lambda tx: watches.sent(tx, held, alert.id, "failed"))
            return f"an alert was not sent: {error}"
        await self._retried(lambda tx: watches.sent(tx, held, alert.id, "delivered"))
        return ""

    async def _check_key(self, known: KnownWatch) -> None:
        """Raise AccessDenied if a watch was added with a key that is no longer valid."""
        if known.key and not await api_keys.is_usable(self._home, known.key):
            raise AccessDenied("the key that it was added with is no longer valid")

    def _questions(self, watch: Watch) -> _Questions:
        is_whole = EVERY_GROUP in watch.groups
        return _Questions(self.core if is_whole else self.core.seen(Sight(watch.groups)))

    async def _state(self) -> str:
        async with self.core.workspace.transaction() as tx:
            return await watches.state(tx)

    async def _retried(self, act: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run this in a transaction, and wait while the database is unavailable."""

        async def attempt() -> T:
            async with self.core.workspace.transaction() as tx:
                return await act(tx)

        return await self.core.workspace.retry_while_down(attempt)


async def run_all(runs: WatchRuns) -> int:
    """Ask all watches that are due, one after the other; returns how many."""
    asked = 0
    while held := await runs.claim(uuid4(), timedelta()):
        for one in held:
            await runs.run(one)
        asked += len(held)
    return asked
