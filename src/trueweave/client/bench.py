"""Benchmarks of a workspace, through a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from trueweave.client.forms import read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.bench import BenchComparison, BenchOutcome, BenchPassage, BenchQuestion, BenchRun, FoundBy


def _body(question: str, passages: Sequence[BenchPassage], answers: Sequence[str], kind: str) -> dict[str, Any]:
    sent = [{"uri": one.uri, "chunk": str(one.chunk) if one.chunk else None} for one in passages]
    return {"question": question, "passages": sent, "answers": list(answers), "kind": kind}


class AsyncClientBench:
    """The benchmarks of a workspace of a server: `client.bench`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

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
        body = _body(question, passages, answers, kind) | ({"by": by} if by else {})
        return read(BenchQuestion, await self._requests.write("/bench/questions", body))

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
        body = _body(question, passages, answers, kind)
        return read(BenchQuestion, await self._requests.write(f"/bench/questions/{id}", body, method="PUT"))

    # --- written by `make sync` from engine/bench.py and the server's routes ---

    async def runs(self, limit: int = 50) -> list[BenchRun]:
        """The stored runs, the latest first."""
        return await self._requests.listed("/bench", BenchRun, limit)

    async def run(self, run: UUID) -> BenchRun:
        """The run with this id. Raises UnknownRun if there is none."""
        return read(BenchRun, await self._requests.get(f"/bench/{run}"))

    async def remove_run(self, run: UUID) -> None:
        """Remove a run. Raises UnknownRun if there is none with this id."""
        await self._requests.delete(f"/bench/{run}")

    async def outcome(self, run: UUID, n: int) -> BenchOutcome:
        """The question with this number in a run: the passages that its answer rests on, and what each method found,
        with the passages as they are now. Raises UnknownRun if there is no such run or question."""
        return read(BenchOutcome, await self._requests.get(f"/bench/{run}/outcomes/{n}"))

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
        return read(
            BenchComparison,
            await self._requests.get(
                "/bench/compare",
                run_a=str(run_a),
                method_a=method_a,
                run_b=str(run_b),
                method_b=method_b,
                measure=measure or None,
                found_by=found_by,
                after=after,
                limit=limit,
            ),
        )

    async def questions(self, limit: int = 50) -> list[BenchQuestion]:
        """People's own questions with their right passages as they are now, the latest first."""
        return await self._requests.listed("/bench/questions", BenchQuestion, limit)

    async def remove_question(self, id: UUID) -> None:
        """Remove a question. Runs that it was measured in stay as they are. Raises UnknownQuestion if there is no
        question with this id."""
        await self._requests.delete(f"/bench/questions/{id}")
