"""What exact and fuzzy resolution make of names: of 200 pairs written down, and of what methods find.

    python benchmarks/resolution.py            # full size: half an hour; writes benchmarks/results/resolution.json
    python benchmarks/resolution.py --smoke    # all pairs, a few questions on a small set; writes nothing
    python benchmarks/resolution.py --only pairs

The last line printed is one JSON object with all figures. Their meaning is told beside each part below. What has been
embedded stays in benchmarks/.resolution, so that a second run takes a part of the time.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import parts
import quality_sets as sets
from quality_sets import Shelf

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings
from trueweave.bench.experiment import deep_enough
from trueweave.bench.measures import recall
from trueweave.bench.types import Dataset
from trueweave.core.bootstrap import interval
from trueweave.extend import Database
from trueweave.ingest.extract.capitals import VERSION
from trueweave.retrieval.methods import registry
from trueweave.types import Resolution

Figures = dict[str, Any]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "resolution.json"
KEPT = HERE / ".resolution"
PAIRS = HERE / "data" / "name_pairs.tsv"
MODES: tuple[Resolution, ...] = ("exact", "fuzzy")
SETS = ("hotpotqa_train100", "musique_train100")
METHODS = ("naive", "fuse", "local", "walk", "weave")
K, DEPTH = 5, 10


class Pair(NamedTuple):
    """Two names, whether they are of the same thing, and in what they differ."""

    same: bool
    kind: str
    one: str
    other: str


def pairs() -> list[Pair]:
    """The pairs that are written down."""
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Pair(same == "same", kind, one, other) for same, kind, one, other in rows]


class Bench:
    """A database, and the size at which the parts run."""

    def __init__(self, database: Database, folder: Path, *, smoke: bool) -> None:
        self._database = database
        self._folder = folder
        self._smoke = smoke

    # How many of the 100 pairs that are the same thing, and of the 100 that are not, are one entity, and how many of
    # the others are suggested. Each pair has a type of its own, so that no two pairs meet.
    async def pairs(self) -> Figures:
        return {mode: await self._judged(mode) for mode in MODES}

    async def _judged(self, mode: Resolution) -> Figures:
        written = pairs()
        settings = Settings(resolution=mode)
        trueweave = await AsyncTrueweave.enter(self._database, f"pairs {mode}", settings=settings)
        try:
            await trueweave.add_documents(
                Document(f"{n} {name}", (Chunk(name, mentions=(Mention(name, f"pair {n}"),)),))
                for n, pair in enumerate(written)
                for name in (pair.one, pair.other)
            )
            entities = Counter(entity.type for entity in await trueweave.graph.entities(limit=1000))
            suggested = {found.one.name.type for found in await trueweave.rules.suggestions(limit=1000)}
        finally:
            await trueweave.maintenance.drop()
        merged = [entities[f"pair {n}"] == 1 for n in range(len(written))]
        offered = [f"pair {n}" in suggested for n in range(len(written))]
        return {
            "true_pairs_merged": _count(written, merged, same=True),
            "false_pairs_merged": _count(written, merged, same=False),
            "true_pairs_suggested": _count(written, offered, same=True),
            "false_pairs_suggested": _count(written, offered, same=False),
            "merged_by_kind": _by_kind(written, merged),
            "false_pairs": [f"{p.one} | {p.other}" for p, m in zip(written, merged, strict=True) if m and not p.same],
        }

    # Which share of the supporting passages each method has among its first five, in per cent with 95 % intervals, by
    # resolution and by the version of the extractor. What former versions came to stays in the results.
    async def recall(self) -> Figures:
        figures: Figures = {}
        async with sets.opened(self._database, self._folder) as shelf:
            for name in SETS[:1] if self._smoke else SETS:
                dataset = sets.cut(sets.found(name), 5, 50) if self._smoke else sets.found(name)
                here = replace(dataset, name=f"{name} {VERSION}")  # apart from what other versions found
                figures[name] = {f"{mode}, capitals {VERSION}": await _asked(shelf, here, mode) for mode in MODES}
        return figures if self._smoke else _joined(_measured_before(), figures)


async def _asked(shelf: Shelf, dataset: Dataset, mode: Resolution) -> Figures:
    async with shelf.loaded(dataset, "capitals", resolution=mode) as trueweave:
        status = await trueweave.status()
        shown: Figures = {"entities": status.entities, "relations": status.relations}
        for name in METHODS:
            method = deep_enough(registry.make(name), DEPTH)
            found = {one.id: await trueweave.retrieve(one.text, method) for one in dataset.questions}
            ranked = {id_: list(dict.fromkeys(p.uri for p in each.passages)) for id_, each in found.items()}
            within = interval([recall(ranked[one.id], one.supporting, K) for one in dataset.questions])
            shown[name] = [round(100 * part, 1) for part in (within.mean, within.low, within.high)]
        print(f"  {dataset.name} {mode}: {json.dumps(shown)}", file=sys.stderr)
    return shown


def _measured_before() -> Figures:
    found: Figures = json.loads(RESULTS.read_text()).get("recall", {}) if RESULTS.exists() else {}
    return found


def _joined(before: Figures, now: Figures) -> Figures:
    return {name: before.get(name, {}) | now.get(name, {}) for name in {**before, **now}}


def _count(written: list[Pair], chosen: list[bool], *, same: bool) -> int:
    return sum(one for pair, one in zip(written, chosen, strict=True) if pair.same == same)


def _by_kind(written: list[Pair], chosen: list[bool]) -> dict[str, str]:
    kinds = Counter(pair.kind for pair in written)
    hits = Counter(pair.kind for pair, one in zip(written, chosen, strict=True) if one)
    return {kind: f"{hits[kind]} of {number}" for kind, number in kinds.items()}


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        bench = Bench(database, folder, smoke=options.smoke)
        return await parts.carried_out((("pairs", bench.pairs), ("recall", bench.recall)), options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
