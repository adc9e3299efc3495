"""An experiment: every method is asked every question in turn, and each outcome is stored immediately."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueweave.bench.measures import Measure, evidence_found
from trueweave.bench.outcomes import Answered, Outcome, OutcomeFile
from trueweave.bench.types import Dataset, Question, Span
from trueweave.core.errors import ConfigError
from trueweave.text.names import key

if TYPE_CHECKING:
    from trueweave.bench.judging import AnswerJudge
    from trueweave.core.answers import Answer
    from trueweave.core.evidence import Evidence, Usage
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.retrieval.context import Method

Progress = Callable[[int], None]

HOW_MANY = ("top_k", "graph_top_k", "top_k_chunks")


@dataclass(frozen=True)
class Ran:
    """The outcome of an experiment: an outcome for each question and method, and the methods that cannot be used here,
    each with the reason."""

    outcomes: tuple[Outcome, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Named methods to run on the questions of a set. They are the same objects that answer users.

    With `answers` each question is answered as well, and with a `judge` each answer is judged. `under` names everything
    else that the outcomes depend on, such as models. A method that cannot be used here is an error if `insist` is set;
    if not, it is left out with the reason.
    """

    trueweave: AsyncTrueweave
    dataset: Dataset
    methods: Mapping[str, Method]
    measures: Sequence[Measure]
    answers: bool = False
    under: str = ""
    insist: bool = True
    judge: AnswerJudge | None = None

    async def run(self, file: Path | None, progress: Progress = lambda _: None) -> Ran:
        """Run the experiment and return all outcomes. They are stored in a file, from which an interrupted run resumes;
        without one, they are only kept in memory.

        There is one call at a time, so that none slows another. Each question goes to all methods before the next
        question, beginning with another method each time, so that all benefit equally from warm caches.
        """
        runs = await self._runs()
        left_out: dict[str, str] = {}
        with OutcomeFile(file) as kept:
            done = {(one.run, one.question): one for one in kept.outcomes}
            for number, question in enumerate(self.dataset.questions):
                for name in _turned(list(self.methods), number):
                    if name not in left_out and (runs[name], question.id) not in done:
                        try:
                            outcome = await self._outcome(question, name, runs[name])
                        except ConfigError as error:
                            if self.insist or any(run == runs[name] for run, _ in done):
                                raise
                            left_out[name] = str(error)
                        else:
                            kept.add(outcome)
                            done[runs[name], question.id] = outcome
                    progress(1)
            if len(left_out) == len(self.methods):
                raise ConfigError(f"no method can be used here. {'; '.join(left_out.values())}")
            kept.finish()
        outcomes = [
            done[runs[name], question.id]
            for question in self.dataset.questions
            for name in self.methods
            if name not in left_out
        ]
        return Ran(tuple(outcomes), left_out)

    async def _runs(self) -> dict[str, str]:
        """For each method, a key of everything that its outcomes depend on, so that no other outcomes are reused."""
        index = await self.trueweave.maintenance.state()
        judge = [self.judge.fingerprint] if self.judge else []
        shared = [self.dataset.name, index, self.under, str(self.answers), *judge]
        return {name: key("run with places", *shared, name, repr(method)).hex for name, method in self.methods.items()}

    async def _outcome(self, question: Question, name: str, run: str) -> Outcome:
        method = self.methods[name]
        began = time.perf_counter()
        if not self.answers:
            evidence = await self.trueweave.retrieve(question.text, method)
            return _outcome(question, name, run, evidence, evidence.trace.usage)
        answer = await self.trueweave.ask(question.text, method)
        found = _outcome(question, name, run, answer.evidence, answer.usage)
        seconds = time.perf_counter() - began
        judged = await self.judge.judge(answer, question.answers) if self.judge else None
        return replace(found, answered=replace(_answered(answer, seconds), judged=judged))


def _outcome(question: Question, name: str, run: str, evidence: Evidence, usage: Usage) -> Outcome:
    best: dict[str, tuple[float, Span]] = {}
    for passage in evidence.passages:
        here = Span(passage.uri, passage.start, passage.end, passage.id)
        also = (Span(copy.uri, copy.start, copy.start + len(passage.text)) for copy in passage.also)
        for span in (here, *also):
            for id_ in question.ids(span):
                best.setdefault(id_, (passage.score, span))
    trace = evidence.trace
    found = tuple((id_, score) for id_, (score, _) in best.items())
    places = tuple(span for _, span in best.values())
    seen = evidence_found(question.evidence, (p.text for p in evidence.passages)) if question.evidence else None
    taken = trace.seconds, trace.statements, usage
    return Outcome(run, question.id, name, found, *taken, nodes=trace.nodes, evidence=seen, places=places)


def _answered(answer: Answer, seconds: float) -> Answered:
    confirmed = sum(sentence.confirmed for sentence in answer.sentences)
    return Answered(answer.text, answer.known, len(answer.sentences), confirmed, seconds)


def deep_enough(method: Any, k: int) -> Any:
    """The method, changed to keep at least k passages: with fewer, what it would have found next cannot be measured."""
    changed: dict[str, Any] = {
        name: k for name in HOW_MANY if isinstance(now := getattr(method, name, None), int) and now < k
    }
    parts = getattr(method, "parts", None)
    if isinstance(parts, tuple) and not changed and not any(hasattr(method, name) for name in HOW_MANY):
        changed["parts"] = tuple(deep_enough(part, k) for part in parts)
    return replace(method, **changed) if changed else method


def _turned(names: list[str], by: int) -> list[str]:
    at = by % len(names)
    return [*names[at:], *names[:at]]
