"""State shared by the readers of one question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg.errors import UndefinedTable

from trueweave.core.dates import date_of
from trueweave.core.errors import DatabaseError, NoVectors
from trueweave.core.evidence import Copy, Filter, Passage, place_at
from trueweave.core.graph import Entity, GraphVectors, Relation, VectorKind
from trueweave.core.memo import Memo
from trueweave.core.protocols import Embedder
from trueweave.core.record import Place
from trueweave.core.telemetry.trace import count_statement
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.reading.question_server import QuestionServer
from trueweave.store.postgres.search.document_filter import ALL, FilterShape, Scope, compiled, scope, seen_scope
from trueweave.store.postgres.search.search import VectorLayout
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.view.read import entity, relation
from trueweave.store.postgres.view.seen import SeenLookups

_TRIES = 3
_RELATION_COLUMNS, _ENTITY_COLUMNS = 12, 9


class VectorLayoutCache:
    """Caches where a workspace's vectors are, for all questions of a process."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout: VectorLayout | None = None


class Details:
    """A cache of objects by id. A search returns the details of its results in the same statement, so that nothing is
    looked up twice. None stands for an object that is gone or not visible."""

    def __init__(self) -> None:
        self.passages: dict[UUID, Passage | None] = {}
        self.entities: dict[UUID, Entity | None] = {}
        self.relations: dict[UUID, Relation | None] = {}
        self.same: dict[UUID, UUID] = {}  # for chunks with the same text as others, the one that represents them all

    def keeper(self, kind: VectorKind) -> Callable[[UUID, float, Sequence[Any]], object]:
        """A function that caches a search result of a kind, called with its id, score and columns."""
        if kind == "chunk":
            return self.add_passage
        add = self.add_entity if kind == "entity" else self.add_relation
        return lambda _found, _score, columns: add(columns)

    def add_passages(self, rows: Iterable[Row]) -> None:
        """Cache rows of the result's id, a score, and the columns of a chunk with its text."""
        for found, score, *columns in rows:
            self.add_passage(found, score, columns)

    def add_passage(self, found: UUID, score: float, columns: Sequence[Any]) -> None:
        """Cache a chunk with its text, from its columns."""
        self.passages[found] = _passage(score, *columns)

    def add_entity(self, columns: Sequence[Any]) -> UUID:
        """Cache an entity, from its columns; returns its id."""
        id_: UUID = columns[0]
        if self.entities.get(id_) is None:
            self.entities[id_] = entity(*columns)
        return id_

    def add_relation(self, columns: Sequence[Any]) -> UUID:
        """Cache a relation, and both its ends if their columns follow; returns its id."""
        id_: UUID = columns[0]
        if self.relations.get(id_) is None:
            self.relations[id_] = relation(*columns[:_RELATION_COLUMNS])
        for at in range(_RELATION_COLUMNS, len(columns), _ENTITY_COLUMNS):
            self.add_entity(columns[at : at + _ENTITY_COLUMNS])
        return id_


