"""Plots as inline SVG, drawn only with attributes and classes, as a strict content security policy requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from trueweave.core.bench import Interval

_WIDTH = 640
_LABEL = 150  # room for names
_ROW = 30
_RIGHT = 60  # room for numbers


def intervals(rows: Sequence[tuple[str, Interval]], title: str, *, is_best: bool = True) -> str:
    """A bar for each mean, from 0 to 1, with its interval across the end. The first stands out if it is the best."""
    height = _ROW * len(rows) + 24
    parts = [_axis(height)]
    for number, (name, one) in enumerate(rows):
        middle = _ROW * number + _ROW / 2
        top, low, high = middle - 5, _x(one.low), _x(one.high)
        parts += [
            _bar(name, one.mean, middle, 16, is_best=is_best and number == 0),
            f'<path class="span" d="M{low:.1f} {top:g}v10M{low:.1f} {middle:g}H{high:.1f}M{high:.1f} {top:g}v10"/>',
        ]
    return _svg(height, title, parts)


def grouped(groups: Mapping[str, Sequence[tuple[str, float]]], title: str) -> str:
    """Bars in groups under headings, from 0 to 1."""
    parts: list[str] = []
    y = 0.0
    for heading, rows in groups.items():
        parts.append(f'<text class="heading" x="0" y="{y + 18:g}">{escape(heading)}</text>')
        y += 26
        best = max((value for _, value in rows), default=0.0)
        for name, value in rows:
            parts.append(_bar(name, value, y + 9, 12, is_best=value == best))
            y += 20
        y += 6
    return _svg(round(y), title, parts)


def _bar(name: str, value: float, middle: float, thick: int, *, is_best: bool) -> str:
    style, width = "bar best" if is_best else "bar", max(_x(value) - _LABEL, 1)
    return (
        f'<text class="name" x="{_LABEL - 8}" y="{middle + 4:g}">{escape(_short(name))}</text>'
        f'<rect class="{style}" x="{_LABEL}" y="{middle - thick / 2:g}" width="{width:.1f}" height="{thick}" rx="2"/>'
        f'<text class="value" x="{_WIDTH - 4}" y="{middle + 4:g}">{100 * value:.1f} %</text>'
    )


def _axis(height: int) -> str:
    lines = [f'<path class="grid" d="M{_x(share):.1f} 0V{height - 20}"/>' for share in (0, 0.25, 0.5, 0.75, 1)]
    marks = [
        f'<text class="tick" x="{_x(share):.1f}" y="{height - 6}">{100 * share:.0f}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    return "".join((*lines, *marks))


def _x(share: float) -> float:
    return _LABEL + min(max(share, 0.0), 1.0) * (_WIDTH - _LABEL - _RIGHT)


def _short(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
