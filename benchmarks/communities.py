"""Communities: what finding them costs beside the library alone, what a change costs, and what comes of real graphs.

    python benchmarks/communities.py            # full size: half an hour; writes benchmarks/results/communities.json
    python benchmarks/communities.py --smoke    # a few documents; writes nothing
    python benchmarks/communities.py --only scale,change

The last line printed is one JSON object with all figures. Their meaning is told beside each part below. What has been
loaded for `scale` stays in benchmarks/.communities, so that a second run takes a part of the time.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import community_tree
import corpora
import grouping
import parted
import parts
from counting import Counting

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.extend import Database
from trueweave.graph.communities import LeidenSettings
from trueweave.index.communities.reports import Reporting, write_reports
from trueweave.index.communities.writer import ReportWriter
from trueweave.store.postgres.view import communities as store
from trueweave.types import Hierarchy

Figures = dict[str, Any]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "communities.json"
KEPT = HERE / ".communities"
COSTS = ("seconds", *grouping.STAGES.values(), "peak_mb")
HOW = LeidenSettings()  # communities of more than ten are divided, from seed 0


class Bench:
    """One database for all parts, a folder, and the size at which they run."""

    def __init__(self, database: Database, folder: Path, *, smoke: bool) -> None:
        self._database = database
        self._folder = folder
        self._smoke = smoke

    # Finding the communities of 195,636 documents from the database to the database, beside the library's hierarchical
    # Leiden alone on the same edges in memory: seconds and the peak memory of the process, medians of three rounds.
    # Then once more after a document has come that speaks of two things (all labels are then carried over), after it
    # has gone, when the communities must be the same as at first, and when nothing has changed.
    async def scale(self) -> Figures:
        read, number = (corpora.musique_train100, 100) if self._smoke else (corpora.scale, 195_636)
        trueweave = await self._loaded("scale", read, number)
        one_more = _between(read())
        await trueweave.remove([one_more.uri])  # left by a run that was stopped
        edges, labels = self._folder / "edges.npz", self._folder / "labels.npy"
        runs: dict[str, list[Figures]] = {"first": [], "after_one_document": [], "unchanged": [], "library": []}
        digests = set()
        for _ in range(1 if self._smoke else 3):
            await grouping.forget(trueweave)
            runs["first"].append(self._found(trueweave, "scale", edges))
            theirs = {"edges": str(edges), "labels": str(labels), "most": HOW.most, "seed": HOW.seed}
            runs["library"].append(_alone("leiden_alone.py", **theirs))
            digests.add(runs["first"][-1]["digest"])
            await trueweave.add_documents([one_more])
            runs["after_one_document"].append(self._found(trueweave, "scale"))
            await trueweave.remove([one_more.uri])
            digests.add(self._found(trueweave, "scale")["digest"])
            runs["unchanged"].append(self._found(trueweave, "scale"))
            print(f"  {json.dumps({name: each[-1] for name, each in runs.items()})}", file=sys.stderr)
        status, graph = await trueweave.status(), await grouping.graph_of(trueweave)
        figures = {name: _medians(each) for name, each in runs.items()}
        return {
            "documents": status.documents,
            "entities": status.entities,
            "relations": status.relations,
            "edges": int(graph.weight.size),
            **figures,
            "ratio": _ratio(runs, "seconds", "seconds"),
            "ratio_detecting": _ratio(runs, "detecting", "seconds"),
            "ratio_peak": _ratio(runs, "peak_mb", "peak_mb"),
            **_hierarchy(await trueweave.communities.hierarchy()),
            "parts": parted.within_parts(graph, HOW, labels),
            "same_every_time": len(digests) == 1,
        }

    def _found(self, trueweave: AsyncTrueweave, workspace: str, edges: Path | None = None) -> Figures:
        return _alone("grouping.py", url=trueweave.database.url, workspace=workspace, edges=str(edges or ""))

    # How many calls of a model the reports take, and how many when 1 % of the documents, drawn at random, are gone:
    # beside writing all reports anew. The index after the change must be the one that is built from what is left.
    async def change(self) -> Figures:
        figures: Figures = {}
        sets: dict[str, Callable[[], list[Document]]] = {"graphragbench_medical": corpora.medical}
        if not self._smoke:
            sets["musique_train100"] = corpora.musique_train100
        for name, read in sets.items():
            documents = read()[: 50 if self._smoke else None]
            async with self._passing(f"change {name}", documents) as trueweave:
                await trueweave.communities.find()
                at_first = await _written(trueweave, Counting())
                draws = []
                for seed in range(1 if self._smoke else 5):
                    draws.append(await _changed(trueweave, documents, seed, at_first))
                    print(f"  {name}: {json.dumps(draws[-1])}", file=sys.stderr)
            figures[name] = {
                "documents": len(documents),
                "calls": at_first.calls,
                "tokens_in": at_first.tokens_in,
                **{
                    what: _spread([draw[what] for draw in draws])
                    for what in ("touched", "calls_after", "share", "share_of_tokens")
                },
                "draws": draws,
            }
        return figures

    # What communities real graphs have: levels and sizes, how well they part the graph beside the library's Leiden
    # without levels, and whether they are the same when they are found again, and when the documents came in another
    # order. With the largest three and what is in them, as reports without a model name them, and where to draw all.
    async def trees(self) -> Figures:
        figures: Figures = {}
        sets = {"christmas_carol": corpora.christmas_carol, "graphragbench_medical": corpora.medical}
        for name, read in sets.items():
            documents = read()[: 10 if self._smoke else None]
            async with self._passing(f"trees {name}", documents) as trueweave:
                await trueweave.communities.find()
                digests = {await trueweave.maintenance.digest()}
                await grouping.forget(trueweave)
                await trueweave.communities.find()
                digests.add(await trueweave.maintenance.digest())
                shuffled = random.Random(0).sample(documents, len(documents))
                async with self._passing(f"trees {name} again", shuffled) as beside:
                    await beside.communities.find()
                    digests.add(await beside.maintenance.digest())
                await trueweave.communities.write_reports()
                status = await trueweave.status()
                figures[name] = {
                    "documents": status.documents,
                    "relations": status.relations,
                    **_hierarchy(await trueweave.communities.hierarchy()),
                    **await community_tree.figures(trueweave, HOW),
                    "same_every_time": len(digests) == 1,
                }
        return figures

    async def _loaded(self, name: str, read: Callable[[], Iterable[Document]], number: int) -> AsyncTrueweave:
        """A workspace with so many of the documents, which stays."""
        trueweave = await AsyncTrueweave.enter(self._database, name)
        if (await trueweave.status()).documents < number:
            began = time.perf_counter()
            await trueweave.add_documents(islice(read(), number))
            print(f"  {name}: {number:,} documents in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        return trueweave

    @asynccontextmanager
    async def _passing(self, name: str, documents: Sequence[Document]) -> AsyncIterator[AsyncTrueweave]:
        """A workspace with these documents, gone at the end."""
        await (await AsyncTrueweave.enter(self._database, name)).maintenance.drop()  # left by a run that was stopped
        trueweave = await AsyncTrueweave.enter(self._database, name)
        try:
            await trueweave.add_documents(documents)
            yield trueweave
        finally:
            await trueweave.aclose()
            await trueweave.maintenance.drop()


def _alone(script: str, **given: Any) -> Figures:
    """What a script says when it has a process of its own."""
    command = [sys.executable, str(HERE / script)]
    ran = subprocess.run(command, input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True)
    said: Figures = json.loads(ran.stdout)
    return said


def _between(documents: Iterable[Document]) -> Document:
    """A document that says something of what another is about, and relates it to what a third one is about."""
    first, *_, last = islice(documents, 100)
    said, related = Mention(first.title, description="It is spoken of."), Link(first.title, last.title, "is like")
    return Document("one more", (Chunk("One more.", mentions=(said,), links=(related,)),))


def _medians(runs: Sequence[Figures]) -> Figures:
    """What runs took, in the middle; and what came of the last of them."""
    last = runs[-1]
    costs = {name: round(median(run[name] for run in runs), 2) for name in COSTS if name in last}
    return costs | {name: last[name] for name in ("changed", "levels", "modularity") if name in last}


def _ratio(runs: Mapping[str, Sequence[Figures]], ours: str, theirs: str) -> float:
    """How much more of it our runs take than the library's, round by round."""
    pairs = zip(runs["first"], runs["library"], strict=True)
    return round(float(median(mine[ours] / other[theirs] for mine, other in pairs)), 2)


