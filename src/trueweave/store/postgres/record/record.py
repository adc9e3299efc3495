"""The record: storing, withdrawing and reading document versions."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import UniqueViolation

from trueweave.core.record import Chunk, Document, Link, Mention, Place
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.graph.contribution import Contribution, DocumentRow, Made, MentionRow
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import names_may_arrive, nothing_arrives
from trueweave.store.postgres.offloop import MUCH, off_loop
from trueweave.store.postgres.record import history
from trueweave.store.postgres.record.readers import give_readers, require_exact
from trueweave.store.postgres.record.resolution import settings, stage_keys
from trueweave.store.postgres.record.sources import forget_jobs
from trueweave.store.postgres.record.storage import check_room
from trueweave.text import phrases

DOCUMENT_TYPES = ("uuid", "text", "text", "uuid", "text", "text", "uuid", "text[]", "int4", "uuid", "text[]")
CHUNK_TYPES = ("uuid", "uuid", "int4", "int4", "int4", "text", "uuid")
MENTION_TYPES = ("uuid", "uuid", "int4", "uuid", "text", "text", "text", "uuid", "int2", "int4[]")
LINK_TYPES = ("uuid", "uuid", "int4", "uuid", "uuid", "text", "uuid", "text[]", "int8", "int2", "int4[]")
_NAME = ("uuid", "text", "text", "int8")
_PAGE_DOCUMENTS, _PAGE_BYTES = 500, 4 * 2**20  # per page
_TRIES = 5
_LARGE = 20_000  # mentions and links, which may take longer to store than the statement timeout


class Stored(NamedTuple):
    """The result of storing: how many documents were new or changed, and which names nobody had mentioned before."""

    documents: int
    names: list[UUID]


async def store(
    workspace: Workspace, documents: Sequence[Contribution], room: int | None = None, off: Collection[str] = ()
) -> Stored:
    """Store one new version of each document, in one transaction. Raises StorageFull if the workspace would exceed
    `room` bytes of text. A new version of a document that is switched off is switched off, and so are those with a uri
    in `off`.

    Readers see nothing of it until it is settled. Storing a version again changes nothing, so a caller who does not
    know whether an earlier attempt succeeded can simply retry.
    """
    size = sum(c.document.size for c in documents)
    restricts = any(c.document.given_readers for c in documents) or [c.document.uri for c in documents]
    for attempt in range(1, _TRIES + 1):
        try:
            async with workspace.transaction(unhurried=size > _LARGE, restricts=restricts) as tx:
                if size < MUCH:
                    return await store_in(tx, documents, room, off)
                return await off_loop(tx, lambda tx: store_in(tx, documents, room, off))
        except UniqueViolation:
            # Another writer stored a version of the same document meanwhile. Retry, which makes ours the later version.
            if attempt == _TRIES:
                raise
    raise AssertionError("unreachable")


async def store_in(
    tx: Transaction, offered: Sequence[Contribution], room: int | None = None, off: Collection[str] = ()
) -> Stored:
    """The same inside the caller's transaction. Raises UniqueViolation if another writer stores the same document."""
    await names_may_arrive(tx)
    waiting = await tx.rows("source.switched_off", uris=sorted({c.document.uri for c in offered}))
    latest = {c.document.uri: c for c in await _still_wanted(tx, offered)}  # of two versions, keep the later
    documents = [latest[uri] for uri in sorted(latest)]
    await note_recipes(tx, {c.made for c in documents if c.made})
    await require_exact(tx, [group for c in documents for group in c.document.given_readers or ()])
    ids, uris = [c.document.id for c in documents], [c.document.uri for c in documents]
    rows = await tx.rows("record.lock_versions", uris=uris)
    before = {uri: given for uri, given, is_current, _ in rows if is_current}
    off = [*off, *(uri for (uri,) in waiting), *(uri for uri, _, is_current, is_off in rows if is_current and is_off)]
    await tx.run("record.forget_invisible", uris=uris, keep=ids)
    await tx.run("record.unset_current", uris=uris, keep=ids)
    await tx.run("failed.forget_documents", uris=uris)
    known = {id_ for (id_,) in await tx.rows("record.set_current", ids=ids, off=off)}
    known |= {id_ for (id_,) in await tx.rows("record.known_versions", ids=ids)}
    await _made_anew(tx, [c.document for c in documents if c.document.id in known and c.document.source])
    await give_readers(tx, {c.document.id: c.document.given_readers for c in documents if c.document.id in known})
    fresh = [_reading_as_before(c, before) for c in documents if c.document.id not in known]
    names: list[UUID] = []
    await check_room(tx, room, (chunk.text for one in fresh for chunk in one.chunks))
    if fresh:
        await tx.run("record.stage")
        await tx.copy("stage_document", DOCUMENT_TYPES, (c.document for c in fresh))
        await tx.run("record.insert_documents", off=off)
        names = await _register(tx, chain.from_iterable(c.mentions for c in fresh))
        await tx.copy("stage_chunk", CHUNK_TYPES, chain.from_iterable(c.chunks for c in fresh))
        await tx.run("record.insert_chunks")
        await tx.copy("stage_mention", MENTION_TYPES, chain.from_iterable(c.mentions for c in fresh))
        await tx.run("record.insert_mentions")
        await tx.copy("stage_link", LINK_TYPES, chain.from_iterable(c.links for c in fresh))
        await tx.run("record.insert_links")
    return Stored(len(fresh), names)


