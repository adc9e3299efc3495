"""The tools `documents` and `document`, and the text of documents for resources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.core.evidence import DocumentDetails, Passage
from trueweave.core.jobs import DocumentInfo
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import DocumentArguments, DocumentsArguments, cursor_after, passing, uri_before
from trueweave.mcp.bounds import LONGEST_DESCRIPTION, MOST_CHARACTERS, MOST_SPANS, Room
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import DocumentEntry, DocumentOutput, DocumentsOutput, SpanEntry

_MENTIONS = 10
_ABOUT = 5_000  # maximum characters about a document, besides its text


async def documents(trueweave: AsyncTrueweave, asked: DocumentsArguments) -> ToolReply:
    """A page of the list of documents."""
    page = await document_page(trueweave, asked.cursor, asked.limit, asked.prefix, asked.filter)
    shown = [DocumentEntry(one.uri, title, one.chunks, one.added.isoformat()) for one, title in page.documents]
    further = f"There are more: call `documents` with the same prefix, filter and the cursor {page.next_cursor}"
    output = DocumentsOutput(
        documents=shown,
        next_cursor=page.next_cursor,
        truncated=bool(page.next_cursor),
        more=further if page.next_cursor else "",
    )
    if not shown:
        begins = (" whose uri begins so" if asked.prefix else "") + (" that passes the filter" if asked.filter else "")
        return ToolReply(output, f"There is no {'further ' if asked.cursor else ''}document{begins}.")
    lines = (f"{one.uri}{f'  ({one.title})' if one.title else ''}" for one in shown)
    return ToolReply(output, f"{counted(len(shown), 'document', 'documents')}, by uri.", ("\n".join(lines),))


@dataclass(frozen=True)
class DocumentPage:
    """Documents with their titles on one line, and the cursor of the next page; empty on the last page."""

    documents: tuple[tuple[DocumentInfo, str], ...]
    next_cursor: str


async def document_page(
    trueweave: AsyncTrueweave, cursor: str, limit: int, prefix: str = "", filter: str = ""
) -> DocumentPage:
    """Documents after a cursor, as many as there is room for, but at least one."""
    after, passed = uri_before(cursor), passing((), filter)
    found = await trueweave.list_documents(limit + 1, after=after, prefix=prefix, filter=passed)
    room = Room()
    shown = []
    for one in found[:limit]:
        if not room.fits(one.uri):
            break
        shown.append((one, room.line(one.title)))
    is_last = len(shown) == len(found)
    return DocumentPage(tuple(shown), "" if is_last else cursor_after(shown[-1][0].uri))


async def document(trueweave: AsyncTrueweave, asked: DocumentArguments) -> ToolReply:
    """The text of a document from a position on, and details of the document."""
    place = _Place.of(asked)
    found = await trueweave.document(
        asked.uri, first=place.first, chunks=MOST_SPANS + 1, entities=_MENTIONS, start=place.start
    )
    spans, next_cursor = _spans(found.passages, place, Room(asked.length))
    room = Room(_ABOUT)
    title, metadata = room.line(found.title), _metadata(found, room)
    more = f"It goes on: call `document` with the same uri and the cursor {next_cursor}" if next_cursor else ""
    output = DocumentOutput(
        uri=found.uri,
        title=title,
        metadata=metadata,
        chunks=found.chunks,
        mentions=[room.line(one.item.name) for one in found.entities],
        spans=spans,
        next_cursor=next_cursor,
        truncated=bool(more),
        more=more,
    )
    told = f"A document of {counted(found.chunks, 'chunk', 'chunks')}. {_extent(spans)}"
    return ToolReply(output, told, (_about(output), *([_text(spans)] if spans else [])))


async def document_text(trueweave: AsyncTrueweave, uri: str) -> tuple[str, str]:
    """The text of a document from its beginning, and the cursor for the tool `document` to read on; empty at its
    end."""
    found = await trueweave.document(uri, chunks=MOST_SPANS + 1, entities=0)
    spans, next_cursor = _spans(found.passages, _Place(), Room(MOST_CHARACTERS))
    return _text(spans), next_cursor


@dataclass(frozen=True)
class _Place:
    """Where to continue reading: in chunk `first`, counted from the one that contains the character `start`, after
    `read` characters of it; or, without a cursor, at the character `start`."""

    start: int = 0
    first: int = 0
    read: int | None = None

    @classmethod
    def of(cls, asked: DocumentArguments) -> _Place:
        return cls(*map(int, asked.cursor.split(":"))) if asked.cursor else cls(asked.start)


def _spans(chunks: Sequence[Passage], place: _Place, room: Room) -> tuple[list[SpanEntry], str]:
    """The spans of a document that these chunks are, from a position on and without overlaps, and the cursor to read
    on; empty at the end."""
    spans: list[SpanEntry] = []
    before: Passage | None = None
    cursor = ""
    sources = Room(_ABOUT)
    for number, chunk in enumerate(chunks):
        if number == MOST_SPANS:
            return spans, cursor
        skipped = _repeated(chunk, before) if number else _read(chunk, place)
        text = room.text(chunk.text[skipped:], MOST_CHARACTERS)
        if text:
            start = chunk.start + skipped
            source = sources.line(chunk.source_of(start, start + len(text)))
            spans.append(SpanEntry(start, start + len(text), source, text))
        cursor = f"{place.start}:{place.first + number}:{skipped + len(text)}"
        if skipped + len(text) < len(chunk.text):
            return spans, cursor
        before = chunk
    return spans, ""


def _read(chunk: Passage, place: _Place) -> int:
    """How many characters of the first chunk come before a position."""
    if place.read is not None:
        return min(place.read, len(chunk.text))
    return min(max(place.start - chunk.start, 0), len(chunk.text)) if place.start else 0


def _repeated(chunk: Passage, before: Passage | None) -> int:
    """How many characters a chunk repeats from the one before. Chunks with the same start have no known positions."""
    if before is None or not before.start < chunk.start < before.end:
        return 0
    return min(before.end - chunk.start, len(chunk.text))


def _metadata(found: DocumentDetails, room: Room) -> str:
    return room.line(json.dumps(found.metadata, ensure_ascii=False), LONGEST_DESCRIPTION) if found.metadata else ""


def _extent(spans: Sequence[SpanEntry]) -> str:
    return f"Characters {spans[0].start} to {spans[-1].end} follow." if spans else "No text of it is there."


def _about(output: DocumentOutput) -> str:
    lines = [
        output.uri,
        *([f"title: {output.title}"] if output.title else []),
        *([f"metadata: {output.metadata}"] if output.metadata else []),
        *([f"mentions most: {'; '.join(output.mentions)}"] if output.mentions else []),
    ]
    return "\n".join(lines)


def _text(spans: Sequence[SpanEntry]) -> str:
    """Spans of a document as one text. Spans that do not touch are on separate lines."""
    parts: list[str] = []
    for n, span in enumerate(spans):
        apart = n and spans[n - 1].end != span.start
        parts += ["\n", span.text] if apart else [span.text]
    return "".join(parts)
