"""The retrieval formulas, defaults and orders of the five documents that Trueweave began with, as worked examples on
the small graph of `trueweave.testing.small_graph`. The question, the keyword and the theme of a test are at 0 degrees.

Each test names its document and the place in it. Where the default is another by now, the test says so and takes the
option that gives the document's.
"""

import json
from dataclasses import replace
from inspect import signature
from math import cos, radians
from typing import Literal

import pytest

from tests.integration.retrieval.test_methods import Scripted, found, ranking
from trueweave import AsyncTrueweave, Chunk, Relation, Source
from trueweave.extend import Database, Method
from trueweave.graph.aggregate import harmonic_emphasis
from trueweave.ingest.extract.llm import LLMExtractor
from trueweave.methods import Community, Fuse, Global, Guess, Hybrid, Local, Naive, Rephrase, Subgraph
from trueweave.retrieval.methods.guess import strength
from trueweave.testing import HashEmbedder
from trueweave.testing.small_graph import SAID, Angles, document
from trueweave.types import Keywords


async def entered(database: Database, low: list[str]) -> AsyncTrueweave:
    keywords = json.dumps({"low_level": low, "high_level": ["theme"]})
    model = Scripted({"keywords": keywords, "guess": "P6 guessed", "rephrase": "P6 is a"})
    trueweave = await AsyncTrueweave.enter(database, "seeds", Angles(), llm=model)
    await trueweave.add_documents(map(document, SAID))
    return trueweave


@pytest.fixture
async def graph(database: Database) -> AsyncTrueweave:
    return await entered(database, ["first"])


def names(relations: tuple[Relation, ...]) -> list[tuple[str, str]]:
    return [(one.source_name, one.target_name) for one in relations]


# --- "LightRAG connected to Postgresql" ---------------------------------------------------------------


def test_lightrag_on_postgresql_defaults() -> None:
    """Section 4.1, `GlobalConfig`: keywords_top_k, graph_top_k, order_range, alpha; `naive_query` has graph_top_k."""
    local, global_ = Local(), Global()
    assert (local.keywords_top_k, local.graph_top_k, local.order_range) == (60, 5, 5)
    assert (global_.keywords_top_k, global_.graph_top_k, global_.alpha) == (60, 5, 0.7)
    assert Naive().top_k == local.graph_top_k
    # On purpose otherwise: chunks are picked by their similarity to the question, as that finds more.
    assert (local.pick, global_.pick) == ("similarity", "similarity")


async def test_hits_of_all_keywords_are_sorted_together(database: Database) -> None:
    """Section 3.2.1, `_similarity_search`: the hits of all embeddings in one list, by descending similarity."""
    trueweave = await entered(database, ["first", "Lou"])
    # One entity for each keyword: Ada at cos 5 = 0.996 and Lou at 1. So Lou has order 0 and brings P8, Ada has order 1
    # and brings P1, which has two of her neighbours. By the ranks within each list, P1 would come first.
    method = Local(keywords_top_k=1, graph_top_k=3, pick="order", order_range=0)
    assert list(await found(trueweave, method)) == ["P8", "P1", "P2"]


async def test_a_search_takes_a_text_or_a_list_of_texts(graph: AsyncTrueweave) -> None:
    """Section 3.2.1, `_similarity_search(text: str | List[str], …)`.

    On purpose otherwise: the hits of several texts are fused by their ranks, each once, because the similarities of
    one text to anything are often higher than those of another.
    """
    assert {p.uri for p in await graph.search(["P1", "P6"], 2)} == {"P1", "P6"}
    assert [p.uri for p in await graph.search("P6", 1)] == [p.uri for p in await graph.search(["P6"], 1)] == ["P6"]


