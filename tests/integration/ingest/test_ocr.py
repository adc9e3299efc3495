"""Scanned pages and images are read by OCR, and no page is lost silently."""

import os
import shutil
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.scanned import PdfPage, page_image, write_pdf
from trueweave import Place, Source
from trueweave.errors import UnreadableFile
from trueweave.events import Skipped, Unreadable
from trueweave.ingest.loading import Files, documents
from trueweave.ingest.loading.documents import Parsed
from trueweave.ingest.parsers import image as images
from trueweave.ingest.parsers.layout import PageBox
from trueweave.ingest.parsers.ocr import COUNT, Line, Recogniser, text_blocks
from trueweave.ingest.parsing import ParserLimits
from trueweave.text.text_builder import TextBuilder

POLICY = ["Policy number 4711-08", "The deductible is EUR 250 per claim."]
SMALL = (1000, 300)
TEXT = "This page has text, and needs no recognition."

needs_tesseract = pytest.mark.skipif(not shutil.which("tesseract"), reason="the command tesseract is not there")


def joined(lines: Sequence[Line]) -> str:
    return "\n\n".join(block.text for block in text_blocks(lines, 1000, 1000))


def load(loader: Parsed, path: Path, ocr: str = "auto") -> Source:
    [source] = replace(loader, ocr=ocr).load(path, "u")
    assert isinstance(source, Source)
    return source


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of a page of text, a scanned one and a blank one."""
    scan = PdfPage((360, 108), image=page_image(POLICY, SMALL))
    return write_pdf(tmp_path_factory.mktemp("ocr") / "mixed.pdf", [PdfPage().text(50, 50, TEXT), scan, PdfPage()])


def test_a_scanned_page_of_a_pdf_is_read_and_the_note_says_so(mixed: Path) -> None:
    source = load(documents.pdf(), mixed)
    assert source.text == "\n\n".join([TEXT, "\n".join(POLICY)])
    start = len(TEXT) + 2
    page, block = source.places[1:]
    assert (source.places[0], page) == (Place(0, "page", "1"), Place(start, "page", "2"))
    assert (block.kind, block.start, block.end) == ("block", start, len(source.text))
    assert block.box == pytest.approx((0.12, 0.42, 0.61, 0.69), abs=0.04)
    assert source.metadata == {"ocr": True}
    [note] = source.notes
    assert note.startswith("page 2 was read by OCR (RapidOCR, mean confidence 0.9") or "1.00" in note


@needs_tesseract
def test_tesseract_reads_the_pages_of_a_tiff(tmp_path: Path) -> None:
    first, second = page_image(POLICY, SMALL), page_image(["The second page of it"], SMALL)
    first.save(tmp_path / "a.tif", save_all=True, append_images=[second])
    source = load(documents.image(), tmp_path / "a.tif", "tesseract")
    assert source.text == "Policy number 4711-08\nThe deductible is EUR 250 per claim.\n\nThe second page of it"
    assert [place.label for place in source.places if place.kind == "page"] == ["1", "2"]
    assert source.notes[0].startswith("pages 1 to 2 were read by OCR (Tesseract, eng, mean confidence 0.")


def test_pages_that_nothing_can_read_are_named(mixed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = load(documents.pdf(), mixed, "off")
    assert (source.text, source.metadata) == (TEXT, {})
    assert source.notes == ("page 2 has no text, only images: text recognition is off; set ocr to auto",)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnreadableFile, match="the command tesseract is not there; install Tesseract"):
        load(documents.pdf(), mixed, "tesseract")


def test_without_an_engine_the_note_says_what_to_install() -> None:
    recogniser, draft = Recogniser(), TextBuilder()
    assert [recogniser.page(label, lambda: None) for label in ("3", "4", "5", "7", "iv")] == [[]] * 5
    recogniser.report(draft)
    assert draft.notes == [
        'pages 3 to 5, 7 and iv have no text, only images: install text recognition with: pip install "trueweave[ocr]"'
    ]


def test_images_of_a_folder_that_nothing_can_read_are_skipped_and_one_that_is_named_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Image.new("L", (50, 50), 255).save("icon.png")
    files = Files(loaders={".png": replace(documents.image(), ocr="off")})
    [skipped] = files.sources(["."])
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "image; text recognition is off; set ocr to auto"
    [unreadable] = files.sources(["icon.png"])
    assert isinstance(unreadable, Unreadable)
    assert "it is an image; text recognition is off" in unreadable.reason


def test_pages_are_counted_for_an_estimate_and_not_read(mixed: Path) -> None:
    source = load(documents.pdf(), mixed, COUNT)
    assert (source.text, source.metadata, source.notes) == (TEXT, {"ocr_pages": 1}, ())


# --- hostile images -----------------------------------------------------------------------------------


def test_an_image_that_would_decode_to_gigabytes_is_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 2**20)
    (tmp_path / "bomb.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )
    with pytest.raises(UnreadableFile, match="an image of 100,000 × 100,000 pixels, and at most 100 million are read"):
        load(documents.image(), tmp_path / "bomb.png", COUNT)


def test_a_page_with_such_an_image_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    bomb = PdfPage(image=page_image(POLICY, (10, 10)), declared=(100_000, 100_000))
    path = write_pdf(tmp_path / "a.pdf", [PdfPage().text(50, 50, TEXT), bomb])
    source = load(documents.pdf(), path)
    assert (source.text, source.notes) == (
        TEXT,
        ("page 2 was not read: an image has more than 100 million pixels",),
    )


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(os.urandom(100))
    with pytest.raises(UnreadableFile, match="it is damaged, or not an image"):
        load(documents.image(), tmp_path / "a.png", COUNT)


def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "tesseract"
    command.write_text("#!/bin/sh\nexec sleep 600\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    page_image(POLICY, SMALL).save(tmp_path / "a.png")
    hurried = replace(documents.image(), limits=ParserLimits(page_seconds=1))
    with pytest.raises(UnreadableFile, match="Tesseract took more than 1 s for a page"):
        load(hurried, tmp_path / "a.png", "tesseract")


# --- reading order, and what is kept of images --------------------------------------------------------


def test_lines_of_two_columns_are_read_column_by_column() -> None:
    title = Line("Title", PageBox(100, 0, 900, 30), 1)
    left = [Line(f"left {n}", PageBox(0, 50 + 30 * n, 450, 70 + 30 * n), 1) for n in range(4)]
    right = [Line(f"right {n}", PageBox(550, 50 + 30 * n, 1000, 70 + 30 * n), 1) for n in range(4)]
    mixed = [title, *(line for pair in zip(left, right, strict=True) for line in pair)]
    assert joined(mixed) == "Title\n\n" + "\n".join(f"left {n}" for n in range(4)) + "\n\n" + "\n".join(
        f"right {n}" for n in range(4)
    )


def test_cells_beside_one_another_are_read_row_by_row() -> None:
    cells = [
        Line(f"{side}{n}", PageBox(x, 30 * n, x + 60, 30 * n + 20), 1)
        for n in range(5)
        for side, x in (("a", 0), ("b", 900))
    ]
    assert joined(cells[::-1]) == "\n".join(f"{side}{n}" for n in range(5) for side in "ab")


def test_a_photograph_that_lies_on_its_side_and_a_transparent_image_are_seen_as_meant(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("L", (40, 20), 255).save(tmp_path / "a.jpg", exif=turned)
    with Image.open(tmp_path / "a.jpg") as image:
        assert images.pixels(image).shape == (40, 20, 3)
    clear = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
    assert images.pixels(clear).min() == 255
