"""The graph of a workspace as a property graph store, read by LlamaIndex's own retrievers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from trueweave import Chunk, Document, Link, Mention, Trueweave, TrueweaveError
from trueweave.errors import InvalidArgument
from trueweave.testing import HashEmbedder

LETTER = "Ada Lovelace wrote to Charles Babbage about the engine."
PLAN = "Charles Babbage designed the Analytical Engine."
DESIGNED = "Charles Babbage -> designed -> Analytical Engine"


def said(uri: str, text: str, source: str, target: str, word: str, kind: str = "person") -> Document:
    mentions = (Mention(source, "person"), Mention(target, kind))
    return Document(uri, (Chunk(text, mentions=mentions, links=(Link(source, target, word, keywords=(word,)),)),))


@pytest.fixture
def trueweave(url: str) -> Iterator[Trueweave]:
    with Trueweave(url, "test", HashEmbedder(), make=True) as opened:
        documents = [
            said("letter", LETTER, "Ada Lovelace", "Charles Babbage", "wrote to"),
            said("plan", PLAN, "Charles Babbage", "Analytical Engine", "designed", "work"),
        ]
        opened.add_documents(documents)
        yield opened


def shown(triplets: list[Any]) -> list[str]:
    return [f"{source.id} -> {relation.id} -> {target.id}" for source, relation, target in triplets]


def test_entities_relations_and_chunks_are_read(trueweave: Trueweave) -> None:
    from trueweave.integrations.llama_index_graph import LlamaIndexGraphStore

    store = LlamaIndexGraphStore(trueweave)
    [ada] = store.get(ids=["ada lovelace", "nobody at all"])
    assert (ada.id, ada.label, ada.properties["degree"]) == ("Ada Lovelace", "person", 1)
    assert store.get(ids=[ada.properties["entity_id"]])[0].id == "Ada Lovelace"
    assert {node.id for node in store.get({"label": "work"})} == {"Analytical Engine"}
    near = store.get_rel_map([ada], depth=1)
    assert shown(near) == ["Ada Lovelace -> wrote to -> Charles Babbage"]
    assert len(store.get_rel_map([ada], depth=2)) == 2
    assert len(store.get_rel_map([ada], depth=2, limit=1)) == 1
    assert shown(store.get_rel_map([ada], ignore_rels=["wrote to"])) == [DESIGNED]
    chunk = near[0][0].properties["triplet_source_id"]
    assert [node.get_content() for node in store.get_llama_nodes([chunk, "no id"])] == [LETTER]
    assert {node.id for node in store.get({"triplet_source_id": chunk})} == {"Ada Lovelace", "Charles Babbage"}
    assert shown(store.get_triplets(relation_names=["designed"])) == [DESIGNED]
    assert store.get_triplets(entity_names=["nobody at all"]) == []
    assert store.get_schema()["entities"] == {"person": 2, "work": 1}
    with pytest.raises(InvalidArgument, match=r"cannot be found by colour"):
        store.get({"colour": "red"})


def test_its_own_retrievers_return_the_text_of_the_source(trueweave: Trueweave) -> None:
    from llama_index.core import PropertyGraphIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.indices.property_graph import LLMSynonymRetriever, VectorContextRetriever
    from llama_index.core.llms import MockLLM

    from trueweave.integrations.llama_index_graph import LlamaIndexGraphStore

    class Embedding(MockEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            [row] = asyncio.run(HashEmbedder().embed([query], "query"))
            return [float(one) for one in row]

    store = LlamaIndexGraphStore(trueweave)
    index = PropertyGraphIndex.from_existing(store, llm=MockLLM(), embed_model=Embedding(embed_dim=64))
    synonyms = LLMSynonymRetriever(store, llm=MockLLM(), path_depth=1, output_parsing_fn=lambda _: ["Ada Lovelace"])
    by_name = index.as_retriever(sub_retrievers=[synonyms]).retrieve("Whom did she write to?")
    assert "Ada Lovelace -> wrote to -> Charles Babbage" in by_name[0].text
    assert LETTER in by_name[0].text
    near = VectorContextRetriever(store, embed_model=Embedding(embed_dim=64), similarity_top_k=3)
    assert any(PLAN in one.text for one in asyncio.run(near.aretrieve("Analytical Engine")))


def test_it_is_not_written(trueweave: Trueweave) -> None:
    from trueweave.integrations.llama_index_graph import LlamaIndexGraphStore

    store = LlamaIndexGraphStore(trueweave)
    read_only = r"LlamaIndex can read it and not write it"
    with pytest.raises(TrueweaveError, match=read_only):
        store.upsert_nodes([])
    with pytest.raises(TrueweaveError, match=read_only):
        store.upsert_relations([])
    with pytest.raises(TrueweaveError, match=read_only):
        store.delete(ids=["Ada Lovelace"])
    with pytest.raises(TrueweaveError, match=r"Keep a copy in Neo4j"):
        store.structured_query("MATCH (n) RETURN n")
