"""The text of the pages of a PDF by lines: their order, those that repeat on every page, headings and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

from trueweave.core.record import Box
from trueweave.ingest.parsers.layout import PageBox, in_columns
from trueweave.ingest.parsers.ocr import TextBlock
from trueweave.text.text_builder import PictureFile, TextBuilder

_MOST_CHARACTERS = 50_000  # of a page whose lines are looked at
_HYPHEN_AT_LINE_END = re.compile(r"[\x02\xad\ufffe]\n?")
_DIGITS = re.compile(r"\d+")
_WIDE_GAP = 1.5  # between two columns, in heights of a line
_MARGIN = 0.1  # the part of a page at its top and bottom where headers and footers are
_FEWEST_PAGES = 3  # on which a header repeats
_LARGER = 1.2  # the size of a heading, as a multiple of that of the text
_LONGEST_HEADING = 150  # characters
_LEVELS = 3
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|abb(?:ildung|\.)?|bild|chart|diagram|graph|illustration|image|photo(?:graph)?|picture|plate|scheme)"
    r"\s*\d+(?:\.\d+)*\s*[:.–—-]",
    re.IGNORECASE,
)
_CAPTION_GAP = 3  # between a picture and its caption, at most, in heights of a line
_LINE_GAP = 0.8  # between two lines of a caption, at most


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a page, or a part of one. `row` is that of the line in the file, and `size` the height of its first
    letter: where a word is hyphenated, a line of the file is two on the page."""

    text: str
    box: PageBox
    row: int
    size: float


class PdfPicture(NamedTuple):
    """A picture of a page: its file, if it is to be described, and its box, if it is known, in points and as parts of
    the page."""

    file: PictureFile | None
    box: PageBox | None
    parts: Box | None


@dataclass(slots=True)
class PdfPage:
    """A page: its lines, or its text if it has none that are known, or the blocks of a scanned page; its tables, each
    with its place; its pictures."""

    label: str
    height: float = 0.0
    lines: list[TextLine] = field(default_factory=list)
    text: str = ""
    tables: list[tuple[PageBox, list[list[str]]]] = field(default_factory=list)
    pictures: list[PdfPicture] = field(default_factory=list)
    blocks: list[TextBlock] = field(default_factory=list)


def page_lines(textpage: Any, height: float) -> list[TextLine]:
    """The lines of a page in the order of the file. A line with a wide gap is in parts."""
    count = textpage.count_chars()
    if count > _MOST_CHARACTERS:
        return []
    raw = textpage.get_text_range(0, count)
    if len(raw) != count:  # characters that are not text: positions are not known
        return []
    found: list[TextLine] = []
    for row, line in enumerate(re.finditer(r"[^\r\n]+", raw)):
        found += _parts(textpage, line[0], line.start(), row, height)
    return found


def _parts(textpage: Any, line: str, start: int, row: int, height: float) -> Iterator[TextLine]:
    words = [(word.start(), word.end()) for word in re.finditer(r"\S+", line)]
    first: tuple[int, PageBox] | None = None
    last: tuple[int, PageBox] | None = None
    for begin, end in words:
        opening = _box(textpage, start + begin, height)
        if first and last and opening.left - last[1].right > _WIDE_GAP * max(opening.height, last[1].height):
            yield TextLine(line[first[0] : last[0]], PageBox.around((first[1], last[1])), row, first[1].height)
            first = None
        first = first or (begin, opening)
        last = end, _box(textpage, start + end - 1, height)
    if first and last:
        yield TextLine(line[first[0] : last[0]], PageBox.around((first[1], last[1])), row, first[1].height)


def _box(textpage: Any, index: int, height: float) -> PageBox:
    left, bottom, right, top = textpage.get_charbox(index, loose=True)
    return PageBox(left, height - top, right, height - bottom)


def write(pages: Sequence[PdfPage], draft: TextBuilder) -> None:
    """Write the pages into the draft: in columns, without headers and footers that repeat, with headings and tables."""
    repeated = _repeated(pages)
    levels = _levels(pages)
    seen: set[str] = set()
    for page in pages:
        draft.page(page.label)
        if page.text or not page.lines:
            draft.block(page.text)
            for block in page.blocks:
                draft.block_at(*block)
            for picture in page.pictures:
                draft.picture("", picture.file, picture.parts)
            continue
        kept = []
        for line in page.lines:
            key = _key(page, line)
            if key in repeated:
                if key in seen or "#" in key:
                    continue
                seen.add(key)
            kept.append(line)
        _write_page(page, _ordered(kept), levels, draft)


