"""Word: paragraphs, headings and tables, in the order of the document."""

from __future__ import annotations

import re
from pathlib import Path

import docx
from docx.table import Table
from docx.text.paragraph import Paragraph

from trueweave.text.draft import LINE, PARAGRAPH, Draft

_HEADING = re.compile(r"Heading (\d)")


def read(path: Path, draft: Draft) -> str:
    """Write the body into the draft, and return the title."""
    with path.open("rb") as file:
        document = docx.Document(file)
    levels = {style.style_id: _level(style.name or "") for style in document.styles}
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            _write_table(block, draft)
        else:
            _write_paragraph(block, levels, draft)
    return document.core_properties.title or ""


def _level(style: str) -> int:
    """The level of headings in a style; 0 if it is none for headings."""
    heading = _HEADING.match(style)
    return int(heading[1]) if heading else int(style == "Title")


def _write_paragraph(paragraph: Paragraph, levels: dict[str, int], draft: Draft) -> None:
    style = paragraph._p.style  # noqa: SLF001 - the public way searches all styles each time, for milliseconds
    if level := levels.get(style or "", 0):
        draft.heading(paragraph.text, level)
    else:
        draft.block(paragraph.text)


def _write_table(table: Table, draft: Draft) -> None:
    draft.gap(PARAGRAPH)
    for row in table.rows:
        # Merged cells come up once for each of their columns, and nothing public tells that they are one.
        cells = {cell._tc: " ".join(cell.text.split()) for cell in row.cells}  # noqa: SLF001
        draft.block(" | ".join(filter(None, cells.values())), LINE)
    draft.gap(PARAGRAPH)
