"""Bulk-loads rows into a workspace that nobody reads yet.

Each call may be repeated: existing rows are left unchanged. What settling derives incrementally is loaded here
complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg import sql
from psycopg.errors import RaiseException

from trueweave.core.errors import DatabaseError, WorkspaceLoading, WorkspaceMoving
from trueweave.core.graph import VectorKind
from trueweave.graph.aggregate import EntityRow, NamePairRow, NameRow, RelationRow
from trueweave.graph.contribution import ChunkRow, Contribution, DocumentRow, LinkRow, Made, MentionRow
from trueweave.graph.plan import PhraseCount
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.cluster.servers import GRACE, HOME
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.failures import first_line
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.record import record
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.vectors.vectors import Vector
from trueweave.store.postgres.view import view
from trueweave.text import phrases

_PAGE = 10_000


class _Table(NamedTuple):
    """A table that rows are copied to, with its columns and their types."""

    name: LiteralString
    columns: tuple[LiteralString, ...]
    types: tuple[str, ...]


_CHUNK = _Table("chunk", ChunkRow._fields, record.CHUNK_TYPES)
_MENTION = _Table("mention", MentionRow._fields, record.MENTION_TYPES)
_LINK = _Table("link", LinkRow._fields, record.LINK_TYPES)
_NAME = _Table(
    "name",
    ("id", "written", "type", "count", "histogram", "entity", "phrase"),
    ("uuid", "text", "text", "int8", "int8[]", "uuid", "int8"),
)
_KEY = _Table("name_key", ("key", "name", "mask"), ("int8", "uuid", "int8"))
_ALIKE = _Table("alike", ("a", "b"), ("uuid", "uuid"))
_PAIR = _Table("name_pair", NamePairRow._fields, ("uuid", "uuid", "int8", "int8", "int8[]", "uuid"))
_PHRASE_COUNT = ("uuid", "text", "uuid", "text", "int8", "int8")
_ENTITY = _Table(
    "entity",
    EntityRow._fields,
    ("uuid", "text", "text", "text", "text[]", "int8", "int8[]", "int8", "uuid"),
)
_RELATION = _Table(
    "relation",
    RelationRow._fields,
    ("uuid", "uuid", "uuid", "text", "text", "text", "text", "text[]", "int8", "int8", "int8[]", "uuid"),
)


async def load_record(
    tx: Transaction,
    documents: Iterable[DocumentRow],
    chunks: Iterable[ChunkRow],
    mentions: Iterable[MentionRow],
    links: Iterable[LinkRow],
    made: Iterable[Made],
) -> None:
    """Load documents with their chunks, mentions and links; they are visible at once."""
    await record.note_recipes(tx, set(made))
    await tx.run("record.stage")
    await tx.copy("stage_document", record.DOCUMENT_TYPES, documents)
    await tx.connection.execute(sql.SQL(QUERIES["bulk.insert_documents"]).format())
    await _load(tx, _CHUNK, chunks)
    await _load(tx, _MENTION, mentions)
    await _load(tx, _LINK, links)


async def load_names(tx: Transaction, names: Iterable[NameRow], phrase_counts: Iterable[PhraseCount]) -> None:
    """Load names with their totals, the phrases used to find them in texts, and their descriptions."""
    rows: list[tuple[Any, ...]] = []
    known: dict[int, str] = {}
    for name in names:
        written = phrases.phrase(name.written)
        number = phrases.number(written) if written else None
        if number is not None:
            known[number] = written
        rows.append((*name[:4], Numbers(name.histogram), name.entity, number))
    await _load(tx, _NAME, rows)
    await _load_phrase_counts(tx, phrase_counts)
    split = [written.split() for written in known.values()]
    await tx.run(
        "bulk.insert_phrases",
        ids=Numbers(known),
        keys=Texts(known.values()),
        firsts=Numbers(phrases.number(words[0]) for words in split),
        words=Numbers(len(words) for words in split),
    )


async def load_keys(tx: Transaction, keys: Iterable[tuple[int, UUID, int]]) -> None:
    """Load the keys under which names are stored."""
    await _load(tx, _KEY, keys)


async def load_alike(tx: Transaction, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Load pairs of similar names, each given once."""
    await _load(tx, _ALIKE, (ordered for a, b in pairs for ordered in ((a, b), (b, a))))


async def load_entities(tx: Transaction, entities: Sequence[EntityRow]) -> None:
    """Load entities; long descriptions are queued for summarising."""
    await _load(tx, _ENTITY, ((*e[:6], Numbers(e.histogram), *e[7:]) for e in entities))
    await view.want_summaries(tx, entities, ())


