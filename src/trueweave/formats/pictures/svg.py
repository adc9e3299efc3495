"""A drawing for a paper: text as text, in the width of a column."""

from __future__ import annotations

import re
from html import escape
from math import hypot, log1p
from uuid import UUID

from trueweave.core.graph import Entity
from trueweave.formats.pictures.colours import OTHER, colours, legend
from trueweave.formats.pictures.contents import PictureContents
from trueweave.formats.pictures.layout import Box, labelled, placed, text_width

_UNITS = 4  # per millimetre
_EDGE = 14.0  # margin around the drawing
_LETTERS = 9.0  # height of letters: 6.4 points on paper
_LINE = 13.0
_LONGEST = 28  # letters of a name
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STYLE = (
    "<style>"
    "text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;fill:#111}"
    f".n{{font-size:{_LETTERS:g}px;paint-order:stroke;stroke:#fff;stroke-width:2.5px;stroke-linejoin:round}}"
    f".l{{font-size:{_LETTERS:g}px}}.m{{font-weight:bold}}"
    ".e{stroke:#777;stroke-opacity:.55}.p{stroke:#111;stroke-opacity:.9}.a{fill:#777}.d{stroke:#fff;stroke-width:1}"
    ".d.m{stroke:#111;stroke-width:1.6}"
    "@media (prefers-color-scheme:dark){text{fill:#eee}.n{stroke:#111}.e{stroke:#aaa}.p{stroke:#eee}.a{fill:#aaa}"
    ".d{stroke:#111}.d.m{stroke:#eee}}"
    "</style>"
)


def drawing(picture: PictureContents, width: float, height: float | None) -> str:
    """The picture as SVG, `width` millimetres wide."""
    across = width * _UNITS
    key = _legend(picture, across)
    down = height * _UNITS if height else max(0.75 * across, min(1.3 * across, 3.2 * len(picture.entities)))
    numbers = {one.id: n for n, one in enumerate(picture.entities)}
    edges = [(numbers[r.source], numbers[r.target], float(r.weight)) for r in picture.relations]
    inner = across - 2 * _EDGE - 30, down - 2 * _EDGE
    at = [(x + _EDGE + 15, y + _EDGE) for x, y in placed(len(picture.entities), edges, *inner)]
    tall = down + _LINE * len(key) + (_LINE / 2 if key else 0)
    title = _text(picture.title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{tall / _UNITS:.1f}mm" '
        f'viewBox="0 0 {across:g} {tall:.1f}" role="img" aria-label="{title}">{_STYLE}<title>{title}</title>'
    )
    return "".join(
        (
            head,
            *_lines(picture, numbers, at),
            *_dots(picture, at),
            *_names(picture, at, across, down),
            *(_legend_line(line, down + _LINE * (n + 0.75)) for n, line in enumerate(key)),
            "</svg>\n",
        )
    )


def radius(one: Entity) -> float:
    """The radius of an entity: the more it is mentioned, the larger."""
    return min(2.6 + 0.9 * log1p(one.count), 8.0)


def _lines(picture: PictureContents, numbers: dict[UUID, int], at: list[tuple[float, float]]) -> list[str]:
    """Relations, with a small arrow at the end of directed ones."""
    drawn = []
    for one in sorted(picture.relations, key=lambda one: one.id in picture.marked):
        a, b = numbers[one.source], numbers[one.target]
        (x0, y0), (x1, y1) = at[a], at[b]
        length = hypot(x1 - x0, y1 - y0)
        if length < 1:
            continue
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        end = radius(picture.entities[b]) + 1.5
        x, y = x1 - dx * end, y1 - dy * end
        thick = min(0.5 + 0.35 * log1p(float(one.weight)), 2.2)
        kind = "p" if one.id in picture.marked else "e"
        drawn.append(
            f'<path class="{kind}" fill="none" stroke-width="{thick:.1f}" d="M{x0:.1f} {y0:.1f}L{x:.1f} {y:.1f}"/>'
        )
        if one.directed and length > 3 * end:
            back = x - 4 * dx, y - 4 * dy
            drawn.append(
                f'<path class="a" d="M{x:.1f} {y:.1f}L{back[0] - 1.8 * dy:.1f} {back[1] + 1.8 * dx:.1f}'
                f'L{back[0] + 1.8 * dy:.1f} {back[1] - 1.8 * dx:.1f}Z"/>'
            )
    return drawn


