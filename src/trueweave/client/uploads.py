"""Sends documents to a server: files and texts in requests of bounded size, and documents as JSON lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.client.forms import part, read, source_body
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.access import checked_readers
from trueweave.core.dates import checked_date, with_date
from trueweave.core.errors import RequestRefused
from trueweave.core.events import Event, Found, Listener, Refused, Skipped, Unreadable
from trueweave.core.jobs import IngestJob
from trueweave.core.money import Estimate
from trueweave.core.record import Document, NamedFile, Source
from trueweave.ingest.extract import preannotated
from trueweave.ingest.loading import check_present

_MOST_FILES, _MOST_BYTES = 50, 32 * 2**20  # per request; a larger file has one of its own
_MOST_TEXTS, _MOST_CHARACTERS = 200, 2_000_000
_PLACE = 100  # characters that a page or a section counts as, because a server limits the values of a request
_MOST_LINES = 256
_FORM_BYTES = 64 * 2**10  # of a form, besides its files
_MOST_REASONS = 100
_NOT_USED: dict[str, type[Unreadable] | type[Refused] | type[Skipped]] = {
    "unreadable": Unreadable,
    "refused": Refused,
    "skipped": Skipped,
}


@dataclass(frozen=True, slots=True)
class UploadBatch:
    """The content of one request: files, or texts."""

    files: tuple[NamedFile, ...] = ()
    texts: tuple[Source, ...] = ()


Given = str | Path | Source | NamedFile
Local = Unreadable | Refused | Skipped


def batches(what: Sequence[Given], requests: WorkspaceRequests) -> Iterator[UploadBatch | Local]:
    """Divide files, folders and texts into requests of bounded size, and yield what cannot be sent. Reads no file."""
    files, texts = list[NamedFile](), list[Source]()
    size = characters = 0
    most = requests.max_upload - _FORM_BYTES
    for one in _found(what, requests):
        match one:
            case NamedFile():
                length = _length(one.path)
                if length > most:
                    told = f"it has {length:,} bytes, and the server takes {most:,} at once. Split it."
                    yield Unreadable(one.uri, f"{one.uri} cannot be sent: {told}")
                    continue
                if files and (len(files) >= _MOST_FILES or size + length > min(most, _MOST_BYTES)):
                    yield UploadBatch(files=tuple(files))
                    files, size = [], 0
                files.append(one)
                size += length
            case Source():
                length = len(one.text) + _PLACE * len(one.places)
                if texts and (len(texts) >= _MOST_TEXTS or characters + length > _MOST_CHARACTERS):
                    yield UploadBatch(texts=tuple(texts))
                    texts, characters = [], 0
                texts.append(one)
                characters += length
            case _:
                yield one
    if files:
        yield UploadBatch(files=tuple(files))
    if texts:
        yield UploadBatch(texts=tuple(texts))


def _found(what: Sequence[Given], requests: WorkspaceRequests) -> Iterator[NamedFile | Source | Local]:
    given: dict[str, int] = {}
    for number, one in enumerate(what, 1):
        if isinstance(one, Source):
            if first := given.get(one.uri):
                place = f"text {number} of those given"
                yield Refused(place, f"{place}: its uri {one.uri!r} is that of text {first} too. Give each its own.")
            else:
                given[one.uri] = number
                yield one
        elif isinstance(one, NamedFile):
            yield one
        else:
            yield from requests.files.files([one])


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # reported when it is opened
        return 0


async def in_thread(things: Iterable[UploadBatch | Local]) -> AsyncIterator[UploadBatch | Local]:
    """The same, iterated in a thread, because a folder may be large or remote."""
    iterator = iter(things)
    while (one := await asyncio.to_thread(next, iterator, None)) is not None:
        yield one


class Submission:
    """Submits documents as one job, request by request, and reports on them to a listener."""

    def __init__(
        self,
        requests: WorkspaceRequests,
        listener: Listener,
        *,
        refresh: bool = False,
        job: UUID | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> None:
        self._requests = requests
        self._listener = listener
        self._refresh = refresh
        self._id = job
        self._readers = None if readers is None else checked_readers(readers)
        self._date = checked_date(date)
        self._job: IngestJob | None = None
        self._reasons: list[str] = []

    async def submit(self, what: Sequence[Given]) -> IngestJob:
        """Submit all of these and return the job. Raises UnreadableFile if a path does not exist."""
        check_present(what)
        async for one in in_thread(batches(what, self._requests)):
            if isinstance(one, UploadBatch):
                await self._send(one)
            else:
                self._tell(one)
        if self._job is None:
            await self._send(UploadBatch())
        assert self._job is not None, "it was made by the first request"
        return replace(self._job, refused=(*self._reasons, *self._job.refused)[:_MOST_REASONS])

    async def _send(self, batch: UploadBatch) -> None:
        params: dict[str, Any] = {
            "refresh": "true" if self._refresh else None,
            "job": str(self._id) if self._id else None,
        }
        try:
            if batch.files:
                params |= {"readers": None if self._readers is None else list(self._readers) or ""}
                params |= {"date": self._date or None}
                data = await upload(self._requests, "/documents/files", batch.files, self._tell, once=True, **params)
            else:
                body = {"documents": [source_body(self._completed(one)) for one in batch.texts]}
                data = await self._requests.write("/documents", body, **params)
        except RequestRefused as error:
            if not error.too_large:
                raise
            await self._send_parts(batch, error)
            return
        if data is None:
            return
        self._job = read(IngestJob, data)
        self._id = self._job.id
        for one in part(data, "not_used"):
            self._listener(_NOT_USED[part(one, "kind")](part(one, "place"), part(one, "reason")))
        taken = part(data, "taken")
        self._listener(Found(part(taken, "new"), part(taken, "unchanged")))

    def _completed(self, text: Source) -> Source:
        readers = self._readers if text.readers is None else text.readers
        return replace(text, readers=readers, metadata=with_date(text.metadata, self._date))

    async def _send_parts(self, batch: UploadBatch, error: RequestRefused) -> None:
        """Send a batch that was too large in two halves. A single item that is too large is reported."""
        if len(batch.files) + len(batch.texts) <= 1:
            for uri in (*(one.uri for one in batch.files), *(one.uri for one in batch.texts)):
                self._tell(Unreadable(uri, f"{uri} cannot be sent: {error}"))
            return
        files, texts = len(batch.files) // 2, len(batch.texts) // 2
        await self._send(UploadBatch(batch.files[:files], batch.texts[:texts]))
        await self._send(UploadBatch(batch.files[files:], batch.texts[texts:]))

    def _tell(self, event: Event) -> None:
        if isinstance(event, Unreadable | Refused):
            self._reasons.append(event.reason)
        self._listener(event)


async def upload(
    requests: WorkspaceRequests,
    path: str,
    files: Sequence[NamedFile],
    tell: Listener,
    *,
    once: bool,
    **params: Any,
) -> Any:
    """The response to an upload of files; None if none could be read. Unreadable files are reported to the listener."""
    readable = []
    for file in files:
        if problem := await asyncio.to_thread(_problem, file):
            tell(problem)
        else:
            readable.append(file)
    if not readable:
        return None

    @asynccontextmanager
    async def form() -> AsyncIterator[Mapping[str, Any]]:
        with ExitStack() as opened:
            sent = []
            for file in readable:
                stream = await asyncio.to_thread(file.path.open, "rb")
                opened.enter_context(stream)
                # The extension selects how a file is read. Nothing else of its path leaves this machine.
                sent.append(("file", (f"file{''.join(file.path.suffixes[-2:])}", stream, "application/octet-stream")))
            yield {"files": sent, "data": {"uri": [file.uri for file in readable]}}

    return await requests.upload(path, form, once=once, **params)


def _problem(file: NamedFile) -> Unreadable | None:
    try:
        with file.path.open("rb"):
            return None
    except OSError as error:
        return Unreadable(file.uri, f"{file.uri} cannot be read: {error.strerror or error}.")


async def estimate(requests: WorkspaceRequests, what: Sequence[Given], tell: Listener, *, refresh: bool) -> Estimate:
    """The total estimate for adding these. Raises UnreadableFile if a path does not exist."""
    check_present(what)
    total: Estimate | None = None
    unreadable = 0
    params: dict[str, Any] = {"refresh": "true" if refresh else None}

    def heard(event: Event) -> None:
        nonlocal unreadable
        unreadable += isinstance(event, Unreadable | Refused)
        tell(event)

    async for one in in_thread(batches(what, requests)):
        if not isinstance(one, UploadBatch):
            heard(one)
            continue
        if one.files:
            data = await upload(requests, "/estimate/files", one.files, heard, once=False, **params)
        else:
            data = await requests.ask("/estimate", {"documents": [source_body(text) for text in one.texts]}, **params)
        if data is not None:
            found = read(Estimate, data)
            total = found if total is None else _sum(total, found)
    if total is None:
        total = read(Estimate, await requests.ask("/estimate", {"documents": []}, **params))
    return replace(total, unreadable=total.unreadable + unreadable)


def _sum(one: Estimate, other: Estimate) -> Estimate:
    counts = (
        "documents", "unchanged", "unreadable", "chunks", "tokens", "answered", "calls", "tokens_in", "tokens_out",
        "most_tokens_out", "pictures",
    )  # fmt: skip
    prices = "price", "most_price", "embedding_price", "vision_price"
    sums: dict[str, Any] = {name: getattr(one, name) + getattr(other, name) for name in counts}
    sums |= {name: _price(getattr(one, name), getattr(other, name)) for name in prices}
    notes = tuple(dict.fromkeys((*one.notes, *other.notes)))
    return replace(one, **sums, learnt=one.learnt and other.learnt, notes=notes)


def _price(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other


def lines_of(documents: Iterator[Document]) -> list[bytes]:
    """The next documents as JSON lines, as many as one request carries; empty at the end."""
    lines = list[bytes]()
    size = 0
    for document in documents:
        line = preannotated.written(document).encode()
        lines.append(line)
        size += len(line)
        if len(lines) >= _MOST_LINES or size >= _MOST_BYTES // 4:
            break
    return lines
