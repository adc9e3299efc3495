"""Questions with known passages, and the results of benchmarks on them, as a workspace stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

PassageState = Literal["there", "changed", "removed"]
FoundBy = Literal["a", "b", "both", "neither"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes zero, so that chance alone is an unlikely explanation."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class BenchPassage:
    """A passage of a document, by its chunk and its span, or a whole document, without both.

    The text is never stored with a question or a run: `title`, `text` (its beginning) and `state` are those of the
    document now. A passage is `changed` if its document has another text since, and `removed`, without a uri, if its
    document was removed.
    """

    uri: str
    chunk: UUID | None = None
    start: int | None = None
    end: int | None = None
    title: str = ""
    text: str = ""
    state: PassageState = "there"


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question to measure methods with, and the passages that its answer rests on."""

    id: UUID
    question: str
    passages: tuple[BenchPassage, ...]
    answers: tuple[str, ...]
    kind: str
    made: datetime
    author: str


@dataclass(frozen=True, slots=True)
class BenchMethod:
    """The result of one method: its parameters, its mean score by each measure, and the median and 95th percentile of
    seconds for a question."""

    name: str
    parameters: Mapping[str, Any]
    scores: Mapping[str, Interval]
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A finished benchmark: `questions` questions over `documents` documents with these methods, the best first by the
    `leading` measure. `own` is whether the questions are about documents that were already in the workspace; `under`
    names the models, and `left_out` has the methods that could not be used, each with the reason."""

    id: UUID
    made: datetime
    author: str
    name: str
    own: bool
    questions: int
    documents: int
    version: str
    measures: tuple[str, ...]
    leading: str
    under: Mapping[str, str]
    methods: tuple[BenchMethod, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a method found, and whether it is one of those that the answer rests on."""

    passage: BenchPassage
    right: bool


@dataclass(frozen=True, slots=True)
class BenchFinding:
    """What one method found for one question, best first, with its score by each measure."""

    method: str
    scores: Mapping[str, float]
    seconds: float
    passages: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class BenchOutcome:
    """One question of a run, with its number: the passages that its answer rests on, and what each method found."""

    n: int
    question: str
    kind: str
    passages: tuple[BenchPassage, ...]
    found: tuple[BenchFinding, ...]


@dataclass(frozen=True, slots=True)
class BenchSide:
    """One side of a comparison: a method in a run, with its mean score on the questions compared."""

    run: UUID
    method: str
    score: Interval


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """A question with its score on both sides, and its number in each run. It is found by `a` or `b` if that side has
    the higher score, and by `both` or `neither` if the scores are equal."""

    n_a: int
    n_b: int
    question: str
    kind: str
    a: float
    b: float
    found_by: FoundBy


@dataclass(frozen=True, slots=True)
class BenchComparison:
    """Two methods on the same questions, or the same method in two runs, by one measure.

    `difference` is A minus B with its paired interval. `counts` are questions by `found_by`. `unpaired` questions are
    in only one of the runs, or have other right passages there, and are not compared.
    """

    a: BenchSide
    b: BenchSide
    measure: str
    difference: Interval
    verdict: str
    counts: Mapping[FoundBy, int]
    unpaired: int
    questions: tuple[ComparedQuestion, ...]
