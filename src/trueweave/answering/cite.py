"""Whether passages support what an answer says: pure checks, sentence by sentence, with no model.

How a sentence is judged:

- *unknown mark*: it bears the number of a passage that was not shown.
- *misquoted*: a quote is not in the passage whose number it has.
- *quoted*: its quotes are in their passages, and have to do with it. Every name is in the question or in the passages;
  some of its content words (LEAST_SHARED) are in the sentences quoted from or beside them; and no rule finds that those
  sentences say something else (`verify.rules`): every number is there, for the same thing and in the same unit, or
  follows from numbers there. Where the passage is in another language, words cannot be compared, and numbers decide.
- *supported*: it has marks and no quotes, or none that is long enough to show anything. Most of its content words and
  numbers (MOST_SHARED), and one that is not in the question if it has any, are in the sentence of the passage that is
  most like it or beside that; every number and every name is in the question or in the passages; and no rule finds
  anything against it.
- *unsupported*: it has marks, and is neither quoted nor supported.
- *uncited*: it has no marks. But if a sentence further down in its paragraph or list has some that support this one
  too, by the rule for marks without quotes, it takes those. And a sentence that says nothing by itself ("Yes.") or
  leads in what follows (a heading, or a colon at its end) is supported if the next one is, and if it says nothing that
  is not in the question, the next sentence or the passages that one cites. Words that only speak of the answer itself
  ("Here is a summary:") say nothing.

Number 0 is no mark: what comes with it is uncited.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from trueweave.answering import quotes, words
from trueweave.answering.marks import Mark
from trueweave.answering.numbers import Number, numbers, values
from trueweave.answering.verify import clauses, rules
from trueweave.answering.verify.roles import is_verb
from trueweave.evidence import Citation, Passage, Sentence, Support
from trueweave.text import sentences
from trueweave.types import Span

LEAST_SHARED = 0.15
MOST_SHARED = 0.6

_BEGINNING = 200  # characters, in which the first words of a sentence are

_BLANK_LINE = re.compile(r"\n(?=([ \t]*+)\n)")
_HEADING = re.compile(r"\s*+#")
_OF_THE_ANSWER = words.content(
    "summary overview following list table point details information answer question context documents passages "
    "sources text found shown shows states says mentions described key main example "
    "Zusammenfassung Überblick folgende Antwort Dokumente Quellen résumé suivant réponse resumen siguiente respuesta"
)
_LEADS_IN = re.compile(r"[:：][*_]{0,2}\Z")


@dataclass(frozen=True, slots=True)
class Checked:
    """The sentences of an answer, and what they cite: each place once for each number, in the order of the text."""

    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]


def check(text: str, marks: Sequence[Mark], passages: Sequence[Passage], asked: str, *, whole: bool = False) -> Checked:
    """What supports each sentence of an answer. Mark n is of passage n, counted from 1.

    `asked` is the question, with what a person said before it. A `whole` answer is one sentence without marks in its
    text, and all marks are its own, wherever they were.
    """
    judge = _Judge([_Shown(passage) for passage in passages], _Asked(asked), text)
    if whole:
        own = tuple(mark for mark in marks if mark.number)
        return judge.judged([_Statement(text, 0, len(text), own, text)])
    starts = [mark.start for mark in marks]
    spans = sentences.split(text)
    return judge.judged([_statement(text, span, _within(marks, starts, span)) for span in spans])


def _within(marks: Sequence[Mark], starts: Sequence[int], span: Span) -> list[Mark]:
    first, last = bisect_left(starts, span[0]), bisect_left(starts, span[1])
    return [mark for mark in marks[first:last] if mark.end <= span[1]]


# --- what is compared ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Statement:
    """A sentence of an answer, and what it says without its marks."""

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...]
    said: str

    @cached_property
    def words(self) -> frozenset[str]:
        return words.content(self.said)

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of names. A capital at the beginning is one of a name only if another follows, or a verb."""
        found = clauses.words(self.said[:_BEGINNING])
        if len(found) < 2 or found[1].is_name or (is_verb(found, 1) and not found[0].is_closed):
            return words.names(self.said)
        return words.names(self.said) - words.stems(found[0].text)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.said)

    @property
    def says_nothing(self) -> bool:
        return not (self.words or self.names or self.numbers)


