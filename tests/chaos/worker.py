"""A worker as a process of its own: `python -m tests.chaos.worker DATABASE_URL MODEL_URL`. SIGTERM ends it in order,
and SIGUSR1 has it say what its threads and tasks are at."""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

from psycopg import InterfaceError, OperationalError

from tests.chaos.corpus import MAX_CHUNK, MIN_CHUNK
from trueweave import AsyncTrueweave, Settings
from trueweave.errors import DatabaseError, ModelUnavailable

WORKSPACE = "chaos"


def settings(model_url: str) -> Settings:
    """A chat model and an embedding model at the same server, and small chunks."""
    return Settings(
        model="vllm/scripted",
        model_url=model_url,
        embedding_model="vllm/scripted",
        embedding_url=model_url,
        graph_vectors=True,
        min_chunk_size=MIN_CHUNK,
        max_chunk_size=MAX_CHUNK,
    )


async def main(database_url: str, model_url: str) -> None:
    """Work until told to stop. Who starts a worker while the database or the model is away starts it again."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, _print_tasks)
    faulthandler.register(signal.SIGUSR1, chain=True)  # the threads are told of even if the event loop is blocked
    while not stop.is_set():
        async with AsyncExitStack() as opening:
            try:
                trueweave = await opening.enter_async_context(
                    AsyncTrueweave.open(database_url, WORKSPACE, settings=settings(model_url), make=True)
                )
            except (DatabaseError, OperationalError, InterfaceError) as error:
                print(f"cannot start yet: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(0.2)
                continue
            try:
                await trueweave.work(stop=stop)
            except ModelUnavailable as error:  # when it was asked for the dimension of its vectors
                print(f"cannot start yet: {error}", file=sys.stderr, flush=True)


def _print_tasks() -> None:
    for task in asyncio.all_tasks():
        print(f"task {task.get_name()}, asked {task.cancelling()} times to end", file=sys.stderr)
        for line in _awaited(task.get_coro()):
            print(f"  {line}", file=sys.stderr)
    sys.stderr.flush()


def _awaited(what: Any) -> Iterator[str]:
    """Where a coroutine is, where the one is that it waits for, and so on; at the end what the innermost waits for.

    `Task.print_stack` tells only the first of these.
    """
    while (frame := getattr(what, "cr_frame", None)) is not None:
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
        what = what.cr_await
    yield repr(what)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