async def _still_wanted(tx: Transaction, offered: Sequence[Contribution]) -> list[Contribution]:
    """Those of the documents that were not replaced or removed while they were being processed.

    A document made from a source replaces it: the source is deleted in the same transaction.
    """
    made = [(c.document.uri, c.document.source) for c in offered if c.document.source]
    if not made:
        return list(offered)
    rows = await tx.rows("source.finish", uris=[uri for uri, _ in made], ids=Ids(id_ for _, id_ in made))
    finished = {(uri, id_): given for uri, id_, given in rows}
    wanted = [c for c in offered if not c.document.source or (c.document.uri, c.document.source) in finished]
    return [_with_readers(c, finished[c.document.uri, c.document.source]) if c.document.source else c for c in wanted]


def _reading_as_before(one: Contribution, before: Mapping[str, list[str] | None]) -> Contribution:
    """A new version of a document; if no readers are given with it, with those of the version before."""
    given = one.document.given_readers
    return one if given is not None else _with_readers(one, before.get(one.document.uri))


def _with_readers(one: Contribution, given: list[str] | None) -> Contribution:
    return one._replace(document=one.document._replace(given_readers=given))


async def _made_anew(tx: Transaction, known: Sequence[DocumentRow]) -> None:
    if known:
        ids, sources = Ids(d.id for d in known), Ids(d.source for d in known if d.source)
        notes, recipes = ["\n".join(d.notes) for d in known], [d.recipe for d in known]
        await tx.run("record.made_from", ids=ids, sources=sources, notes=notes, recipes=recipes)


async def note_recipes(tx: Transaction, made: set[Made]) -> None:
    """Record the recipes that documents were processed with."""
    if made:
        ordered = sorted(made, key=lambda one: one.id)
        await tx.run(
            "record.insert_recipes",
            ids=Ids(one.id for one in ordered),
            recipes=[one.recipe for one in ordered],
            fingerprints=[one.fingerprint for one in ordered],
        )


async def _register(tx: Transaction, mentions: Iterable[MentionRow]) -> list[UUID]:
    """Insert the new names, each with the keys by which similar names will find it."""
    names = {m.name: (m.name, m.written, m.type, _phrase(m.written)) for m in mentions}
    await tx.copy("stage_name", _NAME, names.values())
    new = [id_ for (id_,) in await tx.rows("record.insert_names")]
    how = await settings(tx)
    await stage_keys(tx, (names[id_][:3] for id_ in new), how)
    await tx.run("record.insert_keys")
    await tx.run("record.insert_pending_matches", names=Ids(new))
    return new


def _phrase(written: str) -> int | None:
    found = phrases.phrase(written)
    return phrases.number(found) if found else None


async def made_by(tx: Transaction) -> list[tuple[Made, int]]:
    """The recipes that documents were processed with, and how many documents used each; without documents whose
    entities were supplied by the caller."""
    rows = await tx.rows("record.made_by")
    return [(made(recipe, fingerprint), count) for recipe, fingerprint, count in rows]


def made(recipe: Mapping[str, Any], fingerprint: str) -> Made:
    """A recipe from its row. Serialising it this way restores the text that its id was computed from."""
    return Made(json.dumps(recipe, sort_keys=True), fingerprint)


async def switch(workspace: Workspace, uris: Sequence[str], *, off: bool) -> int:
    """Switch these documents off or on, all in one transaction; returns how many were in the other state.

    Reports that may quote a document are noted, and erased once it has left the view.
    """
    async with workspace.transaction() as tx:
        return await switch_in(tx, uris, off=off)


async def switch_in(tx: Transaction, uris: Sequence[str], *, off: bool) -> int:
    """The same inside the caller's transaction. Nobody stores documents meanwhile."""
    ordered = sorted(set(uris))
    await nothing_arrives(tx)
    waiting = await tx.rows("source.switch", uris=ordered, off=off)
    await tx.rows("record.lock_versions", uris=ordered)
    stored = sorted({uri for (uri,) in await tx.rows("record.switch", uris=ordered, off=off)})
    if off:
        await tx.run("erase.note", uris=stored, waiting=[], off=True)
    await tx.run("failed.forget_documents", uris=stored)
    return len({*stored, *(uri for (uri,) in waiting)})


