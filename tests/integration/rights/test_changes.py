"""Rights that change while a question runs. Whatever statement comes after the change shows nothing of what the caller
may no longer read."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.bulk.test_bulk import load, opened, written
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.errors import NotForRestricted
from trueweave.extend import Database
from trueweave.index.settle import settle
from trueweave.ingest.own import Given
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.sight import Sight
from trueweave.testing import HashEmbedder

METHODS = ["naive", "keyword", "fuse", "walk", "weave"]
SECRET = "Zanzibar"
QUESTION = "Where did Ada meet Babbage?"
MOST = 30  # statements of a question


def said(uri: str, text: str, *names: str, readers: tuple[str, ...] = ()) -> Document:
    links = (Link(names[0], names[1], f"{names[0]} knows {names[1]}"),)
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names)), links=links),), readers=readers)


OPEN = [
    said("one", "Ada met Babbage in London", "Ada", "Babbage"),
    said("two", "Babbage met Byron in Paris", "Babbage", "Byron"),
]
HIDDEN = said("secret", "Ada met Babbage in Zanzibar", "Ada", SECRET, readers=("hr",))


async def entered(database: Database, name: str, *documents: Document) -> AsyncTrueweave:
    index = await AsyncTrueweave.enter(database, name, HashEmbedder(8))
    await index.add_documents([*OPEN, *documents])
    return index


def staged(
    patch: pytest.MonkeyPatch, before: int, change: Callable[[], Awaitable[object]]
) -> tuple[list[bool], list[Row]]:
    """Make a change before statement number `before` of callers. Returns whether it was made, and what all statements
    return that begin after it, both filled meanwhile."""
    read, made, shown, count = Database.read, list[bool](), list[Row](), [0]

    async def reading(database: Database, *args: Any, **how: Any) -> list[Row]:
        if how.get("sight") is None:
            return await read(database, *args, **how)
        count[0] += 1
        if count[0] == before + 1:
            await change()
            made.append(True)
        is_after = bool(made)
        rows = await read(database, *args, **how)
        shown.extend(rows if is_after else ())
        return rows

    patch.setattr(Database, "read", reading)
    return made, shown


def is_shown(shown: object) -> bool:
    return SECRET.lower() in repr(shown).lower()


async def at_each_statement(
    index: AsyncTrueweave, method: str, change: Callable[[], Awaitable[object]], back: Callable[[], Awaitable[object]]
) -> list[bool]:
    """Ask as the group `hr` again and again, with a change before the first statement, then before the second, and so
    on, undone after each question. Returns for each of these places whether the answer had the secret."""
    told: list[bool] = []
    for before in range(MOST):
        with pytest.MonkeyPatch.context() as patch:
            made, shown = staged(patch, before, change)
            found = await index.acting_as(["hr"]).retrieve(QUESTION, method)
        if not made:  # the question has no more statements
            assert told
            return told
        assert not is_shown(shown), (method, before)
        told.append(is_shown(found.passages))
        await back()
    raise AssertionError(f"{method} has more than {MOST} statements")


@pytest.mark.parametrize("method", METHODS)
async def test_readers_are_taken_away_during_a_question(database: Database, method: str) -> None:
    index = await entered(database, "test", HIDDEN)

    def give(*readers: str) -> Callable[[], Awaitable[object]]:
        return lambda: index.add_documents([replace(HIDDEN, readers=readers)])

    told = await at_each_statement(index, method, give("board"), give("hr"))
    assert not told[0]
    assert is_shown((await index.acting_as(["hr"]).retrieve(QUESTION, method)).passages)


@pytest.mark.parametrize("method", METHODS)
async def test_a_rule_is_set_during_a_question(database: Database, method: str) -> None:
    index = await entered(database, "test", replace(HIDDEN, readers=None), said("x", "x", "X", "Y", readers=("hr",)))
    rules = index.access
    told = await at_each_statement(index, method, lambda: rules.set("sec", ["board"]), lambda: rules.remove("sec"))
    assert not told[0]


@pytest.mark.parametrize("method", ["weave", "naive"])
async def test_a_document_is_removed_or_switched_off_during_a_question(database: Database, method: str) -> None:
    index = await entered(database, "test", HIDDEN)

    async def switch(*, off: bool) -> None:
        async with index.workspace.transaction() as tx:
            await tx.execute("UPDATE document SET off = %(off)s WHERE uri = 'secret'", {"off": off})
        await settle(index.workspace, HashEmbedder(8))

    told = await at_each_statement(
        index, method, lambda: index.remove(["secret"]), lambda: index.add_documents([HIDDEN])
    )
    assert not told[0]
    told = await at_each_statement(index, method, lambda: switch(off=True), lambda: switch(off=False))
    assert not told[0]


@pytest.mark.parametrize("method", [*METHODS, "mix"])
async def test_the_first_restricted_document_comes_during_a_question(database: Database, method: str) -> None:
    """Until then the caller saw all, with scores and all methods. `mix` has statements that run at the same time."""
    index = await entered(database, "test")
    adding: list[asyncio.Task[int]] = []

    async def add() -> None:
        adding.append(asyncio.create_task(index.add_documents([HIDDEN])))
        await asyncio.shield(adding[-1])  # even if the question is refused meanwhile

    for before in range(MOST):
        with pytest.MonkeyPatch.context() as patch:
            _, shown = staged(patch, before, add)
            try:
                found = await index.acting_as([]).retrieve(QUESTION, method)
            except NotForRestricted:
                assert method == "mix"
                assert adding
            else:
                assert not is_shown(found)
        assert not is_shown(shown), before
        if not adding:
            break
        assert await adding.pop() == 1
        assert await index.remove(["secret"]) == 1
    else:
        raise AssertionError("too many statements")


async def test_the_first_restricted_document_waits_for_a_caller_who_sees_all(url: str, database: Database) -> None:
    index = await entered(database, "test")
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1415005017 AND NOT granted"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as looking:
        async with index.workspace.seen(Sight(())).transaction() as tx:
            assert await tx.value("read.sees_all")
            adding = asyncio.create_task(index.add_documents([HIDDEN]))
            async with asyncio.timeout(30):
                while (await (await looking.execute(waiting)).fetchone()) != (1,):  # noqa: ASYNC110 (it is PostgreSQL)
                    await asyncio.sleep(0.01)
            assert not is_shown(await (await tx.execute("SELECT uri, metadata FROM document")).fetchall())
            assert not adding.done()
        assert await adding == 1
    async with index.workspace.seen(Sight(())).transaction() as tx:
        assert not await tx.value("read.sees_all")
        assert len(await (await tx.execute("SELECT FROM document")).fetchall()) == len(OPEN)


async def test_a_question_of_a_caller_does_not_go_on_with_an_index_that_was_replaced(
    database: Database, tmp_path: Path
) -> None:
    """Readers are changed in the new index alone."""
    embedder = HashEmbedder(8)
    async with opened(database, "test", tmp_path, embedder) as index:
        await index.add_documents([*OPEN, HIDDEN])
        row: dict[str, object] = {
            "id": "more",
            "text": "Byron went to Rome",
            "entities": ["Byron", "Rome"],
            "triples": [],
        }

        async def replaced() -> None:
            await load(index, tmp_path, str(written(tmp_path / "a.jsonl", [row])), given=Given(embedder))
            async with opened(database, "test", tmp_path, embedder) as new:
                await new.add_documents([replace(HIDDEN, readers=("board",))])

        acting = index.acting_as(["hr"])
        with pytest.MonkeyPatch.context() as patch:
            made, shown = staged(patch, 2, replaced)
            found = await acting.retrieve(QUESTION, "weave")
        assert made
        assert not is_shown(shown)
        assert not is_shown(found.passages)
        assert {one.uri for one in found.passages} >= {"one", "two"}
