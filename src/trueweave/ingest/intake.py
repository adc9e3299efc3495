"""Submits documents from any source to the queue, in batches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from trueweave.core.dates import with_date
from trueweave.core.events import Event, Found, Listener, Refused, Unreadable, Waiting
from trueweave.core.record import NamedFile, Source
from trueweave.ingest import reading_limits
from trueweave.ingest.connectors import AddressRun
from trueweave.ingest.loading import Files, Loaded
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.seen import Seen
from trueweave.ingest.submitted import Submitted
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.record import sources
from trueweave.store.postgres.record.sources import HandedIn

_MOST = 64  # documents submitted at once
_MOST_CHARACTERS = 4_000_000
_MOST_SECONDS = 2.0  # for reading them: what was fetched slowly is submitted meanwhile


async def take_in(
    workspace: Workspace,
    incoming: Iterable[Loaded],
    recipe: Recipe,
    listener: Listener,
    submitted: Submitted | None = None,
    made: UUID | None = None,
    room: int | None = None,
    after_each: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Submit all documents, and report each file that could not be read. Submitted documents are recorded in
    `submitted`, and `after_each` is called after each batch and at the end. With `made`, unchanged documents are also
    submitted if they were processed with another recipe. StorageFull if the workspace would exceed `room` bytes of
    text."""
    async for found in batches(incoming, listener):
        handed_in = await hand_in(workspace, found, recipe, listener, made, room)
        if submitted is not None:
            submitted.add(handed_in.queued)
        listener(Found(handed_in.new, len(found) - handed_in.new))
        if after_each:
            await after_each()
    if after_each:
        await after_each()


async def take_back(workspace: Workspace, submitted: Submitted) -> None:
    """Withdraw the documents of a run that no worker has started."""
    for jobs in submitted.all():
        await sources.take_back(workspace, jobs)


class Counts(NamedTuple):
    """How many documents are new, changed and unchanged, how many of those get other readers, and how many could not be
    read."""

    new: int
    changed: int
    unchanged: int
    readers: int
    unreadable: int


async def count(workspace: Workspace, incoming: Iterable[Loaded], recipe: Recipe, listener: Listener) -> Counts:
    """The effect of submitting these. Nothing is submitted."""
    fresh, changed, unchanged, readers, unreadable = 0, 0, 0, 0, 0

    def tell(event: Event) -> None:
        nonlocal unreadable
        unreadable += isinstance(event, Unreadable | Refused)
        listener(event)

    async for found in batches(incoming, tell):
        async with workspace.transaction() as tx:
            new = [source.uri for source in await sources.not_in_record(tx, found, recipe.packed())]
            known = len(await sources.known(tx, new))
            readers += await sources.reader_changes(tx, found, recipe.packed())
        fresh, changed, unchanged = fresh + len(new) - known, changed + known, unchanged + len(found) - len(new)
    return Counts(fresh, changed, unchanged, readers, unreadable)


async def batches(incoming: Iterable[Loaded], listener: Listener) -> AsyncIterator[list[Source]]:
    """The documents of the input, in batches; everything else goes to the listener. Reading happens in a thread."""
    source = iter(incoming)
    while some := await asyncio.to_thread(_batch, source):
        for one in some:
            if not isinstance(one, Source):
                listener(one)
        if found := [one for one in some if isinstance(one, Source)]:
            yield found


async def hand_in(
    workspace: Workspace,
    found: Sequence[Source],
    recipe: Recipe,
    listener: Listener,
    made: UUID | None = None,
    room: int | None = None,
) -> HandedIn:
    """Submit, and wait while the database is unavailable."""

    def told(reason: str, waited: float) -> None:
        listener(Waiting(reason, waited))

    return await workspace.retry_while_down(
        lambda: sources.submit(workspace, found, recipe.packed(), made, room), listener=told
    )


Input = str | Path | Source | NamedFile | AddressRun


def incoming(
    what: Iterable[Input], files: Files, seen: Seen, readers: tuple[str, ...] | None = None, date: str = ""
) -> Iterator[Loaded]:
    """The documents in these files, folders, patterns and addresses, and those given as documents, in order. Those that
    do not state their readers or their date have these.

    Of two documents with the same uri the first is used, and the second is refused.
    """
    for n, one in enumerate(what, 1):
        found = _loaded(one, files)
        for loaded in found:
            if isinstance(loaded, Source):
                # A file has its own uri, and so does its content if it is one document.
                origin = loaded.origin or (f"text {n} of those given" if loaded is one else loaded.uri)
                given = replace(
                    loaded,
                    metadata=with_date(loaded.metadata, date),
                    readers=readers if loaded.readers is None else loaded.readers,
                )
                yield seen.clash(loaded.uri, origin) or given
            else:
                yield loaded


def _loaded(one: Input, files: Files) -> Iterable[Loaded]:
    if isinstance(one, Source):
        return [one]
    if isinstance(one, AddressRun):
        return one.documents(files)
    return files.named(one) if isinstance(one, NamedFile) else files.sources([one])


def _batch(source: Iterator[Loaded]) -> list[Loaded]:
    """The next batch, limited in number, size and time. Empty at the end."""
    taken: list[Loaded] = []
    size, end = 0, time.monotonic() + _MOST_SECONDS
    with reading_limits.current().running():
        for one in source:
            taken.append(one)
            size += len(one.text) if isinstance(one, Source) else 0
            if len(taken) >= _MOST or size >= _MOST_CHARACTERS or time.monotonic() > end:
                break
    return taken