def _write_page(page: PdfPage, lines: Sequence[TextLine], levels: dict[float, int], draft: TextBuilder) -> None:
    done: set[int] = set()
    captions = _captions(page, lines)

    def kind(line: TextLine) -> tuple[int, int]:
        """The table that a line is in (or -1), and its level as a heading (or 0); -2 and less for the caption of a
        picture."""
        for n, (box, _) in enumerate(page.tables):
            if _is_inside(line.box, box):
                return n, 0
        if line in captions:
            return -2 - captions[line], 0
        is_short = len(line.text) <= _LONGEST_HEADING and any(map(str.isalpha, line.text))
        return -1, levels.get(_size(line), 0) if is_short else 0

    for (table, level), group in groupby(lines, key=kind):
        if table >= 0:
            if table not in done:
                draft.table(page.tables[table][1])
            done.add(table)
            continue
        rows = [" ".join(one.text for one in row) for _, row in groupby(group, key=lambda line: line.row)]
        text = _HYPHEN_AT_LINE_END.sub("", "\n".join(rows))
        if table < -1:
            picture = page.pictures[-2 - table]
            draft.picture(text, picture.file, picture.parts)
        elif level:
            draft.heading(text, level)
        else:
            draft.block(text)
    for n, picture in enumerate(page.pictures):
        if n not in captions.values():
            draft.picture("", picture.file, picture.parts)


def _captions(page: PdfPage, lines: Sequence[TextLine]) -> dict[TextLine, int]:
    """The lines of captions, with the number of the picture that they are close to, below or above."""
    found: dict[TextLine, int] = {}
    for at, line in enumerate(lines):
        if not _CAPTION.match(line.text):
            continue
        near = [(_distance(picture.box, line.box), n) for n, picture in enumerate(page.pictures) if picture.box]
        near = [(distance, n) for distance, n in near if n not in found.values()]
        if not near or min(near)[0] > _CAPTION_GAP * line.box.height:
            continue
        last = line
        for following in (line, *lines[at + 1 :]):
            if following.box.top - last.box.bottom > _LINE_GAP * line.box.height or following.size != line.size:
                break
            found[following] = min(near)[1]
            last = following
    return found


def _distance(picture: PageBox, line: PageBox) -> float:
    """The distance of a line below or above a picture; infinite if it is beside it."""
    if line.right < picture.left or line.left > picture.right:
        return float("inf")
    return max(line.top - picture.bottom, picture.top - line.bottom, 0)


def _is_inside(line: PageBox, table: PageBox) -> bool:
    across, down = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    return table.left <= across <= table.right and table.top <= down <= table.bottom


def _ordered(lines: list[TextLine]) -> list[TextLine]:
    """The lines column by column, if the page has columns and the file does not have them in that order."""
    columns = in_columns([line.box for line in lines])
    if len(columns) == 1:
        return lines
    order = [i for column in columns for i in sorted(column, key=lambda i: lines[i].box.top)]
    if order == sorted(order):
        return lines
    # Each part of a line is a line of its own column.
    return [replace(lines[i], row=row) for row, i in enumerate(order)]


def _key(page: PdfPage, line: TextLine) -> str:
    """What a header or footer has in common on all pages; empty in the middle of a page."""
    middle = (line.box.top + line.box.bottom) / 2
    if _MARGIN * page.height < middle < (1 - _MARGIN) * page.height:
        return ""
    return f"{round(middle / 4)} {_DIGITS.sub('#', line.text)}"


def _repeated(pages: Sequence[PdfPage]) -> set[str]:
    """The keys of lines at the top or bottom that are on most pages."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_key(page, line) for line in page.lines} - {""})
    most = max(_FEWEST_PAGES, sum(bool(page.lines) for page in pages) / 2)
    return {key for key, count in counts.items() if count >= most}


def _size(line: TextLine) -> float:
    return round(line.size * 2) / 2


def _levels(pages: Sequence[PdfPage]) -> dict[float, int]:
    """The level of the headings of each size; the text itself has the size of most characters."""
    characters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            characters[_size(line)] += len(line.text)
    if not characters:
        return {}
    text = characters.most_common(1)[0][0]
    larger = sorted((size for size in characters if size >= _LARGER * text), reverse=True)
    return {size: min(level, _LEVELS) for level, size in enumerate(larger, 1)}
