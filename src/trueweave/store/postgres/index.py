"""The read side of one workspace in PostgreSQL, as methods see it: each call is one prepared statement."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from itertools import accumulate, groupby
from typing import Any, TypeVar
from uuid import UUID

from psycopg.errors import UndefinedTable

from trueweave.errors import ConfigError, DatabaseError, NoVectors
from trueweave.evidence import Copy, Filter, Passage, Scored, Step, place_at
from trueweave.protocols import (
    LLM,
    ChunkMention,
    Embedder,
    Name,
    Neighbourhood,
    Reached,
    RelationFound,
    ReportFound,
    Reranker,
    RerankFeatures,
    Scores,
    Vectors,
    WalkLimits,
)
from trueweave.store.postgres import search
from trueweave.store.postgres.binary_params import Halves, Ids, Numbers
from trueweave.store.postgres.communities import read_findings
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.document_filter import ALL, FilterShape, Scope, scope
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.read import entity, relation
from trueweave.store.postgres.search import VectorLayout
from trueweave.store.postgres.vectors import Space, half
from trueweave.text import phrases
from trueweave.types import Entity, Place, Relation, VectorKind

T = TypeVar("T")

_TRIES = 3
_SHOWN = 5  # of what was found, in the trace
_WEIGHED = 2000  # chunks, when words are searched
_DEEPER, _DEEPEST = 4, 1000  # how far a search goes on where many chunks have the same text


class VectorLayoutCache:
    """Remembers where a workspace's vectors are, for all questions of a process."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout: VectorLayout | None = None


