"""The reading order of lines on a page: columns from left to right, each from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from trueweave.core.record import Box

_MOST_LINES = 2000  # a page with more is no text in columns
_FEWEST_LINES = 3  # of a column
_WIDTH = 0.22  # of a column's lines, as part of the width of all; the cells of tables are narrower
_SPANNING = 0.25  # the part of the lines that may cross a gutter: titles above columns
_BESIDE = 0.5  # the part of the lower column's height that must be beside the other one
_BLOCK_GAP = 0.9  # the distance between two blocks, in heights of a line


class PageBox(NamedTuple):
    """A rectangle, from the top left."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, boxes: Iterable[PageBox]) -> PageBox:
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return cls(min(lefts), min(tops), max(rights), max(bottoms))

    def parts(self, width: float, height: float) -> Box:
        """The same as parts of the width and height of the page, within the page."""
        sides = zip(self, (width, height) * 2, strict=True)
        return tuple(round(min(max(side / max(whole, 1), 0.0), 1.0), 4) for side, whole in sides)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def reading_order(boxes: Sequence[PageBox]) -> list[list[int]]:
    """The indexes of the lines in reading order, by blocks that are separated by a gap."""
    if not boxes:
        return []
    blocks: list[list[int]] = []
    for column in in_columns(boxes):
        rows = _rows(boxes, column)
        high = median(boxes[i].height for i in column)
        bottom = float("inf")
        for row in rows:
            around = PageBox.around(boxes[i] for i in row)
            if not blocks or bottom == float("inf") or around.top - bottom > _BLOCK_GAP * high:
                blocks.append([])
            blocks[-1] += row
            bottom = around.bottom
    return blocks


def in_columns(boxes: Sequence[PageBox], chosen: Sequence[int] | None = None) -> list[list[int]]:
    """The indexes of the lines by column, in reading order; one list, if there are no columns."""
    lines = list(chosen if chosen is not None else range(len(boxes)))
    gutter = _gutter([boxes[i] for i in lines]) if len(lines) <= _MOST_LINES else None
    if gutter is None:
        return [lines]
    found: list[list[int]] = []
    section: list[int] = []

    def end_section() -> None:
        for side in (
            [i for i in section if boxes[i].right <= gutter],
            [i for i in section if boxes[i].right > gutter],
        ):
            found.extend(in_columns(boxes, side) if side else [])
        section.clear()

    for i in sorted(lines, key=lambda i: boxes[i].top):
        if boxes[i].left < gutter < boxes[i].right:
            end_section()
            found.append([i])
        else:
            section.append(i)
    end_section()
    return found


def _gutter(boxes: Sequence[PageBox]) -> float | None:
    """The middle of the gap between two columns of text."""
    if len(boxes) < 2 * _FEWEST_LINES:
        return None
    whole = PageBox.around(boxes)
    high = median(box.height for box in boxes)
    best: tuple[int, float] | None = None
    for edge in sorted({box.right for box in boxes}):
        left = [box for box in boxes if box.right <= edge]
        right = [box for box in boxes if box.left > edge]
        if len(left) < _FEWEST_LINES or len(right) < _FEWEST_LINES:
            continue
        crossing = len(boxes) - len(left) - len(right)
        gap = min(box.left for box in right) - edge
        if crossing > _SPANNING * len(boxes) or gap < high / 2 or not _are_columns(left, right, whole.width):
            continue
        if best is None or crossing < best[0]:
            best = crossing, edge + gap / 2
    return best[1] if best else None


def _are_columns(left: Sequence[PageBox], right: Sequence[PageBox], width: float) -> bool:
    """Whether the two sides are text beside text, and not the cells of a table."""
    one, other = PageBox.around(left), PageBox.around(right)
    beside = min(one.bottom, other.bottom) - max(one.top, other.top)
    wide = min(median(box.width for box in side) for side in (left, right))
    return wide >= _WIDTH * width and beside >= _BESIDE * min(one.height, other.height)


def _rows(boxes: Sequence[PageBox], chosen: Sequence[int]) -> list[list[int]]:
    """The lines from top to bottom; those beside one another from left to right."""
    rows: list[list[int]] = []
    middle = float("-inf")
    for i in sorted(chosen, key=lambda i: boxes[i].top + boxes[i].bottom):
        box = boxes[i]
        if rows and box.top < middle:
            rows[-1].append(i)
        else:
            rows.append([i])
            middle = (box.top + box.bottom) / 2
    return [sorted(row, key=lambda i: boxes[i].left) for row in rows]
