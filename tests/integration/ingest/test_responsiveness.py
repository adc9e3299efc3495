"""A large document keeps the event loop from nothing else: it is worked, planned, linked and estimated aside.

Measured is the processor time of each callback in the loop's own thread, which a busy machine does not add to.
"""

import asyncio
import gc
import threading
import time
from asyncio.events import Handle
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.integration.index.test_settle import document
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.offloop import off_loop
from trueweave.testing import HashEmbedder

LONGEST = 0.05  # seconds
TRIES = 3  # of a measurement, as a collection of garbage can spoil one

NAMES = 3000


def text(names: int) -> str:
    letters = [chr(97 + n) for n in range(26)]
    return " ".join(f"Zed{letters[n % 26]}{letters[n // 26 % 26]}{letters[n // 676]} met" for n in range(names))


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """How long each callback of this thread's loop took.

    The garbage collector does not walk what the tests before this one left in memory: a full collection of it takes
    half a second, and would be counted for whichever callback it falls into.
    """
    took: list[float] = []
    run, here = Handle._run, threading.get_ident()
    gc.collect()
    gc.freeze()

    def timed(handle: Handle) -> None:
        began = time.thread_time()
        run(handle)
        if threading.get_ident() == here:
            took.append(time.thread_time() - began)

    with monkeypatch.context() as patch:
        patch.setattr(Handle, "_run", timed)
        try:
            yield took
        finally:
            gc.unfreeze()


async def test_no_callback_takes_long_while_a_large_document_is_estimated_added_and_asked_about(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings = Settings.load(model="openai/none")
    trueweave = await AsyncTrueweave.enter(
        database, "test", HashEmbedder(), settings=Settings.load(extractor="capitals")
    )
    asked = AsyncTrueweave(trueweave.workspace, settings=settings)
    large = Source("large", text(NAMES))

    async def all_of(source: Source) -> dict[str, float]:
        longest: dict[str, float] = {}
        acts: dict[str, Callable[[], Awaitable[object]]] = {
            "estimate": lambda: asked.estimate(source),
            "add": lambda: trueweave.add(source),
            "retrieve": lambda: trueweave.retrieve("Who met Zedaaa?"),
        }
        for name, act in acts.items():
            with watched(monkeypatch) as took:
                await act()
                await asyncio.sleep(0)
            longest[name] = max(took)
        return longest

    await all_of(Source("small", "Ada Lovelace met Charles Babbage."))  # modules are loaded when they are first needed
    longest = await all_of(large)
    for _ in range(TRIES - 1):
        if max(longest.values()) < LONGEST:
            break
        await trueweave.remove([large.uri])
        longest = await all_of(large)
    await asked.aclose()
    await trueweave.aclose()
    assert max(longest.values()) < LONGEST, longest
    assert (await trueweave.status()).documents == 2


async def test_the_index_is_the_same_worked_aside_or_not(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [document(f"{n}", f"Name {n % 7}", f"Name {n % 5}") for n in range(150)]
    await trueweave.add_documents(documents)
    await trueweave.remove([f"{n}" for n in range(0, 150, 2)])
    assert (await trueweave.maintenance.verify()).exact
    for module in (
        "trueweave.index.settle",
        "trueweave.store.postgres.record.record",
        "trueweave.store.postgres.record.resolution",
    ):
        monkeypatch.setattr(f"{module}.MUCH", 0)
    assert (await trueweave.maintenance.verify()).exact


async def test_who_is_cancelled_leaves_nothing_behind_on_the_connection(
    database: Database, workspace: Workspace
) -> None:
    begun = threading.Event()

    async def slow(tx: Transaction) -> None:
        await tx.execute("SELECT 1")
        begun.set()
        await tx.execute("SELECT pg_sleep(30)")
        await tx.execute("SELECT 2")

    async def aside() -> None:
        async with workspace.transaction() as tx:
            await off_loop(tx, slow)

    working = asyncio.create_task(aside())
    await asyncio.to_thread(begun.wait)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(working, 10)
    async with workspace.transaction() as tx:
        assert await tx.value("settle.any_due") is False
