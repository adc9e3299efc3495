"""The results of an experiment: means with their intervals, differences, kinds of questions, and cost."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from decimal import Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from trueweave.bench.measures import Measure, exact_match, token_f1
from trueweave.bench.types import Dataset, Question
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.core.evidence import Usage

if TYPE_CHECKING:
    from trueweave.bench.experiment import Experiment, Ran
    from trueweave.bench.outcomes import Answered, Outcome

_TELLING = 10  # questions where methods differ most
_USUAL_K = 5
_MARKS = re.compile(r"[\[【]\s*\d[\d\s,;]*[\]】]")


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The results of one method: its parameters, its scores, also by kind of question, and its cost per question.

    `p50` and `p95` are the median and the 95th percentile of seconds per question. `usage` is for all questions.
    """

    name: str
    parameters: Mapping[str, Any]
    scores: Mapping[str, Interval]
    by_kind: Mapping[str, Mapping[str, float]]
    p50: float
    p95: float
    statements: float
    nodes: float
    passages: float
    usage: Usage


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """How much lower a method scores than the best one, and whether chance is an unlikely explanation."""

    measure: str
    best: str
    method: str
    interval: Interval

    @property
    def significant(self) -> bool:
        return self.interval.excludes_zero


@dataclass(frozen=True, slots=True)
class Telling:
    """A question on which methods differ: what supports it, what each of them found first, and its evidence."""

    id: str
    question: str
    supporting: tuple[str, ...]
    scores: Mapping[str, float]
    found: Mapping[str, tuple[str, ...]]
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class IndexResult:
    """One index of those that were compared: the settings that differ, the name of each method in it, and what it took
    to build: seconds, tokens of models and their price (None if unknown), and bytes of rows and vectors."""

    name: str
    changes: Mapping[str, str]
    labels: Mapping[str, str]
    seconds: float
    chunks: int
    entities: int
    relations: int
    size: int
    tokens: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class GraphGain:
    """How much more the best method that uses the graph finds than the best one that does not."""

    using: str
    without: str
    interval: Interval


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that a report shows. `titles` are those of the passages that it names; `leading` is the measure that
    methods are ordered by, and `ranked` says whether documents or passages are ranked."""

    trueweave: str
    dataset: str
    questions: int
    kinds: Mapping[str, int]
    passages: int
    own: bool
    under: Mapping[str, str]
    measures: tuple[str, ...]
    leading: str
    methods: tuple[MethodResult, ...]
    differences: tuple[ScoreDifference, ...]
    telling: tuple[Telling, ...]
    titles: Mapping[str, str]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    currency: str = "USD"
    ranked: str = "passages"
    indexes: tuple[IndexResult, ...] = ()
    graph: GraphGain | None = None
    judge_prompt: str = ""

    def method(self, name: str) -> MethodResult:
        """The results of the method of that name."""
        return next(one for one in self.methods if one.name == name)

    def index_of(self, method: str) -> IndexResult:
        """The index, of those compared, that a method was measured in."""
        return next(one for one in self.indexes if method in one.labels.values())

    def difference(self, measure: str, method: str) -> ScoreDifference | None:
        """How a method compares with the best by this measure; None for the best itself."""
        return next((one for one in self.differences if (one.measure, one.method) == (measure, method)), None)

    def best(self, measure: str) -> MethodResult:
        """The method with the highest mean by a measure; on a tie, the first."""
        return max(self.methods, key=lambda one: one.scores[measure].mean)


def results(
    experiment: Experiment,
    ran: Ran,
    *,
    passages: int,
    under: Mapping[str, str],
    notes: Sequence[str] = (),
    currency: str = "USD",
) -> Results:
    """The results of an experiment. `passages` is how many there were to search; `under` says what it ran with."""
    dataset = experiment.dataset
    questions = {question.id: question for question in dataset.questions}
    by_method: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in ran.outcomes:
        by_method[outcome.method].append(outcome)
    values = {name: scored(found, questions, experiment.measures) for name, found in by_method.items()}
    is_ranked = all(question.supporting for question in dataset.questions)
    leading = _leading(experiment.measures) if is_ranked else "evidence"
    names = sorted(values, key=lambda name: -float(np.mean(values[name][leading])))
    measured = tuple(next(iter(values.values())))
    telling = _telling(by_method, values, questions, experiment.measures, leading)
    kinds = [question.kind for question in dataset.questions if question.kind]
    return Results(
        version("trueweave"),
        dataset.name,
        len(dataset.questions),
        {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        passages,
        dataset.passages is None,
        dict(under),
        measured,
        leading,
        tuple(_method(name, experiment.methods[name], by_method[name], values[name], questions) for name in names),
        tuple(one for measure in measured for one in _differences(measure, names, values)),
        telling,
        _titles(dataset, telling),
        dict(ran.left_out),
        (*dataset.notes, *notes),
        currency,
        _ranked(dataset),
        judge_prompt=experiment.judge.instructions if experiment.judge else "",
    )


def _ranked(dataset: Dataset) -> str:
    return "documents" if dataset.passages is None and not any(one.spans for one in dataset.questions) else "passages"


def answer(found: Results) -> dict[str, Any]:
    """All results as a dictionary, for programs."""
    told = asdict(found)
    told["differences"] = [{**asdict(one), "significant": one.significant} for one in found.differences]
    return told


def parameters(method: Any) -> dict[str, Any]:
    """The parameters of a method, and of the methods that it consists of."""
    if not is_dataclass(method):
        return {}
    return {field.name: _parameter(getattr(method, field.name)) for field in fields(method)}


def _parameter(value: Any) -> Any:
    if is_dataclass(value):
        return {"method": type(value).__name__.lower(), **parameters(value)}
    return [_parameter(one) for one in value] if isinstance(value, tuple | list) else value


def _leading(measures: Sequence[Measure]) -> str:
    """The measure that methods are ordered by: recall at five, or at the depth nearest to it."""
    recalls = [one for one in measures if one.what == "recall"] or list(measures)
    return min(recalls, key=lambda one: abs(one.k - _USUAL_K)).name


def scored(
    found: Sequence[Outcome], questions: Mapping[str, Question], measures: Sequence[Measure]
) -> dict[str, list[float]]:
    """For each measure, the score of each question."""
    values: dict[str, list[float]] = {}
    if all(questions[one.question].supporting for one in found):
        values = {one.name: [one.of(o.ranked, questions[o.question].supporting) for o in found] for one in measures}
    if all(one.evidence is not None for one in found):
        values["evidence"] = [one.evidence or 0.0 for one in found]
    given = [(one.answered, questions[one.question].answers) for one in found]
    if all(answered for answered, _ in given):
        if any(answers for _, answers in given):
            values["exact match"] = [exact_match(_said(one), answers) for one, answers in given]
            values["F1"] = [token_f1(_said(one), answers) for one, answers in given]
        values["confirmed"] = [one.confirmed / one.sentences if one and one.sentences else 0.0 for one, _ in given]
        judged = [one.judged for one, _ in given if one and one.judged]
        if len(judged) == len(given):
            values["correct"] = [one.correct for one in judged]
            values["complete"] = [one.complete for one in judged]
            values["supported"] = [one.supported for one in judged]
    return values


def _said(answered: Answered | None) -> str:
    """The text of an answer, without its citations."""
    return _MARKS.sub(" ", answered.text) if answered else ""


def _method(
    name: str,
    method: Any,
    found: Sequence[Outcome],
    values: Mapping[str, Sequence[float]],
    questions: Mapping[str, Question],
) -> MethodResult:
    seconds = [one.answered.seconds if one.answered else one.seconds for one in found]
    p50, p95 = (float(one) for one in np.percentile(seconds, (50, 95)))
    return MethodResult(
        name,
        parameters(method),
        {measure: interval(numbers) for measure, numbers in values.items()},
        _by_kind(found, values, questions),
        p50,
        p95,
        float(np.mean([one.statements for one in found])),
        float(np.mean([one.nodes for one in found])),
        float(np.mean([len(one.found) for one in found])),
        sum((one.usage for one in found), Usage(price=Decimal(0))),
    )


def _by_kind(
    found: Sequence[Outcome], values: Mapping[str, Sequence[float]], questions: Mapping[str, Question]
) -> dict[str, dict[str, float]]:
    kinds = [questions[one.question].kind for one in found]
    return {
        kind: {
            measure: float(np.mean([number for number, k in zip(numbers, kinds, strict=True) if k == kind]))
            for measure, numbers in values.items()
        }
        for kind in sorted(set(kinds) - {""})
    }


def _differences(
    measure: str, names: Sequence[str], values: Mapping[str, Mapping[str, Sequence[float]]]
) -> list[ScoreDifference]:
    best = max(names, key=lambda name: float(np.mean(values[name][measure])))
    others = [name for name in names if name != best]
    return [
        ScoreDifference(measure, best, name, difference(values[name][measure], values[best][measure]))
        for name in others
    ]


def _telling(
    by_method: Mapping[str, Sequence[Outcome]],
    values: Mapping[str, Mapping[str, Sequence[float]]],
    questions: Mapping[str, Question],
    measures: Sequence[Measure],
    leading: str,
) -> tuple[Telling, ...]:
    """The questions on which the methods' scores are furthest apart."""
    if len(by_method) < 2:
        return ()
    asked = [one.question for one in next(iter(by_method.values()))]
    scores = [{name: values[name][leading][at] for name in by_method} for at in range(len(asked))]
    propagate = [max(one.values()) - min(one.values()) for one in scores]
    furthest = sorted((at for at in range(len(asked)) if propagate[at] > 0), key=lambda at: (-propagate[at], at))
    k = next((one.k for one in measures if one.name == leading), _USUAL_K)
    return tuple(
        Telling(
            asked[at],
            questions[asked[at]].text,
            tuple(questions[asked[at]].supporting),
            scores[at],
            {name: tuple(found[at].ranked[:k]) for name, found in by_method.items()},
            questions[asked[at]].evidence,
        )
        for at in furthest[:_TELLING]
    )


def _titles(dataset: Dataset, telling: Sequence[Telling]) -> dict[str, str]:
    named = {id_ for one in telling for some in (one.supporting, *one.found.values()) for id_ in some}
    return {one.id: one.title or one.id for one in dataset.passages or () if one.id in named}
