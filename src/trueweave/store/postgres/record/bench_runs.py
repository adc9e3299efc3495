"""Finished benchmarks, with what each method found for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from trueweave.core.bench import (
    BenchFinding,
    BenchMethod,
    BenchOutcome,
    BenchPassage,
    BenchRun,
    FoundPassage,
    Interval,
)
from trueweave.core.errors import UnknownRun
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.record import bench_passages
from trueweave.text.names import key

_Place = tuple[str, UUID | None, int | None, int | None]

# A run's position in the list.
RunPlace = tuple[datetime, UUID]


class QuestionScore(NamedTuple):
    """The score of one question in a run. `asked` identifies the question with its right passages in any run."""

    asked: UUID
    n: int
    question: str
    kind: str
    score: float


async def save(workspace: Workspace, run: BenchRun, outcomes: Sequence[BenchOutcome]) -> BenchRun:
    """Store a run, and return it as it is stored. Passages are stored once for the whole run."""
    numbers: dict[_Place, int] = {}
    passages: list[BenchPassage] = []

    def number(passage: BenchPassage) -> int:
        place = (passage.uri, passage.chunk, passage.start, passage.end)
        if place not in numbers:
            numbers[place] = len(passages)
            passages.append(passage)
        return numbers[place]

    rows = [_row(one, run.measures, number) for one in outcomes]
    given = {name: getattr(run, name) for name in ("id", "author", "name", "own", "questions", "documents", "version")}
    async with workspace.transaction() as tx:
        await tx.run(
            "bench.add_run",
            **given,
            measures=list(run.measures),
            main_measure=run.leading,
            under=Jsonb(dict(run.under)),
            methods=Jsonb([asdict(one) for one in run.methods]),
            left_out=Jsonb(dict(run.left_out)),
            notes=list(run.notes),
            verdict=run.verdict,
        )
        await tx.run("bench.add_outcomes", run=run.id, outcomes=Jsonb(rows))
        await bench_passages.add(tx, run.id, passages)
        return await get(tx, run.id)


def _row(outcome: BenchOutcome, measures: Sequence[str], number: Any) -> dict[str, Any]:
    return {
        "n": outcome.n,
        "question": outcome.question,
        "asked": str(key("asked", outcome.question, *sorted(map(_identity, outcome.passages)))),
        "kind": outcome.kind,
        "supporting": [number(one) for one in outcome.passages],
        "findings": [
            {
                "found": [[number(one.passage), one.right] for one in found.passages],
                "scores": [found.scores[measure] for measure in measures],
                "seconds": round(found.seconds, 6),
            }
            for found in outcome.found
        ],
    }


def _identity(passage: BenchPassage) -> str:
    return f"{passage.uri} {passage.chunk or (passage.start, passage.end)}"


async def page(tx: Transaction, limit: int, after: RunPlace | None = None) -> list[BenchRun]:
    """Runs, the latest first."""
    made, last = after or (None, None)
    return [_run(row) for row in await tx.rows("bench.runs", limit=limit, made=made, after=last)]


async def get(tx: Transaction, id_: UUID) -> BenchRun:
    """The run with this id."""
    if rows := await tx.rows("bench.run", id=id_):
        return _run(rows[0])
    raise _unknown(id_)


async def remove(workspace: Workspace, id_: UUID) -> None:
    """Remove a run with its outcomes."""
    async with workspace.transaction() as tx:
        if not await tx.value("bench.remove_run", id=id_):
            raise _unknown(id_)


async def outcome(tx: Transaction, run: UUID, n: int) -> BenchOutcome:
    """One question of a run, with the passages as they are now."""
    about = await get(tx, run)
    rows = await tx.rows("bench.outcome", run=run, n=n)
    if not rows:
        raise UnknownRun(f"the run {run} has no question {n}. It has {about.questions:,}, beginning with 0.")
    [(n, question, kind, supporting, findings)] = rows
    wanted = {*supporting, *(at for one in findings for at, _ in one["found"])}
    passages = (await bench_passages.of_owners(tx, [run], sorted(wanted)))[run]
    found = tuple(
        _finding(method.name, about.measures, one, passages)
        for method, one in zip(about.methods, findings, strict=True)
    )
    return BenchOutcome(n, question, kind, tuple(passages[at] for at in supporting), found)


def _finding(
    method: str, measures: Iterable[str], found: Mapping[str, Any], passages: Mapping[int, BenchPassage]
) -> BenchFinding:
    return BenchFinding(
        method,
        dict(zip(measures, found["scores"], strict=True)),
        found["seconds"],
        tuple(FoundPassage(passages[at], right) for at, right in found["found"]),
    )


async def scores(tx: Transaction, run: UUID, method: int, measure: int) -> list[QuestionScore]:
    """The scores of all questions of a run, with the method and the measure at these places in it."""
    return [QuestionScore(*row) for row in await tx.rows("bench.scores", run=run, method=method, measure=measure)]


def _run(row: Row) -> BenchRun:
    id_, made, author, name, own, questions, documents, version, *rest = row
    measures, leading, under, methods, left_out, notes, verdict = rest
    read = tuple(
        BenchMethod(**{**one, "scores": {name: Interval(**score) for name, score in one["scores"].items()}})
        for one in methods
    )
    facts = (id_, made, author, name, own, questions, documents, version)
    return BenchRun(*facts, tuple(measures), leading, under, read, left_out, tuple(notes), verdict)


def _unknown(id_: UUID) -> UnknownRun:
    return UnknownRun(f"there is no benchmark run {id_} in this workspace. Somebody may have removed it.")
