"""`find_communities` in a process that does nothing else: what it takes, stage by stage, and what came of it.

Reads a JSON object with the database and the workspace, and prints one. Given a file for them, it leaves the edges
there that communities were found by.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np
from peak import peak_mb

from trueweave import AsyncTrueweave
from trueweave.extend import Database
from trueweave.graph.louvain import Graph
from trueweave.store.postgres.view import communities

STAGES = {
    "trueweave.store.postgres.view.communities.network": "reading",
    "trueweave.graph.communities.communities": "detecting",
    "trueweave.store.postgres.view.communities.write": "writing",
}


async def run(url: str, workspace: str, edges: str = "") -> dict[str, Any]:
    async with Database(url) as database:
        trueweave = await AsyncTrueweave.enter(database, workspace, make=False)
        with _timed(STAGES) as stages:
            began = time.perf_counter()
            changed = await trueweave.communities.find()
            seconds = time.perf_counter() - began
        peak = peak_mb()
        if edges:
            graph = await graph_of(trueweave)
            np.savez(edges, a=graph.a, b=graph.b, weight=graph.weight)
        costs = {"seconds": seconds, **{stage: stages[stage] for stage in STAGES.values()}, "peak_mb": peak}
        return {**costs, "changed": asdict(changed), "digest": await digest(trueweave)}


async def graph_of(trueweave: AsyncTrueweave) -> Graph:
    """The graph that communities are found in: what is related, in either direction, is one edge."""
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        return (await communities.network(tx)).graph


async def digest(trueweave: AsyncTrueweave) -> str:
    """A hash of all communities and of who is in them, whatever their labels."""
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        lines = await tx.rows("digest.communities")
    return hashlib.sha256(repr(lines).encode()).hexdigest()


async def forget(trueweave: AsyncTrueweave) -> None:
    """Leave no communities, as if they had never been looked for."""
    async with trueweave.workspace.transaction() as tx:
        await tx.execute("DELETE FROM member; DELETE FROM community; DELETE FROM report; DELETE FROM retired_community")
        await tx.execute("DELETE FROM hierarchy")


@contextmanager
def _timed(functions: Mapping[str, str]) -> Iterator[dict[str, float]]:
    """Seconds by stage, waiting included, in these functions, for as long as the context lasts."""
    seconds: defaultdict[str, float] = defaultdict(float)
    with ExitStack() as patches:
        for where, stage in functions.items():
            module, _, name = where.rpartition(".")
            timed = _with_clock(resolve_name(f"{module}:{name}"), stage, seconds)
            patches.enter_context(patch(where, timed))
        yield seconds


def _with_clock(function: Callable[..., Any], stage: str, seconds: dict[str, float]) -> Callable[..., Any]:
    @contextmanager
    def clock() -> Iterator[None]:
        began = time.perf_counter()
        yield
        seconds[stage] += time.perf_counter() - began

    @functools.wraps(function)
    async def later(*args: Any, **given: Any) -> Any:
        with clock():
            return await function(*args, **given)

    @functools.wraps(function)
    def now(*args: Any, **given: Any) -> Any:
        with clock():
            return function(*args, **given)

    return later if inspect.iscoroutinefunction(function) else now


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(**json.load(sys.stdin)))))
