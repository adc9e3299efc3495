"""Word: paragraphs, headings and tables, in the order of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.table import Table, _Row
from docx.text.paragraph import Paragraph

from trueweave.text.text_builder import TextBuilder
from trueweave.text.titles import given_title

_PARAGRAPH, _TABLE, _ROW = qn("w:p"), qn("w:tbl"), qn("w:tr")
_TEXT = qn("w:t"), qn("w:noBreakHyphen")
_HEADING = re.compile(r"Heading (\d)")


def read(path: Path, draft: TextBuilder) -> str:
    """Write the body into the draft, and return the title: that of the properties, or the only title or
    heading of level 1."""
    with path.open("rb") as file:
        document = docx.Document(file)
    levels = {style.style_id: _level(style.name or "") for style in document.styles}
    # `iter_inner_content` creates all objects first, and a file may contain millions of empty paragraphs.
    for element in document.element.body.iterchildren(_PARAGRAPH, _TABLE):
        if not _has_text(element):
            continue
        if element.tag == _TABLE:
            draft.table(_rows(Table(element, document)))
        else:
            _write_paragraph(Paragraph(element, document), levels, draft)
    return given_title(document.core_properties.title or "") or _title(draft)


def _title(draft: TextBuilder) -> str:
    """The only title or heading of level 1: of several, each is that of a chapter."""
    largest = [place.label for place in draft.places if place.level == 1]
    return largest[0] if len(largest) == 1 else ""


def _has_text(element: BaseOxmlElement) -> bool:
    return len(element) > 0 and next(element.iter(*_TEXT), None) is not None


def _level(style: str) -> int:
    """The heading level of a style; 0 if it is not a heading style."""
    heading = _HEADING.match(style)
    return int(heading[1]) if heading else int(style == "Title")


def _write_paragraph(paragraph: Paragraph, levels: dict[str, int], draft: TextBuilder) -> None:
    style = paragraph._p.style  # noqa: SLF001 - the public way searches all styles each time, for milliseconds
    if level := levels.get(style or "", 0):
        draft.heading(paragraph.text, level)
    else:
        draft.block(paragraph.text)


def _rows(table: Table) -> Iterator[list[str]]:
    for row in table._tbl.iterchildren(_ROW):  # noqa: SLF001 - as above: only rows with something in them
        if _has_text(row):
            # Merged cells appear once per column, and no public API shows that they are one.
            cells = [(cell._tc, cell.text) for cell in _Row(row, table).cells]  # noqa: SLF001
            texts: dict[object, str] = {}
            yield ["" if tc in texts else texts.setdefault(tc, text) for tc, text in cells]