def _dots(picture: PictureContents, at: list[tuple[float, float]]) -> list[str]:
    colour = colours(picture.entities)
    return [
        f'<circle class="d{" m" if one.id in picture.marked else ""}" cx="{x:.1f}" cy="{y:.1f}" r="{radius(one):.1f}" '
        f'fill="{colour.get(one.type, OTHER)}"><title>{_text(one.name)}</title></circle>'
        for one, (x, y) in zip(picture.entities, at, strict=True)
    ]


def _names(picture: PictureContents, at: list[tuple[float, float]], across: float, down: float) -> list[str]:
    """Names beside their dots, as far as there is room: marked entities first, then those with most relations."""
    order = sorted(
        range(len(picture.entities)),
        key=lambda n: (picture.entities[n].id not in picture.marked, -picture.entities[n].degree, n),
    )
    shown = [_short(picture.entities[n].name) for n in order]
    places = [
        _places(at[n], radius(picture.entities[n]), name, across, down) for n, name in zip(order, shown, strict=True)
    ]
    chosen = labelled(at, [[box for box, _ in some] for some in places])
    drawn = []
    for n, name, some, choice in zip(order, shown, places, chosen, strict=True):
        if choice is None:
            continue
        box, anchor = some[choice]
        x = {"start": box.left, "end": box.right, "middle": (box.left + box.right) / 2}[anchor]
        marked = " m" if picture.entities[n].id in picture.marked else ""
        drawn.append(
            f'<text class="n{marked}" x="{x:.1f}" y="{box.bottom - 0.25 * _LETTERS:.1f}" text-anchor="{anchor}">'
            f"{_text(name)}</text>"
        )
    return drawn


def _places(at: tuple[float, float], r: float, name: str, across: float, down: float) -> list[tuple[Box, str]]:
    """The possible positions of a name: to the right of its dot, to the left, above or below."""
    (x, y), wide, tall = at, text_width(name, _LETTERS), _LETTERS * 1.1
    gap = r + 1.5
    boxes = [
        (Box(x + gap, y - tall / 2, x + gap + wide, y + tall / 2), "start"),
        (Box(x - gap - wide, y - tall / 2, x - gap, y + tall / 2), "end"),
        (Box(x - wide / 2, y - gap - tall, x + wide / 2, y - gap), "middle"),
        (Box(x - wide / 2, y + gap, x + wide / 2, y + gap + tall), "middle"),
    ]
    return [
        one
        for one in boxes
        if one[0].left >= 0 and one[0].right <= across and one[0].top >= 0 and one[0].bottom <= down
    ]


def _legend(picture: PictureContents, across: float) -> list[list[tuple[float, str, str]]]:
    """Types with their colours, in lines: the position, colour and name of each."""
    lines: list[list[tuple[float, str, str]]] = []
    x = across
    for type_, colour in legend(picture.entities):
        name = _short(type_)
        wide = 12 + text_width(name, _LETTERS) + 10
        if x + wide > across - _EDGE:
            lines.append([])
            x = _EDGE
        lines[-1].append((x, colour, name))
        x += wide
    return lines


def _legend_line(line: list[tuple[float, str, str]], y: float) -> str:
    return "".join(
        f'<circle class="d" cx="{x + 4:.1f}" cy="{y - 3:.1f}" r="3.5" fill="{colour}"/>'
        f'<text class="l" x="{x + 11:.1f}" y="{y:.1f}">{_text(name)}</text>'
        for x, colour, name in line
    )


def _text(text: str) -> str:
    """A text escaped for XML, with invalid characters replaced."""
    return escape(_NO_XML.sub("\ufffd", text))


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
