"""Ruled tables on the pages of a PDF, by pdfplumber."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trueweave.ingest.parsers.layout import PageBox

MOST_RULES = 2000  # shapes on a page that is searched for tables; a drawing has more
FEWEST_RULES = 4


class Tables:
    """Finds the tables of one file. It is opened when the first page is searched."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: Any = None

    def on_page(self, number: int) -> list[tuple[PageBox, list[list[str]]]]:
        """The tables of a page, counted from 0: where they are, and their rows. Frames around text are no tables."""
        import pdfplumber
        from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

        try:
            self._opened = self._opened or pdfplumber.open(self._path)
            page = self._opened.pages[number]
            found = [(PageBox(*table.bbox), table.extract()) for table in page.find_tables()]
            page.close()
        except (MalformedPDFException, PdfminerException):  # the text is read without it
            return []
        return [
            (box, [[cell or "" for cell in row] for row in rows])
            for box, rows in found
            if len(rows) > 1 and max(len(row) for row in rows) > 1
        ]
