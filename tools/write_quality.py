"""Writes docs/quality.md and its plots from the results of benchmarks/quality.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from written import table, write_or_check

from trueweave.bench import plots
from trueweave.core.bench import Interval

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "quality.json"
PAGE = ROOT / "docs" / "quality.md"
TESTED = {"musique": "MuSiQue (dev)", "twowiki": "2WikiMultihopQA", "hotpotqa": "HotpotQA"}
_STYLE = """<style>
svg { font: 13px system-ui, sans-serif; background: #fff }
.name { text-anchor: end; fill: #333 } .value { text-anchor: end; fill: #333 } .tick { text-anchor: middle; fill: #777 }
.grid { stroke: #e4e4e4 } .bar { fill: #b9c4d0 } .best { fill: #3b6ea5 } .span { stroke: #222; fill: none }
</style>"""

Figures = Mapping[str, Any]

_INTRO = """# What each method finds

Which share of the passages that support an answer is among the first 2, 5 and 10 that a method returns, in per cent, on
public questions that take several passages each. There is no language model anywhere: names are found by their
capitals, and all-MiniLM-L6-v2 (22 million parameters) embeds. Methods that need a model are not in the tables.
This page is written by `make quality` from [the results](../benchmarks/results/quality.json) of
[`benchmarks/quality.py`](../benchmarks/quality.py), which tells how each figure is made.
"""

_TUNED = """
`weave` was tuned on 200 other questions, musique_train100 and hotpotqa_train100, by cross-validation; the three sets
here were not tuned on. Intervals are 95 %, from 2,000 resamples of the questions; differences are paired, question by
question. The two marked *style* are re-implementations of published methods
([how they depart](../benchmarks/rebuilt.py)), tuned on the same questions.
"""


def page(figures: Figures) -> str:
    """The whole page."""
    parts = [_INTRO, _TUNED, f"{figures['note']}\n" if "note" in figures else "", *_sets(figures["sets"])]
    parts += [*_reference(figures["reference"]), *_kinds(figures["reference"])] if "reference" in figures else []
    parts += _lightrag(figures["lightrag"]) if figures.get("lightrag") else []
    parts += _extractions(figures["sets"])
    parts += _untitled(figures["untitled"]) if "untitled" in figures else []
    parts += _prose(figures["prose"]) if "prose" in figures else []
    parts += _cost(figures["cost"]) if "cost" in figures else []
    return "\n".join(parts)


def drawn(figures: Figures) -> dict[str, str]:
    """The plots, by the names of their files."""
    made = {}
    for name, title in TESTED.items():
        rows = [(method, _interval(one["recall@5"])) for method, one in _ranked(figures["sets"][f"{name} capitals"])]
        svg = plots.intervals(rows, f"Recall at 5 on {title}")
        made[f"{name}.svg"] = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
            "<title>", f"{_STYLE}<title>", 1
        )
    return made


def _sets(sets: Figures) -> list[str]:
    shown = []
    for name, title in TESTED.items():
        one = sets[f"{name} capitals"]
        shown += [
            f"\n## {title}\n",
            f"{one['questions']:,} questions, from all over the set.\n",
            f"![Recall at 5](plots/{name}.svg)\n",
        ]
        rows = [(method, _three(found), _span(found.get("weave_ahead_at_5"))) for method, found in _ranked(one)]
        shown.append(table(("method", "recall at 2 / 5 / 10", "weave is ahead at 5 by"), rows))
    return shown


def _reference(found: Figures) -> list[str]:
    rows = []
    for name, one in found.items():
        theirs = " / ".join(f"{value:.1f}" for value in one["reference"].values())
        ours, ahead = _three(one["methods"]["weave"]), _span(one["ahead_of_reference"]["recall@5"])
        rows.append((TESTED[name], f"{one['questions']:,}", theirs, ours, ahead))
    said = (
        "\n## Beside the reference\n\nThe method was specified by a program that holds everything in memory. All"
        " questions of the sets; recall at 2 / 5 / 10.\n"
    )
    return [said, table(("set", "questions", "reference", "weave", "ahead at 5 by"), rows)]


def _kinds(found: Figures) -> list[str]:
    kinds = found["musique"]["by_kind"]
    rows = [(kind, f"{kinds['fuse'][kind]:.1f}", f"{share:.1f}") for kind, share in kinds["weave"].items()]
    said = "\n## By the number of hops\n\nMuSiQue, recall at 5; in brackets how many questions.\n"
    return [said, table(("", "fuse", "weave"), rows)]


def _lightrag(found: Figures) -> list[str]:
    rows = [
        (name, f"{one['questions']:,}", method, _three(shown), _span(shown.get("weave_ahead_at_5")))
        for name, one in found.items()
        for method, shown in _ranked(one)
    ]
    said = (
        "\n## Beside LightRAG\n\nLightRAG 1.5.7 itself, given the same passages, names, keywords and embedder; the"
        " order of the\nchunks in its own context counts ([how](../benchmarks/peer_retrieval.py)). Sets that are cut"
        " have 3,000 passages\nand those that support the questions, which are the first 300 (of MuSiQue, all of two"
        " hops).\n"
    )
    shown = [said, table(("set", "questions", "method", "recall at 2 / 5 / 10", "weave is ahead at 5 by"), rows)]
    modes = {name: one for name, one in found.items() if "ahead_of_lightrag_at_5" in one}
    if modes:
        methods = list(next(iter(modes.values()))["ahead_of_lightrag_at_5"])
        spans = [
            (method, *(_span(one["ahead_of_lightrag_at_5"][method]) for one in modes.values())) for method in methods
        ]
        shown += ["\nHow far each method is ahead of LightRAG's mode of the same name, at 5:\n"]
        shown += [table(("method", *modes), spans)]
    return shown


def _extractions(sets: Figures) -> list[str]:
    wanted = {name: one for name, one in sets.items() if "train100" in name}
    methods = sorted({method for one in wanted.values() for method in one["methods"]})
    rows = [
        (method, *(_three(one["methods"][method]) if method in one["methods"] else "" for one in wanted.values()))
        for method in methods
    ]
    said = (
        "\n## Names found otherwise\n\nThe two small sets that `weave` was tuned on, so its figures here flatter it:"
        " with names by their capitals, with those that spaCy finds (nlp), and with the triples that GPT-3.5 found"
        " (given). Recall at 2 / 5 / 10.\n"
    )
    return [said, table(("method", *wanted), rows)]


def _untitled(found: Figures) -> list[str]:
    rows = [
        (TESTED.get(name, name), method, _three(one), _span(one.get("weave_ahead_at_5")))
        for name, each in found.items()
        for method, one in _ranked(each)
    ]
    said = (
        "\n## Without titles\n\nThe same passages without a title anywhere: what a passage is about is then the name"
        " that it begins with.\n"
    )
    return [said, table(("set", "method", "recall at 2 / 5 / 10", "weave is ahead at 5 by"), rows)]


def _prose(found: Figures) -> list[str]:
    rows = [
        (name, f"{each['questions']:,}", method, _mean(one["evidence"]), _span(one.get("weave_ahead")))
        for name, each in found.items()
        for method, one in each["methods"].items()
    ]
    said = (
        "\n## Ordinary prose\n\nGraphRAG-Bench gives the evidence in words of its own, not passages. So this is the"
        " share of the evidence's words that is in the first 6,000 characters found.\n"
    )
    return [said, table(("set", "questions", "method", "words found", "weave is ahead by"), rows)]


def _cost(found: Figures) -> list[str]:
    rows = [
        (
            f"{int(size.partition('_')[0]):,}",
            method,
            _mean(each["methods"][method]["recall@5"]),
            f"{one['statements']:g}",
            f"{one['nodes']:,} / {one['nodes_p99']:,}",
            f"{one['p50_ms']:g}",
            f"{one['p95_ms']:g}",
        )
        for size, each in found.items()
        for method, one in each["costs"].items()
    ]
    said = (
        "\n## As the corpus grows\n\nA hundred questions of each set. Nodes are what the searches brought up. The times"
        " include the embedding\nof the question.\n"
    )
    return [
        said,
        table(("passages", "method", "recall at 5", "statements", "nodes, mean / p99", "p50 ms", "p95 ms"), rows),
    ]


def _ranked(one: Figures) -> list[tuple[str, Figures]]:
    return sorted(one["methods"].items(), key=lambda pair: -pair[1]["recall@5"][0])


def _three(found: Figures) -> str:
    return " / ".join(_mean(found[f"recall@{k}"]) for k in (2, 5, 10))


def _mean(found: Sequence[float]) -> str:
    return f"{found[0]:.1f}"


def _span(found: Sequence[float] | None) -> str:
    return f"{found[0]:+.1f} [{found[1]:+.1f}, {found[2]:+.1f}]" if found else ""


def _interval(found: Sequence[float]) -> Interval:
    return Interval(*(value / 100 for value in found))


def main() -> None:
    figures = json.loads(RESULTS.read_text("utf-8"))
    wanted = {PAGE: page(figures)} | {PAGE.parent / "plots" / name: svg for name, svg in drawn(figures).items()}
    write_or_check(wanted, "quality")


if __name__ == "__main__":
    main()
