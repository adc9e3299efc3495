"""Thirty pages, each with the text that should be read from it: plain, scanned, in two columns, and with a table.

Their words are in `data/pages.txt`; the PDFs are drawn from them, always in the same way.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tests.scanned import PdfPage, page_image, write_pdf

Kind = Literal["text", "scan", "columns", "table"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FILE = Path(__file__).parent / "data" / "pages.txt"


@dataclass(frozen=True)
class SamplePage:
    """A page of a kind: its title, its paragraphs (of a scan: its lines), and its table, if it has one."""

    kind: Kind
    title: str
    paragraphs: tuple[str, ...]

    @property
    def rows(self) -> list[list[str]]:
        """The rows of its table."""
        return [line.split(" | ") for one in self.paragraphs for line in one.splitlines() if " | " in line]

    @property
    def expected(self) -> str:
        """The text that should be read, with one space for any white space."""
        return " ".join(" ".join([self.title, *self.paragraphs]).split())

    def drawn(self) -> PdfPage:
        """The page as it is in a PDF."""
        page = PdfPage()
        if self.kind == "scan":
            lines = [self.title, *self.paragraphs[0].splitlines()]
            page.image = page_image(lines, points=38, noise=25, angle=0.4)
            return page
        page.text(60, 100, self.title, 18)
        words = " ".join(" ".join(one.splitlines()) for one in self.paragraphs)
        if self.kind == "columns":
            lines = textwrap.wrap(words, 44, break_on_hyphens=False)
            half = (len(lines) + 1) // 2
            for n in range(half):  # row by row across both columns, as some programs write them
                for x, line in ((60, lines[n]), (320, [*lines, ""][half + n])):
                    page.text(x, 140 + 14 * n, line, 10)
        elif self.kind == "table":
            rows = self.rows
            page.text(60, 140, self.paragraphs[0].splitlines()[0])
            page.table(60, 170, rows, [480 / len(rows[0])] * len(rows[0]))
        else:
            y = 140.0
            for one in self.paragraphs:
                lines = textwrap.wrap(one, 80, break_on_hyphens=False)
                page.lines(60, y, lines)
                y += 14 * len(lines) + 14
        return page


def sample_pages(kind: Kind) -> list[SamplePage]:
    """The pages of a kind."""
    found = []
    for part in _FILE.read_text("utf-8").split("# ")[1:]:
        head, _, body = part.partition("\n")
        called, _, title = head.partition(": ")
        if called == kind:
            found.append(SamplePage(kind, title, tuple(body.strip().split("\n\n"))))
    return found


def write_sample(path: Path, pages: Sequence[SamplePage]) -> Path:
    """A PDF of these pages."""
    return write_pdf(path, [page.drawn() for page in pages])
