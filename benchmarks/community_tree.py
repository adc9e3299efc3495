"""The communities of a small graph as a tree: sizes, titles, and where to draw each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from string import capwords
from typing import Any

import grouping
import parted
from packing import Circle, pack, place

from trueweave import AsyncTrueweave, Community
from trueweave.graph.communities import LeidenSettings

Figures = dict[str, Any]
_ALL = 1_000_000
_SHOWN = 3  # of the largest outermost ones, with all that is in them
_WIDE = 1.6  # times as wide as high
_DOTS = 95.0  # the radius of an entity where there is one: with a hundred times as many, a tenth
_RIM, _NAMED = 3.0, 17.0  # between the edge of a community and what is in it, where its name stands there and elsewhere
_BIG = 10  # members of an outermost community that is named


async def figures(trueweave: AsyncTrueweave, how: LeidenSettings) -> Figures:
    """Sizes, modularity beside Leiden without levels, the largest communities with their parts, and a drawing."""
    found = await trueweave.communities.select(limit=_ALL)
    outermost = [one for one in found if one.level == 0]
    parts: dict[Any, list[Community]] = {}
    for one in found:
        parts.setdefault(one.parent, []).append(one)
    innermost = [one.size for one in found if not one.parts]
    return {
        "communities": len(found),
        "median_size": {"outermost": median(one.size for one in outermost), "innermost": median(innermost)},
        "without_levels": parted.without_levels(await grouping.graph_of(trueweave), how),
        "largest": [_branch(one, parts) for one in outermost[:_SHOWN]],
        "drawing": await _drawing(trueweave, outermost, parts),
    }


def _branch(one: Community, parts: Mapping[Any, Sequence[Community]]) -> Figures:
    shown: Figures = {"title": one.title or ", ".join(one.names), "size": one.size}
    if one.parts:
        shown["parts"] = [_branch(part, parts) for part in parts[one.id]]
    return shown


# --- drawing ------------------------------------------------------------------------------------------


async def _drawing(
    trueweave: AsyncTrueweave, outermost: Sequence[Community], parts: Mapping[Any, Sequence[Community]]
) -> Figures:
    """Circles by level, entities as dots in them, and names: numbers as text, which is short."""
    dot = _DOTS / math.sqrt(sum(one.size for one in outermost))
    circles = [await _circle(trueweave, one, parts, dot) for one in outermost]
    pack(circles, _WIDE)
    place(circles)
    left, top = (min(getattr(one, axis) - one.r for one in circles) for axis in "xy")
    width, height = (max(getattr(one, axis) + one.r for one in circles) for axis in "xy")
    flat = [(n, one, one.x - left, one.y - top) for n, whole in enumerate(circles) for one in whole.all()]
    if all(one.name.isupper() for one in circles):  # as some models write all names
        for _, one, _, _ in flat:
            one.name = capwords(one.name)
    return {
        "size": [round(width - left), round(height - top)],
        "dot": round(dot, 1),
        "circles": [f"{n} {one.level} {x:.1f} {y:.1f} {one.r:.1f} {one.name}" for n, one, x, y in flat if one.inner],
        "dots": " ".join(f"{n},{x:.1f},{y:.1f}" for n, one, x, y in flat if not one.inner),
    }


async def _circle(
    trueweave: AsyncTrueweave, one: Community, parts: Mapping[Any, Sequence[Community]], dot: float
) -> Circle:
    if one.parts:
        inner = [await _circle(trueweave, part, parts, dot) for part in parts[one.id]]
    else:
        inner = [Circle(entity.name, dot) for entity in await trueweave.communities.members(one.id, one.size)]
    rim = _NAMED if one.level == 0 and one.size >= _BIG else _RIM
    return Circle(one.names[0], inner=inner, rim=rim)
