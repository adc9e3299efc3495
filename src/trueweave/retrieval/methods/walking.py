"""A walk over chunks and the names that occur in them, starting from the question.

Mass starts at the chunks that fit the question best, by vector and by words, and at the chunks that the names in the
question lead to. It flows from chunks to their names, rarer ones first, and from names to chunks: far more to the chunk
that is about the name than to those that mention it, and more to chunks that fit the question. This is repeated a few
times, each time restarting in part. However large the corpus is, a step covers a bounded number of names and chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from typing import ClassVar, NamedTuple, TypeVar
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Query, Scored
from trueweave.core.protocols import Name, Reached, Scores, Vectors, WalkLimits
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.parameters import CHECKED

K = TypeVar("K")

_LIST_DEPTH = 100  # of the vector list and of the word list
_DENSE_WEIGHT = 0.7
_SEEDS = 20  # chunks of both lists at which the walk starts
_SEED_TEMPERATURE = 0.05
_FIRST_FRONTIER = 20
_SCALE = 0.3  # of the range of the vector list
_LEAST_SCALE = 0.01  # where all similarities are nearly equal


class Walked(NamedTuple):
    """The mass of each chunk at the end, how well each chunk of both lists fits by itself (0 to 1), the vector of the
    question without its names, and the chunk that is first in both lists, if one is."""

    mass: Scores
    seed: Scores
    asked: Vectors
    agreed: UUID | None


@dataclass(frozen=True, config=CHECKED)
class GraphWalk:
    """How a walk starts, proceeds and ends."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors"})

    top_k: int = Field(default=5, ge=1, le=100, description="How many passages to keep.")
    question_name_share: float = Field(
        default=0.6, ge=0, le=1, description="The share of the walk that starts at names in the question."
    )
    asked_share: float = Field(
        default=0.5, ge=0, le=1, description="How much a chunk on the way must match the question without its names."
    )
    damping: float = Field(
        default=0.7, ge=0, lt=1, description="The share of the mass that walks on; the rest restarts."
    )
    iterations: int = Field(default=3, ge=1, le=5, description="The number of steps of the walk.")
    frontier: int = Field(default=40, ge=1, le=200, description="How many chunks each step continues from.")
    max_names: int = Field(default=100, ge=1, le=1000, description="How many names each step passes through.")
    passages_per_name: int = Field(default=10, ge=1, le=100, description="How many chunks a name leads to.")
    df_cap: int = Field(default=100, ge=1, le=1000, description="A name in more chunks than this is common.")

    async def walk(self, query: Query, context: QueryContext) -> Walked:
        """Where the walk for a question ends."""
        return await self.walk_from(await context.walk.names_in(query.text), query, context)

    async def walk_from(self, names: Sequence[Name], query: Query, context: QueryContext) -> Walked:
        """The same, if the names in the question are known already."""
        vector, asked = await context.embed([query.text, _without(query.text, names)])
        near, matching = await context.walk.both_lists(query.text, vector, _LIST_DEPTH)
        seed = _mixed(_by_words(matching), _by_vector(near), _DENSE_WEIGHT)
        restart = normalised({id_: exp((s - 1) / _SEED_TEMPERATURE) for id_, s in best(seed, _SEEDS).items()})
        # A chunk on the way need not mention the names the walk began with: the rest of the question counts as well.
        looked_for = (1 - self.asked_share) * vector + self.asked_share * asked
        bounds = WalkLimits(
            similarity_scale=_scale(near),
            max_names=self.max_names,
            passages_per_name=self.passages_per_name,
            df_cap=self.df_cap,
        )
        pool = list(seed)
        if names:
            shares = normalised({name: 1 / name.chunks for name in {name.id: name for name in names}.values()})
            start = [Scored(name, share) for name, share in shares.items()]
            entry = _arrived(await context.walk.propagate(start, looked_for, pool, bounds))
            restart = _mixed(restart, normalised(entry), self.question_name_share) if entry else restart
        mass = restart
        for step in range(self.iterations):
            frontier = best(mass, self.frontier if step else _FIRST_FRONTIER)
            reached = await context.walk.propagate(frontier, looked_for, pool, bounds)
            mass = _mixed(restart, _arrived(reached), self.damping)
        return Walked(mass, seed, asked, next(iter(best(near, 1).keys() & best(matching, 1).keys()), None))


def best(weights: Mapping[UUID, float], most: int) -> Scores:
    """The `most` largest weights, largest first."""
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:most])


def normalised(weights: Mapping[K, float]) -> dict[K, float]:
    """The weights scaled to a sum of 1; empty if their sum is 0."""
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()} if total > 0 else {}


def _without(text: str, names: Sequence[Name]) -> str:
    """A question without the names in it; the whole question if nothing else is left."""
    left = list(text)
    for name in names:
        start, end = name.span
        left[start:end] = " " * (end - start)
    return " ".join("".join(left).split()) or text


def _scale(near: Scores) -> float:
    """The difference of similarity that matters here. Embedding models differ in how far apart their similarities are,
    so it follows from those of the nearest chunks."""
    return max(_SCALE * (max(near.values(), default=0.0) - min(near.values(), default=0.0)), _LEAST_SCALE)


def _by_vector(near: Scores) -> Scores:
    """Similarities, scaled so that the lowest is 0 and the highest is 1."""
    low, high = min(near.values(), default=0.0), max(near.values(), default=0.0)
    return {id_: (value - low) / (high - low + 1e-9) for id_, value in near.items()}


def _by_words(matching: Scores) -> Scores:
    """Scores, divided by the best."""
    top = max(matching.values(), default=0.0)
    return {id_: value / (top + 1e-9) for id_, value in matching.items()}


def _arrived(reached: Sequence[Reached]) -> Scores:
    """The mass that arrives at each chunk: each name divides its mass among the chunks it leads to."""
    totals: defaultdict[int, float] = defaultdict(float)
    for one in reached:
        totals[one.name] += one.weight
    arrived: defaultdict[UUID, float] = defaultdict(float)
    for one in reached:
        arrived[one.chunk] += one.mass * one.weight / totals[one.name]
    return dict(arrived)


def _mixed(a: Mapping[K, float], b: Mapping[K, float], share: float) -> dict[K, float]:
    """The weighted sum of both, with `share` for the second."""
    return {key: (1 - share) * a.get(key, 0.0) + share * b.get(key, 0.0) for key in {**a, **b}}
