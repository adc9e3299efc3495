"""What finding communities and writing reports changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import count, next_step, warning

if TYPE_CHECKING:
    from trueweave.cli.render.run_summary import ReportTally
    from trueweave.core.graph import CommunityChanges
    from trueweave.core.money import ReportEstimate


def community_count(found: CommunityChanges) -> int:
    """How many communities there are now."""
    return found.came + found.changed + found.same


def found_line(found: CommunityChanges) -> str:
    """How many communities there are, and how that changed."""
    number = count(community_count(found), "community")
    if not (found.came or found.changed or found.gone):
        return f"{number}, as before." if found.same else "There are no communities: no two entities are related."
    changes = {"new": found.came, "changed": found.changed, "unchanged": found.same, "gone": found.gone}
    return f"{number}: {', '.join(f'{many:,} {what}' for what, many in changes.items())}."


def written_lines(tally: ReportTally, wanted: ReportEstimate, others: int, *, is_stopped: bool) -> list[RenderableType]:
    """What was written, by whom, and what was not: so many `others` of the reports that were to be written."""
    done = tally.reports
    if is_stopped:
        return [f"{count(done, 'report')} written, {others:,} to go.", *_without_model(tally)]
    if not (done or wanted.reports):
        upto = f"{count(wanted.current, 'report')} up to date, none to write."
        return [upto if wanted.current else "They are too small to be written about."]
    author = f"by {wanted.model}" if wanted.model else "without a model: sentences picked out of the documents"
    elsewhere = [f"{others:,} more by other workers."] if others else []
    return [f"{count(done, 'report')} written {author}.", *elsewhere, *_without_model(tally)]


def _without_model(tally: ReportTally) -> list[RenderableType]:
    if not tally.without_model:
        return []
    failed = f"{tally.without_model:,} of them without the model, whose replies were unusable"
    return [warning(f"{failed}: sentences picked out of the documents.")]


def next_lines(found: CommunityChanges, *, is_written: bool = False) -> list[RenderableType]:
    """What to run next."""
    if not community_count(found):
        return [next_step("trueweave add PATH", "adds documents")]
    shown = next_step("trueweave communities", "shows them")
    return (
        [shown, next_step("trueweave ask QUESTION --method community", "asks the reports")] if is_written else [shown]
    )
