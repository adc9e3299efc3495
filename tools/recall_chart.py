"""Draws the chart of the README: what four methods find on three public sets of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT = 720, 270
_TOP, _BOTTOM = 40, 226  # where 100 % and 0 % are
_BAR, _GAP = 38, 8
_STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1e1b16 } .small { font-size: 12px; fill: #544e45 }
.set { font-weight: 600; text-anchor: middle } .value { text-anchor: middle; font-size: 12px }
.best { font-weight: 700 } .line { stroke: #dcd6c9 }
.m0 { fill: #ddd7ca } .m1 { fill: #bfb8a9 } .m2 { fill: #988f7f } .m3 { fill: #27498f }
@media (prefers-color-scheme: dark) {
text { fill: #efeae0 } .small { fill: #bdb6a8 } .line { stroke: #37342d }
.m0 { fill: #47433b } .m1 { fill: #655f54 } .m2 { fill: #8a8375 } .m3 { fill: #9fb8f2 } }
</style>"""


def recall_chart(sets: Mapping[str, Mapping[str, float]], names: Mapping[str, str]) -> str:
    """Bars of the methods in `names`, which has what each is called, for every set. Shares are in per cent."""
    label = "Recall at 5 of " + ", ".join(names.values()) + " on " + ", ".join(sets)
    parts = [_legend(list(names.values())), f'<path class="line" d="M0 {_BOTTOM}.5H{_WIDTH}"/>']
    room = _WIDTH / len(sets)
    for number, (title, shares) in enumerate(sets.items()):
        parts += _group(title, [shares[name] for name in names], room * (number + 0.5))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{_STYLE}<title>{label}</title>{''.join(parts)}</svg>\n"
    )


def _legend(names: Sequence[str]) -> str:
    room = _WIDTH / len(names)
    marks = [
        f'<rect class="m{n}" x="{room * n + 4:g}" y="3" width="12" height="12" rx="2"/>'
        f'<text class="small" x="{room * n + 22:g}" y="13">{name}</text>'
        for n, name in enumerate(names)
    ]
    return "".join(marks)


def _group(title: str, shares: Sequence[float], middle: float) -> list[str]:
    width = len(shares) * (_BAR + _GAP) - _GAP
    parts = [f'<text class="set" x="{middle:g}" y="{_BOTTOM + 26}">{title}</text>']
    for n, share in enumerate(shares):
        tall = (_BOTTOM - _TOP) * share / 100
        x, y = middle - width / 2 + n * (_BAR + _GAP), _BOTTOM - tall
        best = " best" if share == max(shares) else ""
        parts += [
            f'<rect class="m{n}" x="{x:g}" y="{y:.1f}" width="{_BAR}" height="{tall:.1f}" rx="2"/>',
            f'<text class="value{best}" x="{x + _BAR / 2:g}" y="{y - 5:.1f}">{share:.1f}</text>',
        ]
    return parts
