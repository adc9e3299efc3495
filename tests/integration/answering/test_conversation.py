"""Conversations: follow-up questions are understood from what was said, and no more of that is kept than is of use."""

from contextlib import aclosing
from decimal import Decimal

import pytest

from tests.integration.answering.test_asking import QUESTION, Scripted, asking
from trueweave import Answer, AsyncTrueweave, Chunk, Document, Event, Filter, Settings
from trueweave.answering import conversations
from trueweave.errors import ModelUnavailable
from trueweave.events import Retrieved, Rewritten
from trueweave.extend import Database
from trueweave.methods import Keyword
from trueweave.testing import Fault, Trouble


async def test_a_follow_up_question_is_understood_from_what_was_said(database: Database) -> None:
    script = Scripted()
    async with asking(database, script) as trueweave:
        talk = trueweave.conversation(Keyword(top_k=1))
        heard: list[Event] = []
        first = await talk.ask(QUESTION, listener=heard.append)
        assert heard == [Retrieved(first.evidence)]
        assert len(talk.history) == 2
        script.answer = "It belongs to Lady Maron [1]."
        script.rewritten = "To whom does the Corvin Tower belong?"
        second = await talk.ask("And whose is the tower?", listener=heard.append)
        assert heard[1:] == [Rewritten("To whom does the Corvin Tower belong?"), Retrieved(second.evidence)]
        assert [passage.title for passage in second.evidence.passages] == ["tower"]
        assert [message.role for message in talk.history] == ["user", "assistant", "user", "assistant"]
        assert [message.content for message in talk.history][::2] == [QUESTION, "And whose is the tower?"]
        assert talk.usage == first.usage + second.usage
        assert talk.usage.calls == 3
        assert talk.usage.price is not None
        assert talk.usage.price > Decimal(0)
        asked = len(script.asked)
        talk.clear()
        assert not list(talk.history)
        await talk.ask("Whose is the tower by now?")
        assert len(script.asked) == asked + 1, "nothing was said, so nothing is rewritten"


async def test_an_answer_comes_in_pieces_and_one_that_is_left_is_not_part_of_it(database: Database) -> None:
    async with asking(database, Scripted()) as trueweave:
        talk = trueweave.conversation("keyword", filter=Filter(uris=("bridge.md",)))
        async with aclosing(talk.stream(QUESTION)) as pieces:
            assert isinstance(await anext(pieces), str)
        assert talk.history == ()
        heard = [piece async for piece in talk.stream(QUESTION)]
        assert isinstance(heard[-1], Answer)
        assert "".join(map(str, heard[:-1])) == heard[-1].text
        assert {passage.uri for passage in heard[-1].evidence.passages} == {"bridge.md"}
        assert len(talk.history) == 2


async def test_a_question_that_fails_is_not_part_of_it(database: Database) -> None:
    async with asking(database, Scripted(), trouble=Trouble.always(Fault.BROKEN)) as trueweave:
        talk = trueweave.conversation("keyword")
        with pytest.raises(ModelUnavailable):
            await talk.ask(QUESTION)
        assert talk.history == ()


async def test_no_more_is_kept_than_is_of_use(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "_KEPT", 60)
    async with asking(database, Scripted()) as trueweave:
        talk = trueweave.conversation("keyword")
        for n in range(4):
            await talk.ask(f"{QUESTION} This is the time number {n} that it is asked.")
        said = " ".join(message.content for message in talk.history)
        assert "number 3" in said
        assert "number 0" not in said
        assert len(said) < 500


async def test_without_a_model_the_last_question_is_looked_for_as_well(database: Database) -> None:
    plain = await AsyncTrueweave.enter(database, "plain", settings=Settings(embedding_model=None))
    async with aclosing(plain):
        texts = {"a": "The tower is 88 metres high.", "b": "A zeppelin lands.", "c": "Nothing else."}
        await plain.add_documents(Document(uri, (Chunk(text),)) for uri, text in texts.items())
        talk = plain.conversation()
        assert not plain.has_model
        assert [passage.uri for passage in (await talk.ask("tower")).evidence.passages] == ["a"]
        [answer] = [piece async for piece in talk.stream("zeppelin")]
        assert isinstance(answer, Answer)
        assert answer.text == ""
        assert {passage.uri for passage in answer.evidence.passages} == {"a", "b"}
