"""What exact and fuzzy resolution make of names: of 200 pairs written down, and of what methods find; and which short
names become full names within their document.

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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import corpora
import parts
import quality_sets as sets
from quality_sets import Shelf

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Source
from trueweave.bench.experiment import deep_enough
from trueweave.bench.measures import recall
from trueweave.bench.types import Dataset
from trueweave.core.bootstrap import interval
from trueweave.extend import ChunkSizes, Database
from trueweave.ingest.extract.capitals import VERSION, CapitalsExtractor
from trueweave.ingest.short_names import with_full_names
from trueweave.ingest.stages import assemble
from trueweave.retrieval.methods import registry
from trueweave.text.chunking import StructureChunker
from trueweave.types import Resolution

Figures = dict[str, Any]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "resolution.json"
KEPT = HERE / ".resolution"
PAIRS = HERE / "data" / "name_pairs.tsv"
MODES: tuple[Resolution, ...] = ("exact", "fuzzy")
SHORT = HERE / "data" / "short_names.tsv"
SETS = ("hotpotqa_train100", "musique_train100")
METHODS = ("naive", "fuse", "local", "walk", "weave")
NAMED = ("walk", "weave", "local", "auto")
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


class ShortName(NamedTuple):
    """A short and a longer name of a document, and whether they stand for the same there. `drawn` is the sample:
    `first`, `second` and `third` from the pairs that the rules merged at that time, each after the rules were corrected
    by the one before; `left` from those that they did not merge."""

    same: bool
    drawn: str
    corpus: str
    passage: str
    short: str
    full: str


def short_names() -> list[ShortName]:
    """The pairs that are written down. Each was drawn at random and judged by reading it in its passage."""
    with SHORT.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [ShortName(same == "same", *rest) for same, *rest in rows]


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

    # Of pairs of a short and a longer name in one document, how many are one name with the rules of today, and how many
    # of these stand for the same; by sample and in all.
    async def short_names(self) -> Figures:
        written = short_names()
        full = await _full_names({(pair.corpus, pair.passage) for pair in written})
        merged = [pair for pair in written if _is_one(pair, full[pair.corpus, pair.passage])]
        return {
            drawn: _judged_pairs(written, merged, drawn) for drawn in ("", *dict.fromkeys(p.drawn for p in written))
        }

    # What methods find with full names in the place of short ones and with names as they are written: recall at 5 in
    # per cent with 95 % intervals, and the paired difference.
    async def full_names(self) -> Figures:
        figures: Figures = {}
        async with sets.opened(self._database, self._folder) as shelf:
            for name in SETS[:1] if self._smoke else SETS:
                dataset = sets.cut(sets.found(name), 5, 50) if self._smoke else sets.found(name)
                figures[name] = await _compared(shelf, replace(dataset, name=f"{dataset.name} {VERSION}"))
        return figures

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


async def _full_names(passages: set[tuple[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """By passage, the full names by the short ones that they replace."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for corpus in sorted({corpus for corpus, _ in passages}):
        for row in corpora.rows(f"{corpus}/corpus"):
            if (corpus, row["id"]) in passages:
                title = row.get("title", "")
                source = Source(row["id"], f"{title}\n{row['text']}" if title else row["text"], title)
                before = await _extracted(source)
                found[corpus, row["id"]] = {
                    one.name: other.name
                    for chunk, after in zip(before.chunks, with_full_names(before).chunks, strict=True)
                    for one, other in zip(chunk.mentions, after.mentions, strict=True)
                }
    return found


async def _extracted(source: Source) -> Document:
    chunks = await StructureChunker().chunk(source, ChunkSizes())
    return assemble(source, chunks, await CapitalsExtractor().extract(source, chunks))


def _is_one(pair: ShortName, full: Mapping[str, str]) -> bool:
    return full.get(pair.short, pair.short) == full.get(pair.full, pair.full)


def _judged_pairs(written: Sequence[ShortName], merged: Sequence[ShortName], drawn: str = "") -> Figures:
    """The figures of one sample, or of all of them."""
    judged = {pair for pair in written if drawn in ("", pair.drawn)}
    ones = judged.intersection(merged)
    return {
        "pairs": len(judged),
        "the_same": sum(pair.same for pair in judged),
        "merged": len(ones),
        "merged_and_the_same": sum(pair.same for pair in ones),
        "wrong": sorted({f"{pair.short} | {pair.full}" for pair in ones if not pair.same}),
    }


async def _compared(shelf: Shelf, dataset: Dataset) -> Figures:
    shown: Figures = {"entities": []}
    recalls: dict[str, list[list[float]]] = {name: [] for name in NAMED}
    for extraction in ("names", "full names"):
        async with shelf.loaded(dataset, extraction) as trueweave:
            shown["entities"].append((await trueweave.status()).entities)
            for name in NAMED:
                method = deep_enough(registry.make(name), DEPTH)
                ranked = [(one, await trueweave.retrieve(one.text, method)) for one in dataset.questions]
                recalls[name].append(
                    [recall(list(dict.fromkeys(p.uri for p in got.passages)), one.supporting, K) for one, got in ranked]
                )
    for name, (before, after) in recalls.items():
        gain = [new - old for old, new in zip(before, after, strict=True)]
        shown[name] = {"as_written": _per_cent(before), "full": _per_cent(after), "difference": _per_cent(gain)}
    print(f"  {dataset.name}: {json.dumps(shown)}", file=sys.stderr)
    return shown


def _per_cent(values: Sequence[float]) -> list[float]:
    within = interval(values)
    return [round(100 * part, 1) for part in (within.mean, within.low, within.high)]


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
        steps = (
            ("pairs", bench.pairs),
            ("short_names", bench.short_names),
            ("full_names", bench.full_names),
            ("recall", bench.recall),
        )
        return await parts.carried_out(steps, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
