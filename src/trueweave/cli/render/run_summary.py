"""The summary of a run: files that could not be read or were skipped, and why, and reports written."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.console import say
from trueweave.cli.render.lines import count, indented, warning

if TYPE_CHECKING:
    from trueweave.core.events import Event, Refused, Unreadable, Working
    from trueweave.core.jobs import Duplicate, FailedDocument, Note, SyncPlan
    from trueweave.core.money import Spent

SHOWN = 5  # problems of each kind; --json has all
NAMED = 3  # files or documents named for each reason


class Countdown:
    """The seconds until a model is called again."""

    def __init__(self) -> None:
        self._until: float | None = None

    def begin(self, pause: float) -> None:
        """Start counting down `pause` seconds, unless a countdown is running."""
        now = time.monotonic()
        if pause and (self._until is None or self._until <= now):
            self._until = now + pause

    def end(self) -> None:
        """The model has answered."""
        self._until = None

    def __str__(self) -> str:
        if self._until is None:
            return ""
        left = ceil(self._until - time.monotonic())
        return f"model unavailable, next try in {left} s" if left > 0 else "model unavailable, trying again"


class IngestTally:
    """A listener that collects what is shown at the end of a run, with the names of all files, or only the first
    ones."""

    def __init__(self, *, show_all: bool = False) -> None:
        self.new = 0
        self.unchanged = 0
        self.unreadable: list[Unreadable] = []
        self.refused: list[Refused] = []
        self.removed: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.working: dict[str, Working] = {}
        self.windowed = 0
        self.countdown = Countdown()
        self._reads = 0
        self._waits = False
        self._noted: set[str] = set()
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        self._show_all = show_all

    def __call__(self, event: Event) -> None:
        from trueweave.core import events

        match event:
            case events.Found(new, unchanged):
                self.new += new
                self.unchanged += unchanged
            case events.Unreadable():
                self.unreadable.append(event)
            case events.Removed(uris):
                self.removed += uris
            case events.Refused():
                self.refused.append(event)
            case events.Skipped(path, reason):
                self.skipped[reason] += 1
                if self._show_all or self.skipped[reason] <= NAMED:
                    self._names[reason].append(path)
            case events.Working(uri):
                self.working[uri] = event
            case events.Extracted(uri):
                self._waits = False
                self.countdown.end()
                self.working.pop(uri, None)
            case events.Indexed():
                self._waits = False
                self.countdown.end()
            case events.Failed(uri):
                self.working.pop(uri, None)
            case events.Windowed(_, most_tokens, texts):
                self.windowed += texts
                self._reads = most_tokens
            case events.WorkFailed(error=error):
                say(warning(f"A job failed: {error} `trueweave status --failed` shows it."))
            case events.Waiting(reason, pause=pause):
                self.countdown.begin(pause)
                if not self._waits:
                    self._waits = True
                    say(warning(f"Waiting: {reason}"))
            case events.Noted(what) if what not in self._noted:
                self._noted.add(what)
                say(warning(what))

    @property
    def is_incomplete(self) -> bool:
        """Whether files could not be read or documents were refused. Skipped files do not count."""
        return bool(self.unreadable or self.refused)

    def answer(self) -> dict[str, object]:
        """The collected results as JSON."""
        return {
            "unreadable": self.unreadable,
            "refused": self.refused,
            "skipped": dict(self.skipped),
            "windowed": self.windowed,
        }

    def lines(self) -> list[RenderableType]:
        """The collected results as lines to print; none if all went well."""
        shown: list[RenderableType] = []
        if self.unreadable:
            shown += self._some([one.reason for one in self.unreadable], "file", "could not be read")
        if self.refused:
            shown += self._some([one.reason for one in self.refused], "document", "refused")
        skipped = [Reason(reason, number, self._names[reason]) for reason, number in self.skipped.items()]
        shown += grouped_lines(skipped, "file", "skipped", "--all shows them")
        return shown + self._windowed()

    def _windowed(self) -> list[RenderableType]:
        if not self.windowed:
            return []
        longer = f"{count(self.windowed, 'text')} longer than the {self._reads:,} tokens that the embedding model reads"
        return [
            warning(
                f"{longer} at once: each was embedded in parts, and their vectors averaged. To have chunks read "
                "whole, set max_chunk_size to less, and add them again."
            )
        ]

    def _some(self, reasons: list[str], noun: str, what: str) -> list[RenderableType]:
        return first_of(reasons, noun, what, "--all shows them", len(reasons) if self._show_all else SHOWN)


@dataclass(frozen=True)
class Reason:
    """A reason, how many items it applies to, and the names of the first of them, or of all."""

    reason: str
    number: int
    names: Sequence[str]


class ReportTally:
    """A listener that counts reports, and prints what they are waiting for, once per wait."""

    def __init__(self) -> None:
        self.reports = 0
        self.without_model = 0
        self.countdown = Countdown()
        self._waits = False

    def __call__(self, event: Event) -> None:
        from trueweave.core.events import Reported, Waiting, WorkFailed

        match event:
            case Reported(reports, without_model):
                self.reports += reports
                self.without_model += without_model
                self._waits = False
                self.countdown.end()
            case WorkFailed(error=error):
                say(warning(f"A report failed: {error} `trueweave status --failed` shows it."))
            case Waiting(reason, pause=pause):
                self.countdown.begin(pause)
                if not self._waits:
                    self._waits = True
                    say(warning(f"Waiting: {reason}"))


def first_of(problems: Sequence[str], noun: str, what: str, how: str, most: int = SHOWN) -> list[RenderableType]:
    """The first problems, under a heading with their number, and `how` to see the others."""
    more = len(problems) - most
    return [
        warning(f"{count(len(problems), noun)} {what}:"),
        *(indented(problem) for problem in problems[:most]),
        *([Text(f"  … and {more:,} more ({how})", style="dim")] if more > 0 else []),
    ]


def grouped_lines(reasons: Iterable[Reason], noun: str, what: str, how: str) -> list[RenderableType]:
    """One line per reason, the most frequent first, with names, and `how` to see those that are left out."""
    ordered = sorted(reasons, key=lambda one: (-one.number, one.reason))
    return [Text(f"{count(one.number, noun)} {what}: {one.reason} ({_named(one, how)})") for one in ordered]


def _named(one: Reason, how: str) -> str:
    more = one.number - len(one.names)
    return ", ".join(one.names) + (f" and {more:,} more: {how}" if more > 0 else "")


@dataclass(frozen=True)
class IngestOutcome:
    """What a run has done, however it ended."""

    added: int
    waiting: int
    notes: Sequence[Note]
    failed: Sequence[FailedDocument]
    receipt: Sequence[Spent]
    duplicates: Sequence[Duplicate] = ()


def count_line(read: int, new: int, added: int) -> str:
    """How many documents were read, how many of them were new or changed, and how many of those were added."""
    told = f"{count(read, 'document')} read, {new:,} new or changed"
    return f"{told}." if added == new else f"{told}; {added:,} added."


def empty_lines(paths: Sequence[str]) -> list[RenderableType]:
    """Why nothing was read although nothing was skipped: the folders have no files."""
    return [warning(f"There are no files in {path}.") for path in paths if Path(path).is_dir()]


def stopped_line(found: IngestOutcome) -> str:
    """The progress of a run that was stopped."""
    return f"{count(found.added, 'document')} added, {found.waiting:,} waiting."


def note_lines(found: IngestOutcome) -> list[RenderableType]:
    """Notes on documents, and the documents that failed."""
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
    figures = [
        (plan.new, "new"),
        (plan.changed, "changed"),
        (plan.unchanged, "unchanged"),
        (len(plan.removed), "removed"),
        *([(plan.readers, "with other readers")] if plan.readers else []),
    ]
    lines: list[RenderableType] = [", ".join(f"{number:,} {what}" for number, what in figures)]
    if plan.removed:
        most = len(plan.removed) if show_all else SHOWN
        lines += first_of(
            plan.removed, "document", "to be removed, whose files no longer exist", "--all shows them", most
        )
    return lines
