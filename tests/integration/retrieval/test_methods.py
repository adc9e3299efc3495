"""Each method on the small graph of `trueweave.testing.small_graph`, worked out by hand. The keyword, theme or
question of a test is at 0 degrees."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Filter, Link
from trueweave.core.model_calls import Purpose
from trueweave.extend import Database, Method, Prompt, Reply
from trueweave.methods import (
    Fuse,
    Global,
    GraphRag,
    Guess,
    HippoRag,
    Hybrid,
    Keyword,
    LinearRag,
    Local,
    Mix,
    Naive,
    PathRag,
    Subgraph,
)
from trueweave.testing.small_graph import SAID, Angles, document


@dataclass
class Scripted:
    """A model that has its answers by heart, by what it is asked for."""

    answers: dict[str, str]
    model: str = "testing/scripted"
    asked: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.asked.append(prompt)
        return Reply(self.answers[purpose.stage], 10, 5)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


@pytest.fixture
async def graph(database: Database) -> AsyncTrueweave:
    keywords = json.dumps({"low_level": ["first"], "high_level": ["theme"]})
    trueweave = await AsyncTrueweave.enter(
        database, "test", Angles(), llm=Scripted({"keywords": keywords, "guess": "P6 guessed"})
    )
    await trueweave.add_documents(map(document, SAID))
    return trueweave


def ranking(evidence: Evidence) -> dict[str, float]:
    return {passage.uri: round(passage.score, 2) for passage in evidence.passages}


async def found(trueweave: AsyncTrueweave, method: Method, question: str = "question") -> dict[str, float]:
    return ranking(await trueweave.retrieve(question, method))


async def test_naive_ranks_chunks_by_their_similarity_to_the_question(graph: AsyncTrueweave) -> None:
    # P8 is at 0 degrees, P7 at 10, P6 at 20.
    assert await found(graph, Naive(top_k=3)) == {"P8": 1.0, "P7": 0.98, "P6": 0.94}


async def test_keyword_ranks_chunks_by_bm25(graph: AsyncTrueweave) -> None:
    # Every chunk has four words of which "tell", "someth" are left: "tell" is in all 8, "p3" in one alone.
    # idf(p3) = ln(1 + 7.5 / 1.5) = 1.79, idf(tell) = ln(1 + 0.5 / 8.5) = 0.06; each counts 1 / (1 + 1.2).
    scores = await found(graph, Keyword(top_k=2), "What does P3 tell?")
    assert next(iter(scores)) == "P3"
    assert scores["P3"] == pytest.approx((1.79 + 0.06) / 2.2, abs=0.01)


async def test_local_ranks_the_chunks_of_entities_by_similarity_to_the_question(graph: AsyncTrueweave) -> None:
    # Ada, cos 5 = 0.996, is in P1, P2 and P8; Ben, cos 10 = 0.985, in P1 and P3.
    #      chunk  entity  chunk + 0.4 entity
    # P8   1.000  0.996   1.40
    # P3   0.643  0.985   1.04
    # P2   0.500  0.996   0.90
    # P1   0.342  0.996   0.74
    assert await found(graph, Local(keywords_top_k=2)) == {"P8": 1.4, "P3": 1.04, "P2": 0.9, "P1": 0.74}
    # Where entities count for nothing, and all are found, it is what `naive` finds.
    assert await found(graph, Local(graph_top_k=3, entity_weight=0)) == await found(graph, Naive(top_k=3))


async def test_local_by_order_lets_better_connected_chunks_overtake(graph: AsyncTrueweave) -> None:
    # (order of the entity, neighbours of it in the chunk): Ada brings P1 (0, 2), P8 (0, 1), P2 (0, 0); Ben brings
    # P1 (1, 1), P3 (1, 1). Within one rank, P3 overtakes P2.
    assert list(await found(graph, Local(graph_top_k=3, pick="order", order_range=1))) == ["P1", "P8", "P3"]
    assert list(await found(graph, Local(graph_top_k=3, pick="order", order_range=0))) == ["P1", "P8", "P2"]


async def test_local_brings_entities_by_degree_and_their_relations_by_degree_and_weight(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", Local(keywords_top_k=4, graph_top_k=1))
    assert [e.name for e in evidence.entities][:1] == ["Ada"]  # 3 relations; Ben and Dan have 2, Cas 1
    assert {e.name for e in evidence.entities} == {"Ada", "Ben", "Cas", "Dan"}
    # Degrees of both ends: Ada-Ben 5; then Ben-Dan and Dan-Eve 4, Ada-Lou and Ada-Cas 4, by weights 10, 6, 2, 1.
    named = [(r.source_name, r.target_name) for r in evidence.relations]
    assert named == [("Ada", "Ben"), ("Dan", "Eve"), ("Ben", "Dan"), ("Lou", "Ada"), ("Ada", "Cas")]


async def test_global_ranks_the_chunks_of_relations_and_their_ends_by_similarity(graph: AsyncTrueweave) -> None:
    # Ada-Ben, cos 5 = 0.996, is stated in P1, and its ends are in P2, P3 and P8 as well; Dan-Eve, cos 10 = 0.985, is
    # stated in P2 and P4, and its ends are in P3, too. Each chunk counts with the nearest relation that brings it.
    #      chunk  relation  chunk + 0.7 relation
    # P8   1.000  0.996     1.70
    # P4   0.766  0.985     1.46
    # P3   0.643  0.996     1.34
    # P2   0.500  0.996     1.20
    # P1   0.342  0.996     1.04
    scores = await found(graph, Global(keywords_top_k=2, followed=2))
    assert scores == {"P8": 1.7, "P4": 1.46, "P3": 1.34, "P2": 1.2, "P1": 1.04}


async def test_global_follows_more_relations_than_it_brings(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", Global(keywords_top_k=1, followed=2))
    assert [r.description for r in evidence.relations] == ["founded"]
    assert "P4" in {passage.uri for passage in evidence.passages}, "which is of the second alone"


async def test_global_brings_relations_by_the_degree_of_both_ends_and_weight(graph: AsyncTrueweave) -> None:
    # Degrees: Ada-Ben 3 + 2; Dan-Eve, Ben-Dan and Eve-Fay 2 + 2, with weights 10, 6 and 2.
    evidence = await graph.retrieve("question", Global(keywords_top_k=4))
    assert [r.description for r in evidence.relations] == ["founded", "wrote to", "hired", "met"]
    assert [e.name for e in evidence.entities] == ["Ada", "Ben", "Dan", "Eve", "Fay"]


async def test_global_by_order_ranks_chunks_by_importance(graph: AsyncTrueweave) -> None:
    # Ranks: Ada-Ben 0, Dan-Eve 1, Eve-Fay 2, Ben-Dan 3; weights 4, 10, 2, 6. P4 states Dan-Eve and Eve-Fay.
    #      order  weight  0.7 (1 - order / 3) + 0.3 weight / 10
    # P1   0      4       0.82
    # P2   1      10      0.77
    # P4   1.5    6       0.53
    # P3   3      6       0.18
    scores = await found(graph, Global(keywords_top_k=4, pick="order"))
    assert scores == {"P1": 0.82, "P2": 0.77, "P4": 0.53, "P3": 0.18}


async def test_global_by_order_with_a_single_relation_divides_by_nothing(graph: AsyncTrueweave) -> None:
    assert await found(graph, Global(keywords_top_k=1, pick="order")) == {"P1": 1.0}


async def test_hybrid_takes_from_local_and_global_in_turn(graph: AsyncTrueweave) -> None:
    parts = (Local(graph_top_k=3, pick="order", order_range=1), Global(keywords_top_k=4, pick="order"))
    evidence = await graph.retrieve("question", Hybrid(parts=parts))
    assert [p.uri for p in evidence.passages] == ["P1", "P8", "P2", "P3", "P4"]
    assert len({e.id for e in evidence.entities}) == len(evidence.entities)
    assert evidence.trace.usage.calls == 1  # both parts use the same keywords


async def test_mix_takes_from_naive_local_and_global_in_turn(graph: AsyncTrueweave) -> None:
    # naive: P8, P7; local by Ada and Ben: P8, P3; global by Ada-Ben and Dan-Eve: P8, P4.
    parts = (Naive(top_k=2), Local(keywords_top_k=2, graph_top_k=2), Global(keywords_top_k=2, graph_top_k=2))
    evidence = await graph.retrieve("question", Mix(parts=parts))
    assert [p.uri for p in evidence.passages] == ["P8", "P7", "P3", "P4"]
    assert evidence.trace.usage.calls == 1


async def test_hipporag_ranks_chunks_by_pagerank_from_entities_and_near_chunks(graph: AsyncTrueweave) -> None:
    # With a threshold of 0.99, Ada alone is linked. Without hops and with no weight for chunks by themselves, all that
    # her chunks have walks there from her, and back, and is shared out evenly.
    bare = HippoRag(linking_threshold=0.99, max_hops=0, passage_node_weight=0, top_k=3)
    evidence = await graph.retrieve("question", bare)
    assert {p.uri for p in evidence.passages} == {"P1", "P2", "P8"}
    assert len({round(p.score, 6) for p in evidence.passages}) == 1
    assert [e.name for e in evidence.entities] == ["Ada"]
    # Nearness to the question decides between them, and a chunk that is only near comes behind.
    faint = HippoRag(linking_threshold=0.99, max_hops=0, passage_node_weight=0.001, top_k=4)
    assert list(await found(graph, faint)) == ["P8", "P2", "P1", "P7"]
    # Where nothing is linked, it is what `naive` finds.
    nothing = HippoRag(linking_threshold=1.0, top_k=3)
    assert list(await found(graph, nothing)) == ["P8", "P7", "P6"]


async def test_linearrag_goes_on_over_statements_that_fit_the_question(graph: AsyncTrueweave) -> None:
    # Ada is linked, and stated beside Lou in P8 (at 0 degrees), Ben and Cas in P1 (at 70). 0.996 * 1 reaches Lou, and
    # 0.996 * 0.34 neither Ben nor Cas.
    method = LinearRag(linking_threshold=0.99, iteration_threshold=0.5, max_iterations=2, top_k=3)
    evidence = await graph.retrieve("question", method)
    assert [(r.source_name, r.target_name) for r in evidence.relations] == [("Lou", "Ada")]
    assert evidence.passages[0].uri == "P8"
    nothing = LinearRag(linking_threshold=1.0, top_k=3)
    assert list(await found(graph, nothing)) == ["P8", "P7", "P6"]


def chains(evidence: Evidence) -> list[str]:
    return [" - ".join(path.names) for path in evidence.paths]


async def test_pathrag_ranks_paths_by_the_resources_that_reach_their_entities(graph: AsyncTrueweave) -> None:
    # Ada, Ben, Cas and Dan are found; they have 3, 2, 1 and 2 relations. With alpha = 0.8:
    # From Cas: Ada 0.8, Ben 0.8 * 0.8/3 = 0.2133, Dan 0.8 * 0.2133/2 = 0.0853.
    # From Ben: Ada 0.4, Dan 0.4, Cas 0.8 * 0.4/3 = 0.1067. From Ada: Ben 0.2667, Cas 0.2667, Dan 0.1067.
    # From Dan: Ben 0.4, Ada 0.8 * 0.4/2 = 0.16, Cas 0.8 * 0.16/3 = 0.0427.
    # Each path is kept from its better end, such as Cas - Ada (1 + 0.8) / 1, and not Ada - Cas (1 + 0.2667) / 1.
    evidence = await graph.retrieve("question", PathRag(nodes=4))
    expected = {
        "Cas - Ada": 1.8,  # (1 + 0.8) / 1
        "Ben - Ada": 1.4,
        "Ben - Dan": 1.4,
        "Cas - Ada - Ben": 1.0067,  # (1 + 0.8 + 0.2133) / 2
        "Dan - Ben - Ada": 0.78,  # (1 + 0.4 + 0.16) / 2
    }
    [noted] = [step for step in evidence.trace.steps if step.what == "paths"]  # the best five
    assert {one.item: round(one.score, 4) for one in noted.best} == expected
    assert chains(evidence)[3:] == [*list(expected)[3:], "Cas - Ada - Ben - Dan"]
    assert [r.description for r in evidence.paths[5].relations] == ["knows", "founded", "hired"]
    assert {e.name for e in evidence.entities} == {"Ada", "Ben", "Cas", "Dan"}
    assert {r.description for r in evidence.relations} == {"founded", "knows", "hired"}


async def test_pathrag_puts_the_most_reliable_path_last_in_the_prompt(graph: AsyncTrueweave) -> None:
    context = (await graph.ask("question", PathRag(nodes=4), context_only=True)).context
    least, most = "Cas <-[knows]- Ada -[founded]-> Ben -[hired]-> Dan", "\nCas <-[knows]- Ada\n"
    assert 0 < context.index("Paths") < context.index(least) < context.index(most) < context.index("Passages")


async def test_pathrag_follows_an_entity_no_further_with_too_little_for_each_relation(graph: AsyncTrueweave) -> None:
    # On its way from Cas to Dan, the resource goes by Ben, who has 0.2133 / 2 = 0.1067 for each of his relations. From
    # Dan to Cas it goes by Ada, who has 0.16 / 3 = 0.0533.
    at = {theta: await graph.retrieve("question", PathRag(nodes=4, theta=theta)) for theta in (0.1, 0.11, 0.14, 0.21)}
    longer = {theta: chains(evidence)[3:] for theta, evidence in at.items()}
    assert longer[0.1] == ["Cas - Ada - Ben", "Dan - Ben - Ada", "Cas - Ada - Ben - Dan"]
    # From Cas by Ada there is 0.8 / 3 = 0.2667 for each; from Dan by Ben, 0.4 / 2 = 0.2.
    assert longer[0.11] == longer[0.14] == ["Cas - Ada - Ben", "Dan - Ben - Ada"]
    assert longer[0.21] == ["Cas - Ada - Ben"]


async def test_pathrag_keeps_as_many_paths_of_as_many_hops_as_wanted(graph: AsyncTrueweave) -> None:
    few = await graph.retrieve("question", PathRag(nodes=4, paths=1))
    assert [path.names for path in few.paths] == [("Cas", "Ada")]
    short = await graph.retrieve("question", PathRag(nodes=4, max_hops=2))
    assert max(len(path.relations) for path in short.paths) == 2


async def test_pathrag_ranks_chunks_of_entities_and_those_that_state_paths_above(graph: AsyncTrueweave) -> None:
    # P1 states Ada - Cas, 1.8, and is at 70 degrees; P3 states Ben - Dan, 1.4, and is at 50. The others mention Ada,
    # Cas or Dan: P8 at 0 degrees, P4 at 40, P2 at 60.
    bare = {"P8": 1.0, "P4": 0.77, "P3": 0.64, "P2": 0.5, "P1": 0.34}
    assert await found(graph, PathRag(nodes=4, path_weight=0)) == bare
    assert await found(graph, PathRag(nodes=4, path_weight=1)) == bare | {"P1": 2.14, "P3": 2.04}
    assert list(await found(graph, PathRag(nodes=4, path_weight=1, top_k=2))) == ["P1", "P3"]


async def test_pathrag_finds_chunks_of_entities_if_nothing_connects_them(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", PathRag(nodes=4, theta=1.01))
    assert not evidence.paths
    assert list(ranking(evidence)) == ["P8", "P4", "P3", "P2", "P1"]
    assert {e.name for e in evidence.entities} == {"Ada", "Ben", "Cas", "Dan"}


async def test_graphrag_ranks_chunks_by_their_nearest_entity_and_its_relations_in_them(graph: AsyncTrueweave) -> None:
    # Ada, Ben, Cas and Dan are chosen, in that order. Ada is in P1 with 2 of her relations, in P8 with 1 and in P2 with
    # none; Ben brings P3, and Cas P4. Dan is in chunks that have come already.
    evidence = await graph.retrieve("question", GraphRag(top_k_entities=2))
    assert ranking(evidence) == {"P1": 1.0, "P8": 0.5, "P2": 0.33, "P3": 0.25, "P4": 0.2}
    assert [e.name for e in evidence.entities] == ["Ada", "Ben", "Cas", "Dan"]
    exact = await graph.retrieve("question", GraphRag(top_k_entities=2, oversample=1))
    assert [e.name for e in exact.entities] == ["Ada", "Ben"]
    assert list(ranking(exact)) == ["P1", "P8", "P2", "P3"]


async def test_graphrag_takes_relations_between_chosen_entities_first_then_shared_ones(graph: AsyncTrueweave) -> None:
    chunk = Chunk("P9 tells of something.", links=(Link("Lou", "Dan", "paid", strength=1),))
    await graph.add_documents([Document("P9", (chunk,))])
    evidence = await graph.retrieve("question", GraphRag(top_k_entities=4, oversample=1))
    named = [(r.source_name, r.target_name) for r in evidence.relations]
    # Between chosen ones, by degree: 3 + 2, 2 + 3, 3 + 1. Of the others, Lou is connected to Ada and to Dan, Eve to Dan
    # alone: she comes last, with as many relations (3 + 2) and more weight (10, against 2 and 1).
    inside = [("Ada", "Ben"), ("Ben", "Dan"), ("Ada", "Cas")]
    assert set(named[:2]) == set(inside[:2])
    assert named[2:] == [inside[2], ("Lou", "Ada"), ("Lou", "Dan"), ("Dan", "Eve")]
    none = await graph.retrieve("question", GraphRag(top_k_entities=4, oversample=1, top_k_relationships=0))
    assert {(r.source_name, r.target_name) for r in none.relations} == set(inside)


async def test_graphrag_without_reports_says_so_in_its_trace(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", GraphRag())
    assert not evidence.reports
    assert [step.what for step in evidence.trace.steps if "communities build" in step.what]


async def test_subgraph_scores_chunks_by_the_relevant_entities_in_them(graph: AsyncTrueweave) -> None:
    # Above 0.97 are Ada, cos 5 = 0.996, and Ben, cos 10 = 0.985.
    # P1 has both: 0.4 * 2/2 + 0.6 * 0.990 = 0.99; P2 and P8 have Ada: 0.4 * 1/2 + 0.6 * 0.996 = 0.80;
    # P3 has Ben: 0.2 + 0.6 * 0.985 = 0.79; P4 has their neighbours Cas and Dan alone: 0.
    evidence = await graph.retrieve("question", Subgraph(similarity_threshold=0.97, text_weight=0))
    assert ranking(evidence) == {"P1": 0.99, "P2": 0.8, "P8": 0.8, "P3": 0.79, "P4": 0.0}
    assert [e.name for e in evidence.entities] == ["Ada", "Ben"]
    assert [path.names for path in evidence.paths] == [("Ada", "Ben")]
    assert {r.description for r in evidence.relations} == {"founded", "knows", "hired", "taught"}


async def test_subgraph_writes_out_paths_over_what_lies_between(graph: AsyncTrueweave) -> None:
    # Above 0.93 are Ada, Ben, Cas (cos 15 = 0.966) and Dan (cos 20 = 0.940).
    evidence = await graph.retrieve("question", Subgraph(similarity_threshold=0.93, text_weight=0))
    between = {path.names for path in evidence.paths}
    assert between == {("Ada", "Ben"), ("Ada", "Cas"), ("Ben", "Dan"), ("Ada", "Ben", "Dan"), ("Ben", "Ada", "Cas")}
    assert [len(path.relations) for path in evidence.paths] == [1, 1, 1, 2, 2]


async def test_subgraph_without_a_threshold_takes_what_stands_out(graph: AsyncTrueweave) -> None:
    # Over all twelve the mean of the cosines is 0.83 and their deviation 0.15: above 0.98 are Ada and Ben.
    evidence = await graph.retrieve("question", Subgraph(similarity_threshold=None, text_weight=0))
    assert [e.name for e in evidence.entities] == ["Ada", "Ben"]


async def test_subgraph_says_how_near_the_best_came_when_nothing_is_near_enough(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", Subgraph(similarity_threshold=1.0, text_weight=0))
    assert not evidence
    [threshold] = [step for step in evidence.trace.steps if step.what == "threshold of similarity"]
    assert [(s.item, round(s.score, 2)) for s in threshold.best] == [("least", 1.0), ("best", 1.0)]


async def test_guess_searches_with_a_passage_made_up_from_the_strongest_facts(graph: AsyncTrueweave) -> None:
    evidence = await graph.retrieve("question", Guess(entities_top_k=2, relations_top_k=2, top_k=3))
    # The guess is at 20 degrees, where P6 is; P7 and P5 are 10 away on either side.
    assert next(iter(ranking(evidence))) == "P6"
    assert set(ranking(evidence)) == {"P6", "P7", "P5"}
    assert "guessed" not in repr(evidence.passages)
    # Dan-Eve is stated twice, all others once, with the same emphasis.
    assert [e.name for e in evidence.entities] == ["Ada", "Ben"]
    assert evidence.relations[0].description == "wrote to"
    scripted = graph._core.llm
    assert isinstance(scripted, Scripted)
    assert "Dan -> Eve: wrote to" in scripted.asked[-1].messages[-1].content


async def test_guess_tells_of_each_entity_its_strongest_relations(graph: AsyncTrueweave) -> None:
    # One relation of those like the keyword, Ada-Ben; then one of each entity, the strongest by how often it is stated
    # and of equals the first id: of Ada, of Ben, of Cas and of Dan.
    evidence = await graph.retrieve("question", Guess(entities_top_k=4, relations_each=1))
    assert [e.name for e in evidence.entities] == ["Ada", "Ben", "Cas", "Dan"]
    ends = [{r.source_name, r.target_name} for r in evidence.relations]
    assert {"Dan", "Eve"} in ends  # stated twice
    assert all(any(name in pair for pair in ends) for name in ("Ada", "Ben", "Cas", "Dan"))
    assert len(ends) <= 5


async def test_fuse_adds_up_reciprocal_ranks(graph: AsyncTrueweave) -> None:
    parts = (Naive(top_k=3), Global(keywords_top_k=4, graph_top_k=2, pick="order"))
    scores = await found(graph, Fuse(parts=parts, k=1, top_k=10))
    # naive: P8, P7, P6; global: P1, P2. 1 / (1 + rank) each.
    assert scores == {"P1": 0.5, "P8": 0.5, "P2": 0.33, "P7": 0.33, "P6": 0.25}


SINGLE = [Naive(), Keyword(), Local(), Global(), Subgraph(), Subgraph(text_weight=0), Guess(), HippoRag()]
BY_ORDER = [Local(pick="order"), Global(pick="order")]


@pytest.mark.parametrize("method", [*SINGLE, *BY_ORDER, Hybrid(), Mix(), Fuse(), LinearRag(), PathRag(), GraphRag()])
async def test_a_filter_holds_for_all_that_is_found_and_told(graph: AsyncTrueweave, method: Method) -> None:
    wanted = Filter(metadata={"half": "second"})
    evidence = await graph.retrieve("What does P6 tell?", method, filter=wanted)
    assert evidence.passages
    assert {p.uri for p in evidence.passages} <= {"P5", "P6", "P7", "P8"}
    assert {e.name for e in evidence.entities} <= {"Hal", "Ida", "Jan", "Kim", "Lou", "Ada"}
    assert {r.description for r in evidence.relations} <= {"married", "sold to", "taught"}
    nothing = await graph.retrieve("question", method, filter=Filter(uris=("no such document",)))
    assert not nothing


@pytest.mark.parametrize("method", [*SINGLE, *BY_ORDER, Fuse(), GraphRag()])
async def test_no_method_takes_more_than_six_statements(graph: AsyncTrueweave, method: Method) -> None:
    await graph.retrieve("question", Naive())  # where the vectors are is looked up once a process
    evidence = await graph.retrieve("question", method)
    # subgraph looks for chunks by their entities, by their vectors and by their words.
    assert evidence.trace.statements <= (11 if method == Subgraph() else 6)
    assert evidence.trace.seconds > 0


@pytest.mark.parametrize(("method", "most"), [(Hybrid(), 11), (Mix(), 12), (LinearRag(), 7), (PathRag(), 7)])
async def test_what_is_made_of_several_takes_the_statements_of_its_parts(
    graph: AsyncTrueweave, method: Method, most: int
) -> None:
    await graph.retrieve("question", Naive())
    assert (await graph.retrieve("question", method)).trace.statements <= most
