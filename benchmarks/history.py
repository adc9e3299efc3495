"""What keeping history costs: writes with and without it, and building the index of a time.

    python benchmarks/history.py            # minutes; writes results/history.json
    python benchmarks/history.py --smoke    # a few passages; writes nothing

The passages are generated (see `generated.py`), one in each document, with two triples; vectors are bags of words in 32
dimensions, so extraction and embedding take next to no time and are not what is measured. Writes are made in two
workspaces in turn, of which one keeps history: adding documents, replacing them, removing them. A past index is built
from versions of which half are still in the index, and is compared with adding the same documents anew.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Awaitable, Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import generated
import parts
from parts import Figures

from trueweave import AsyncTrueweave, Document
from trueweave.extend import Database
from trueweave.ingest.extract import preannotated
from trueweave.testing import HashEmbedder

KEPT = Path(__file__).parent / ".history"
RESULTS = Path(__file__).parent / "results" / "history.json"
PRESENT, CHANGED, BUILT = 2_000, 1_000, 10_000
_ROUNDS = 3
_WAYS = ("without", "with")
_ACTS = ("add", "replace", "remove")


def documents(number: int, first: int = 0) -> Iterator[Document]:
    """Generated documents of one passage."""
    for n, line in enumerate(generated.lines(number, first)):
        row: dict[str, Any] = json.loads(line)
        row["entities"] = list(dict.fromkeys(end for s, _, o in row["triples"] for end in (s, o)))
        yield preannotated.document(row, f"generated/{first + n}")


def changed(given: Iterator[Document]) -> Iterator[Document]:
    """The same documents with other texts and the same names."""
    for one in given:
        [chunk] = one.chunks
        yield replace(one, chunks=(replace(chunk, text=f"{chunk.text} Once more."),))


class Bench:
    """The benchmark on one server."""

    def __init__(self, database: Database, sizes: tuple[int, int, int]) -> None:
        self._database = database
        self._present, self._changed, self._built = sizes

    async def writes(self) -> Figures:
        """Seconds of each kind of write in workspaces that keep history and that do not, in turn."""
        took: dict[str, dict[str, list[float]]] = {way: {act: [] for act in _ACTS} for way in _WAYS}
        size = 0
        for turn in range(_ROUNDS):
            for way in _WAYS if turn % 2 else _WAYS[::-1]:
                async with aclosing(await self._fresh()) as index:
                    await index.add_documents(documents(self._present))
                    if way == "with":
                        await index.history.keep()
                    new = list(documents(self._changed, self._present))
                    other = list(changed(documents(self._changed)))
                    gone = [one.uri for one in other]
                    for act, writing in zip(
                        _ACTS, (index.add_documents(new), index.add_documents(other), index.remove(gone)), strict=True
                    ):
                        took[way][act].append(await _seconds(writing))
                    size = max(size, (await index.history.status()).bytes)
                    await index.maintenance.drop()
        return {
            "documents": self._changed,
            "seconds": {way: {act: round(median(each[act]), 2) for act in _ACTS} for way, each in took.items()},
            "times": {
                act: round(median(a / b for a, b in zip(took["with"][act], took["without"][act], strict=True)), 2)
                for act in _ACTS
            },
            "bytes_kept": size,
        }

    async def past(self) -> Figures:
        """Seconds to build the index of a time, to add the same documents anew, and to ask for what is different."""
        async with aclosing(await self._fresh()) as index, aclosing(await self._fresh()) as anew:
            everything = list(documents(self._built))
            await index.add_documents(everything)
            await index.history.keep()
            then = datetime.now(UTC)
            await index.add_documents(changed(islice(documents(self._built), self._built // 2)))
            adding = await _seconds(anew.add_documents(everything))
            began = time.perf_counter()
            async with index.as_of(then) as past:
                building = time.perf_counter() - began
                is_same = await past.maintenance.digest() == await anew.maintenance.digest()
            assert is_same, "the past is not what it was"
            diff = await _seconds(index.history.diff(then))
            await index.maintenance.drop()
            await anew.maintenance.drop()
        return {
            "chunks": self._built,
            "build_seconds": round(building, 1),
            "build_chunks_a_second": round(self._built / building),
            "add_anew_seconds": round(adding, 1),
            "times_adding": round(building / adding, 2),
            "diff_seconds": round(diff, 1),
            "digest_is_that_of_a_new_index": is_same,
        }

    async def _fresh(self) -> AsyncTrueweave:
        return await AsyncTrueweave.enter(self._database, f"history-{uuid4()}", HashEmbedder(32))


async def _seconds(act: Awaitable[object]) -> float:
    began = time.perf_counter()
    await act
    return time.perf_counter() - began


async def run(url: str, _: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        bench = Bench(database, (1_000, 1_000, 1_000) if options.smoke else (PRESENT, CHANGED, BUILT))
        return await parts.carried_out([("writes", bench.writes), ("past", bench.past)], options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
