"""What each sentence of an answer cites, and what a verifier has to judge.

A sentence is checked against the sentences of the passages that it cites: those that contain its quotes, in full, so
that a "No" before a quote is seen; or, for a citation without a quote, the one that shares most words with it. A
verifier judges the two. No verifier is called if there is nothing to judge:

- A citation whose number no passage has, a quote that is not in its passage or that leaves words out, and a sentence
  without a citation of its own are *not checked*. No sentence takes over the citations of another.
- A heading or lead-in that only names what follows ("Here is a summary:") claims nothing. One that states something is
  treated like any other sentence.

Number 0 is not a citation: a sentence with it is not checked.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from trueweave.answering import quotes
from trueweave.answering.citation_parser import Mark
from trueweave.answering.numbers import Number, numbers, values
from trueweave.answering.verifiers import clauses
from trueweave.answering.verifiers.roles import is_verb
from trueweave.core.answers import Basis, Citation, Claim, Sentence
from trueweave.core.evidence import Passage
from trueweave.core.record import Span
from trueweave.text import sentences, words

_OF_THE_ANSWER = words.content(
    "summary overview following follow list table point details information answer question context documents passages "
    "sources text found find shown shows states says mentions described key main example known given below "
    "Zusammenfassung Überblick folgende Antwort Dokumente Quellen résumé suivant réponse resumen siguiente respuesta"
)
_LEADS_IN = re.compile(r"[:：][*_]{0,2}\Z")
_HEADING = re.compile(r"\s*+#")
_YES_OR_NO = re.compile(r"(?:yes|no|ja|nein|oui|non|sí|sì|sim|não|nee|はい|いいえ|是|不是)[.,!。]?", re.IGNORECASE)
_LONGEST_HEADING = 300  # characters; anything longer states something


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an answer and what it cites. `claim` is for a verifier; if it is None, `sentence` is final."""

    sentence: Sentence
    claim: Claim | None = None
    citations: tuple[Citation, ...] = ()


def read(
    text: str, marks: Sequence[Mark], passages: Sequence[Passage], asked: str, *, whole: bool = False
) -> list[Cited]:
    """The sentences of an answer, and what each cites. Citation n refers to passage n, counted from 1.

    `asked` is the question, with what the user said before it. A `whole` answer is one sentence without citations in
    its text, and all `marks` belong to it, wherever they were.
    """
    reader = _Reader([ShownPassage(passage) for passage in passages], asked, text)
    if whole:
        own = tuple(mark for mark in marks if mark.number)
        return [reader.read(_Statement(text, 0, len(text), own, text))]
    starts = [mark.start for mark in marks]
    return [reader.read(_statement(text, span, _within(marks, starts, span))) for span in sentences.split(text)]


def _within(marks: Sequence[Mark], starts: Sequence[int], span: Span) -> list[Mark]:
    first, last = bisect_left(starts, span[0]), bisect_left(starts, span[1])
    return [mark for mark in marks[first:last] if mark.end <= span[1]]


