"""Nodes of LlamaIndex that carry entities and relations, to Trueweave and back."""

from collections.abc import Iterator

import pytest

from trueweave import Trueweave
from trueweave.testing import HashEmbedder

LETTER = "Ada Lovelace wrote to Charles Babbage about the engine."
PLAN = "Charles Babbage designed the Analytical Engine."


@pytest.fixture
def trueweave(url: str) -> Iterator[Trueweave]:
    with Trueweave(url, "test", HashEmbedder(), make=True) as opened:
        yield opened


def extracted() -> list[object]:
    """Two nodes of one document, as LlamaIndex's GraphRAGExtractor leaves them."""
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    def node(text: str, start: int, source: EntityNode, target: EntityNode, label: str, said: str) -> TextNode:
        relation = Relation(
            label=label,
            source_id=source.id,
            target_id=target.id,
            properties={"relationship_description": said},
        )
        made = TextNode(text=text, start_char_idx=start, metadata={"year": 1843})
        made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="letters.txt")
        made.metadata |= {KG_NODES_KEY: [source, target], KG_RELATIONS_KEY: [relation]}
        return made

    ada = EntityNode(name="Ada Lovelace", label="person", properties={"entity_description": "She wrote notes."})
    babbage = EntityNode(name="Charles Babbage", label="person")
    engine = EntityNode(name="Analytical Engine")
    return [
        node(PLAN, len(LETTER) + 1, babbage, engine, "DESIGNED", ""),
        node(LETTER, 0, ada, babbage, "WROTE_TO", "She wrote to him about the engine."),
    ]


def test_what_an_extractor_of_llama_index_found_becomes_the_graph(trueweave: Trueweave) -> None:
    from trueweave.integrations.llama_index_nodes import from_nodes

    trueweave.add_documents(from_nodes(extracted()))  # type: ignore[arg-type]
    [document] = list(trueweave.documents())
    assert (document.uri, document.metadata) == ("letters.txt", {"year": 1843})
    assert [chunk.text for chunk in document.chunks] == [LETTER, PLAN], "in the order of the text"
    assert [m.spans for m in document.chunks[0].mentions] == [((0, 12),), ((22, 37),)]
    ada = trueweave.graph.entity("Ada Lovelace")
    assert (ada.entity.type, ada.entity.description) == ("person", "She wrote notes.")
    [wrote] = ada.relations
    assert (wrote.target_name, wrote.type, wrote.description) == (
        "Charles Babbage", "wrote to", "She wrote to him about the engine.",
    )  # fmt: skip
    [designed] = trueweave.graph.entity("Analytical Engine").relations
    assert (designed.description, trueweave.graph.entity("Analytical Engine").entity.type) == ("designed", "")
    assert trueweave.maintenance.verify().exact


def test_retrieved_nodes_carry_their_entities_and_relations_and_go_back(trueweave: Trueweave) -> None:
    from llama_index.core.graph_stores import SimplePropertyGraphStore
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY
    from llama_index.core.schema import MetadataMode

    from trueweave.integrations.llama_index import LlamaIndexRetriever
    from trueweave.integrations.llama_index_nodes import from_nodes, with_graph

    trueweave.add_documents(from_nodes(extracted()))  # type: ignore[arg-type]
    plain = LlamaIndexRetriever(trueweave, "keyword", {"top_k": 1}).retrieve("Ada wrote")
    [found] = with_graph(trueweave, plain)
    assert KG_NODES_KEY not in plain[0].node.metadata, "the retriever's own nodes stay as they are"
    assert (found.score, found.node.get_content()) == (plain[0].score, LETTER)
    nodes, relations = found.node.metadata[KG_NODES_KEY], found.node.metadata[KG_RELATIONS_KEY]
    assert {(one.name, one.label) for one in nodes} == {("Ada Lovelace", "person"), ("Charles Babbage", "person")}
    assert [(one.source_id, one.label, one.target_id) for one in relations] == [
        ("Ada Lovelace", "wrote to", "Charles Babbage")
    ]
    assert "EntityNode" not in found.node.get_content(MetadataMode.LLM)
    store = SimplePropertyGraphStore()
    store.upsert_nodes(nodes)
    store.upsert_relations(relations)
    assert len(store.get_triplets(entity_names=["Ada Lovelace"])) == 1
    [again] = from_nodes([found.node])
    assert {(m.name, m.type) for m in again.chunks[0].mentions} == {(one.name, one.label) for one in nodes}
    assert [(link.source, link.target) for link in again.chunks[0].links] == [("Ada Lovelace", "Charles Babbage")]
