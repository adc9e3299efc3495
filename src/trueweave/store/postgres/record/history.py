"""Former versions of documents. See docs/adr/0061-history.md.

A version that was in the index while the workspace keeps history has its intervals in the table `shown`. As long as it
has one there, its rows are kept when it leaves the index. So what is to be erased loses its intervals first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from trueweave.core.errors import InvalidArgument
from trueweave.core.history import DocumentVersion, HistorySettings, HistoryStatus
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import nothing_moves, refuse_during_load, share_view

_DOCUMENTS_AT_ONCE = 100
_PAGE = 10_000


async def settings(tx: Transaction) -> HistorySettings | None:
    """The settings of a workspace that keeps history; None for others."""
    rows = await tx.rows("history.settings")
    return HistorySettings(*rows[0]) if rows else None


async def status(tx: Transaction) -> HistoryStatus:
    """What the workspace keeps."""
    [(versions, size)] = await tx.rows("history.size")
    return HistoryStatus(await settings(tx), versions, size)


async def keep(workspace: Workspace, days: int | None) -> None:
    """Keep the versions that leave the index from now on, for so many days, or change for how many."""
    async with workspace.transaction(unhurried=True) as tx:
        await refuse_during_load(tx, "keeping history")
        await nothing_moves(tx)  # documents that are being stored or settled would be left out
        if not await tx.run("history.set_days", days=days):
            await tx.run("history.begin", days=days)


async def end(workspace: Workspace) -> None:
    """Keep no history any more, and delete the former versions. What they leave elsewhere is noted for erasing."""
    async with workspace.transaction(unhurried=True) as tx:
        await nothing_moves(tx)
        await tx.run("history.end")
        await tx.run("history.forget_all")
        await tx.run("history.drop_past")
        await _delete_forgotten(tx, [uri for (uri,) in await tx.rows("history.former")])


async def forget(tx: Transaction, uris: Sequence[str]) -> None:
    """No longer keep any version of these documents, which the caller has locked. Past states may have them, and take
    no more calls; `drop_past` in temporary_workspaces.py is to follow."""
    await tx.run("history.forget", uris=list(uris))
    await tx.run("history.drop_past")


async def expire(workspace: Workspace) -> int:
    """Delete former versions that were kept long enough; returns of how many documents."""
    total = 0
    while True:
        async with workspace.transaction() as tx:
            uris = [uri for (uri,) in await tx.rows("history.expired", limit=_DOCUMENTS_AT_ONCE)]
            if not uris:
                return total
            await tx.rows("record.lock_versions", uris=uris)
            await tx.run("history.forget_expired", uris=uris)
            await tx.run("history.drop_past")
            await _delete_forgotten(tx, uris)
        total += len(uris)


async def _delete_forgotten(tx: Transaction, uris: Sequence[str]) -> None:
    """Delete the former versions of these documents that are no longer kept."""
    await tx.run("erase.note", uris=list(uris), waiting=[], off=False)
    current = Ids(id_ for (id_,) in await tx.rows("history.current", uris=list(uris)))
    await tx.rows("record.forget_invisible", uris=list(uris), keep=current)


async def versions(tx: Transaction, uri: str, limit: int) -> list[DocumentVersion]:
    """When versions of a document were in the index, the latest first."""
    return [DocumentVersion(*row) for row in await tx.rows("history.versions", uri=uri, limit=limit)]


async def known_time(tx: Transaction, at: datetime | None) -> datetime:
    """This time, or the oldest that is known. Raises InvalidArgument unless the state of the index then is known."""
    kept = await settings(tx)
    if kept is None:
        raise InvalidArgument(
            "this workspace keeps no history. Run `trueweave history keep`; from then on, its past can be asked for."
        )
    if at is None:
        return kept.oldest
    if at > await tx.value("history.clock"):
        raise InvalidArgument(f"{at:%Y-%m-%d %H:%M:%S %Z} is in the future. Ask for a time that has passed.")
    if at < kept.oldest:
        raise InvalidArgument(f"history is kept since {kept.oldest:%Y-%m-%d %H:%M:%S %Z}. Ask for a later time.")
    return at


async def moment(tx: Transaction, at: datetime) -> tuple[datetime, str]:
    """The last change of the index at this time or before it, and a key over what else a past index depends on: rules,
    resolution, vectors, readers and erased versions. Raises InvalidArgument as `known_time` does."""
    await share_view(tx)  # what is being settled counts before `at` or after it
    await known_time(tx, at)
    [(changed, key)] = await tx.rows("history.moment", at=at)
    return changed, key


async def versions_at(workspace: Workspace, at: datetime) -> AsyncIterator[list[UUID]]:
    """The versions of documents that were in the index at this time, in pages."""
    after = UUID(int=0)
    while True:
        async with workspace.transaction(snapshot=True) as tx:
            page = [id_ for (id_,) in await tx.rows("history.versions_at", at=at, after=after, limit=_PAGE)]
        if not page:
            return
        yield page
        after = page[-1]


async def set_added(tx: Transaction, added: Mapping[UUID, datetime]) -> None:
    """Say when these versions were added."""
    await tx.run("history.set_added", ids=Ids(added), times=list(added.values()))


async def readers(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, tuple[list[str], datetime]]:
    """Who may read these versions now (empty for everybody), and when they were added."""
    return {id_: (readers, added) for id_, readers, added in await tx.rows("history.readers", ids=Ids(ids))}
