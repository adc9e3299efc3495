"""The answer to a question: its claims, citations and checks, and methods side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal

from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Evidence, Passage, Usage
from trueweave.core.model_calls import Finish
from trueweave.core.parameters import Parameter

CheckStatus = Literal["quoted", "entailed", "computed", "contradicted", "not checked"]
VOUCHED: frozenset[CheckStatus] = frozenset(("quoted", "entailed", "computed"))
SHORTEST_ANSWER = 16  # tokens


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

    instructions: Annotated[
        str,
        Parameter(
            "What the model is told besides, as in --instructions 'Use a table.'", metavar="TEXT", longest=200_000
        ),
    ] = ""
    language: Annotated[
        str, Parameter("The language of the answer, if not that of the question.", metavar="NAME", longest=2000)
    ] = ""
    length: Annotated[
        int | None,
        Parameter("How many tokens the answer may have.", metavar="TOKENS", least=SHORTEST_ANSWER, most=100_000),
    ] = None
    temperature: Annotated[
        float, Parameter("The model's temperature: 0 is the most likely words.", least=0, most=2)
    ] = 0.0

    def __post_init__(self) -> None:
        if self.length is not None and self.length < SHORTEST_ANSWER:
            raise InvalidArgument(f"the length of an answer is {self.length} tokens; make it {SHORTEST_ANSWER} or more")
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
