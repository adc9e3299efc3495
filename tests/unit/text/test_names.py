"""Names come from models and from people in any script: what is stored, what is compared, what is hashed."""

import re
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trueweave.text.names import digits, key, letters, name_id, normalise, pair_key, storable, tidy

HOSTILE = "\x00\x1b\n\x7f\u0301\u200b\u2028\u3000\ud83d\udc4d"
anything = st.text(st.sampled_from(HOSTILE) | st.integers(0, 0x10FFFF).map(chr), max_size=20)
A, B = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Ada \t\n Lovelace\u3000", "Ada Lovelace"),
        ("Ada\x00Lovelace\x1b\x7f", "Ada Lovelace"),
        ("e\u0301cole", "\u00e9cole"),
        ("Ada\ud83dLovelace", "Ada Lovelace"),
        ("DROP TABLE '\";--", "DROP TABLE '\";--"),
        ("\x00 \ud800\n", ""),
    ],
)
def test_tidy_composes_folds_white_space_and_drops_what_cannot_be_stored(text: str, expected: str) -> None:
    assert tidy(text) == expected


@given(anything)
def test_tidy_text_is_storable_printable_and_stays_as_it_is(text: str) -> None:
    tidied = tidy(text)
    tidied.encode()
    assert not re.search(r"[\x00-\x1f\x7f]", tidied)
    assert tidy(tidied) == tidied


@given(anything)
def test_storable_text_lacks_only_nul_and_lone_surrogates(text: str) -> None:
    assert storable(text).encode() == text.replace("\x00", "").encode(errors="ignore")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ada  LOVELACE", "ada lovelace"),
        ("Zürich", "zurich"),
        ("Straße", "strasse"),
        ("Москва", "moskva"),
        ("東京", "dongjing"),
        ("٣", "3"),
        ("%_\\", "%_\\"),
    ],
)
def test_letters_are_lower_case_ascii(name: str, expected: str) -> None:
    assert letters(name) == expected


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(("Ada Lovelace", "ADA  LOVELACE", "ada lovelace"), id="case and white space"),
        pytest.param(("Zürich", "Zurich"), id="accents"),
        pytest.param(("Acme Inc.", "ACME, Inc", "Acme", "Acme Incorporated", "Acme Corp.", "Acme, Ltd."), id="Acme"),
        pytest.param(("Nestlé S.A.", "Nestle SA", "NESTLÉ"), id="S.A."),
        pytest.param(("Siemens AG", "Siemens"), id="AG"),
        pytest.param(("Bauer GmbH & Co. KG", "Bauer GmbH", "Bauer & Co. KG", "Bauer"), id="GmbH & Co. KG"),
        pytest.param(("Philips B.V.", "Philips BV", "Philips PLC", "Philips LLC"), id="B.V."),
        pytest.param(("Huawei Technologies Co., Ltd.", "Huawei Technologies"), id="two legal forms"),
        pytest.param(("Coca-Cola", "Coca Cola", "coca–cola"), id="hyphens"),
        pytest.param(("O'Neill", "O’Neill", "ONeill"), id="apostrophes"),
        pytest.param(("J. R. R. Tolkien", "J.R.R. Tolkien", "JRR Tolkien"), id="initials"),
        pytest.param(("U.S. Steel", "US Steel", "U. S. Steel"), id="short forms"),
        pytest.param(("Johnson & Johnson", "Johnson and Johnson"), id="and"),
        pytest.param(("GPT-4", "GPT 4", "gpt4"), id="numbers"),
        pytest.param(("Yahoo!", "Yahoo", "“Yahoo”", "Yahoo®"), id="marks"),
    ],
)
def test_case_accents_punctuation_spacing_and_legal_forms_do_not_count(written: tuple[str, ...]) -> None:
    assert len(set(map(normalise, written))) == 1


@pytest.mark.parametrize(
    "written",
    [
        ("Paul Muller", "Paula Muller"),
        ("Mr. Fezziwig", "Mrs. Fezziwig"),
        ("C", "C++", "C#"),
        ("Disney", "Disney+"),
        ("iPhone", "iPhone SE"),
        ("Merck KGaA", "Merck & Co."),
        ("P. Rice", "Price"),
        ("White House", "Whitehouse"),
        ("Suez Canal", "Suez Canal Company"),
        ("Section 12", "Section 1.2"),
        ("Python 3.1", "Python 3.11"),
        ("The Limited", "The Corporation", "The"),
        ("Inc.", "Co.", "Ltd", "AG", "S.A."),
        ("!!!", "?"),
    ],
)
def test_what_makes_another_name_counts(written: tuple[str, ...]) -> None:
    assert len(set(map(normalise, written))) == len(written)


@pytest.mark.parametrize("name", ["\u0301", "\u200b", "\U000e0001"])
def test_a_name_of_which_transliteration_leaves_nothing_keeps_itself(name: str) -> None:
    assert normalise(name) == name


@given(anything.map(tidy).filter(bool))
@example("©")
@example("®")
def test_every_name_has_a_normal_form_that_is_its_own(name: str) -> None:
    assert normalise(name)
    assert normalise(normalise(name)) == normalise(name)


@given(
    st.lists(st.sampled_from(("Acme", "nord", "7", "X", "É", "&", "the")), min_size=1, max_size=4).map(" ".join),
    st.sampled_from((" Inc.", ", LLC", " GmbH", " S.A.", " b.v.")),
)
def test_a_legal_form_at_the_end_counts_only_where_nothing_else_is_left(name: str, form: str) -> None:
    kept = f"{normalise(name)} {normalise(form)}"
    is_bare = set(name.split()) <= {"the"} or name.endswith("&")
    assert normalise(name + form) == (kept if is_bare else normalise(name))


def test_digits_are_the_runs_in_their_order() -> None:
    assert digits("q3 2023") == digits("report 3 of 2023")
    assert len({digits("q3 2023"), digits("2023 q3"), digits("q32023"), digits("q 3 20 23")}) == 4
    assert digits("ada") == ""


def test_a_key_depends_on_where_its_parts_end() -> None:
    assert len({key("ab", "c"), key("a", "bc"), key("abc"), key("abc", ""), key("", "abc"), key("b", "a", "c")}) == 6


def test_keys_stay_what_they_are_because_databases_hold_them() -> None:
    assert key("trueweave") == UUID("7fbbe187-6bc1-c12f-1e53-ea20d0b10d58")
    assert name_id("Ada", "person") == UUID("04cc1ac3-1c6c-7b90-3e1d-346758f45aca")
    assert pair_key("tie", A, B) == UUID("531e463c-3c34-5ac9-03bf-6532d34e53f6")


def test_a_pair_has_an_order_and_a_purpose() -> None:
    assert len({pair_key("tie", A, B), pair_key("tie", B, A), pair_key("relation", A, B)}) == 3


def test_homonyms_have_ids_of_their_own() -> None:
    assert len({name_id("Mercury", "planet"), name_id("Mercury", "element"), name_id("mercury", "planet")}) == 3
