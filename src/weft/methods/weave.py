"""`weave`: text, vectors and graph in one ranking."""

from __future__ import annotations

from math import log

from pydantic import Field
from pydantic.dataclasses import dataclass

from weft.evidence import Evidence, Query, Scored
from weft.methods.parameters import CHECKED
from weft.methods.walking import Walked, Walking, best
from weft.protocols import Index, Weighed

_FIRST = 5  # chunks that may name what another is about


@dataclass(frozen=True, config=CHECKED)
class Weave(Walking):
    """A walk from chunk to name to chunk, and then all that can be known of the best chunks. No language model."""

    depth: int = Field(default=40, ge=1, le=200, description="How many chunks are weighed once more.")

    async def retrieve(self, query: Query, index: Index) -> Evidence:
        """The best chunks. The first are chosen by ln(mass of the walk) + (0.7 * similarity + 0.3 * BM25), and then put
        in order by the weights below."""
        walked = await self.walk(query, index)
        everything = {**walked.mass, **walked.seed}
        likely = {id_: log(walked.mass.get(id_, 0.0) + 1e-6) + walked.seed.get(id_, 0.0) for id_ in everything}
        chosen = list(best(likely, self.depth))
        found = await index.weighed(chosen, chosen[:_FIRST], query.text, walked.asked)
        score = {one.chunk: _score(one, walked) for one in found}
        ranked = [Scored(id_, value) for id_, value in best(score, self.top_k).items()]
        return Evidence(tuple(await index.passages(ranked)))


def _score(one: Weighed, walked: Walked) -> float:
    """How likely a chunk is one of those that it takes.

    The weights are those under which the supporting passages of 200 training questions (of MuSiQue and HotpotQA) are
    likeliest among the chunks that the walk finds for them.
    """
    mass, last = walked.mass.get(one.chunk, 0.0), walked.last.get(one.chunk, 0.0)
    return (
        0.32 * log(mass + 1e-6)
        + 0.37 * log(last + 1e-5)
        - 0.48 * walked.seed.get(one.chunk, 0.0)
        + 0.55 * walked.by_words.get(one.chunk, 0.0)
        + 3.33 * one.similarity
        + 0.49 * one.covered
        + 0.88 * one.linked
        - 0.36 * log(1 + one.words)
    )
