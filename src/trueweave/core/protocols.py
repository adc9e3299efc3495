"""The seams: what a part must do to take its place in Trueweave."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trueweave.core.answers import CheckStatus, Claim, Judgement
from trueweave.core.events import Refused
from trueweave.core.evidence import Filter, Passage, Scored, Usage
from trueweave.core.graph import Entity, Finding, Metric, Relation, VectorKind
from trueweave.core.model_calls import Call, Prompt, Purpose, Reply, TextRole
from trueweave.core.projections import ProjectedBatch, ProjectedKind, ProjectionCopy
from trueweave.core.record import Chunk, ChunkSizes, Extraction, Source, Span

T = TypeVar("T")
Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. (model, dimensions, metric) name its embedding space: all that a vector depends on, a
    prefix too, belongs to the name of the model."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def metric(self) -> Metric: ...

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order. What is stored is embedded as a document, what is looked for as a query; a model
        that makes no difference may ignore the role."""
        ...


class LLM(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """`provider/model`: the name under which it is priced, limited and cached."""
        ...

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's whole reply."""
        ...


class StreamingLLM(LLM, Protocol):
    """A chat model that can be listened to while it writes."""

    def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """The pieces of the reply as they come, and at the end the whole of it."""
        ...


@runtime_checkable
class KeepsReplies(Protocol):
    """A chat model whose replies are kept, so that it is asked the same once."""

    async def forget(self, prompt: Prompt) -> None:
        """Keep the reply to this no longer."""
        ...


async def forget_reply(llm: LLM, prompt: Prompt) -> None:
    """Let whoever asks this again have another reply: the one that came is of no use."""
    if isinstance(llm, KeepsReplies):
        await llm.forget(prompt)


class Reranker(Protocol):
    """Says how well texts answer a question: a cross-encoder, or a language model."""

    @property
    def model(self) -> str: ...

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order. More is better; only the order of scores for one question means anything."""
        ...


class Entailment(NamedTuple):
    """How sure a model is that one text implies another, that it does not say, or that it says otherwise; from 0 to 1,
    together 1."""

    entailed: float
    neutral: float
    contradicted: float


class EntailmentModel(Protocol):
    """Says whether one text implies another: a natural language inference model."""

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
        """How it is named in settings and results."""
        ...

    @property
    def statuses(self) -> frozenset[CheckStatus]:
        """The statuses that it can vouch for besides *not checked*. Any other that it gives counts as *not checked*."""
        ...

    async def verify(self, claims: Sequence[Claim]) -> Verified:
        """One judgement per claim. A TrueweaveError leaves all of these claims *not checked*."""
        ...


class Replies(Protocol):
    """Keeps what a model replied, by a key of all that it was asked."""

    async def ask(self, key: UUID) -> bytes | None:
        """The reply that is kept; None when the caller is to ask the model, and then to call `keep` or `forget`."""
        ...

    async def claim(self, keys: Sequence[UUID]) -> dict[UUID, bytes | None]:
        """The same for several keys, without waiting for others: what they are asking for just now is left out."""
        ...

    async def keep(self, key: UUID, payload: bytes, purpose: Purpose) -> bytes:
        """Keep a reply that was asked for to this purpose; the one that is kept, if another came first."""
        ...

    async def forget(self, *keys: UUID) -> None:
        """There is no reply to these after all."""
        ...

    async def drop(self, key: UUID) -> None:
        """Keep the reply no longer."""
        ...


class Ledger(Protocol):
    """Holds back what a call may cost before it is made, and books what it did cost."""

    async def reserve(self, call: Call) -> UUID:
        """Hold back the most that this call may cost; BudgetReached when that is more than is left."""
        ...

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
        """The call is made, and this is what it cost."""
        ...

    async def release(self, id: UUID, *, charged: bool) -> None:
        """The call brought nothing. Where it may have been `charged`, the most that it may have cost stays booked."""
        ...


class RateLimiter(Protocol):
    """Lets calls to a model go ahead no faster than was agreed, over all processes."""

    def acquire(self, tokens: int) -> AbstractAsyncContextManager[None]:
        """Entered when a call of so many tokens may be made, left when it is over."""
        ...


class Chunker(Protocol):
    """Cuts documents into chunks.

    One of a user's own is given as `chunker=` to a workspace, or found by entry point in the group `trueweave.chunkers`
    under the name that the setting `chunker` has: a class or function that gives it when called with an IngestContext.
    """

    @property
    def fingerprint(self) -> str:
        """All that its chunks depend on besides text and sizes: another fingerprint, other chunks."""
        ...

    async def chunk(self, source: Source, sizes: ChunkSizes) -> Sequence[Chunk]:
        """The document as chunks, in order: each an exact span of its text that is not blank."""
        ...


class Extractor(Protocol):
    """Finds entities and relations in chunks.

    One of a user's own is given as `extractor=` to a workspace, or found by entry point in the group
    `trueweave.extractors` under the name that the setting `extractor` has: a class or function that gives it when
    called with an IngestContext.
    """

    @property
    def fingerprint(self) -> str:
        """All that its findings depend on besides the text: another fingerprint, other findings."""
        ...

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """What is in each of these chunks of the source, in order."""
        ...


class Loader(Protocol):
    """Reads files of some formats.

    Found by entry point, in the group `trueweave.loaders`, under any name: a class or function that gives the loader
    when called without arguments. It takes precedence over one of Trueweave's own for the same ending. `load` is called
    in a thread, so it may block.
    """

    @property
    def suffixes(self) -> frozenset[str]:
        """The endings of the files that it reads, in lower case and with the dot, as in `.md` or `.jsonl.gz`."""
        ...

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused]:
        """The documents in a file, one at a time, and those that cannot be used.

        A file that is one document has the `uri` given; each of several adds `#` and what names it there, as in
        `data/a.csv#7`. An OSError, UnicodeDecodeError or `InvalidDocument` (such as `UnreadableFile`) makes this file
        unreadable, and the others are read all the same. Any other error ends the run.
        """
        ...


# --- reading the index --------------------------------------------------------------------------------
#
# A question is answered from readers, opened for it and bound to its filter: what no document that passes the filter
# speaks of is not found. What a reader gives is bounded, however much there is: a thing that is mentioned everywhere is
# followed to its most telling places only. A call costs one statement, however many ids go in.


class ChunkMention(NamedTuple):
    """A chunk that mentions an entity, and how many of the entity's neighbours it mentions as well."""

    entity: UUID
    chunk: UUID
    neighbours: int


class Neighbourhood(NamedTuple, Generic[T]):
    """What is next to some entities: their relations (by id, or as they are), by the degree of both ends and by weight,
    and the chunks that mention them."""

    relations: list[T]
    mentions: list[ChunkMention]


class VectorSearch(Protocol):
    """Finds chunks, entities and relations by meaning.

    Its suite is `trueweave.testing.contracts.VectorSearchContract`.
    """

    async def check_space(self, embedder: Embedder) -> None:
        """Pass if the vectors were made by this model. NoVectors where there are none, SpaceMismatch for another."""
        ...

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> list[list[Scored[UUID]]]:
        """For each vector the things of a kind nearest to it, nearest first. Scores are similarities."""
        ...

    async def rank(self, kind: VectorKind, ids: Sequence[UUID], vector: Vectors) -> list[Scored[UUID]]:
        """These things of a kind, each once, the nearest to a vector first; by exact similarity, and of equals by id.
        What has no vector is left out."""
        ...


class TextSearch(Protocol):
    """Finds chunks by their words. Its suite is `trueweave.testing.contracts.TextSearchContract`."""

    async def matching(self, text: str, limit: int, *, k1: float, b: float) -> list[Scored[UUID]]:
        """The chunks that match the words of a text best, with their BM25 scores, best first."""
        ...


class GraphReader(Protocol):
    """Follows entities, relations and chunks to one another.

    Ids that it does not know, and those that no document speaks of which passes the filter, bring nothing. Its suite is
    `trueweave.testing.contracts.GraphReaderContract`.
    """

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
        """The relations of these entities, and for each one that is followed so many chunks that mention it, those
        with most of its neighbours."""
        ...

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        """The relations that lead away from these entities, either way, over so many hops: nearer ones first, then
        heavier ones."""
        ...

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        ...

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        ...


class ReportFound(NamedTuple):
    """A report about a community of so many entities. The score says how near it is to a question, if one was put."""

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
    """Tells what is behind ids: PostgreSQL's part, whatever other stores serve the searches."""

    async def is_empty(self) -> bool:
        """Whether no document passes the filter."""
        ...

    async def documents(self) -> list[UUID] | None:
        """The documents that pass the filter, by id, for a store that cannot work that out; None where all do."""
        ...

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int) -> list[Passage]:
        """The first of the chunks of these ids with these scores, in that order: so many different texts, without those
        that are gone. So more ids than places are of use: several may have one text, which is one passage."""
        ...

    async def entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The entities of these ids, in that order, without those that are gone."""
        ...

    async def relations(self, ids: Sequence[UUID]) -> list[Relation]:
        """The relations of these ids, in that order, without those that are gone."""
        ...

    async def mentioned(self, chunks: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a chunk and an entity that it mentions."""
        ...

    async def report_levels(self) -> list[int]:
        """How many reports there are to read at each level of communities, from the outermost on: those of that level,
        and those further out that are not divided further."""
        ...

    async def reports(self, level: int, limit: int, vector: Vectors | None) -> list[ReportFound]:
        """The reports to read at a level: those nearest to a vector, or about the largest communities without one."""
        ...


