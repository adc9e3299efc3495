"""PowerPoint: a page per slide, with the text of its shapes, tables, pictures and notes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pptx import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.shapes.picture import Picture

from trueweave.ingest.parsers.layout import PageBox
from trueweave.ingest.parsers.pictures import opened, picture_file
from trueweave.text.text_builder import TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write the slides into the draft, and return the title."""
    with path.open("rb") as file:
        presentation = Presentation(file)
    for number, slide in enumerate(presentation.slides, 1):
        draft.page(str(number))
        size = presentation.slide_width or 1, presentation.slide_height or 1
        for found in _contents(list(slide.shapes)):
            if isinstance(found, str):
                draft.block(found)
            elif isinstance(found, Picture):
                _write_picture(found, size, draft)
            else:
                draft.table(found)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
            draft.block(notes.text)
    return presentation.core_properties.title or ""


def _write_picture(picture: Picture, size: tuple[int, int], draft: TextBuilder) -> None:
    caption = next(iter(picture._element.xpath(".//p:cNvPr/@descr")), "")  # noqa: SLF001 - no public API
    right, bottom = picture.left + picture.width, picture.top + picture.height
    box = PageBox(picture.left, picture.top, right, bottom).parts(*size)
    try:
        blob = picture.image.blob
    except ValueError:  # it is linked, and not in the file
        draft.picture(caption, None)
        return
    draft.picture(caption, picture_file(draft, partial(opened, blob)), box)


def _contents(shapes: list[BaseShape]) -> Iterator[str | Picture | list[list[str]]]:
    """The texts of shapes, the rows of tables, and pictures."""
    waiting = shapes[::-1]
    while waiting:
        shape = waiting.pop()
        if isinstance(shape, GroupShape):
            waiting += list(shape.shapes)[::-1]
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield [[cell.text for cell in row.cells] for row in shape.table.rows]
        elif isinstance(shape, Picture):
            yield shape
        elif isinstance(shape, Shape) and shape.has_text_frame:
            yield shape.text_frame.text.replace("\v", "\n")
