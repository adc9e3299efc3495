"""Excel: a heading a sheet, a line a row."""

from __future__ import annotations

from pathlib import Path

from openpyxl import load_workbook

from trueweave.text.draft import LINE, Draft


def read(path: Path, draft: Draft) -> str:
    """Write the sheets into the draft, and return the title. Formulas are there as what they came to."""
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        draft.heading(sheet.title, 1)
        for row in sheet.iter_rows(values_only=True):
            cells = (" ".join(str(value).split()) for value in row if value is not None)
            draft.block(" | ".join(filter(None, cells)), LINE)
    return book.properties.title or ""
