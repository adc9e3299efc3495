"""Projectors as processes of their own. They are forked off one that has all modules: to import these takes longer than
all that a projector does here."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from trueweave import AsyncTrueweave, Settings
from trueweave.core.projections import StoreName
from trueweave.store.chroma.target import ChromaTarget
from trueweave.store.neo4j.target import Neo4jTarget
from trueweave.store.postgres.projection import projections
from trueweave.store.projection import copying, projector
from trueweave.testing import HashEmbedder

WORKSPACE = "chaos"

_forking = get_context("forkserver")
_forking.set_forkserver_preload([__name__, "neo4j", "chromadb", "chromadb.config"])


def settings(store: StoreName, url: str) -> Settings:
    """Those of a process that knows of one store."""
    return Settings.model_validate({f"{store}_url": url})


def start(store: StoreName, store_url: str, database_url: str, log: Path) -> ForkServerProcess:
    """A projector that writes to a log what it does. SIGTERM ends it in order."""
    process = _forking.Process(target=_run, args=(store, store_url, database_url, log))
    process.start()
    return process


def _run(store: StoreName, store_url: str, database_url: str, log: Path) -> None:
    with log.open("w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    projections.SECONDS = 1.0  # the next one takes over soon
    projector._AWAY = 0.2
    copying._AT_ONCE, copying._CHANGES = 25, 5  # many small batches, so that kills come between them
    for target in (Neo4jTarget, ChromaTarget):
        for name in ("write", "advance"):
            setattr(target, name, _late(getattr(target, name)))
    asyncio.run(_project(store, store_url, database_url))


def _late(act: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The same after a moment, in which a kill leaves what was done before it and not this."""

    async def acting(*args: Any) -> None:
        await asyncio.sleep(0.05)
        await act(*args)

    return acting


async def _project(store: StoreName, store_url: str, database_url: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    of_store = settings(store, store_url)
    async with AsyncTrueweave.open(database_url, WORKSPACE, HashEmbedder(), settings=of_store, make=True) as trueweave:
        await trueweave.projections.start(store, stop, lambda event: print(event, flush=True))
