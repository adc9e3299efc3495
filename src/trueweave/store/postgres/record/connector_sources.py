"""The sources of a workspace, and the claims of the processes that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from trueweave.core.errors import InvalidArgument, SourceBusy, UnknownSource
from trueweave.core.sources import DocumentSource, SourceRun
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Database, Transaction, Workspace

MOST = 1000  # sources of a workspace


class SourceClaim(NamedTuple):
    """The right of this process to run a source, until its lease expires."""

    name: str
    id: UUID


async def add(
    tx: Transaction,
    name: str,
    address: str,
    secrets: Mapping[str, str],
    every: int | None,
    author: str,
    *,
    restricted: bool,
    readers: Sequence[str] | None,
) -> DocumentSource:
    """Store a source; if there is one with this name and address, change its schedule, secrets and readers."""
    given = {"name": name, "address": address, "secrets": Jsonb(dict(secrets)), "every": every}
    given["readers"] = None if readers is None else list(readers)
    await tx.run("connector_source.lock")
    other = await tx.value("connector_source.of_address", address=address)
    if other is not None and other != name:
        raise InvalidArgument(f"the source {other} has this address already. Change that one, or remove it.")
    if other is None and await tx.value("connector_source.count") >= MOST:
        raise InvalidArgument(f"the workspace has {MOST:,} sources already. Remove one of them.")
    if not await tx.run("connector_source.add", **given, restricted=restricted, author=author):
        known = await get(tx, name)
        if known.is_being_removed:
            raise _being_removed(name)
        raise InvalidArgument(
            f"the source {name} has another address, {known.address}. Choose another name, or remove that source."
        )
    return await get(tx, name)


async def page(tx: Transaction, limit: int, after: str = "") -> list[DocumentSource]:
    """Sources in the order of their names."""
    return [_source(row) for row in await tx.rows("connector_source.find", name=None, after=after, limit=limit)]


async def get(tx: Transaction, name: str) -> DocumentSource:
    """The source of that name. Raises UnknownSource if there is none."""
    return _source(await _row(tx, name))


async def is_confirmed(tx: Transaction, name: str) -> bool:
    """Whether the next run of a source may remove many documents."""
    *_, confirmed = await _row(tx, name)
    return bool(confirmed)


async def request(tx: Transaction, name: str, *, confirmed: bool) -> None:
    """Make a source due now."""
    if not await tx.run("connector_source.request", name=name, confirmed=confirmed):
        await get(tx, name)
        raise _being_removed(name)


async def claim(tx: Transaction, name: str, owner: int) -> SourceClaim:
    """Claim a source for one run. SourceBusy if a process is running it."""
    made = SourceClaim(name, uuid4())
    if await tx.run("connector_source.claim", name=name, claim=made.id, owner=owner, stopping=False):
        return made
    if (await get(tx, name)).is_being_removed:
        raise _being_removed(name)
    raise SourceBusy(
        f"the source {name} is being synchronised by another process. `trueweave sources list` shows when it is done."
    )


async def claim_for_removal(tx: Transaction, name: str, owner: int) -> SourceClaim | None:
    """Stop the runs of a source, and claim it; None while a process is still running it."""
    made = SourceClaim(name, uuid4())
    if not await tx.run("connector_source.stop", name=name):
        raise _unknown(name)
    is_claimed = await tx.run("connector_source.claim", name=name, claim=made.id, owner=owner, stopping=True)
    return made if is_claimed else None


async def claim_due(
    database: Database, only: Workspace | None, owner: int, claim_id: UUID, most: int
) -> list[tuple[int, SourceClaim]]:
    """Claim sources that are due, at most one of each workspace. Returns them with their workspaces."""
    async with only.transaction() if only else database.transaction(None) as tx:
        rows = await tx.rows("connector_source.claim_due", owner=owner, claim=claim_id, most=most)
    return [(workspace, SourceClaim(name, claim_id)) for workspace, name in rows]


async def release_unknown(database: Database, only: Workspace | None, claim_id: UUID) -> None:
    """Release what was claimed by a transaction whose outcome is not known."""
    async with only.transaction() if only else database.transaction(None) as tx:
        await tx.run("connector_source.release_unknown", claim=claim_id)


async def is_current(tx: Transaction, held: SourceClaim) -> bool:
    """Whether a claim is valid, and the source is not to be removed."""
    return bool(await tx.value("connector_source.is_current", name=held.name, claim=held.id))


async def release(tx: Transaction, held: SourceClaim, after: float = 0) -> None:
    """Give up a claim. If the source was due, it is due again after this many seconds."""
    await tx.run("connector_source.release", name=held.name, claim=held.id, after=after)


async def finish(tx: Transaction, held: SourceClaim, run: Mapping[str, object]) -> None:
    """Record the result of a run, and set when the next is due. Nothing happens if the claim was lost."""
    await tx.run("connector_source.finish", name=held.name, claim=held.id, **run)


async def remove(tx: Transaction, held: SourceClaim) -> None:
    """Delete a source that was claimed for that."""
    await tx.run("connector_source.remove", name=held.name, claim=held.id)


async def _row(tx: Transaction, name: str) -> Row:
    rows = await tx.rows("connector_source.find", name=name, after="", limit=1)
    if not rows:
        raise _unknown(name)
    return rows[0]


def _source(row: Row) -> DocumentSource:
    name, address, secrets, every_seconds, restricted, author, made, due, is_running, is_being_removed, *run = row
    *run, readers, _ = run
    (_, _, outcome, *_) = run
    last = SourceRun(*run) if outcome else None
    facts = restricted, author, made, due, is_running, is_being_removed
    return DocumentSource(
        name, address, secrets, every_seconds, *facts, last, None if readers is None else tuple(readers)
    )


def _unknown(name: str) -> UnknownSource:
    return UnknownSource(f"there is no source {name!r} in this workspace. `trueweave sources list` shows all.")


def _being_removed(name: str) -> SourceBusy:
    return SourceBusy(f"the source {name} is being removed. `trueweave sources remove {name}` completes it.")
