"""People's own questions to measure methods with, and the passages that their answers rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from trueweave.core.bench import BenchPassage, BenchQuestion
from trueweave.core.errors import InvalidArgument, UnknownDocument, UnknownQuestion
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import share_view
from trueweave.store.postgres.record import bench_passages

MOST_PASSAGES = 100  # of one question

# A question's position in the list.
QuestionPlace = tuple[datetime, UUID]


async def add(
    workspace: Workspace,
    question: str,
    passages: Sequence[BenchPassage],
    answers: Sequence[str],
    kind: str,
    author: str,
) -> BenchQuestion:
    """Store a question. If it is there already, it gets these passages as well."""
    async with workspace.transaction() as tx:
        await _check(tx, question, passages)
        given = {"question": question, "answers": list(answers), "kind": kind, "author": author}
        id_ = await tx.value("bench.add_question", id=uuid4(), **given)
        await bench_passages.add(tx, id_, passages)
        return await _one(tx, id_)


async def change(
    workspace: Workspace,
    id_: UUID,
    question: str,
    passages: Sequence[BenchPassage],
    answers: Sequence[str],
    kind: str,
) -> BenchQuestion:
    """Replace a question, its passages and its answers."""
    async with workspace.transaction() as tx:
        await _check(tx, question, passages)
        if await tx.value("bench.is_asked_by_other", question=question, id=id_):
            raise InvalidArgument("another question has this text already. Change that one, or remove it.")
        given = {"question": question, "answers": list(answers), "kind": kind}
        if not await tx.run("bench.change_question", id=id_, **given):
            raise _unknown(id_)
        await tx.run("bench.remove_passages", owner=id_)
        await bench_passages.add(tx, id_, passages)
        return await _one(tx, id_)


async def remove(workspace: Workspace, id_: UUID) -> None:
    """Remove a question. Runs that it was measured in are kept."""
    async with workspace.transaction() as tx:
        if not await tx.run("bench.remove_question", id=id_):
            raise _unknown(id_)
        await tx.run("bench.remove_passages", owner=id_)


async def page(tx: Transaction, limit: int, after: QuestionPlace | None = None) -> list[BenchQuestion]:
    """Questions with their passages, the latest first."""
    made, last = after or (None, None)
    rows = await tx.rows("bench.questions", limit=limit, made=made, after=last)
    passages = await bench_passages.of_owners(tx, [row[0] for row in rows])
    return [_question(row, passages[row[0]].values()) for row in rows]


async def _one(tx: Transaction, id_: UUID) -> BenchQuestion:
    [row] = await tx.rows("bench.question", id=id_)
    return _question(row, (await bench_passages.of_owners(tx, [id_]))[id_].values())


def _question(row: Row, passages: Iterable[BenchPassage]) -> BenchQuestion:
    id_, question, answers, kind, made, author = row
    return BenchQuestion(id_, question, tuple(passages), tuple(answers), kind, made, author)


async def _check(tx: Transaction, question: str, passages: Sequence[BenchPassage]) -> None:
    await share_view(tx)  # so that no document of these is removed before the end of the transaction
    if not question.strip():
        raise InvalidArgument("a question needs a text. Write one.")
    if not passages:
        raise InvalidArgument("a question needs the passages that its answer rests on. Give at least one.")
    if len(passages) > MOST_PASSAGES:
        raise InvalidArgument(f"a question has at most {MOST_PASSAGES} passages. Leave out the others.")
    for uri, is_there in await bench_passages.missing(tx, passages):
        if is_there:
            raise InvalidArgument(f"{uri!r} has changed, and the passage is no longer in it. Choose it again.")
        raise UnknownDocument(f"there is no document {uri!r}. Choose a passage of another one.")


def _unknown(id_: UUID) -> UnknownQuestion:
    return UnknownQuestion(f"there is no question {id_} in this workspace. Somebody may have removed it.")
