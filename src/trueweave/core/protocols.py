"""The protocols that replaceable parts of Trueweave implement."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trueweave.core.answers import CheckStatus, Claim, Judgement
from trueweave.core.events import Refused, Skipped
from trueweave.core.evidence import Filter, Passage, Scored, Usage
from trueweave.core.graph import Entity, Finding, GraphVectors, Metric, Relation, VectorKind
from trueweave.core.model_calls import Call, Prompt, Purpose, Reply, TextRole
from trueweave.core.projections import ProjectedBatch, ProjectedKind, ProjectionCopy
from trueweave.core.record import Chunk, ChunkSizes, Extraction, Source, Span

T = TypeVar("T")
Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. (model, dimensions, metric) name its embedding space: everything that a vector depends
    on, including a prefix, is part of the model's name."""

    @property
    def model(self) -> str:
        """The name of the model, with everything else that its vectors depend on."""
        ...

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        ...

    @property
    def metric(self) -> Metric:
        """How vectors are compared."""
        ...

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order. Stored texts are embedded as documents, searched texts as queries; a model that
        does not distinguish them may ignore the role."""
        ...


class LLM(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """`provider/model`: the name under which it is priced, limited and cached."""
        ...

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply."""
        ...


class StreamingLLM(LLM, Protocol):
    """A chat model that streams its replies."""

    def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """The pieces of the reply as they arrive, and at the end the complete reply."""
        ...


class LangChainChatModel(Protocol):
    """A chat model of LangChain: any subclass of its `BaseChatModel`."""

    async def ainvoke(self, input: Any) -> Any:
        """The model's complete reply."""
        ...

    def astream(self, input: Any) -> AsyncIterator[Any]:
        """The pieces of the reply as they arrive."""
        ...


class LangChainEmbeddings(Protocol):
    """An embedding model of LangChain: any subclass of its `Embeddings`."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of stored texts."""
        ...

    async def aembed_query(self, text: str) -> list[float]:
        """The vector of a text that is searched."""
        ...


@runtime_checkable
class KeepsReplies(Protocol):
    """A chat model with a cache of replies, so that the same prompt is sent once."""

    async def forget(self, prompt: Prompt) -> None:
        """Remove the reply to this prompt from the cache."""
        ...


async def forget_reply(llm: LLM, prompt: Prompt) -> None:
    """Remove an unusable reply from the cache, so that the next caller gets another."""
    if isinstance(llm, KeepsReplies):
        await llm.forget(prompt)


