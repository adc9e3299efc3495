"""PDF: the text of its pages, with headings and ruled tables. Scanned pages are read by OCR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from PIL import Image

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.parsers.layout import PageBox
from trueweave.ingest.parsers.ocr import DPI, LETTERS, MOST_PIXELS, Recogniser, TextBlock
from trueweave.ingest.parsers.pdf_tables import FEWEST_RULES, MOST_RULES, Tables
from trueweave.ingest.parsers.pdf_text import PdfPage, PdfPicture, page_lines, write
from trueweave.ingest.parsers.pictures import picture_file
from trueweave.text.text_builder import TextBuilder

IMPORTED_LATER = ("pdfplumber",)

_HYPHEN_AT_LINE_END = re.compile(r"[\x02\xad\ufffe]\r?\n?")
_MOST_RENDERED = 16_000_000  # pixels of a page; A3 at 200 dpi has 8 million
_COVERED = 0.1  # the part of a page that is an image, if the page is scanned
_OUTLINES = 100  # shapes that may be letters
_MOST_OBJECTS = 10_000  # on a page that are looked at
_LEAST_SIDE = 36  # points, half an inch; smaller pictures are icons
_BACKGROUND = 0.8  # the part of a page with text that its background covers


def read(path: Path, draft: TextBuilder, recogniser: Recogniser) -> str:
    """Write the pages into the draft, and return the title."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        locked = "assword" in str(error)
        raise UnreadableFile(
            "it is locked; save it without a password"
            if locked
            else f"it is damaged, or not a PDF ({str(error).rstrip('.')}); save it again"
        ) from error
    tables = Tables(path)
    pages = [_page(document, number, tables, recogniser, draft) for number in range(len(document))]
    write(pages, draft)
    if not draft.text and not recogniser.only_count:
        raise UnreadableFile(_no_text(recogniser))
    return str(document.get_metadata_dict().get("Title", ""))


def _page(document: Any, number: int, tables: Tables, recogniser: Recogniser, draft: TextBuilder) -> PdfPage:
    label = document.get_page_label(number) or str(number + 1)
    page = document[number]
    textpage = page.get_textpage()
    text = textpage.get_text_bounded()
    height = page.get_size()[1]
    try:
        if sum(map(str.isalpha, text)) < LETTERS and (read := _recognised(page, label, recogniser)):
            return PdfPage(label, blocks=read)
        lines = page_lines(textpage, height) if not page.get_rotation() else []
        pictures = list(_pictures(page, draft))
        if not lines:
            plain = _HYPHEN_AT_LINE_END.sub("", text).replace("\r\n", "\n")
            return PdfPage(label, text=plain, pictures=pictures)
        shapes = sum(1 for kind, _, _ in _drawn(page) if kind == pdfium.FPDF_PAGEOBJ_PATH)
        is_ruled = FEWEST_RULES <= shapes <= MOST_RULES
        return PdfPage(label, height, lines, tables=tables.on_page(number) if is_ruled else [], pictures=pictures)
    finally:
        textpage.close()
        page.close()


def _no_text(recogniser: Recogniser) -> str:
    if recogniser.read:
        return "it contains no text, and text recognition (OCR) found none in its images"
    if recogniser.unread:
        return f"it contains no text, only images; {recogniser.remedy}"
    return "it contains no text"


def _recognised(page: Any, label: str, recogniser: Recogniser) -> list[TextBlock]:
    """The text in the images of a page, by OCR; empty if the page is not a scanned one."""
    covered, shapes = 0.0, 0
    for kind, size, area in _drawn(page):
        if size > MOST_PIXELS:
            recogniser.too_large.append(label)
            return []
        covered += area
        shapes += kind == pdfium.FPDF_PAGEOBJ_PATH
    width, height = page.get_size()
    if covered < _COVERED * width * height and shapes < _OUTLINES:
        return []
    scale = min(DPI / 72, sqrt(_MOST_RENDERED / max(width * height, 1)))
    return recogniser.page(label, lambda: page.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3].copy())


def _pictures(page: Any, draft: TextBuilder) -> Iterator[PdfPicture]:
    """The pictures of a page that has text: neither backgrounds nor icons."""
    width, height = page.get_size()
    found = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=4)
    for _, image in zip(range(_MOST_OBJECTS), found, strict=False):
        box = None
        if not image.level and not page.get_rotation():  # else its position on the page is not known
            left, bottom, right, top = image.get_bounds()
            box = PageBox(max(left, 0), max(height - top, 0), min(right, width), min(height - bottom, height))
            covered = box.width * box.height / max(width * height, 1)
            if min(box.width, box.height) < _LEAST_SIDE or covered > _BACKGROUND:
                continue
        if (file := picture_file(draft, partial(_bitmap, image))) or box:
            yield PdfPicture(file, box, box and box.parts(width, height))


def _bitmap(image: Any) -> Image.Image:
    wide, high = image.get_px_size()
    if wide * high > MOST_PIXELS:
        raise OSError(f"the image has {wide} x {high} pixels")
    try:
        return image.get_bitmap(render=True).to_pil()  # type: ignore[no-any-return]
    except pypdfium2.PdfiumError as error:
        raise OSError(str(error)) from error


def _drawn(page: Any) -> Iterator[tuple[int, int, float]]:
    """The objects of a page: their kind, and the pixels and the area of images."""
    kinds = [pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH]
    for _, found in zip(range(_MOST_OBJECTS), page.get_objects(filter=kinds, max_depth=4), strict=False):
        if found.type != pdfium.FPDF_PAGEOBJ_IMAGE:
            yield found.type, 0, 0.0
            continue
        left, bottom, right, top = found.get_bounds()
        wide, high = found.get_px_size()
        yield found.type, wide * high, (right - left) * (top - bottom)
