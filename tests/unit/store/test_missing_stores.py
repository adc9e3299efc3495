"""A store whose library is not installed is told with what to install."""

import sys

import pytest

from trueweave.errors import ConfigError
from trueweave.store.chroma.client import ChromaClient
from trueweave.store.neo4j.client import Neo4jClient


@pytest.mark.parametrize("library", ["chromadb", "httpx"])
async def test_chroma(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigError, match=r"pip install \"trueweave\[chroma\]\""):
        await ChromaClient("http://127.0.0.1:1").collection("any")


def test_neo4j(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(ConfigError, match=r"pip install \"trueweave\[neo4j\]\""):
        Neo4jClient("bolt://127.0.0.1:1")
