"""Who leaves a stream early, in whatever way, is let go at once, and leaves nothing behind."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Trueweave
from trueweave.errors import DatabaseError
from trueweave.extend import Database
from trueweave.testing import Fault, ModelServer, Trouble

QUESTION = "Whom did Ada Lovelace work with?"
DOCUMENT = Document("a", (Chunk("Ada Lovelace worked with Charles Babbage.", mentions=(Mention("Ada Lovelace"),)),))
SLOW = Trouble(share={Fault.SLOW: 1.0}, pause=0.002)  # a piece takes a fifth of a second
PATIENCE = 15.0  # seconds; who is not let go waits for ten minutes


def settings(url: str, server: ModelServer) -> Settings:
    return Settings(database_url=url, workspace="test", model="vllm/any", model_url=server.url, method="keyword")


@asynccontextmanager
async def opened(url: str, text: str, trouble: Trouble | None = None) -> AsyncIterator[AsyncTrueweave]:
    """A workspace with one document, and a model that writes this text."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer(lambda _: text, trouble=trouble))
        trueweave = await stack.enter_async_context(AsyncTrueweave.open(url, settings=settings(url, server)))
        await trueweave.add_documents([DOCUMENT])
        yield trueweave


def in_thread(act: Callable[[], object]) -> None:
    """Run this, and fail if it does not come to its end."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001 (it is raised below)
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"it has not ended after {PATIENCE} s"
    if errors:
        raise errors[0]


def left_behind(url: str) -> tuple[int, int]:
    """Questions that are taken and not answered, and tokens that are held back."""
    with psycopg.connect(url) as connection:
        query = """SELECT (SELECT count(*) FROM trueweave.reply WHERE payload IS NULL),
                          (SELECT sum(held_tokens) FROM trueweave.budget)"""
        [(taken, held)] = connection.execute(query).fetchall()
    return int(taken), int(held)


async def leave(trueweave: AsyncTrueweave, how: str) -> None:
    async for _ in (pieces := trueweave.stream(QUESTION)):
        if how == "break":
            break
        if how == "break and keep":
            kept.append(pieces)
            break
        if how == "raise":
            raise RuntimeError("the listener failed")
        if how == "close":
            await pieces.aclose()
            break
        if how == "cancel":
            task = asyncio.current_task()
            assert task
            asyncio.get_running_loop().call_soon(task.cancel)
            await asyncio.sleep(5)


kept: list[Any] = []


@pytest.mark.parametrize("how", ["break", "break and keep", "raise", "close", "cancel"])
def test_a_program_that_leaves_a_stream_early_ends_at_once_and_leaves_nothing_behind(url: str, how: str) -> None:
    async def main() -> None:
        async with opened(url, "[1] " + "word " * 100, SLOW) as trueweave:
            leaving = asyncio.create_task(leave(trueweave, how))
            [outcome] = await asyncio.gather(leaving, return_exceptions=True)
            expected = {"raise": RuntimeError, "cancel": asyncio.CancelledError}.get(how, type(None))
            assert isinstance(outcome, expected), outcome
        kept.clear()

    in_thread(lambda: asyncio.run(main()))
    gc.collect()
    assert left_behind(url) == (0, 0)


async def test_a_stream_that_is_let_go_of_hangs_up_though_the_workspace_stays_open(url: str) -> None:
    async with opened(url, "[1] " + "word " * 100, SLOW) as trueweave:
        await leave(trueweave, "break")
        async with asyncio.timeout(PATIENCE):
            while await asyncio.to_thread(left_behind, url) != (0, 0):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        [spent] = await trueweave.budget.receipt()
        assert spent.lost == 1


@pytest.mark.parametrize("how", ["break", "keep"])
def test_a_synchronous_program_that_leaves_a_stream_early_ends_at_once(url: str, how: str) -> None:
    """The model server runs in a thread of its own."""
    started, over = threading.Event(), threading.Event()
    servers: list[ModelServer] = []

    async def serve() -> None:
        async with ModelServer(lambda _: "[1] " + "word " * 100, trouble=SLOW) as server:
            servers.append(server)
            started.set()
            await asyncio.to_thread(over.wait)

    serving = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    serving.start()
    started.wait(PATIENCE)

    def main() -> None:
        with Trueweave(url, settings=settings(url, servers[0])) as trueweave:
            trueweave.add_documents([DOCUMENT])
            for _ in (pieces := trueweave.stream(QUESTION)):
                if how == "keep":
                    kept.append(pieces)
                break
            del pieces
        kept.clear()

    try:
        in_thread(main)
    finally:
        over.set()
        serving.join(PATIENCE)
    assert left_behind(url) == (0, 0)


async def test_a_closed_pool_is_an_error_at_once_and_not_waited_for(url: str) -> None:
    async with Database(url) as database:
        workspace = await database.find_workspace("test", make=True)
        assert workspace

    async def look() -> None:
        async with workspace.transaction():
            pass

    began = time.monotonic()
    with pytest.raises(DatabaseError, match="was closed before this was done"):
        await database.retry_while_down(look)
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    ("sent", "heard"),
    [("lone \ud800 half", "lone \ufffd half"), ("a \x00 NUL", "a  NUL")],
)
async def test_a_reply_with_characters_that_nothing_can_hold_is_cleaned(url: str, sent: str, heard: str) -> None:
    async with opened(url, f'{sent} [1 "worked with"]') as trueweave:
        async with asyncio.timeout(PATIENCE):
            *pieces, _ = [piece async for piece in trueweave.stream(QUESTION)]
            answer = await trueweave.ask(QUESTION)
        assert "".join(map(str, pieces)) == answer.text
        assert answer.text.startswith(heard)
        answer.text.encode()
