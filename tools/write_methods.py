"""Writes the drawings of the documentation, and the figures in docs/explanation/methods.md and no-graph.md.

`make docs` fails while they are out of date, or while a method has no section or no drawing.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

import method_drawings
from drawing import Drawing
from system_drawings import SYSTEM
from written import table, write_or_check

from trueweave.retrieval.methods import registry

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
EXPLANATION = ROOT / "docs" / "explanation"
DRAWINGS = ROOT / "docs" / "drawings"
FIGURES = re.compile(r"<!-- figures: ([a-z-]+) -->\n.*?<!-- end of figures -->", re.DOTALL)
SIZES = ("20000", "200000")
ALL_METHODS = {"MuSiQue": "musique cut capitals", "2Wiki": "twowiki capitals", "HotpotQA": "hotpotqa cut capitals"}
WHOLE_SETS = {"MuSiQue": "musique capitals", "2Wiki": "twowiki capitals", "HotpotQA": "hotpotqa capitals"}

Figures = Mapping[str, Any]


class Facts(NamedTuple):
    """What a method follows, its model calls for one question, and what the index must hold for it."""

    follows: str
    calls: str
    needs: str


_LIGHTRAG = "LightRAG (Guo et al. 2024)"
_KEYWORDS = "1, for the keywords; 0 if no model is set"
FACTS = {
    "auto": Facts("Trueweave's own", "0", "nothing; better with vectors"),
    "naive": Facts("dense retrieval (Karpukhin et al. 2020)", "0", "vectors of chunks"),
    "keyword": Facts("BM25 (Robertson et al. 1994)", "0", "the text index"),
    "fuse": Facts("reciprocal rank fusion (Cormack et al. 2009)", "0", "vectors of chunks, the text index"),
    "local": Facts(f"{_LIGHTRAG}, mode `local`", _KEYWORDS, "vectors of chunks and entities"),
    "global": Facts(f"{_LIGHTRAG}, mode `global`", _KEYWORDS, "vectors of chunks and relations"),
    "hybrid": Facts(f"{_LIGHTRAG}, mode `hybrid`", _KEYWORDS, "vectors of chunks, entities and relations"),
    "mix": Facts(f"{_LIGHTRAG}, mode `mix`", _KEYWORDS, "vectors of chunks, entities and relations"),
    "subgraph": Facts(
        "no single paper: entity linking, then a neighbourhood", "0", "vectors of chunks and entities, the text index"
    ),
    "guess": Facts("HyDE (Gao et al. 2022), with facts of the graph", "2", "vectors of chunks, entities and relations"),
    "community": Facts(
        "GraphRAG, global search (Edge et al. 2024)",
        "1 per 6,000 tokens of reports, 32 reports at most; 0 if no model is set",
        "communities with reports",
    ),
    "drift": Facts(
        "GraphRAG, DRIFT search (Microsoft 2024)",
        "1; 0 if no model is set",
        "communities with reports, and what `weave` needs",
    ),
    "rephrase": Facts("Graph Enhanced Vector Store (2024): a question as a partial answer", "1", "what `part` needs"),
    "hyde": Facts("HyDE (Gao et al. 2022)", "1", "what `part` needs"),
    "rewrite": Facts("Rewrite-Retrieve-Read (Ma et al. 2023), without training", "1", "what `part` needs"),
    "decompose": Facts("question decomposition (Press et al. 2022), in parallel", "1", "what `part` needs"),
    "walk": Facts("Trueweave's own", "0", "vectors of chunks, the text index, the index of names"),
    "weave": Facts("Trueweave's own", "0", "vectors of chunks, the text index, the index of names"),
    "hipporag": Facts("HippoRAG 2 (Gutiérrez et al. 2025)", _KEYWORDS, "vectors of chunks and entities"),
    "linearrag": Facts("LinearRAG (Zhuang et al. 2025)", _KEYWORDS, "vectors of chunks and entities"),
    "pathrag": Facts("PathRAG (Chen et al. 2025)", _KEYWORDS, "vectors of chunks and entities"),
    "graphrag": Facts(
        "GraphRAG, local search (Edge et al. 2024)", "0", "vectors of entities; with reports if there are communities"
    ),
}
_TRAINING = "[on training questions](#published-methods-on-one-graph)"
_WHY_NOT = {
    "auto": "as the method that it chooses",
    "guess": "not measured: it needs a language model",
    "community": "not measured: it needs a language model",
    "drift": "not measured: it needs a language model",
    "rephrase": "not measured: it needs a language model",
    "hyde": "not measured: it needs a language model",
    "rewrite": "not measured: it needs a language model",
    "decompose": "not measured: it needs a language model",
    "subgraph": "not measured with the present default; on the training questions, see below",
    "hipporag": f"{_TRAINING}; *hipporag2-style* in [quality](quality.md) runs over the whole graph",
    "linearrag": f"{_TRAINING}; *linearrag-style* in [quality](quality.md) runs over the whole graph",
    "pathrag": _TRAINING,
    "graphrag": _TRAINING,
}


def drawn() -> dict[str, Drawing]:
    """All drawings, by the names of their files."""
    return {
        "method-legend": method_drawings.legend(),
        **{f"method-{name}": draw() for name, draw in method_drawings.METHODS.items()},
        **{name: draw() for name, draw in SYSTEM.items()},
    }


def blocks() -> dict[str, str]:
    """What stands between the marks of the pages, by the names in the marks."""
    quality, growth, published = (
        json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in ("quality", "growth", "published")
    )
    return {
        **{name: _method(name, quality, growth) for name in FACTS},
        "published": _published(published),
        "prose": _prose(quality["prose"]),
        "kinds": _kinds(quality["reference"]),
    }


def _method(name: str, quality: Figures, growth: Figures) -> str:
    facts = FACTS[name]
    rows = [
        ("Model calls per question", facts.calls),
        ("The index must hold", facts.needs),
        ("p50 of the search", _time(name, growth)),
        ("Recall at 5", _recall(name, quality)),
    ]
    return table(("Follows", facts.follows), rows)


def _time(name: str, growth: Figures) -> str:
    times = [(size, growth["sizes"][size]["methods"].get(name)) for size in SIZES]
    measured = [f"{found['p50_ms']:.1f} ms among {int(size):,} chunks" for size, found in times if found]
    if not measured:
        return "that of the method that it chooses" if name == "auto" else "not measured"
    return ", ".join(measured) + (", without the two model calls" if name == "guess" else "")


def _recall(name: str, quality: Figures) -> str:
    if name == "subgraph":  # measured with a threshold that is no longer the default
        return _WHY_NOT[name]
    for found, sets in ((quality["lightrag"], ALL_METHODS), (quality["sets"], WHOLE_SETS)):
        if all(name in found[set_]["methods"] for set_ in sets.values()):
            values = [f"{title} {found[set_]['methods'][name]['recall@5'][0]:.1f}" for title, set_ in sets.items()]
            return ", ".join(values) + (" (whole sets)" if sets is WHOLE_SETS else "")
    return _WHY_NOT[name]


def _prose(found: Figures) -> str:
    names = {"graphragbench_medical": "medical guidelines", "graphragbench_novel": "novels"}
    methods = ("naive", "keyword", "fuse", "weave", "auto")
    rows = []
    for name, one in found.items():
        shares = [one["methods"][method]["evidence"][0] for method in methods]
        shown = [f"**{share:.1f}**" if share == max(shares) else f"{share:.1f}" for share in shares]
        behind, low, high = one["methods"]["fuse"]["weave_ahead"]
        rows.append((names[name], f"{one['questions']}", *shown, f"{behind:+.1f} [{low:+.1f}, {high:+.1f}]"))
    return table(("text", "questions", *methods, "`weave` against `fuse`"), rows)


def _published(found: Figures) -> str:
    sets = {"musique_train100": "MuSiQue", "hotpotqa_train100": "HotpotQA"}
    titles = [f"{sets[name]}, {one['questions']} questions" for name, one in found.items()]
    rows = []
    for method in ("fuse", "local", "hipporag", "linearrag", "pathrag", "graphrag"):
        cells = []
        for one in found.values():
            ahead, low, high = one[method]["ahead_of_fuse"]
            beside = "" if method == "fuse" else f" ({ahead:+.1f} [{low:+.1f}, {high:+.1f}])"
            cells.append(f"{one[method]['recall@5']:.1f}{beside}")
        rows.append((f"`{method}`", *cells))
    return table(("", *titles), rows)


def _kinds(found: Figures) -> str:
    sets = {"musique": "MuSiQue", "twowiki": "2Wiki", "hotpotqa": "HotpotQA"}
    rows = []
    for name, title in sets.items():
        kinds = found[name]["by_kind"]
        for kind in kinds["weave"]:
            fuse, weave = kinds["fuse"][kind], kinds["weave"][kind]
            what, _, count = kind.partition(" (")
            rows.append(
                (
                    title,
                    what.replace("_", " "),
                    count.rstrip(")"),
                    f"{fuse:.1f}",
                    f"{weave:.1f}",
                    f"{weave - fuse:+.1f}",
                )
            )
    return table(("set", "kind of question", "questions", "fuse", "weave", "difference"), rows)


def _page(file: Path, figures: Mapping[str, str]) -> str:
    return FIGURES.sub(
        lambda found: f"<!-- figures: {found[1]} -->\n\n{figures[found[1]]}\n<!-- end of figures -->",
        file.read_text("utf-8"),
    )


def _missing(page: str) -> list[str]:
    """The methods of Trueweave that the page does not show."""
    parts = ("\n## {0}\n", "(../drawings/method-{0}.svg)", "<!-- figures: {0} -->")
    own = [entry.name for entry in distribution("trueweave").entry_points.select(group=registry.GROUP)]
    return [name for name in own if not all(part.format(name) in page for part in parts)]


def main() -> None:
    figures = blocks()
    pages = {file: _page(file, figures) for file in (EXPLANATION / "methods.md", EXPLANATION / "no-graph.md")}
    if missing := _missing(pages[EXPLANATION / "methods.md"]):
        sys.exit(f"docs/explanation/methods.md has no section, drawing or figures for {', '.join(missing)}")
    write_or_check({**pages, **{DRAWINGS / f"{name}.svg": one.svg() for name, one in drawn().items()}}, "drawings")


if __name__ == "__main__":
    main()
