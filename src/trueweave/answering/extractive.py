"""Answers by quotes alone: whole sentences of the passages, chosen by the model and copied from the passages.

Nothing of what the model writes is shown but the choice. The sentence around a quote is shown whole, so that what
stands before the quote ("No …") is not lost. A quote that is not in its passage is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.answering import quotes
from trueweave.answering.citation_parser import Mark
from trueweave.evidence import Citation, Passage, Sentence
from trueweave.text import sentences
from trueweave.types import Span

NAME = "quotes"  # under which sentences say who vouches for them


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer made of sentences of the passages, one to a line, and the quotes that were not found."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    missing: tuple[Sentence, ...]


def extract(marks: Sequence[Mark], passages: Sequence[Passage]) -> Extract:
    """The sentences of the passages that these marks quote, each once, in the order of the marks."""
    places: dict[tuple[int, Span], None] = {}
    missing: list[Sentence] = []
    for mark in marks:
        for quote in mark.quotes if mark.number else ():
            found = _find(quote, mark.number, passages)
            if found is None:
                reason = f"it is not in passage {mark.number}"
                missing.append(Sentence(quote, 0, 0, (mark.number,), "not checked", reason))
            else:
                places[mark.number, found] = None
    return _composed(list(places), passages, tuple(missing))


def _find(quote: str, number: int, passages: Sequence[Passage]) -> Span | None:
    if number > len(passages) or not quotes.long_enough(quote):
        return None
    text = passages[number - 1].text
    found = quotes.occurrences(quote, text)
    if not found:
        return None
    touched = [span for span in sentences.split(text) if span[0] < found[0][1] and found[0][0] < span[1]]
    return (touched[0][0], touched[-1][1]) if touched else found[0]


def _composed(
    places: Sequence[tuple[int, Span]], passages: Sequence[Passage], missing: tuple[Sentence, ...]
) -> Extract:
    lines: list[str] = []
    made: list[Sentence] = []
    citations: list[Citation] = []
    at = 0
    for number, (start, end) in places:
        passage = passages[number - 1]
        words = " ".join(passage.text[start:end].split())
        line = f"“{words}” [{number}]"
        made.append(Sentence(line, at, at + len(line), (number,), "quoted", basis=words, verifier=NAME))
        citations.append(
            Citation(number, passage, passage.text[start:end], passage.start + start, passage.start + end, True)
        )
        lines.append(line)
        at += len(line) + 1
    return Extract("\n".join(lines), tuple(made), tuple(citations), missing)
