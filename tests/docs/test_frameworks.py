"""The page on other frameworks does what it says, word for word."""

import os
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, run

LANGCHAIN, LANGCHAIN_MODELS, LLAMA_INDEX, LLAMA_NODES, LLAMA_GRAPH, HAYSTACK, ASYNC, SEARCH, DSPY = blocks(
    (ROOT / "docs" / "how-to" / "frameworks.md").read_text("utf-8"), "python"
)

LETTER = "# A letter\n\nAda Lovelace wrote to Charles Babbage from London.\n"
WROTE = "Ada Lovelace wrote to Charles Babbage from London."


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRUEWEAVE_")}
    return {**clean, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with a document added, and no model anywhere."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "letter.md").write_text(LETTER, "utf-8")
    for words in (("init",), ("add", "notes")):
        run(tmp_path, environment, "-m", "trueweave", *words)
    return tmp_path


def test_langchain(folder: Path, environment: dict[str, str]) -> None:
    sources, documents = run(folder, environment, "-c", LANGCHAIN).splitlines()
    assert sources == "['A letter']"
    assert WROTE in documents


def test_models_of_langchain(folder: Path, environment: dict[str, str]) -> None:
    answer, *spent = run(folder, environment, "-c", LANGCHAIN_MODELS).splitlines()
    assert answer.startswith("Ada Lovelace wrote to Babbage")
    assert "langchain/FakeListChatModel answer 1" in spent
    assert any(line.startswith("langchain/DeterministicFakeEmbedding embed ") for line in spent)


def test_llama_index(folder: Path, environment: dict[str, str]) -> None:
    shown = run(folder, environment, "-c", LLAMA_INDEX)
    assert "A letter" in shown.splitlines()[0]
    assert shown.count(WROTE) == 2  # as a node, and in the prompt
    assert "source: A letter" in shown


def test_the_graph_in_llama_index(folder: Path, environment: dict[str, str]) -> None:
    schema, *texts = run(folder, environment, "-c", LLAMA_GRAPH).splitlines()
    assert schema.startswith("{'entities': ")
    assert any(line.startswith("Ada Lovelace -> related to -> ") for line in texts)
    assert WROTE in texts


def test_haystack(folder: Path, environment: dict[str, str]) -> None:
    run_again = 'print(again.run({"retriever": {"query": question}, "prompt": {"question": question}}))'
    shown = run(folder, environment, "-c", f"{HAYSTACK}\n{run_again}")
    assert "A letter: " in shown
    assert shown.count(WROTE) == 2  # in the prompt of either pipeline


def test_in_an_event_loop(folder: Path, environment: dict[str, str]) -> None:
    assert WROTE in run(folder, environment, "-c", ASYNC)


def test_a_tool_for_dspy(folder: Path, environment: dict[str, str]) -> None:
    shown = run(folder, environment, "-c", f"{SEARCH}\nprint(search('Who wrote to Babbage?'))")
    assert shown.startswith("['A letter: ")
    assert WROTE in shown
    assert "tools=[search]" in DSPY


def test_nodes_of_llama_index_go_in_and_come_out_with_entities(folder: Path, environment: dict[str, str]) -> None:
    found = run(folder, environment, "-c", LLAMA_NODES).splitlines()
    assert "['Ada Lovelace', 'Charles Babbage']" in found
