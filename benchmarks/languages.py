"""Which names the default extractor finds in German, Chinese and Arabic, where capitals say too much or nothing.

    python benchmarks/languages.py            # writes benchmarks/results/languages.json
    python benchmarks/languages.py --smoke    # the same; writes nothing

Two texts of twenty sentences, which were written for this and translated (`data/languages`): in double brackets are the
names of people, places, organisations and works. English is what the other languages are held against. A name counts
once for each text, and is found if the extractor gives it whole. The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trueweave import Chunk, Source
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.text.names import normalise

HERE = Path(__file__).parent
TEXTS = HERE / "data" / "languages"
RESULTS = HERE / "results" / "languages.json"
LANGUAGES = ("en", "de", "zh", "ar")
_NAME = re.compile(r"\[\[(.+?)\]\]")


class Labelled(NamedTuple):
    """A text, and the names in it."""

    text: str
    names: frozenset[str]


def texts(language: str) -> Iterator[Labelled]:
    """The texts in a language."""
    for marked in (TEXTS / f"{language}.txt").read_text("utf-8").split("\n\n"):
        yield Labelled(_NAME.sub(r"\1", marked), frozenset(map(normalise, _NAME.findall(marked))))


async def measured(language: str) -> dict[str, Any]:
    """How many names the texts in a language have, how many are found, how many of those are right, and what else the
    extractor says."""
    names = found = right = sentences = 0
    notes: set[str] = set()
    for number, one in enumerate(texts(language)):
        [extraction] = await CapitalsExtractor().extract(Source(f"{language}/{number}", one.text), [Chunk(one.text)])
        given = {normalise(mention.name) for mention in extraction.mentions}
        print(f"{language}: missing {sorted(one.names - given)}, wrong {sorted(given - one.names)}", file=sys.stderr)
        names, found, right = names + len(one.names), found + len(given), right + len(given & one.names)
        sentences += len(one.text.strip().splitlines())
        notes.update(extraction.notes)
    return {
        "sentences": sentences,
        "names": names,
        "found": found,
        "right": right,
        "precision": round(100 * right / found) if found else None,
        "recall": round(100 * right / names),
        "notes": sorted(notes),
    }


async def run() -> dict[str, Any]:
    return {language: await measured(language) for language in LANGUAGES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="write nothing")
    options = parser.parse_args()
    figures = asyncio.run(run())
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
