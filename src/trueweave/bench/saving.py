"""Stores the results of an experiment in its workspace, where the web UI and `trueweave bench saved` show them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from trueweave.bench.results import scored
from trueweave.bench.verdict import verdict
from trueweave.core.bench import BenchFinding, BenchMethod, BenchOutcome, BenchPassage, BenchRun, FoundPassage

if TYPE_CHECKING:
    from trueweave.bench.experiment import Experiment, Ran
    from trueweave.bench.outcomes import Outcome
    from trueweave.bench.results import Results
    from trueweave.bench.types import Question, Span


async def save(experiment: Experiment, ran: Ran, found: Results, author: str = "") -> BenchRun:
    """Store the results of an experiment in its workspace, and return them as they are stored."""
    methods = [BenchMethod(one.name, one.parameters, one.scores, one.p50, one.p95) for one in found.methods]
    run = BenchRun(
        uuid4(),
        datetime.now(UTC),
        author,
        found.dataset,
        found.own,
        found.questions,
        found.passages,
        found.trueweave,
        found.measures,
        found.leading,
        found.under,
        tuple(methods),
        found.left_out,
        found.notes,
        verdict(found),
    )
    return await experiment.trueweave.bench.save(run, _outcomes(experiment, ran, [one.name for one in methods]))


def _outcomes(experiment: Experiment, ran: Ran, methods: Sequence[str]) -> list[BenchOutcome]:
    questions = {question.id: question for question in experiment.dataset.questions}
    by_method: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in ran.outcomes:
        by_method[outcome.method].append(outcome)
    scores = {name: scored(by_method[name], questions, experiment.measures) for name in methods}
    deepest = max(one.k for one in experiment.measures)
    return [
        BenchOutcome(
            at,
            question.text,
            question.kind,
            tuple(_right(question, id_) for id_ in question.supporting),
            tuple(
                _finding(question, by_method[name][at], {m: each[at] for m, each in scores[name].items()}, deepest)
                for name in methods
            ),
        )
        for at, question in enumerate(experiment.dataset.questions)
    ]


def _finding(question: Question, outcome: Outcome, scores: Mapping[str, float], deepest: int) -> BenchFinding:
    seconds = outcome.answered.seconds if outcome.answered else outcome.seconds
    found = zip(outcome.ranked[:deepest], outcome.places[:deepest], strict=True)
    passages = tuple(FoundPassage(_passage(place), id_ in question.supporting) for id_, place in found)
    return BenchFinding(outcome.method, scores, seconds, passages)


def _right(question: Question, id_: str) -> BenchPassage:
    return _passage(question.spans[id_]) if id_ in question.spans else BenchPassage(id_)


def _passage(span: Span) -> BenchPassage:
    return BenchPassage(span.uri, span.chunk, span.start, span.end)