Scores = dict[UUID, float]


class Name(NamedTuple):
    """A name as texts spell it, in how many chunks it occurs, and where it is in the text at hand."""

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
    """A chunk by what can be known of it beside a question: how near it is to a vector, and how many words it has.

    `shares` has a number for each word of the question that the documents know: its share of their weight, or 0 where
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
    """How a walk goes from chunks to names and on to chunks, and how far. See methods/walking.py."""

    mention_weight: float = 0.03
    max_tf: int = 3
    similarity_scale: float = 0.2
    df_offset: float = 3.0
    names_per_passage: int = 40
    max_names: int = 100
    passages_per_name: int = 10
    df_cap: int = 100


class WalkReader(Protocol):
    """Names as they occur in texts: what `walk`, `weave` and `auto` need, and no other method."""

    async def subjects(self) -> float:
        """Which share of the chunks is about a name that few others have; of a sample, where there are many."""
        ...

    async def names_in(self, text: str) -> list[Name]:
        """The names in a text that occur in some chunk: the longest at each place, and those inside of them."""
        ...

    async def both_lists(self, text: str, vector: Vectors, limit: int) -> tuple[Scores, Scores]:
        """The chunks nearest to a vector with their similarity, and those that match a text with their score; of chunks
        with the same text, one."""
        ...

    async def propagate(
        self, start: Sequence[Scored[Name]] | Scores, vector: Vectors, pool: Sequence[UUID], how: WalkLimits
    ) -> list[Reached]:
        """Where the mass of names, or of the names in chunks, goes: to which chunks, and how it is shared out there.

        A name that is in too many chunks leads to those that are about it, and to those in the pool.
        """
        ...

    async def rerank_features(self, chunks: Sequence[UUID], text: str, vector: Vectors) -> list[RerankFeatures]:
        """These chunks once more, in order, beside a question and a vector of what is asked."""
        ...


@dataclass(frozen=True)
class Readers:
    """What one question is answered from. `walk` is None where the stores do not know names as they occur in texts."""

    vectors: VectorSearch
    text: TextSearch
    graph: GraphReader
    record: RecordReader
    walk: WalkReader | None = None


ChangeReaders = Callable[[Readers, Filter], Readers]
"""From PostgreSQL's readers and the filter of a question to the readers that it is answered from."""


