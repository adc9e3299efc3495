"""Recall of `subgraph` with a fixed threshold, by entities alone, and by its default, beside `fuse`.

On the training questions of MuSiQue and HotpotQA, on which its default was chosen; no test question is asked. Entities
are found by capitals, and vectors are those of all-MiniLM-L6-v2 with 8-bit weights.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import parts
import quality_sets as sets
from beside_fuse import beside_fuse
from parts import Figures
from quality_sets import Shelf

from trueweave.extend import Database, Method
from trueweave.methods import Fuse, Subgraph

KEPT = Path(__file__).parent / ".subgraph"
RESULTS = Path(__file__).parent / "results" / "subgraph.json"
METHODS: dict[str, Method] = {
    "fuse": Fuse(),
    "threshold 0.7, entities alone": Subgraph(similarity_threshold=0.7, text_weight=0),
    "entities that stand out, alone": Subgraph(text_weight=0),
    "default": Subgraph(),
    "default, threshold 0.7": Subgraph(similarity_threshold=0.7),
}


async def measured(shelf: Shelf, name: str, *, smoke: bool) -> Figures:
    """The figures of one set: recall at 5 in per cent, and how far each is ahead of `fuse` on the same questions."""
    dataset = sets.cut(sets.found(name), 5, 20) if smoke else sets.found(name)
    # Relations change what is told beside the passages, and not which passages are found: only entities that are near
    # the question count for these.
    async with shelf.loaded(dataset, "names") as trueweave:
        figures = await beside_fuse(trueweave, dataset, METHODS)
    return {"questions": len(dataset.questions)} | figures


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database, sets.opened(database, folder) as shelf:
        names = sets.TUNED_ON[1:] if options.smoke else sets.TUNED_ON
        each = [(name, partial(measured, shelf, name, smoke=options.smoke)) for name in names]
        return await parts.carried_out(each, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