def _statement(text: str, span: Span, marks: Iterable[Mark]) -> _Statement:
    start, end = span
    own = tuple(mark for mark in marks if mark.number)
    said, at = [], start
    for mark in own:
        said.append(text[at : mark.start])
        at = mark.end
    return _Statement(text[start:end], start, end, own, "".join((*said, text[at:end])))


class _Asked:
    """What the question says: an answer may say it again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words.content(text)
        self.stems = words.stems(text)
        self.values = values(text)


class _Shown:
    """A passage as it was shown, and what is in its sentences."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    @cached_property
    def spans(self) -> list[Span]:
        return sentences.split(self.passage.text)

    @cached_property
    def _contents(self) -> list[frozenset[str]]:
        return [words.content(self.passage.text[start:end]) for start, end in self.spans]

    @cached_property
    def _values(self) -> list[set[Decimal]]:
        return [values(self.passage.text[start:end]) for start, end in self.spans]

    @cached_property
    def values(self) -> set[Decimal]:
        return values(self._all)

    @cached_property
    def stems(self) -> frozenset[str]:
        return words.stems(self._all)

    @cached_property
    def words(self) -> frozenset[str]:
        return words.content(self.passage.text)

    @cached_property
    def _heads(self) -> frozenset[str]:
        return words.content("\n".join((self.passage.title, *self.passage.headings)))

    @property
    def _all(self) -> str:
        return "\n".join((self.passage.title, *self.passage.headings, self.passage.text))

    def nearest(self, statement: _Statement) -> int:
        """The sentence that shares most with a statement."""
        return max(range(len(self.spans)), key=lambda place: self._shared(place, statement), default=-1)

    def _shared(self, place: int, statement: _Statement) -> int:
        shared = len(self._contents[place] & statement.words)
        return shared + sum(number.among(self._values[place]) for number in statement.numbers)

    def touched(self, span: Span) -> list[int]:
        """The sentences that a stretch of the passage lies in."""
        return [place for place, (start, end) in enumerate(self.spans) if start < span[1] and span[0] < end]

    def basis(self, place: int) -> tuple[str, str]:
        """A sentence, and the one before it."""
        return self._text(place), self._text(place - 1) if place else ""

    def _text(self, place: int) -> str:
        start, end = self.spans[place]
        return self.passage.text[start:end]

    def words_round(self, places: Sequence[int]) -> set[str]:
        """The content words of these sentences and of those beside them; and of where the passage is from."""
        near = {beside for place in places for beside in (place - 1, place, place + 1)}
        return set(self._heads).union(*(self._contents[place] for place in near if 0 <= place < len(self.spans)))

    def values_in(self, places: Sequence[int]) -> set[Decimal]:
        return set[Decimal]().union(*(self._values[place] for place in places if place >= 0))

    def cited(self, mark: int, span: Span, *, verbatim: bool) -> Citation:
        start, end = span
        begin = self.passage.start
        return Citation(mark, self.passage, self.passage.text[start:end], begin + start, begin + end, verbatim)


# --- how it is judged ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Verdict:
    support: Support
    citations: tuple[Citation, ...] = ()
    marks: tuple[int, ...] | None = None  # those of another sentence, where the statement has none

    @property
    def good(self) -> bool:
        return self.support in ("quoted", "supported")


@dataclass(frozen=True, slots=True)
class _Found:
    """A quote that is where it is said to be."""

    shown: _Shown
    span: Span
    citation: Citation

    @property
    def touched(self) -> list[int]:
        return self.shown.touched(self.span)


