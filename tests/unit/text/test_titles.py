"""A title that a program wrote is none: the name of the file tells more."""

import pytest

from trueweave.text.titles import given_title


@pytest.mark.parametrize(
    "title",
    [
        "",
        "  ",
        "---",
        "untitled",
        "Untitled Document",
        "untitled-1",
        "Microsoft Word - thesis final.docx",
        "Microsoft PowerPoint - Q3 review [Read-Only]",
        "PowerPoint Presentation",
        "Word Document",
        "Document1",
        "Slide 1",
        "tmp8f3k2a",
        "~WRD0003.tmp",
        "C:\\Documents and Settings\\ada\\paper",
        "file:///tmp/print.html",
        "paper.dvi",
        "my annual report v2.doc",
        "(anonymous)",
        "Unbenannt",
        "无标题",
    ],
)
def test_a_title_that_programs_write_is_none(title: str) -> None:
    assert given_title(title) == ""


@pytest.mark.parametrize(
    "title",
    ["Emma", "AC/DC: a history", "Presentation skills", "What to put in robots.txt", "Document control", "Slide rules"],
)
def test_a_title_that_somebody_gave_stays(title: str) -> None:
    assert given_title(f" {title}\n") == title
