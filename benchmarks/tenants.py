"""Many workspaces over two PostgreSQL servers, one of them moved from one to the other while all are read.

    python benchmarks/tenants.py            # 2,000 workspaces; writes results/tenants.json
    python benchmarks/tenants.py --smoke    # 20 of them; writes nothing

Each workspace has a few documents, and one has many, with vectors in a table of its own. Two processes ask questions,
every other one of the workspace that is moved; a third adds a document to it again and again. Latencies are those of
the questions to that workspace, before, during and after the move.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from served import served

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings, TrueweaveError
from trueweave.engine.database import opened_database
from trueweave.errors import WorkspaceMoving
from trueweave.extend import ModelFactory
from trueweave.store.postgres.cluster.joining import list_servers, migrate_servers
from trueweave.store.postgres.cluster.moving import OwnerAddress, move_workspace
from trueweave.testing import HashEmbedder

RESULTS = Path(__file__).parent / "results" / "tenants.json"
WORKSPACES, FEW = 2_000, 20
DOCUMENTS, SOME = 12_000, 100  # of the workspace that is moved
EACH = 3  # documents of all others
AT_ONCE = 8
READERS = 2  # processes
LARGE = "large"


def _document(n: int, tenant: str) -> Document:
    who, whom = f"Person {n % 97} of {tenant}", f"Person {n * 7 % 89} of {tenant}"
    said = Chunk(
        f"In letter {n} {who} wrote to {whom} about engine {n % 31} and its tables.",
        mentions=(Mention(who, "person", f"wrote letter {n}"), Mention(whom, "person"), Mention(f"Engine {n % 31}")),
        links=(Link(who, whom, f"wrote letter {n} to", ("letters",)),),
    )
    return Document(f"letter-{n}", (said,), metadata={"n": n})


@asynccontextmanager
async def _opened(addresses: dict[str, OwnerAddress]) -> AsyncIterator[Any]:
    settings = Settings(database_url=addresses["home"].url, server_urls={"east": addresses["east"].url})
    async with opened_database(settings) as home, ModelFactory(home) as models:

        async def enter(name: str) -> AsyncTrueweave:
            return await AsyncTrueweave.enter(home, name, HashEmbedder(), settings=settings, models=models)

        yield enter


async def _fill(enter: Any, workspaces: int, documents: int) -> float:
    """Make the workspaces, a few at once; seconds for all but the large one."""
    async with aclosing(await enter(LARGE)) as large:
        for at in range(0, documents, 1000):
            await large.add_documents([_document(n, LARGE) for n in range(at, min(at + 1000, documents))])
    waiting = iter(range(workspaces - 1))

    async def some() -> None:
        for n in waiting:
            async with aclosing(await enter(f"tenant {n}")) as one:
                await one.add_documents([_document(m, f"tenant {n}") for m in range(EACH)])

    began = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return time.perf_counter() - began


async def _read(addresses: dict[str, OwnerAddress], workspaces: int) -> None:
    """Ask questions until a line comes on stdin; then print when each was asked, how long it took, and what failed."""
    chance = random.Random(time.time_ns())
    asked: list[tuple[float, float]] = []
    failures: list[str] = []
    done = asyncio.Event()
    others = 0

    async def ask(enter: Any, large: AsyncTrueweave) -> None:
        nonlocal others
        while not done.is_set():
            began, now = time.perf_counter(), time.time()
            try:
                found = await large.retrieve(f"Who wrote letter {chance.randrange(300)}?", method="naive")
                if not found.passages:
                    failures.append("nothing was found")
                asked.append((now, 1000 * (time.perf_counter() - began)))
                name = f"tenant {chance.randrange(workspaces - 1)}"
                async with aclosing(await enter(name)) as one:
                    if not (await one.retrieve("Who wrote a letter?", method="naive")).passages:
                        failures.append(f"nothing was found in {name}")
                others += 1
            except TrueweaveError as error:
                failures.append(f"{type(error).__name__}: {error}")

    async with _opened(addresses) as enter, aclosing(await enter(LARGE)) as large:
        asking = [asyncio.create_task(ask(enter, large)) for _ in range(2)]
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        done.set()
        await asyncio.gather(*asking)
    print(json.dumps({"asked": asked, "others": others, "failures": failures}))


@contextmanager
def _readers(addresses: dict[str, OwnerAddress], workspaces: int) -> Iterator[list[subprocess.Popen[str]]]:
    given = [addresses["home"].url, addresses["east"].url, str(workspaces)]
    command = [sys.executable, __file__, "--read", *given]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(READERS)
    ]
    try:
        for one in started:
            assert one.stdout
            assert one.stdout.readline() == "ready\n"
        yield started
    finally:
        for one in started:
            one.kill()


def _phase(times: list[float]) -> dict[str, float]:
    if not times:
        return {"questions": 0}
    ordered = sorted(times)
    at = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    shares = {name: round(ordered[int(share * (len(ordered) - 1))], 1) for name, share in at.items()}
    return {"questions": len(ordered), **shares, "most_ms": round(ordered[-1], 1)}


async def run(addresses: dict[str, OwnerAddress], workspaces: int, documents: int, around: float) -> dict[str, Any]:
    """Make so many workspaces, and move the large one, with so many seconds of questions before and after it."""
    await migrate_servers(addresses)
    async with AsyncExitStack() as stack:
        enter = await stack.enter_async_context(_opened(addresses))
        making = await _fill(enter, workspaces, documents)
        large = await stack.enter_async_context(aclosing(await enter(LARGE)))
        digest = await large.maintenance.digest()
        done = asyncio.Event()
        written: Counter[str] = Counter()

        async def write() -> None:
            while not done.is_set():
                try:
                    await large.add_documents([_document(documents + written["added"], LARGE)])
                    written["added"] += 1
                except WorkspaceMoving:
                    written["refused"] += 1
                await asyncio.sleep(0.1)

        with _readers(addresses, workspaces) as readers:
            await asyncio.sleep(around)
            writing = asyncio.create_task(write())
            await asyncio.sleep(around)
            began = time.time()
            moved = await move_workspace(LARGE, "east", addresses)
            ended = time.time()
            await asyncio.sleep(around + 6)  # by then every process has learnt of it
            done.set()
            await writing
            told = [json.loads(one.communicate("\n")[0]) for one in readers]
        added = [f"letter-{documents + n}" for n in range(written["added"])]
        status = await large.status()
        assert status.documents == documents + len(added), status
        await large.remove(added)
        after = await large.maintenance.digest()
        asked = [(at, ms) for one in told for at, ms in one["asked"]]
        servers = await list_servers(addresses)
    return {
        "workspaces": workspaces,
        "servers": {one.name: {"workspaces": one.workspaces, "mb": round(one.bytes / 1e6, 1)} for one in servers},
        "make_ms": round(1000 * making / (workspaces - 1), 2),
        "moved": {
            "documents": documents,
            "rows": moved.rows,
            "mb": round(moved.bytes / 1e6, 2),
            "seconds": round(moved.seconds, 2),
            "read_only_seconds": round(moved.read_only_seconds, 2),
            "switch_ms": round(1000 * moved.switch_seconds, 1),
        },
        "before": _phase([ms for at, ms in asked if at < began]),
        "during": _phase([ms for at, ms in asked if began <= at <= ended]),
        "after": _phase([ms for at, ms in asked if at > ended]),
        "questions_to_others": sum(one["others"] for one in told),
        "failed": [failure for one in told for failure in one["failures"]],
        "writes": dict(written),
        "same_digest": digest == after,
    }


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few of them, to see that it runs; writes nothing")
    parser.add_argument("--read", nargs=3, metavar=("HOME", "EAST", "WORKSPACES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        home, east, workspaces = options.read
        asyncio.run(_read({"home": OwnerAddress(home), "east": OwnerAddress(east)}, int(workspaces)))
        return
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        home, east = (stack.enter_context(served(folder)).url for folder in folders)
        addresses = {"home": OwnerAddress(home), "east": OwnerAddress(east)}
        size = (FEW, SOME, 1.0) if options.smoke else (WORKSPACES, DOCUMENTS, 10.0)
        figures = asyncio.run(run(addresses, *size))
    assert not figures["failed"], figures
    assert figures["same_digest"], figures
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
