"""Word: paragraphs, headings, tables, pictures and formulas, in the order of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import docx
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.parts.story import StoryPart
from docx.table import Table, _Row
from docx.text.paragraph import Paragraph

from trueweave.ingest.parsers.formulas import latex
from trueweave.ingest.parsers.pictures import opened, picture_file
from trueweave.text.text_builder import TextBuilder
from trueweave.text.titles import given_title

_PARAGRAPH, _TABLE, _ROW = qn("w:p"), qn("w:tbl"), qn("w:tr")
_DRAWING, _FORMULA, _FORMULA_PARAGRAPH = qn("w:drawing"), qn("m:oMath"), qn("m:oMathPara")
_TEXT = qn("w:t"), qn("w:noBreakHyphen"), qn("m:t")
_RUNS = qn("w:r"), qn("w:hyperlink")
_HEADING = re.compile(r"Heading (\d)")


def read(path: Path, draft: TextBuilder) -> str:
    """Write the body into the draft, and return the title: that of the properties, or the only title or
    heading of level 1."""
    with path.open("rb") as file:
        document = docx.Document(file)
    levels = {style.style_id: _level(style.name or "") for style in document.styles}
    # `iter_inner_content` creates all objects first, and a file may contain millions of empty paragraphs.
    for element in document.element.body.iterchildren(_PARAGRAPH, _TABLE):
        if _has_text(element):
            if element.tag == _TABLE:
                draft.table(_rows(Table(element, document)))
            else:
                _write_paragraph(Paragraph(element, document), levels, draft)
        for drawing in element.iter(_DRAWING):
            _write_picture(drawing, document.part, draft)
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
        draft.heading(_text(paragraph), level)
    else:
        draft.block(_text(paragraph))


def _text(paragraph: Paragraph) -> str:
    """The text of a paragraph, with formulas as LaTeX."""
    element = paragraph._p  # noqa: SLF001 - formulas have no public API
    if next(element.iter(_FORMULA), None) is None:
        return paragraph.text
    return "".join(_piece(child) for child in element)


def _piece(child: BaseOxmlElement) -> str:
    if child.tag in _RUNS:
        return str(child.text or "")
    if child.tag == _FORMULA:
        return f"${latex(child)}$"
    if child.tag == _FORMULA_PARAGRAPH:
        return "\n".join(f"$${latex(formula)}$$" for formula in child.iterchildren(_FORMULA))
    return ""


def _write_picture(drawing: BaseOxmlElement, part: StoryPart, draft: TextBuilder) -> None:
    described = next(drawing.iter(qn("wp:docPr")), None)
    caption = described.get("descr", "") if described is not None else ""
    ids = [blip.get(qn("r:embed"), "") for blip in drawing.iter(qn("a:blip"))]
    found = [part.related_parts[id_] for id_ in ids if id_ in part.related_parts]
    file = picture_file(draft, partial(opened, found[0].blob)) if found else None
    draft.picture(caption, file)


def _rows(table: Table) -> Iterator[list[str]]:
    for row in table._tbl.iterchildren(_ROW):  # noqa: SLF001 - as above: only rows with something in them
        if _has_text(row):
            # Merged cells appear once per column, and no public API shows that they are one.
            cells = [
                (cell._tc, "\n".join(map(_text, cell.paragraphs)))  # noqa: SLF001
                for cell in _Row(row, table).cells
            ]
            texts: dict[object, str] = {}
            yield ["" if tc in texts else texts.setdefault(tc, text) for tc, text in cells]
