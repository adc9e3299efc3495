"""What a run of `trueweave add` or `sync` has done, and a plan of what `sync` will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import count, warning
from trueweave.cli.render.run_summary import SHOWN, Reason, first_of, grouped_lines

if TYPE_CHECKING:
    from trueweave.core.jobs import Duplicate, FailedDocument, Note, SyncPlan
    from trueweave.core.money import Spent


@dataclass(frozen=True)
class IngestOutcome:
    """What a run has done, however it ended."""

    came_in: int
    waiting: int
    notes: Sequence[Note]
    failed: Sequence[FailedDocument]
    receipt: Sequence[Spent]
    duplicates: Sequence[Duplicate] = ()


def count_line(read: int, new: int, came_in: int) -> str:
    """How many documents were read, how many of them were new, and how many of those came in."""
    told = f"{count(read, 'document')} read, {new:,} new or changed"
    return f"{told}." if came_in == new else f"{told}; {came_in:,} added."


def empty_lines(paths: Sequence[str]) -> list[RenderableType]:
    """Why nothing was read, where nothing was skipped either: the folders have no files."""
    return [warning(f"There are no files in {path}.") for path in paths if Path(path).is_dir()]


def stopped_line(found: IngestOutcome) -> str:
    """How far a run came that was stopped."""
    return f"{count(found.came_in, 'document')} added, {found.waiting:,} waiting."


def note_lines(found: IngestOutcome) -> list[RenderableType]:
    """Notes on documents, and which documents failed."""
    notes = [Reason(note.text, note.documents, note.uris) for note in found.notes]
    text = grouped_lines(notes, "document", "with a note", "trueweave documents --notes shows them")
    if found.failed:
        told = [f"{one.uri}: {one.error}" for one in found.failed]
        text += first_of(told, "document", "failed", "trueweave status --failed shows them")
    return text


def duplicate_lines(found: Sequence[Duplicate]) -> list[RenderableType]:
    """Documents whose text equals that of another."""
    told = [f"{one.uri} equals {one.equals}" for one in found]
    return first_of(told, "document", "with the text of another", "--json shows them") if told else []


def sync_plan(plan: SyncPlan, *, show_all: bool) -> list[RenderableType]:
    """What `trueweave sync` is about to add, change and remove."""
    figures = [(plan.new, "new"), (plan.changed, "changed"), (plan.unchanged, "unchanged"), (len(plan.gone), "gone")]
    lines: list[RenderableType] = [", ".join(f"{number:,} {what}" for number, what in figures)]
    if plan.gone:
        most = len(plan.gone) if show_all else SHOWN
        lines += first_of(plan.gone, "document", "to be removed, as their files are gone", "--all shows them", most)
    return lines
