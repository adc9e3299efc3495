"""Taking documents in: from whatever brings them, in batches, to the queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path

from trueweave.events import Found, Listener, Waiting
from trueweave.ingest.recipe import Recipe
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.sources import hand_in
from trueweave.text.loading import Loaded, loaders, sources
from trueweave.types import Source

_MOST = 64  # documents handed in at once
_MOST_CHARACTERS = 4_000_000


async def take_in(
    database: Database, workspace: int, incoming: Iterable[Loaded], recipe: Recipe, listener: Listener
) -> None:
    """Hand all documents in, and tell of each file that could not be read."""
    async for found in batches(incoming, listener):
        new = len(await _hand_in(database, workspace, found, recipe, listener))
        listener(Found(new, len(found) - new))


async def batches(incoming: Iterable[Loaded], listener: Listener) -> AsyncIterator[list[Source]]:
    """The documents among what comes in, some at a time; the listener is told of what is none. Reading goes on in a
    thread."""
    source = iter(incoming)
    while some := await asyncio.to_thread(_batch, source):
        for one in some:
            if not isinstance(one, Source):
                listener(one)
        if found := [one for one in some if isinstance(one, Source)]:
            yield found


async def _hand_in(
    database: Database, workspace: int, found: Sequence[Source], recipe: Recipe, listener: Listener
) -> list[str]:
    """Hand in, and wait while the database is away."""

    def told(reason: str, waited: float) -> None:
        listener(Waiting(reason, waited))

    return await database.insist(lambda: hand_in(database, workspace, found, recipe.packed()), told=told)


def incoming(what: Iterable[str | Path | Source]) -> Iterator[Loaded]:
    """The documents in these files, folders and patterns, and those that are documents already, in order."""
    by_suffix = loaders()
    for one in what:
        if isinstance(one, Source):
            yield one
        else:
            yield from sources([one], by_suffix)


def _batch(source: Iterator[Loaded]) -> list[Loaded]:
    """The next of what comes in: neither too many nor too much. Empty at the end."""
    taken: list[Loaded] = []
    size = 0
    for one in source:
        taken.append(one)
        size += len(one.text) if isinstance(one, Source) else 0
        if len(taken) >= _MOST or size >= _MOST_CHARACTERS:
            break
    return taken
