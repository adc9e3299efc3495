"""Makes the vectors of entities and relations of a workspace that has none, and drops them.

While they are being made, settlers embed what they change, so only vectors that were missing at the beginning have to
be made. They are embedded in batches with no transaction open; the state changes to `kept` under the view lock, when
none is missing. A call that is interrupted at any step leaves the state `making`, and the next call continues. See
docs/adr/0058-vectors-on-demand.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import uuid4

from trueweave.core.errors import NoGraphVectors, NoVectors
from trueweave.core.graph import GRAPH_KINDS
from trueweave.core.protocols import Embedder
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import lock_view, refuse_during_load, share_view
from trueweave.store.postgres.queue import leases, outbox
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.vectors.vectors import Vector, half

_REMOVED_AT_ONCE = 2000
_PAUSE = 0.2  # seconds between checks of what another process makes


async def make(workspace: Workspace, embedder: Embedder, progress: Callable[[int], None] = lambda _: None) -> None:
    """Make the missing vectors of entities and relations, and have new ones made from now on.

    One process makes them at a time; another call waits for it, and continues if it stops. Raises NoGraphVectors if
    they are dropped meanwhile.
    """
    async with workspace.transaction() as tx:
        await refuse_during_load(tx, "making vectors of entities and relations")
        await lock_view(tx)  # settlers that do not embed them have written by now, or see the new state
        await _space(tx, embedder)
        await tx.run("vectors.begin_making")
    owner, is_ours = uuid4(), False
    async with leases.kept(workspace, owner):
        while not await _is_kept(workspace):
            if not is_ours:
                async with workspace.transaction() as tx:
                    is_ours = bool(await leases.take(tx, owner, "graph_vectors"))
            if is_ours:
                await _fill(workspace, embedder, progress)
                await _finish(workspace, embedder)
            else:
                await asyncio.sleep(_PAUSE)
    await vectors.move_to_own_table(workspace, vectors.MOST_IN_COMMON)


async def drop(workspace: Workspace) -> None:
    """Delete the vectors of entities and relations, and have no more made. If this is interrupted, `remove_left` does
    the rest."""
    async with workspace.transaction() as tx:
        await refuse_during_load(tx, "dropping vectors of entities and relations")
        await lock_view(tx)
        await tx.run("vectors.drop_graph_vectors")
        await tx.run("vectors.leave_graph_tables")
        await outbox.add(tx, ("space", False, ()))  # copies are made anew, without these vectors
    await remove_left(workspace)


async def remove_left(workspace: Workspace) -> None:
    """Delete vectors of entities and relations that a workspace without them still has, a few at a time."""
    async with workspace.transaction() as tx:
        if await vectors.graph_vectors(tx) != "none":
            return
        await lock_view(tx)
        if await vectors.graph_vectors(tx) != "none":
            return
        await tx.run("vectors.leave_graph_tables")  # one may have been built just then
        spaces = [Space(*row) for row in await tx.rows("vectors.spaces_here")]
    for where in spaces:
        for kind in GRAPH_KINDS:
            removed = _REMOVED_AT_ONCE
            while removed == _REMOVED_AT_ONCE:
                async with workspace.transaction() as tx:
                    await lock_view(tx)
                    if await vectors.graph_vectors(tx) != "none":
                        return
                    removed = await vectors.remove_some(tx, where, kind, _REMOVED_AT_ONCE)


async def _fill(workspace: Workspace, embedder: Embedder, progress: Callable[[int], None]) -> None:
    """Make the vectors that are missing now."""
    async with workspace.transaction() as tx:
        where = await _space(tx, embedder)
    for kind in GRAPH_KINDS:
        async for texts in vectors.missing_of_kind(workspace, where, kind):
            embedded = await embedder.embed([t.text for t in texts], "document")
            found = [Vector(*t[:3], half(v)) for t, v in zip(texts, embedded, strict=True)]
            async with workspace.transaction() as tx:
                await share_view(tx)
                await _check_making(tx)
                if await vectors.space(tx) != where:
                    return
                current = await vectors.current_among(tx, found)  # settlers have embedded what they changed
                await vectors.write(tx, where, current, ())
                await outbox.add(tx, (kind, False, (v.id for v in current)))
            progress(len(texts))


async def _finish(workspace: Workspace, embedder: Embedder) -> None:
    """Change the state to `kept`, unless vectors are missing."""
    async with workspace.transaction(unhurried=True) as tx:
        await lock_view(tx)
        await _check_making(tx)
        where = await _space(tx, embedder)
        if not await vectors.any_missing(tx, where, GRAPH_KINDS):
            await vectors.remove_extra(tx, where, GRAPH_KINDS)
            await tx.run("vectors.finish_making")


async def _is_kept(workspace: Workspace) -> bool:
    async with workspace.transaction() as tx:
        if await vectors.graph_vectors(tx) == "kept":
            return True
        await _check_making(tx)
        return False


async def _check_making(tx: Transaction) -> None:
    if await vectors.graph_vectors(tx) == "none":
        raise NoGraphVectors(
            "the vectors of entities and relations were dropped while they were being made. Run `trueweave vectors "
            "make` again if you need them."
        )


async def _space(tx: Transaction, embedder: Embedder) -> Space:
    where = await vectors.space(tx)
    if where is None:
        raise NoVectors("this workspace has no vectors yet. Add documents first, with an embedding model.")
    where.check(embedder)
    return where
