"""Erases what removed documents leave behind, and deletes data that has been kept long enough.

A removed document leaves the view when its removal is settled, and so does one that is switched off. The transaction
that removes it notes what it leaves elsewhere: names that nobody mentions any more, reports that may quote it, model
replies about its texts, its uri in the ledger and in benchmarks. The first process to look once the document has left
the view erases these. Of a document that is switched off, it only erases the reports.
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
    """How long to keep replies that belong to no document, the logs of changes and jobs, and the rows of single
    calls."""

    replies: timedelta
    logs: timedelta
    calls: timedelta


class Forgotten(NamedTuple):
    """How many rows were deleted. `calls` are still included in their daily totals."""

    replies: int
    changes: int
    calls: int


class _Left(NamedTuple):
    """A document that left the view, the entities and relations it mentioned with their text hashes, whether its uri is
    in use, and whether it was only switched off."""

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
    is_off: bool


async def erase(workspace: Workspace) -> int:
    """Erase what is left of removed documents that have left the view; returns how many documents."""
    erased = 0
    while True:
        async with workspace.transaction() as tx:
            some = [_Left(*row) for row in await tx.rows("erase.due", limit=_DOCUMENTS_AT_ONCE)]
        if not some:
            return erased
        if removed := [one for one in some if not one.is_off]:
            await resolution.sweep(workspace, [name for one in removed for name in one.names])
            while await _forget_stale(workspace, _NOT_AT_ALL):
                pass
        async with workspace.transaction() as tx:
            await _erase(tx, some)
        erased += len(some)


async def any_left(tx: Transaction) -> bool:
    """Whether anything is left of removed documents."""
    return bool(await tx.value("erase.any"))


async def forget_answers(workspace: Workspace) -> None:
    """Delete the replies to questions and about several texts: one that was asked for before a removal may have been
    stored after it."""
    async with workspace.transaction() as tx:
        await tx.run("erase.replies_from_many")


async def _erase(tx: Transaction, some: Sequence[_Left]) -> None:
    await share_view(tx)
    for one in some:
        await _erase_reports(tx, one)
    await tx.run("erase.retired")
    if not all(one.is_off for one in some):
        gone = Texts(one.uri for one in some if not one.is_off and not one.is_back)
        await tx.run("erase.replies_for", uris=gone)
        await tx.run("erase.replies_of_nobody", uris=gone)
        await tx.run("erase.replies_from_many")
        await tx.run("erase.spending", uris=gone)
        await tx.run("erase.bench_passages", uris=gone)
        await tx.run("erase.alert_answers", uris=gone)
        await tx.run("erase.alert_passages", uris=gone)
        await tx.run("erase.connector_documents", uris=gone)
        await tx.run("erase.kept_responses", uris=gone)
        await tx.run("source.forget_jobs", uris=gone)
    await tx.run("erase.done", ids=[one.id for one in some])


async def _erase_reports(tx: Transaction, of: _Left) -> None:
    """Delete reports on communities that the document contributed to, if they may quote it."""
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
    await outbox.add(tx, ("report", True, (community for community, *_ in gone)))
    await tx.run("erase.replies_to_texts", hashes=Ids(key("text", report_text(*texts)) for _, *texts in gone))
    if space := await vectors.space(tx):
        await vectors.write(tx, space, (), [("community", community) for community, *_ in gone])


async def forget_old(workspace: Workspace, kept: Retention) -> Forgotten:
    """Delete what has been kept long enough, in batches."""
    replies = await _all(lambda: _forget_stale(workspace, kept.replies))
    replies += await _forget_replies(workspace, kept.replies)
    changes = await _all(lambda: _some(workspace, "erase.old_changes", kept.logs))
    calls = await _all(lambda: _some(workspace, "erase.old_calls", kept.calls))
    await _all(lambda: _some(workspace, "ingest_job.forget_old", kept.logs))
    await _all(lambda: _some(workspace, "kept_response.forget_old", _RESPONSES_KEPT))
    await _all(lambda: _some(workspace, "certificate.forget_old", kept.logs))
    await _all(lambda: _some(workspace, "watch.forget_old", kept.logs))
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
    """Delete replies and summaries of texts that were removed longer ago than `kept`; returns how many texts."""
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
