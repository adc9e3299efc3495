"""Writes docs/explanation/quality.md and its plots from benchmarks/results.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import quality_goals
from recall_chart import recall_chart
from written import table, write_or_check

from trueweave.bench import plots
from trueweave.core.bench import Interval
from trueweave.models.catalogue import DEFAULT

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "explanation" / "quality.md"
PLOTS = ROOT / "docs" / "plots"
TESTED = {"musique": "MuSiQue (dev)", "twowiki": "2WikiMultihopQA", "hotpotqa": "HotpotQA"}
CHARTED = {
    "keyword": "words: keyword",
    "naive": "vectors: naive",
    "fuse": "both: fuse",
    "weave": "graph and both: weave",
}
_STYLE = """<style>
svg { font: 13px system-ui, sans-serif; background: #faf8f3 } .name { text-anchor: end } .value { text-anchor: end }
.name, .value { fill: #1e1b16 } .tick { text-anchor: middle; fill: #6b6458 }
.grid { stroke: #dcd6c9 } .bar { fill: #c3bcad } .best { fill: #27498f } .span { stroke: #1e1b16; fill: none }
@media (prefers-color-scheme: dark) { svg { background: #161512 } .name, .value { fill: #efeae0 }
.tick { fill: #9c9587 } .grid { stroke: #37342d } .bar { fill: #544e45 } .best { fill: #9fb8f2 }
.span { stroke: #efeae0 } }
</style>"""

Figures = Mapping[str, Any]

_INTRO = """# What each method finds

This page shows how much of what an answer needs each method finds: the share of the supporting passages that are among
the first 2, 5 and 10 passages returned, in per cent. The questions are public, and each needs several passages. No
language model is used: names are recognised by capitalisation, and texts are embedded with all-MiniLM-L6-v2 (22 million
parameters). Methods that need a language model are therefore missing. [The methods, drawn](methods.md) explains what
each method does. `make quality` writes this page from the [results](../../benchmarks/results/quality.json) of
[`benchmarks/quality.py`](../../benchmarks/quality.py), which describes each measurement. The last section lists the
[goals that were not reached](#goals-that-were-not-reached).
"""

_TUNED = """
The weights of `weave` were fitted on 200 other questions (musique_train100 and hotpotqa_train100), by cross-validation,
and not on the three sets below. Earlier forms of the method were measured on these sets before its features were chosen
([details](../adr/0013-occurrences.md)).

Intervals are 95 % intervals from 2,000 resamples of the questions.
Differences are paired, question by question. The two methods marked *style* are re-implementations of published methods
([differences](../../benchmarks/rebuilt.py)), tuned on the same questions as `weave`. `subgraph` is left out: it was
measured with a threshold that is no longer the default ([what it finds now](methods.md#subgraph)).
"""

_SINCE = """
The code has changed since the oldest of these measurements:

- Text search distinguishes languages, and texts that are longer than the input of the embedding model are embedded in
  windows. The parts of 15 November were measured before.
- The walk of `walk` and `weave` adapts to the embedding model ([0051](../adr/0051-the-scale-of-the-walk.md)). In this
  table, only prose was measured with this change.
- Within a document, short names of people count as the full name ([0052](../adr/0052-short-names.md)). All parts
  in the table were measured before. On the two training sets, the change made no difference to the recall of `weave`
  at 5 ([results](../../benchmarks/results/resolution.json)).
- Vector search keeps more candidates in large indexes ([0054](../adr/0054-recall-of-searches.md)). All parts
  in the table were measured before.
"""

_PARTS = {
    "sets": "the three sets, and names found by other means",
    "reference": "comparison with the reference, by the number of hops",
    "lightrag": "comparison with LightRAG",
    "untitled": "without titles",
    "prose": "ordinary prose",
    "cost": "as the corpus grows",
}


def page(results: Mapping[str, Figures]) -> str:
    """The whole page, from the results by the names of their files."""
    figures, measured = results["quality"], results["embedders"]
    parts = [_INTRO, _TUNED, *_dates(figures["measured"]), f"{figures['note']}\n", *_sets(figures["sets"])]
    parts += [*_reference(figures["reference"]), *_kinds(figures["reference"])] if "reference" in figures else []
    parts += quality_goals.embedders(measured, TESTED)
    parts += _lightrag(figures["lightrag"]) if figures.get("lightrag") else []
    parts += _extractions(figures["sets"])
    parts += _untitled(figures["untitled"]) if "untitled" in figures else []
    parts += _prose(figures["prose"]) if "prose" in figures else []
    parts += _small_folders(results["small_folders"])
    parts += _cost(figures["cost"]) if "cost" in figures else []
    growth, ingest, relations, demanded = (
        results[name] for name in ("growth", "ingest", "relation_vectors", "graph_vectors")
    )
    parts += quality_goals.goals(figures, growth, ingest, relations, demanded, measured)
    return "\n".join(parts)


def _dates(measured: Mapping[str, str]) -> list[str]:
    rows = [(said, f"{date.fromisoformat(measured[part]):%-d %B %Y}") for part, said in _PARTS.items()]
    return ["When each part was measured, with the code of that day:\n", table(("part", "measured"), rows), _SINCE]


def drawn(figures: Figures, embedders: Figures) -> dict[str, str]:
    """The plots, by the names of their files."""
    by_default = embedders[f"{DEFAULT} test"]
    shares = {
        title: {method: by_default[name][method]["recall@5"][0] for method in CHARTED} for name, title in TESTED.items()
    }
    made = {"recall.svg": recall_chart(shares, CHARTED)}
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
            f"{one['questions']:,} questions, taken at equal distances from the whole set.\n",
            f"![Recall at 5](../plots/{name}.svg)\n",
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
        "\n## Compared with the reference\n\n"
        "The reference is the prototype of `weave`, which holds everything in memory. All questions of each set;\n"
        "recall at 2 / 5 / 10.\n"
    )
    return [said, table(("set", "questions", "reference", "weave", "weave is ahead at 5 by"), rows)]


def _kinds(found: Figures) -> list[str]:
    kinds = found["musique"]["by_kind"]
    rows = [(kind, f"{kinds['fuse'][kind]:.1f}", f"{share:.1f}") for kind, share in kinds["weave"].items()]
    said = "\n## By the number of hops\n\nMuSiQue, recall at 5, with the number of questions in brackets.\n"
    return [said, table(("", "fuse", "weave"), rows)]


def _lightrag(found: Figures) -> list[str]:
    rows = [
        (name, f"{one['questions']:,}", method, _three(shown), _span(shown.get("weave_ahead_at_5")))
        for name, one in found.items()
        for method, shown in _ranked(one)
    ]
    said = (
        "\n## Compared with LightRAG\n\n"
        "LightRAG 1.5.7 itself, with the same passages, names, keywords and embedding model. The order of the\n"
        "chunks in its context is its ranking ([how](../../benchmarks/peer_retrieval.py)). Sets marked *cut*\n"
        "consist of 3,000 passages and those that support the first 300 questions (in MuSiQue, all of these need\n"
        "two hops).\n"
    )
    shown = [said, table(("set", "questions", "method", "recall at 2 / 5 / 10", "weave is ahead at 5 by"), rows)]
    modes = {name: one for name, one in found.items() if "ahead_of_lightrag_at_5" in one}
    if modes:
        methods = list(next(iter(modes.values()))["ahead_of_lightrag_at_5"])
        spans = [
            (method, *(_span(one["ahead_of_lightrag_at_5"][method]) for one in modes.values())) for method in methods
        ]
        shown += ["\nHow many points each method is ahead of the LightRAG mode of the same name, at 5:\n"]
        shown += [table(("method", *modes), spans)]
    return shown


def _extractions(sets: Figures) -> list[str]:
    wanted = {name: one for name, one in sets.items() if "train100" in name}
    methods = sorted({method for one in wanted.values() for method, _ in _ranked(one)})
    rows = [
        (method, *(_three(one["methods"][method]) if method in one["methods"] else "" for one in wanted.values()))
        for method in methods
    ]
    said = (
        "\n## Names found by other means\n\n"
        "Names recognised by capitalisation (capitals), by spaCy (nlp), or taken from triples extracted by\n"
        "GPT-3.5 (given). These are the two small sets that `weave` was tuned on, so its figures here are too\n"
        "high. Recall at 2 / 5 / 10.\n"
    )
    return [said, table(("method", *wanted), rows)]


def _untitled(found: Figures) -> list[str]:
    rows = [
        (TESTED.get(name, name), method, _three(one), _span(one.get("weave_ahead_at_5")))
        for name, each in found.items()
        for method, one in _ranked(each)
    ]
    said = (
        "\n## Without titles\n\n"
        "The same passages without their titles. The subject of a passage is then the name that it begins with.\n"
    )
    return [said, table(("set", "method", "recall at 2 / 5 / 10", "weave is ahead at 5 by"), rows)]


def _prose(found: Figures) -> list[str]:
    rows = [
        (name, f"{each['questions']:,}", method, _mean(one["evidence"]), _span(one.get("weave_ahead")))
        for name, each in found.items()
        for method, one in each["methods"].items()
    ]
    said = (
        "\n## Ordinary prose\n\n"
        "GraphRAG-Bench describes the evidence in its own words instead of naming passages. The score is\n"
        "therefore the share of the words of the evidence that is in the first 6,000 characters found. [When a\n"
        "graph does not help](no-graph.md) discusses these figures.\n"
    )
    return [said, table(("set", "questions", "method", "words found", "weave is ahead by"), rows)]


def _small_folders(found: Figures) -> list[str]:
    halves = {"tuned": "tuned", "held_back": "held back"}
    rows = [
        (model, halves[half], method, *(f"{one[measure]:.1f}" for measure in ("recall@1", "recall@5", "mrr@10")))
        for model, each in found.items()
        for half, figures in each["halves"].items()
        for method, one in figures["methods"].items()
    ]
    ahead = [
        (model, halves[half], figures[name]["of"], measure, _span(figures[name]["by"]))
        for model, each in found.items()
        for half, figures in each["halves"].items()
        for name, measure in (("auto_ahead_at_recall@5", "recall at 5"), ("auto_ahead_at_mrr@10", "MRR at 10"))
    ]
    said = (
        "\n## Small folders\n\n"
        "Eight folders of 15 to 121 documents, such as the notes of a project, contracts, mails or recipes, with 25\n"
        "questions each ([what they are](../../benchmarks/folders/README.md)), added with default settings. Three in\n"
        "five questions need one document. Methods were tuned on four of the folders; the other four were held\n"
        "back.\n"
    )
    return [
        said,
        table(("model", "folders", "method", "recall at 1", "recall at 5", "MRR at 10"), rows),
        "\nHow many points `auto` is ahead of the best of `fuse`, `keyword` and `weave`:\n",
        table(("model", "folders", "best", "measure", "auto is ahead by"), ahead),
    ]


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
        "\n## As the corpus grows\n\n"
        "A hundred questions of each set. *Nodes* are the chunks, names, entities and relations that the searches\n"
        "returned. Times include embedding the question.\n"
    )
    return [
        said,
        table(("passages", "method", "recall at 5", "statements", "nodes, mean / p99", "p50 ms", "p95 ms"), rows),
    ]


def _ranked(one: Figures) -> list[tuple[str, Figures]]:
    """The methods, best first. `subgraph` was measured with a threshold that is no longer the default."""
    shown = [(name, found) for name, found in one["methods"].items() if name != "subgraph"]
    return sorted(shown, key=lambda pair: -pair[1]["recall@5"][0])


def _three(found: Figures) -> str:
    return " / ".join(_mean(found[f"recall@{k}"]) for k in (2, 5, 10))


def _mean(found: Sequence[float]) -> str:
    return f"{found[0]:.1f}"


def _span(found: Sequence[float] | None) -> str:
    return f"{found[0]:+.1f} [{found[1]:+.1f}, {found[2]:+.1f}]" if found else ""


def _interval(found: Sequence[float]) -> Interval:
    return Interval(*(value / 100 for value in found))


def main() -> None:
    results = {file.stem: json.loads(file.read_text("utf-8")) for file in RESULTS.glob("*.json")}
    wanted = {PAGE: page(results)} | {
        PLOTS / name: svg for name, svg in drawn(results["quality"], results["embedders"]).items()
    }
    write_or_check(wanted, "quality")


if __name__ == "__main__":
    main()