async def load_relations(
    tx: Transaction,
    name_pairs: Iterable[NamePairRow],
    phrase_counts: Iterable[PhraseCount],
    relations: Sequence[RelationRow],
) -> None:
    """Load pairs of names with their totals and descriptions, and the relations that they form."""
    await _load(tx, _PAIR, ((*p[:4], Numbers(p.histogram), p.relation) for p in name_pairs))
    await _load_phrase_counts(tx, phrase_counts)
    await _load(tx, _RELATION, ((*r[:10], Numbers(r.histogram), r.text_hash) for r in relations))
    await view.want_summaries(tx, (), relations)


async def load_vectors(tx: Transaction, where: Space, kind: VectorKind, found: Sequence[Vector]) -> None:
    """Load vectors of one kind into the workspace's own table, which has no index yet."""
    await tx.run("vectors.stage")
    await tx.copy("stage_vector", vectors.STAGE_TYPES, found)
    own = (await own_tables.find(tx, where)).current[kind]
    query = sql.SQL(QUERIES["bulk.insert_vectors"]).format(table=own.identifier)
    await tx.connection.execute(query, {"kind": kind})


async def make_own_tables(workspace: Workspace, where: Space, of_kinds: Sequence[VectorKind], chunks: int) -> None:
    """Create the workspace's own tables for these kinds of vectors, without indexes. Chunk tables are sized for
    `chunks`; entities and relations have not been counted yet."""
    for kind in of_kinds:
        rows = chunks if kind == "chunk" else 0
        partitions = own_tables.partitions_for(rows, where.dimensions, workspace.database.index_memory)
        async with workspace.transaction() as tx:
            await own_tables.make(tx, where, kind, partitions)


async def index_texts(tx: Transaction, chunks: Sequence[UUID]) -> None:
    """Add chunks to text search, before they are counted."""
    await tx.run("text.add", coming=Ids(chunks))


async def count(workspace: Workspace) -> None:
    """Count how many chunks each word and each phrase occurs in, once all are loaded."""
    async with workspace.transaction(unhurried=True) as tx:
        await tx.run("text.count")
        await tx.run("bulk.count_occurrences")


async def live_names(workspace: Workspace) -> AsyncIterator[tuple[UUID, UUID, int]]:
    """The names of a workspace with their entities and mention counts."""
    after = UUID(int=0)
    while True:
        async with workspace.transaction(snapshot=True) as tx:
            page = await tx.rows("bulk.live_names", after=after, limit=_PAGE)
        if not page:
            return
        for id_, entity, count in page:
            yield id_, entity, count
        after = page[-1][0]


async def document_ids(tx: Transaction, *, failed: bool = False) -> dict[UUID, str]:
    """The current document versions of a workspace with their uris; with `failed`, also those whose indexing failed
    because of a bug."""
    found: dict[UUID, str] = {}
    after = UUID(int=0)
    while page := await tx.rows("bulk.document_ids", after=after, limit=_PAGE, failed=failed):
        found |= dict(page)
        after = page[-1][0]
    return found


async def off(tx: Transaction) -> set[str]:
    """The documents of a workspace that are switched off."""
    return {uri for (uri,) in await tx.rows("bulk.off")}


async def switch(tx: Transaction, wanted: set[str]) -> None:
    """Switch the documents of a workspace so that exactly these are off."""
    there = await off(tx)
    for uris, is_off in ((wanted - there, True), (there - wanted, False)):
        if uris:
            await record.switch_in(tx, list(uris), off=is_off)


async def rows_of(tx: Transaction, ids: Sequence[UUID]) -> list[Contribution]:
    """Those of these document versions that are still stored. Requires a snapshot transaction, or that nobody
    writes."""
    documents = [DocumentRow._make(row) for row in await tx.rows("bulk.documents", ids=Ids(ids))]
    there = Ids(d.id for d in documents)
    recipes = await tx.rows("bulk.recipes", ids=Ids({d.recipe for d in documents if d.recipe}))
    made = {id_: record.made(recipe, fingerprint) for id_, recipe, fingerprint in recipes}
    chunks: defaultdict[UUID, list[ChunkRow]] = defaultdict(list)
    mentions: defaultdict[UUID, list[MentionRow]] = defaultdict(list)
    links: defaultdict[UUID, list[LinkRow]] = defaultdict(list)
    for row in await tx.rows("bulk.chunks", documents=there):
        chunks[row[0]].append(ChunkRow._make(row))
    for row in await tx.rows("bulk.mentions", documents=there):
        mentions[row[0]].append(MentionRow._make(row))
    for row in await tx.rows("bulk.links", documents=there):
        links[row[0]].append(LinkRow._make(row))
    return [
        Contribution(d, chunks[d.id], mentions[d.id], links[d.id], made.get(d.recipe) if d.recipe else None)
        for d in documents
    ]