class Session:
    """One question to one workspace, under one filter."""

    def __init__(self, where: VectorLayoutCache, filter: Filter, *, standbys: bool) -> None:
        self.workspace = where.workspace
        self._server = QuestionServer(where.workspace, standbys=standbys)
        self.details = Details()
        self.embedder: Embedder | None = None  # the model whose vectors are searched, once checked
        self._where = where
        self._filter = filter
        self._memo = Memo()

    async def scope(self) -> Scope:
        """The resolved filter and the rights of the caller, looked up once per question."""
        if not self._filter and not self.workspace.sight:
            return ALL
        return await self._memo.once("scope", self._resolve)

    async def is_restricted(self) -> bool:
        """Whether it is asked for a caller who does not see all documents."""
        return (await self.scope()).seen

    async def _resolve(self) -> Scope:
        count_statement()
        if sight := self.workspace.sight:
            found = await seen_scope(self.workspace.read, self._filter)
            if found:
                self._server = self._server.seen(sight.narrowed(compiled(self._filter)))
                return found
            # A standby cannot make the first restricted document wait, so there no caller sees all.
            self._server = QuestionServer(self.workspace, standbys=False)
        return await scope(self._server.read, self._filter) if self._filter else ALL

    @asynccontextmanager
    async def seen(self) -> AsyncIterator[SeenLookups]:
        """Look-ups in what the caller sees, in one snapshot."""
        workspace = self.workspace.filtered(compiled(self._filter))
        async with workspace.transaction(snapshot=True) as tx:
            yield SeenLookups(tx)

    async def rows(self, query: bytes, params: dict[str, Any] | None = None) -> list[Row]:
        await self.scope()  # which decides what the server sees
        count_statement()
        return await self._server.read(query, params or None)

    async def from_ids(
        self, statement: Callable[[FilterShape], bytes], others: Mapping[str, Any] | None = None, **ids: Sequence[UUID]
    ) -> list[Row]:
        """The rows of a statement that takes ids; none if there are no ids, or no document passes the filter."""
        scope_ = await self.scope()
        if scope_.is_empty or not any(ids.values()):
            return []
        params = {name: Ids(values) for name, values in ids.items()} | dict(others or {})
        return await self.rows(statement(scope_.shape), {**params, **scope_.params})

    # --- where the vectors are ----------------------------------------------------------------------------

    async def check_space(self, embedder: Embedder) -> None:
        """Raise SpaceMismatch unless the vectors come from this model, or NoVectors if there are none."""
        layout = await self.layout()
        if not layout.space.is_of(embedder):
            self._moved()
            (await self.layout()).space.check(embedder)
        self.embedder = embedder

    async def graph_vectors(self) -> GraphVectors:
        """Whether there are vectors of entities and relations; NoVectors if there are none at all."""
        if (await self.layout()).graph_vectors != "kept":
            self._moved()  # they may have been made meanwhile
        return (await self.layout()).graph_vectors

    async def located(self, statement: Callable[[VectorLayout], bytes], params: dict[str, Any]) -> list[Row]:
        """The rows of a statement that depends on where the vectors are, retried if they have been moved."""
        for _ in range(_TRIES):
            layout = await self.layout()
            if self.embedder:
                layout.space.check(self.embedder)  # the space may have changed since the vectors were made
            try:
                rows = await self.rows(statement(layout), params)
            except UndefinedTable:
                rows = []
            if rows and tuple(rows[0][:3]) == layout.stamp:
                return [row[3:] for row in rows if row[3] is not None]
            self._moved()
        raise DatabaseError("the vectors of this workspace are being moved; ask again in a moment")

    async def layout(self) -> VectorLayout:
        known = self._where.layout
        return known if known else await self._memo.once("layout", self._look)

    def _moved(self) -> None:
        """Drop the cached location of the vectors, which may be out of date."""
        self._where.layout = None
        self._memo.forget("layout")

    async def _look(self) -> VectorLayout:
        rows = await self.rows(QUERIES["search.layout"].encode())
        if not rows:
            raise NoVectors(
                "this workspace has no vectors, so search by meaning is not possible. Set embedding_model in "
                "trueweave.toml and run `trueweave add` again, or ask with --method keyword."
            )
        *space, own, sizes, graph = rows[0]
        self._where.layout = layout = VectorLayout(Space(*space), tuple(own), tuple(sizes), graph)
        return layout


def _passage(
    score: float,
    id_: UUID,
    uri: str,
    title: str,
    text: str,
    start: int,
    places: Sequence[Sequence[Any]] | None,
    copies: int,
    also: Sequence[Sequence[Any]],
    date: str | None,
) -> Passage:
    known = tuple(Place(*place) for place in places or ())
    page, headings = place_at(known, start)
    others = tuple(_copy(text, *other) for other in also)
    return Passage(id_, uri, title, text, start, score, page, headings, known, copies, others, date_of(date))


def _copy(text: str, uri: str, title: str, start: int, places: Sequence[Sequence[Any]] | None) -> Copy:
    known = tuple(Place(*place) for place in places or ())
    return Copy(uri, title, start, Passage(UUID(int=0), uri, title, text, start, 0.0, places=known).source)
