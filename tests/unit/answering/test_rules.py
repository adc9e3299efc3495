"""What the rules catch and what they let pass, rule by rule, each with a true sentence on the same words."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from trueweave import Passage, Sentence
from trueweave.answering.check import check
from trueweave.answering.citation_parser import parse
from trueweave.answering.verifiers import RulesVerifier
from trueweave.answering.verifiers.normalise import normalised

DIARY = (
    "On 14 June Halvorsen reached the glacier with eleven dogs. "
    "Lindqvist stayed at the base camp because of a fever, and Halvorsen lent him his compass. "
    "The temperature fell to minus 31 degrees Celsius at night."
)
PORT = (
    "The port of Varna handled 2.3 million tonnes of grain in 2018. Burgas handled 1.4 million tonnes in 2018. "
    "The harbour master, Todor Kolev, opposed the expansion, while the mayor supported it."
)
WILLOWS = "The leaves of Salix reptans are shorter than those of Salix glauca."
FILING = "Ines Caldeira joined the board of Quillon but left it in 2019. Quillon has not paid a dividend since 2014."
LEVELS = "The lowest level, 214 metres, was measured in 1976, and the highest, 241 metres, in 2013."
MARKET = "Stocks in Rotterdam fell for the fifth week in a row, while those in Busan doubled."
WILL = "Edmund Harte left his house to his niece Flora and 5,000 pounds to his gardener, Sam Pike."
BOOK = "The book has 212 recipes, 70 of them for fish. It was stolen in May and returned in October."
MERGER = (
    "The authority approved the takeover of Norvik by Baltrans. Clara wrote to Agnes that she had found her brooch."
)
FAULT = "The bearing seized because the oil level had fallen."
LEASE = "The club leases the boathouse for 20 years at a rent of 400 crowns a month."


def sentence(passage: str, claim: str) -> Sentence:
    """The first sentence of an answer that cites the whole passage, without a quote."""
    given = parse(f"{claim} [1].")
    shown = [Passage(UUID(int=1), "a.md", "Notes", passage, 0, 1.0)]
    return asyncio.run(check(given.text, given.marks, shown, "What happened?", [RulesVerifier()])).sentences[0]


def confirmed(passage: str, claims: Sequence[str]) -> list[bool]:
    return [sentence(passage, claim).confirmed for claim in claims]


@pytest.mark.parametrize(
    ("passage", "true", "false"),
    [
        pytest.param(
            DIARY,
            "The temperature fell to −31 °C at night",
            "The temperature fell to 31 degrees Celsius at night",
            id="sign of a number",
        ),
        pytest.param(DIARY, "At night it was 31 degrees below zero", "At night it was 31 °C", id="below zero"),
        pytest.param(
            WILLOWS,
            "Salix glauca has longer leaves than Salix reptans",
            "The leaves of Salix glauca are shorter than those of Salix reptans",
            id="comparison turned round",
        ),
        pytest.param(
            PORT,
            "Varna handled more grain than Burgas in 2018",
            "Burgas handled more grain than Varna in 2018",
            id="comparison by numbers",
        ),
        pytest.param(
            PORT,
            "The mayor was in favour of the expansion",
            "The mayor opposed the expansion, while Kolev supported it",
            id="synonym of the other side",
        ),
        pytest.param(
            DIARY,
            "Halvorsen lent Lindqvist his compass",
            "Lindqvist lent Halvorsen his compass",
            id="pronoun as object",
        ),
        pytest.param(
            FILING,
            "Ines Caldeira left the board of Quillon in 2019",
            "Ines Caldeira joined the board of Quillon but left it in 2019 after a quarrel over bonuses",
            id="added phrase",
        ),
        pytest.param(
            FILING, "Quillon last paid a dividend in 2014", "Quillon has paid a dividend since 2014", id="since"
        ),
        pytest.param(
            LEVELS,
            "The highest level was measured in 2013",
            "The highest level was measured in 1976",
            id="verb left out",
        ),
        pytest.param(
            MARKET,
            "Stocks in Busan have doubled",
            "Stocks in Busan fell for the fifth week in a row",
            id="one place for another",
        ),
        pytest.param(
            WILL,
            "Harte left his house to his niece Flora",
            "Harte left his house to his gardener, Sam Pike",
            id="one receiver for another",
        ),
        pytest.param(
            BOOK, "70 of the recipes are for fish", "The book has 212 recipes for fish", id="whole for the part"
        ),
        pytest.param(BOOK, "It was returned in October", "It was returned in March", id="unknown month"),
        pytest.param(
            MERGER,
            "The takeover of Norvik by Baltrans was approved",
            "The authority approved the takeover of Baltrans by Norvik",
            id="names that changed places",
        ),
        pytest.param(
            FAULT,
            "The bearing seized because the oil level had fallen",
            "The oil level fell because the bearing had seized",
            id="cause and effect",
        ),
        pytest.param(LEASE, "The rent is 400 crowns a month", "The rent is 400 crowns a year", id="period"),
    ],
)
def test_a_false_sentence_is_caught_and_a_true_one_on_the_same_words_is_confirmed(
    passage: str, true: str, false: str
) -> None:
    assert confirmed(passage, [true, false]) == [True, False]


def test_a_thing_of_one_person_is_not_confirmed_as_that_of_another() -> None:
    passage = "Olga visited Hugo. Paul left his coat in Vienna."
    assert confirmed(passage, ["Paul's coat was left in Vienna", "Hugo's coat was left in Vienna"]) == [True, False]


@pytest.mark.parametrize(
    ("passage", "false", "reason"),
    [
        ("The drill reached a depth of 1.6 metres.", "The drill reached a depth of 16 metres", "says 1.6, not 16"),
        ("Paul left his coat in Vienna. Emil came later.", "Emil left his coat in Vienna", "“Paul”, not “Emil”"),
        ("Leave to appeal was refused.", "Leave to appeal was granted", "“refused”, not “granted”"),
        ("Sofia was not named in his book.", "Sofia was named in his book", "denies it"),
        ("Sofia was named in his book.", "Sofia was not named in his book", "without the negation"),
        ("Skerra lies 14 km north of Oru.", "Oru lies 14 km north of Skerra", "the other way round"),
    ],
)
def test_a_sentence_with_one_thing_changed_is_contradicted(passage: str, false: str, reason: str) -> None:
    found = sentence(passage, false)
    assert found.status == "contradicted"
    assert reason in found.reason


@pytest.mark.parametrize(
    ("passage", "true"),
    [
        ("K7 is heavier than M2 but resists creep better.", "M2 is lighter than K7"),
        (
            "Headache was more common with velotropin than with allopurinol.",
            "Headache was less common with allopurinol",
        ),
        ("Turnout was 38 per cent, the lowest since the war.", "Turnout had not been so low since the war"),
        ("Tuck opposed the sale; its chairwoman, Ruth Adeyemi, favoured it.", "Ruth Adeyemi favored the sale"),
        ("After eleven weeks the well ran dry.", "It took eleven weeks before the well ran dry"),
        ("Sixty-one of the patients had never been vaccinated.", "61 patients were unvaccinated"),
        ("Soak 200 grams of barley overnight.", "Soak 0.2 kg of barley overnight"),
    ],
)
def test_a_true_sentence_in_other_words_is_not_contradicted(passage: str, true: str) -> None:
    assert sentence(passage, true).status != "contradicted"


def test_a_free_paraphrase_is_not_contradicted() -> None:
    """A free paraphrase that a rule objects to is not confirmed, which is all that rules can know of it."""
    passage = "The landlord shall not raise the rent before 2030."
    assert sentence(passage, "The landlord shall raise the rent before 2030").status == "contradicted"
    free = "Before 2030 tenants face a higher rent, which the landlord shall raise to the usual market level"
    assert sentence(passage, free).status == "not checked"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("−31 °C", "minus 31 degrees Celsius"),
        ("640 km²", "640 square kilometers"),
        ("$1.5m and £31,500", "1.5 million dollars and 31,500 pounds"),
        ("12 % of 5-7 kg", "12 percent of 5-7 kilograms"),
        ("favourites near the harbour", "favorites near the harbor"),
        ("31 degrees below zero", "minus 31 degrees"),
        ("Rovers won 3–2", "Rovers won 3–2"),
    ],
)
def test_units_signs_and_spelling_are_written_in_one_way(written: str, read: str) -> None:
    assert normalised(written) == read