@asynccontextmanager
async def only_load(target: Workspace) -> AsyncIterator[None]:
    """Prevent other bulk loads and moves of the workspace. Raises WorkspaceLoading or WorkspaceMoving if one is
    running.

    The lock belongs to a session, so it ends with this process. Correctness does not depend on it: if the session
    breaks, the switch still raises unless the workspace is as planned.
    """
    async with await target.database.connect() as connection:
        row = await (await connection.execute(QUERIES["bulk.lock"], {"workspace": target.id})).fetchone()
        if row == ("load",):
            raise WorkspaceLoading(
                "another bulk load of this workspace is running, or its embedding model is being changed. Wait "
                "until that is done, then run the same command again."
            )
        if row == ("move",):
            raise WorkspaceMoving("this workspace is being moved to another server. Wait until that is done.")
        yield


class WorkspacePlace(NamedTuple):
    """The location of a workspace, and whether it was dropped, is being re-embedded with another model, or has vectors
    of entities and relations made."""

    server: str
    place: str
    is_dropped: bool
    is_reembedded: bool
    is_embedded: bool


async def place(target: Workspace) -> WorkspacePlace:
    """The location of a workspace according to its home. Also undoes what an interrupted move left behind, so the
    caller must hold `only_load`."""
    async with target.database.transaction(target.id, dropping=True) as tx:
        rows = await tx.rows("bulk.place")
        found = WorkspacePlace(*rows[0]) if rows else WorkspacePlace(HOME, "here", True, False, False)
        if found.server == HOME and not found.is_dropped and found.place != "here":
            await tx.run("servers.set_place", workspace=target.id, is_here=True, grace=GRACE)
        return found


@asynccontextmanager
async def alone(target: Workspace) -> AsyncIterator[Transaction]:
    """A transaction in the workspace's home database, during which nobody else writes to the workspace."""
    async with target.database.transaction(target.id, unhurried=True, dropping=True) as tx:
        await tx.run("bulk.hold_writers")
        yield tx


@asynccontextmanager
async def inside(tx: Transaction, workspace: int) -> AsyncIterator[Transaction]:
    """The same transaction, switched to another workspace."""
    await tx.run("bulk.enter", workspace=workspace)
    yield Transaction(tx.connection, workspace)
    await tx.run("bulk.enter", workspace=tx.workspace)


async def replace_by(tx: Transaction, made: int) -> None:
    """Replace the current workspace, which nobody may be writing to, by workspace `made`. Raises DatabaseError, and
    changes nothing, unless both are as planned."""
    space, of_kinds = await vectors.wanted(tx)
    async with inside(tx, made) as there:
        built, built_kinds = await vectors.wanted(there)
    if space and built and of_kinds != built_kinds:
        raise DatabaseError(
            "vectors of entities and relations were made or dropped during the bulk load. The workspace is unchanged. "
            "Run the same command again: extracted data is kept."
        )
    try:
        await tx.run("bulk.replace", made=made)
    except RaiseException as error:
        raise DatabaseError(
            f"switching to the bulk load failed: {first_line(error)}. The workspace is unchanged. Run the same "
            "command again: extracted data is kept."
        ) from error


async def _load_phrase_counts(tx: Transaction, phrase_counts: Iterable[PhraseCount]) -> None:
    await tx.run("bulk.stage_phrase_counts")
    await tx.copy("bulk_phrase_count", _PHRASE_COUNT, phrase_counts)
    await tx.run("bulk.insert_phrase_counts")


async def _load(tx: Transaction, table: _Table, rows: Iterable[Sequence[Any]]) -> None:
    """Copy rows to a table through a temporary one: COPY cannot write to a table under row-level security."""
    stage: LiteralString = f"bulk_{table.name}"
    parts = {
        "stage": sql.Identifier(stage),
        "table": sql.Identifier("trueweave", table.name),
        "columns": sql.SQL(", ").join(map(sql.Identifier, table.columns)),
    }
    await tx.connection.execute(sql.SQL(QUERIES["bulk.stage"]).format(**parts))
    await tx.copy(stage, table.types, rows)
    await tx.connection.execute(sql.SQL(QUERIES["bulk.insert"]).format(**parts))