class _Judge:
    def __init__(self, shown: Sequence[_Shown], asked: _Asked, answer: str) -> None:
        self._shown = shown
        self._asked = asked
        self._answer = answer
        blank = list(_BLANK_LINE.finditer(answer))
        self._blank_starts, self._blank_ends = [one.start() for one in blank], [one.end(1) + 1 for one in blank]
        self._lines = [0, *(one.end() for one in re.finditer(r"\n", answer))]
        self._headings: dict[int, bool] = {}

    def judged(self, statements: Sequence[_Statement]) -> Checked:
        verdicts = [self._marked(one) if one.marks else _Verdict("uncited") for one in statements]
        marked: int | None = None  # the next statement that has marks
        for place in reversed(range(len(statements))):  # what follows is known by then
            if statements[place].marks:
                marked = place
            else:
                verdicts[place] = self._unmarked(place, marked, statements, verdicts)
        made = [
            Sentence(one.text, one.start, one.end, _numbers(one) if verdict.marks is None else verdict.marks, support)
            for one, verdict in zip(statements, verdicts, strict=True)
            for support in (verdict.support,)
        ]
        return Checked(tuple(made), _once(citation for verdict in verdicts for citation in verdict.citations))

    def _marked(self, statement: _Statement) -> _Verdict:
        """By the marks of the sentence itself."""
        if any(mark.number > len(self._shown) for mark in statement.marks):
            return _Verdict("unknown mark")
        found: list[_Found] = []
        missing = False
        for mark in statement.marks:
            shown = self._shown[mark.number - 1]
            for quote in filter(quotes.long_enough, mark.quotes):
                span = quotes.find(quote, shown.passage.text)
                if span is None:
                    missing = True
                else:
                    found.append(_Found(shown, span, shown.cited(mark.number, span, verbatim=True)))
        cited = tuple(one.citation for one in found)
        if missing:
            return _Verdict("misquoted", cited)
        if not found:
            return self._by_words(statement, statement.marks)
        bare = [mark for mark in statement.marks if not any(map(quotes.long_enough, mark.quotes))]
        unquoted = dict.fromkeys(mark.number for mark in bare)
        nearest = [citation for number in unquoted for citation in self._nearest(statement, number)]
        if len(nearest) < len(unquoted) or not self._fits(statement, found):
            return _Verdict("unsupported", cited)
        return _Verdict("quoted", (*cited, *nearest))

    def _nearest(self, statement: _Statement, number: int) -> list[Citation]:
        """The sentence of a passage that has most to do with a statement, if any has anything."""
        shown = self._shown[number - 1]
        place = shown.nearest(statement)
        if place < 0 or not (shown.words_round([place]) & statement.words or self._any_number(statement, shown.values)):
            return []
        return [shown.cited(number, shown.spans[place], verbatim=False)]

    def _fits(self, statement: _Statement, found: Sequence[_Found]) -> bool:
        """Whether quotes have to do with the statement that they stand behind."""
        cited = [self._shown[mark.number - 1] for mark in statement.marks]
        if all(words.foreign(self._answer, one.shown.passage.text) for one in found):
            near = self._asked.values.union(*(one.shown.values_in(one.touched) for one in found))
            return all(number.among(near) for number in statement.numbers)
        if not self._names_known(statement, cited):
            return False
        around = set[str]().union(*(one.shown.words_round(one.touched) for one in found))
        shared = len(statement.words & around) + sum(self._is_near(number, found) for number in statement.numbers)
        if shared < LEAST_SHARED * len(statement.words):
            return False
        basis = {(id(one.shown), place): one.shown.basis(place) for one in found for place in one.touched}
        return self._follows(statement, list(basis.values()), cited)

    def _is_near(self, number: Number, found: Sequence[_Found]) -> bool:
        return any(number.among(one.shown.values_in(one.touched)) for one in found)

    def _follows(self, statement: _Statement, basis: Sequence[tuple[str, str]], cited: Iterable[_Shown]) -> bool:
        """Whether no rule finds that sentences of passages say something else than the statement."""
        passages = [shown.passage.text for shown in {id(one): one for one in cited}.values()]
        return rules.problem(statement.said, basis, passages, self._asked.text) is None

    def _by_words(self, statement: _Statement, marks: Sequence[Mark]) -> _Verdict:
        """By what the statement shares with passages that it does not quote."""
        if statement.says_nothing:
            return _Verdict("unsupported")
        cited = {mark.number: self._shown[mark.number - 1] for mark in marks}
        nearest = {number: shown.nearest(statement) for number, shown in cited.items()}
        pool = set[str]().union(*(shown.words_round([nearest[number]]) for number, shown in cited.items()))
        near = set[Decimal]().union(*(shown.values_in([nearest[number]]) for number, shown in cited.items()))
        shared, fresh = statement.words & pool, statement.words - self._asked.words
        known = set[Decimal]().union(self._asked.values, *(shown.values for shown in cited.values()))
        found = len(shared) + sum(number.among(near) for number in statement.numbers)
        enough = (
            found >= MOST_SHARED * (len(statement.words) + len(statement.numbers))
            and (not fresh or bool(fresh & pool) or self._any_number(statement, known - self._asked.values))
            and all(number.among(known) for number in statement.numbers)
            and self._names_known(statement, cited.values())
            and self._follows(
                statement,
                [shown.basis(nearest[number]) for number, shown in cited.items() if nearest[number] >= 0],
                cited.values(),
            )
        )
        if not enough:
            return _Verdict("unsupported")
        citations = (
            citation for number in cited for citation in self._nearest(statement, number) if nearest[number] >= 0
        )
        return _Verdict("supported", tuple(citations))

    def _unmarked(
        self, place: int, marked: int | None, statements: Sequence[_Statement], verdicts: Sequence[_Verdict]
    ) -> _Verdict:
        """By what comes after a sentence that has no marks."""
        if marked is None:
            return _Verdict("uncited")
        statement, lent = statements[place], statements[marked]
        if self._leads_in(statement):
            good = verdicts[place + 1].good and self._nothing_new(statement, statements[place + 1], lent)
            return _Verdict("supported") if good else _Verdict("uncited")
        if not verdicts[marked].good or self._are_apart(statement, lent):
            return _Verdict("uncited")
        by_words = self._by_words(statement, lent.marks)
        return replace(by_words, marks=_numbers(lent)) if by_words.good else _Verdict("uncited")

    def _are_apart(self, one: _Statement, later: _Statement) -> bool:
        """Whether a blank line stands between two statements."""
        first = bisect_left(self._blank_starts, one.end)
        return first < len(self._blank_ends) and self._blank_ends[first] <= later.start

    def _leads_in(self, statement: _Statement) -> bool:
        return statement.says_nothing or self._is_heading(statement) or bool(_LEADS_IN.search(statement.text))

    def _is_heading(self, statement: _Statement) -> bool:
        line = self._lines[bisect_right(self._lines, statement.start) - 1]
        if line not in self._headings:
            self._headings[line] = bool(_HEADING.match(self._answer, line, statement.start))
        return self._headings[line]

    def _nothing_new(self, statement: _Statement, following: _Statement, lent: _Statement) -> bool:
        cited = [self._shown[mark.number - 1] for mark in lent.marks if mark.number <= len(self._shown)]
        said = set(self._asked.words | following.words).union(*(one.words for one in cited))
        known = set[Decimal]().union(self._asked.values, *(shown.values for shown in cited))
        told = statement.words - _OF_THE_ANSWER
        return (
            len(told & said) >= MOST_SHARED * len(told)
            and all(number.among(known) for number in statement.numbers)
            and self._names_known(statement, cited)
        )

    def _names_known(self, statement: _Statement, cited: Iterable[_Shown]) -> bool:
        known = [self._asked.stems, *(shown.stems for shown in cited)]
        return all(any(name in stems for stems in known) for name in statement.names)

    def _any_number(self, statement: _Statement, among: set[Decimal]) -> bool:
        return any(number.among(among) for number in statement.numbers)


def _numbers(statement: _Statement) -> tuple[int, ...]:
    return tuple(dict.fromkeys(mark.number for mark in statement.marks))


def _once(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Each place once for each mark; as a quote, if it was quoted anywhere."""
    first: dict[tuple[int, int, int], Citation] = {}
    for citation in citations:
        place = citation.mark, citation.start, citation.end
        if place not in first or citation.verbatim:
            first[place] = citation
    return tuple(first.values())
