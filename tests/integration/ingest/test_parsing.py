"""Binary formats are read right, and a file that hangs, crashes or eats memory harms no one but itself."""

import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from tests import scanned
from tests.scanned import PdfPage
from trueweave import Place, Source
from trueweave.errors import UnreadableFile
from trueweave.ingest.loading import documents
from trueweave.ingest.loading.documents import Parsed
from trueweave.ingest.parsing import ParserLimits, parse
from trueweave.ingest.reading_limits import ReadingLimits, limited

ALL = [documents.pdf, documents.word, documents.slides, documents.sheets, documents.book]
QUICK = ParserLimits(cpu_seconds=8)


def load(loader: Parsed, path: Path) -> Source:
    [source] = loader.load(path, "u")
    assert isinstance(source, Source)
    return source


def write_pdf(path: Path, *pages: str, title: str = "") -> Path:
    """A PDF of a line a page, written by hand: nothing that we install can write one."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) >>",
    ]
    resources = "<< /Font << /F1 3 0 R >> >>"
    for n, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources {resources} /Contents {6 + 2 * n} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\n"
    path.write_bytes(body + f"{end}startxref\n{len(body)}\n%%EOF\n".encode())
    return path


# --- what is in them ----------------------------------------------------------------------------------


def test_a_pdf_has_its_pages_for_places(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", "Page one.", "", "Page three.", title="A book")
    source = load(documents.pdf(), path)
    assert (source.uri, source.title, source.text) == ("u", "A book", "Page one.\n\nPage three.")
    assert source.places == (Place(0, "page", "1"), Place(11, "page", "2"), Place(11, "page", "3"))


def test_a_word_that_a_line_of_a_pdf_cuts_in_two_is_whole_again(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", "An exam-) Tj 0 -14 Td (ple of well-known) Tj 0 -14 Td (things")
    assert load(documents.pdf(), path).text == "An example of well-known\nthings"


def test_a_pdf_has_headings_by_size_ruled_tables_columns_and_no_furniture(tmp_path: Path) -> None:
    def furnished(page: PdfPage, number: int) -> PdfPage:
        return page.text(50, 40, "Terms of insurance", 9).text(280, 820, f"Page {number} of 3", 9)

    first = PdfPage().text(50, 100, "Cover", 20).lines(50, 140, [f"The insurer pays for item {n}." for n in range(9)])
    rows = [["Benefit", "Limit", "Deductible"], ["Dental", "EUR 1,000", ""], ["Hospital", "EUR 50,000", "EUR 250"]]
    second = PdfPage().text(50, 100, "Benefits", 16).table(50, 160, rows, [120, 120, 120]).text(50, 300, "Below it.")
    third = PdfPage()
    for n in range(8):  # drawn row by row, across both columns
        third.text(50, 120 + 14 * n, f"left column, line number {n}").text(
            320, 120 + 14 * n, f"right column, line number {n}"
        )
    pages = [furnished(page, n) for n, page in enumerate([first, second, third], 1)]
    source = load(documents.pdf(), scanned.write_pdf(tmp_path / "a.pdf", pages))
    assert source.text == "\n\n".join(
        [
            "Cover",
            "\n".join([*(f"The insurer pays for item {n}." for n in range(9)), "Terms of insurance"]),
            "Benefits",
            "Benefit | Limit | Deductible\nDental | EUR 1,000\nHospital | EUR 50,000 | EUR 250",
            "Below it.",
            "\n".join(f"{side} column, line number {n}" for side in ("left", "right") for n in range(8)),
        ]
    )
    assert [(place.kind, place.label, place.level) for place in source.places] == [
        ("page", "1", 0),
        ("heading", "Cover", 1),
        ("page", "2", 0),
        ("heading", "Benefits", 2),
        ("page", "3", 0),
    ]


def test_a_frame_around_text_is_no_table_and_a_drawing_is_not_searched(tmp_path: Path) -> None:
    frame = PdfPage().text(60, 120, "A sentence in a frame, as it is.").table(50, 100, [[""]], [300])
    drawing = PdfPage().text(50, 50, "Below is a drawing of many lines.")
    for n in range(3000):
        drawing.rule(n % 500, 100 + n % 300, n % 500 + 20, 100 + n % 290)
    source = load(documents.pdf(), scanned.write_pdf(tmp_path / "a.pdf", [frame, drawing]))
    assert source.text == "A sentence in a frame, as it is.\n\nBelow is a drawing of many lines."


def test_a_word_file_has_its_headings_for_places_and_its_tables_as_lines(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "A book"
    document.add_heading("The book", 0)
    document.add_paragraph("Some text.")
    document.add_heading("Chapter\n1", 2)
    table = document.add_table(2, 3)
    for n, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell\n{n}"
    table.rows[1].cells[0].merge(table.rows[1].cells[1]).text = "wide"
    document.add_paragraph("The end.")
    document.save(str(tmp_path / "a.docx"))
    source = load(documents.word(), tmp_path / "a.docx")
    assert source.title == "A book"
    assert (
        source.text == "The book\n\nSome text.\n\nChapter 1\n\ncell 0 | cell 1 | cell 2\nwide |  | cell 5\n\nThe end."
    )
    assert source.places == (Place(0, "heading", "The book", 1), Place(22, "heading", "Chapter 1", 2))


@pytest.mark.parametrize("style", ["Title", "Heading 1"])
def test_a_word_file_without_a_title_in_its_properties_has_its_only_largest_heading(tmp_path: Path, style: str) -> None:
    document = docx.Document()
    document.core_properties.title = "Word Document"
    document.add_paragraph("By way of introduction")
    document.add_paragraph("Terms of insurance", style)
    document.save(str(tmp_path / "a.docx"))
    assert load(documents.word(), tmp_path / "a.docx").title == "Terms of insurance"
    document.add_heading("A second chapter", 1)
    document.save(str(tmp_path / "a.docx"))
    assert load(documents.word(), tmp_path / "a.docx").title == ""


def test_a_long_table_repeats_its_header(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(0, 2)
    for n in range(80):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = (
            ("benefit", "limit in EUR") if n == 0 else (f"benefit number {n} of many", f"{n * 100}")
        )
    document.save(str(tmp_path / "a.docx"))
    parts = load(documents.word(), tmp_path / "a.docx").text.split("\n\n")
    assert len(parts) == 2
    assert {part.splitlines()[0] for part in parts} == {"benefit | limit in EUR"}
    assert sum(len(part.splitlines()) - 1 for part in parts) == 79


def test_slides_are_pages_with_shapes_groups_tables_and_notes(tmp_path: Path) -> None:
    show = pptx.Presentation()
    first = show.slides.add_slide(show.slide_layouts[5])
    assert first.shapes.title
    first.shapes.title.text_frame.text = "Title"
    group = first.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "in a group"
    cells = first.shapes.add_table(1, 2, 0, 0, 1, 1).table
    cells.cell(0, 0).text, cells.cell(0, 1).text = "a", "b"
    second = show.slides.add_slide(show.slide_layouts[6])
    assert second.notes_slide.notes_text_frame
    second.notes_slide.notes_text_frame.text = "a note"
    show.save(str(tmp_path / "a.pptx"))
    source = load(documents.slides(), tmp_path / "a.pptx")
    assert source.text == "Title\n\nin a group\n\na | b\n\na note"
    assert source.places == (Place(0, "page", "1"), Place(source.text.index("a note"), "page", "2"))


def test_a_row_of_a_sheet_is_a_document_and_a_sheet_without_names_of_columns_is_one(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    first = book.worksheets[0]
    first.title = "People"
    first.append(["Name", None, "Born"])
    first.append(["Ada\nLovelace", "", 1815])
    first.append(["Byron", None, None, "poet"])
    book.create_sheet("Empty")
    book.create_sheet("Costs").append([1.5, True])
    notes = book.create_sheet("Notes")
    notes.append(["id", "text", "author"])
    notes.append(["n1", "Ada met Byron.", "Mary"])
    notes.append(["n2", None, "Mary"])
    book.save(tmp_path / "a.xlsx")
    loaded = list(documents.sheets().load(tmp_path / "a.xlsx", "u"))
    assert all(isinstance(one, Source) for one in loaded)
    assert [(one.uri, one.text, one.title, one.metadata) for one in loaded if isinstance(one, Source)] == [
        ("u#People#1", "Name: Ada Lovelace\nBorn: 1815", "", {}),
        ("u#People#2", "Name: Byron\nD: poet", "", {}),
        ("u#Costs", "1.5 | True", "Costs", {}),
        ("u#Notes#n1", "Ada met Byron.", "", {"author": "Mary"}),
        ("u#Notes#n2", "", "", {"author": "Mary"}),
    ]


def test_of_a_sheet_only_the_cells_that_are_there_are_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["A1"], sheet["XFD1048576"] = "near", "far"  # the last cell that a sheet can have
    book.save(tmp_path / "a.xlsx")
    assert load(replace(documents.sheets(), limits=QUICK), tmp_path / "a.xlsx").text == "near\nfar"


def test_empty_paragraphs_and_rows_of_a_word_file_cost_next_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    document = docx.Document()
    document.add_paragraph("Ada was here.")
    document.save(str(path))
    empty = b"<w:p/>" * 200_000 + b"<w:p><w:pPr/></w:p>" * 100_000 + b"<w:tbl>" + b"<w:tr/>" * 100_000 + b"</w:tbl>"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data.replace(b"<w:body>", b"<w:body>" + empty))
    assert load(Parsed(frozenset(), documents.word().parser, QUICK), path).text == "Ada was here."


def write_epub(path: Path) -> Path:
    chapters = {
        "text/two.xhtml": "<title/><h1>Two</h1><p>Second &amp; last.</p>",
        "text/one 1.xhtml": "<title>One</title><p>First.</p>",
        "text/cover.xhtml": "<title>Cover</title><img src='x'/>",
    }
    items = "".join(
        f'<item id="c{n}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "OPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>A book</dc:title></metadata><manifest>{items}"
            '<item id="css" href="a.css" media-type="text/css"/></manifest>'
            '<spine><itemref idref="c2"/><itemref idref="c1"/><itemref idref="c0"/><itemref idref="css"/></spine>'
            "</package>",
        )
        for name, page in chapters.items():
            archive.writestr(f"OPS/{name}", f"<html><head/><body>{page}</body></html>")
    return path


def test_an_epub_has_its_chapters_in_the_order_of_reading(tmp_path: Path) -> None:
    source = load(documents.book(), write_epub(tmp_path / "a.epub"))
    assert source.title == "A book"
    assert source.text == "One\n\nFirst.\n\nTwo\n\nSecond & last."
    assert source.places == (Place(0, "heading", "One", 1), Place(13, "heading", "Two", 1))


# --- what is wrong with them --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("content", [b"", b"no such thing", b"PK\x03\x04" + b"\0" * 1000], ids=["empty", "text", "zip"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, kind: Callable[[], Parsed], content: bytes) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"a\.bin cannot be read: it is (damaged|no EPUB)"):
        load(kind(), path)


def test_half_a_pdf_is_refused(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", "Page one.", "Page two.")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UnreadableFile, match=r"it is damaged, or not a PDF .* save it again"):
        load(documents.pdf(), path)


def test_a_pdf_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.pdf cannot be read: it contains no text\."):
        load(documents.pdf(), write_pdf(tmp_path / "a.pdf", "", ""))


def test_half_of_any_other_is_refused(tmp_path: Path) -> None:
    path = write_epub(tmp_path / "a.epub")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(UnreadableFile, match=r"damaged or has another format .*BadZipFile"):
        load(documents.book(), path)


@pytest.mark.parametrize("kind", [documents.word, documents.slides, documents.sheets, documents.book])
def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_parsed(
    tmp_path: Path, kind: Callable[[], Parsed]
) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(20):
            archive.writestr(f"{n}.xml", b"\0" * 2**20)
    with pytest.raises(UnreadableFile, match="it would unpack to 20 MiB, which is too much for a file of its size"):
        load(kind(), path)


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for n in range(10_001):
            archive.writestr(str(n), b"")
    with pytest.raises(UnreadableFile, match="there are 10,001 files packed in it, which is too many"):
        load(documents.word(), path)


# --- what a parser may not do -------------------------------------------------------------------------

PARSERS = """
import ctypes, os, sys, time

