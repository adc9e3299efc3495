"""Benchmarks of a workspace: people's own questions, and the runs that were stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from trueweave.core.bench import (
    BenchComparison,
    BenchOutcome,
    BenchPassage,
    BenchQuestion,
    BenchRun,
    FoundBy,
)
from trueweave.core.errors import UnknownRun
from trueweave.engine.bench_comparing import compared
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import bench_questions, bench_runs
from trueweave.store.postgres.record.bench_runs import QuestionScore
from trueweave.text.names import storable


@own_errors
@refuse_restricted("bench")
class AsyncBenchGroup:
    """The benchmarks of a workspace: `trueweave.bench`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def runs(self, limit: int = 50) -> list[BenchRun]:
        """The stored runs, the latest first."""
        async with self._core.workspace.transaction() as tx:
            return await bench_runs.page(tx, limit)

    async def run(self, run: UUID) -> BenchRun:
        """The run with this id. Raises UnknownRun if there is none."""
        async with self._core.workspace.transaction() as tx:
            return await bench_runs.get(tx, run)

    async def save(self, run: BenchRun, outcomes: Sequence[BenchOutcome]) -> BenchRun:
        """Store a finished run with the outcome of each question, and return it as it is stored. Passages are stored by
        uri and span, without their texts."""
        return await bench_runs.save(self._core.workspace, run, outcomes)

    async def remove_run(self, run: UUID) -> None:
        """Remove a run. Raises UnknownRun if there is none with this id."""
        await bench_runs.remove(self._core.workspace, run)

    async def outcome(self, run: UUID, n: int) -> BenchOutcome:
        """The question with this number in a run: the passages that its answer rests on, and what each method found,
        with the passages as they are now. Raises UnknownRun if there is no such run or question."""
        async with self._core.workspace.transaction() as tx:
            return await bench_runs.outcome(tx, run, n)

    async def compare(
        self,
        run_a: UUID,
        method_a: str,
        run_b: UUID,
        method_b: str,
        *,
        measure: str = "",
        found_by: FoundBy | None = None,
        after: int = -1,
        limit: int = 50,
    ) -> BenchComparison:
        """Compare two methods of one run, or of two, question by question. The measure is by default the one that the
        first run is ordered by.

        The first `limit` questions after the number `after` are listed, optionally only those found by one side, by
        both or by neither. Raises UnknownRun if a run does not exist, or does not have the method or the measure.
        """
        async with self._core.workspace.transaction() as tx:
            first, second = await bench_runs.get(tx, run_a), await bench_runs.get(tx, run_b)
            by = measure or first.leading
            scores_a = await _scores(tx, first, method_a, by)
            scores_b = await _scores(tx, second, method_b, by)
        sides = (run_a, method_a, scores_a), (run_b, method_b, scores_b)
        return await asyncio.to_thread(compared, *sides, by, found_by, after, limit)

    async def questions(self, limit: int = 50) -> list[BenchQuestion]:
        """People's own questions with their right passages as they are now, the latest first."""
        async with self._core.workspace.transaction() as tx:
            return await bench_questions.page(tx, limit)

    async def add_question(
        self,
        question: str,
        passages: Sequence[BenchPassage],
        *,
        answers: Sequence[str] = (),
        kind: str = "",
        by: str = "",
    ) -> BenchQuestion:
        """Add a question with the passages that its answer rests on; `by` says who adds it. A question with the same
        text is kept, and gets these passages as well. A passage is a chunk of a document, or a whole document."""
        text, known = storable(question).strip(), [storable(one) for one in answers]
        return await bench_questions.add(self._core.workspace, text, passages, known, storable(kind), by)

    async def change_question(
        self,
        id: UUID,
        question: str,
        passages: Sequence[BenchPassage],
        *,
        answers: Sequence[str] = (),
        kind: str = "",
    ) -> BenchQuestion:
        """Replace a question, its passages and its answers. Runs that it was measured in stay as they are. Raises
        UnknownQuestion if there is none with this id."""
        text, known = storable(question).strip(), [storable(one) for one in answers]
        return await bench_questions.change(self._core.workspace, id, text, passages, known, storable(kind))

    async def remove_question(self, id: UUID) -> None:
        """Remove a question. Runs that it was measured in stay as they are. Raises UnknownQuestion if there is no
        question with this id."""
        await bench_questions.remove(self._core.workspace, id)


async def _scores(tx: Transaction, run: BenchRun, method: str, measure: str) -> list[QuestionScore]:
    methods = [one.name for one in run.methods]
    if method not in methods:
        raise UnknownRun(f"the run {run.id} has no method {method!r}. It has {', '.join(methods)}.")
    if measure not in run.measures:
        raise UnknownRun(f"the run {run.id} has no measure {measure!r}. It has {', '.join(run.measures)}.")
    return await bench_runs.scores(tx, run.id, methods.index(method), run.measures.index(measure))
