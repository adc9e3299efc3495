"""Copies in other stores: how far each is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.tables import table

if TYPE_CHECKING:
    from trueweave.core.projections import ProjectionDifference, ProjectionStatus

_SHOWN = 200  # characters of a difference


def projection_state(one: ProjectionStatus) -> str:
    """How far a copy is, in a few words."""
    parts = []
    if one.building:
        parts.append("being built")
    if one.live:
        parts.append(f"{count(one.behind, 'change')} behind{_for(one)}" if one.behind else "up to date")
    elif not one.building:
        parts.append("not begun")
    if one.problem:
        parts.append(f"stopped: {one.problem}")
    elif (one.behind or one.building or not one.live) and not one.running:
        parts.append("no projector runs")
    return ", ".join(parts)


def projection_lines(found: list[ProjectionStatus]) -> list[RenderableType]:
    """The copies, and what to do where one stands still."""
    if not found:
        return ["There is no copy in another store.", next_step("trueweave project start neo4j", "or chroma")]
    made = table("store", "state", ">position")
    for one in found:
        made.add_row(one.store, projection_state(one), f"{one.position:,}")
    waiting = [one for one in found if (one.behind or not one.live) and not one.running]
    return [made, *(next_step(f"trueweave project start {one.store}") for one in waiting[:1])]


def difference_lines(found: list[ProjectionDifference], store: str, limit: int) -> list[RenderableType]:
    """What a comparison found."""
    if not found:
        return [f"The copy in {store} has all that the record has, and nothing else."]
    lines: list[RenderableType] = [
        warning(f"The copy in {store} differs from the record. The first {min(len(found), limit):,} differences:")
    ]
    for one in found:
        lines.append(f"{one.kind} {one.id}")
        lines.append(f"  record  {(one.record or 'nothing')[:_SHOWN]}")
        lines.append(f"  {store:<7} {(one.copy or 'nothing')[:_SHOWN]}")
    return [*lines, next_step(f"trueweave project rebuild {store}", "builds it anew beside this one")]


def _for(one: ProjectionStatus) -> str:
    """Since when the oldest change waits."""
    if one.oldest is None:
        return ""
    seconds = (datetime.now(UTC) - one.oldest).total_seconds()
    return f" (for {seconds:,.0f} s)"
