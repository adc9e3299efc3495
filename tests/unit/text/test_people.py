"""The parts of names of people."""

import pytest

from trueweave.text.people import person, untitled


@pytest.mark.parametrize(
    ("name", "title", "given", "surname"),
    [
        ("Ellen Voss", "", ("ellen",), "voss"),
        ("Dr. Ellen Voss", "dr", ("ellen",), "voss"),
        ("Prof. Dr. Voss", "dr", (), "voss"),
        ("Frau Müller", "frau", (), "muller"),
        ("J.R.R. Tolkien", "", ("j", "r", "r"), "tolkien"),
        ("J. R. R. Tolkien", "", ("j", "r", "r"), "tolkien"),
        ("Vincent van Gogh", "", ("vincent", "van"), "gogh"),
        ("Conan O’Brien", "", ("conan",), "o'brien"),
        ("Martin Luther King, Jr.", "", ("martin", "luther"), "king"),
    ],
)
def test_a_name_has_parts(name: str, title: str, given: tuple[str, ...], surname: str) -> None:
    found = person(name)
    assert found is not None
    assert (found.title, found.given, found.surname) == (title, given, surname)


@pytest.mark.parametrize(
    "name",
    [
        "London Bridge",
        "University of Vienna",
        "Henry VIII",
        "Ann Arbor, Michigan",
        "Lou Malnati's Pizzeria",
        "Found Mr. Gibbs",
        "GPT-4 Turbo",
        "Apollo 11",
        "E.",
        "",
        "and Company",
        "Ada Ada Ada Ada Ada Ada Ada",
    ],
)
def test_what_is_no_name_of_a_person_has_none(name: str) -> None:
    assert person(name) is None


def test_only_words_before_the_name_are_titles() -> None:
    assert untitled("Rev. Mr. Laurence Sterne") == "Laurence Sterne"
    assert untitled("Ellen Doctor Voss") == "Ellen Doctor Voss"
    assert untitled("Mr.") == "Mr."


def test_titles_show_who_is_meant() -> None:
    found = [person(f"{title} Cratchit") for title in ("Mr.", "Mrs.", "Dr.")]
    assert [one.apparent_gender for one in found if one] == ["male", "female", ""]
