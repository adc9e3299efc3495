"""Excel: a heading per sheet, a line per row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openpyxl import load_workbook
from openpyxl.worksheet._reader import WorkSheetParser

from trueweave.text.text_builder import LINE, TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write the sheets into the draft, and return the title. Formulas are replaced by their results."""
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        draft.heading(sheet.title, 1)
        for row in _rows(book, sheet):
            cells = (" ".join(str(value).split()) for value in row if value is not None)
            draft.block(" | ".join(filter(None, cells)), LINE)
    return book.properties.title or ""


def _rows(book: Any, sheet: Any) -> Iterator[list[object]]:
    """The values of the existing cells of a sheet, row by row.

    `sheet.iter_rows` fills all rows and columns up to the last cell: a single one in the far corner of a sheet makes
    that 17 thousand million cells.
    """
    with sheet._get_source() as file:  # noqa: SLF001 - no public API returns only the existing cells
        parser = WorkSheetParser(
            file,
            sheet._shared_strings,  # noqa: SLF001
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001
        )
        for _, cells in parser.parse():
            yield [cell["value"] for cell in cells]
