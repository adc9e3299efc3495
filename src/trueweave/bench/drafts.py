"""Drafts of questions, and the checks that they must pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from trueweave.text import words

ONE, TWO = "one document", "two documents"

_SHORTEST, _LONGEST = 20, 420  # characters of a question
_LONGEST_ANSWER = 80
_LEAST_WORDS = 3  # content words of a question: with fewer, many passages answer it
_WORD = re.compile(r"\w+")
_OF_THE_TEXT = re.compile(
    r"\b(?:the|this|that|these|which) (?:passages?|texts?|documents?|excerpts?|articles?|authors?|sentences?)\b",
    re.IGNORECASE,
)


class Quote(NamedTuple):
    """A part of a document, word for word."""

    uri: str
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A question, its answer, and the sentences that support the answer, the one with the answer last. `bridge` is the
    name that connects two documents."""

    question: str
    answer: str
    kind: str
    quotes: tuple[Quote, ...]
    bridge: str = ""


def problem(draft: Draft) -> str:
    """Why a draft is not usable, empty if it is: the question can be answered without the passages, or not with them,
    or it is about nothing in particular."""
    if not (_SHORTEST <= len(draft.question) <= _LONGEST and draft.question.endswith("?")):
        return "it is too short or too long, or not a question"
    if not 0 < len(draft.answer) <= _LONGEST_ANSWER:
        return "its answer is empty or too long"
    if _OF_THE_TEXT.search(draft.question):
        return "it speaks of its passage"
    if _shared(draft.question, draft.answer):
        return "it contains its answer"
    if len(words.content(draft.question)) < _LEAST_WORDS:
        return "it has too few words of its own"
    if draft.answer.lower() not in draft.quotes[-1].text.lower():
        return "its answer is not in its passage"
    if draft.kind == ONE:
        return ""
    if len({quote.uri for quote in draft.quotes}) < 2:
        return "it rests on one document"
    if draft.bridge and _shared(draft.question, draft.bridge):
        return "it contains the name that connects its documents"
    if draft.bridge and _shared(draft.bridge, draft.answer):
        return "its answer is the name that connects its documents"
    if any(draft.answer.lower() in quote.text.lower() for quote in draft.quotes[:-1]):
        return "its first document has the answer already"
    return ""


def _shared(text: str, name: str) -> bool:
    """Whether a text has a word of the name that is more than a particle."""
    telling = {word for word in _words(name) if len(word) > 3 or word.isdigit()} or _words(name)
    return bool(telling & _words(text))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