# --- copies of the index in other stores --------------------------------------------------------------


FindCopy = Callable[[], Awaitable[str]]
"""Finds the copy that answers a question."""


class NameLookup(Protocol):
    """What names belong to now, for a store that keeps this with the chunks."""

    async def entities_of_names(self, names: Sequence[UUID]) -> dict[UUID, UUID]:
        """The entity of each of these names that has one."""
        ...


class ProjectionTarget(Protocol):
    """A store that holds copies of workspaces, as a projector sees it.

    Everything may be done twice. A write that would follow one of another projector, which has come further meanwhile,
    is refused by StoreError where the store can tell.
    """

    @property
    def name(self) -> str:
        """`neo4j` or `chroma`."""
        ...

    @property
    def kinds(self) -> Sequence[ProjectedKind]:
        """The kinds of things that it holds, in the order in which a copy is made of them."""
        ...

    @property
    def vector_kinds(self) -> Sequence[VectorKind]:
        """The kinds of things whose vectors it holds."""
        ...

    async def begin(self, copy: ProjectionCopy) -> None:
        """Make room for a copy; one that is there already stays as it is."""
        ...

    async def position(self, copy: str) -> int | None:
        """The last change that is applied to a copy; -1 while it is being filled, None if there is no such copy."""
        ...

    async def write(self, copy: str, batch: ProjectedBatch, names: NameLookup, position: int) -> None:
        """Write a batch to a copy that is at this position, and take out of it what is gone."""
        ...

    async def advance(self, copy: str, before: int, position: int) -> None:
        """All up to a position is written."""
        ...

    async def drop(self, copy: str) -> None:
        """Take a copy away."""
        ...

    def contents(self, copy: str, kind: ProjectedKind) -> AsyncIterator[dict[UUID, str]]:
        """What a copy has of a kind, page by page: for each id a text of all that is stored, to be compared."""
        ...

    def expected(self, batch: ProjectedBatch, kind: ProjectedKind) -> dict[UUID, str]:
        """The same for things as the record has them."""
        ...
