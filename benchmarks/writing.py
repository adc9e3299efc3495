"""Processor time of writes to one workspace: adding documents, replacing them, removing them.

    python benchmarks/writing.py            # two minutes
    python benchmarks/writing.py --smoke    # a hundred documents, once
    python benchmarks/beside.py --same-script COMMIT writing.py

Figures for each document are milliseconds of processor time, of this process and of PostgreSQL together, and bytes that
PostgreSQL writes ahead: the least of some turns, each with a new database, because other processes on the machine make
the same work take longer and never shorter. The passages are generated (see `generated.py`), one in each document, with
two triples; vectors are bags of words in 32 dimensions, so extraction and embedding take next to no time. This script
prints its figures and writes no file: `beside.py` writes the comparison with another commit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import corpora
import psycopg
from history import changed, documents
from served import served
from watch import Server

from trueweave import AsyncTrueweave
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.testing import HashEmbedder

PRESENT, WRITTEN, TURNS = 1_000, 400, 8
_QUIET = {"autovacuum": "off", "fsync": "off", "full_page_writes": "off"}
Act = Callable[[AsyncTrueweave], Awaitable[object]]


def acts(number: int) -> Iterator[tuple[str, Act]]:
    """What is measured, in order."""
    new = list(documents(number, PRESENT))
    other = list(changed(documents(number)))
    yield "add", lambda index: index.add_documents(new)
    yield "replace", lambda index: index.add_documents(other)
    yield "remove", lambda index: index.remove([one.uri for one in other])


def measure(server: Server, url: str, number: int) -> dict[str, dict[str, float]]:
    """Milliseconds of processor time and bytes written ahead for each document, by what was done with it."""
    asyncio.run(migrate(url))
    present = list(documents(number))
    asyncio.run(_do(url, lambda index: index.add_documents(present)))
    took = {}
    for name, act in acts(number):
        before, began, at = server.work(url), time.process_time(), _written_ahead(url)
        asyncio.run(_do(url, act))
        own, written = time.process_time() - began, _written_ahead(url) - at
        cpu = own + server.work(url).since(before).cpu
        took[name] = {"cpu_ms": round(cpu / number * 1000, 2), "wal_bytes": round(written / number)}
    return took


def _written_ahead(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchone()
    assert row
    return int(row[0])


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
    took = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), _QUIET) as started:
        server = Server(started.url, started.directory)
        for turn in range(turns):
            with server.database(f"writing_{turn}") as url:
                took.append(measure(server, url, number))
    print(
        json.dumps({act: {figure: min(one[act][figure] for one in took) for figure in took[0][act]} for act in took[0]})
    )


if __name__ == "__main__":
    main()
