"""Brings one copy of a workspace up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from trueweave.core.errors import ChangesGone, StoreError
from trueweave.core.projections import Change, ProjectionCopy
from trueweave.core.protocols import ProjectionTarget
from trueweave.store.postgres.projection.projecting import ProjectionSource

Written = Callable[[int], None]

_AT_ONCE = 1000  # objects read and written together
_CHANGES = 100  # outbox entries read at once


class _SpaceChanged(StoreError):
    """The workspace's vectors now come from another model, so the copy must be rebuilt."""


class _CopyLost(StoreError):
    """The store no longer has the copy."""


class Copying:
    """One copy in a store, and its workspace. `check` raises if another projector may be working on it by now."""

    def __init__(
        self, source: ProjectionSource, target: ProjectionTarget, copy: str, check: Callable[[], None], written: Written
    ) -> None:
        self._source = source
        self._target = target
        self._copy = copy
        self._check = check
        self._written = written

    async def build(self) -> None:
        """Copy everything. An interrupted build is repeated, overwriting what is there.

        Changes are kept from the moment the build first began, so what was removed since then is removed when they are
        followed.
        """
        source, target, copy = self._source, self._target, self._copy
        position = await source.position()
        if position is None:
            position = await source.newest()
            await source.advance(position)
        await target.begin(ProjectionCopy(copy, source.workspace.id, await source.space()))
        if await target.position(copy) != -1:
            return  # the build was interrupted after it was complete
        for kind in target.kinds:
            async for page in source.pages(kind, _AT_ONCE):
                batch = await source.read_page(kind, page, target.vector_kinds)
                self._check()
                await target.write(copy, batch, source, -1)
                self._written(batch.size)
        self._check()
        await target.advance(copy, -1, position)

    async def follow(self) -> int:
        """Apply a batch of the changes since the last call; returns how many there were, 0 if none are left."""
        source, target, copy = self._source, self._target, self._copy
        position = await target.position(copy)
        if position is None or position < 0:
            raise _CopyLost(f"{target.name} has no copy {copy} any more")
        changes = await source.changes(position, _CHANGES)
        if not changes:
            await source.advance(position)  # the store may be further ahead than the noted position
            return 0
        if target.vector_kinds and any(change.kind == "space" for change in changes):
            raise _SpaceChanged("the vectors now come from another model, or some were dropped")
        for some in _slices(changes, _AT_ONCE):
            batch = await source.read(some, target.kinds, target.vector_kinds)
            if batch.size:
                self._check()
                await target.write(copy, batch, source, position)
                self._written(batch.size)
        self._check()
        await target.advance(copy, position, changes[-1].position)
        await source.advance(changes[-1].position)
        return len(changes)


REBUILT = (ChangesGone, _SpaceChanged, _CopyLost)
"""After one of these errors a copy is rebuilt."""


def _slices(changes: Sequence[Change], most: int) -> Iterator[list[Change]]:
    """Split the changes so that each part has at most `most` ids: a single change may not fit into memory."""
    some: list[Change] = []
    room = most
    for change in changes:
        ids = change.ids
        while ids:
            part, ids = ids[:room], ids[room:]
            some.append(replace(change, ids=part))
            room -= len(part)
            if not room:
                yield some
                some, room = [], most
    if some:
        yield some
