"""Drawings for the documentation: the symbols that all of them share, as SVG in the colours of the web UI.

A drawing is 480 units wide, so that its text is readable on a telephone. It has a ground of its own and both sets of
colours, because a page may show it in an <img>, where nothing but the reader's preference is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import hypot
from pathlib import Path
from typing import Literal, NamedTuple

WIDTH = 480
LINE = 20  # from one line of text to the next

Kind = Literal["graph", "vector", "words", "flow", "weak"]
Anchor = Literal["start", "middle", "end"]

_STYLE = f"<style>\n{Path(__file__).with_suffix('.css').read_text('utf-8')}</style>"


class Node(NamedTuple):
    """Where something was drawn: its middle and its size. Lines end at its border."""

    x: float
    y: float
    width: float
    height: float

    def towards(self, other: Node) -> tuple[float, float]:
        """The point on the border, and a little outside it, in the direction of another node."""
        across, down = other.x - self.x, other.y - self.y
        reach = min(
            (self.width / 2 / abs(across)) if across else 9e9,
            (self.height / 2 / abs(down)) if down else 9e9,
        )
        reach = min(1.0, reach + 4 / (hypot(across, down) or 1))
        return self.x + reach * across, self.y + reach * down


class Drawing:
    """A drawing with what it shows in words, to which symbols are added."""

    def __init__(self, height: int, says: str) -> None:
        self.says = says
        self._height = height
        self._parts: list[str] = []

    def svg(self) -> str:
        """The file."""
        tips = "".join(
            f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path class="tip-{kind}" d="M0 0L8 4L0 8z"/></marker>'
            for kind in ("graph", "vector", "words", "flow", "weak")
        )
        size = f'width="{WIDTH}" height="{self._height}" viewBox="0 0 {WIDTH} {self._height}"'
        ground = f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{self._height - 1}" rx="8"/>'
        first = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(self.says)}</title>'
        return "\n".join([first, _STYLE, f"<defs>{tips}</defs>", ground, *self._parts, "</svg>\n"])

    # --- text and lines -----------------------------------------------------------------------------------

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: Anchor = "start") -> None:
        """Lines of text, the first with its baseline at y."""
        for number, line in enumerate(text.split("\n")):
            where = f'x="{x:g}" y="{y + LINE * number:g}" text-anchor="{anchor}"'
            self._parts.append(f'<text class="{kind}" {where}>{escape(line)}</text>')

    def line(self, a: Node, b: Node, kind: Kind = "graph", *, arrow: bool = False) -> None:
        """A line from the border of one node to that of another."""
        (x1, y1), (x2, y2) = a.towards(b), b.towards(a)
        tip = f' marker-end="url(#{kind})"' if arrow else ""
        self._parts.append(f'<path class="{kind}"{tip} d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')

    def lines(self, a: Node, others: Sequence[Node], kind: Kind = "graph", *, arrow: bool = False) -> None:
        """A line to each of several nodes."""
        for other in others:
            self.line(a, other, kind, arrow=arrow)

    def way(self, points: Sequence[tuple[float, float]], kind: Kind = "graph", *, arrow: bool = True) -> None:
        """A line through points."""
        tip = f' marker-end="url(#{kind})"' if arrow else ""
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        self._parts.append(f'<path class="{kind}"{tip} d="M{path}"/>')

    def curve(self, a: tuple[float, float], bend: tuple[float, float], b: tuple[float, float]) -> None:
        """A thin curve."""
        self._parts.append(f'<path class="weak" d="M{a[0]:g} {a[1]:g}Q{bend[0]:g} {bend[1]:g} {b[0]:g} {b[1]:g}"/>')

    def step(self, x: float, y: float, number: int) -> None:
        """The number of a step, which the text below the drawing explains."""
        self._parts.append(f'<circle class="count" cx="{x:g}" cy="{y:g}" r="11"/>')
        self.text(x, y + 5.5, str(number), "counted", "middle")

    # --- symbols ------------------------------------------------------------------------------------------

    def question(self, x: float, y: float) -> Node:
        """A question."""
        body = (
            f"M{x - 20} {y - 17}h40a6 6 0 0 1 6 6v22a6 6 0 0 1 -6 6h-26l-8 9v-9h-6a6 6 0 0 1 -6 -6v-22a6 6 0 0 1 6 -6z"
        )
        self._parts.append(f'<path class="asked" d="{body}"/>')
        self.text(x, y + 6, "?", "on", "middle")
        return Node(x, y, 52, 34)

    def chunk(self, x: float, y: float, label: str = "", *, found: bool = False, made: bool = False) -> Node:
        """A chunk of a document; one that is among the results; or one that a model made up."""
        kind = "found" if found else "made" if made else "chunk"
        self._rect(kind, Node(x, y, 32, 38), 2)
        if label:
            self.text(x, y + 6, label, "head", "middle")
        else:
            rules = "".join(f"M{x - 10:g} {y + down:g}h{long}" for down, long in ((-9, 20), (-3, 20), (3, 20), (9, 12)))
            self._parts.append(f'<path class="rule" d="{rules}"/>')
        return Node(x, y, 32, 38)

    def entity(self, x: float, y: float, *, near: bool = False) -> Node:
        """An entity; filled if the question led to it."""
        self._parts.append(f'<circle class="entity{" near" if near else ""}" cx="{x:g}" cy="{y:g}" r="9"/>')
        return Node(x, y, 16, 16)

    def name(self, x: float, y: float, *, near: bool = False) -> Node:
        """A name as it occurs in texts; filled if the question contains it."""
        diamond = f"M{x:g} {y - 11:g}l11 11l-11 11l-11 -11z"
        self._parts.append(f'<path class="name{" near" if near else ""}" d="{diamond}"/>')
        return Node(x, y, 15, 15)

    def tag(self, x: float, y: float, text: str, width: float = 96) -> Node:
        """A keyword of the question, or a question that follows from it."""
        self._rect("tag", Node(x, y, width, 26), 13)
        self.text(x, y + 5.5, text, "small", "middle")
        return Node(x, y, width, 26)

    def model(self, x: float, y: float) -> Node:
        """A call to a language model."""
        self._parts.append(f'<path class="model" d="M{x - 24} {y}l10 -16h28l10 16l-10 16h-28z"/>')
        self.text(x, y + 5.5, "LLM", "small", "middle")
        return Node(x, y, 48, 32)

    def report(self, x: float, y: float) -> Node:
        """The report on a community."""
        self._rect("report", Node(x, y, 30, 36), 2)
        self._parts.append(
            f'<path class="bar" d="M{x - 9:g} {y - 9:g}h18M{x - 9:g} {y - 1:g}h18M{x - 9:g} {y + 7:g}h11"/>'
        )
        return Node(x, y, 30, 36)

    def community(self, x: float, y: float, width: float, height: float) -> Node:
        """A community, to be drawn before the entities in it."""
        self._rect("community", Node(x, y, width, height), min(width, height) / 2)
        return Node(x, y, width, height)

    def box(self, x: float, y: float, width: float, height: float, text: str = "", kind: str = "card") -> Node:
        """A box given by its middle, with text in it: the first line is its heading."""
        node = Node(x, y, width, height)
        self._rect(kind, node, 6)
        lines = text.split("\n") if text else []
        top = y - LINE * (len(lines) - 1) / 2 + 5.5
        for number, line in enumerate(lines):
            self.text(x, top + LINE * number, line, "small soft" if number else "head", "middle")
        return node

    def area(self, x: float, y: float, width: float, height: float, text: str) -> Node:
        """An area that holds other things, given by its upper left corner, with a heading."""
        node = Node(x + width / 2, y + height / 2, width, height)
        self._rect("sunk", node, 8)
        self.text(x + 12, y + 24, text, "head")
        return node

    def _rect(self, kind: str, node: Node, round_: float) -> None:
        left, top = node.x - node.width / 2, node.y - node.height / 2
        size = f'x="{left:g}" y="{top:g}" width="{node.width:g}" height="{node.height:g}" rx="{round_:g}"'
        self._parts.append(f'<rect class="{kind}" {size}/>')
