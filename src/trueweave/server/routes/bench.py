"""Routes for benchmarks: people's own questions, stored runs, and a run on the questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from trueweave.bench.own import WITHOUT_MODEL, run_own
from trueweave.core.bench import (
    BenchComparison,
    BenchOutcome,
    BenchPassage,
    BenchQuestion,
    BenchRun,
    FoundBy,
)
from trueweave.core.errors import TrueweaveError
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import AnyCaller, Measuring, Reading, Writing
from trueweave.server.fields import Cursor, Label, Limit, Line, Name, Question, Uri
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, problem_of, request_id_of
from trueweave.server.streaming import EVENT, MEDIA_TYPE, EventStream, event
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import bench_questions, bench_runs
from trueweave.store.postgres.record.bench_questions import MOST_PASSAGES, QuestionPlace
from trueweave.store.postgres.record.bench_runs import RunPlace

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/bench", tags=["bench"], responses=RESPONSES, route_class=TaggedRoute
)

_RUN = TypeAdapter(BenchRun)
OfRun = Annotated[UUID, Path(description="Its id.")]
OfQuestion = Annotated[UUID, Path(description="Its id.")]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `progress` ({done, all}) after each search, then `run` (the stored run); or `problem` "
        "at any time.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
    }
}


class PassageBody(BaseModel):
    """A passage that an answer rests on: a chunk of a document, or a whole document."""

    model_config = ConfigDict(extra="forbid")
    uri: Uri
    chunk: UUID | None = None


class QuestionBody(BaseModel):
    """A question with the passages that its answer rests on."""

    model_config = ConfigDict(extra="forbid")
    question: Question
    passages: Annotated[list[PassageBody], Field(min_length=1, max_length=MOST_PASSAGES)]
    answers: Annotated[list[Label], Field(max_length=20)] = []
    kind: Line = ""

    def given(self) -> list[BenchPassage]:
        return [BenchPassage(one.uri, one.chunk) for one in self.passages]


class NewQuestionBody(QuestionBody):
    """A question to be added; `by` says who adds it, beside the name of the key."""

    by: Line = ""


class RemovedFromBenchBody(BaseModel):
    """What was removed."""

    removed: UUID


class RunRequest(BaseModel):
    """The methods to measure on the questions of the workspace."""

    model_config = ConfigDict(extra="forbid")
    methods: Annotated[list[Name], Field(min_length=1, max_length=30)]


class MeasurableBody(BaseModel):
    """The methods that can be measured here: those that never call a language model."""

    methods: list[str]


@router.get("", response_model=ListPage[BenchRun])
async def list_runs(trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The stored benchmark runs, the latest first."""
    pager: Pager[RunPlace] = Pager(RunPlace, "runs", trueweave.workspace.id)
    after = pager.position(cursor)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await bench_runs.page(tx, limit + 1, after)
    return pager.page(found, limit, lambda one: (one.made, one.id))


@router.post("", responses=_STREAM, response_model=None)
async def run_questions(request: Request, body: RunRequest, caller: AnyCaller, trueweave: Measuring) -> EventStream:
    """Measure methods on the questions of the workspace and store the run. It is sent as events. Disconnecting stops
    it, and then nothing is stored. No language model is called."""
    return EventStream(_events(trueweave, body.methods, caller.name, request_id_of(request)))


@router.get("/methods")
async def list_measurable(_: Reading) -> MeasurableBody:
    """The methods that a run here can measure: those that never call a language model."""
    return MeasurableBody(methods=list(WITHOUT_MODEL))


