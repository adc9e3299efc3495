"""Routes for documents: add them as files, as text or with given entities; list, read, remove and switch them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime
from starlette.responses import StreamingResponse

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Added, CountingListener, Event, Refused, Skipped, Unreadable
from trueweave.core.evidence import DocumentDetails, DocumentOutline, EntitySpan
from trueweave.core.jobs import DocumentInfo, DocumentOrder, DocumentState, FailedDocument, ListedState
from trueweave.core.money import Estimate
from trueweave.core.record import Document, NamedFile, Source
from trueweave.engine.lookup import found_document
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.ingest.extract import preannotated
from trueweave.server.access import AnyCaller, Reading, Shared, Writing
from trueweave.server.bodies import (
    AnnotatedBody,
    DocumentBody,
    JobBody,
    MentionedBody,
    NotUsedBody,
    PassagesBody,
    RemovalBody,
    RemovedBody,
    RetriedBody,
    RetryBody,
    SpanBody,
    SubmittedBody,
    SwitchedBody,
    TakenBody,
    TextDocument,
    TextDocuments,
    UrisBody,
)
from trueweave.server.fields import MOST_PLACES, Cursor, FilterJson, Limit, Line, Uri
from trueweave.server.filters import read_filter
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, ListPageWithTotal, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.streaming import while_there
from trueweave.server.tagging import TaggedRoute
from trueweave.server.uploads import OPENAPI, streamed, uploaded
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.view import pages
from trueweave.store.postgres.view.seen import lookups

router = APIRouter(
    prefix="/v1/workspaces/{workspace}", tags=["documents"], responses=RESPONSES, route_class=TaggedRoute
)

_REASONS = 100
_LINES = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "One document a line."}}},
    }
}
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-ndjson": {"schema": {"type": "string", "description": "One document a line."}}}}
}
Erase = Annotated[bool, Query(description="Erase former versions, too, if the workspace keeps history.")]
Refresh = Annotated[
    bool, Query(description="Unchanged ones count as well, where an earlier version of the extractor made them.")
]
GivenReaders = Annotated[
    list[Line] | None,
    Query(
        max_length=1000,
        description="A group that can read those that do not state their readers; may be repeated. Empty: everybody.",
    ),
]
OfJob = Annotated[UUID | None, Query(description="A job that they are to be part of, too.")]
WhichUri = Annotated[Uri, Query(description="The document.")]


class LineStream(StreamingResponse):
    """JSON lines, sent as they are read from the database."""

    media_type = "application/x-ndjson"


@router.get("/documents", response_model=ListPageWithTotal[DocumentInfo])
async def list_documents(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    noted: Annotated[bool, Query(description="Only those with a note.")] = False,
    filter: FilterJson = "",
    prefix: Annotated[Line, Query(description="Only those whose uri begins like this.")] = "",
    state: Annotated[
        ListedState, Query(description="Only those in this state; `any`: in any state. The index, if none.")
    ] = "",
    order: Annotated[DocumentOrder, Query(description="By uri, or the latest first.")] = "uri",
    since: Annotated[AwareDatetime | None, Query(description="Only those added since this time.")] = None,
    after: Annotated[Line, Query(description="Only documents after this URI.")] = "",
    added_before: Annotated[
        AwareDatetime | None, Query(description="When the document `after` was added, if the latest come first.")
    ] = None,
    total: Annotated[bool, Query(description="Count all documents of the list, too.")] = False,
) -> Any:
    """The documents that pass a filter, sorted by uri or by the time they were added."""
    wanted, passing = (noted, filter, prefix, state, order, since), read_filter(filter)
    kind = str if order == "uri" else tuple[datetime, str]
    pager: Pager[str | tuple[datetime, str]] = Pager(kind, "documents", trueweave.workspace.id, *wanted)
    behind = pager.position(cursor) or ((added_before, after) if added_before else after)
    found = await trueweave.list_documents(
        limit + 1, noted=noted, after=behind, prefix=prefix, filter=passing, state=state, order=order, since=since
    )
    page = pager.page(found, limit, lambda one: one.uri if order == "uri" else (one.added, one.uri))
    if total:
        page["total"] = await trueweave.count_documents(
            noted=noted, prefix=prefix, filter=passing, state=state, since=since
        )
    return page


@router.get("/documents/failed", response_model=ListPage[FailedDocument])
async def list_failed(trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """Documents that failed for good, with their errors. `/documents/retry` has them processed again."""
    pager: Pager[str] = Pager(str, "failed", trueweave.workspace.id)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await pages.failed(tx, limit + 1, pager.position(cursor) or "")
    return pager.page(found, limit, lambda one: one.uri)


@router.get("/documents/export", response_class=LineStream, responses=_EXPORTED)
async def export_documents(trueweave: Reading) -> LineStream:
    """All documents as they were stored, one JSON object per line, in the form that `/documents/annotated` takes with
    `exact`."""
    documents = trueweave.documents()
    first = await anext(documents, None)  # what is refused is refused before the response begins
    return LineStream(_lines(first, documents))


async def _lines(first: Document | None, documents: AsyncGenerator[Document, None]) -> AsyncGenerator[str, None]:
    async with aclosing(documents):
        if first:
            yield preannotated.written(first)
        async for document in documents:
            yield preannotated.written(document)


@router.post("/documents", status_code=202)
async def add_texts(
    body: TextDocuments, trueweave: Writing, once: Idempotent, refresh: Refresh = False, job: OfJob = None
) -> SubmittedBody:
    """Submit documents as text. They are indexed once a worker has processed them: see the job."""
    sources = _sources(body.documents)

    async def act() -> SubmittedBody:
        return await _submitted(trueweave, sources, refresh, job)

    return SubmittedBody.model_validate(await once(trueweave, body, act))


@router.post("/documents/files", status_code=202, openapi_extra=OPENAPI)
async def add_files(
    request: Request,
    caller: AnyCaller,
    trueweave: Writing,
    shared: Shared,
    once: Idempotent,
    refresh: Refresh = False,
    job: OfJob = None,
    readers: GivenReaders = None,
    date: Annotated[Line, Query(description="The date, in ISO 8601, of those that do not state theirs.")] = "",
) -> SubmittedBody:
    """Submit files: text, Markdown, HTML, PDF, Word, PowerPoint, Excel, EPUB, and rows of CSV and JSON lines.

    They are read here, within limits, and processed by a worker: see the job, which also lists what could not be read.
    """
    async with uploaded(request) as sent:

        async def act() -> SubmittedBody:
            async with shared.readers.one(caller.id):
                return await _submitted(trueweave, sent.files, refresh, job, _groups(readers), date)

        # If the caller disconnects, documents submitted so far are kept, and the rest is not read.
        done = await while_there(request, once(trueweave, sent.fingerprint, act))
        return SubmittedBody.model_validate(done)


@router.post("/documents/annotated", openapi_extra=_LINES)
async def add_annotated(
    request: Request,
    trueweave: Writing,
    once: Idempotent,
    uri: Annotated[Uri, Query(description="What rows are called by that have no uri of their own.")] = "annotated",
    exact: Annotated[
        bool, Query(description="Each row is called by its uri just as that is, as `/documents/export` writes them.")
    ] = False,
    strict: Annotated[bool, Query(description="The first row that cannot be used is an error.")] = False,
    readers: GivenReaders = None,
) -> AnnotatedBody:
    """Add documents whose entities and relations are given, one JSON object per line.

    No language model is called for them, and they are indexed when the response arrives."""
    async with streamed(request, ".jsonl") as (path, fingerprint):

        async def act() -> AnnotatedBody:
            not_used, read = list[NotUsedBody](), 0

            def heard(event: Refused) -> None:
                if len(not_used) < _REASONS:
                    place, reason = (one.replace(str(path), uri) for one in (event.place, event.reason))
                    not_used.append(NotUsedBody(kind="refused", place=place, reason=reason))

            def counted(count: int) -> None:
                nonlocal read
                read += count

            hear = None if strict else heard
            documents = (
                preannotated.read_exact(path, refused=hear) if exact else preannotated.read(path, uri=uri, refused=hear)
            )
            try:
                new = await trueweave.add_documents(documents, counted, hear, readers=_groups(readers))
            except InvalidDocument as error:
                raise type(error)(str(error).replace(str(path), uri)) from error
            return AnnotatedBody(documents=read, new=new, refused=[one.reason for one in not_used], not_used=not_used)

        return AnnotatedBody.model_validate(await once(trueweave, fingerprint, act))


@router.post("/documents/retry", status_code=202)
async def retry_documents(body: RetryBody, trueweave: Writing, once: Idempotent) -> RetriedBody:
    """Have workers process documents again that failed for good: the given ones, or all."""

    async def act() -> RetriedBody:
        return RetriedBody(retried=await trueweave.maintenance.request_retry(body.uris))

    return RetriedBody.model_validate(await once(trueweave, body, act))


@router.post("/documents/delete")
async def remove_documents(body: RemovalBody, trueweave: Writing, once: Idempotent) -> RemovedBody:
    """Remove several documents in one pass. Their text is erased everywhere, unless the workspace keeps history."""

    async def act() -> RemovedBody:
        return RemovedBody(removed=await trueweave.remove(body.uris, erase=body.erase))

    return RemovedBody.model_validate(await once(trueweave, body, act))


@router.post("/documents/off")
async def switch_documents_off(body: UrisBody, trueweave: Writing, once: Idempotent) -> SwitchedBody:
    """Switch documents off: they leave the index and stay stored. The result is how many were on."""

    async def act() -> SwitchedBody:
        return SwitchedBody(switched=await trueweave.switch_off(body.uris))

    return SwitchedBody.model_validate(await once(trueweave, body, act))


@router.post("/documents/on")
async def switch_documents_on(body: UrisBody, trueweave: Writing, once: Idempotent) -> SwitchedBody:
    """Switch documents on again, without extracting anything again. The result is how many were off."""

    async def act() -> SwitchedBody:
        return SwitchedBody(switched=await trueweave.switch_on(body.uris))

    return SwitchedBody.model_validate(await once(trueweave, body, act))


@router.get("/document")
async def get_document(
    trueweave: Reading,
    uri: WhichUri,
    first: Annotated[int, Query(ge=0, le=2**31 - 1, description="The number of the first chunk.")] = 0,
    chunks: Annotated[int, Query(ge=0, le=200, description="How many chunks.")] = 50,
    entities: Annotated[int, Query(ge=0, le=200, description="How many of the entities it mentions.")] = 20,
    start: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="Chunks are counted from the one that this character is in.")
    ] = 0,
) -> DocumentBody:
    """A document: its title and metadata, its text in chunks, and the entities that it mentions most."""
    return _body(await trueweave.document(uri, first=first, chunks=chunks, entities=entities, start=start))


@router.get("/document/outline")
async def get_document_outline(
    trueweave: Reading,
    uri: WhichUri,
    first: Annotated[int, Query(ge=0, le=2**31 - 1, description="The number of the first page or section.")] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_PLACES, description="How many pages and sections.")] = 5000,
) -> DocumentOutline:
    """The structure of a document: its length, and where its pages and sections begin."""
    return await trueweave.document_outline(uri, first=first, limit=limit)


@router.get("/document/mentions", response_model=ListPage[EntitySpan])
async def list_document_mentions(
    trueweave: Reading,
    uri: WhichUri,
    start: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only mentions after this character.")] = 0,
    end: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Only mentions before this character.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 200,
    cursor: Cursor = "",
) -> Any:
    """The spans of a document that mention entities, in order."""
    pager: Pager[tuple[int, int, UUID, UUID]] = Pager(
        tuple[int, int, UUID, UUID], "mentions", trueweave.workspace.id, uri, start, end
    )
    after = pager.position(cursor)
    with translated():
        async with trueweave.workspace.transaction(snapshot=True) as tx:
            found = await lookups(tx).spans(await found_document(tx, uri), start, end, limit + 1, after)
    return pager.page(found, limit, lambda one: (one.start, one.end, one.chunk, one.entity))


@router.get("/passages", response_model=PassagesBody)
async def get_passages(
    trueweave: Reading,
    id: Annotated[Sequence[UUID], Query(min_length=1, max_length=200, description="The passages, by id.")],
) -> Any:
    """Passages by their ids, in that order. Passages of documents that were removed are left out."""
    return {"passages": await trueweave.passages(*id)}


@router.get("/document/status")
async def get_document_status(trueweave: Reading, uri: WhichUri) -> DocumentState:
    """The state of a document: queued, processed but not indexed yet, indexed, or failed for good."""
    return await trueweave.jobs.state(uri)


@router.delete("/document")
async def remove_document(trueweave: Writing, uri: WhichUri, erase: Erase = False) -> RemovedBody:
    """Remove a document. Its text is erased everywhere, unless the workspace keeps history."""
    if not (removed := await trueweave.remove([uri], erase=erase)):
        raise Refusal(404, "unknown_document", f"there is no document {uri!r}.", "List the documents of the workspace.")
    return RemovedBody(removed=removed)


@router.post("/estimate")
async def estimate_texts(
    request: Request, body: TextDocuments, trueweave: Reading, refresh: Refresh = False
) -> Estimate:
    """Estimate what adding these texts would cost, in chunks, tokens and money. Nothing is sent to any model."""
    return await while_there(request, trueweave.estimate(*_sources(body.documents), refresh=refresh))


@router.post("/estimate/files", openapi_extra=OPENAPI)
async def estimate_files(
    request: Request, caller: AnyCaller, trueweave: Reading, shared: Shared, refresh: Refresh = False
) -> Estimate:
    """Estimate what adding these files would cost. Nothing is sent to any model, and nothing is stored."""

    async def read(files: Sequence[NamedFile]) -> Estimate:
        async with shared.readers.one(caller.id):
            return await trueweave.estimate(*files, refresh=refresh)

    async with uploaded(request) as sent:
        return await while_there(request, read(sent.files))


def _sources(documents: list[TextDocument]) -> list[Source]:
    uris = [one.uri for one in documents]
    if len(set(uris)) < len(uris):
        raise Refusal(422, "invalid_request", "Two of the documents have the same uri.", "Give each its own uri.")
    return [one.source() for one in documents]


def _groups(readers: Sequence[str] | None) -> list[str] | None:
    """The groups in a query, where one empty value says that there are none."""
    return None if readers is None else [one for one in readers if one]


async def _submitted(
    trueweave: AsyncTrueweave,
    what: Sequence[Source | NamedFile],
    refresh: bool,
    job: UUID | None,
    readers: Sequence[str] | None = None,
    date: str = "",
) -> SubmittedBody:
    not_used = list[NotUsedBody]()

    def heard(event: Event) -> None:
        if len(not_used) >= _REASONS:
            return
        match event:
            case Unreadable(place, reason):
                not_used.append(NotUsedBody(kind="unreadable", place=place, reason=reason))
            case Refused(place, reason):
                not_used.append(NotUsedBody(kind="refused", place=place, reason=reason))
            case Skipped(place, reason):
                not_used.append(NotUsedBody(kind="skipped", place=place, reason=reason))

    counted = CountingListener(heard, Added())
    found = await trueweave.jobs.submit(*what, listener=counted, refresh=refresh, job=job, readers=readers, date=date)
    taken = TakenBody.model_validate(counted.total, from_attributes=True)
    return SubmittedBody(**JobBody.of(found).model_dump(), taken=taken, not_used=not_used)


def _body(found: DocumentDetails) -> DocumentBody:
    spans = [
        SpanBody(
            id=one.id,
            text=one.text,
            start=one.start,
            end=one.end,
            page=one.page,
            headings=list(one.headings),
            places=list(one.places),
        )
        for one in found.passages
    ]
    return DocumentBody(
        uri=found.uri,
        title=found.title,
        metadata=dict(found.metadata),
        added=found.added,
        notes=list(found.notes),
        chunks=found.chunks,
        spans=spans,
        entities=[MentionedBody(entity=one.item, mentions=round(one.score)) for one in found.entities],
        readers=list(found.readers),
    )