class Reranker(Protocol):
    """Scores how well texts answer a question: a cross-encoder, or a language model."""

    @property
    def model(self) -> str: ...

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order. Higher is better; scores are only comparable within one question."""
        ...


class Entailment(NamedTuple):
    """The probabilities that one text implies another, is neutral to it, or contradicts it; they add up to 1."""

    entailed: float
    neutral: float
    contradicted: float


class EntailmentModel(Protocol):
    """Judges whether one text implies another: a natural language inference model."""

    @property
    def model(self) -> str: ...

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Entailment]:
        """One result per pair of a premise and a hypothesis, in order."""
        ...


class Verified(NamedTuple):
    """One judgement per claim, in order, and what they cost."""

    judgements: Sequence[Judgement]
    usage: Usage


class Verifier(Protocol):
    """Checks claims against the sentences of the passages that they cite."""

    @property
    def name(self) -> str:
        """Its name in settings and results."""
        ...

    @property
    def statuses(self) -> frozenset[CheckStatus]:
        """The statuses that it may return besides *not checked*. Any other counts as *not checked*."""
        ...

    async def verify(self, claims: Sequence[Claim]) -> Verified:
        """One judgement per claim. A TrueweaveError leaves all of these claims *not checked*."""
        ...


class Replies(Protocol):
    """Caches replies of models, by a key of the whole prompt."""

    async def ask(self, key: UUID) -> bytes | None:
        """The cached reply. None if the caller must call the model, and then `keep` or `forget`."""
        ...

    async def claim(self, keys: Sequence[UUID]) -> dict[UUID, bytes | None]:
        """The same for several keys, without waiting for other callers: replies that they are requesting now are
        missing."""
        ...

    async def keep(self, key: UUID, payload: bytes, purpose: Purpose) -> bytes:
        """Store a reply for this purpose; returns the stored one if another was first."""
        ...

    async def forget(self, *keys: UUID) -> None:
        """Release these keys: there is no reply."""
        ...

    async def drop(self, key: UUID) -> None:
        """Delete the reply."""
        ...


class Ledger(Protocol):
    """Reserves the maximum cost of a call, and books the actual cost afterwards."""

    async def reserve(self, call: Call) -> UUID:
        """Reserve the maximum cost of this call. BudgetReached if that is more than is left."""
        ...

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
        """Book the actual cost of the call."""
        ...

    async def release(self, id: UUID, *, charged: bool) -> None:
        """Release the reservation of a failed call. If it may have been `charged`, its maximum cost stays booked."""
        ...


class RateLimiter(Protocol):
    """Limits the rate of calls to a model, over all processes."""

    def acquire(self, tokens: int) -> AbstractAsyncContextManager[None]:
        """Entered when a call with this many tokens may start, left when it ends."""
        ...


class Chunker(Protocol):
    """Splits documents into chunks.

    Pass your own as `chunker=` to a workspace, or register it as an entry point in the group `trueweave.chunkers` under
    the name in the setting `chunker`: a class or function that returns it when called with an IngestContext.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies everything that its chunks depend on besides text and sizes. Change it when the chunks change."""
        ...

    async def chunk(self, source: Source, sizes: ChunkSizes) -> Sequence[Chunk]:
        """The document as chunks, in order: each an exact span of its text that is not blank."""
        ...


class Extractor(Protocol):
    """Finds entities and relations in chunks.

    Pass your own as `extractor=` to a workspace, or register it as an entry point in the group `trueweave.extractors`
    under the name in the setting `extractor`: a class or function that returns it when called with an IngestContext.
    """

    @property
    def fingerprint(self) -> str:
        """Identifies everything that its results depend on besides the text. Change it when the results change."""
        ...

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """The entities and relations of each of these chunks of the source, in order."""
        ...


class Loader(Protocol):
    """Reads files of some formats.

    Register it as an entry point in the group `trueweave.loaders`, under any name: a class or function that returns the
    loader when called without arguments. It takes precedence over the built-in loader for the same extension. `load` is
    called in a thread, so it may block.
    """

    @property
    def suffixes(self) -> frozenset[str]:
        """The extensions of the files that it reads, in lower case and with the dot, such as `.md` or `.jsonl.gz`."""
        ...

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        """The documents in a file, one at a time, those that cannot be used, and what is left out on purpose.

        A file that is one document has the given `uri`; each of several documents appends `#` and its name in the file,
        as in `data/a.csv#7`. An OSError, UnicodeDecodeError or `InvalidDocument` (such as `UnreadableFile`) makes this
        file unreadable; the others are still read. Any other error ends the run.
        """
        ...


# --- reading the index -------------------------------------------------------------------------------- A question is
# answered from readers, opened for it and bound to its filter: they only find what a document that passes the filter
# mentions. The results of a reader are bounded: an entity that is mentioned everywhere is followed only to its most
# relevant places. A call costs one statement, regardless of the number of ids.


class ChunkMention(NamedTuple):
    """A chunk that mentions an entity, and how many of the entity's neighbours it also mentions."""

    entity: UUID
    chunk: UUID
    neighbours: int


class Neighbourhood(NamedTuple, Generic[T]):
    """The neighbourhood of some entities: their relations (ids or whole), by the degree of both ends and by weight, and
    the chunks that mention them."""

    relations: list[T]
    mentions: list[ChunkMention]


