"""Processor time of writes to one workspace: adding documents, replacing them, removing them.

    python benchmarks/writing.py            # two minutes
    python benchmarks/writing.py --smoke    # a hundred documents, once
    python benchmarks/beside.py --same-script COMMIT writing.py

Figures are milliseconds of processor time for each document, of this process and of PostgreSQL together: medians of
three turns, each with a new database. The passages are generated (see `generated.py`), one in each document, with two
triples; vectors are bags of words in 32 dimensions, so extraction and embedding take next to no time. This script
prints its figures and writes no file: `beside.py` writes the comparison with another commit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median

import corpora
from history import changed, documents
from served import served
from watch import Server

from trueweave import AsyncTrueweave
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.testing import HashEmbedder

PRESENT, WRITTEN, TURNS = 1_000, 1_000, 3
Act = Callable[[AsyncTrueweave], Awaitable[object]]


def acts(number: int) -> Iterator[tuple[str, Act]]:
    """What is measured, in order."""
    new = list(documents(number, PRESENT))
    other = list(changed(documents(number)))
    yield "add", lambda index: index.add_documents(new)
    yield "replace", lambda index: index.add_documents(other)
    yield "remove", lambda index: index.remove([one.uri for one in other])


def measure(server: Server, url: str, number: int) -> dict[str, float]:
    """Milliseconds of processor time a document, by what was done with it."""
    asyncio.run(migrate(url))
    present = list(documents(PRESENT))
    asyncio.run(_do(url, lambda index: index.add_documents(present)))
    took = {}
    for name, act in acts(number):
        before, began = server.work(url), time.process_time()
        asyncio.run(_do(url, act))
        own = time.process_time() - began
        took[name] = (own + server.work(url).since(before).cpu) / number * 1000
    return took


async def _do(url: str, act: Act) -> None:
    async with AsyncTrueweave.open(url, "writing", HashEmbedder(32), make=True) as index:
        await act(index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a small part of it, to see that it runs")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    number, turns = (100, 1) if options.smoke else (WRITTEN, TURNS)
    took: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), {"autovacuum": "off"}) as started:
        server = Server(started.url, started.directory)
        for turn in range(turns):
            with server.database(f"writing_{turn}") as url:
                for name, milliseconds in measure(server, url, number).items():
                    took[name].append(milliseconds)
    print(json.dumps({"cpu_ms_a_document": {name: round(median(each), 2) for name, each in took.items()}}))


if __name__ == "__main__":
    main()
