"""A citation is right to the page and heading of the quoted words, in each format, wherever in a chunk they are."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pptx
import pytest

from tests.integration.ingest.test_parsing import write_pdf
from trueweave import AsyncTrueweave, Citation
from trueweave.answering.check import check
from trueweave.answering.citation_parser import Mark
from trueweave.answering.verifiers import RulesVerifier
from trueweave.extend import Database
from trueweave.retrieval.methods.keyword import Keyword

PARTS = 30
Place = tuple[str, tuple[str, ...]]


def fact(n: int) -> str:
    """What only the nth page or section says."""
    return f"Stone quarry{n} weighs {n + 100} kilos"


def filler(n: int) -> list[str]:
    return [f"Line {line} of part {n} tells of moss and rain." for line in range(6)]


def paragraphs(n: int) -> list[str]:
    """A part with its fact in the middle, or at the end of every third."""
    lines = filler(n)
    lines.insert(len(lines) if n % 3 == 0 else 3, f"{fact(n)}.")
    return lines


def headings(n: int) -> tuple[str, ...]:
    """Each fifth section is a chapter; those between are sections of it."""
    chapter = n - n % 5
    return (f"Chapter {chapter}",) if n == chapter else (f"Chapter {chapter}", f"Section {n}")


def as_pdf(folder: Path) -> Path:
    pages = [") Tj 0 -14 Td (".join(paragraphs(n)) for n in range(PARTS)]
    return write_pdf(folder / "a.pdf", *pages, title="untitled")


def as_slides(folder: Path) -> Path:
    deck = pptx.Presentation()
    for n in range(PARTS):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes[0].text_frame.text = f"Slide about {n}"
        slide.shapes[1].text_frame.text = "\n".join(paragraphs(n))
    deck.save(str(folder / "a.pptx"))
    return folder / "a.pptx"


def as_markdown(folder: Path) -> Path:
    sections = [f"{'#' * len(headings(n))} {headings(n)[-1]}\n\n{' '.join(paragraphs(n))}" for n in range(PARTS)]
    (folder / "a.md").write_text("---\ntitle: Stones\n---\n\n" + "\r\n\r\n".join(sections), "utf-8")
    return folder / "a.md"


def as_word(folder: Path) -> Path:
    document = docx.Document()
    for n in range(PARTS):
        document.add_heading(headings(n)[-1], len(headings(n)))
        for line in paragraphs(n):
            document.add_paragraph(line)
    document.save(str(folder / "a.docx"))
    return folder / "a.docx"


def as_book(folder: Path) -> Path:
    names = [f"c{n}.xhtml" for n in range(PARTS)]
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    with zipfile.ZipFile(folder / "a.epub", "w") as archive:
        archive.writestr("META-INF/container.xml", '<c><rootfile full-path="book.opf"/></c>')
        archive.writestr("book.opf", f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>")
        for n, name in enumerate(names):
            level = len(headings(n))
            lines = "".join(f"<p>{line}</p>" for line in paragraphs(n))
            archive.writestr(name, f"<html><body><h{level}>{headings(n)[-1]}</h{level}>{lines}</body></html>")
    return folder / "a.epub"


def on_page(n: int) -> Place:
    return str(n + 1), ()


def under(n: int) -> Place:
    return "", headings(n)


@pytest.mark.parametrize(
    ("write", "expected", "shown"),
    [
        (as_pdf, on_page, "a.pdf, page 18"),
        (as_slides, on_page, "a.pptx, page 18"),
        (as_markdown, under, "Stones, Chapter 15 > Section 17"),
        (as_word, under, "a.docx, Chapter 15 > Section 17"),
        (as_book, under, "a.epub, Chapter 15 > Section 17"),
    ],
)
async def test_each_quote_is_cited_by_its_own_page_and_headings(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path], Path],
    expected: Callable[[int], Place],
    shown: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    trueweave = await AsyncTrueweave.enter(database, "test")
    await trueweave.add(write(tmp_path).name)
    cited = {n: await citation(trueweave, n) for n in range(PARTS)}
    assert {n: (one.page, one.headings) for n, one in cited.items()} == {n: expected(n) for n in range(PARTS)}
    assert cited[17].source.rpartition("/")[2] == shown  # without a project, a file goes by its whole path
    inside = sum(one.passage.at(one.passage.start) != expected(n) for n, one in cited.items())
    assert inside >= PARTS // 2, "chunks must be longer than parts, or this shows nothing"


async def citation(trueweave: AsyncTrueweave, n: int) -> Citation:
    evidence = await trueweave.retrieve(f"quarry{n}", Keyword(top_k=1))
    said = f"{fact(n)} [1]."
    mark = Mark(1, (fact(n),), said.index("["), said.index("]") + 1)
    checked = await check(said, [mark], evidence.passages, fact(n), [RulesVerifier()])
    assert [one.status for one in checked.sentences] == ["quoted"]
    return checked.citations[0]


async def test_a_passage_over_several_pages_tells_all_of_them(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trueweave = await AsyncTrueweave.enter(database, "test")
    await trueweave.add(as_pdf(tmp_path).name)
    evidence = await trueweave.retrieve("quarry3", Keyword(top_k=1))
    [passage] = evidence.passages
    last = max(n for n in range(PARTS) if f"{fact(n)}." in passage.text)
    assert passage.source.rpartition("/")[2] == f"a.pdf, pages {passage.page}–{last + 1}"
