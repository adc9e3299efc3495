"""How well citations are checked: false sentences caught and honest ones doubted, by kind.

    python benchmarks/citations.py            # both halves of benchmarks/claims; writes results/citations.json
    python benchmarks/citations.py --list     # also every sentence of the development half that was judged wrongly

The claims were written for this. Half of the passages are held back: the rules were developed without looking at how
they do there. A false sentence is caught if it is not vouched for; an honest one is doubted if it is not.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.answering.cite import check
from trueweave.answering.marks import Marks
from trueweave.evidence import Passage, Sentence

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "citations.json"
HALVES = ("development", "held_back")


@dataclass(frozen=True)
class Claim:
    """A sentence that an answer might have, and what it is."""

    passage: Passage
    question: str
    text: str
    honest: bool
    kind: str


def claims(half: str) -> Iterator[Claim]:
    for file in sorted((HERE / "claims" / half).glob("*.toml")):
        for row in tomllib.loads(file.read_text("utf-8"))["passage"]:
            passage = Passage(UUID(int=0), row["id"], row["title"], row["text"], 0, 1.0)
            for key, honest in (("false", False), ("honest", True)):
                for kind, text in row[key]:
                    yield Claim(passage, row["question"], text, honest, kind)


def judged(claim: Claim) -> Sentence:
    """The sentence of a claim that the label is about: the first."""
    marks = Marks()
    marks.feed(claim.text)
    marks.close()
    return check(marks.text, marks.marks, [claim.passage], claim.question).sentences[0]


def measured(half: str, *, listed: bool) -> dict[str, Any]:
    rows: dict[bool, dict[str, list[bool]]] = {True: defaultdict(list), False: defaultdict(list)}
    took = 0.0
    for claim in claims(half):
        began = time.process_time()
        sentence = judged(claim)
        took += time.process_time() - began
        rows[claim.honest][claim.kind].append(sentence.supported)
        if listed and sentence.supported != claim.honest:
            print(f"{'doubted' if claim.honest else 'passed'} {claim.passage.uri} {claim.kind}: {claim.text}")
            print(f"    {sentence}")
    number = sum(len(kind) for side in rows.values() for kind in side.values())
    return {
        "false caught": _share(rows[False], vouched=False),
        "honest doubted": _share(rows[True], vouched=False),
        "milliseconds of CPU a sentence": round(1000 * took / number, 2),
    }


def _share(kinds: dict[str, list[bool]], *, vouched: bool) -> dict[str, Any]:
    every = [one for kind in kinds.values() for one in kind]
    return {
        "all": [sum(one is vouched for one in every), len(every)],
        **{kind: [sum(one is vouched for one in found), len(found)] for kind, found in sorted(kinds.items())},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="show what was judged wrongly in the development half")
    parser.add_argument("--smoke", action="store_true", help="see that it runs; writes nothing")
    options = parser.parse_args()
    figures = {half: measured(half, listed=options.list and half == "development") for half in HALVES}
    for half, found in figures.items():
        for side in ("false caught", "honest doubted"):
            print(f"{half}, {side}", file=sys.stderr)
            for kind, (count, of) in found[side].items():
                print(f"  {kind:16} {count:4} of {of:4}  {100 * count / of:5.1f} %", file=sys.stderr)
    if not options.smoke:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(kept | {"rules": figures}, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
