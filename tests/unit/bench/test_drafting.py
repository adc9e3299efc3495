"""Questions from sentences, and the checks that they must pass."""

from dataclasses import replace

import pytest

from trueweave.bench import drafting
from trueweave.bench.drafts import ONE, TWO, Draft, Quote, problem
from trueweave.store.postgres.view.sampling import SampledText
from trueweave.text.names import key


def sampled(
    text: str, *names: str, name: str = "", uri: str = "a.md", cut: tuple[bool, bool] = (False, False)
) -> SampledText:
    return SampledText(uri, "A", 0, text, cut, names, key("text", text), name)


ACME = sampled("Ada Lund founded the firm Acme in old Oslo.", "Ada Lund", "Acme", "Oslo", name="Ada Lund")
ADA = sampled("Ada Lund was born in Bergen near the harbour.", "Ada Lund", "Bergen", name="Ada Lund", uri="b.md")
BUILT = sampled("The old mill was built by Ada Lund with six men.", "Ada Lund", name="Ada Lund", uri="c.md")


def questions(drafts: object) -> dict[str, str]:
    assert hasattr(drafts, "__iter__")
    return {draft.question: draft.answer for draft in drafts}


def test_a_sentence_asks_for_each_of_its_names_and_numbers() -> None:
    text = sampled("Ada Lund founded the firm Acme in Oslo in 1874.", "Ada Lund", "Acme", "Oslo")
    assert questions(drafting.from_one(text)) == {
        "Who or what founded the firm Acme in Oslo in 1874?": "Ada Lund",
        "Which name is missing in “Ada Lund founded the firm … in Oslo in 1874”?": "Acme",
        "Which name is missing in “Ada Lund founded the firm Acme in … in 1874”?": "Oslo",
        "Which year is missing in “Ada Lund founded the firm Acme in Oslo in …”?": "1874",
    }


@pytest.mark.parametrize(
    "text",
    [
        "He founded the firm Acme in Oslo.",  # says something only together with the text before it
        "| Ada Lund | founded the firm Acme | Oslo |",
        "Ada Lund founded Acme",  # a heading, or cut off
        "See https://acme.example for the firm Acme in Oslo.",
    ],
)
def test_a_sentence_that_says_nothing_by_itself_is_left_out(text: str) -> None:
    assert list(drafting.from_one(sampled(text, "Ada Lund", "Acme", "Oslo"))) == []


def test_a_sentence_that_is_cut_off_is_left_out() -> None:
    text = "the firm Acme of rich old Oslo.  The heir Ada Lund sold the firm Acme.  Later the old town of Oslo bou."
    found = drafting.from_one(sampled(text, "Ada Lund", "Acme", "Oslo", cut=(True, True)))
    assert {draft.quotes[0].text for draft in found} == {"The heir Ada Lund sold the firm Acme."}


def test_a_name_in_one_document_is_described_by_what_another_says_about_it() -> None:
    [draft] = drafting.from_two(ACME, ADA)
    assert draft == Draft(
        "The one that founded the firm Acme in old Oslo was born in what?",
        "Bergen",
        TWO,
        (Quote("a.md", ACME.text), Quote("b.md", ADA.text)),
        "Ada Lund",
    )
    [draft] = drafting.from_two(BUILT, ADA)
    assert draft.question == (
        "X is the same name in “The old mill was built by X with six men” and in “X was born in …”: "
        "which name is missing?"
    )


def test_of_the_sentence_that_answers_no_more_is_quoted_than_the_words_next_to_the_answer() -> None:
    """With more, it could be found without knowing the name."""
    [draft] = drafting.from_two(BUILT, ADA)
    assert "harbour" not in draft.question
    assert draft.quotes[-1].text == ADA.text


GOOD = next(drafting.from_two(ACME, ADA))


def test_a_good_draft_has_no_problem() -> None:
    assert problem(GOOD) == ""


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (replace(GOOD, question="Who founded Acme, and was born in Bergen?"), "it contains its answer"),
        (replace(GOOD, question="Where was Ada born, according to the passage?"), "it speaks of its passage"),
        (replace(GOOD, question="Where was the man called Lund born then?"), "it contains the name that connects"),
        (replace(GOOD, question="The one that was born in old Oslo."), "not a question"),
        (replace(GOOD, question="Who or what was it that did it?"), "too few words"),
        (replace(GOOD, answer="Rome"), "its answer is not in its passage"),
        (replace(GOOD, answer="Ada"), "its answer is the name that connects"),
        (replace(GOOD, quotes=(GOOD.quotes[1], GOOD.quotes[1])), "it rests on one document"),
        (replace(GOOD, quotes=(Quote("a.md", "Bergen has Acme."), GOOD.quotes[1])), "first document has the answer"),
        (replace(GOOD, kind=ONE, answer=""), "its answer is empty"),
    ],
)
def test_a_draft_that_a_reader_could_answer_otherwise_or_not_at_all_has_a_problem(draft: Draft, why: str) -> None:
    assert why in problem(draft)
