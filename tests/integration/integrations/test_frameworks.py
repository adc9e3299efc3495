"""Retrievers for other frameworks find what `retrieve` finds, in the frameworks themselves."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from trueweave import AsyncTrueweave, Evidence, Filter, Passage, Trueweave, TrueweaveError
from trueweave.errors import ConfigError, UnknownMethod, UnknownWorkspace
from trueweave.integrations.passages import metadata
from trueweave.methods import Cutoff, Fuse, Keyword, Naive
from trueweave.testing.small_graph import FIRST_HALF, SAID, SECOND_HALF, Angles, document

if TYPE_CHECKING:  # tests import them: it takes seconds, in each process that collects this module
    from haystack import Document as HaystackDocument
    from langchain_core.documents import Document as LangChainDocument
    from llama_index.core.schema import NodeWithScore

QUESTION = "Who tells of something?"
METHOD = Fuse(parts=(Naive(top_k=6), Keyword(top_k=6)), weights=(2, 1), top_k=4)


@pytest.fixture
def trueweave(url: str) -> Iterator[Trueweave]:
    """The small graph in a workspace."""
    with Trueweave(url, "test", Angles(), make=True) as opened:
        opened.add_documents(map(document, SAID))
        yield opened


def in_langchain(found: list[LangChainDocument]) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [(one.id, one.page_content, one.metadata) for one in found]


def in_llama_index(found: list[NodeWithScore]) -> list[tuple[str, str, dict[str, Any]]]:
    assert [one.score for one in found] == [one.metadata["score"] for one in found]
    return [(one.node_id, one.text, one.metadata) for one in found]


def in_haystack(found: dict[str, list[HaystackDocument]]) -> list[tuple[str, str | None, dict[str, Any]]]:
    documents = found["documents"]
    assert [one.score for one in documents] == [one.meta["score"] for one in documents]
    return [(one.id, one.content, one.meta) for one in documents]


def passages(evidence: Evidence) -> list[tuple[str, str, dict[str, Any]]]:
    return [(str(passage.id), passage.text, metadata(passage)) for passage in evidence.passages]


HOW: list[dict[str, Any]] = [
    {},
    {"method": "naive"},
    {"method": "naive", "parameters": {"top_k": 3}},
    {"method": METHOD},
    {"method": METHOD, "filter": SECOND_HALF},
]


def expected(trueweave: Trueweave, how: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    method = Naive(top_k=3) if "parameters" in how else how.get("method")
    found = passages(trueweave.retrieve(QUESTION, method, filter=how.get("filter")))
    assert found
    return found


@pytest.mark.parametrize("how", HOW)
def test_they_find_what_retrieve_finds(trueweave: Trueweave, how: dict[str, Any]) -> None:
    from trueweave.integrations import haystack, langchain, llama_index

    wanted = expected(trueweave, how)
    chain = langchain.LangChainRetriever(trueweave=trueweave, **how)
    index = llama_index.LlamaIndexRetriever(trueweave, **how)
    stack = haystack.HaystackRetriever(trueweave, **how)
    assert in_langchain(chain.invoke(QUESTION)) == wanted
    assert in_llama_index(index.retrieve(QUESTION)) == wanted
    assert in_haystack(stack.run(QUESTION)) == wanted

    async def ask() -> None:  # in an event loop that is not that of the workspace
        assert in_langchain(await chain.ainvoke(QUESTION)) == wanted
        assert in_llama_index(await index.aretrieve(QUESTION)) == wanted
        assert in_haystack(await stack.run_async(QUESTION)) == wanted

    asyncio.run(ask())


async def test_with_an_async_trueweave_they_ask_in_its_loop(trueweave: Trueweave, url: str) -> None:
    from trueweave.integrations import haystack, langchain, llama_index

    async with AsyncTrueweave.open(url, "test", Angles(), make=True) as opened:
        wanted = passages(await opened.retrieve(QUESTION, METHOD))
        chain = langchain.LangChainRetriever(trueweave=opened, method=METHOD)
        index = llama_index.LlamaIndexRetriever(opened, METHOD)
        stack = haystack.HaystackRetriever(opened, method=METHOD)
        assert in_langchain(await chain.ainvoke(QUESTION)) == wanted
        assert in_llama_index(await index.aretrieve(QUESTION)) == wanted
        assert in_haystack(await stack.run_async(QUESTION)) == wanted

        # From another thread, and from another loop there.
        assert in_langchain(await asyncio.to_thread(chain.invoke, QUESTION)) == wanted
        elsewhere = await asyncio.to_thread(lambda: asyncio.run(index.aretrieve(QUESTION)))
        assert in_llama_index(elsewhere) == wanted

        for call in (chain.invoke, index.retrieve, stack.run):
            with pytest.raises(TrueweaveError, match="cannot wait for an AsyncTrueweave inside its own event loop"):
                call(QUESTION)


async def test_a_retriever_of_a_loop_that_has_ended_says_so(trueweave: Trueweave, url: str) -> None:
    from trueweave.integrations.llama_index import LlamaIndexRetriever

    async def make() -> LlamaIndexRetriever:
        async with AsyncTrueweave.open(url, "test", Angles(), make=True) as opened:
            return LlamaIndexRetriever(opened)

    index = await asyncio.to_thread(lambda: asyncio.run(make()))
    with pytest.raises(TrueweaveError, match="the event loop in which the retriever was created has ended"):
        index.retrieve(QUESTION)
    with pytest.raises(TrueweaveError, match="the event loop in which the retriever was created has ended"):
        await index.aretrieve(QUESTION)


def test_a_wrong_method_or_parameter_is_told_when_the_retriever_is_made(trueweave: Trueweave) -> None:
    from trueweave.integrations import haystack, langchain, llama_index

    with pytest.raises(UnknownMethod, match="there is no method 'nothing'"):
        langchain.LangChainRetriever(trueweave=trueweave, method="nothing")
    with pytest.raises(UnknownMethod, match="the method naive has no parameter depth"):
        llama_index.LlamaIndexRetriever(trueweave, "naive", {"depth": 1})
    with pytest.raises(ConfigError, match="parameters need the name of a method"):
        haystack.HaystackRetriever(trueweave, method=METHOD, parameters={"top_k": 1})


# --- LangChain ----------------------------------------------------------------------------------------


def uris(found: list[LangChainDocument]) -> list[str]:
    return [one.metadata["uri"] for one in found]


async def test_it_is_part_of_a_chain(trueweave: Trueweave) -> None:
    from langchain_core.runnables import RunnableLambda

    from trueweave.integrations import langchain

    wanted = [passage.uri for passage in trueweave.retrieve(QUESTION, METHOD).passages]
    chain = langchain.LangChainRetriever(trueweave=trueweave, method=METHOD) | RunnableLambda(uris)
    assert chain.invoke(QUESTION) == wanted
    assert await chain.ainvoke(QUESTION) == wanted
    assert chain.batch([QUESTION, QUESTION]) == [wanted, wanted]
    assert await chain.abatch([QUESTION, QUESTION]) == [wanted, wanted]


def test_langchain_takes_a_filter_for_one_question(trueweave: Trueweave) -> None:
    from trueweave.integrations import langchain

    retriever = langchain.LangChainRetriever(trueweave=trueweave, filter=FIRST_HALF)
    assert set(uris(retriever.invoke(QUESTION))) <= {"P1", "P2", "P3", "P4"}
    assert set(uris(retriever.invoke(QUESTION, filter=SECOND_HALF))) <= {"P5", "P6", "P7", "P8"}
    every = uris(retriever.bind(filter=Filter()).invoke(QUESTION))
    assert every == uris(langchain.LangChainRetriever(trueweave=trueweave).invoke(QUESTION))


# --- LlamaIndex ---------------------------------------------------------------------------------------


async def test_a_query_engine_answers_from_it(trueweave: Trueweave) -> None:
    from llama_index.core.base.response.schema import Response
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from trueweave.integrations import llama_index

    wanted = trueweave.retrieve(QUESTION, METHOD).passages
    engine = RetrieverQueryEngine.from_args(llama_index.LlamaIndexRetriever(trueweave, METHOD), MockLLM())
    for answer in (engine.query(QUESTION), await engine.aquery(QUESTION)):
        assert isinstance(answer, Response)
        assert [node.node_id for node in answer.source_nodes] == [str(passage.id) for passage in wanted]
        assert all(passage.text in str(answer) for passage in wanted)  # this model says what it is shown
        assert f"source: {wanted[0].source}" in str(answer)
        assert "chunk_id" not in str(answer)


def test_a_node_knows_its_document_and_where_it_is_there(trueweave: Trueweave) -> None:
    from llama_index.core.schema import MetadataMode, NodeRelationship, TextNode

    from trueweave.integrations import llama_index

    [node, *_] = llama_index.LlamaIndexRetriever(trueweave, METHOD).retrieve(QUESTION)
    assert node.node.ref_doc_id == node.metadata["uri"]
    assert NodeRelationship.SOURCE in node.node.relationships
    assert isinstance(node.node, TextNode)
    assert node.node.get_node_info() == {"start": 0, "end": len(node.text)}
    assert node.get_content(MetadataMode.EMBED) == f"source: {node.metadata['source']}\n\n{node.text}"


# --- Haystack -----------------------------------------------------------------------------------------


async def test_it_is_part_of_a_pipeline(trueweave: Trueweave) -> None:
    from tests.integration.integrations.uris import pipeline_with
    from trueweave.integrations import haystack

    wanted = [passage.uri for passage in trueweave.retrieve(QUESTION, METHOD).passages]
    pipeline = pipeline_with(haystack.HaystackRetriever(trueweave, method=METHOD))
    assert pipeline.run({"retriever": {"query": QUESTION}}) == {"uris": {"uris": wanted}}
    assert await pipeline.run_async({"retriever": {"query": QUESTION}}) == {"uris": {"uris": wanted}}
    only = pipeline.run({"retriever": {"query": QUESTION, "filter": SECOND_HALF}})["uris"]["uris"]
    assert only
    assert set(only) <= {"P5", "P6", "P7", "P8"}
    pipeline.close()
    assert trueweave.status().documents == len(SAID)  # who opened it closes it


async def test_a_pipeline_that_was_saved_opens_the_workspace_by_the_settings(
    trueweave: Trueweave, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from haystack import Pipeline

    from tests.integration.integrations.uris import Uris, pipeline_with
    from trueweave.integrations import haystack

    method = Keyword(top_k=3)  # a workspace that is opened by settings has no embedder here
    wanted = [passage.uri for passage in trueweave.retrieve(QUESTION, method, filter=SECOND_HALF).passages]
    made = haystack.HaystackRetriever(trueweave, workspace="test", method=method, filter=SECOND_HALF)
    saved = pipeline_with(made).dumps()
    assert "postgresql" not in saved

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", url)
    loaded = Pipeline.loads(saved, allowed_modules=["trueweave.integrations.haystack", Uris.__module__])
    assert loaded.run({"retriever": {"query": QUESTION}}) == {"uris": {"uris": wanted}}
    loaded.close()
    assert await loaded.run_async({"retriever": {"query": QUESTION}}) == {"uris": {"uris": wanted}}  # opened again
    await loaded.close_async()


def test_it_makes_no_workspace(trueweave: Trueweave, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trueweave.integrations import haystack

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", url)
    with pytest.raises(UnknownWorkspace, match="there is no workspace 'another'"):
        haystack.HaystackRetriever(workspace="another").warm_up()


@pytest.mark.parametrize("filter", [None, Filter(("P1", "P2"), {"half": ("first", "second"), "year": 1843})])
@pytest.mark.parametrize("method", [None, "naive", METHOD, Fuse(parts=(METHOD, Naive()), by="score")])
def test_what_is_saved_is_plain_and_makes_the_same_component(method: Any, filter: Filter | None) -> None:
    from trueweave.integrations import haystack

    made = haystack.HaystackRetriever(workspace="test", method=method, filter=filter, rerank=True)
    saved = json.loads(json.dumps(made.to_dict()))
    assert saved.keys() == {"type", "init_parameters"}
    assert saved["init_parameters"].keys() == {"workspace", "method", "parameters", "filter", "rerank"}
    again = haystack.HaystackRetriever.from_dict(saved)
    assert again._method == made._method
    assert again.to_dict() == made.to_dict()


def test_what_cannot_be_saved_says_why(trueweave: Trueweave) -> None:
    from trueweave.integrations import haystack

    with pytest.raises(ConfigError, match='also pass workspace="NAME"'):
        haystack.HaystackRetriever(trueweave).to_dict()
    with pytest.raises(ConfigError, match="the method Cutoff cannot be saved"):
        haystack.HaystackRetriever(workspace="test", method=Cutoff(part=Naive())).to_dict()


# --- what they share ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_what_to_install_is_said_where_a_framework_is_missing(module: str, library: str, extra: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import trueweave.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    [*_, last] = done.stderr.splitlines()
    assert f'needs {library}: pip install "trueweave[{extra}]"' in last


def test_metadata_says_where_a_passage_is_from() -> None:
    passage = Passage(UUID(int=7), "a.pdf", "A", "Some text.", 30, 0.5, "4", ("Part", "Chapter"), date="2024")
    assert json.loads(json.dumps(metadata(passage))) == {
        "uri": "a.pdf",
        "title": "A",
        "date": "2024",
        "source": "A, page 4",
        "page": "4",
        "headings": ["Part", "Chapter"],
        "start": 30,
        "end": 40,
        "score": 0.5,
        "chunk_id": "00000000-0000-0000-0000-000000000007",
    }
