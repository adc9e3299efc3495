"""Searches the copies of a workspace in other stores for erased documents."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from trueweave.core.protocols import ProjectionTarget
from trueweave.store.postgres.record.leftovers import Lookup


class SearchedCopy(NamedTuple):
    """A copy that was searched: the last change that it has, the number of its items, and those that hold something of
    erased documents."""

    position: int
    items: int
    found: int


async def search_copy(target: ProjectionTarget, copy: str, lookup: Lookup) -> SearchedCopy:
    """Read a whole copy, page by page, and look for erased documents in it."""
    position = await target.position(copy)
    items = found = 0
    for kind in target.kinds:
        async for page in target.contents(copy, kind):
            items += len(page)
            found += await asyncio.to_thread(lookup.holding, list(page.items()))
    return SearchedCopy(-1 if position is None else position, items, found)
