"""Contract tests for stores: suites to inherit from, each with one fixture to override.

    class TestMyGraph(GraphReaderContract):
        @pytest.fixture
        def open_graph(self, small_graph: SmallGraph) -> OpenGraph:
            ...  # copy the graph to the store, and return a function from a filter to a reader

`small_graph` is the graph of `trueweave.testing.small_graph` in a separate workspace. It needs a fixture `database`: an
open `Database` with Trueweave's schema.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from math import cos, radians
from uuid import UUID, uuid4

import pytest

from trueweave.core.errors import SpaceMismatch
from trueweave.core.evidence import Filter, Scored
from trueweave.core.protocols import GraphReader, TextSearch, VectorSearch
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.store.postgres.db import Database
from trueweave.testing.embedder import HashEmbedder
from trueweave.testing.small_graph import FIRST_HALF, NOBODY, SECOND_HALF, Angles, SmallGraph, add_small_graph, at

OpenVectors = Callable[[Filter], VectorSearch]
OpenText = Callable[[Filter], TextSearch]
OpenGraph = Callable[[Filter], GraphReader]

ALL = Filter()


class _OnSmallGraph:
    @pytest.fixture
    async def small_graph(self, database: Database) -> AsyncIterator[SmallGraph]:
        async with aclosing(await AsyncTrueweave.enter(database, "contract", Angles())) as trueweave:
            yield await add_small_graph(trueweave)


class VectorSearchContract(_OnSmallGraph):
    """The contract of a `VectorSearch`."""

    @pytest.fixture
    def open_vectors(self, small_graph: SmallGraph) -> OpenVectors:
        raise NotImplementedError("override open_vectors: it gives a function from a filter to a VectorSearch")

    async def test_the_nearest_come_first_with_their_similarities(
        self, small_graph: SmallGraph, open_vectors: OpenVectors
    ) -> None:
        [found] = await open_vectors(ALL).nearest("chunk", at(0), 3)
        assert _named(small_graph, found) == ["P8", "P7", "P6"]
        assert [one.score for one in found] == pytest.approx([1, cos(radians(10)), cos(radians(20))], abs=0.01)

    async def test_entities_and_relations_are_found_as_well(
        self, small_graph: SmallGraph, open_vectors: OpenVectors
    ) -> None:
        [entities] = await open_vectors(ALL).nearest("entity", at(0), 2)
        assert _named(small_graph, entities) == ["Ada", "Ben"]
        [relations] = await open_vectors(ALL).nearest("relation", at(0), 2)
        assert _named(small_graph, relations) == ["Ada -> Ben", "Dan -> Eve"]

    async def test_each_vector_has_a_list_of_its_own(self, small_graph: SmallGraph, open_vectors: OpenVectors) -> None:
        found = await open_vectors(ALL).nearest("entity", at(60, 0), 1)
        assert [_named(small_graph, some) for some in found] == [["Lou"], ["Ada"]]
        assert await open_vectors(ALL).nearest("entity", at(), 1) == []

    async def test_no_more_than_there_are(self, open_vectors: OpenVectors) -> None:
        [found] = await open_vectors(ALL).nearest("chunk", at(0), 100)
        assert len(found) == 8

    async def test_a_filter_leaves_what_its_documents_speak_of(
        self, small_graph: SmallGraph, open_vectors: OpenVectors
    ) -> None:
        [chunks] = await open_vectors(FIRST_HALF).nearest("chunk", at(0), 2)
        assert _named(small_graph, chunks) == ["P4", "P3"]
        [entities] = await open_vectors(SECOND_HALF).nearest("entity", at(0), 3)
        assert _named(small_graph, entities) == ["Ada", "Hal", "Ida"]
        [relations] = await open_vectors(SECOND_HALF).nearest("relation", at(0), 1)
        assert _named(small_graph, relations) == ["Hal -> Ida"]
        [chunks] = await open_vectors(Filter(uris=("P2", "P5"))).nearest("chunk", at(0), 3)
        assert _named(small_graph, chunks) == ["P5", "P2"]

    async def test_nothing_is_found_where_no_document_passes(self, open_vectors: OpenVectors) -> None:
        assert await open_vectors(NOBODY).nearest("chunk", at(0, 1), 3) == [[], []]

    async def test_things_by_their_ids_are_ranked_by_exact_similarity(
        self, small_graph: SmallGraph, open_vectors: OpenVectors
    ) -> None:
        vectors, [zero] = open_vectors(ALL), at(0)
        found = await vectors.rank("chunk", small_graph.of("P2", "P7", "P2", "P5"), zero)
        assert _named(small_graph, found) == ["P7", "P5", "P2"]
        assert [one.score for one in found] == pytest.approx([cos(radians(a)) for a in (10, 30, 60)], abs=0.01)
        assert _named(small_graph, await vectors.rank("entity", small_graph.of("Lou", "Ada"), zero)) == ["Ada", "Lou"]
        stated = await vectors.rank("relation", small_graph.of("Dan -> Eve", "Ada -> Ben"), zero)
        assert _named(small_graph, stated) == ["Ada -> Ben", "Dan -> Eve"]

    async def test_what_is_hidden_unknown_or_of_another_kind_is_not_ranked(
        self, small_graph: SmallGraph, open_vectors: OpenVectors
    ) -> None:
        [zero], chunks = at(0), small_graph.of("P2", "P7", "P5")
        assert _named(small_graph, await open_vectors(SECOND_HALF).rank("chunk", chunks, zero)) == ["P7", "P5"]
        people = small_graph.of("Ben", "Hal", "Ada")
        assert _named(small_graph, await open_vectors(SECOND_HALF).rank("entity", people, zero)) == ["Ada", "Hal"]
        assert await open_vectors(ALL).rank("chunk", [uuid4(), *people], zero) == []
        assert await open_vectors(ALL).rank("chunk", [], zero) == []
        assert await open_vectors(NOBODY).rank("chunk", chunks, zero) == []

    async def test_vectors_of_another_model_are_refused(self, open_vectors: OpenVectors) -> None:
        await open_vectors(ALL).check_space(Angles())
        with pytest.raises(SpaceMismatch):
            await open_vectors(ALL).check_space(HashEmbedder(2))


class TextSearchContract(_OnSmallGraph):
    """The contract of a `TextSearch`."""

    @pytest.fixture
    def open_text(self, small_graph: SmallGraph) -> OpenText:
        raise NotImplementedError("override open_text: it gives a function from a filter to a TextSearch")

    async def test_rare_words_count_more_than_common_ones(self, small_graph: SmallGraph, open_text: OpenText) -> None:
        found = await open_text(ALL).matching("What does P3 tell?", 2, k1=1.2, b=0.75)
        # idf(p3) = ln(1 + 7.5 / 1.5), idf(tell) = ln(1 + 0.5 / 8.5); each counts 1 / (1 + 1.2).
        assert _named(small_graph, found)[0] == "P3"
        assert found[0].score == pytest.approx((1.79 + 0.06) / 2.2, abs=0.01)

    async def test_words_that_no_text_has_find_nothing(self, open_text: OpenText) -> None:
        assert await open_text(ALL).matching("zebra", 5, k1=1.2, b=0.75) == []

    async def test_a_filter_leaves_its_documents(self, small_graph: SmallGraph, open_text: OpenText) -> None:
        found = await open_text(SECOND_HALF).matching("something", 10, k1=1.2, b=0.75)
        assert sorted(_named(small_graph, found)) == ["P5", "P6", "P7", "P8"]
        assert await open_text(NOBODY).matching("something", 10, k1=1.2, b=0.75) == []


class GraphReaderContract(_OnSmallGraph):
    """The contract of a `GraphReader`."""

    @pytest.fixture
    def open_graph(self, small_graph: SmallGraph) -> OpenGraph:
        raise NotImplementedError("override open_graph: it gives a function from a filter to a GraphReader")

    async def test_relations_come_by_the_degree_of_both_ends_and_by_weight(
        self, small_graph: SmallGraph, open_graph: OpenGraph
    ) -> None:
        found = await open_graph(ALL).around(small_graph.of("Ada", "Ben", "Cas", "Dan"), [], 5)
        # Degrees: Ada-Ben 3 + 2; Ben-Dan and Dan-Eve 2 + 2, Lou-Ada and Ada-Cas 1 + 3; weights 10, 6, 2, 1.
        expected = ["Ada -> Ben", "Dan -> Eve", "Ben -> Dan", "Lou -> Ada", "Ada -> Cas"]
        assert small_graph.named(found.relations) == expected
        assert found.mentions == []

    async def test_entities_that_are_followed_bring_the_chunks_with_most_of_their_neighbours(
        self, small_graph: SmallGraph, open_graph: OpenGraph
    ) -> None:
        found = await open_graph(ALL).around(small_graph.of("Ada", "Ben"), small_graph.of("Ada"), 2)
        told = [(*small_graph.named([one.entity, one.chunk]), one.neighbours) for one in found.mentions]
        assert sorted(told) == [("Ada", "P1", 2), ("Ada", "P8", 1)]

    async def test_a_neighbourhood_grows_by_hops_nearer_and_heavier_relations_first(
        self, small_graph: SmallGraph, open_graph: OpenGraph
    ) -> None:
        graph, [ada] = open_graph(ALL), small_graph.of("Ada")
        near = ["Ada -> Ben", "Lou -> Ada", "Ada -> Cas"]
        assert await graph.neighbourhood([ada], 0) == []
        assert small_graph.named(await graph.neighbourhood([ada], 1)) == near
        assert small_graph.named(await graph.neighbourhood([ada], 2)) == [*near, "Ben -> Dan"]
        assert small_graph.named(await graph.neighbourhood([ada], 3)) == [*near, "Ben -> Dan", "Dan -> Eve"]

    async def test_chunks_of_entities_and_of_relations(self, small_graph: SmallGraph, open_graph: OpenGraph) -> None:
        graph = open_graph(ALL)
        entities = await graph.chunks_of_entities(small_graph.of("Ada", "Kim"))
        assert _pairs(small_graph, entities) == [("Ada", "P1"), ("Ada", "P2"), ("Ada", "P8"), ("Kim", "P6")]
        relations = await graph.chunks_of_relations(small_graph.of("Dan -> Eve", "Hal -> Ida"))
        assert _pairs(small_graph, relations) == [("Dan -> Eve", "P2"), ("Dan -> Eve", "P4"), ("Hal -> Ida", "P5")]

    async def test_a_filter_leaves_what_its_documents_speak_of(
        self, small_graph: SmallGraph, open_graph: OpenGraph
    ) -> None:
        graph, [ada] = open_graph(SECOND_HALF), small_graph.of("Ada")
        assert small_graph.named(await graph.neighbourhood([ada], 2)) == ["Lou -> Ada"]
        assert _pairs(small_graph, await graph.chunks_of_entities([ada])) == [("Ada", "P8")]
        assert await graph.chunks_of_relations(small_graph.of("Dan -> Eve")) == []
        around = await graph.around([ada], [ada], 5)
        assert small_graph.named(around.relations) == ["Lou -> Ada"]
        assert [small_graph.named([one.chunk]) for one in around.mentions] == [["P8"]]

    async def test_nothing_comes_of_nothing_of_unknown_ids_or_where_no_document_passes(
        self, small_graph: SmallGraph, open_graph: OpenGraph
    ) -> None:
        for graph, ids in (
            (open_graph(ALL), []),
            (open_graph(ALL), [uuid4()]),
            (open_graph(NOBODY), small_graph.of("Ada")),
        ):
            assert await graph.around(ids, ids, 5) == ([], [])
            assert await graph.neighbourhood(ids, 2) == []
            assert await graph.chunks_of_entities(ids) == []
            assert await graph.chunks_of_relations(ids) == []


def _named(small_graph: SmallGraph, found: list[Scored[UUID]]) -> list[str]:
    return small_graph.named([one.item for one in found])


def _pairs(small_graph: SmallGraph, found: list[tuple[UUID, UUID]]) -> list[tuple[str, ...]]:
    return sorted(tuple(small_graph.named(pair)) for pair in found)