def fine(path, draft):
    print("to standard output")
    draft.add("text")
    return "A book"

def hangs(path, draft):
    time.sleep(60)

def computes(path, draft):
    while True:
        pass

def computes_for_two_seconds(path, draft):
    while time.process_time() < 2:
        pass
    draft.add("done")
    return ""

def eats_memory(path, draft):
    held = []
    while True:
        held.append(bytearray(2**24))

def crashes(path, draft):
    ctypes.string_at(0)

def is_killed(path, draft):
    os.kill(os.getpid(), 9)

def falls_silent(path, draft):
    os.closerange(0, 20)
    time.sleep(60)

def leaves(path, draft):
    os._exit(0)

def stutters(path, draft):
    os.write(3, b'{"title": "')
    os._exit(0)

def talks(path, draft):
    for _ in range(1000):
        draft.add("x" * 1000)

def floods(path, draft):
    for fd in range(3, 20):
        try:
            while True:
                os.write(fd, b"x" * 2**20)
        except OSError:
            pass

def fails(path, draft):
    raise KeyError("word/document.xml")

def lacks(path, draft):
    raise ModuleNotFoundError("No module named 'docx'", name="docx")

def writes(path, draft):
    path.with_name("new").write_text("x")

def sees(path, draft):
    draft.add(" ".join(sorted(os.environ)))
    return ""
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "parsers_of_this_test.py").write_text(PARSERS)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "a.bin"
    path.write_bytes(b"x")
    yield path
    assert "parsers_of_this_test" not in sys.modules  # they ran elsewhere


