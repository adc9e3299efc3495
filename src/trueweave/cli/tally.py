"""What a run has come to: which files could not be read or were passed over, and why; which reports were written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.output import count, indented, marked, say

if TYPE_CHECKING:
    from trueweave.events import Event, Unreadable

SHOWN = 5  # of each kind; --json has all


class Tally:
    """A listener that keeps what a person wants to read at the end."""

    def __init__(self) -> None:
        self.new = 0
        self.unchanged = 0
        self.unreadable: list[Unreadable] = []
        self.skipped: Counter[str] = Counter()
        self._waits = False
        self._noted: set[str] = set()

    def __call__(self, event: Event) -> None:
        from trueweave.events import Extracted, Found, Noted, Skipped, Unreadable, Waiting

        match event:
            case Found(new, unchanged):
                self.new += new
                self.unchanged += unchanged
            case Unreadable():
                self.unreadable.append(event)
            case Skipped(_, reason):
                self.skipped[reason] += 1
            case Extracted():
                self._waits = False
            case Waiting(reason) if not self._waits:
                self._waits = True
                say(marked(f"Waiting: {reason}"))
            case Noted(what) if what not in self._noted:
                self._noted.add(what)
                say(marked(what))

    def answer(self) -> dict[str, object]:
        """For programs."""
        return {"unreadable": self.unreadable, "skipped": dict(self.skipped)}

    def lines(self) -> list[RenderableType]:
        """For people: nothing where all went well."""
        shown: list[RenderableType] = []
        if self.unreadable:
            shown += some([one.reason for one in self.unreadable], "file", "could not be read")
        shown += grouped(self.skipped, "file", "passed over")
        return shown


class ReportTally:
    """A listener that counts reports, and says what their writing waits for: once, until it has gone on."""

    def __init__(self) -> None:
        self.reports = 0
        self.without_model = 0
        self._waits = False

    def __call__(self, event: Event) -> None:
        from trueweave.events import Reported, Waiting

        match event:
            case Reported(reports, without_model):
                self.reports += reports
                self.without_model += without_model
                self._waits = False
            case Waiting(reason) if not self._waits:
                self._waits = True
                say(marked(f"Waiting: {reason}"))


def some(problems: list[str], noun: str, what: str) -> list[RenderableType]:
    """The first of some problems, under a heading that counts them."""
    more = len(problems) - SHOWN
    return [
        marked(f"{count(len(problems), noun)} {what}:"),
        *(indented(problem) for problem in problems[:SHOWN]),
        *([Text(f"  … and {more:,} more", style="dim")] if more > 0 else []),
    ]


def grouped(reasons: Mapping[str, int], noun: str, what: str) -> list[RenderableType]:
    """One line for each reason, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return [Text(f"{count(number, noun)} {what}: {reason}") for reason, number in ordered]
