"""Pictures of communities: circles in each other, from the coordinates that benchmarks/communities.py found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

Figures = Mapping[str, Any]

_WIDTH = 960
_EDGE, _HEAD = 16, 64  # pixels round the drawing, and above it for the title
_PALETTE = (
    "#4e79a7",
    "#e58a2c",
    "#d9555a",
    "#4f9f94",
    "#5b9a48",
    "#b5932a",
    "#a06c96",
    "#d9768a",
    "#8f6a54",
    "#6a7fd0",
)
_GREY = "#8a8f98"
_LEAST = 3  # members of a community that is written about
_NAMED = 10  # members of an outermost community that is named
_LETTERS, _SMALL = 11.5, 10.0  # how high letters are, in pixels
_WIDE = 0.56  # of its height is how wide a letter is, about
_ARC, _ACROSS = 3.0, 2.3  # how long a name may be along the edge and across, in radii
_STYLE = (
    "<style>"
    "text{font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#24292f}"
    ".back{fill:#fff;stroke:#d7dbe0}.title{font-size:20px;font-weight:600}.told{font-size:13px;fill:#59626d}"
    f".arc{{font-size:{_LETTERS:g}px;font-weight:600;text-anchor:middle}}"
    f".in{{font-size:{_SMALL:g}px;text-anchor:middle;stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}"
    ".dots{stroke-linecap:round;fill:none}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#161b22;stroke:#30363d}.told{fill:#9aa4af}"
    ".in{stroke:#161b22}}"
    "</style>"
)


class Circle(NamedTuple):
    """A community in the picture, and in which outermost one it lies."""

    outermost: int
    level: int
    x: float
    y: float
    r: float
    name: str


def picture(title: str, found: Figures) -> str:
    """All communities as circles in each other, and their members as dots."""
    drawing = found["drawing"]
    width, height = drawing["size"]
    scale = (_WIDTH - 2 * _EDGE) / width
    tall = round(height * scale + _HEAD + _EDGE)
    thick = 2 * drawing["dot"] * scale
    circles = [_circle(line, scale) for line in drawing["circles"]]
    dots = _dots(drawing["dots"], scale)
    sizes = Counter({n: len(each) for n, each in dots.items()})
    members, outermost = found["entities"] - found["alone"], found["levels"][0]["communities"]
    told = (
        f"{members:,} entities in {outermost} communities and their parts, {found['communities']} in all."
        " A dot is an entity. Grey: too small to be written about."
    )
    label = f"Communities of {escape(title)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {tall}" role="img" aria-label="{label}">',
        f"{_STYLE}<title>{label}</title>",
        f'<rect class="back" x=".5" y=".5" width="{_WIDTH - 1}" height="{tall - 1}" rx="8"/>',
        f'<text class="title" x="{_EDGE + 4}" y="30">{escape(title)}</text>',
        f'<text class="told" x="{_EDGE + 4}" y="50">{escape(told)}</text>',
    ]
    for n in sorted(dots):
        parts.append(_community(n, circles, dots[n], sizes[n], thick))
    named = [one for one in circles if one.level == 0 and sizes[one.outermost] >= _NAMED]
    parts += [_on_edge(one.outermost, one, sizes[one.outermost]) for one in named]
    if thick > _SMALL:
        parts += [_across(one) for one in circles if one.level == 1]
    return "".join((*parts, "</svg>\n"))


def _circle(line: str, scale: float) -> Circle:
    outermost, level, x, y, r, name = line.split(" ", 5)
    at = float(x) * scale + _EDGE, float(y) * scale + _HEAD
    return Circle(int(outermost), int(level), *at, float(r) * scale, name)


def _dots(line: str, scale: float) -> dict[int, list[tuple[float, float]]]:
    found: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for dot in line.split():
        n, x, y = dot.split(",")
        found[int(n)].append((float(x) * scale + _EDGE, float(y) * scale + _HEAD))
    return found


def _community(n: int, circles: Sequence[Circle], dots: Sequence[tuple[float, float]], size: int, thick: float) -> str:
    colour = _PALETTE[n % len(_PALETTE)] if size >= _LEAST else _GREY
    rings = "".join(f'<circle cx="{c.x:.1f}" cy="{c.y:.1f}" r="{c.r:.1f}"/>' for c in circles if c.outermost == n)
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in dots)
    return (
        f'<g fill="{colour}" fill-opacity=".13" stroke="{colour}" stroke-opacity=".6">{rings}'
        f'<path class="dots" stroke-opacity=".8" stroke-width="{thick:.1f}" d="{path}"/></g>'
    )


def _on_edge(n: int, one: Circle, size: int) -> str:
    """The name of an outermost community along its edge."""
    r = one.r - _LETTERS - 1
    name = _short((f"{one.name} · {size}", one.name), _ARC * r / (_LETTERS * _WIDE))
    arc = f'<path id="a{n}" fill="none" d="M{one.x - r:.1f} {one.y:.1f}a{r:.1f} {r:.1f} 0 0 1 {2 * r:.1f} 0"/>'
    return f'{arc}<text class="arc"><textPath href="#a{n}" startOffset="50%">{escape(name)}</textPath></text>'


def _across(one: Circle) -> str:
    """The name of a part, in two lines if need be."""
    most = _ACROSS * one.r / (_SMALL * _WIDE)
    lines = [_short((line,), most) for line in (_halves(one.name) if len(one.name) > most else (one.name,))]
    top = one.y + _SMALL * (0.35 - 0.55 * (len(lines) - 1))
    return "".join(
        f'<text class="in" x="{one.x:.1f}" y="{top + 1.1 * _SMALL * n:.1f}">{escape(line)}</text>'
        for n, line in enumerate(lines)
    )


def _halves(name: str) -> Sequence[str]:
    """A name in two, at the space that is nearest to the middle."""
    spaces = [at for at, letter in enumerate(name) if letter == " "]
    if not spaces:
        return (name,)
    at = min(spaces, key=lambda at: abs(at - len(name) / 2))
    return name[:at], name[at + 1 :]


def _short(names: Sequence[str], most: float) -> str:
    """The first of these that is not too long; else the last, cut."""
    fitting = [name for name in names if len(name) <= most]
    return fitting[0] if fitting else f"{names[-1][: int(most) - 1].rstrip()}…"
