"""Excel: the rows of its sheets, as JSON lines for trueweave.ingest.loading.documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._reader import WorkSheetParser

from trueweave.text.text_builder import LINE, TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write a line for each sheet, with its title and the names of its columns (none, if it is not a table), and one
    for each row, with its cells. Both go by the letters of columns. Formulas are replaced by their results."""
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        is_first = True
        for row in _rows(book, sheet):
            cells = {get_column_letter(column): text for column, value in row.items() if (text := _one_line(value))}
            if not cells:
                continue
            if is_first:
                is_table = _is_header(row)
                draft.block(json.dumps([sheet.title, cells if is_table else {}], ensure_ascii=False), LINE)
            if not is_first or not is_table:
                draft.block(json.dumps(cells, ensure_ascii=False), LINE)
            is_first = False
    return book.properties.title or ""


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


def _is_header(row: dict[int, object]) -> bool:
    """Whether the first row names the columns: two or more different texts, and nothing else."""
    names = {_one_line(value).lower() for value in row.values() if isinstance(value, str)}
    return len(names - {""}) == len(row) > 1


def _rows(book: Any, sheet: Any) -> Iterator[dict[int, object]]:
    """The values of the existing cells of a sheet by the number of their column, row by row.

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
            yield {cell["column"]: cell["value"] for cell in cells if cell["value"] is not None}
