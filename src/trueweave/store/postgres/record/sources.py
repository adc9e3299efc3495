"""Documents that were submitted but are not in the record yet."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple
from uuid import UUID

from trueweave.core.jobs import FailedDocument
from trueweave.core.record import Picture, Place, Source
from trueweave.core.telemetry.spans import carrier
from trueweave.graph.contribution import metadata_json, places_json
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import names_may_arrive
from trueweave.store.postgres.queue.queue import enqueue
from trueweave.store.postgres.record.readers import give_readers, require_exact
from trueweave.store.postgres.record.storage import check_room
from trueweave.text.names import key

_HANDFUL = 16
_HANDFUL_CHARACTERS = 16_000
_PAGE = 10_000


class Job(NamedTuple):
    """A source to process. The job is void once the source has been replaced or removed."""

    uri: str
    id: UUID


def packed(jobs: Iterable[Job]) -> bytes:
    """Jobs encoded for the queue."""
    return json.dumps([(job.uri, job.id.hex) for job in jobs]).encode()


def unpacked(payload: bytes | None) -> list[Job]:
    return [Job(uri, UUID(id_)) for uri, id_ in json.loads(payload or b"[]")]


class Begun(NamedTuple):
    """A source that is being processed, its recipe, how often processing was started, the trace in which it was
    submitted, and whether it has pictures, which are read separately because they are large."""

    id: UUID
    source: Source
    recipe: str
    starts: int
    trace: str | None = None
    has_pictures: bool = False


class _Row(NamedTuple):
    """A source as stored, under a hash of everything that its document is made from."""

    id: UUID
    source: Source
    metadata: str
    places: str
    pictures: bytes | None = None

    @property
    def readers(self) -> str | None:
        return None if self.source.readers is None else json.dumps(self.source.readers)


def source_id(source: Source, recipe: str) -> UUID:
    """The id of a source to be processed with a recipe."""
    return _row(source, recipe).id


def _row(source: Source, recipe: str) -> _Row:
    metadata, places = metadata_json(source.uri, source.metadata), places_json(source.places)
    said = [source.uri, source.title, source.text, metadata, places, recipe, *source.notes]
    if not source.pictures:
        return _Row(key("source", *said), source, metadata, places)
    pictures = _packed_pictures(source.pictures)
    return _Row(key("source", *said, "pictures", pictures.decode()), source, metadata, places, pictures)


def _packed_pictures(pictures: Iterable[Picture]) -> bytes:
    rows = ({**asdict(picture), "data": base64.b64encode(picture.data).decode()} for picture in pictures)
    return json.dumps(list(rows), sort_keys=True).encode()


def _unpacked_pictures(stored: bytes) -> tuple[Picture, ...]:
    return tuple(Picture(**row | {"data": base64.b64decode(row["data"])}) for row in json.loads(stored))


async def pictures(workspace: Workspace, job: Job) -> tuple[Picture, ...]:
    """The pictures of a source; none if it was replaced or removed."""
    async with workspace.transaction() as tx:
        found = await tx.rows("source.pictures", uri=job.uri, id=job.id)
    stored = found[0][0] if found else None
    return await asyncio.to_thread(_unpacked_pictures, stored) if stored else ()


def _rows(sources: Iterable[Source], recipe: str) -> list[_Row]:
    return [_row(source, recipe) for source in sources]


async def not_in_record(
    tx: Transaction, sources: Iterable[Source], recipe: str, made: UUID | None = None
) -> list[Source]:
    """The sources that are not already in the record unchanged; with `made`, also those processed with another
    recipe."""
    rows = await asyncio.to_thread(_rows, sources, recipe)
    return [row.source for row in await _new(tx, rows, made)]


async def _new(tx: Transaction, rows: Sequence[_Row], made: UUID | None) -> list[_Row]:
    uris, ids = Texts(r.source.uri for r in rows), Ids(r.id for r in rows)
    found = await tx.rows("source.in_record", uris=uris, ids=ids, made=made)
    there = {uri for (uri,) in found}
    return [row for row in rows if row.source.uri not in there]


async def _give_readers(tx: Transaction, rows: Sequence[_Row]) -> None:
    """Give unchanged documents their readers, whether they wait, are being processed or are in the record. In this
    order: a source that is finished meanwhile is in the record afterwards."""
    given = {row.source.uri: row for row in rows if row.source.readers is not None}
    if not given:
        return
    await names_may_arrive(tx)
    await require_exact(tx, [group for row in given.values() for group in row.source.readers or ()])
    ordered = [given[uri] for uri in sorted(given)]
    uris, ids = Texts(row.source.uri for row in ordered), Ids(row.id for row in ordered)
    await tx.run("source.give_readers", uris=uris, ids=ids, readers=[row.readers for row in ordered])
    versions = await tx.rows("source.current_versions", uris=uris, ids=ids)
    await give_readers(tx, {id_: given[uri].source.readers for id_, uri in versions})


async def reader_changes(tx: Transaction, sources: Iterable[Source], recipe: str) -> int:
    """How many documents in the record, made from exactly these sources, are given other readers by them."""
    rows = await asyncio.to_thread(_rows, (one for one in sources if one.readers is not None), recipe)
    if not rows:
        return 0
    given = {"uris": Texts(row.source.uri for row in rows), "ids": Ids(row.id for row in rows)}
    changes: int = await tx.value("source.reader_changes", **given, readers=[row.readers for row in rows])
    return changes


class HandedIn(NamedTuple):
    """How many sources were new or changed, and which of them had not been submitted before."""

    new: int
    queued: list[Job]


async def submit(
    workspace: Workspace, sources: Sequence[Source], recipe: str, made: UUID | None = None, room: int | None = None
) -> HandedIn:
    """Submit the sources that are new or changed, with jobs for them, in one transaction. With `made`, also those that
    were processed with another recipe. Raises StorageFull if the workspace would exceed `room` bytes.

    Sources already submitted get another job, because the process that started them may be gone. An extra job does no
    harm.
    """
    latest = {source.uri: source for source in sources}
    rows = await asyncio.to_thread(_rows, latest.values(), recipe)
    async with workspace.transaction(restricts=any(row.source.readers for row in rows)) as tx:
        await _give_readers(tx, rows)
        new = await _new(tx, rows, made)
        await check_room(tx, room, (row.source.text for row in new), [row.source.uri for row in new])
        queued: list[Job] = []
        if new:
            queued = await _enter(tx, await _not_in_queue(tx, new), recipe)
            jobs = [Job(row.source.uri, row.id) for row in new]
            handfuls = _handfuls(jobs, [len(row.source.text) for row in new])
            await enqueue(tx, "document", [packed(some) for some in handfuls])
        return HandedIn(len(new), queued)


async def _not_in_queue(tx: Transaction, rows: Sequence[_Row]) -> list[_Row]:
    """Those that are not submitted yet: after an interruption, most are, and their texts need not be sent again."""
    found = await tx.rows("source.in_queue", uris=Texts(r.source.uri for r in rows), ids=Ids(r.id for r in rows))
    there = {uri for (uri,) in found}
    return [row for row in rows if row.source.uri not in there]


async def _enter(tx: Transaction, rows: Sequence[_Row], recipe: str) -> list[Job]:
    """Store these sources; returns those that nobody else has submitted meanwhile."""
    if not rows:
        return []
    entered = await tx.rows(
        "source.submit",
        uris=Texts(row.source.uri for row in rows),
        ids=Ids(row.id for row in rows),
        titles=Texts(row.source.title for row in rows),
        texts=Texts(row.source.text for row in rows),
        metadata=Texts(row.metadata for row in rows),
        places=Texts(row.places for row in rows),
        notes=Texts("\n".join(row.source.notes) for row in rows),
        pictures=[row.pictures for row in rows],
        readers=[row.readers for row in rows],
        recipe=recipe,
        trace=carrier(),
    )
    return [Job(*row) for row in entered]


async def take_back(workspace: Workspace, jobs: Sequence[Job]) -> None:
    """Withdraw those of these sources that nobody has started processing."""
    async with workspace.transaction() as tx:
        await tx.run("source.take_back", uris=Texts(j.uri for j in jobs), ids=Ids(j.id for j in jobs))


async def forget_jobs(tx: Transaction, uris: Sequence[str]) -> None:
    """Remove these documents from jobs that no live process works on.

    This is done in PostgreSQL because the queue may not fit into memory.
    """
    await tx.run("source.forget_jobs", uris=Texts(uris))


def _handfuls(jobs: Sequence[Job], sizes: Sequence[int]) -> Iterator[list[Job]]:
    """Group small documents into one job; large documents get their own."""
    some: list[Job] = []
    size = 0
    for job, characters in zip(jobs, sizes, strict=True):
        if some and (len(some) == _HANDFUL or size + characters > _HANDFUL_CHARACTERS):
            yield some
            some, size = [], 0
        some.append(job)
        size += characters
    if some:
        yield some


async def begin(workspace: Workspace, jobs: Sequence[Job]) -> list[Begun | None]:
    """The sources of these jobs; None for those that were finished, replaced, removed or have failed."""
    async with workspace.transaction() as tx:
        rows = await tx.rows("source.begin", uris=Texts(j.uri for j in jobs), ids=Ids(j.id for j in jobs))
    begun = {
        Job(uri, id_): Begun(
            id_,
            Source(uri, text, title, metadata, tuple(Place(*place) for place in places), tuple(notes)),
            json.dumps(recipe, sort_keys=True),
            starts,
            trace,
            has_pictures,
        )
        for uri, id_, title, text, metadata, places, notes, recipe, starts, trace, has_pictures in rows
    }
    return [begun.get(job) for job in jobs]


async def release(workspace: Workspace, jobs: Sequence[Job]) -> None:
    """Leave sources for later. The process that started them is alive, so the start is not counted."""
    async with workspace.transaction() as tx:
        await tx.run("source.release", uris=Texts(j.uri for j in jobs), ids=Ids(j.id for j in jobs))


async def fail(workspace: Workspace, job: Job, error: str, tries: int) -> bool | None:
    """Record an error; returns whether the document has now failed for good.

    None if the source no longer matters because it was replaced or removed, or has failed already.
    """
    async with workspace.transaction() as tx:
        failed: bool | None = await tx.value("source.fail", uri=job.uri, id=job.id, error=error, tries=tries)
        return failed


async def known(tx: Transaction, uris: Sequence[str], *, former: bool = False) -> set[str]:
    """Those of these uris whose documents are in the record or submitted; with `former`, also those of former
    versions."""
    return {uri for (uri,) in await tx.rows("source.known", uris=Texts(uris), former=former)}


async def uris(tx: Transaction, after: str, limit: int = _PAGE, *, former: bool = False) -> list[str]:
    """The uris of documents in the record or submitted, in order, after this one; with `former`, also those of former
    versions."""
    return [uri for (uri,) in await tx.rows("source.uris", after=after, limit=limit, former=former)]


async def failed_documents(tx: Transaction, limit: int = 20) -> list[FailedDocument]:
    """Documents that failed for good, with their errors."""
    return [FailedDocument(*row) for row in await tx.rows("source.failed", limit=limit)]


async def retry(tx: Transaction, uris: Sequence[str] = ()) -> int:
    """Queue documents that failed for good again: these, or all if none are given; returns how many there were."""
    rows = await tx.rows("source.retry", uris=list(uris) or None)
    handfuls = _handfuls([Job(uri, id_) for uri, id_, _ in rows], [size for *_, size in rows])
    await enqueue(tx, "document", [packed(some) for some in handfuls])
    return len(rows)