class VectorSearch(Protocol):
    """Finds chunks, entities and relations by meaning.

    Its contract tests are `trueweave.testing.contracts.VectorSearchContract`.
    """

    async def check_space(self, embedder: Embedder) -> None:
        """Check that the vectors come from this model. NoVectors if there are none, SpaceMismatch for another model."""
        ...

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> list[list[Scored[UUID]]]:
        """For each vector the nearest items of a kind, nearest first. Scores are similarities."""
        ...

    async def rank(self, kind: VectorKind, ids: Sequence[UUID], vector: Vectors) -> list[Scored[UUID]]:
        """These items of a kind, each once, the nearest to a vector first; by exact similarity, ties by id. Items
        without a vector are left out."""
        ...


class TextSearch(Protocol):
    """Finds chunks by their words. Its contract tests are `trueweave.testing.contracts.TextSearchContract`."""

    async def matching(self, text: str, limit: int, *, k1: float, b: float) -> list[Scored[UUID]]:
        """The chunks that match the words of a text best, with their BM25 scores, best first."""
        ...


class GraphReader(Protocol):
    """Follows the connections between entities, relations and chunks.

    Unknown ids, and those that no document passing the filter mentions, return nothing. Its contract tests are
    `trueweave.testing.contracts.GraphReaderContract`.
    """

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
        """The relations of these entities, and for each followed entity up to `chunks` chunks that mention it, those
        with most of its neighbours."""
        ...

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        """The relations from or to these entities, over `hops` hops: nearer ones first, then stronger ones."""
        ...

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        ...

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        ...


class ReportFound(NamedTuple):
    """A report on a community of `size` entities. The score is its similarity to the question, if there is one, or
    how many of the given entities it covers."""

    id: UUID
    level: int
    size: int
    title: str
    summary: str
    rating: float
    findings: Sequence[Finding]
    stale: bool
    score: float


class RecordReader(Protocol):
    """Resolves ids: always from PostgreSQL, even if other stores serve the searches."""

    async def is_empty(self) -> bool:
        """Whether no document passes the filter."""
        ...

    async def documents(self) -> list[UUID] | None:
        """The ids of the documents that pass the filter, for a store that cannot filter itself; None if all do."""
        ...

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int) -> list[Passage]:
        """The first chunks of these ids with these scores, in that order, up to a number of different texts; removed
        chunks are left out. Pass more ids than needed: chunks with the same text become one passage."""
        ...

    async def entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The entities of these ids, in that order, without removed ones."""
        ...

    async def relations(self, ids: Sequence[UUID]) -> list[Relation]:
        """The relations of these ids, in that order, without removed ones."""
        ...

    async def mentioned(self, chunks: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a chunk and an entity that it mentions."""
        ...

    async def report_levels(self) -> list[int]:
        """The number of reports to read at each level of communities, from the outermost on: those of that level, and
        those of outer levels that are not divided further."""
        ...

    async def reports(self, level: int, limit: int, vector: Vectors | None) -> list[ReportFound]:
        """The reports to read at a level: those nearest to a vector, or without one, those on the largest
        communities."""
        ...

    async def reports_on(self, level: int, entities: Sequence[UUID], limit: int) -> list[ReportFound]:
        """The reports to read at a level on the communities that these entities are in: those with most of them, then
        those rated higher. Scores are the numbers of these entities."""
        ...


Scores = dict[UUID, float]


class Name(NamedTuple):
    """A name as written in texts, the number of chunks with it, and its position in the given text."""

    id: int
    name: str
    chunks: int
    span: Span


class Reached(NamedTuple):
    """A chunk that a name leads to: the mass of the name, and the weight of this chunk among those it leads to."""

    name: int
    mass: float
    chunk: UUID
    weight: float


class RerankFeatures(NamedTuple):
    """The features of a chunk for a question: its similarity to a vector, and its number of words.

    `shares` has a number for each word of the question that occurs in the documents: its share of their weight, or 0 if
    the chunk does not have it. `names` are those in the text, `about` is the one that the text is about.
    """

    chunk: UUID
    similarity: float
    words: int
    shares: Sequence[float]
    names: Sequence[int]
    about: int | None


@dataclass(frozen=True)
class WalkLimits:
    """How a walk goes from chunks to names and on to chunks, and how far. See methods/walking.py.

    A chunk on the way counts e times as much as one whose cosine to the vector is `similarity_scale` less.
    """

    similarity_scale: float
    mention_weight: float = 0.03
    max_tf: int = 3
    df_offset: float = 3.0
    names_per_passage: int = 40
    max_names: int = 100
    passages_per_name: int = 10
    df_cap: int = 100


