"""What a question meets: the query, the evidence that a method finds for it, and the answer that is made of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import takewhile
from typing import Generic, Literal, TypeVar
from uuid import UUID

from trueweave.core.errors import InvalidArgument
from trueweave.core.ranges import Range
from trueweave.core.types import Entity, Finish, Json, Place, Relation

T_co = TypeVar("T_co", covariant=True)

Scalar = str | int | float | bool
SearchedBy = Literal["vectors", "words"]
CheckStatus = Literal["quoted", "entailed", "computed", "contradicted", "not checked"]
VOUCHED: frozenset[CheckStatus] = frozenset(("quoted", "entailed", "computed"))


# --- what is asked ------------------------------------------------------------------------------------

_SHORTEST_ANSWER = 16  # tokens


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may speak: those of these uris, if any are given, with one of these values, or one in one of
    these ranges, under each of these keys of their metadata. A list in a document's metadata has every value in it."""

    uris: tuple[str, ...] = ()
    metadata: Mapping[str, Scalar | Range | Sequence[Scalar | Range]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.uris or self.metadata)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and which documents may answer it."""

    text: str
    filter: Filter = field(default_factory=Filter)


# --- what is found ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Copy:
    """Where else the text of a passage stands."""

    uri: str
    title: str
    start: int
    source: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as evidence: an exact span of a document, where that is, and how well it fits (more is better).

    `page` and `headings` are those over its first character. `places` has these and all that begin further in, so that
    each stretch of the passage can be told where it is.

    A text that stands in several places is one passage: `copies` says in how many others, `also` where the first of
    them are.
    """

    id: UUID
    uri: str
    title: str
    text: str
    start: int
    score: float
    page: str = ""
    headings: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    copies: int = 0
    also: tuple[Copy, ...] = ()

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def source(self) -> str:
        """Where it is from, fit for a reader: the document, and the pages or sections in it."""
        return self.source_of(self.start, self.end)

    def at(self, offset: int) -> tuple[str, tuple[str, ...]]:
        """The page and the headings over a character of the document that is in this passage."""
        return place_at(self.places, offset) if self.places else (self.page, self.headings)

    def source_of(self, start: int, end: int) -> str:
        """Where a stretch of the document that is in this passage is from, fit for a reader."""
        first, last = self.at(start), self.at(max(end - 1, start))
        place = _pages(first[0], last[0]) or _sections(self._below_title(first[1]), self._below_title(last[1]))
        return ", ".join(part for part in (self.title or self.uri, place) if part)

    def _below_title(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        return headings[1:] if headings[:1] == (self.title,) else headings


def place_at(places: Sequence[Place], offset: int) -> tuple[str, tuple[str, ...]]:
    """The page and the headings, outermost first, over a character of a document whose places are in order."""
    page = ""
    over: list[Place] = []
    for place in places:
        if place.start > offset:
            break
        if place.kind == "page":
            page = place.label
        else:
            over = [*(one for one in over if one.level < place.level), place]
    return page, tuple(place.label for place in over)


def _pages(first: str, last: str) -> str:
    known = list(dict.fromkeys(filter(None, (first, last))))
    return f"page{'s' if len(known) > 1 else ''} {'–'.join(known)}" if known else ""


def _sections(first: tuple[str, ...], last: tuple[str, ...]) -> str:
    """The headings that a stretch is under; where it goes from one section to another, what both are under, and the
    first and last of them."""
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    ends = [section[len(shared)] for section in (first, last) if len(section) > len(shared)]
    return " > ".join([*shared, *([" … ".join(ends)] if len(ends) > 1 else [])])


@dataclass(frozen=True, slots=True)
class Scored(Generic[T_co]):
    """Something, and how well it fits. More is better."""

    item: T_co
    score: float


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of relations, each of which begins or ends where the one before did; and the names along it."""

    names: tuple[str, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Hits(Generic[T_co]):
    """What fits a text, best first, and how it was looked for: by its meaning, by its words, or by both."""

    items: tuple[Scored[T_co], ...]
    by: tuple[SearchedBy, ...]


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with its heaviest relations, and passages that mention it, those that emphasise it most first."""

    entity: Entity
    relations: tuple[Relation, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """A document: some of its chunks in their order, of `chunks` in all, and the entities that it mentions most, each
    with the number of its mentions there as the score."""

    uri: str
    title: str
    metadata: Mapping[str, Json]
    added: datetime
    notes: tuple[str, ...]
    chunks: int
    passages: tuple[Passage, ...]
    entities: tuple[Scored[Entity], ...]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One relation on a path, and passages that state it. `forward`: it leads the way that the path goes."""

    relation: Relation
    forward: bool
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class EntityPath:
    """A path from the first of these entities to the last: each step leads from one to the next."""

    entities: tuple[Entity, ...]
    steps: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of one community of entities. `passages` are those of the evidence that this rests on, by id."""

    id: UUID
    title: str
    text: str
    score: float
    passages: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Keywords:
    """What a question is about: low-level keywords name specific things, high-level ones themes."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """An entity that led to a passage, and those of its neighbours in the graph that the passage mentions as well."""

    passage: UUID
    entity: str
    neighbours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What models took: calls that were made, replies that were already kept and cost nothing, tokens, and money.

    `price` is None where a call was made whose price is not known.
    """

    calls: int = 0
    kept: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    price: Decimal | None = Decimal(0)

    def __add__(self, other: Usage) -> Usage:
        price = None if self.price is None or other.price is None else self.price + other.price
        sums = (self.calls + other.calls, self.kept + other.kept)
        return Usage(*sums, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, price)

    def __sub__(self, before: Usage) -> Usage:
        price = None if self.price is None or before.price is None else self.price - before.price
        sums = (self.calls - before.calls, self.kept - before.kept)
        return Usage(*sums, self.tokens_in - before.tokens_in, self.tokens_out - before.tokens_out, price)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done for a question: what was searched, how much that found, the best of it, and how long."""

    what: str
    searched: str
    found: int
    best: tuple[Scored[str], ...]
    seconds: float
    statements: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """How evidence was found, step by step, and what that took."""

    method: str = ""
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def statements(self) -> int:
        """How many statements the database was given."""
        return sum(step.statements for step in self.steps)

    @property
    def nodes(self) -> int:
        """How many chunks, names, entities and relations its searches brought up, each as often as one did."""
        return sum(step.found for step in self.steps if step.statements)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a method found, best first, and how. Where that is nothing for a reason of the method's own, such as a
    threshold, `reason` says what happened and what to change. Methods that look for keywords tell which, and
    `connections` say by which entities passages were found."""

    passages: tuple[Passage, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    paths: tuple[Path, ...] = ()
    reports: tuple[Report, ...] = ()
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    keywords: Keywords = Keywords()
    connections: tuple[Connection, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.passages or self.entities or self.relations or self.paths or self.reports)


# --- what is checked ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Basis:
    """A sentence of a passage that a claim rests on, and the sentence before it in the passage."""

    text: str
    before: str = ""

    @property
    def in_context(self) -> str:
        """The sentence after the one before it, which tells what a pronoun in it means."""
        return f"{self.before} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence of an answer says, without its marks; what it rests on; and what was asked.

    `quoted`: the answer gave words of the passage itself, and they are there. `passages` are the cited passages whole,
    with their titles.
    """

    text: str
    basis: tuple[Basis, ...]
    passages: tuple[str, ...]
    question: str
    quoted: bool

    @property
    def shown(self) -> str:
        """The sentences that it rests on, as one text."""
        return " ".join(one.text for one in self.basis)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the cited passages."""
        return tuple(passage.split("\n", 1)[0] for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a verifier finds about a claim, and why."""

    status: CheckStatus
    reason: str = ""


# --- what is answered ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that an answer names by its mark, and the words in it that the answer rests on.

    `start` and `end` are where these words are in the document. `verbatim`: the model gave them itself, and they are
    there; otherwise they are the sentence of the passage that comes nearest to what is said.
    """

    mark: int
    passage: Passage
    quote: str
    start: int
    end: int
    verbatim: bool

    @property
    def page(self) -> str:
        """The page on which the words begin; empty where the document has none."""
        return self.passage.at(self.start)[0]

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings over the words, outermost first."""
        return self.passage.at(self.start)[1]

    @property
    def source(self) -> str:
        """Where the words are from, fit for a reader: the document, and the page or section in it."""
        return self.passage.source_of(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: where it is in the text, which marks it has, and the result of checking it.

    `status` is one of

    - *quoted*: words of the cited passage are there, and no rule found that they say something else;
    - *entailed*: a model found that the cited sentences of the passage imply it;
    - *computed*: a number in it follows from numbers there by the calculation in `reason`;
    - *contradicted*: the cited sentences say otherwise;
    - *not checked*: none of these could be shown.

    `reason` says why, `basis` is what the passage says, and `verifier` names the verifier that judged. It is empty
    where there was nothing to judge, as the citation itself is wrong or missing, and where the verifier failed. A
    sentence that claims nothing ("Here is a list:") has `claims` False.
    """

    text: str
    start: int
    end: int
    marks: tuple[int, ...]
    status: CheckStatus
    reason: str = ""
    basis: str = ""
    verifier: str = ""
    claims: bool = True

    @property
    def vouched(self) -> bool:
        """Whether the check vouches for it."""
        return self.status in VOUCHED

    @property
    def doubtful(self) -> bool:
        """Whether it claims something that the check does not vouch for."""
        return self.claims and not self.vouched

    @property
    def verdict(self) -> str:
        """The status for a reader: *not supported* where a verifier judged the sentence and could not confirm it."""
        return "not supported" if self.status == "not checked" and self.verifier else self.status

    @property
    def finding(self) -> str:
        """The verdict with its reason, for a reader."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One verifier's part in checking an answer: how many sentences it judged, how long it took and what it cost.

    `problem` says why it failed, where it did; its sentences are *not checked* then.
    """

    verifier: str
    sentences: int
    seconds: float
    usage: Usage = field(default_factory=Usage)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """A sentence that the check did not vouch for, and the one that took its place; empty where it was removed."""

    before: Sentence
    after: str


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How one question is to be answered: what the model is told besides, the language of the answer (that of the
    question where it is empty), how many tokens it may have (as the settings say where it is None), and the model's
    temperature."""

    instructions: str = ""
    language: str = ""
    length: int | None = None
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if self.length is not None and self.length < _SHORTEST_ANSWER:
            raise InvalidArgument(
                f"the length of an answer is {self.length} tokens; make it {_SHORTEST_ANSWER} or more"
            )
        if not 0 <= self.temperature <= 2:
            raise InvalidArgument(f"the temperature is {self.temperature}; make it 0 to 2")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, sentence by sentence, with what it cites and what it rests on.

    `known` is False when the evidence does not say. `number` is set when a number was asked for and given, `reasoning`
    when the model was to think first. `context` is what the model was shown. `checks` are the verifiers that were
    asked, in their order, and `repairs` the sentences that were replaced.
    """

    question: str
    text: str
    known: bool
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    evidence: Evidence
    context: str
    usage: Usage
    reasoning: str = ""
    number: Decimal | None = None
    finish: Finish = "stop"
    checks: tuple[Check, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def doubtful(self) -> tuple[Sentence, ...]:
        """The sentences that claim something and that the check does not vouch for."""
        return tuple(sentence for sentence in self.sentences if sentence.doubtful)

    @property
    def note(self) -> str:
        """What goes under the answer where only text can be shown: its sources, and the sentences that the check does
        not confirm with the reasons. Empty where there are neither."""
        cited = {one.mark: f"[{one.mark}] {one.source} ({one.passage.uri})" for one in self.citations}
        doubted = [f"- {' '.join(one.text.split())} ({one.finding})" for one in self.doubtful]
        parts = {"Sources": [cited[mark] for mark in sorted(cited)], "Not confirmed": doubted}
        return "\n\n".join("\n".join((f"{title}:", *lines)) for title, lines in parts.items() if lines)


@dataclass(frozen=True, slots=True)
class Compared:
    """What one method found for a question, and what was answered from that if an answer was wanted.

    `problem` says why there is nothing, where the method cannot be used.
    """

    method: str
    evidence: Evidence
    answer: Answer | None = None
    problem: str = ""

    @property
    def usage(self) -> Usage:
        """What models took for it."""
        return self.answer.usage if self.answer else self.evidence.trace.usage


@dataclass(frozen=True, slots=True)
class Comparison:
    """Methods side by side on one question."""

    question: str
    rows: tuple[Compared, ...]

    def overlap(self, a: Compared, b: Compared) -> float:
        """Which share of the passages that either of two methods found was found by both."""
        mine, other = ({passage.id for passage in row.evidence.passages} for row in (a, b))
        return len(mine & other) / len(mine | other) if mine | other else 0.0