async def test_local_counts_neighbours_in_the_chunk(graph: AsyncTrueweave) -> None:
    """Section 3.2.2, step 3 and `relation_counts`; `order_range` by its description in section 4.1."""
    # (order, neighbours in the chunk): Ada P1 (0, 2), P8 (0, 1), P2 (0, 0); Ben P1 (1, 1), P3 (1, 1).
    by_order = {reach: Local(graph_top_k=3, pick="order", order_range=reach) for reach in (0, 1)}
    assert list(await found(graph, by_order[0])) == ["P1", "P8", "P2"]
    assert list(await found(graph, by_order[1])) == ["P1", "P8", "P3"]  # P3 is one behind, and overtakes P2


@pytest.mark.parametrize("pick", ["order", "similarity"])
async def test_the_result_has_the_keywords_and_the_neighbours_found_in_each_chunk(
    graph: AsyncTrueweave, pick: Literal["order", "similarity"]
) -> None:
    """Section 3.2.2, `connected_nodes[node][chunk_id]["keywords"]`, and section 4.2, where queries return keywords."""
    found = await graph.retrieve("question", Local(keywords_top_k=2, graph_top_k=8, pick=pick))
    assert found.keywords == Keywords(("first",), ("theme",))
    texts = {passage.id: passage.text[:2] for passage in found.passages}
    told = {(texts[one.passage], one.entity): set(one.neighbours) for one in found.connections}
    assert told == {
        ("P1", "Ada"): {"Ben", "Cas"},
        ("P1", "Ben"): {"Ada"},
        ("P2", "Ada"): set(),
        ("P3", "Ben"): {"Dan"},
        ("P8", "Ada"): {"Lou"},
    }
    hybrid = await graph.retrieve("question", Hybrid())
    assert hybrid.keywords == found.keywords
    assert hybrid.connections


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.7, {"P1": 0.82, "P2": 0.77, "P4": 0.53, "P3": 0.18}),
        (1.0, {"P1": 1.0, "P2": 0.67, "P4": 0.5, "P3": 0.0}),
        (0.0, {"P2": 1.0, "P3": 0.6, "P4": 0.6, "P1": 0.4}),
    ],
)
async def test_global_importance(graph: AsyncTrueweave, alpha: float, expected: dict[str, float]) -> None:
    """Section 3.2.3, `importance`: (1 - order / last) * alpha + weight / max_weight * (1 - alpha).

    On purpose otherwise: order and weight are means over the relations of a chunk, each counted once.
    """
    # Orders of Ada-Ben, Dan-Eve, Eve-Fay, Ben-Dan: 0 … 3; weights 4, 10, 2, 6. P4 states the second and the third.
    scores = await found(graph, Global(keywords_top_k=4, pick="order", alpha=alpha))
    assert scores == expected
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


async def test_one_relation_has_an_importance(graph: AsyncTrueweave) -> None:
    """Section 3.2.3 divides by the last index, which is 0 for one relation; here its chunk has full importance."""
    assert await found(graph, Global(keywords_top_k=1, pick="order")) == {"P1": 1.0}


async def test_hybrid_has_what_local_and_global_have(graph: AsyncTrueweave) -> None:
    """Section 3.2.4; and the section on hybrid_query of the document in Chinese on LightRAG with Neo4j and pgvector."""
    parts: tuple[Method, ...] = (Local(keywords_top_k=2, pick="order"), Global(keywords_top_k=2, pick="order"))
    whole = await graph.retrieve("question", Hybrid(parts=parts))
    each = [await graph.retrieve("question", part) for part in parts]
    assert {p.id for p in whole.passages} == {p.id for one in each for p in one.passages}
    assert {r.id for r in whole.relations} == {r.id for one in each for r in one.relations}
    assert len({p.id for p in whole.passages}) == len(whole.passages)


# --- "Graph Enhanced Vector Store" --------------------------------------------------------------------


def test_emphasis_is_a_harmonic_mean() -> None:
    """Section "Weighting Entities": the count divided by the sum of reciprocals."""
    # 1 and 4: 2 / (1 + 1/4); 9 three times: 9.
    assert harmonic_emphasis((1, 0, 0, 1, 0, 0, 0, 0, 0)) == pytest.approx(1.6)
    assert harmonic_emphasis((0, 0, 0, 0, 0, 0, 0, 0, 3)) == pytest.approx(9)


