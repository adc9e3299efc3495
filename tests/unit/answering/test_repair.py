"""Answers by quotes alone, and sentences that are written anew because the check did not confirm them."""

from collections.abc import AsyncIterator
from decimal import Decimal
from uuid import UUID

import pytest

from trueweave import Answer, Evidence, Passage
from trueweave.answering.ask import NOTHING_FOUND, Answering
from trueweave.core.model_calls import Purpose
from trueweave.errors import BudgetReached, ConfigError
from trueweave.extend import Prompt, Reply

BRIDGE = Passage(
    UUID(int=1),
    "bridge.md",
    "The Ambrel Bridge",
    "The Ambrel Bridge was opened in 1912. No serious accidents were recorded there. It was built by 300 workers.",
    100,
    1.0,
)
FIRM = Passage(UUID(int=2), "firm.md", "Tovrick & Sons", "Tovrick & Sons was sold in 1931.", 0, 0.9)
QUESTION = "What is known of the Ambrel Bridge?"


class Model:
    """Gives these replies, one after the other. An error is raised."""

    model = "fake/model"

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[Prompt, Purpose]] = []

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.asked.append((prompt, purpose))
        said = self.replies.pop(0)
        if isinstance(said, Exception):
            raise said
        return Reply(said, 100, 20, "stop", Decimal("0.25"))

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        reply = await self.complete(prompt, purpose)
        yield reply.text
        yield reply


async def ask(model: Model, answering: Answering) -> Answer:
    """The answer, once what was streamed was seen to be its text and its sentences to be in it."""
    *pieces, answer = [piece async for piece in answering.stream(QUESTION, Evidence((BRIDGE, FIRM)), model)]
    assert isinstance(answer, Answer)
    assert "".join(map(str, pieces)) == answer.text
    for sentence in answer.sentences:
        assert answer.text[sentence.start : sentence.end] == sentence.text
    return answer


# --- by quotes alone ----------------------------------------------------------------------------------


async def test_an_extractive_answer_is_whole_sentences_of_the_passages() -> None:
    said = 'Sure! [1 "serious accidents were recorded"] and [2 "was sold in 1931"]\n[1 "Serious accidents"]'
    answer = await ask(Model(said), Answering(extractive=True))
    assert answer.text == "“No serious accidents were recorded there.” [1]\n“Tovrick & Sons was sold in 1931.” [2]"
    assert [(one.status, one.citations) for one in answer.sentences] == [("quoted", (1,)), ("quoted", (2,))]
    first = answer.citations[0]
    assert (first.quote, first.start) == ("No serious accidents were recorded there.", 138)
    assert answer.known
    assert not answer.doubtful


async def test_a_quote_that_is_in_no_passage_is_left_out_and_listed() -> None:
    answer = await ask(Model('[1 "was opened in 1913"] [9 "was sold"] [2 "sold in 1931"]'), Answering(extractive=True))
    assert answer.text == "“Tovrick & Sons was sold in 1931.” [2]"
    assert [(one.before.text, one.before.reason, one.after) for one in answer.repairs] == [
        ("was opened in 1913", "it is not in passage 1", ""),
        ("was sold", "it is not in passage 9", ""),
    ]


@pytest.mark.parametrize("said", ["[0] Nobody knows.", "It was opened in 1912 [1].", '[1 "made up words"]'])
async def test_without_a_quote_the_documents_do_not_say(said: str) -> None:
    answer = await ask(Model(said), Answering(extractive=True))
    assert (answer.text, answer.known, answer.sentences) == (NOTHING_FOUND, False, ())


def test_an_answer_is_not_extractive_and_numerical() -> None:
    with pytest.raises(ConfigError, match="both extractive and numerical"):
        Answering(extractive=True, numerical_answer=True)


# --- repair -------------------------------------------------------------------------------------------

FIRST = (
    'It was opened in 1912 [1 "was opened in 1912"]. Serious accidents were recorded [1 "serious accidents were"]. '
    "It was painted green."
)


async def test_doubtful_sentences_are_written_anew_and_checked_again() -> None:
    model = Model(FIRST, '1: No serious accidents were recorded [1 "No serious accidents were recorded"].\n2: none')
    answer = await ask(model, Answering(repair=True))
    assert answer.text == "It was opened in 1912 [1]. No serious accidents were recorded [1]."
    assert [one.status for one in answer.sentences] == ["quoted", "quoted"]
    assert [(one.before.status, one.after) for one in answer.repairs] == [
        ("contradicted", "No serious accidents were recorded [1]."),
        ("not checked", ""),
    ]
    assert [one.verifier for one in answer.checks] == ["rules", "repair", "rules"]
    assert answer.usage.calls == 2
    prompt, purpose = model.asked[1]
    assert purpose == Purpose("revise")
    asked = prompt.messages[1].content
    assert "1: Serious accidents were recorded [1].\n   Problem: contradicted" in asked
    assert "It was opened in 1912 [1]" not in asked.partition("Sentences to correct")[2], "what is confirmed stays"


async def test_a_new_sentence_that_is_not_confirmed_either_is_not_taken() -> None:
    worse = '1: Many accidents happened in 1950 [1 "serious accidents were"].\n2: It was green [2].'
    answer = await ask(Model(FIRST, worse), Answering(repair=True))
    assert answer.text.endswith("Serious accidents were recorded [1]. It was painted green.")
    assert [one.status for one in answer.sentences] == ["quoted", "contradicted", "not checked"]
    assert answer.repairs == ()


@pytest.mark.parametrize("said", ["", "I cannot.", "7: What? [1]"])
async def test_a_reply_of_no_use_leaves_the_answer_as_it_is(said: str) -> None:
    answer = await ask(Model(FIRST, said), Answering(repair=True))
    assert [one.status for one in answer.sentences] == ["quoted", "contradicted", "not checked"]


async def test_a_call_that_fails_leaves_the_answer_as_it_is_and_is_told() -> None:
    answer = await ask(Model(FIRST, BudgetReached("the budget is spent")), Answering(repair=True))
    assert [one.status for one in answer.sentences] == ["quoted", "contradicted", "not checked"]
    assert [one.problem for one in answer.checks] == ["", "the budget is spent"]


async def test_where_nothing_is_doubtful_the_model_is_not_asked_again() -> None:
    model = Model('It was opened in 1912 [1 "was opened in 1912"].')
    answer = await ask(model, Answering(repair=True))
    assert (len(model.asked), answer.repairs) == (1, ())


async def test_items_of_a_list_keep_their_places() -> None:
    said = (
        '- opened in 1912 [1 "was opened in 1912"]\n- painted green\n- built by 300 workers [1 "built by 300 workers"]'
    )
    answer = await ask(Model(said, "1: none"), Answering(repair=True))
    assert answer.text == "- opened in 1912 [1]\n- built by 300 workers [1]"
    answer = await ask(Model("- painted green\n- painted red", "1: none\n2: none"), Answering(repair=True))
    assert (answer.text, answer.known) == (NOTHING_FOUND, False)