@router.get("/compare")
async def compare_runs(
    trueweave: Reading,
    run_a: Annotated[UUID, Query(description="The run of the first side.")],
    method_a: Annotated[Name, Query(description="Its method.")],
    run_b: Annotated[UUID, Query(description="The run of the second side, which may be the same.")],
    method_b: Annotated[Name, Query(description="Its method.")],
    measure: Annotated[Line, Query(description="By default the one that the first run is ordered by.")] = "",
    found_by: Annotated[FoundBy | None, Query(description="Only questions found by these sides.")] = None,
    after: Annotated[int, Query(ge=-1, le=2**31 - 1, description="Only questions after this number.")] = -1,
    limit: Limit = 50,
) -> BenchComparison:
    """Two methods of one run, or of two, question by question, with the paired interval of their difference."""
    how: dict[str, Any] = {"measure": measure, "found_by": found_by, "after": after, "limit": limit}
    return await trueweave.bench.compare(run_a, method_a, run_b, method_b, **how)


@router.get("/questions", response_model=ListPage[BenchQuestion])
async def list_questions(trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The questions of the workspace with their right passages as they are now, the latest first."""
    pager: Pager[QuestionPlace] = Pager(QuestionPlace, "questions", trueweave.workspace.id)
    after = pager.position(cursor)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await bench_questions.page(tx, limit + 1, after)
    return pager.page(found, limit, lambda one: (one.made, one.id))


# Writing a question takes no idempotency key: sending it again changes nothing, and a response that is kept would keep
# the texts of its passages after their documents are removed.
@router.post("/questions", status_code=201)
async def add_question(body: NewQuestionBody, caller: AnyCaller, trueweave: Writing) -> BenchQuestion:
    """Add a question with the passages that its answer rests on. If it is there already, it gets these as well."""
    how: dict[str, Any] = {"answers": body.answers, "kind": body.kind, "by": caller.author(body.by)}
    return await trueweave.bench.add_question(body.question, body.given(), **how)


@router.put("/questions/{question}")
async def change_question(question: OfQuestion, body: QuestionBody, trueweave: Writing) -> BenchQuestion:
    """Replace a question, its passages and its answers. Runs that it was measured in stay as they are."""
    how: dict[str, Any] = {"answers": body.answers, "kind": body.kind}
    return await trueweave.bench.change_question(question, body.question, body.given(), **how)


@router.delete("/questions/{question}")
async def remove_question(question: OfQuestion, trueweave: Writing) -> RemovedFromBenchBody:
    """Remove a question. Runs that it was measured in stay as they are."""
    await trueweave.bench.remove_question(question)
    return RemovedFromBenchBody(removed=question)


@router.get("/{run}")
async def get_run(run: OfRun, trueweave: Reading) -> BenchRun:
    """A stored run."""
    return await trueweave.bench.run(run)


@router.delete("/{run}")
async def remove_run(run: OfRun, trueweave: Writing) -> RemovedFromBenchBody:
    """Remove a stored run."""
    await trueweave.bench.remove_run(run)
    return RemovedFromBenchBody(removed=run)


@router.get("/{run}/outcomes/{n}")
async def get_outcome(
    run: OfRun, n: Annotated[int, Path(ge=0, le=2**31 - 1, description="Its number in the run.")], trueweave: Reading
) -> BenchOutcome:
    """One question of a run: its right passages, and what each method found, with the passages as they are now."""
    return await trueweave.bench.outcome(run, n)


async def _events(
    trueweave: AsyncTrueweave, methods: list[str], author: str, request_id: str
) -> AsyncGenerator[bytes, None]:
    """The progress of a run, and then the run. Progress that nobody has read yet is replaced by newer progress."""
    news = asyncio.Event()
    state = (0, 0)

    def heard(done: int, whole: int) -> None:
        nonlocal state
        state = (done, whole)
        news.set()

    running = asyncio.create_task(run_own(trueweave, methods, author, heard))
    try:
        while not running.done():
            waiting = asyncio.ensure_future(news.wait())
            await asyncio.wait((waiting, running), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if news.is_set():
                news.clear()
                yield event("progress", {"done": state[0], "all": state[1]})
        try:
            with translated():
                yield event("run", _RUN.dump_python(await running, mode="json"))
        except TrueweaveError as error:
            yield event("problem", problem_of(error, request_id))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
