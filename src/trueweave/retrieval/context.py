"""The query context: what a method sees of the index for one question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, Protocol, TypeVar, runtime_checkable
from uuid import UUID

from trueweave.core.depths import depths
from trueweave.core.errors import ConfigError, ModelFilesMissing, NoVectors
from trueweave.core.evidence import Evidence, Passage, Query, Scored, Step
from trueweave.core.graph import Entity, GraphVectors, Relation, check_kept
from trueweave.core.memo import Memo
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import (
    LLM,
    Embedder,
    Name,
    Neighbourhood,
    Reached,
    Readers,
    ReportFound,
    Reranker,
    RerankFeatures,
    Scores,
    Vectors,
    WalkLimits,
    WalkReader,
)
from trueweave.core.telemetry.trace import StepLog
from trueweave.models.prompts import BUILT_IN, PromptSet

T = TypeVar("T")
Need = Literal["vectors", "graph_vectors", "reports", "model", "graph"]
_NO_GRAPH_VECTORS: dict[GraphVectors, str] = {
    "none": "This workspace has no vectors of entities and relations: `trueweave vectors make` makes them.",
    "making": "The vectors of entities and relations are not complete: `trueweave vectors make` makes what is missing.",
}
NO_MODEL_FILES = "The embedding model is not on this machine: `trueweave doctor` says what to do."


class RelationFound(NamedTuple):
    """A relation with the entities at both ends."""

    relation: Relation
    source: Entity
    target: Entity


class QueryContext:
    """The readers and models for one question, under its filter: everything that a method can use.

    All searches, and what they cost, are recorded in the trace. A model that is not set is None.
    """

    def __init__(
        self,
        readers: Readers,
        embedder: Embedder | None = None,
        llm: LLM | None = None,
        reranker: Reranker | None = None,
        prompts: PromptSet = BUILT_IN,
    ) -> None:
        self.llm = llm
        self.prompts = prompts
        self.reranker = reranker
        self._embedder = embedder
        self._readers = readers
        self._log = StepLog()
        self._memo = Memo()
        self._like_documents: set[str] = set()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The searches so far."""
        return tuple(self._log.steps)

    # --- models -------------------------------------------------------------------------------------------

    @property
    def embeds(self) -> bool:
        """Whether an embedding model is set."""
        return self._embedder is not None

    async def lacks_vectors(self) -> str:
        """Why search by meaning is not possible here, as a sentence; empty if it is possible. Raises an error if the
        vectors are from a model other than the one that is set."""
        if self._embedder is None:
            return "No embedding model is set."
        try:
            _ = self._embedder.model  # report missing model files first, as adding documents would not help then
            await self._readers.vectors.check_space(self._embedder)
        except ModelFilesMissing:
            return NO_MODEL_FILES
        except NoVectors:
            return "This workspace has no vectors yet: run `trueweave add` once more to have them."
        return ""

    async def lacks_graph_vectors(self) -> str:
        """Why entities and relations cannot be searched by meaning, as a sentence; empty if they can. Call it only if
        there are vectors."""
        found = await self._readers.graph_vectors() if self._readers.graph_vectors else "kept"
        return _NO_GRAPH_VECTORS.get(found, "")

    async def check_graph_vectors(self) -> None:
        """Raise NoGraphVectors if entities and relations have no vectors. Searches report what else is missing."""
        if self.embeds and self._readers.graph_vectors:
            with suppress(NoVectors):
                check_kept(await self._readers.graph_vectors())

    async def embed(self, texts: Sequence[str], role: TextRole = "query") -> Vectors:
        """One vector per text, in order, in the embedding space of this workspace. Questions, names and keywords are
        queries; a text written to resemble what is stored is a document, as is each that `embed_as_document` names."""
        if self._embedder is None:
            raise ConfigError(
                "no embedding model is set, so search by meaning is not possible. Set embedding_model in "
                "trueweave.toml, or ask with --method keyword."
            )
        with self._log.step("embed", ", ".join(texts)) as step:
            await self._readers.vectors.check_space(self._embedder)
            if self._like_documents.issuperset(texts):
                role = "document"
            vectors = await self._embedder.embed(texts, role)
            step.found = len(vectors)
        return vectors

    def embed_as_document(self, text: str) -> None:
        """Have methods that search with this text embed it as a document, because it was written to resemble one."""
        self._like_documents.add(text)

    # --- searches -----------------------------------------------------------------------------------------

    async def chunks_near(self, vectors: Vectors, limit: int) -> list[list[Passage]]:
        """For each vector, the nearest chunks, nearest first. Scores are similarities."""
        with self._log.step("chunks near", f"{len(vectors)} vectors") as step:
            found: list[list[Passage]] = []
            for depth in depths(limit):
                ranked = await self._readers.vectors.nearest("chunk", vectors, depth)
                found = [await self._readers.record.passages(some, limit) for some in ranked]
                if all(len(f) >= limit or len(r) < depth for f, r in zip(found, ranked, strict=True)):
                    break
            step.list(Scored(p.source, p.score) for some in found for p in some)
        return found

    async def chunks_matching(self, text: str, limit: int, *, k1: float = 1.2, b: float = 0.75) -> list[Passage]:
        """The chunks that best match the words of a text, by BM25."""
        with self._log.step("chunks matching", text) as step:
            found: list[Passage] = []
            for depth in depths(limit):
                ranked = await self._readers.text.matching(text, depth, k1=k1, b=b)
                found = await self._readers.record.passages(ranked, limit)
                if len(found) >= limit or len(ranked) < depth:
                    break
            step.list(Scored(p.source, p.score) for p in found)
        return found

    async def entities_near(self, vectors: Vectors, limit: int) -> list[list[Scored[Entity]]]:
        """For each vector, the nearest entities, nearest first."""
        with self._log.step("entities near", f"{len(vectors)} vectors") as step:
            ranked = await self._readers.vectors.nearest("entity", vectors, limit)
            known = await self._entities(one.item for some in ranked for one in some)
            found = [[Scored(known[o.item], o.score) for o in some if o.item in known] for some in ranked]
            step.list(Scored(e.item.name, e.score) for some in found for e in some)
        return found

    async def relations_near(self, vectors: Vectors, limit: int) -> list[list[Scored[RelationFound]]]:
        """For each vector, the nearest relations with their ends, nearest first."""
        with self._log.step("relations near", f"{len(vectors)} vectors") as step:
            ranked = await self._readers.vectors.nearest("relation", vectors, limit)
            ids = dict.fromkeys(one.item for some in ranked for one in some)
            relations = {r.id: r for r in await self._readers.record.relations(list(ids))}
            ends = await self._entities(end for r in relations.values() for end in (r.source, r.target))
            whole = {
                r.id: RelationFound(r, ends[r.source], ends[r.target])
                for r in relations.values()
                if r.source in ends and r.target in ends
            }
            found = [[Scored(whole[o.item], o.score) for o in some if o.item in whole] for some in ranked]
            step.list(Scored(_arrow(r.item.relation), r.score) for some in found for r in some)
        return found

    async def rank_chunks(self, chunks: Sequence[UUID], vector: Vectors) -> list[Scored[UUID]]:
        """These chunks, each once, nearest to a vector first. Scores are similarities."""
        with self._log.step("rank chunks", f"{len(chunks)} chunks") as step:
            found = await self._readers.vectors.rank("chunk", chunks, vector)
            step.found = len(found)
        return found

    async def _entities(self, ids: Iterable[UUID]) -> dict[UUID, Entity]:
        return {one.id: one for one in await self._readers.record.entities(list(dict.fromkeys(ids)))}

    # --- the graph ----------------------------------------------------------------------------------------

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[Relation]:
        """The relations of these entities, and for each followed entity up to `each` chunks that mention it: those with
        most of its neighbours."""
        with self._log.step("around", f"{len(entities)} entities") as step:
            found = await self._readers.graph.around(entities, followed, each)
            relations = await self._readers.record.relations(found.relations)
            step.list(Scored(_arrow(r), r.weight) for r in relations)
        return Neighbourhood(relations, found.mentions)

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[Relation]:
        """The relations within `hops` hops of these entities: nearer ones first, then stronger ones."""
        with self._log.step("neighbourhood", f"{len(entities)} entities, {hops} hops") as step:
            found = await self._readers.record.relations(await self._readers.graph.neighbourhood(entities, hops))
            step.list(Scored(_arrow(r), r.weight) for r in found)
        return found

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        with self._log.step("chunks of entities", f"{len(entities)} entities") as step:
            found = await self._readers.graph.chunks_of_entities(entities)
            step.found = len(found)
        return found

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        with self._log.step("chunks of relations", f"{len(relations)} relations") as step:
            found = await self._readers.graph.chunks_of_relations(relations)
            step.found = len(found)
        return found

    @property
    def walk(self) -> WalkReader:
        """The index of names in texts; ConfigError if the stores have none."""
        if self._readers.walk is None:
            raise ConfigError(
                "these stores have no index of names in texts, which walk, weave and auto need. Use another "
                "method: `trueweave methods` lists them."
            )
        return _LoggedWalk(self._readers.walk, self._log)

    # --- the record ---------------------------------------------------------------------------------------

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int) -> list[Passage]:
        """The first of these chunks in the given order, with their scores, up to `limit` different texts; removed
        chunks are left out. Pass more ids than needed: chunks with the same text become one passage."""
        with self._log.step("passages", f"{len(chunks)} chunks") as step:
            found = await self._readers.record.passages(chunks, limit)
            step.list(Scored(p.source, p.score) for p in found)
        return found

    async def entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The entities with these ids, in that order, without removed ones."""
        with self._log.step("entities", f"{len(ids)} ids") as step:
            found = await self._readers.record.entities(ids)
            step.found = len(found)
        return found

    async def mentioned(self, chunks: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a chunk and an entity that it mentions."""
        with self._log.step("mentioned", f"{len(chunks)} chunks") as step:
            found = await self._readers.record.mentioned(chunks)
            step.found = len(found)
        return found

    async def report_levels(self) -> list[int]:
        """The number of reports to read at each level of communities, from the outermost inwards: those of that level,
        and those of outer levels that are not divided further."""
        with self._log.step("report levels", "") as step:
            found = await self._readers.record.report_levels()
            step.found = len(found)
        return found

    async def reports(self, level: int, limit: int, vector: Vectors | None) -> list[ReportFound]:
        """The reports to read at a level: those nearest to a vector, or without one, those on the largest
        communities."""
        with self._log.step("reports", f"level {level}") as step:
            found = await self._readers.record.reports(level, limit, vector)
            step.list(Scored(one.title, one.score) for one in found)
        return found

    async def reports_on(self, level: int, entities: Sequence[UUID], limit: int) -> list[ReportFound]:
        """The reports to read at a level on the communities that these entities are in: those with most of them, then
        those rated higher. Scores are the numbers of these entities."""
        with self._log.step("reports on", f"level {level}, {len(entities)} entities") as step:
            found = await self._readers.record.reports_on(level, entities, limit)
            step.list(Scored(one.title, one.score) for one in found)
        return found

    async def is_restricted(self) -> bool:
        """Whether the question is asked for a caller who does not see all documents. It is answered from passages
        alone, and no scores are shown."""
        return self._readers.is_restricted is not None and await self._readers.is_restricted()

    async def is_empty(self) -> bool:
        """Whether no document passes the filter."""
        return await self._readers.record.is_empty()

    # --- the question as a whole --------------------------------------------------------------------------

    async def once(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make`, which is called once per question, however many parts of a method ask for it."""
        return await self._memo.once(what, make)

    def note(self, what: str, *found: Scored[str]) -> None:
        """Add something to the trace that no search shows, such as keywords."""
        self._log.note(what, *found)


@runtime_checkable
class Method(Protocol):
    """A way of finding evidence: a frozen (pydantic) dataclass whose fields are its parameters.

    A method is a class that can be made without arguments. It is found by entry point, in the group
    `trueweave.methods`, under the name by which users choose it. The first line of its docstring is its summary in
    `trueweave methods`. A class attribute `needs`, a set of `Need`, lists what it cannot do without, so that a
    workspace can report in advance that the method cannot be used.
    """

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence for a question, best first. The caller adds the trace.

        The context already applies the filter of the question. If the method has its own reason for finding nothing, it
        sets `reason` on the evidence.
        """
        ...


class _LoggedWalk:
    """A walk reader whose calls are recorded as steps of the trace."""

    def __init__(self, reader: WalkReader, log: StepLog) -> None:
        self._reader = reader
        self._log = log

    async def subjects(self) -> float:
        with self._log.step("subjects", "chunks with one of their own") as step:
            share = await self._reader.subjects()
            step.found = 1
        return share

    async def names_in(self, text: str) -> list[Name]:
        with self._log.step("names in", text) as step:
            found = await self._reader.names_in(text)
            step.list(Scored(name.name, 1 / name.chunks) for name in found)
        return found

    async def both_lists(self, text: str, vector: Vectors, limit: int) -> tuple[Scores, Scores]:
        with self._log.step("both lists", text) as step:
            near, matching = await self._reader.both_lists(text, vector, limit)
            step.found = len(near) + len(matching)
        return near, matching

    async def propagate(
        self, start: Sequence[Scored[Name]] | Scores, vector: Vectors, pool: Sequence[UUID], how: WalkLimits
    ) -> list[Reached]:
        with self._log.step("propagate", f"{len(start)}") as step:
            found = await self._reader.propagate(start, vector, pool, how)
            step.found = len(found)
        return found

    async def rerank_features(self, chunks: Sequence[UUID], text: str, vector: Vectors) -> list[RerankFeatures]:
        with self._log.step("rerank features", f"{len(chunks)} chunks") as step:
            found = await self._reader.rerank_features(chunks, text, vector)
            step.found = len(found)
        return found


def _arrow(found: Relation) -> str:
    return f"{found.source_name} -> {found.target_name}"
