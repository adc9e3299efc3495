"""Bringing one copy of a workspace up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from trueweave.core.errors import ChangesGone, StoreError
from trueweave.core.projections import Change, ProjectionCopy
from trueweave.core.protocols import ProjectionTarget
from trueweave.store.postgres.projection.projecting import ProjectionSource

Written = Callable[[int], None]

_AT_ONCE = 1000  # things that are read and written together
_CHANGES = 100  # entries of the outbox that are read at once


class _SpaceChanged(StoreError):
    """The vectors of the workspace are others now, so that the copy has to be built anew."""


class _CopyLost(StoreError):
    """The store does not have the copy any more."""


class Copying:
    """One copy in a store, and the workspace that it is of. `check` raises when somebody else may be at it by now."""

    def __init__(
        self, source: ProjectionSource, target: ProjectionTarget, copy: str, check: Callable[[], None], written: Written
    ) -> None:
        self._source = source
        self._target = target
        self._copy = copy
        self._check = check
        self._written = written

    async def build(self) -> None:
        """Copy everything. One that was interrupted is done again, over what is there.

        Changes are kept from the moment at which it was first begun, so that what was removed since is removed when
        they are followed.
        """
        source, target, copy = self._source, self._target, self._copy
        position = await source.position()
        if position is None:
            position = await source.newest()
            await source.advance(position)
        await target.begin(ProjectionCopy(copy, source.workspace.id, await source.space()))
        if await target.position(copy) != -1:
            return  # it was complete, and interrupted after that
        for kind in target.kinds:
            async for page in source.pages(kind, _AT_ONCE):
                batch = await source.read_page(kind, page, target.vector_kinds)
                self._check()
                await target.write(copy, batch, source, -1)
                self._written(batch.size)
        self._check()
        await target.advance(copy, -1, position)

    async def follow(self) -> int:
        """Apply what has changed since; how many changes that were, at most a few. None are left where it is 0."""
        source, target, copy = self._source, self._target, self._copy
        position = await target.position(copy)
        if position is None or position < 0:
            raise _CopyLost(f"{target.name} has no copy {copy} any more")
        changes = await source.changes(position, _CHANGES)
        if not changes:
            await source.advance(position)  # the store may have come further than was noted
            return 0
        if target.vector_kinds and any(change.kind == "space" for change in changes):
            raise _SpaceChanged("the vectors now come from another model")
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
"""After these a copy is built anew."""


def _slices(changes: Sequence[Change], most: int) -> Iterator[list[Change]]:
    """The changes with no more than so many ids at a time: one change may have more than memory should hold."""
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
