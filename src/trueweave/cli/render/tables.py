"""Tables that never cut names: on a terminal, long names are wrapped and descriptions are cut; elsewhere nothing is.

A table for a terminal is laid out in up to three steps. Names are wrapped to several lines and descriptions cut, as
long as each has room for a few words. If there is less room, descriptions are left out, from the first to the last. If
even names and numbers do not fit side by side, each row becomes a paragraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from trueweave.cli.render.printable import printable

Kind = Literal["name", "number", "description"]
_LEAST_NAME = 16  # columns, for longer names
_LEAST_DESCRIPTION = 12
_KINDS: dict[str, Kind] = {">": "number", "~": "description"}


class TextTable:
    """Rows under headings. A heading begins with > for a column of numbers, and with ~ for descriptions; all other
    columns have names."""

    def __init__(
        self, headings: Sequence[str], *, gap: int = 2, styles: Sequence[str] = (), headed: bool = True
    ) -> None:
        self._kinds = [_KINDS.get(heading[:1], "name") for heading in headings]
        self._headings = [heading.lstrip(">~") for heading in headings]
        self._gap = gap
        self._styles = [*styles, *[""] * (len(headings) - len(styles))]
        self._headed = headed
        self._rows: list[tuple[list[str], str]] = []

    def add_row(self, *cells: str, style: str = "") -> None:
        """Add a row; omitted cells are empty."""
        tidy = [printable(" ".join(cell.splitlines())) for cell in cells]
        self._rows.append(([*tidy, *[""] * (len(self._kinds) - len(tidy))], style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wanted = [max(map(cell_len, column)) for column in zip(*self._all, strict=True)]
        if not console.is_terminal:
            yield from self._lines(console, dict(enumerate(wanted)))
        elif widths := self._widths(wanted, options.max_width):
            yield from self._lines(console, widths)
        else:
            yield from self._paragraphs()

    @property
    def _all(self) -> list[list[str]]:
        return [*([self._headings] if self._headed else []), *(cells for cells, _ in self._rows)]

    def _of(self, *kinds: Kind) -> list[int]:
        return [column for column, kind in enumerate(self._kinds) if kind in kinds]

    def _widths(self, wanted: Sequence[int], most: int) -> dict[int, int]:
        """The widths of the columns that are shown; empty if not even names and numbers fit."""
        descriptions = self._of("description")
        for left_out in range(len(descriptions) + 1):
            names = {column: wanted[column] for column in self._of("name")}
            numbers = {column: wanted[column] for column in self._of("number")}
            texts = {column: wanted[column] for column in descriptions[left_out:]}
            room = most - sum(numbers.values()) - self._gap * (len(names) + len(numbers) + len(texts) - 1)
            least = sum(min(width, _LEAST_DESCRIPTION) for width in texts.values())
            if sum(min(width, _LEAST_NAME) for width in names.values()) + least <= room:
                names = _fitted(names, room - least)
                texts = _fitted(texts, room - sum(names.values()))
                return dict(sorted({**numbers, **names, **texts}.items()))
        return {}

    def _lines(self, console: Console, widths: dict[int, int]) -> Iterator[Text]:
        if self._headed:
            yield from self._row(console, self._headings, "bold", widths)
        for cells, style in self._rows:
            yield from self._row(console, cells, style, widths)

    def _row(self, console: Console, cells: Sequence[str], style: str, widths: dict[int, int]) -> Iterator[Text]:
        """A row, in as many lines as its longest name takes."""
        parts = {column: self._cell(console, cells[column], column, width) for column, width in widths.items()}
        for n in range(max(map(len, parts.values()))):
            line = Text(no_wrap=True, overflow="ignore", style=style)
            for column, width in widths.items():
                part = parts[column][n] if n < len(parts[column]) else Text()
                before = " " * (width - part.cell_len) if self._kinds[column] == "number" else ""
                line.append(before).append_text(part)
                line.append(" " * (width - part.cell_len - len(before) + self._gap))
            line.rstrip()
            yield line

    def _cell(self, console: Console, cell: str, column: int, width: int) -> list[Text]:
        text = Text(cell, style=self._styles[column])
        if self._kinds[column] == "description":
            text.truncate(width, overflow="ellipsis")
            return [text]
        lines = text.wrap(console, max(width, 1), overflow="fold")
        for line in lines:
            line.rstrip()
        return list(lines) or [text]

    def _paragraphs(self) -> Iterator[RenderableType]:
        for cells, style in self._rows:
            told = zip(self._headings, self._kinds, cells, strict=True)
            first, *others = [(heading, cell) for heading, kind, cell in told if kind != "description"]
            yield Text(first[1], style=style or "bold")
            yield Padding(", ".join(f"{heading} {cell}" for heading, cell in others), (0, 0, 0, 2))


def table(*headings: str, rows: Iterable[Sequence[str]] = (), gap: int = 2, styles: Sequence[str] = ()) -> TextTable:
    """A table of these rows: > before a heading is for numbers, ~ for descriptions, which are cut to fit."""
    made = TextTable(headings, gap=gap, styles=styles)
    for cells in rows:
        made.add_row(*cells)
    return made


def pairs(values: Mapping[str, object]) -> TextTable:
    """Names and values, one pair per line."""
    made = TextTable(("name", "value"), styles=("dim",), headed=False)
    for name, value in values.items():
        made.add_row(name, str(value))
    return made


def _fitted(wanted: dict[int, int], room: int) -> dict[int, int]:
    """The wanted widths, with the widest reduced until all fit."""
    fitted = dict(wanted)
    while sum(fitted.values()) > room and max(fitted.values()) > 1:
        widest = max(fitted.values())
        over = [column for column, width in fitted.items() if width == widest]
        next_widest = max((width for width in fitted.values() if width < widest), default=1)
        less = min(widest - next_widest, -(-(sum(fitted.values()) - room) // len(over)))
        for column in over:
            fitted[column] -= less
    return fitted
