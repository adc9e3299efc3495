"""What methods scored on a set of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import warning
from trueweave.cli.render.tables import table

if TYPE_CHECKING:
    from trueweave.bench.results import Results


def score_table(results: Results, verdict: str) -> list[RenderableType]:
    """A table of scores, what was left out, and the verdict."""
    made = table("method", *(f">{measure}" for measure in results.measures), ">ms")
    for one in results.methods:
        scores = (f"{100 * one.scores[m].mean:.1f}{_mark(results, m, one.name)}" for m in results.measures)
        made.add_row(one.name, *scores, f"{1000 * one.p50:,.0f}")
    left_out = [warning(f"{name} is left out: {reason}") for name, reason in results.left_out.items()]
    legend = "In percent; * is behind the best by more than chance would explain."
    return [made, legend, *left_out, *map(warning, results.notes), "", verdict]


def _mark(results: Results, measure: str, method: str) -> str:
    behind = results.difference(measure, method)
    return "*" if behind and behind.significant else " "
