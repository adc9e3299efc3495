"""Programs on pages that use a model or a server are run as they are written, with both on this machine."""

import asyncio
import inspect
import json
import logging
import os
import runpy
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal
from uuid import UUID

import httpx2
import numpy as np
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from numpy.typing import NDArray

from tests.certificates import make_signing_key
from tests.commands import run_command
from tests.contract.in_memory import Graph, MemoryGraph, load
from tests.docs.pages import ROOT, blocks
from tests.docs.test_transcripts import CLEAN
from tests.docs.transcripts import Session, Step
from tests.e2e.conftest import model_server
from trueweave import AsyncTrueweave, connect
from trueweave.core.model_calls import TextRole
from trueweave.events import Extracted, Failed
from trueweave.extend import Embedder, Neighbourhood
from trueweave.mcp import make_server
from trueweave.testing import Databases

LETTER = "# A letter\n\nAda Lovelace wrote to Charles Babbage from London. OPS-1 is caused by NET-22.\n"
QUESTIONS = [{"question": "Who wrote to Babbage?", "supporting": ["notes/letter.md"]}]


def programs(page: str) -> list[str]:
    return blocks((ROOT / "docs" / page).read_text("utf-8"), "python")


class Place:
    """A folder with a letter in a workspace `acme`, and a language model and an embedding model in its settings."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def run(self, code: str, **names: Any) -> dict[str, Any]:
        """What a program defines that is run in the folder, and that finds these names defined."""
        program = self.folder / "program.py"
        program.write_text(code, "utf-8")
        with self.entered():
            return runpy.run_path(str(program), names)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """In the folder, with its environment only."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in os.environ.keys() - self.environment.keys():
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            yield


@pytest.fixture(scope="module")
def place(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder, url = tmp_path_factory.mktemp("programs"), databases.make()
    (folder / "notes").mkdir()
    (folder / "notes" / "letter.md").write_text(LETTER, "utf-8")
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), "utf-8")
    with model_server("--script", "tests.docs.model:reply") as model_url:
        models = {"model": "vllm/any", "model_url": model_url, "embedding_model": "vllm/e", "embedding_url": model_url}
        written = {"workspace": "acme", "extractor": "capitals", **models}
        (folder / "trueweave.toml").write_text(
            "\n".join(f"{name} = {json.dumps(one)}" for name, one in written.items())
        )
        environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url}
        for words in (("init",), ("add", "notes")):
            run_command(*words, folder=folder, environment=environment)
        yield Place(folder, environment)
    databases.drop(url)


def test_programs_that_open_the_database(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    extractor, opened, *_ = programs("how-to/bring-your-own.md")
    place.run(f"from trueweave import Trueweave\n{extractor}\n{opened}")
    memories, _ = programs("how-to/mcp.md")
    place.run(memories)
    verifier, asked = programs("how-to/write-a-verifier.md")
    place.run(f"from trueweave import Trueweave\n{verifier}\nwith Trueweave() as index:\n    {asked}")
    [recorded] = programs("how-to/record-answers.md")
    place.environment["TRUEWEAVE_SIGNING_KEY_FILE"] = str(make_signing_key(place.folder))
    assert place.run(recorded)["replay"].same
    [measured] = programs("how-to/benchmarking.md")
    place.run(measured)
    assert (place.folder / "out" / "report.html").exists()
    capsys.readouterr()


def test_programs_that_ask_a_server(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(place.folder, {**place.environment})
    printed = session.run(Step("$ trueweave keys create me --scope admin", ""))
    session.run(Step("$ trueweave serve", ""))
    key = next(line for line in printed.splitlines() if line.startswith("twk_"))
    place.environment["TRUEWEAVE_KEY"] = key

    def here(code: str) -> str:
        for address in ("https://knowledge.example.org", "http://127.0.0.1:8000"):
            code = code.replace(address, session.url)
        return code.replace("twk_…", key)

    try:
        moved, opened = programs("how-to/client.md")
        place.run(here(moved))
        assert "Charles Babbage" in capsys.readouterr().out
        with place.entered():
            asyncio.run(place.run(here(opened))["main"]())
        [openai] = programs("how-to/openai-clients.md")
        place.run(here(openai))
        [submitted] = programs("how-to/workers.md")
        with closing(connect(session.url, "acme", key=key)) as index:
            place.run(submitted, index=index, path=place.folder / "notes" / "letter.md")
    finally:
        session.close()
    capsys.readouterr()


async def test_tools_in_a_server_of_ones_own(place: Place) -> None:
    _, code = programs("how-to/mcp.md")
    with place.entered():
        opening = place.run(code)["workspace_of_caller"]

        @asynccontextmanager
        async def logged_in(_: Any) -> AsyncIterator[Any]:
            async with opening(SimpleNamespace(user=SimpleNamespace(workspace="acme"))) as opened:
                yield opened

        app = make_server(logged_in).streamable_http_app(transport_security=None, host="127.0.0.1")
        sent = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers={"host": "127.0.0.1:80"})
        async with (
            app.router.lifespan_context(app),
            sent,
            McpClient(streamable_http_client("http://127.0.0.1/mcp", http_client=sent)) as client,
        ):
            found = await client.call_tool("search", {"text": "Babbage"})
    assert "notes/letter.md" in [one["uri"] for one in found.structured_content["passages"]]


def test_the_store_answers_a_question(place: Place) -> None:
    program, suite = programs("how-to/stores.md")
    assert "class TestMyGraph" in suite, "it is run by test_transcripts.py"

    asked: list[Sequence[UUID]] = []

    class MyGraph(MemoryGraph):
        async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
            asked.append(entities)
            return await super().around(entities, followed, each)

    async def copied() -> Graph:
        async with AsyncTrueweave.open() as opened:
            return await load(opened.graph.projection("my graph"))

    with place.entered():
        copy = asyncio.run(copied())
        asyncio.run(place.run(program, MyGraph=MyGraph, copy=copy)["main"]())
    assert asked


def test_the_signature_of_an_embedder(place: Place) -> None:
    [code] = programs("how-to/embedding.md")
    given = {"Sequence": Sequence, "Literal": Literal, "NDArray": NDArray, "np": np}
    shown = inspect.signature(place.run(code, **given)["embed"])
    assert list(shown.parameters) == list(inspect.signature(Embedder.embed).parameters)
    assert shown.parameters["role"].annotation == TextRole


def test_a_listener_and_the_loggers(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    [listener] = programs("reference/events.md")
    show = place.run(listener)["show"]
    show(Extracted("a.md", 3))
    show(Failed("b.md", "no key", final=True))
    assert capsys.readouterr().out == "a.md: 3 chunks\nb.md failed: no key\n"
    [logged] = programs("how-to/operations.md")
    logger = logging.getLogger("trueweave")
    before = logger.level
    try:
        place.run(logged)
        assert logger.isEnabledFor(logging.DEBUG)
    finally:
        logger.setLevel(before)
