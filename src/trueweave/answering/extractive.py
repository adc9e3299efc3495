"""Answers made only of quotes: whole sentences that the model chooses and that are copied from the passages.

Only the model's choice is used, none of its own words. The sentence around a quote is shown in full, so that what
precedes the quote ("No …") is not lost. A quote that is not in its passage is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.answering import quotes
from trueweave.answering.citation_parser import Mark
from trueweave.answering.cite import ShownPassage
from trueweave.core.answers import Citation, Sentence
from trueweave.core.evidence import Passage
from trueweave.core.record import Span

NAME = "quotes"  # the verifier named on quoted sentences


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer made of sentences from the passages, one per line, and the quotes that were not found."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    missing: tuple[Sentence, ...]


def extract(marks: Sequence[Mark], passages: Sequence[Passage]) -> Extract:
    """The sentences of the passages that these citations quote, each once, in the order of the citations."""
    shown = [ShownPassage(passage) for passage in passages]
    places: dict[tuple[int, Span], None] = {}
    missing: list[Sentence] = []
    for mark in marks:
        for quote in mark.quotes if mark.number else ():
            found = _around(quote, shown[mark.number - 1]) if mark.number <= len(shown) else None
            if found is None:
                reason = f"it is not in passage {mark.number}"
                missing.append(Sentence(quote, 0, 0, (mark.number,), "not checked", reason))
            else:
                places[mark.number, found] = None
    return _composed([shown[number - 1].cited(number, span, verbatim=True) for number, span in places], tuple(missing))


def _around(quote: str, shown: ShownPassage) -> Span | None:
    """The sentences that contain a quote, if it is there."""
    found = quotes.occurrences(quote, shown.passage.text) if quotes.long_enough(quote) else []
    if not found:
        return None
    touched = shown.touched(found[0])
    return (shown.spans[touched[0]][0], shown.spans[touched[-1]][1]) if touched else found[0]


def _composed(citations: Sequence[Citation], missing: tuple[Sentence, ...]) -> Extract:
    made: list[Sentence] = []
    at = 0
    for one in citations:
        words = " ".join(one.quote.split())
        line = f"“{words}” [{one.number}]"
        made.append(Sentence(line, at, at + len(line), (one.number,), "quoted", basis=words, verifier=NAME))
        at += len(line) + 1
    return Extract("\n".join(one.text for one in made), tuple(made), tuple(citations), missing)
