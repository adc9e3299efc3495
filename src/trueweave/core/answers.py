"""The answer to a question: its claims, citations and checks, and methods side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal

from trueweave.core.conflicts import Conflict
from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Evidence, Passage, Usage
from trueweave.core.model_calls import Finish
from trueweave.core.parameters import Parameter
from trueweave.core.record import Box

CheckStatus = Literal["quoted", "entailed", "computed", "contradicted", "not checked"]
CONFIRMED: frozenset[CheckStatus] = frozenset(("quoted", "entailed", "computed"))
SHORTEST_ANSWER = 16  # tokens


@dataclass(frozen=True, slots=True)
class Basis:
    """A sentence of a passage that supports a claim, and the sentence before it."""

    text: str
    before: str = ""

    @property
    def in_context(self) -> str:
        """The sentence with the one before it, which resolves its pronouns."""
        return f"{self.before} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class Claim:
    """The text of a sentence without its citations, its support, and the question.

    `quoted`: the answer quotes words of the passage, and the passage contains them. `passages` are the complete cited
    passages, with their titles.
    """

    text: str
    basis: tuple[Basis, ...]
    passages: tuple[str, ...]
    question: str
    quoted: bool

    @property
    def shown(self) -> str:
        """The supporting sentences, as one text."""
        return " ".join(one.text for one in self.basis)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the cited passages."""
        return tuple(passage.split("\n", 1)[0] for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verifier's judgement of a claim, with the reason."""

    status: CheckStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that an answer cites, and the words that support the answer.

    `start` and `end` are the position of these words in the document. `verbatim`: the model quoted them, and the
    passage contains them; if False, they are the most similar sentence of the passage.
    """

    number: int
    passage: Passage
    quote: str
    start: int
    end: int
    verbatim: bool

    @property
    def page(self) -> str:
        """The page on which the words begin; empty if the document has no pages."""
        return self.passage.at(self.start)[0]

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings over the words, outermost first."""
        return self.passage.at(self.start)[1]

    @property
    def box(self) -> Box | None:
        """The box on that page around the words, if they are on a scanned page or describe a picture: left, top, right
        and bottom, as parts of the width and height of the page."""
        return self.passage.box_of(self.start, self.end)

    @property
    def source(self) -> str:
        """The source of the words, for display: the document, and the page or section."""
        return self.passage.source_of(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: its position in the text, the numbers of its citations, and the result of its check.

    `status` is one of

    - *quoted*: its words are in the cited passage, and no rule found a contradiction;
    - *entailed*: according to a model, the cited sentences of the passage imply it;
    - *computed*: a number in it follows from numbers in the passage by the calculation in `reason`;
    - *contradicted*: the cited sentences contradict it;
    - *not checked*: nothing could be shown.

    `reason` explains the status, `basis` is the text of the passage, and `verifier` names the verifier. It is empty if
    there was nothing to judge because the citation itself is wrong or missing, and if the verifier failed. A sentence
    that claims nothing ("Here is a list:") has `claims` False.
    """

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    status: CheckStatus
    reason: str = ""
    basis: str = ""
    verifier: str = ""
    claims: bool = True

    @property
    def confirmed(self) -> bool:
        """Whether the check confirms it."""
        return self.status in CONFIRMED

    @property
    def doubtful(self) -> bool:
        """Whether it claims something that the check does not confirm."""
        return self.claims and not self.confirmed

    @property
    def verdict(self) -> str:
        """The status for display: *not supported* if a verifier judged the sentence and could not confirm it."""
        return "not supported" if self.status == "not checked" and self.verifier else self.status

    @property
    def finding(self) -> str:
        """The status with its reason, for display."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One verifier's part in checking an answer: the number of sentences it judged, the time and the cost.

    `problem` is the reason if it failed; its sentences are then *not checked*.
    """

    verifier: str
    sentences: int
    seconds: float
    usage: Usage = field(default_factory=Usage)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """A sentence that the check did not confirm, and its replacement; empty if it was removed."""

    before: Sentence
    after: str


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options for one answer: additional instructions for the model, the language of the answer (empty for that of the
    question), its maximum tokens (None for that of the settings), and the model's temperature."""

    instructions: Annotated[
        str,
        Parameter("Additional instructions for the model, such as 'Use a table.'", metavar="TEXT", longest=200_000),
    ] = ""
    language: Annotated[
        str, Parameter("The language of the answer. Default: that of the question.", metavar="NAME", longest=2000)
    ] = ""
    length: Annotated[
        int | None,
        Parameter("Maximum tokens of the answer.", metavar="TOKENS", least=SHORTEST_ANSWER, most=100_000),
    ] = None
    temperature: Annotated[float, Parameter("The model's temperature: 0 is deterministic.", least=0, most=2)] = 0.0

    def __post_init__(self) -> None:
        if self.length is not None and self.length < SHORTEST_ANSWER:
            raise InvalidArgument(f"the length of an answer is {self.length} tokens; make it {SHORTEST_ANSWER} or more")
        if not 0 <= self.temperature <= 2:
            raise InvalidArgument(f"the temperature is {self.temperature}; it must be between 0 and 2")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, sentence by sentence, with its citations and its evidence.

    `known` is False if the evidence does not contain the answer. `number` is set if a number was requested and given,
    `reasoning` if the model reasoned first. `context` is what the model was shown. `checks` are the verifiers that ran,
    in order, and `repairs` the sentences that were replaced. `disagreements` are conflicts about which a cited passage
    states something, and of which the answer names a value: see `graph.conflicts`.
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
    disagreements: tuple[Conflict, ...] = ()

    @property
    def doubtful(self) -> tuple[Sentence, ...]:
        """The sentences that claim something and that the check does not confirm."""
        return tuple(sentence for sentence in self.sentences if sentence.doubtful)

    @property
    def note(self) -> str:
        """Text to append to the answer where only text can be shown: its sources, the unconfirmed sentences with
        reasons, and what sources disagree about. Empty if there is none of these."""
        cited = {one.number: f"[{one.number}] {one.source} ({one.passage.uri})" for one in self.citations}
        doubted = [f"- {' '.join(one.text.split())} ({one.finding})" for one in self.doubtful]
        disagreed = [f"- {one.line}" for one in self.disagreements]
        parts = {
            "Sources": [cited[mark] for mark in sorted(cited)],
            "Not confirmed": doubted,
            "Sources disagree": disagreed,
        }
        return "\n\n".join("\n".join((f"{title}:", *lines)) for title, lines in parts.items() if lines)


@dataclass(frozen=True, slots=True)
class Compared:
    """What one method found for a question, and the answer if one was requested.

    `problem` is the reason if the method cannot be used.
    """

    method: str
    evidence: Evidence
    answer: Answer | None = None
    problem: str = ""

    @property
    def usage(self) -> Usage:
        """The model usage."""
        return self.answer.usage if self.answer else self.evidence.trace.usage


@dataclass(frozen=True, slots=True)
class Comparison:
    """Methods side by side on one question."""

    question: str
    rows: tuple[Compared, ...]

    def overlap(self, a: Compared, b: Compared) -> float:
        """The share of passages that both methods found, of all that either found."""
        mine, other = ({passage.id for passage in row.evidence.passages} for row in (a, b))
        return len(mine & other) / len(mine | other) if mine | other else 0.0
