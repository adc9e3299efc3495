"""An answer that rests on one side of a conflict says so."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, nullcontext
from typing import Any

import pytest
from mcp import Client

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link, Mention, Settings
from trueweave.extend import Database
from trueweave.mcp import make_server
from trueweave.methods import Keyword
from trueweave.store.postgres.view.conflicts import ConflictLookups
from trueweave.testing.model_server import ModelServer

ASKED = "Who is the chief executive of Acme?"
ADA, BOB = "Ada Lund is the chief executive of Acme.", "Bob Lee is the chief executive of Acme."
NAMED = 'Ada Lund leads Acme [1 "is the chief executive of Acme"].'
NOT_NAMED = 'A woman is the chief executive [1 "is the chief executive of Acme"].'


def script(reply: str) -> Callable[[Any], str]:
    return lambda _: reply


def says(uri: str, text: str, date: str, readers: tuple[str, ...] = ()) -> Document:
    name = " ".join(text.split()[:2])
    link = Link(name, "Acme", text, ("chief executive of",))
    chunk = Chunk(text, mentions=(Mention(name, "person"), Mention("Acme", "company")), links=(link,))
    return Document(uri, (chunk,), metadata={"date": date}, readers=readers)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer(lambda _: NAMED) as server:
        yield server


def settings(model: ModelServer, **more: object) -> Settings:
    of_model = {"model": "vllm/any", "model_url": model.url, "embedding_model": None, "verifiers": ()}
    unique = {"functional_relations": {"chief executive of": "one source at a time"}}
    return Settings.model_validate(unique | of_model | more)


@pytest.fixture
async def index(database: Database, model: ModelServer) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings(model))) as opened:
        await opened.add_documents([says("old", ADA, "2020"), says("new", BOB, "2024-05")])
        yield opened


OLD = Filter(uris=("old",))


async def test_a_cited_side_brings_the_other_and_which_is_newer(index: AsyncTrueweave) -> None:
    answer = await index.ask(ASKED, Keyword(top_k=2))
    [found] = answer.disagreements
    told = "Acme, chief executive of: Bob Lee (2024-05, newest); Ada Lund (2020) (may have changed)"
    assert (found.status, found.line) == ("may have changed", told)
    assert [said.uri for side in found.sides for said in side.statements] == ["new", "old"]
    assert answer.note.endswith(f"Sources disagree:\n- {told}")


async def test_agents_are_told(index: AsyncTrueweave) -> None:
    async with Client(make_server(lambda _: nullcontext(index))) as client:

        async def called(tool: str, **given: Any) -> tuple[Any, str]:
            result = await client.call_tool(tool, given)
            assert not result.is_error
            return result.structured_content, str(result.content)

        fields, text = await called("conflicts")
        [found] = fields["conflicts"]
        assert (found["name"], found["relation"], found["status"]) == ("Acme", "chief executive of", "may have changed")
        told = [(one["name"], one["date"], one["newest"], one["documents"]) for one in found["values"]]
        assert told == [("Bob Lee", "2024-05", True, 1), ("Ada Lund", "2020", False, 1)]
        assert found["values"][0]["statements"] == [{"uri": "new", "date": "2024-05", "start": 0, "text": BOB}]
        assert "- Bob Lee (2024-05, newest, 1 document)" in text
        assert (await called("conflicts", filter="uri=old"))[0]["conflicts"] == []
        fields, text = await called("ask", question=ASKED, method="keyword")
        [line] = fields["disagreements"]
        assert line.startswith("Acme, chief executive of: Bob Lee (2024-05, newest)")
        assert f"sources disagree: {line}" in text


async def test_documents_that_the_filter_excludes_do_not_disagree(index: AsyncTrueweave) -> None:
    answer = await index.ask(ASKED, Keyword(top_k=2), filter=OLD)
    assert answer.citations
    assert answer.disagreements == ()


async def test_documents_that_the_caller_cannot_read_do_not_disagree(index: AsyncTrueweave) -> None:
    await index.add_documents([says("new", BOB, "2024-05", ("hr",))])
    for groups, disagreed in (((), 0), (("hr",), 1), (("*",), 1)):
        answer = await index.acting_as(groups).ask(ASKED, Keyword(top_k=2))
        assert answer.citations
        assert len(answer.disagreements) == disagreed, groups


async def test_methods_side_by_side_say_so_too(index: AsyncTrueweave) -> None:
    [row] = (await index.compare(ASKED, [Keyword(top_k=2)], answers=True)).rows
    assert row.answer
    assert len(row.answer.disagreements) == 1


async def test_an_answer_that_names_no_value_or_cites_nothing_does_not_disagree(
    database: Database, index: AsyncTrueweave
) -> None:
    assert index.settings.functional_relations
    for reply in (NOT_NAMED, "[0] It is not said."):
        async with ModelServer(script(reply)) as other:
            again = await AsyncTrueweave.enter(database, "test", settings=settings(other))
            async with aclosing(again) as opened:
                assert (await opened.ask(ASKED, Keyword(top_k=2))).disagreements == ()


async def test_without_the_setting_nothing_is_looked_up(
    database: Database, index: AsyncTrueweave, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise AssertionError("it was looked up")

    monkeypatch.setattr(ConflictLookups, "of_chunks", fail)
    assert index.settings.functional_relations
    unset = await AsyncTrueweave.enter(database, "test", settings=settings(model, functional_relations={}))
    async with aclosing(unset) as opened:
        answer = await opened.ask(ASKED, Keyword(top_k=2))
        assert answer.citations
        assert answer.disagreements == ()
    with pytest.raises(AssertionError, match="it was looked up"):
        await index.ask(ASKED, Keyword(top_k=2))