async def test_extraction_has_a_chunk_size_of_its_own(database: Database) -> None:
    """Sections "Entity Extraction" and "Knowledge Processing": chunks for the graph are not those for the vectors.

    On purpose otherwise: a text for the graph is made of whole chunks, so that each fact belongs to a passage.
    """
    said = ["Ada founded Ben.", "Nobody was there.", "Ben hired Dan."]
    entities = [{"name": name, "type": "person"} for name in ("Ada", "Ben", "Dan")]
    relations = [{"source": "Ben", "target": "Dan", "description": "Ben hired Dan."}]
    model = Scripted({"extract": json.dumps({"entities": entities, "relations": relations})})
    source, start, chunks = Source("a.md", " ".join(said)), 0, []
    for text in said:
        chunks.append(Chunk(text, start, 4))
        start += len(text) + 1
    found = await LLMExtractor(model, {"person": ""}, unit_size=12).extract(source, chunks)
    assert len(model.asked) == 1
    assert [[m.name for m in each.mentions] for each in found] == [["Ada", "Ben"], [], ["Ben", "Dan"]]
    assert [len(each.links) for each in found] == [0, 0, 1]


async def test_chunk_sizes_are_compared_on_the_same_documents(database: Database) -> None:
    """Section "Chunking": the size of chunks is tuned by metrics on one's own documents. `bench --vary` does so."""
    trueweave = await AsyncTrueweave.enter(database, "sizes", HashEmbedder(16))
    await trueweave.add(Source("a.md", "\n\n".join(f"Ada wrote letter {n} to Ben." for n in range(30))))
    counts, found = [], []
    for size in (20, 200):
        async with trueweave.varied({"min_chunk_size": size // 2, "max_chunk_size": size}) as (beside, _):
            counts.append((await beside.status()).chunks)
            evidence = await beside.retrieve("Which letter is number 17?", Naive(top_k=3))
            found.append({passage.uri for passage in evidence.passages})
    assert counts[0] > counts[1] > 0
    assert found == [{"a.md"}, {"a.md"}]
    assert (await trueweave.status()).documents == 1


async def test_a_question_is_rephrased_as_a_partial_answer(database: Database) -> None:
    """Section "Questions/Answers Prompting": a question is like other questions, and "X is a" like what X is."""
    trueweave = await entered(database, ["first"])
    assert next(iter(await found(trueweave, Naive()))) == "P8"  # the question is at 0 degrees
    assert next(iter(await found(trueweave, Rephrase()))) == "P6"
    assert next(iter(await found(trueweave, Rephrase(Fuse(parts=(Naive(),)))))) == "P6"


async def test_guess_tells_the_strongest_relations_of_each_entity(graph: AsyncTrueweave) -> None:
    """Section "Querying", steps 2 and 3: entities found, alike ones too, and of each the strongest relations."""
    method = Guess(entities_top_k=4, relations_each=1)
    evidence = await graph.retrieve("question", method)
    assert [e.name for e in evidence.entities] == ["Ada", "Ben", "Cas", "Dan"]
    # Dan-Eve is stated twice: of Dan's relations it is the strongest. Each of the others has one of its own, too.
    assert ("Dan", "Eve") in names(evidence.relations)
    told = {name for pair in names(evidence.relations) for name in pair}
    assert {"Ada", "Ben", "Cas", "Dan"} <= told
    assert strength(evidence.relations[0]) == max(map(strength, evidence.relations))


async def test_guess_searches_chunks_by_the_made_up_paragraph(graph: AsyncTrueweave) -> None:
    """Section "Querying", steps 4 to 6: the paragraph's vector finds chunks; these and the facts go to the answer."""
    evidence = await graph.retrieve("question", Guess(top_k=1))
    assert ranking(evidence) == {"P6": 1.0}  # the guess is where P6 is
    assert evidence.entities
    assert evidence.relations


# --- "Entity-Based Knowledge Graph RAG" ---------------------------------------------------------------


def test_entity_based_defaults() -> None:
    """Section "Configuration Parameters", and `max_hops` of `_get_subgraph`.

    On purpose otherwise: without a threshold of 0.7, which hardly any entity reaches with real models, and with the
    chunks' own texts, as entities alone find less than search by vectors and words.
    """
    method = Subgraph()
    assert (method.top_k_nodes, method.top_k_chunks, method.similarity_threshold) == (10, 5, None)
    as_written = Subgraph(similarity_threshold=0.7, text_weight=0)
    assert replace(method, similarity_threshold=0.7, text_weight=0) == as_written
    assert (method.node_freq_weight, method.node_sim_weight, method.max_hops) == (0.4, 0.6, 1)
    asked = signature(AsyncTrueweave.ask).parameters
    assert (asked["use_cot"].default, asked["numerical_answer"].default) == (False, False)


async def test_entities_from_the_threshold_on_best_first(graph: AsyncTrueweave) -> None:
    """Step 2, `_get_similar_nodes`: not less than the threshold, by descending similarity, top_k_nodes of them."""
    some = Subgraph(similarity_threshold=0.9, text_weight=0)
    # cos 25 = 0.906 is Eve; cos 30 = 0.866 is less.
    assert [e.name for e in (await graph.retrieve("question", some)).entities] == ["Ada", "Ben", "Cas", "Dan", "Eve"]
    two = Subgraph(similarity_threshold=0.9, top_k_nodes=2, text_weight=0)
    assert [e.name for e in (await graph.retrieve("question", two)).entities] == ["Ada", "Ben"]


async def test_the_subgraph_finds_the_best_chunks_whatever_the_threshold(graph: AsyncTrueweave) -> None:
    """The default: entities add to what the texts themselves say, and a threshold that none reaches finds no less."""
    by_text = ["P8", "P7", "P6", "P5", "P4"]
    strict = await graph.retrieve("question", Subgraph(similarity_threshold=1.0))
    assert ([p.uri for p in strict.passages], strict.entities) == (by_text, ())
    usual = await graph.retrieve("question", Subgraph())
    assert usual.passages[0].uri == "P8"
    assert [e.name for e in usual.entities] == ["Ada", "Ben"]


async def test_the_subgraph_goes_both_ways(graph: AsyncTrueweave) -> None:
    """Step 3, `_get_subgraph`: predecessors and successors."""
    ada = Subgraph(similarity_threshold=0.99, text_weight=0)
    near = names((await graph.retrieve("question", ada)).relations)
    assert set(near) == {("Ada", "Ben"), ("Ada", "Cas"), ("Lou", "Ada")}


async def test_chunks_by_frequency_and_similarity_of_entities(graph: AsyncTrueweave) -> None:
    """Step 4, `_score_chunks_by_nodes`: freq_weight * share of the entities + sim_weight * their mean similarity."""
    ada, ben = cos(radians(5)), cos(radians(10))
    scores = await found(graph, Subgraph(similarity_threshold=0.97, text_weight=0))
    assert scores["P1"] == pytest.approx(0.4 * 2 / 2 + 0.6 * (ada + ben) / 2, abs=0.01)
    assert scores["P3"] == pytest.approx(0.4 * 1 / 2 + 0.6 * ben, abs=0.01)
    assert scores["P4"] == 0  # what only the neighbourhood brings has none of them


async def test_paths_stand_before_chunks_in_the_context(graph: AsyncTrueweave) -> None:
    """Step 5, `_format_context`: first what the graph knows, then chunks with their sources."""
    answer = await graph.ask("question", Subgraph(similarity_threshold=0.97, text_weight=0), context_only=True)
    assert answer.evidence.paths
    first = min(answer.context.index(passage.text) for passage in answer.evidence.passages)
    assert 0 <= answer.context.index("founded") < first


# --- "Hybrid Graph-Vector RAG Methods" ----------------------------------------------------------------


async def test_each_report_is_asked_and_what_it_says_is_gathered(database: Database) -> None:
    """Section "GraphRAGQueryEngine", query processing flow: an answer from each summary, then one of all.

    On purpose otherwise: several reports go into one call, up to map_tokens, and what does not help is left out.
    """
    said = json.dumps({"points": [{"text": "They met.", "helpfulness": 50, "references": "1"}]})
    await entered(database, ["first"])
    without_model = await AsyncTrueweave.enter(database, "seeds", Angles())
    await without_model.communities.find()
    await without_model.communities.write_reports()
    model = Scripted({"partial": said})
    asking = await AsyncTrueweave.enter(database, "seeds", Angles(), llm=model)
    evidence = await asking.retrieve("question", Community(map_tokens=500))
    assert model.asked
    assert [report.text for report in evidence.reports] == ["They met."] * len(evidence.reports)
    assert [report.score for report in evidence.reports] == [0.5] * len(evidence.reports)
    assert evidence.passages


async def test_nodes_of_llama_index_carry_entities_and_relations(graph: AsyncTrueweave) -> None:
    """Section "GraphRAGExtractor": what is extracted is added to a node's metadata, under KG_NODES_KEY and
    KG_RELATIONS_KEY. Both directions over a retriever are in tests/integration/integrations/test_llama_index_nodes.py.
    """
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode
    from llama_index.core.graph_stores.types import Relation as GraphRelation
    from llama_index.core.schema import TextNode

    from trueweave.integrations.llama_index_nodes import from_nodes

    node = TextNode(text="Ada knows Gus.", id_="P1")
    people = [EntityNode(name="Ada"), EntityNode(name="Gus")]
    node.metadata |= {
        KG_NODES_KEY: people,
        KG_RELATIONS_KEY: [GraphRelation(label="KNOWS", source_id="Ada", target_id="Gus")],
    }
    await graph.add_documents(from_nodes([node]))
    ada = await graph.graph.entity("Ada")
    assert [(r.target_name, r.description) for r in ada.relations if r.target_name == "Gus"] == [("Gus", "knows")]


# --- The document in Chinese on LightRAG with Neo4j and pgvector --------------------------------------


@pytest.mark.parametrize("method", [Local(keywords_top_k=4), Local(keywords_top_k=4, pick="order")])
async def test_local_lists_entities_by_degree_and_relations_by_degree_and_weight(
    graph: AsyncTrueweave, method: Method
) -> None:
    """Section on local_query, steps 3 and 6: by the degree of nodes; by that of edges, then by their weight."""
    evidence = await graph.retrieve("question", method)
    assert [e.degree for e in evidence.entities] == [3, 2, 2, 1]
    expected = [("Ada", "Ben"), ("Dan", "Eve"), ("Ben", "Dan"), ("Lou", "Ada"), ("Ada", "Cas")]
    assert names(evidence.relations) == expected  # degrees 5, 4, 4, 4, 4; weights 4, 10, 6, 2, 1


@pytest.mark.parametrize("method", [Global(keywords_top_k=4), Global(keywords_top_k=4, pick="order")])
async def test_global_lists_relations_by_degree_and_weight_and_their_ends(
    graph: AsyncTrueweave, method: Method
) -> None:
    """Section on global_query, steps 3 and 5: relations by their degree; their ends as entities."""
    evidence = await graph.retrieve("question", method)
    expected = [("Ada", "Ben"), ("Dan", "Eve"), ("Ben", "Dan"), ("Eve", "Fay")]
    assert names(evidence.relations) == expected  # degrees 5, 4, 4, 4; weights 4, 10, 6, 2
    assert {e.name for e in evidence.entities} == {"Ada", "Ben", "Dan", "Eve", "Fay"}