async def withdraw(workspace: Workspace, uris: Sequence[str], *, erase: bool = False) -> int:
    """Mark these documents as no longer current, all in one transaction; returns how many there were. With `erase`,
    none of their versions is kept as history, former ones included.

    What they leave elsewhere is noted, and erased once they have left the view.
    """
    async with workspace.transaction() as tx:
        return await withdraw_in(tx, uris, erase=erase)


async def withdraw_in(tx: Transaction, uris: Sequence[str], *, erase: bool = False) -> int:
    """The same inside the caller's transaction."""
    ordered = sorted(set(uris))
    waiting = await tx.rows("source.withdraw", uris=ordered)
    await tx.rows("record.lock_versions", uris=ordered)
    if erase:
        await history.forget(tx, ordered)
    await tx.run("erase.note", uris=ordered, waiting=[uri for (uri,) in waiting], off=False)
    await forget_jobs(tx, ordered)
    forgotten = await tx.rows("record.forget_invisible", uris=ordered, keep=[])
    withdrawn = await tx.rows("record.unset_current", uris=ordered, keep=[])
    await tx.run("failed.erase_documents", uris=ordered)
    await tx.run("ingest_job.forget_documents", uris=ordered)
    return len({uri for (uri,) in (*waiting, *forgotten, *withdrawn)})


async def read(workspace: Workspace, *, visible: bool = False) -> AsyncIterator[list[Document]]:
    """All documents as stored, with their mentions and links, one page at a time, in no particular order.

    With `visible`, the versions that the view is made of, rather than newer ones that are not settled yet. The size of
    a page in bytes is limited, but it contains at least one document.
    """
    place = _Place()
    while True:
        async with workspace.transaction(snapshot=True, unhurried=True) as tx:
            documents, place = await _page(tx, place, visible=visible)
        if not documents:
            return
        yield documents


async def pages(tx: Transaction, *, visible: bool = False) -> AsyncGenerator[list[Document], None]:
    """The same in one snapshot transaction, so that all documents are from the same point in time."""
    place = _Place()
    while True:
        documents, place = await _page(tx, place, visible=visible)
        if not documents:
            return
        yield documents


class _Place(NamedTuple):
    """Where the next page starts, and how many documents it may contain."""

    after: UUID = UUID(int=0)
    limit: int = _PAGE_DOCUMENTS


async def _page(tx: Transaction, place: _Place, *, visible: bool) -> tuple[list[Document], _Place]:
    """The next documents, and the start of the page after them."""
    query = "record.read_visible" if visible else "record.read_documents"
    rows = await tx.rows(query, after=place.after, limit=place.limit)
    if not rows:
        return [], place
    sizes: dict[UUID, int] = dict(await tx.rows("record.read_sizes", documents=Ids(id_ for id_, *_ in rows)))
    total = accumulate(sizes[id_] for id_, *_ in rows)
    rows = [row for n, (row, size) in enumerate(zip(rows, total, strict=True)) if not n or size <= _PAGE_BYTES]
    ids = Ids(id_ for id_, *_ in rows)
    chunks = _chunks(
        await tx.rows("record.read_chunks", documents=ids),
        await tx.rows("record.read_mentions", documents=ids),
        await tx.rows("record.read_links", documents=ids),
    )
    documents = [
        Document(
            uri,
            tuple(chunks.get(id_, ())),
            title,
            metadata,
            tuple(Place(*place) for place in places),
            readers=None if given is None else tuple(given),
        )
        for id_, uri, title, metadata, places, given in rows
    ]
    return documents, _Place(rows[-1][0], min(2 * len(rows) + 1, _PAGE_DOCUMENTS))


def _chunks(chunks: list[Row], mentions: list[Row], links: list[Row]) -> dict[UUID, list[Chunk]]:
    """The chunks of each document, from rows of several documents."""
    written: dict[UUID, tuple[str, str]] = {}
    mentioned: dict[tuple[UUID, UUID], list[Mention]] = {}
    for document, chunk, name, as_written, type_, said, emphasis, spans in mentions:
        written[name] = (as_written, type_)
        mentioned.setdefault((document, chunk), []).append(Mention(as_written, type_, said, emphasis, _pairs(spans)))
    linked: dict[tuple[UUID, UUID], list[Link]] = {}
    for document, chunk, source, target, said, keywords, strength, emphasis, spans in links:
        (s, s_type), (t, t_type) = written[source], written[target]
        link = Link(s, t, said, tuple(keywords), strength / THOUSANDTHS, emphasis, _pairs(spans), s_type, t_type)
        linked.setdefault((document, chunk), []).append(link)
    found: dict[UUID, list[Chunk]] = {}
    for document, id_, start, tokens, text in chunks:
        place = document, id_
        chunk = Chunk(text, start, tokens, tuple(mentioned.get(place, ())), tuple(linked.get(place, ())))
        found.setdefault(document, []).append(chunk)
    return found


def _pairs(flat: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(flat[::2], flat[1::2], strict=True))