class WalkReader(Protocol):
    """Names as they occur in texts, which only `walk`, `weave` and `auto` need."""

    async def subjects(self) -> float:
        """The share of chunks that are about a rare name; estimated from a sample if there are many."""
        ...

    async def names_in(self, text: str) -> list[Name]:
        """The names in a text that occur in some chunk: the longest at each position, and those inside them."""
        ...

    async def both_lists(self, text: str, vector: Vectors, limit: int) -> tuple[Scores, Scores]:
        """The chunks nearest to a vector with their similarity, and those that match a text with their score; chunks
        with the same text count once."""
        ...

    async def propagate(
        self, start: Sequence[Scored[Name]] | Scores, vector: Vectors, pool: Sequence[UUID], how: WalkLimits
    ) -> list[Reached]:
        """Which chunks receive the mass of names, or of the names in chunks, and in which shares. A name that is in too
        many chunks leads only to those that are about it, and to those in the pool.


        """
        ...

    async def rerank_features(self, chunks: Sequence[UUID], text: str, vector: Vectors) -> list[RerankFeatures]:
        """The features of these chunks, in order, for a question and its vector."""
        ...


@dataclass(frozen=True)
class Readers:
    """The readers of one question. `walk` is None if the stores have no index of names in texts. `is_restricted` tells
    whether the question is asked for a caller who does not see all documents; None if it is not asked for a caller.
    `graph_vectors` tells whether there are vectors of entities and relations; None if there are always."""

    vectors: VectorSearch
    text: TextSearch
    graph: GraphReader
    record: RecordReader
    walk: WalkReader | None = None
    is_restricted: Callable[[], Awaitable[bool]] | None = None
    graph_vectors: Callable[[], Awaitable[GraphVectors]] | None = None


ChangeReaders = Callable[[Readers, Filter], Readers]
"""Turns PostgreSQL's readers and the filter of a question into the readers for the question."""


# --- copies of the index in other stores --------------------------------------------------------------


FindCopy = Callable[[], Awaitable[str]]
"""Finds the copy that answers a question."""


class NameLookup(Protocol):
    """The current entities of names, for a store that keeps them with the chunks."""

    async def entities_of_names(self, names: Sequence[UUID]) -> dict[UUID, UUID]:
        """The entity of each of these names that has one."""
        ...


class ProjectionTarget(Protocol):
    """A store that holds copies of workspaces, as a projector sees it.

    All operations are idempotent. A write after another projector has advanced the copy is refused with StoreError, if
    the store can detect it.
    """

    @property
    def name(self) -> str:
        """`neo4j` or `chroma`."""
        ...

    @property
    def kinds(self) -> Sequence[ProjectedKind]:
        """The kinds of items that it holds, in the order in which they are copied."""
        ...

    @property
    def vector_kinds(self) -> Sequence[VectorKind]:
        """The kinds of items whose vectors it holds."""
        ...

    async def begin(self, copy: ProjectionCopy) -> None:
        """Create an empty copy; an existing copy is not changed."""
        ...

    async def position(self, copy: str) -> int | None:
        """The last change that is applied to a copy; -1 while it is being filled, None if there is no such copy."""
        ...

    async def write(self, copy: str, batch: ProjectedBatch, names: NameLookup, position: int) -> None:
        """Write a batch to a copy at this position, and delete removed items."""
        ...

    async def advance(self, copy: str, before: int, position: int) -> None:
        """Record that everything up to a position is written."""
        ...

    async def drop(self, copy: str) -> None:
        """Delete a copy."""
        ...

    def contents(self, copy: str, kind: ProjectedKind) -> AsyncIterator[dict[UUID, str]]:
        """The items of a kind in a copy, page by page: for each id a text of everything stored, for comparison."""
        ...

    def expected(self, batch: ProjectedBatch, kind: ProjectedKind) -> dict[UUID, str]:
        """The same for items of the record."""
        ...