class PostgresIndex:
    """One workspace, for one question: it also writes down what was searched, and what that took."""

    def __init__(
        self,
        where: VectorLayoutCache,
        embedder: Embedder | None = None,
        llm: LLM | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._where = where
        self._embedder = embedder
        self._llm = llm
        self._reranker = reranker
        self._once: dict[str, asyncio.Future[Any]] = {}
        self._same: dict[UUID, UUID] = {}  # for chunks whose text others have, the one that stands for all
        self.steps: list[Step] = []

    @property
    def llm(self) -> LLM | None:
        return self._llm

    @property
    def reranker(self) -> Reranker | None:
        return self._reranker

    @property
    def embeds(self) -> bool:
        return self._embedder is not None

    # --- by meaning -----------------------------------------------------------------------------------

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, in order."""
        if self._embedder is None:
            raise ConfigError(
                "no embedding model is set, so nothing can be found by meaning. Set embedding_model in trueweave.toml, "
                "or ask with --method keyword."
            )
        with self._step("embed", ", ".join(texts)) as told:
            layout = await self._layout(told)
            if not layout.space.is_of(self._embedder):
                self._moved()
                (await self._layout(told)).space.check(self._embedder)
            vectors = await self._embedder.embed(texts)
            told.found = len(vectors)
        return vectors

    async def chunks_near(self, vectors: Vectors, limit: int, filter: Filter) -> list[list[Passage]]:
        """For each vector the chunks nearest to it, nearest first."""
        with self._step("chunks near", f"{len(vectors)} vectors") as told:
            found: list[list[Passage]] = []
            for depth in _deeper(limit):
                rows = await self._near(told, "chunk", vectors, depth, filter)
                found = [_distinct(some)[:limit] for some in rows]
                if all(len(f) >= limit or len(r) < depth for f, r in zip(found, rows, strict=True)):
                    break
            told.list(Scored(p.source, p.score) for some in found for p in some)
        return found

    async def entities_near(self, vectors: Vectors, limit: int, filter: Filter) -> list[list[Scored[Entity]]]:
        """For each vector the entities nearest to it, nearest first."""
        with self._step("entities near", f"{len(vectors)} vectors") as told:
            found = [
                [Scored(entity(*rest), score) for _, score, *rest in rows]
                for rows in await self._near(told, "entity", vectors, limit, filter)
            ]
            told.list(Scored(e.item.name, e.score) for some in found for e in some)
        return found

    async def relations_near(self, vectors: Vectors, limit: int, filter: Filter) -> list[list[Scored[RelationFound]]]:
        """For each vector the relations nearest to it, nearest first, with their ends."""
        seen: dict[UUID, Entity] = {}
        with self._step("relations near", f"{len(vectors)} vectors") as told:
            found = [
                [
                    Scored(RelationFound(relation(*rest[:11]), *_ends(rest[11:], seen)), score)
                    for _, score, *rest in rows
                ]
                for rows in await self._near(told, "relation", vectors, limit, filter)
            ]
            told.list(Scored(_arrow(r.item.relation), r.score) for some in found for r in some)
        return found

    async def _near(
        self, told: _Telling, kind: VectorKind, vectors: Vectors, limit: int, filter: Filter
    ) -> list[list[Row]]:
        """For each vector rows of id, similarity and what else is wanted of that kind."""
        scope_ = await self._scope(told, filter)
        if scope_.is_empty or not len(vectors):
            return [[] for _ in vectors]
        params = {"vectors": Halves(vectors), **scope_.params}
        workspace, shape = self._where.workspace.id, scope_.shape
        rows = await self._located(told, lambda at: search.near(kind, at, workspace, limit, shape), params)
        return _by_vector(rows, len(vectors), (await self._layout(told)).space)

    async def _located(
        self, told: _Telling, statement: Callable[[VectorLayout], bytes], params: dict[str, Any]
    ) -> list[Row]:
        """The rows of a statement that knows where the vectors are, as long as they are there."""
        for _ in range(_TRIES):
            layout = await self._layout(told)
            layout.space.check(self._embedder)  # it may have changed since the vectors were made
            try:
                rows = await self._rows(told, statement(layout), params)
            except UndefinedTable:
                rows = []
            if rows and tuple(rows[0][:2]) == layout.stamp:
                return [row[2:] for row in rows if row[2] is not None]
            self._moved()
        raise DatabaseError("the vectors of this workspace are being moved about; ask again in a moment")

    def _moved(self) -> None:
        """What is remembered of where the vectors are may be out of date."""
        self._where.layout = None
        self._once.pop("layout", None)

    async def _layout(self, told: _Telling) -> VectorLayout:
        known = self._where.layout
        return known if known else await self.once("layout", lambda: self._look(told))

    async def _look(self, told: _Telling) -> VectorLayout:
        rows = await self._rows(told, QUERIES["search.layout"].encode(), {})
        if not rows:
            raise NoVectors(
                "this workspace has no vectors, so nothing can be found by meaning. Set embedding_model in "
                "trueweave.toml and run `trueweave add` once more, or ask with --method keyword."
            )
        *space, own = rows[0]
        self._where.layout = layout = VectorLayout(Space(*space), tuple(own))
        return layout

    # --- by words -------------------------------------------------------------------------------------

    async def chunks_matching(
        self, text: str, limit: int, filter: Filter, *, k1: float = 1.2, b: float = 0.75
    ) -> list[Passage]:
        """The chunks that match the words of a text best, by BM25."""
        with self._step("chunks matching", text) as told:
            scope_ = await self._scope(told, filter)
            found: list[Passage] = []
            for most in _depths(limit, scope_):
                query = search.matching(most, scope_.shape)
                rows = await self._rows(told, query, {"text": text, "k1": k1, "b": b, **scope_.params})
                found = _distinct(rows)[:limit]
                if len(found) >= limit or (_is_exact(scope_) and len(rows) < most):
                    break
            told.list(Scored(p.source, p.score) for p in found)
        return found

    # --- by the graph ---------------------------------------------------------------------------------

    async def around(
        self, entities: Sequence[UUID], followed: Sequence[UUID], each: int, filter: Filter
    ) -> Neighbourhood:
        """The relations of these entities, and for each one that is followed the chunks that tell most of it."""
        with self._step("around", f"{len(entities)} entities") as told:
            rows = await self._from_ids(
                told, partial(search.from_ids, "around"), filter, {"each": each}, entities=entities, followed=followed
            )
            chunks = zip(*(part or () for part in rows[0][:3]), strict=True) if rows else ()
            found = Neighbourhood(
                [relation(*row[3:]) for row in rows if row[3] is not None], [ChunkMention(*row) for row in chunks]
            )
            told.list(Scored(_arrow(r), r.weight) for r in found.relations)
        return found

    async def neighbourhood(self, entities: Sequence[UUID], hops: int, filter: Filter) -> list[Relation]:
        """The relations that lead away from these entities, either way, over so many hops."""
        with self._step("neighbourhood", f"{len(entities)} entities, {hops} hops") as told:
            statement = partial(search.neighbourhood, hops)
            rows = await self._from_ids(told, statement, filter, entities=entities) if hops else []
            found = [relation(*row) for row in rows]
            told.list(Scored(_arrow(r), r.weight) for r in found)
        return found

    async def chunks_of_entities(self, entities: Sequence[UUID], filter: Filter) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        with self._step("chunks of entities", f"{len(entities)} entities") as told:
            rows = await self._from_ids(told, partial(search.from_ids, "chunks_of_entities"), filter, entities=entities)
            told.found = len(rows)
        return [(entity_id, chunk) for entity_id, chunk in rows]

    async def chunks_of_relations(self, relations: Sequence[UUID], filter: Filter) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        with self._step("chunks of relations", f"{len(relations)} relations") as told:
            rows = await self._from_ids(
                told, partial(search.from_ids, "chunks_of_relations"), filter, relations=relations
            )
            told.found = len(rows)
        return [(relation_id, chunk) for relation_id, chunk in rows]

    async def relations_of_chunks(self, chunks: Sequence[UUID], filter: Filter) -> list[tuple[UUID, Relation]]:
        """Pairs of a chunk and a relation that it states, the heaviest first."""
        with self._step("relations of chunks", f"{len(chunks)} chunks") as told:
            rows = await self._from_ids(told, partial(search.from_ids, "relations_of_chunks"), filter, chunks=chunks)
            found = [(chunk, relation(*rest)) for chunk, *rest in rows]
            told.list(Scored(_arrow(r), r.weight) for _, r in found)
        return found

    async def entities(self, ids: Sequence[UUID], filter: Filter) -> list[Entity]:
        """The entities of these ids, in that order, without those that are gone."""
        with self._step("entities", f"{len(ids)} ids") as told:
            found = [entity(*row) for row in await self._from_ids(told, search.entities, filter, ids=ids)]
            told.found = len(found)
        return found

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int, filter: Filter) -> list[Passage]:
        """The first of the chunks of these ids with these scores, in that order: so many different texts, without those
        that are gone."""
        with self._step("passages", f"{len(chunks)} chunks") as told:
            scope_ = await self._scope(told, filter)
            rows: list[Row] = []
            found: list[Passage] = []
            left = [] if scope_.is_empty else list(chunks)
            size = limit
            while left and len(found) < limit:
                some, left = left[:size], left[size:]
                params = {"ids": Ids(c.item for c in some), "scores": [c.score for c in some], **scope_.params}
                rows += await self._rows(told, search.passages(scope_.shape), params)
                found = _distinct(rows)[:limit]
                size *= _DEEPER
            told.list(Scored(p.source, p.score) for p in found)
        return found

    async def _from_ids(
        self,
        told: _Telling,
        statement: Callable[[FilterShape], bytes],
        filter: Filter,
        others: Mapping[str, Any] | None = None,
        **ids: Sequence[UUID],
    ) -> list[Row]:
        """The rows of a statement that takes ids; none without any, or where no document may speak."""
        scope_ = await self._scope(told, filter)
        if scope_.is_empty or not any(ids.values()):
            return []
        params = {name: Ids(values) for name, values in ids.items()} | dict(others or {})
        return await self._rows(told, statement(scope_.shape), {**params, **scope_.params})

    # --- by names that occur --------------------------------------------------------------------------

    async def both_lists(self, text: str, vector: Vectors, limit: int, filter: Filter) -> tuple[Scores, Scores]:
        """The chunks nearest to a vector with their similarity, and those that match a text with their score."""
        with self._step("both lists", text) as told:
            scope_ = await self._scope(told, filter)
            if scope_.is_empty:
                return {}, {}
            params = {"vector": half(vector), "text": text, **scope_.params}
            near: Scores = {}
            matching: Scores = {}
            for depth in _deeper(limit):
                rows = await self._both(told, depth, scope_.shape, params)
                by_vector = [(id_, value) for is_near, id_, value in rows if is_near]
                by_words = [(id_, value) for is_near, id_, value in rows if not is_near]
                await self._know_copies(told, [*_tied(by_vector), *_tied(by_words)], scope_)
                near, matching = self._merged(by_vector, limit), self._merged(by_words, limit)
                both = (near, by_vector), (matching, by_words)
                if all(len(merged) >= limit or len(found) < depth for merged, found in both):
                    break
            space = (await self._layout(told)).space
            told.found = len(near) + len(matching)
        return {id_: space.similarity(value) for id_, value in near.items()}, matching

    async def _both(self, told: _Telling, depth: int, shape: FilterShape, params: dict[str, Any]) -> list[Row]:
        workspace = self._where.workspace.id
        return await self._located(told, lambda at: search.both_lists(at, workspace, depth, shape), params)

    async def _know_copies(self, told: _Telling, tied: Sequence[UUID], scope_: Scope) -> None:
        """Look up which of these chunks have the same text. Equal texts are equally near and match equally well, so
        others need not be looked at."""
        if unknown := [id_ for id_ in tied if id_ not in self._same]:
            params = {"ids": Ids(unknown), **scope_.params}
            self._same |= dict(await self._rows(told, search.same_texts(scope_.shape), params))

    def _merged(self, found: Sequence[tuple[UUID, float]], limit: int) -> Scores:
        """What was found, each text once."""
        first: Scores = {}
        for id_, value in found:
            first.setdefault(self._same.get(id_, id_), value)
        return dict(list(first.items())[:limit])

    async def subjects(self) -> float:
        """Which share of the chunks is about a name that few others have; of a sample, where there are many."""
        with self._step("subjects", "chunks with one of their own") as told:
            [[share]] = await self._rows(told, QUERIES["search.subjects"].encode(), {})
            told.found = 1
        return float(share)

    async def names_in(self, text: str) -> list[Name]:
        """The names in a text that occur in some chunk: the longest at each place, and those inside of them."""
        with self._step("names in", text) as told:
            words = phrases.words(text)
            everything = {word.word: phrases.most_words(word.word) for word in words}
            numbers = {one: phrases.number(one) for one in phrases.candidates(words, everything)}
            ids = Numbers(numbers.values())
            rows = await self._rows(told, QUERIES["search.names_known"].encode(), {"ids": ids})
            chunks = {id_: count for id_, count in rows if count}
            known = {one for one, number in numbers.items() if number in chunks}
            names = [
                Name(number := numbers[found.phrase], found.phrase, chunks[number], (found.start, found.end))
                for found in phrases.occurrences(words, phrases.Vocabulary(known, everything))
            ]
            told.list(Scored(name.name, 1 / name.chunks) for name in names)
        return names

    async def propagate(
        self,
        start: Sequence[Scored[Name]] | Scores,
        vector: Vectors,
        pool: Sequence[UUID],
        how: WalkLimits,
        filter: Filter,
    ) -> list[Reached]:
        """Where the mass of names, or of the names in chunks, goes: to which chunks, and how it is shared out there."""
        with self._step("spread", f"{len(start)}") as told:
            scope_ = await self._scope(told, filter)
            if scope_.is_empty or not start:
                return []
            workspace, shape, given = self._where.workspace.id, scope_.shape, not isinstance(start, Mapping)
            params = {"vector": half(vector), "pool": Ids(pool), **asdict(how), **_mass(start), **scope_.params}
            rows = await self._located(told, lambda at: search.propagate(at, workspace, shape, given=given), params)
            told.found = len(rows)
        return [one._replace(chunk=self._same.get(one.chunk, one.chunk)) for one in (Reached(*row) for row in rows)]

    async def rerank_features(self, chunks: Sequence[UUID], text: str, vector: Vectors) -> list[RerankFeatures]:
        """These chunks once more, in order, beside a question and a vector of what is asked."""
        with self._step("weighed", f"{len(chunks)} chunks") as told:
            if not chunks:
                return []
            params = {"chunks": Ids(chunks), "text": text, "vector": half(vector)}
            rows = await self._located(told, lambda at: search.rerank_features(at, self._where.workspace.id), params)
            told.found = len(rows)
        return [RerankFeatures(*row) for row in rows]

    # --- by communities -------------------------------------------------------------------------------

    async def report_levels(self) -> list[int]:
        """How many reports there are to read at each level of communities, from the outermost on."""
        with self._step("report levels", "") as told:
            rows = await self._rows(told, QUERIES["search.report_levels"].encode(), {})
            told.found = len(rows)
        whole = accumulate((leaves for _, leaves in rows), initial=0)
        return [here + further_out for (here, _), further_out in zip(rows, whole, strict=False)]

    async def reports(self, level: int, limit: int, vector: Vectors | None) -> list[ReportFound]:
        """The reports to read at a level: those nearest to a vector, or about the largest communities without one."""
        with self._step("reports", f"level {level}") as told:
            params: dict[str, Any] = {"level": level, "limit": limit}
            if vector is None:
                rows = await self._rows(told, search.largest_reports(), params)
            else:
                params["vector"] = half(vector)
                rows = await self._located(told, lambda at: search.reports(at, self._where.workspace.id), params)
            similarity = (await self._layout(told)).space.similarity if vector is not None else _no_similarity
            found = [
                ReportFound(*(*row, read_findings(findings), stale, similarity(distance)))
                for *row, findings, stale, distance in rows
            ]
            told.list(Scored(one.title, one.score) for one in found)
        return found

    # --- for the question as a whole ------------------------------------------------------------------

    async def once(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives, made once for this question, however many parts of a method ask for it."""
        if what not in self._once:
            self._once[what] = asyncio.ensure_future(make())
        made: T = await self._once[what]
        return made

    def note(self, what: str, *found: Scored[str]) -> None:
        """Put something into the trace that no search shows."""
        self.steps.append(Step(what, "", len(found), found[:_SHOWN], 0.0))

    @contextmanager
    def _step(self, what: str, searched: str) -> Iterator[_Telling]:
        told = _Telling()
        begun = time.perf_counter()
        yield told
        took = time.perf_counter() - begun
        self.steps.append(Step(what, searched, told.found, told.best, took, told.statements))

    async def passes_nothing(self, filter: Filter) -> bool:
        """Whether no document passes the filter. No statement, if anything was searched with it before."""
        return (await self._scope(_Telling(), filter)).is_empty

    async def _scope(self, told: _Telling, filter: Filter) -> Scope:
        """What the filter comes to, looked up once a question."""
        if not filter:
            return ALL

        async def look() -> Scope:
            told.statements += 1
            return await scope(self._where.workspace, filter)

        return await self.once(f"scope of {filter}", look)

    async def _rows(self, told: _Telling, query: bytes, params: dict[str, Any]) -> list[Row]:
        told.statements += 1
        return await self._where.workspace.read(query, params or None)


class _Telling:
    """What a step has found."""

    def __init__(self) -> None:
        self.found = 0
        self.statements = 0
        self.best: tuple[Scored[str], ...] = ()

    def list(self, found: Iterator[Scored[str]]) -> None:
        everything = list(found)
        self.found = len(everything)
        self.best = tuple(sorted(everything, key=lambda s: -s.score)[:_SHOWN])


def _by_vector(rows: list[Row], vectors: int, space: Space) -> list[list[Row]]:
    """Rows of a search, one list for each vector, with similarities in place of distances."""
    found: list[list[Row]] = [[] for _ in range(vectors)]
    for n, some in groupby(rows, key=lambda row: row[0]):
        found[n - 1] = [(id_, space.similarity(distance), *rest) for _, id_, distance, *rest in some]
    return found


def _depths(limit: int, scope_: Scope) -> list[int]:
    """How many matches to look for, and for how many more where too few of them are visible: a filter that many pass is
    applied to what was found, and in the end to all that a search weighs."""
    if scope_.is_empty:
        return []
    return _deeper(limit) if _is_exact(scope_) else [10 * limit, max(_WEIGHED, 10 * limit)]


def _is_exact(scope_: Scope) -> bool:
    return scope_.shape.by_ids or scope_.shape.is_all


def _deeper(limit: int) -> list[int]:
    """How many to look for, and for how many more where too many of them have the same text."""
    return [limit, *(depth for depth in (_DEEPER * limit, _DEEPEST) if limit < depth <= _DEEPEST)]


def _tied(found: Sequence[tuple[UUID, float]]) -> list[UUID]:
    """Those that have the value of another."""
    times = Counter(value for _, value in found)
    return [id_ for id_, value in found if times[value] > 1]


def _distinct(rows: Iterable[Row]) -> list[Passage]:
    """A passage for each text, as it was found first."""
    first: dict[UUID, Row] = {}
    for row in rows:
        first.setdefault(row[2], row)
    return [_passage(*row[1:]) for row in first.values()]


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
) -> Passage:
    known = tuple(Place(*place) for place in places or ())
    page, headings = place_at(known, start)
    others = tuple(_copy(text, *other) for other in also)
    return Passage(id_, uri, title, text, start, score, page, headings, known, copies, others)


def _copy(text: str, uri: str, title: str, start: int, places: Sequence[Sequence[Any]] | None) -> Copy:
    known = tuple(Place(*place) for place in places or ())
    return Copy(uri, title, start, Passage(UUID(int=0), uri, title, text, start, 0.0, places=known).source)


def _mass(start: Sequence[Scored[Name]] | Scores) -> dict[str, Any]:
    if isinstance(start, Mapping):
        return {"chunks": Ids(start), "masses": list(start.values())}
    names = [one.item for one in start]
    return {
        "names": Numbers(name.id for name in names),
        "df": Numbers(name.chunks for name in names),
        "masses": [one.score for one in start],
    }


def _ends(columns: Sequence[Any], seen: dict[UUID, Entity]) -> tuple[Entity, Entity]:
    """Both ends of a relation; one that was seen already is not made again."""
    source, target = columns[:9], columns[9:]
    for end in (source, target):
        if end[0] not in seen:
            seen[end[0]] = entity(*end)
    return seen[source[0]], seen[target[0]]


def _no_similarity(_: float) -> float:
    return 0.0


def _arrow(found: Relation) -> str:
    return f"{found.source_name} -> {found.target_name}"
