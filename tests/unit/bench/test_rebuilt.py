"""The published methods that Trueweave is measured beside: what they rank, on graphs small enough to work out by
hand."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import numpy as np
import pytest

from trueweave import Evidence, Filter, Passage
from trueweave.core.model_calls import TextRole
from trueweave.errors import ConfigError
from trueweave.extend import Method, Query, QueryContext, Vectors
from trueweave.types import Scored

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

import rebuilt
from rebuilt import Edges, Graph, HippoRag2Style, LinearRagStyle, Lists, PageRank

ADA, BABBAGE, ENGINE, LONDON = range(4)
VECTORS = {
    "Ada": (1.0, 0.0, 0.0, 0.0),
    "Babbage": (0.0, 1.0, 0.0, 0.0),
    "Engine": (0.0, 0.0, 1.0, 0.0),
    "London": (0.0, 0.0, 0.0, 1.0),
}


def edges(*triples: tuple[int, int, float]) -> Edges:
    a, b, weights = zip(*triples, strict=True) if triples else ((), (), ())
    return Edges(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64), np.array(weights, dtype=np.float64))


def rows(*some: Sequence[float]) -> Vectors:
    return np.array(some, dtype=np.float32).reshape(-1, 4)


def graph(**changed: Any) -> Graph:
    """Passage 0 is on Ada and Babbage, 1 on Babbage and the Engine, 2 on London. Each is one sentence."""
    passages = rows((0.8, 0.6, 0, 0), (0.1, 0.7, 0.7, 0), (0.1, 0, 0, 1))
    made = Graph(
        passages=tuple(UUID(int=n) for n in range(3)),
        passage_vectors=passages,
        names=tuple(VECTORS),
        entity_vectors=rows(*VECTORS.values()),
        contained=edges((0, ADA, 1), (0, BABBAGE, 1), (1, BABBAGE, 1), (1, ENGINE, 3), (2, LONDON, 1)),
        adjacent=edges(),
        facts=edges(),
        fact_vectors=rows(),
        told=(np.array([0, 0, 1, 1, 2]), np.array([ADA, BABBAGE, BABBAGE, ENGINE, LONDON])),
        sentence_vectors=passages,
    )
    return replace(made, **changed)


class Stub:
    """An index that knows the vectors of names, and of a question that is one of them and more."""

    async def embed(self, texts: Sequence[str], role: TextRole = "query") -> Vectors:
        return rows(*(next((v for name, v in VECTORS.items() if name in text), (0.5,) * 4) for text in texts))

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int) -> list[Passage]:
        return [Passage(one.item, "", "", "", 0, one.score) for one in chunks[:limit]]


async def found(method: Method, question: str, filter: Filter | None = None) -> list[int]:
    evidence: Evidence = await method.retrieve(Query(question, filter or Filter()), cast(QueryContext, Stub()))
    scores = [passage.score for passage in evidence.passages]
    assert scores == sorted(scores, reverse=True)
    return [passage.id.int for passage in evidence.passages]


@pytest.mark.parametrize("damping", [0.3, 0.5, 0.85])
def test_page_rank_is_the_solution_of_its_equation(damping: float) -> None:
    chance = np.random.default_rng(0)
    size, many = 40, 120
    some = Edges(chance.integers(0, size, many), chance.integers(0, size, many), chance.random(many) + 0.1)
    weights = np.zeros((size, size))
    np.add.at(weights, (some.a, some.b), some.weights)
    np.add.at(weights, (some.b, some.a), some.weights)
    shares = weights / np.maximum(weights.sum(axis=0), 1e-12)
    seeds = chance.random(size)
    exact = np.linalg.solve(np.eye(size) - damping * shares, (1 - damping) * seeds)
    assert PageRank(size, (some,)).ranks(seeds, damping) == pytest.approx(exact, abs=1e-6)


def test_what_has_no_edges_has_its_seed_alone() -> None:
    ranks = PageRank(3, (edges((0, 1, 1.0)),)).ranks(np.array([0.0, 0.0, 1.0]), 0.5)
    assert ranks == pytest.approx([0, 0, 0.5])


def test_lists_give_what_belongs_to_each_thing() -> None:
    lists = Lists(np.array([2, 0, 2]), np.array([7, 8, 9]), 4)
    assert [lists.of(n).tolist() for n in range(4)] == [[8], [], [7, 9], []]


def test_synonyms_are_those_similar_enough_without_names_of_two_letters() -> None:
    alike = graph(names=("Ada", "Adah", "Al", "London"), entity_vectors=rows(*[(1, 0, 0, 0)] * 3, (0, 0, 0, 1)))
    found = alike.synonyms(0.8)
    assert sorted(zip(found.a.tolist(), found.b.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert alike.synonyms(0.8) is found


@pytest.mark.parametrize("kind", [HippoRag2Style, LinearRagStyle])
class TestBoth:
    async def test_the_walk_goes_on_to_what_shares_an_entity(self, kind: type[Any]) -> None:
        assert await found(kind(graph()), "Who was Ada?") == [0, 1, 2]

    async def test_without_a_name_in_the_question_the_nearest_passages_are_found(self, kind: type[Any]) -> None:
        assert await found(kind(graph(), top_k=2), "who was it?") == [1, 0]

    async def test_a_filter_is_refused(self, kind: type[Any]) -> None:
        with pytest.raises(ConfigError, match="no filter"):
            await found(kind(graph()), "Who was Ada?", Filter(uris=("a",)))

    def test_what_it_depends_on_is_told_in_a_line(self, kind: type[Any]) -> None:
        told = repr(kind(graph()))
        assert told.startswith(f"{kind.__name__}(top_k=5, ")
        assert "vectors" not in told


async def test_facts_near_the_question_lead_to_their_ends() -> None:
    facts = edges((ENGINE, LONDON, 1.0), (ADA, BABBAGE, 1.0))
    with_facts = graph(facts=facts, fact_vectors=rows(VECTORS["Ada"], VECTORS["London"]))
    method = HippoRag2Style(with_facts, top_k=2, passage_node_weight=0.0)
    assert set(await found(method, "Who was Ada?")) == {1, 2}
    assert await found(replace(method, query_to_triple=False), "Who was Ada?") == [0, 1]


async def test_activation_goes_over_fitting_sentences_and_ends_below_the_threshold() -> None:
    method = LinearRagStyle(graph(), passage_node_weight=0.0, max_iterations=3)
    near = np.array([0.8, 0.6, 0.1], dtype=np.float32)
    weights, active = method._activated({ADA: 1.0}, near)
    assert weights == pytest.approx([1.8, 0.8 + 0.48, 0.48, 0])
    assert {entity: tier for entity, (_, tier) in active.items()} == {ADA: 2, BABBAGE: 3, ENGINE: 3}
    weights, _ = replace(method, max_iterations=2)._activated({ADA: 1.0}, near)
    assert weights == pytest.approx([1.8, 0.8, 0, 0])
    weights, _ = replace(method, iteration_threshold=0.9)._activated({ADA: 1.0}, near)
    assert weights == pytest.approx([1, 0, 0, 0])


def test_a_passage_gains_by_what_is_active_in_it() -> None:
    method = LinearRagStyle(graph())
    bonus = method._bonus({BABBAGE: rebuilt._Active(1.0, 1), ENGINE: rebuilt._Active(0.5, 2)})
    assert bonus == pytest.approx([np.log(2), np.log(2) + 0.25 * np.log(4), 0])