def run(path: Path, parser: str, **limits: int) -> Source:
    return parse(path, "u", f"parsers_of_this_test:{parser}", ParserLimits(**limits))


def test_a_large_file_gets_more_time(file: Path) -> None:
    limits = {"cpu_seconds": 1, "wall_seconds": 30, "seconds_per_mib": 4}
    with pytest.raises(UnreadableFile, match="took more than 1 s of computing"):
        run(file, "computes_for_two_seconds", **limits)
    file.write_bytes(b"x" * 2**20)
    assert run(file, "computes_for_two_seconds", **limits).text == "done"


def test_a_parser_may_print(file: Path) -> None:
    assert run(file, "fine") == Source("u", "text", "A book")


@pytest.mark.parametrize(
    ("parser", "limits", "problem"),
    [
        ("hangs", {"wall_seconds": 1}, "its parser was not done after 1 s; save it again, or as text"),
        ("computes", {"cpu_seconds": 1}, "its parser took more than 1 s of computing; save it again, or as text"),
        (
            "eats_memory",
            {"memory": 2**28},
            "its parser needs more than 256 MiB of memory; split it, or save it as text",
        ),
        ("crashes", {}, r"its parser crashed \(SIGSEGV\); save it again, or as text"),
        (
            "is_killed",
            {},
            "its parser was killed, perhaps because the machine ran out of memory; try again, or save it as text",
        ),
        ("falls_silent", {"wall_seconds": 1}, "its parser was not done after 1 s; save it again, or as text"),
        ("leaves", {}, "its parser stopped early; save it again, or as text"),
        ("stutters", {}, "its parser stopped early; save it again, or as text"),
        ("talks", {"text": 100_000}, "it holds more than 100,000 characters of text; split it"),
        ("floods", {"text": 100_000}, "its parser returns too much text; split the file"),
        (
            "fails",
            {},
            r"it is damaged or has another format \(KeyError: 'word/document.xml'\); save it again, or as text",
        ),
        ("lacks", {}, r'reading it needs docx, which is not installed; run: pip install "trueweave\[documents\]"'),
        ("writes", {}, "File too large"),
    ],
)
def test_a_parser_out_of_bounds_makes_its_file_unreadable(
    file: Path, parser: str, limits: dict[str, int], problem: str
) -> None:
    began = time.monotonic()
    with pytest.raises(UnreadableFile, match=rf"a\.bin cannot be read: .*{problem}"):
        run(file, parser, **limits)
    assert time.monotonic() - began < 10


