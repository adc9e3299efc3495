"""Methods made of other methods: fusing, reranking, cutting off, and asking something else."""

from __future__ import annotations

from asyncio import gather
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from trueweave.core.errors import ConfigError
from trueweave.core.evidence import Evidence, Passage, Query, Scored
from trueweave.core.model_calls import TextRole
from trueweave.retrieval.context import Method, QueryContext
from trueweave.retrieval.methods.keyword import Keyword
from trueweave.retrieval.methods.merge import gathered
from trueweave.retrieval.methods.naive import Naive
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class Fuse:
    """The passages that several methods agree on, fused by reciprocal ranks or by scores on a common scale."""

    parts: tuple[Method, ...] = Field(
        default=(Naive(top_k=50), Keyword(top_k=50)), min_length=1, description="The methods to fuse."
    )
    by: Literal["rrf", "score"] = Field(default="rrf", description="What is summed: 1 / (k + rank), or scaled scores.")
    k: float = Field(default=60, ge=0, description="For rrf: the larger, the less the first ranks stand out.")
    weights: tuple[float, ...] = Field(default=(), description="The weight of each part; equal weights if empty.")
    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")

    def __post_init__(self) -> None:
        if self.weights and len(self.weights) != len(self.parts):
            raise ValueError(f"there are {len(self.weights)} weights for {len(self.parts)} parts")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The passages with the highest sums, with everything else that the parts found."""
        return self.fused(await gather(*(part.retrieve(query, context) for part in self.parts)))

    def fused(self, found: Sequence[Evidence]) -> Evidence:
        """The same of what was found already, in the order of the parts."""
        sums: defaultdict[UUID, float] = defaultdict(float)
        passages: dict[UUID, Passage] = {}
        for evidence, weight in zip(found, self.weights or (1.0,) * len(found), strict=True):
            for passage, value in zip(evidence.passages, self._values(evidence.passages), strict=True):
                sums[passage.id] += weight * value
                passages.setdefault(passage.id, passage)
        ranked = sorted(sums, key=lambda id_: (-sums[id_], id_))[: self.top_k]
        return gathered(found, (replace(passages[id_], score=sums[id_]) for id_ in ranked))

    def _values(self, passages: Sequence[Passage]) -> list[float]:
        if self.by == "rrf":
            return [1 / (self.k + rank) for rank in range(1, len(passages) + 1)]
        scores = [passage.score for passage in passages]
        low, high = min(scores, default=0.0), max(scores, default=0.0)
        return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


@dataclass(frozen=True, config=CHECKED)
class Rerank:
    """A method's passages, reordered by a model that reads question and passage together."""

    part: Method = Field(default=Fuse(top_k=30), description="The method whose passages are reranked.")
    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The passages that the reranker puts first, with its scores."""
        if context.reranker is None:
            raise ConfigError(
                'no reranker is set. Set one in trueweave.toml, as in reranker = "llm" for the language model itself.'
            )
        evidence = await self.part.retrieve(query, context)
        scores = await context.reranker.score(query.text, [passage.text for passage in evidence.passages])
        scored = [replace(p, score=score) for p, score in zip(evidence.passages, scores, strict=True)]
        scored.sort(key=lambda passage: -passage.score)
        context.note("reranked", *(Scored(p.source, p.score) for p in scored))
        return replace(evidence, passages=tuple(scored[: self.top_k]))


@dataclass(frozen=True, config=CHECKED)
class Cutoff:
    """A method's passages down to a minimum score."""

    part: Method = Field(default=Fuse(top_k=30), description="The method whose passages are filtered.")
    min_score: float | None = Field(default=None, description="The lowest score.")
    min_share: float | None = Field(
        default=None, ge=0, le=1, description="The lowest share of the best score. If that is negative, only it passes."
    )
    top_k: int | None = Field(default=None, ge=1, description="How many passages to keep at most.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The remaining passages, in their order."""
        evidence = await self.part.retrieve(query, context)
        best = max((passage.score for passage in evidence.passages), default=0.0)
        bounds = [bound for bound in (self.min_score, self._share_of(best)) if bound is not None]
        kept = [passage for passage in evidence.passages if all(passage.score >= bound for bound in bounds)]
        reason = evidence.reason if kept or not evidence.passages else _why_nothing(max(bounds), best)
        return replace(evidence, passages=tuple(kept[: self.top_k]), reason=reason)

    def _share_of(self, best: float) -> float | None:
        """The lowest score by `min_share`. Scores of some methods, as those of weave, can all be negative."""
        return min(best, self.min_share * best) if self.min_share else None


@dataclass(frozen=True, config=CHECKED)
class Instead:
    """What a method finds for another text than the question."""

    text: str = Field(default="", description="The text to search with; the question if empty.")
    part: Method = Field(default=Fuse(), description="The method that searches.")
    role: TextRole = Field(default="query", description="Whether it is embedded as questions are, or as documents.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence for that text."""
        text = self.text or query.text
        if self.role == "document" and text != query.text:
            context.embed_as_document(text)
        return await self.part.retrieve(replace(query, text=text), context)


@dataclass(frozen=True, config=CHECKED)
class Each:
    """What a method finds for several texts, fused by reciprocal ranks."""

    texts: tuple[str, ...] = Field(default=(), description="The texts to search with; the question if empty.")
    part: Method = Field(default=Fuse(), description="The method that searches.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The passages that most texts have near the top: as many as were found for one of them."""
        asked = [Instead(text, self.part) for text in self.texts or (query.text,)]
        found = await gather(*(one.retrieve(query, context) for one in asked))
        most = max(len(evidence.passages) for evidence in found)
        return found[0] if len(found) == 1 else Fuse(parts=tuple(asked), top_k=max(most, 1)).fused(found)


def _why_nothing(bound: float, best: float) -> str:
    return f"no passage scores {bound:.3g} or more; the best has {best:.3g}. Lower min_score or min_share."


_HOW_MANY = ("top_k", "graph_top_k", "top_k_chunks")
_CHOICE = 6  # factor by which more passages are found, for a reranker to choose from


def reranked(method: Method) -> Rerank:
    """A method with reranking: it finds several times as many passages as before, and the original number is kept."""
    deeper, wanted = _deepened(method)
    return Rerank(part=deeper, top_k=wanted)


def _deepened(method: Any) -> tuple[Any, int]:
    """A method that finds more passages, and how many it found before; unchanged without such a parameter."""
    for name in _HOW_MANY:
        if isinstance(wanted := getattr(method, name, None), int):
            return _with(method, name, _CHOICE * wanted), wanted
    if isinstance(part := getattr(method, "part", None), Method):
        deeper_part, wanted = _deepened(part)
        return replace(method, part=deeper_part), wanted
    if isinstance(parts := getattr(method, "parts", None), tuple):
        deeper = [_deepened(part) for part in parts]
        return replace(method, parts=tuple(part for part, _ in deeper)), sum(wanted for _, wanted in deeper)
    return method, Rerank().top_k


def _with(method: Any, name: str, value: int) -> Any:
    """The method with another value; unchanged if the value is out of range, as it then finds many already."""
    try:
        return replace(method, **{name: value})
    except ValidationError:
        return method
