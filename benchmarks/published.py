"""Recall of the methods that follow publications, beside `fuse`.

On the training questions of MuSiQue, with the entities and relations that GPT-3.5 found in the passages, and of
HotpotQA, with those found by capitals; no test question is asked. Questions are put without a language model, so that
keywords are names and phrases. Vectors are those of all-MiniLM-L6-v2 with 8-bit weights. Communities are not built, as
reports change no ranks.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import parts
import quality_sets as sets
from beside_fuse import beside_fuse
from parts import Figures
from quality_sets import Extraction, Shelf

from trueweave.extend import Database, Method
from trueweave.methods import Fuse, GraphRag, HippoRag, LinearRag, Local, PathRag

KEPT = Path(__file__).parent / ".published"
RESULTS = Path(__file__).parent / "results" / "published.json"
METHODS: dict[str, Method] = {
    "fuse": Fuse(),
    "local": Local(),
    "hipporag": HippoRag(),
    "linearrag": LinearRag(),
    "pathrag": PathRag(),
    "graphrag": GraphRag(),
}
SETS: dict[str, Extraction] = {"musique_train100": "given", "hotpotqa_train100": "capitals"}


async def measured(shelf: Shelf, name: str, *, smoke: bool) -> Figures:
    """The figures of one set: recall at 5 in per cent, and how far each is ahead of `fuse` on the same questions."""
    dataset = sets.cut(sets.found(name), 5, 20) if smoke else sets.found(name)
    async with shelf.loaded(dataset, SETS[name]) as trueweave:
        figures = await beside_fuse(trueweave, dataset, METHODS)
    return {"questions": len(dataset.questions), "extraction": SETS[name]} | figures


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database, sets.opened(database, folder) as shelf:
        names = list(SETS)[1:] if options.smoke else list(SETS)
        each = [(name, partial(measured, shelf, name, smoke=options.smoke)) for name in names]
        return await parts.carried_out(each, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
