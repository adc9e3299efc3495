"""PowerPoint: a page per slide, with the text of its shapes, tables and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pptx import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape

from trueweave.text.text_builder import TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write the slides into the draft, and return the title."""
    with path.open("rb") as file:
        presentation = Presentation(file)
    for number, slide in enumerate(presentation.slides, 1):
        draft.page(str(number))
        for found in _texts(list(slide.shapes)):
            if isinstance(found, str):
                draft.block(found)
            else:
                draft.table(found)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
            draft.block(notes.text)
    return presentation.core_properties.title or ""


def _texts(shapes: list[BaseShape]) -> Iterator[str | list[list[str]]]:
    """The texts of shapes, and the rows of tables."""
    waiting = shapes[::-1]
    while waiting:
        shape = waiting.pop()
        if isinstance(shape, GroupShape):
            waiting += list(shape.shapes)[::-1]
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield [[cell.text for cell in row.cells] for row in shape.table.rows]
        elif isinstance(shape, Shape) and shape.has_text_frame:
            yield shape.text_frame.text.replace("\v", "\n")
