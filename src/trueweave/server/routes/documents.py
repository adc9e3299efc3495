"""Documents: handed in as files, as text or with their entities given; listed, read and removed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError

from trueweave.errors import InvalidDocument
from trueweave.events import Refused
from trueweave.evidence import DocumentDetails
from trueweave.extract import preannotated
from trueweave.server.access import Reading, Shared, Writing
from trueweave.server.bodies import (
    AnnotatedBody,
    DocumentBody,
    FilterBody,
    JobBody,
    MentionedBody,
    RemovedBody,
    SpanBody,
    TextDocument,
    TextDocuments,
    UrisBody,
)
from trueweave.server.fields import Cursor, Limit, Line, Uri
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.tagging import TaggedRoute
from trueweave.server.uploads import OPENAPI, streamed, uploaded
from trueweave.store.postgres import pages
from trueweave.store.postgres.public_errors import translated
from trueweave.types import DocumentInfo, DocumentState, Estimate, FailedDocument, Source

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
WhichUri = Annotated[Uri, Query(description="The document.")]


@router.get("/documents", response_model=ListPage[DocumentInfo])
async def list_documents(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    noted: Annotated[bool, Query(description="Only those with a note.")] = False,
    filter: Annotated[Line, Query(description="A filter, as `ask` takes it, in JSON.")] = "",
) -> Any:
    """The documents that are there and pass a filter, by uri."""
    pager: Pager[str] = Pager(str, "documents", trueweave.workspace.id, noted, filter)
    after = pager.position(cursor) or ""
    passing = _filter(filter).filter() if filter else None
    found = await trueweave.list_documents(limit + 1, noted=noted, after=after, filter=passing)
    return pager.page(found, limit, lambda one: one.uri)


@router.get("/documents/failed", response_model=ListPage[FailedDocument])
async def list_failed(trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """Documents that failed for good, with their errors. Adding one again tries it again."""
    pager: Pager[str] = Pager(str, "failed", trueweave.workspace.id)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await pages.failed(tx, limit + 1, pager.position(cursor) or "")
    return pager.page(found, limit, lambda one: one.uri)


@router.post("/documents", status_code=202)
async def add_texts(body: TextDocuments, trueweave: Writing, once: Idempotent) -> JobBody:
    """Hand in documents as text. They are part of the index once a worker has worked them: see the job."""
    sources = _sources(body.documents)

    async def act() -> JobBody:
        return JobBody.of(await trueweave.jobs.submit(*sources))

    return JobBody.model_validate(await once(trueweave, body, act))


@router.post("/documents/files", status_code=202, openapi_extra=OPENAPI)
async def add_files(request: Request, trueweave: Writing, shared: Shared, once: Idempotent) -> JobBody:
    """Hand in files: text, Markdown, HTML, PDF, Word, PowerPoint, Excel, EPUB, and rows of CSV and JSON lines.

    They are read here, within limits, and worked by a worker: see the job, which also says what could not be read.
    """
    async with uploaded(request) as sent:

        async def act() -> JobBody:
            async with shared.reading:
                return JobBody.of(await trueweave.jobs.submit(*sent.files))

        return JobBody.model_validate(await once(trueweave, sent.fingerprint, act))


@router.post("/documents/annotated", openapi_extra=_LINES)
async def add_annotated(
    request: Request,
    trueweave: Writing,
    once: Idempotent,
    uri: Annotated[Uri, Query(description="What rows are called by that have no uri of their own.")] = "annotated",
) -> AnnotatedBody:
    """Add documents whose entities and relations are given, one JSON object a line.

    No model is asked for them, and they are part of the index when this is answered."""
    async with streamed(request, ".jsonl") as (path, fingerprint):

        async def act() -> AnnotatedBody:
            refused, read = list[str](), 0

            def heard(event: Refused) -> None:
                if len(refused) < _REASONS:
                    refused.append(event.reason.replace(str(path), uri))

            def counted(count: int) -> None:
                nonlocal read
                read += count

            documents = preannotated.read(path, uri=uri, refused=heard)
            try:
                new = await trueweave.add_documents(documents, counted, heard)
            except InvalidDocument as error:
                raise type(error)(str(error).replace(str(path), uri)) from error
            return AnnotatedBody(documents=read, new=new, refused=refused)

        return AnnotatedBody.model_validate(await once(trueweave, fingerprint, act))


@router.post("/documents/delete")
async def remove_documents(body: UrisBody, trueweave: Writing, once: Idempotent) -> RemovedBody:
    """Remove documents, all in one pass. Their text is erased everywhere."""

    async def act() -> RemovedBody:
        return RemovedBody(removed=await trueweave.remove(body.uris))

    return RemovedBody.model_validate(await once(trueweave, body, act))


@router.get("/document")
async def get_document(
    trueweave: Reading,
    uri: WhichUri,
    first: Annotated[int, Query(ge=0, le=2**31 - 1, description="The number of the first chunk.")] = 0,
    chunks: Annotated[int, Query(ge=0, le=200, description="How many chunks.")] = 50,
    entities: Annotated[int, Query(ge=0, le=200, description="How many of the entities it mentions.")] = 20,
) -> DocumentBody:
    """A document: its title and metadata, its text in chunks, and the entities that it mentions most."""
    return _body(await trueweave.document(uri, first=first, chunks=chunks, entities=entities))


@router.get("/document/status")
async def get_document_status(trueweave: Reading, uri: WhichUri) -> DocumentState:
    """How far a document is: it waits, is not settled yet, is indexed, or failed."""
    return await trueweave.jobs.state(uri)


@router.delete("/document")
async def remove_document(trueweave: Writing, uri: WhichUri) -> RemovedBody:
    """Remove a document. Its text is erased everywhere."""
    if not (removed := await trueweave.remove([uri])):
        raise Refusal(404, "unknown_document", f"there is no document {uri!r}.", "List the documents of the workspace.")
    return RemovedBody(removed=removed)


@router.post("/estimate")
async def estimate_texts(body: TextDocuments, trueweave: Reading) -> Estimate:
    """What adding these texts would take, in chunks, tokens and money. Nothing is sent to any model."""
    return await trueweave.estimate(*_sources(body.documents))


@router.post("/estimate/files", openapi_extra=OPENAPI)
async def estimate_files(request: Request, trueweave: Reading, shared: Shared) -> Estimate:
    """What adding these files would take. Nothing is sent to any model, and nothing is stored."""
    async with uploaded(request) as sent, shared.reading:
        return await trueweave.estimate(*sent.files)


def _sources(documents: list[TextDocument]) -> list[Source]:
    uris = [one.uri for one in documents]
    if len(set(uris)) < len(uris):
        raise Refusal(422, "invalid_request", "Two of the documents have the same uri.", "Give each one of its own.")
    return [Source(one.uri, one.text, one.title, one.metadata) for one in documents]


def _filter(written: str) -> FilterBody:
    try:
        return FilterBody.model_validate_json(written)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise Refusal(422, "invalid_filter", f"The filter is not valid: {problem}.", "Write it in JSON.") from error


def _body(found: DocumentDetails) -> DocumentBody:
    spans = [
        SpanBody(id=one.id, text=one.text, start=one.start, end=one.end, page=one.page, headings=list(one.headings))
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
    )
