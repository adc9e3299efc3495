"""A worker as a process of its own: `python -m tests.chaos.worker DATABASE_URL MODEL_URL`. SIGTERM ends it in order."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import AsyncExitStack

from psycopg import InterfaceError, OperationalError

from tests.chaos.corpus import MAX_CHUNK, MIN_CHUNK
from trueweave import AsyncTrueweave
from trueweave.config import Settings
from trueweave.errors import DatabaseError, ModelUnavailable

WORKSPACE = "chaos"


def settings(model_url: str) -> Settings:
    """A chat model and an embedding model at the same server, and small chunks."""
    return Settings(
        model="vllm/scripted",
        model_url=model_url,
        embedding_model="vllm/scripted",
        embedding_url=model_url,
        min_chunk_size=MIN_CHUNK,
        max_chunk_size=MAX_CHUNK,
    )


async def main(database_url: str, model_url: str) -> None:
    """Work until told to stop. Who starts a worker while the database or the model is away starts it again."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    while not stop.is_set():
        async with AsyncExitStack() as opening:
            try:
                trueweave = await opening.enter_async_context(
                    AsyncTrueweave.open(database_url, WORKSPACE, settings=settings(model_url))
                )
            except (DatabaseError, OperationalError, InterfaceError) as error:
                print(f"cannot start yet: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(0.2)
                continue
            try:
                await trueweave.work(stop=stop)
            except ModelUnavailable as error:  # when it was asked for the dimension of its vectors
                print(f"cannot start yet: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
