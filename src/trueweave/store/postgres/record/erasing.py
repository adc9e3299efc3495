"""Erasing what removed documents leave behind, and keeping no longer than need be what grows with use.

A removed document leaves the view when it is settled. What is left of it elsewhere is noted in the transaction that
removes it, and erased once it is out of the view, by whoever comes first: names that nobody mentions any more, reports
that may quote it, what models replied about its texts, its uri in the list of what was spent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from trueweave.graph.aggregate import report_text
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import share_view
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.record import resolution, storage
from trueweave.store.postgres.vectors import vectors
from trueweave.text.names import key

_DOCUMENTS_AT_ONCE = 100
_ROWS_AT_ONCE = 5000
_NOT_AT_ALL = timedelta()
_RESPONSES_KEPT = timedelta(days=1)


class Retention(NamedTuple):
    """How long things are kept: replies that are no document's, the logs of changes and jobs, calls one by one."""

    replies: timedelta
    logs: timedelta
    calls: timedelta


class Forgotten(NamedTuple):
    """How much was kept no longer. `calls` are in the sums of their days from now on."""

    replies: int
    changes: int
    calls: int


class _Left(NamedTuple):
    """A removed document, what it spoke of and how that was described, and whether there is one of its uri again."""

    id: int
    uri: str
    names: list[UUID]
    entities: list[UUID]
    entity_hashes: list[UUID]
    relations: list[UUID]
    relation_hashes: list[UUID]
    relation_sources: list[UUID]
    relation_targets: list[UUID]
    communities: list[UUID]
    is_back: bool


async def erase(workspace: Workspace) -> int:
    """Erase what is left of removed documents that are out of the view; how many of them there were."""
    erased = 0
    while True:
        async with workspace.transaction() as tx:
            some = [_Left(*row) for row in await tx.rows("erase.due", limit=_DOCUMENTS_AT_ONCE)]
        if not some:
            return erased
        await resolution.sweep(workspace, [name for one in some for name in one.names])
        while await _forget_stale(workspace, _NOT_AT_ALL):
            pass
        async with workspace.transaction() as tx:
            await _erase(tx, some)
        erased += len(some)


async def any_left(tx: Transaction) -> bool:
    """Whether something is left of a removed document."""
    return bool(await tx.value("erase.any"))


async def _erase(tx: Transaction, some: Sequence[_Left]) -> None:
    await share_view(tx)
    for one in some:
        await _erase_reports(tx, one)
    gone = Texts(one.uri for one in some if not one.is_back)
    await tx.run("erase.retired")
    await tx.run("erase.replies_for", uris=gone)
    await tx.run("erase.replies_of_nobody", uris=gone)
    await tx.run("erase.replies_from_many")
    await tx.run("erase.spending", uris=gone)
    await tx.run("erase.done", ids=[one.id for one in some])


async def _erase_reports(tx: Transaction, of: _Left) -> None:
    """Take away what is written about communities that the document had a part in, where that may quote it."""
    gone = await tx.rows(
        "erase.reports",
        communities=Ids(of.communities),
        entities=Ids(of.entities),
        entity_hashes=Ids(of.entity_hashes),
        relations=Ids(of.relations),
        relation_hashes=Ids(of.relation_hashes),
        sources=Ids(of.relation_sources),
        targets=Ids(of.relation_targets),
    )
    if not gone:
        return
    await tx.run("erase.no_more_reports")
    await outbox.add(tx, ("report", True, (community for community, *_ in gone)))
    await tx.run("erase.replies_to_texts", hashes=Ids(key("text", report_text(*texts)) for _, *texts in gone))
    if space := await vectors.space(tx):
        await vectors.write(tx, space, (), [("community", community) for community, *_ in gone])


async def forget_old(workspace: Workspace, kept: Retention) -> Forgotten:
    """Let go of what was kept for long enough, some at a time."""
    replies = await _all(lambda: _forget_stale(workspace, kept.replies))
    replies += await _forget_replies(workspace, kept.replies)
    changes = await _all(lambda: _some(workspace, "erase.old_changes", kept.logs))
    calls = await _all(lambda: _some(workspace, "erase.old_calls", kept.calls))
    await _all(lambda: _some(workspace, "ingest_job.forget_old", kept.logs))
    await _all(lambda: _some(workspace, "kept_response.forget_old", _RESPONSES_KEPT))
    async with workspace.transaction() as tx:
        await storage.compact(tx)
    return Forgotten(replies, changes, calls)


async def _all(some: Callable[[], Awaitable[int]]) -> int:
    total = 0
    while more := await some():
        total += more
    return total


async def _some(workspace: Workspace, query: str, kept: timedelta) -> int:
    async with workspace.transaction() as tx:
        return int(await tx.value(query, kept=kept, limit=_ROWS_AT_ONCE))


async def _forget_stale(workspace: Workspace, kept: timedelta) -> int:
    """Forget what models made of some texts that have been gone for so long; how many texts that were."""
    async with workspace.transaction() as tx:
        hashes = [hash_ for (hash_,) in await tx.rows("erase.stale", kept=kept, limit=_ROWS_AT_ONCE)]
        if hashes:
            await tx.run("erase.forget_stale", hashes=Ids(hashes))
        return len(hashes)


async def _forget_replies(workspace: Workspace, kept: timedelta) -> int:
    forgotten = 0
    after: UUID | None = UUID(int=0)
    while after:
        async with workspace.transaction() as tx:
            [(gone, after)] = await tx.rows("erase.old_replies", kept=kept, after=after, limit=_ROWS_AT_ONCE)
        forgotten += gone
    return forgotten