def distinct(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Each place once for each citation number; as a quote, if it was quoted anywhere."""
    first: dict[tuple[int, int, int], Citation] = {}
    for citation in citations:
        place = citation.number, citation.start, citation.end
        if place not in first or citation.verbatim:
            first[place] = citation
    return tuple(first.values())


# --- what is compared ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Statement:
    """A sentence of an answer, with its text without citations."""

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...]
    said: str

    @cached_property
    def words(self) -> frozenset[str]:
        return words.content(self.said)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.said)

    @property
    def says_nothing(self) -> bool:
        return not (self.words - _OF_THE_ANSWER or self.numbers or _YES_OR_NO.match(self.said))


def _statement(text: str, span: Span, marks: Iterable[Mark]) -> _Statement:
    start, end = span
    own = tuple(mark for mark in marks if mark.number)
    said, at = [], start
    for mark in own:
        said.append(text[at : mark.start])
        at = mark.end
    return _Statement(text[start:end], start, end, own, "".join((*said, text[at:end])))


class ShownPassage:
    """A passage as it was shown to the model, with the contents of its sentences."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    @cached_property
    def spans(self) -> list[Span]:
        return sentences.split(self.passage.text)

    @cached_property
    def _contents(self) -> list[frozenset[str]]:
        return [words.content(self._text(place)) for place in range(len(self.spans))]

    @cached_property
    def _values(self) -> list[set[Decimal]]:
        return [values(self._text(place)) for place in range(len(self.spans))]

    @cached_property
    def whole(self) -> str:
        return "\n".join((self.passage.title, *self.passage.headings, self.passage.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return words.content(self.whole)

    def nearest(self, statement: _Statement) -> int | None:
        """The sentence that shares most with a statement, if any shares anything."""
        shared = [self._shared(place, statement) for place in range(len(self.spans))]
        return max(range(len(shared)), key=shared.__getitem__) if any(shared) else None

    def find(self, quote: str, statement: _Statement) -> Span | None:
        """The position of a quote; of several, the one whose sentences share most with the statement."""
        found = quotes.occurrences(quote, self.passage.text)
        return max(found, key=lambda span: self._shared_by(span, statement)) if found else None

    def _shared_by(self, span: Span, statement: _Statement) -> int:
        return max((self._shared(place, statement) for place in self.touched(span)), default=0)

    def _shared(self, place: int, statement: _Statement) -> int:
        shared = len(self._contents[place] & statement.words)
        return shared + sum(number.among(self._values[place]) for number in statement.numbers)

    def touched(self, span: Span) -> range:
        """The sentences that a span of the passage overlaps."""
        first = bisect_right(self.spans, span[0], key=lambda one: one[1])
        return range(first, bisect_left(self.spans, span[1], key=lambda one: one[0]))

    def basis(self, place: int) -> Basis:
        return Basis(self._text(place), self._text(place - 1) if place else "")

    def _text(self, place: int) -> str:
        start, end = self.spans[place]
        return self.passage.text[start:end]

    def cited(self, mark: int, span: Span, *, verbatim: bool) -> Citation:
        start, end = span
        begin = self.passage.start
        return Citation(mark, self.passage, self.passage.text[start:end], begin + start, begin + end, verbatim)


# --- what a sentence cites ----------------------------------------------------------------------------


class _Reader:
    def __init__(self, shown: Sequence[ShownPassage], asked: str, answer: str) -> None:
        self._shown = shown
        self._asked = asked
        self._answer = answer
        self._lines = [0, *(one.end() for one in re.finditer(r"\n", answer))]

    def read(self, statement: _Statement) -> Cited:
        if not statement.marks:
            claims = not (statement.says_nothing or self._only_names(statement))
            return _final(statement, "it cites no passage" if claims else "it claims nothing", claims=claims)
        missing = [mark.number for mark in statement.marks if mark.number > len(self._shown)]
        if missing:
            return _final(statement, f"there is no passage {missing[0]}")
        return self._by_marks(statement)

    def _only_names(self, statement: _Statement) -> bool:
        """Whether a heading or lead-in only names something, in words of the question or passages."""
        if len(statement.said) > _LONGEST_HEADING or statement.numbers:
            return False
        if not (self._is_heading(statement) or _LEADS_IN.search(statement.text)):
            return False
        found = clauses.words(statement.said)
        said = (word.text for at, word in enumerate(found) if is_verb(found, at))
        if any(not words.content(verb) <= _OF_THE_ANSWER for verb in said):
            return False
        return statement.words <= self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return _OF_THE_ANSWER.union(words.content(self._asked), *(shown.stems for shown in self._shown))

    def _is_heading(self, statement: _Statement) -> bool:
        line = self._lines[bisect_right(self._lines, statement.start) - 1]
        return bool(_HEADING.match(self._answer, line, min(statement.start, line + _LONGEST_HEADING)))

    def _by_marks(self, statement: _Statement) -> Cited:
        basis: dict[tuple[int, int], Basis] = {}
        citations: list[Citation] = []
        quoted = False
        for mark in statement.marks:
            shown = self._shown[mark.number - 1]
            given = [quote for quote in mark.quotes if quotes.long_enough(quote)]
            for quote in given:
                span = shown.find(quote, statement)
                if span is None:
                    problem = "leaves words out" if quotes.is_elided(quote) else f"is not in passage {mark.number}"
                    return _final(statement, f"its quote {problem}", citations=tuple(citations))
                quoted = True
                citations.append(shown.cited(mark.number, span, verbatim=True))
                basis |= {(mark.number, place): shown.basis(place) for place in shown.touched(span)}
            if not given:
                place = shown.nearest(statement)
                if place is None:
                    problem = f"passage {mark.number} has none of its words"
                    return _final(statement, problem, citations=tuple(citations))
                citations.append(shown.cited(mark.number, shown.spans[place], verbatim=False))
                basis[mark.number, place] = shown.basis(place)
        cited = {mark.number: self._shown[mark.number - 1].whole for mark in statement.marks}
        claim = Claim(statement.said.strip(), tuple(basis.values()), tuple(cited.values()), self._asked, quoted)
        sentence = replace(_unchecked(statement, ""), basis=claim.shown)
        return Cited(sentence, claim, tuple(citations))


def _final(statement: _Statement, reason: str, *, claims: bool = True, citations: tuple[Citation, ...] = ()) -> Cited:
    return Cited(replace(_unchecked(statement, reason), claims=claims), None, citations)


def _unchecked(statement: _Statement, reason: str) -> Sentence:
    marks = tuple(dict.fromkeys(mark.number for mark in statement.marks))
    return Sentence(statement.text, statement.start, statement.end, marks, "not checked", reason)
