"""`weave`: text, vectors and graph in one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.core.protocols import RerankFeatures
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.walking import GraphWalk, Walked, best

_PARTNERS = 10  # of the first chunks, that are combined with another
_NAMING = 5  # of those, that may name the subject of another


@dataclass(frozen=True, config=CHECKED)
class Weave(GraphWalk):
    """A walk from chunk to name to chunk, whose best chunks are then ranked by many features. No language model."""

    depth: int = Field(default=40, ge=1, le=200, description="How many chunks are rescored.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The best chunks. Candidates are chosen by ln(mass of the walk) + (0.7 * similarity + 0.3 * BM25), and then
        ranked by the weights below."""
        return await self.ranked(await self.walk(query, context), query, context)

    async def ranked(self, walked: Walked, query: Query, context: QueryContext) -> Evidence:
        """The best chunks of a walk."""
        everything = {**walked.mass, **walked.seed}
        likely = {id_: log(walked.mass.get(id_, 0.0) + 1e-6) + walked.seed.get(id_, 0.0) for id_ in everything}
        found = await context.walk.rerank_features(list(best(likely, self.depth)), query.text, walked.asked)
        score = {one.chunk: _score(one, found, walked) for one in found}
        ranked = [Scored(id_, value) for id_, value in best(score, self.depth).items()]
        return Evidence(tuple(await context.passages(ranked, self.top_k)))


def _score(one: RerankFeatures, found: Sequence[RerankFeatures], walked: Walked) -> float:
    """A score for how likely a chunk is to be one of those needed for the answer.

    The weights maximise the likelihood of the supporting passages of 200 training questions (from MuSiQue and HotpotQA)
    among the chunks that the walk finds for them. What a chunk alone has of the question has a negative weight because
    it is already included in what it has together with another.
    """
    others = [other for other in found[:_PARTNERS] if other is not one]
    joined = [other for other in others if one.about in other.names or other.about in one.names]
    return (
        0.76 * log(walked.mass.get(one.chunk, 0.0) + 1e-6)
        - 1.09 * walked.seed.get(one.chunk, 0.0)
        + 3.42 * one.similarity
        - 0.43 * log(1 + one.words)
        - 1.86 * sum(one.shares)
        + 8.15 * max((_together(one, other) for other in others), default=0.0)
        + 2.75 * max((_added(one, other) for other in joined), default=0.0)
        + 0.78 * any(one.about in other.names for other in others[:_NAMING])
    )


def _together(one: RerankFeatures, other: RerankFeatures) -> float:
    """How much of the question two chunks cover together."""
    return sum(map(max, one.shares, other.shares))


def _added(one: RerankFeatures, other: RerankFeatures) -> float:
    """How much of the question a chunk covers that another does not."""
    return sum(mine for mine, theirs in zip(one.shares, other.shares, strict=True) if not theirs)
