"""What one document says, as rows of the record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.errors import InvalidDocument
from trueweave.core.record import Chunk, Document, Json, Link, Mention, Place, Span
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.text.names import key, name_id, said_hash, storable, tidy

_FORM = "1"  # of the data that ids are made from: changing it makes all documents new


class ChunkRow(NamedTuple):
    document: UUID
    id: UUID
    n: int
    start: int
    tokens: int
    text: str
    text_hash: UUID


class MentionRow(NamedTuple):
    document: UUID
    chunk: UUID
    n: int
    name: UUID
    written: str
    type: str
    description: str
    description_hash: UUID
    emphasis: int
    spans: list[int]


class LinkRow(NamedTuple):
    document: UUID
    chunk: UUID
    n: int
    source: UUID
    target: UUID
    description: str
    description_hash: UUID
    keywords: list[str]
    strength: int  # in thousandths
    emphasis: int
    spans: list[int]


class DocumentRow(NamedTuple):
    id: UUID
    uri: str
    title: str
    content_hash: UUID
    metadata: str
    places: str
    source: UUID | None
    notes: list[str]
    size: int
    recipe: UUID | None = None
    given_readers: list[str] | None = None


class Made(NamedTuple):
    """How a document was processed: the settings (JSON), and a fingerprint of everything else that affects the
    result."""

    recipe: str
    fingerprint: str

    @property
    def id(self) -> UUID:
        return key("recipe", self.recipe, self.fingerprint)


class Contribution(NamedTuple):
    """One version of one document, ready to store."""

    document: DocumentRow
    chunks: list[ChunkRow]
    mentions: list[MentionRow]
    links: list[LinkRow]
    made: Made | None = None


def contribution(
    document: Document, source: UUID | None = None, notes: Sequence[str] = (), made: Made | None = None
) -> Contribution:
    """The rows of a document, with the hash of its source, notes on processing it, and how it was made.

    Its id depends on everything it says, and not on who can read it, so storing it twice has the effect of storing it
    once. A chunk's id depends on the document's uri and the chunk's text, and on the language if the metadata has one,
    so a chunk that an update does not touch keeps its id.
    """
    metadata, places = metadata_json(document.uri, document.metadata), places_json(document.places)
    content = key("content", *(chunk.text for chunk in document.chunks))
    said = key("said", _FORM, *map(_canonical, document.chunks))
    id_ = key("document", _FORM, document.uri, document.title, content.hex, metadata, places, said.hex)
    chunks: list[ChunkRow] = []
    mentions: list[MentionRow] = []
    links: list[LinkRow] = []
    seen: dict[str, int] = {}
    language = document.metadata.get("language")  # a chunk whose language changes must be indexed for search again
    spoken = [language] if isinstance(language, str) and language else []
    for n, chunk in enumerate(document.chunks):
        again = seen[chunk.text] = seen.get(chunk.text, -1) + 1
        chunk_id = key("chunk", document.uri, chunk.text, str(again), *spoken)
        hash_ = key("text", chunk.text)
        chunks.append(ChunkRow(id_, chunk_id, n, chunk.start, chunk.tokens, chunk.text, hash_))
        spoken_of = list(_mention_rows(id_, chunk_id, chunk, document.uri))
        mentions.extend(spoken_of)
        links.extend(_link_rows(id_, chunk_id, chunk, _names(spoken_of), document.uri))
    size = len(mentions) + len(links)
    by = made.id if made else None
    readers = None if document.readers is None else list(document.readers)
    row = DocumentRow(
        id_, document.uri, document.title, content, metadata, places, source, list(notes), size, by, readers
    )
    return Contribution(row, chunks, mentions, links, made)


def _canonical(chunk: Chunk) -> str:
    """A chunk's position and everything said in it, as text that is the same for equal chunks.

    Fields with their default value are left out, so that adding a field to these classes changes no id.
    """
    said = _said(chunk)
    said.pop("text")  # the id already includes it, once for all chunks
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def _said(part: Chunk | Mention | Link) -> dict[str, Any]:
    kind: Any = type(part)
    values = ((name, default, getattr(part, name)) for name, default in _defaults(kind))
    return {name: _plain(value) for name, default, value in values if value != default}


@cache
def _defaults(kind: type) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in fields(kind)]


def _plain(value: Any) -> Any:
    if isinstance(value, Mention | Link):
        return _said(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 7.0 and 7 are equal
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def metadata_json(uri: str, metadata: Mapping[str, Json]) -> str:
    """A document's metadata as stored."""
    try:
        written = json.dumps(dict(metadata), sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidDocument(f"{uri}: its metadata cannot be written as JSON: {error}") from error
    if "\\u0000" in written or storable(written) != written:
        raise InvalidDocument(f"{uri}: its metadata contains a NUL or an unpaired surrogate; remove it")
    return written


def places_json(places: Sequence[Place]) -> str:
    """A document's places as stored."""
    return json.dumps(place_rows(places))


def place_rows(places: Sequence[Place]) -> list[list[object]]:
    """A document's places as lists. Only pictures have a box and an end."""
    return [
        [p.start, p.kind, storable(p.label), p.level, p.offset, *([p.box, p.end] if p.end is not None else [])]
        for p in places
    ]


def _mention_rows(document: UUID, chunk_id: UUID, chunk: Chunk, uri: str) -> Iterator[MentionRow]:
    for n, mention in enumerate(_mentions(chunk)):
        written, type_ = tidy(mention.name), tidy(mention.type)
        if not written:
            raise InvalidDocument(f"{uri}: chunk at {chunk.start} mentions an empty name; remove that mention")
        said = storable(mention.description).strip()
        yield MentionRow(
            document, chunk_id, n, name_id(written, type_), written, type_, said, said_hash(said),
            mention.emphasis, _flat(mention.spans, chunk, uri),
        )  # fmt: skip


def _mentions(chunk: Chunk) -> Iterator[Mention]:
    """The chunk's mentions, plus one for each end of a link that has none yet."""
    yield from chunk.mentions
    known = {tidy(m.name) for m in chunk.mentions}
    typed = {(tidy(m.name), tidy(m.type)) for m in chunk.mentions}
    for link in chunk.links:
        for name, type_ in ((tidy(link.source), tidy(link.source_type)), (tidy(link.target), tidy(link.target_type))):
            if (name, type_) in typed or (not type_ and name in known):
                continue
            known.add(name)
            typed.add((name, type_))
            yield Mention(name, type_, emphasis=link.emphasis)


def _names(mentions: list[MentionRow]) -> dict[tuple[str, str], UUID]:
    """The ids of a chunk's names by (name, type), and by (name, "") for the first mention of that name."""
    names = {(row.written, row.type): row.name for row in mentions}
    for row in mentions:
        names.setdefault((row.written, ""), row.name)
    return names


def _link_rows(
    document: UUID, chunk_id: UUID, chunk: Chunk, names: dict[tuple[str, str], UUID], uri: str
) -> Iterator[LinkRow]:
    for n, link in enumerate(chunk.links):
        said = storable(link.description).strip()
        yield LinkRow(
            document, chunk_id, n, *_ends(link, names), said, said_hash(said), _words(link),
            round(link.strength * THOUSANDTHS), link.emphasis, _flat(link.spans, chunk, uri),
        )  # fmt: skip


def _ends(link: Link, names: dict[tuple[str, str], UUID]) -> tuple[UUID, UUID]:
    return (
        names[tidy(link.source), tidy(link.source_type)],
        names[tidy(link.target), tidy(link.target_type)],
    )


def _words(link: Link) -> list[str]:
    return list(dict.fromkeys(word for word in map(tidy, link.keywords) if word))


def _flat(spans: tuple[Span, ...], chunk: Chunk, what: str) -> list[int]:
    for start, end in spans:
        if not 0 <= start < end <= len(chunk.text):
            raise InvalidDocument(f"{what}: span {start}-{end} is outside its chunk of {len(chunk.text)} characters")
    return [edge for span in spans for edge in span]
