"""A benchmark in parts, whose server and data may stay from one run to the next."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import corpora
from served import served

from trueweave.store.postgres.schema.migrate import migrate

Figures = dict[str, Any]
Part = Callable[[], Awaitable[Figures]]
Run = Callable[[str, Path, argparse.Namespace], Awaitable[Figures]]


async def carried_out(parts: Sequence[tuple[str, Part]], only: str) -> Figures:
    """The figures of these parts, or of some of them alone; how long each took is told."""
    figures: Figures = {}
    for name, part in parts:
        if not only or name in only.split(","):
            print(name, file=sys.stderr)
            began = time.perf_counter()
            figures[name] = await part()
            print(f"  took {time.perf_counter() - began:.0f} s: {json.dumps(figures[name])}", file=sys.stderr)
    return figures


def main(parser: argparse.ArgumentParser, run: Run, kept: Path, results: Path, *, needs_data: bool = True) -> None:
    """Run a benchmark as its command line says: on what is kept, or in a smoke run on what passes. `parser` has options
    of its own; the figures of parts that are left out stay in the results. Without `needs_data`, it runs where there is
    no benchmark data."""
    parser.add_argument("--smoke", action="store_true", help="a small part of it, to see that it runs; writes nothing")
    parser.add_argument("--only", default="", help="parts to run, by their names; the others' results stay")
    options = parser.parse_args()
    if needs_data and not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing) if options.smoke else kept
        with served(folder) as server:
            figures = asyncio.run(_migrated(server.url, folder, options, run))
    if not options.smoke:
        before = json.loads(results.read_text()) if options.only and results.exists() else {}
        results.write_text(json.dumps(before | figures, indent=1) + "\n")
    print(json.dumps(figures))


async def _migrated(url: str, folder: Path, options: argparse.Namespace, run: Run) -> Figures:
    await migrate(url)
    return await run(url, folder, options)
