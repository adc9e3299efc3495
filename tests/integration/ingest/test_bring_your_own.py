"""Prompts, extractors and chunkers of a user's own: what they change, and what is told before anything is asked."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from trueweave import AnswerOptions, AsyncTrueweave, Chunk, Mention, Message, Settings, Source
from trueweave.core import plugins
from trueweave.core.events import ignore
from trueweave.core.model_calls import Purpose
from trueweave.errors import ConfigError, UnreadableFile
from trueweave.extend import ChunkSizes, Database, Extraction, IngestContext, Prompt
from trueweave.models.prompts import load
from trueweave.store.postgres.record import sources
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked
from trueweave.types import OutOfDate

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


# --- a schema -----------------------------------------------------------------------------------------


async def test_a_schema_is_a_setting_and_part_of_the_recipe(database: Database) -> None:
    def script(asked: Asked) -> str:
        people = [{"name": name, "type": "person"} for name in ("Ada Lovelace", "Charles Babbage")]
        place = {"name": "London", "type": "place"}
        met = {"source": "Ada Lovelace", "target": "Charles Babbage", "type": "met", "description": "They met."}
        wrong = {"source": "Ada Lovelace", "target": "London", "type": "met", "description": "She met it."}
        return json.dumps({"entities": [*people, place], "relations": [met, wrong]})

    async with ModelServer(script) as server:
        async with opened(database, server) as plain:
            await plain.add(NOTE)
        schema: dict[str, Any] = {"relation_types": {"met": "they saw each other"}, "strict_schema": True}
        async with opened(database, server, relation_patterns=(("person", "met", "person"),), **schema) as strict:
            changed = ("relation_patterns", "relation_types", "strict_schema")
            assert await strict.maintenance.out_of_date() == [OutOfDate(1, changed)]
            assert (await strict.add(NOTE)).new == 1
            [chunk] = await chunks(strict)
            assert [(link.target, link.keywords) for link in chunk.links] == [("Charles Babbage", ("met",))]
            [info] = await strict.list_documents()
            assert "relations that no pattern allows, dropped: 1" in info.notes
            assert (await strict.add(NOTE)).unchanged == 1
        calls = len(server.calls)
        async with opened(database, server, relation_patterns=(("person", "met", "ship"),), **schema) as wrong:
            with pytest.raises(ConfigError, match="names 'ship', which is not one of the entity types"):
                await wrong.add(NOTE)
        assert len(server.calls) == calls


# --- extractors and chunkers --------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """Finds one word."""

    word: str = "met"

    @property
    def fingerprint(self) -> str:
        return f"1 {self.word}"

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> list[Extraction]:
        return [Extraction((Mention(self.word),)) if self.word in chunk.text else Extraction() for chunk in chunks]


class Asking:
    """Finds what the workspace's model says."""

    fingerprint = "1"

    def __init__(self, context: IngestContext) -> None:
        assert context.llm
        self._llm = context.llm

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> list[Extraction]:
        asked = [Prompt((Message("user", f"Whom does this name? {chunk.text}"),), 100) for chunk in chunks]
        replies = [await self._llm.complete(prompt, Purpose("extract", source.uri)) for prompt in asked]
        return [Extraction((Mention(reply.text),)) for reply in replies]


class Halves:
    """Cuts a text in two."""

    fingerprint = "1"

    async def chunk(self, source: Source, sizes: ChunkSizes) -> list[Chunk]:
        at = len(source.text) // 2
        return [Chunk(source.text[:at]), Chunk(source.text[at:], at)]


class Broken:
    """Does nothing right."""

    fingerprint = "1"

    def __init__(self, found: object) -> None:
        self.found = found

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def chunk(self, source: Source, sizes: ChunkSizes) -> Any:
        return self.found


@asynccontextmanager
async def given(database: Database, **parts: Any) -> AsyncIterator[AsyncTrueweave]:
    settings = parts.pop("settings", Settings(extractor="capitals", tries=1, try_again_after=0.01))
    made = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings, **parts)
    async with aclosing(made) as index:
        yield index


async def chunks(index: AsyncTrueweave) -> list[Chunk]:
    return [chunk async for one in index.documents() for chunk in one.chunks]


async def test_an_extractor_and_a_chunker_that_are_given_are_used(database: Database) -> None:
    async with given(database, extractor=Words(), chunker=Halves()) as index:
        assert (await index.add(NOTE)).failed == 0
        first, second = await chunks(index)
        assert first.text + second.text == NOTE.text
        assert first.tokens > 0, "tokens are counted for it"
        assert await names(index) == {"met"}
        assert (await index.add(NOTE)).unchanged == 1
        assert (await index.estimate(NOTE, refresh=True)).documents == 0
        assert (await index.maintenance.verify()).exact
    async with given(database, extractor=Words("Ada"), chunker=Halves()) as changed:
        assert await changed.maintenance.out_of_date() == [OutOfDate(1, ("extractor_fingerprint",))]
        assert (await changed.add(NOTE)).new == 1
        assert await names(changed) == {"Ada"}


