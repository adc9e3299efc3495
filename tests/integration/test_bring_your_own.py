"""Prompts of a user's own: what they change, and what is told before anything is asked."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from trueweave import AsyncTrueweave, ConfigError
from trueweave.config import Settings
from trueweave.prompts import load
from trueweave.store.postgres.db import Database
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked
from trueweave.types import OutOfDate, Source

NOTE = Source("note", "Ada Lovelace met Charles Babbage in London.")


def people(asked: Asked) -> str:
    """Finds the people that the instructions allow."""
    rules = asked.messages[0].content
    names = ["Ada Lovelace", "Charles Babbage"] if "everybody" in rules else ["Ada Lovelace"]
    return json.dumps({"entities": [{"name": name, "type": "person"} for name in names], "relations": []})


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(people) as running:
        yield running


@asynccontextmanager
async def opened(database: Database, server: ModelServer, **settings: Any) -> AsyncIterator[AsyncTrueweave]:
    made = Settings(model="vllm/any", model_url=server.url, model_tries=1, **settings)
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=made)) as index:
        yield index


async def names(index: AsyncTrueweave) -> set[str]:
    return {mention.name async for one in index.documents() for chunk in one.chunks for mention in chunk.mentions}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an extraction prompt that asks for more."""
    made = tmp_path / "prompts"
    made.mkdir()
    (made / "extract.md").write_text(load("extract").text + "\nName everybody.", "utf-8")
    return made


async def test_another_prompt_gives_other_findings(database: Database, server: ModelServer, folder: Path) -> None:
    async with opened(database, server) as plain:
        await plain.add(NOTE)
        assert await names(plain) == {"Ada Lovelace"}
    async with opened(database, server, prompt_folder=folder) as own:
        assert await own.maintenance.out_of_date() == [OutOfDate(1, ("prompts",))]
        assert (await own.add(NOTE)).new == 1, "no reply to the built-in prompt is taken for one to this"
        assert await names(own) == {"Ada Lovelace", "Charles Babbage"}
        calls = len(server.calls)
        assert (await own.add(NOTE)).unchanged == 1
        (folder / "extract.md").write_text(load("extract").text + "\nEverybody, everybody.", "utf-8")
    async with opened(database, server, prompt_folder=folder) as changed:
        assert (await changed.add(NOTE)).new == 1
    assert len(server.calls) == calls + 1


@pytest.mark.parametrize("file", ["extract.md", "answer.md", "keywords.md"])
async def test_a_wrong_placeholder_is_told_before_any_call(
    database: Database, server: ModelServer, folder: Path, file: str
) -> None:
    (folder / file).write_text("Do {as_i_say}.", "utf-8")
    async with opened(database, server, prompt_folder=folder) as index:
        for call in (
            index.add(NOTE),
            index.ask("Who?", "keyword"),
            index.estimate(NOTE),
            index.communities.estimate_reports(),
        ):
            with pytest.raises(
                ConfigError, match=rf"{file}: it has \{{as_i_say\}}, which the prompt .* placeholders are"
            ):
                await call
        assert (await index.status()).documents == 0, "what needs no prompt works"
    assert server.calls == []


async def test_a_worker_with_other_prompts_says_so_and_asks_nothing(
    database: Database, server: ModelServer, folder: Path
) -> None:
    async with opened(database, server, prompt_folder=folder) as own:
        recipe = (await own._core.models()).recipe()
    async with opened(database, server) as plain:
        models = await plain._core.models()
        with pytest.raises(ConfigError, match="added with another prompt extract than this process has"):
            models.extractor(recipe)
        assert models.extractor(models.recipe()).fingerprint
    assert server.calls == []


async def test_questions_are_asked_with_prompts_of_ones_own(database: Database, folder: Path) -> None:
    heard: list[str] = []

    def script(asked: Asked) -> str:
        heard.append(asked.messages[0].content)
        return '{"low_level": ["Ada"], "high_level": []}' if asked.schema else 'Ada did [1 "Ada Lovelace"].'

    (folder / "answer_text.md").write_text("Answer in rhymes.", "utf-8")
    (folder / "keywords.md").write_text("Name {most} keywords.", "utf-8")
    async with (
        ModelServer(script) as server,
        opened(database, server, prompt_folder=folder, extractor="capitals") as index,
    ):
        await index.add(NOTE)
        await index.ask("Who met whom?", "local")
    assert heard[0] == "Name 10 keywords."
    assert "- Answer in rhymes." in heard[-1]
