"""Where words are: the page and headings over each character of a passage, and how a reader is told."""

from uuid import UUID

import pytest

from trueweave import Citation, Passage, Place
from trueweave.core.evidence import place_at

PAGES = (Place(0, "page", "1"), Place(10, "page", "2"), Place(20, "page", "3"))
SECTIONS = (
    Place(0, "heading", "Guide", 1),
    Place(5, "heading", "Install", 2),
    Place(12, "heading", "Linux", 3),
    Place(20, "heading", "Use", 2),
)


def passage(places: tuple[Place, ...], start: int = 0, length: int = 30, title: str = "A book") -> Passage:
    page, headings = place_at(places, start)
    return Passage(UUID(int=1), "a.pdf", title, "x" * length, start, 1.0, page, headings, places)


@pytest.mark.parametrize(("offset", "page"), [(0, "1"), (9, "1"), (10, "2"), (19, "2"), (20, "3"), (500, "3")])
def test_a_character_is_on_the_last_page_that_began_before_it(offset: int, page: str) -> None:
    assert place_at(PAGES, offset) == (page, ())


@pytest.mark.parametrize(
    ("offset", "headings"),
    [
        (4, ("Guide",)),
        (6, ("Guide", "Install")),
        (13, ("Guide", "Install", "Linux")),
        (25, ("Guide", "Use")),
    ],
)
def test_a_heading_ends_those_of_its_level_and_below(offset: int, headings: tuple[str, ...]) -> None:
    assert place_at(SECTIONS, offset) == ("", headings)


def test_a_passage_over_several_pages_is_told_by_the_first_and_last() -> None:
    assert passage(PAGES).source == "A book, pages 1–3"
    assert passage(PAGES, 10, 10).source == "A book, page 2"
    assert passage(PAGES, 10, 10, title="").source == "a.pdf, page 2"


def test_a_passage_over_several_sections_is_told_by_what_they_share_and_the_first_and_last() -> None:
    assert passage(SECTIONS).source == "A book, Guide"
    assert passage(SECTIONS, 5, 7).source == "A book, Guide > Install"
    assert passage(SECTIONS, 13, 10).source == "A book, Guide > Install … Use"
    assert passage(SECTIONS, 13, 10, title="Guide").source == "Guide, Install … Use"


def test_a_citation_is_where_its_words_are_and_not_where_its_passage_begins() -> None:
    cited = Citation(1, passage(PAGES), "x" * 5, 12, 17, verbatim=True)
    assert (cited.page, cited.headings, cited.source) == ("2", (), "A book, page 2")
    across = Citation(1, passage(PAGES), "x" * 5, 18, 23, verbatim=True)
    assert (across.page, across.source) == ("2", "A book, pages 2–3")
    under = Citation(1, passage(SECTIONS), "x" * 5, 21, 26, verbatim=True)
    assert (under.headings, under.source) == (("Guide", "Use"), "A book, Guide > Use")