async def test_an_extractor_may_ask_the_model_of_the_workspace_and_pays_from_its_budget(database: Database) -> None:
    async with ModelServer(lambda _: "Ada") as server:
        settings = Settings(model="vllm/any", model_url=server.url, model_tries=1)
        async with given(database, extractor=Asking, settings=settings) as index:
            await index.add(NOTE)
            assert await names(index) == {"Ada"}
            assert [one.stage for one in (await index.budget.receipt())] == ["extract"]
            await index.remove([NOTE.uri])


async def test_another_process_does_not_work_a_document_by_another_extractor(database: Database) -> None:
    async with given(database, extractor=Words(), chunker=Halves()) as index:
        recipe = (await index._core.models()).recipe()
        await sources.submit(index.workspace, [NOTE], recipe.packed())
    async with given(database) as other:
        await other._core.work_off(ignore)
        [failed] = await other.maintenance.failed_documents()
        assert "added by a program with its own extractor, which no other process has" in failed.error
        assert "trueweave.extractors" in failed.error
        assert (await other.status()).documents == 0
    async with given(database, extractor=Words("other"), chunker=Halves()) as another:
        assert await another.maintenance.retry() == 1
        [failed] = await another.maintenance.failed_documents()
        assert "another version of the extractor given" in failed.error
    async with given(database, extractor=Words(), chunker=Halves()) as same:
        assert await same.maintenance.retry() == 1
        assert await names(same) == {"met"}


async def test_they_are_found_by_entry_point(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {
        "trueweave.extractors": [EntryPoint("words", f"{__name__}:make_words", "trueweave.extractors")],
        "trueweave.chunkers": [EntryPoint("halves", "nowhere:Halves", "trueweave.chunkers")],
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: installed.get(group, []))
    monkeypatch.setattr(EntryPoint, "load", lambda entry: {"words": lambda _: Words()}[entry.name])
    settings = Settings(extractor="words")
    async with given(database, settings=settings) as index:
        assert (await index.add(NOTE)).failed == 0
        assert await names(index) == {"met"}
        estimate = await index.estimate(Source("another", NOTE.text))
        assert estimate.notes == ("the model calls of the extractor words are not known in advance, and not counted",)
    async with given(database, settings=settings.model_copy(update={"extractor": "wrods"})) as index:
        with pytest.raises(ConfigError, match=r"no extractor 'wrods'\. There are llm, nlp, capitals, words"):
            await index.add(NOTE)
    async with given(database, settings=settings.model_copy(update={"chunker": "halves"})) as index:
        with pytest.raises(ConfigError, match="the chunker halves cannot be loaded"):
            await index.add(NOTE)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (
            {"extractor": Broken(ValueError("no luck\nat all"))},
            "extractor given raised ValueError: no luck. Fix it",
        ),
        ({"extractor": Broken([])}, "the extractor given must return one Extraction for each of 1 chunks"),
        ({"extractor": Broken([1])}, "the extractor given must return one Extraction"),
        ({"chunker": Broken(None)}, "the chunker given must return a list of chunks"),
        ({"chunker": Broken([Chunk("Ada  Lovelace")])}, "starts at 0 is blank, differs from the text at that position"),
        (
            {"chunker": Broken([Chunk("met", 13), Chunk("Ada")])},
            "starts at 0 .* or does not start after",
        ),
    ],
)
async def test_what_they_do_wrong_is_said_of_them(database: Database, parts: dict[str, Any], problem: str) -> None:
    async with given(database, **parts) as index:
        assert (await index.add(NOTE)).failed == 1
        [failed] = await index.maintenance.failed_documents()
        assert re.search(problem, failed.error)
        assert "bug" not in failed.error


@pytest.mark.parametrize("parts", [{"extractor": object()}, {"chunker": type("Nothing", (), {"chunk": None})()}])
async def test_what_is_no_extractor_or_chunker_is_told_at_once(database: Database, parts: dict[str, Any]) -> None:
    async with given(database, **parts) as index:
        with pytest.raises((ConfigError, TypeError)):
            await index.add(NOTE)


