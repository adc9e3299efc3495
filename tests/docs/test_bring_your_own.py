"""What the page on bringing your own shows does what it says."""

import json
import runpy
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks
from trueweave import AsyncTrueweave, Chunk, Settings, Source
from trueweave.extend import Database
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked

PAGE = (ROOT / "docs" / "how-to" / "bring-your-own.md").read_text("utf-8")


@pytest.fixture
def shown(tmp_path: Path) -> dict[str, Any]:
    """What the blocks on the page define; that which opens a workspace is left out."""
    program = tmp_path / "shown.py"
    program.write_text("\n\n".join(one for one in blocks(PAGE, "python") if "with Trueweave" not in one), "utf-8")
    return runpy.run_path(str(program))


async def stored(database: Database, source: Source, **parts: Any) -> list[Chunk]:
    settings = Settings(extractor="capitals")
    made = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings, **parts)
    async with aclosing(made) as index:
        assert (await index.add(source)).failed == 0
        return [chunk async for document in index.documents() for chunk in document.chunks]


@pytest.mark.parametrize("name", ["Tickets", "make_tickets"])
async def test_the_extractor_finds_tickets(database: Database, name: str, shown: dict[str, Any]) -> None:
    part = shown[name]
    text = "OPS-1 is caused by NET-22, not by OPS-3. OPS-1 stays open."
    [chunk] = await stored(database, Source("a", text), extractor=part() if name == "Tickets" else part)
    assert {(mention.name, mention.type) for mention in chunk.mentions} == {
        (ticket, "ticket") for ticket in ("OPS-1", "NET-22", "OPS-3")
    }
    assert {(link.source, link.target) for link in chunk.links} == {("OPS-1", "NET-22"), ("OPS-1", "OPS-3")}
    assert ((0, 5), (41, 46)) in [mention.spans for mention in chunk.mentions]


async def test_the_extractor_finds_nothing_where_there_is_no_ticket(database: Database, shown: dict[str, Any]) -> None:
    [chunk] = await stored(database, Source("a", "All is well."), extractor=shown["Tickets"]())
    assert not chunk.mentions


async def test_the_chunker_makes_each_stanza_a_chunk(database: Database, shown: dict[str, Any]) -> None:
    text = "One line\nand another\n\n\n\nOne more\n\n"
    made = await stored(database, Source("a", text), chunker=shown["Stanzas"]())
    assert [one.text for one in made] == ["One line\nand another", "One more"]


async def test_the_prompt_takes_the_place_of_the_built_in_one(database: Database, tmp_path: Path) -> None:
    heard: list[str] = []

    def script(asked: Asked) -> str:
        heard.append(asked.messages[0].content)
        return 'Ada did [1 "Ada Lovelace"].'

    [prompt] = blocks(PAGE, "markdown")
    (tmp_path / "answer_text.md").write_text(prompt, "utf-8")
    async with ModelServer(script) as server:
        settings = Settings(model="vllm/any", model_url=server.url, prompt_folder=tmp_path, extractor="capitals")
        async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as index:
            await index.add(Source("a", "Ada Lovelace wrote notes."))
            await index.ask("Who wrote notes?", "keyword")
    assert f"- {prompt.strip()}\n" in heard[0]


async def test_the_schema_leaves_out_what_does_not_fit(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(asked: Asked) -> str:
        types = {"Ada": "person", "Acme": "company", "York": "place"}
        works = {"source": "Ada", "target": "Acme", "type": "works for", "description": "She works there."}
        wrong = {"source": "Acme", "target": "Ada", "type": "works for", "description": "It works there."}
        entities = [{"name": name, "type": type_} for name, type_ in types.items()]
        return json.dumps({"entities": entities, "relations": [works, wrong]})

    [schema] = [block for block in blocks(PAGE, "toml") if "relation_patterns" in block]
    async with ModelServer(script) as server:
        model = f'model = "vllm/any"\nmodel_url = "{server.url}"\n'
        (tmp_path / "trueweave.toml").write_text(model + schema, "utf-8")
        monkeypatch.setenv("TRUEWEAVE_CONFIG", str(tmp_path / "trueweave.toml"))
        async with aclosing(await AsyncTrueweave.enter(database, "test", settings=Settings.load())) as index:
            found = await index.try_extract(Source("a", "Ada works for Acme in York."))
    assert [mention.name for mention in found.found.mentions] == ["Ada", "Acme"]
    assert [(link.source, link.keywords) for link in found.found.links] == [("Ada", ("works for",))]
    assert [one.what for one in found.left_out] == ["York", "Acme -> Ada"]