def test_a_file_beyond_the_limit_is_not_parsed_at_all(file: Path) -> None:
    file.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(UnreadableFile, match=r"a\.bin cannot be read: it is larger than 1 MiB; split it"):
        run(file, "fine", file=2**20)


@pytest.mark.parametrize("is_off", [False, True])
def test_the_bytecode_of_a_parser_is_stored_and_nothing_else_is_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_off: bool
) -> None:
    (tmp_path / "slow_parser.py").write_text(
        "IMPORTED_LATER = ('used_later',)\n"
        "def read(path, draft):\n"
        "    import used_later\n"
        "    try:\n"
        "        path.with_suffix('.out').write_text('x')\n"
        "    except OSError:\n"
        "        draft.block('not written')\n"
        "    return ''\n"
    )
    (tmp_path / "used_later.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", is_off)
    assert parse(file, "u", "slow_parser:read", QUICK).text == "not written"
    stored = {path.name.partition(".")[0] for path in tmp_path.glob("__pycache__/*")}
    assert stored == (set() if is_off else {"slow_parser", "used_later"})


def test_a_parser_sees_nothing_of_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert set(run(file, "sees").text.split()) <= {"PYTHONPATH", "PYTHONUTF8", "LC_CTYPE"}


def test_a_parser_is_ended_when_the_reading_is_stopped(file: Path) -> None:
    limits = ReadingLimits(2**20, 600)
    limits.stop()
    with limited(limits), pytest.raises(CancelledError):
        run(file, "hangs")
    limits = ReadingLimits(2**20, 600)
    stopping = threading.Timer(1, limits.stop)
    stopping.start()
    with limited(limits), pytest.raises(CancelledError):
        run(file, "hangs", wall_seconds=600)
    stopping.join()


def test_a_parser_has_no_more_time_than_its_upload(file: Path) -> None:
    limits = ReadingLimits(2**20, 1)
    with limited(limits), limits.running(), pytest.raises(UnreadableFile, match=r"more than 1 s|after 1 s"):
        run(file, "hangs")