async def test_documents_are_cut_by_meaning(database: Database) -> None:
    bees = "Bees live in hives. Bees make honey in hives. The hives of bees hold honey. "
    ships = "Ships sail to ports. Ports have docks for ships. Ships leave ports and docks. "
    source = Source("both", bees * 3 + ships * 3)
    settings = Settings(extractor="capitals", chunker="semantic", min_chunk_size=20, max_chunk_size=120)
    async with given(database, settings=settings) as index:
        await index.add(source)
        made = await chunks(index)
        assert any(one.text.startswith("Ships sail") for one in made), "where the text turns, a chunk ends"
        assert not any("Bees" in one.text and "Ships" in one.text for one in made)
        assert (await index.estimate(source)).unchanged == 1
        assert "counted with the chunker structure" in (await index.estimate(Source("n", "x"))).notes[0]
    other = settings.model_copy(update={"break_percentile": 30.0})
    async with given(database, settings=other) as index:
        assert await index.maintenance.out_of_date() == [OutOfDate(1, ("break_percentile",))]


async def test_cutting_by_meaning_needs_an_embedding_model(database: Database) -> None:
    settings = Settings(extractor="capitals", chunker="semantic", embedding_model=None)
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as index:
        with pytest.raises(ConfigError, match="the chunker semantic needs an embedding model"):
            await index.add(NOTE)


# --- trying it on one chunk ---------------------------------------------------------------------------


async def test_a_trial_shows_what_is_asked_kept_and_left_out_and_stores_nothing(database: Database) -> None:
    def script(asked: Asked) -> str:
        ada, ship = {"name": "Ada Lovelace", "type": "person"}, {"name": "Ambrel", "type": "ship"}
        return json.dumps({"entities": [ada, ship], "relations": []})

    async with (
        ModelServer(script) as server,
        opened(database, server, strict_schema=True, prices={"vllm/any": (1, 2)}) as index,
    ):
        found = await index.try_extract(NOTE)
        assert [call.stage for call in found.calls] == ["extract"]
        assert NOTE.text in found.calls[0].prompt.messages[1].content
        assert "Ambrel" in found.calls[0].reply.text
        assert [mention.name for mention in found.found.mentions] == ["Ada Lovelace"]
        assert [(one.what, one.why) for one in found.left_out] == [("Ambrel", "the schema has no entity type 'ship'")]
        assert found.tokens_in > 100
        assert found.price is not None
        assert found.price > 0
        again = await index.try_extract(NOTE)
        assert (again.tokens_in, again.calls[0].reply.kept) == (0, True)
        assert again.price == Decimal(0)
        assert (await index.status()).documents == 0
        await index.add(NOTE)
        assert len(server.calls) == 1, "the reply to the trial is there"
        with pytest.raises(ConfigError, match="note has no chunk 2"):
            await index.try_extract(NOTE, chunk=2)


async def test_a_trial_tells_of_a_reply_that_cannot_be_used(database: Database) -> None:
    async with ModelServer(lambda _: "no JSON") as server, opened(database, server) as index:
        found = await index.try_extract(NOTE)
    assert [call.stage for call in found.calls] == ["extract", "repair"]
    assert "is unusable, twice" in found.problem


async def test_a_trial_hears_what_an_extractor_of_ones_own_asks(database: Database) -> None:
    async with ModelServer(lambda _: "Ada") as server:
        settings = Settings(model="vllm/any", model_url=server.url, model_tries=1)
        async with given(database, extractor=Asking, settings=settings) as index:
            found = await index.try_extract(NOTE)
    assert (found.extractor, [call.reply.text for call in found.calls]) == ("given", ["Ada"])
    assert found.found.mentions == (Mention("Ada"),)


async def test_a_trial_of_a_file_takes_its_first_document(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("id,text\n1,Ada Lovelace met Charles Babbage.\n2,Other\n", "utf-8")
    async with given(database) as index:
        found = await index.try_extract(file)
        assert (found.number, found.chunks, found.extractor, found.calls) == (1, 1, "capitals", ())
        assert {mention.name for mention in found.found.mentions} == {"Ada Lovelace", "Charles Babbage"}
        with pytest.raises(UnreadableFile, match="cannot be tried"):
            await index.try_extract(tmp_path / "missing.txt")


async def test_each_question_has_its_own_language_and_temperature_and_no_reply_of_another(database: Database) -> None:
    def script(asked: Asked) -> str:
        who = "Elle" if "Answer in French." in asked.messages[0].content else "She"
        return f'{who} did [1 "Ada Lovelace met"].'

    async with ModelServer(script) as server, opened(database, server, extractor="capitals") as index:
        await index.add(NOTE)
        plain = await index.ask("Who met whom?", "keyword")
        french = await index.ask("Who met whom?", "keyword", options=AnswerOptions(language="French"))
        await index.ask("Who met whom?", "keyword", options=AnswerOptions(language="French", temperature=0.5))
        assert len(server.calls) == 3
        await index.ask("Who met whom?", "keyword", options=AnswerOptions(language="French"))
        assert len(server.calls) == 3
    assert (plain.text, french.text) == ("She did [1].", "Elle did [1].")
