"""Standing questions of a workspace, the claims of the processes that ask them, and their alerts.

An alert has the ids of its passages, and of documents only their uris: texts are read from the record when it is shown.
So a document that is erased leaves no text in alerts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from trueweave.core.dates import date_of
from trueweave.core.errors import InvalidArgument, UnknownWatch
from trueweave.core.json_forms import filter_json, filter_of_json
from trueweave.core.record import EVERY_GROUP
from trueweave.core.watches import Alert, AlertPassage, Delivery, Watch
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Database, Transaction, Workspace
from trueweave.store.postgres.sight import Sight

MOST = 1000  # watches of a workspace
_AT_ONCE = 20  # watches that a process claims at a time
PATIENCE = timedelta(minutes=5)  # for documents that keep coming, before watches are asked nevertheless
_PAUSE = timedelta(minutes=1)  # before a watch that could not be asked is asked again
_LONGEST = 2000  # characters of a passage in an alert


class WatchClaim(NamedTuple):
    """The right of this process to a watch, until its lease expires. With `asks` it is to be asked; without, only an
    alert is to be sent."""

    name: str
    id: UUID
    asks: bool


class WatchPassage(NamedTuple):
    """A passage in the evidence of a watch."""

    chunk: UUID
    uri: str


@dataclass(frozen=True)
class WatchAnswer:
    """The answer of an alert, from its passages alone, or why there is none."""

    text: str = ""
    problem: str = ""
    tokens: int = 0


class KnownWatch(NamedTuple):
    """A watch with the state of the index at which it was last asked, and the caller of a server who added it."""

    watch: Watch
    state: str
    key: str | None


class EvidenceChange(NamedTuple):
    """Passages that are found now, and those that are no longer found."""

    now: Sequence[WatchPassage]
    added: Sequence[WatchPassage]
    removed: Sequence[WatchPassage]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def changed(before: Sequence[WatchPassage], now: Sequence[WatchPassage]) -> EvidenceChange:
    """What changed from one evidence to another. Their order does not matter."""
    old, new = {one.chunk for one in before}, {one.chunk for one in now}
    added = [one for one in now if one.chunk not in old]
    return EvidenceChange(now, added, [one for one in before if one.chunk not in new])


async def state(tx: Transaction) -> str:
    """A key over all that questions depend on: while it is the same, a question has the same evidence."""
    return str(await tx.value("watch.state"))


async def workspaces(database: Database, after: int, limit: int) -> list[Workspace]:
    """The next workspaces that have watches, in order of their ids."""
    async with database.transaction(None) as tx:
        return [Workspace(database, id_) for (id_,) in await tx.rows("watch.workspaces", after=after, limit=limit)]


async def add(tx: Transaction, given: Watch, key: str | None, state_: str, found: Sequence[WatchPassage]) -> None:
    """Store a watch with what it finds now. InvalidArgument if there is one of this name."""
    await tx.run("watch.lock")
    if await tx.value("watch.count") >= MOST:
        raise InvalidArgument(f"the workspace has {MOST:,} watches already. Remove one of them.")
    is_new = await tx.run(
        "watch.add",
        name=given.name,
        question=given.question,
        method=given.method,
        filter=Jsonb(filter_json(given.filter)),
        groups=list(given.groups),
        passages=given.passages,
        answers=given.answers,
        tokens_per_day=given.tokens_per_day,
        webhook=given.webhook,
        key=key,
        author=given.author,
        state=state_,
    )
    if not is_new:
        raise InvalidArgument(f"there is a watch {given.name} already. Remove it first, or choose another name.")
    await _add_alert(tx, given.name, EvidenceChange(found, found, ()), WatchAnswer(), is_first=True)


async def page(tx: Transaction, limit: int, after: str = "") -> list[Watch]:
    """Watches in the order of their names."""
    return [_known(row).watch for row in await tx.rows("watch.find", name=None, after=after, limit=limit)]


async def known(tx: Transaction, name: str) -> KnownWatch:
    """The watch of that name. Raises UnknownWatch if there is none."""
    rows = await tx.rows("watch.find", name=name, after="", limit=1)
    if not rows:
        raise _unknown(name)
    return _known(rows[0])


async def remove(tx: Transaction, name: str) -> None:
    """Delete a watch and its alerts. Raises UnknownWatch if there is none of that name."""
    if not await tx.value("watch.remove", name=name):
        raise _unknown(name)


async def claim_due(tx: Transaction, owner: int, claim: UUID, patience: timedelta) -> list[WatchClaim]:
    """Claim some of the watches that are to be asked, or have an alert to be sent. As long as something waits to be
    indexed they are left alone, for so long at most."""
    now, is_complete = await state(tx), not await tx.value("settle.any_due")
    if not is_complete:
        await tx.run("watch.note_change", state=now)
    rows = await tx.rows(
        "watch.claim",
        owner=owner,
        claim=claim,
        state=now,
        complete=is_complete,
        patience=patience,
        pause=_PAUSE,
        most=_AT_ONCE,
    )
    return [WatchClaim(name, claim, asks) for name, asks in rows]


async def release_all(tx: Transaction, claim: UUID) -> None:
    """Release what is still claimed under this id."""
    await tx.run("watch.release_all", claim=claim)


async def release(tx: Transaction, held: WatchClaim, problem: str, *, not_asked: bool) -> None:
    """Give up a claim, and record why the watch was not asked, or else why its alert was not sent; empty if neither is
    so."""
    await tx.run("watch.release", name=held.name, claim=held.id, problem=problem, not_asked=not_asked)


async def evidence(tx: Transaction, name: str) -> list[WatchPassage]:
    """What a watch found last."""
    return [WatchPassage(*row) for row in await tx.rows("watch.evidence", name=name)]


async def tokens_today(tx: Transaction, name: str) -> int:
    """The tokens that answers of a watch have taken today (UTC)."""
    return int(await tx.value("watch.tokens_today", name=name))


async def record_asked(
    tx: Transaction, held: WatchClaim, state_: str, change: EvidenceChange, answer: WatchAnswer
) -> bool:
    """Record that a watch was asked at this state of the index, with an alert if its evidence has changed. Returns
    False, and records nothing, if the claim was lost."""
    await tx.run("watch.lock")
    if not await tx.run("watch.asked", name=held.name, claim=held.id, state=state_, alerts=bool(change)):
        return False
    if change:
        await _add_alert(tx, held.name, change, answer, is_first=False)
    return True


async def latest(tx: Transaction, watch: str | None, limit: int) -> list[Alert]:
    """The latest alerts of a watch or of all, the latest last, without passages."""
    return [_alert(row) for row in await tx.rows("watch.latest", watch=watch, limit=limit)]


async def following(tx: Transaction, watch: str | None, after: int, limit: int) -> list[Alert]:
    """The next alerts of a watch or of all after one with this id, without passages."""
    return [_alert(row) for row in await tx.rows("watch.following", watch=watch, after=after, limit=limit)]


async def waiting(tx: Transaction, held: WatchClaim) -> tuple[Alert, int] | None:
    """The oldest alert that is to be sent now, and how often that has failed."""
    rows = await tx.rows("watch.waiting", name=held.name, claim=held.id)
    return (_alert(rows[0][:-1]), rows[0][-1]) if rows else None


async def sent(tx: Transaction, held: WatchClaim, alert: int, delivery: Delivery) -> None:
    """Record that an alert was sent, or is given up."""
    await tx.run("watch.sent", name=held.name, claim=held.id, alert=alert, delivery=delivery)


async def not_sent(tx: Transaction, held: WatchClaim, pause: timedelta) -> None:
    """Record that an alert could not be sent, and is sent again after a pause."""
    await tx.run("watch.not_sent", name=held.name, claim=held.id, pause=pause)


async def with_passages(workspace: Workspace, alerts: Sequence[Alert]) -> list[Alert]:
    """Alerts with their passages, as far as these are stored and their watch may read them now."""
    async with workspace.transaction() as tx:
        rows = await tx.rows("watch.passages", alerts=[one.id for one in alerts])
    listed: dict[int, list[Row]] = {}
    by_groups: dict[tuple[str, ...], set[UUID]] = {}
    for row in rows:
        listed.setdefault(row[0], []).append(row[1:])
        by_groups.setdefault(tuple(row[1]), set()).add(row[3])
    texts = {groups: await _texts(workspace, groups, chunks) for groups, chunks in by_groups.items()}
    return [
        replace(one, passages=tuple(_shown(row, texts[tuple(row[0])]) for row in listed.get(one.id, ())))
        for one in alerts
    ]


async def _texts(workspace: Workspace, groups: tuple[str, ...], chunks: Iterable[UUID]) -> Mapping[UUID, Row]:
    seen = workspace if EVERY_GROUP in groups else workspace.seen(Sight(groups))
    async with seen.transaction() as tx:
        return {row[0]: row[1:] for row in await tx.rows("watch.texts", chunks=Ids(chunks), longest=_LONGEST)}


def _shown(row: Row, texts: Mapping[UUID, Row]) -> AlertPassage:
    groups, change, chunk, uri = row
    if chunk not in texts:  # whoever may not read a document does not learn its uri either
        return AlertPassage(change, uri if EVERY_GROUP in groups else "")
    title, date, start, text, is_indexed = texts[chunk]
    return AlertPassage(change, uri, title, date_of(date), start, text, is_indexed)


async def _add_alert(
    tx: Transaction, name: str, change: EvidenceChange, answer: WatchAnswer, *, is_first: bool
) -> None:
    uris = Texts({one.uri for one in (*change.now, *change.removed) if one.uri})
    there = {uri for (uri,) in await tx.rows("watch.keep_documents", uris=uris)}
    if answer.text and any(one.uri not in there for one in change.now):
        answer = replace(answer, text="", problem="a document was removed while the question was answered")
    id_ = await tx.value(
        "watch.add_alert",
        name=name,
        is_first=is_first,
        added=len(change.added),
        removed=len(change.removed),
        answer=answer.text,
        tokens=answer.tokens,
        problem=answer.problem,
    )
    new = {one.chunk for one in change.added}
    listed = [("added" if one.chunk in new else "kept", one) for one in change.now]
    listed += [("removed", one) for one in change.removed]
    # A document may have been erased since it was found.
    kept = [(kind, one if one.uri in there else WatchPassage(uuid4(), "")) for kind, one in listed]
    await tx.run(
        "watch.add_passages",
        alert=id_,
        changes=Texts(kind for kind, _ in kept),
        chunks=Ids(one.chunk for _, one in kept),
        uris=Texts(one.uri for _, one in kept),
    )


def _known(row: Row) -> KnownWatch:
    name, question, method, filter_, groups, *rest, state_, key = row
    return KnownWatch(Watch(name, question, method, filter_of_json(filter_), tuple(groups), *rest), state_, key)


def _alert(row: Row) -> Alert:
    id_, watch, question, at, is_first, added, removed, answer, problem, delivery = row
    return Alert(id_, watch, question, at, is_first, added, removed, (), answer, problem, delivery)


def _unknown(name: str) -> UnknownWatch:
    return UnknownWatch(f"there is no watch {name!r} in this workspace. `trueweave watch list` shows all.")