def _hierarchy(found: Hierarchy | None) -> Figures:
    assert found, "communities were found"
    return {
        "entities": found.entities,
        "alone": found.alone,
        "levels": [
            {name: getattr(level, name) for name in ("communities", "members", "largest", "small")}
            for level in found.levels
        ],
        "modularity": round(found.modularity, 4),
    }


async def _written(trueweave: AsyncTrueweave, model: Counting) -> Counting:
    """The model, when it has written all reports that are wanting."""
    reporting = Reporting(ReportWriter(model))
    async for _ in write_reports(trueweave.workspace, reporting):
        pass
    return model


async def _changed(trueweave: AsyncTrueweave, documents: Sequence[Document], seed: int, at_first: Counting) -> Figures:
    """What comes of removing 1 % of the documents, which are put back in the end."""
    gone = random.Random(seed).sample(documents, max(1, round(len(documents) / 100)))
    await trueweave.remove([document.uri for document in gone])
    touched = await _touched(trueweave)
    regrouped = await trueweave.communities.find()
    after = await _written(trueweave, Counting(at_first.known))
    async with trueweave.rebuilt() as beside:
        anew = await _written(beside, Counting())
        same = await trueweave.maintenance.digest() == await beside.maintenance.digest()
    await trueweave.add_documents(gone)
    await trueweave.communities.find()
    await _written(trueweave, Counting(at_first.known))
    return {
        "documents_removed": len(gone),
        "touched": touched,
        **asdict(regrouped),
        "calls_after": after.calls,
        "calls_anew": anew.calls,
        "share": round(100 * after.calls / anew.calls, 1),
        "share_of_tokens": round(100 * after.tokens_in / anew.tokens_in, 1),
        "as_rebuilt": same,
    }


async def _touched(trueweave: AsyncTrueweave) -> int:
    """How many communities that are written about say something else by now, were their members to stay: what a
    change costs at least."""
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        graph = await store.network(tx)
        before = await store.known(tx, graph.leaves)
    now = store.contents(graph, before.tree)
    told = zip(before.sizes.tolist(), before.hashes, now.hashes, strict=True)
    return sum(size >= store.LEAST_MEMBERS and had != has for size, had, has in told)


def _spread(values: Sequence[float]) -> list[float]:
    """Mean, least and most."""
    return [round(mean(values), 1), min(values), max(values)]


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        bench = Bench(database, folder, smoke=options.smoke)
        named = (("scale", bench.scale), ("change", bench.change), ("trees", bench.trees))
        figures = await parts.carried_out(named, options.only)
    return {"library": f"graspologic-native {version('graspologic-native')}", **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
