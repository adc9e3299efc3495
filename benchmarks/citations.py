"""How well citations are checked: false sentences caught and honest ones doubted, by kind.

    python benchmarks/citations.py                  # all sets of benchmarks/claims; writes results/citations.json
    python benchmarks/citations.py --develop        # only the sets for development; lists errors and writes nothing
    python benchmarks/citations.py --entailment FOLDER --name NAME      # by a model for natural language inference
    python benchmarks/citations.py --judge MODEL --url URL --name NAME --most 100      # by a language model

The claims were written for this benchmark. The rules are developed on `development`, on `held_back_1`, which was held
back from the first version of the rules, and on `held_back_2`, which was held back from the second. `held_back_3` was
committed before the third version, and is only counted: if you need to read how its sentences are judged, write a new
set first. A false sentence is caught if it is
not confirmed; an honest one is doubted if it is not. A model comes after the rules, as in verifiers = ["rules", "llm"],
and all claims about one passage are judged together.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave import Passage, Sentence
from trueweave.answering.check import conclude
from trueweave.answering.citation_parser import parse
from trueweave.answering.cite import read
from trueweave.answering.verifiers import EntailmentVerifier, JudgeVerifier, RulesVerifier
from trueweave.extend import Verifier
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "citations.json"
HELD_BACK = "held_back_3"
DEVELOPMENT = ("development", "held_back_1", "held_back_2")
SETS = (*DEVELOPMENT, HELD_BACK)
SOME = 1000  # with fewer sentences, only the held-back set is measured


@dataclass(frozen=True)
class Claim:
    """A sentence that an answer might have, and what it is."""

    passage: Passage
    question: str
    text: str
    honest: bool
    kind: str


def claims(name: str) -> Iterator[Claim]:
    """The claims of a set. A row is a kind, a sentence and, if it is not that of the passage, a question."""
    for file in sorted((HERE / "claims" / name).glob("*.toml")):
        for row in tomllib.loads(file.read_text("utf-8"))["passage"]:
            passage = Passage(UUID(int=0), row["id"], row["title"], row["text"], 0, 1.0)
            for key, honest in (("false", False), ("honest", True)):
                for kind, text, *question in row[key]:
                    yield Claim(passage, next(iter(question), row["question"]), text, honest, kind)


async def judged(batch: Sequence[Claim], verifiers: Sequence[Verifier]) -> list[Sentence]:
    """The sentences of claims that the labels are about: the first of each."""
    cited = []
    for claim in batch:
        marks = parse(claim.text)
        cited.append(read(marks.text, marks.marks, [claim.passage], claim.question)[:1])
    found, checks = await conclude(cited, verifiers)
    for problem in filter(None, (check.problem for check in checks)):
        print(f"  {batch[0].passage.uri}: {problem}", file=sys.stderr)
    return [sentences[0] for sentences in found]


async def measured(name: str, verifiers: Sequence[Verifier], most: int, *, listed: bool) -> dict[str, Any]:
    rows: dict[bool, dict[str, list[bool]]] = {True: defaultdict(list), False: defaultdict(list)}
    statuses: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    took, number = [0.0, 0.0], 0
    for _, about in groupby(claims(name), key=lambda claim: claim.passage.uri):
        if number >= most:
            break
        batch = list(about)
        began = time.process_time(), time.perf_counter()
        sentences = await judged(batch, verifiers)
        took = [took[0] + time.process_time() - began[0], took[1] + time.perf_counter() - began[1]]
        number += len(batch)
        for claim, sentence in zip(batch, sentences, strict=True):
            rows[claim.honest][claim.kind].append(sentence.confirmed)
            statuses[claim.honest][sentence.status] += 1
            if listed and sentence.confirmed != claim.honest:
                print(f"{'doubted' if claim.honest else 'passed'} {claim.passage.uri} {claim.kind}: {claim.text}")
                print(f"    {sentence.status}: {sentence.reason}")
    return {
        "false caught": _share(rows[False]),
        "honest doubted": _share(rows[True]),
        "statuses of false ones": dict(statuses[False]),
        "statuses of honest ones": dict(statuses[True]),
        "milliseconds of CPU a sentence": round(1000 * took[0] / number, 2),
        "milliseconds a sentence": round(1000 * took[1] / number, 2),
    }


def _share(kinds: dict[str, list[bool]]) -> dict[str, Any]:
    """How many of each kind were not confirmed, and of how many."""
    every = [one for kind in kinds.values() for one in kind]
    return {
        "all": [every.count(False), len(every)],
        **{kind: [found.count(False), len(found)] for kind, found in sorted(kinds.items())},
    }


async def run(options: argparse.Namespace) -> dict[str, Any]:
    async with AsyncExitStack() as closing:
        verifiers: list[Verifier] = [RulesVerifier()]
        if options.entailment:
            verifiers.append(EntailmentVerifier(await OnnxEntailment.open(options.entailment)))
        if options.judge:
            chat = open_chat(endpoint(options.judge, url=options.url), deadline=600)
            closing.push_async_callback(chat.close)
            verifiers.append(JudgeVerifier(chat))
        sets = DEVELOPMENT if options.develop else SETS if options.most > SOME else (HELD_BACK,)
        return {name: await measured(name, verifiers, options.most, listed=options.develop) for name in sets}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--develop", action="store_true", help="list errors in the development sets; writes nothing")
    parser.add_argument("--smoke", action="store_true", help="see that it runs; writes nothing")
    parser.add_argument("--entailment", type=Path, help="the folder of a model for natural language inference")
    parser.add_argument("--judge", help="a language model, as provider/model")
    parser.add_argument("--url", help="the address of its server")
    parser.add_argument("--name", default="rules", help="under which the figures are kept")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="stop after about so many sentences")
    options = parser.parse_args()
    figures = asyncio.run(run(options))
    for name, found in figures.items():
        for side in ("false caught", "honest doubted"):
            print(f"{name}, {side}", file=sys.stderr)
            for kind, (count, of) in found[side].items():
                print(f"  {kind:16} {count:4} of {of:4}  {100 * count / of:5.1f} %", file=sys.stderr)
    if not (options.smoke or options.develop):
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(kept | {options.name: figures}, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
