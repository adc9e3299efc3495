"""Writes the figures of docs/explanation/communities.md and its pictures from the results of benchmarks/communities.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from community_picture import picture
from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "communities.json"
PAGE = ROOT / "docs" / "explanation" / "communities.md"
PLOTS = ROOT / "docs" / "plots"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

Figures = Mapping[str, Any]


class Subject(NamedTuple):
    """A graph that is drawn."""

    title: str
    told: str
    picture: str


SUBJECTS = {
    "christmas_carol": Subject(
        "A Christmas Carol",
        "The book in 42 chunks, with the entities and relations that GPT-4o found in them.",
        "christmas_carol_communities.svg",
    ),
    "graphragbench_medical": Subject(
        "Texts for patients",
        "The medical corpus of GraphRAG-Bench in 199 chunks, with the entities and relations that GPT-4o mini found.",
        "medical_communities.svg",
    ),
}

_SHOWN = 4  # parts of a community that are listed
_STAGES = ("reading", "detecting", "writing")
_FATES = ("added", "changed", "unchanged", "removed")

_INTRO = """## In figures

`make communities` writes this section from the [results](../../benchmarks/results/communities.json) of
[`benchmarks/communities.py`](../../benchmarks/communities.py), which describes each measurement.
"""


def section(figures: Figures) -> str:
    """All figures."""
    parts = [_INTRO]
    parts += _scale(figures["scale"], figures["library"]) if "scale" in figures else []
    parts += _change(figures["change"]) if "change" in figures else []
    parts += _trees(figures["trees"]) if "trees" in figures else []
    return "\n".join(parts)


def drawn(figures: Figures) -> dict[str, str]:
    """The pictures, by the names of their files."""
    return {subject.picture: picture(subject.title, figures["trees"][name]) for name, subject in SUBJECTS.items()}


def _scale(found: Figures, library: str) -> list[str]:
    named = {
        "`communities.find`, first run": found["first"],
        "after one more document": found["after_one_document"],
        "nothing has changed": found["unchanged"],
        "the library alone": found["library"],
    }
    rows = [
        (name, f"{one['seconds']:.2f}", *(_seconds(one.get(stage)) for stage in _STAGES), f"{one['peak_mb']:,.0f}")
        for name, one in named.items()
    ]
    parts = [
        (
            f"{one['entities']:,}",
            f"{one['edges']:,}",
            f"{one['communities']:,}",
            f"{one['modularity']:.3f}",
            f"{one['communities_by_library']:,}",
            f"{one['modularity_by_library']:.3f}",
        )
        for one in found["parts"]
    ]
    after, levels = found["after_one_document"]["changed"], [f"{level['communities']:,}" for level in found["levels"]]
    return [
        "### What it costs\n",
        _said(
            f"WordNet, Debian's packages and FB15k-237 together: {found['documents']:,} documents,",
            f"{found['entities']:,} entities and {found['relations']:,} relations, which are {found['edges']:,}",
            "undirected edges. `communities.find` reads them from the database and writes communities to it. The",
            f"hierarchical Leiden algorithm of {library} gets the same edges in memory. Both divide communities with",
            "more than ten members. Medians of three runs, each in its own process; memory is that of the process,",
            "without the database.",
        ),
        table(("", "seconds", *_STAGES, "peak MB"), rows),
        _said(
            "Both were run alternately and compared round by round: in the median, the first run takes",
            f"{found['ratio']:g} times as long as the library alone, with {found['ratio_peak']:g} times its memory;",
            f"detection alone takes {found['ratio_detecting']:g} times as long.",
            f"From the outermost level to the innermost there are {', '.join(levels)} communities. Repeated runs found",
            f"{_same(found)} communities every time. One more document, which mentions two entities, leaves",
            f"{after['unchanged']:,} of them unchanged; {after['changed']:,} have changed contents,",
            f"{after['added']:,} were added and {after['removed']:,} removed.",
        ),
        _said(
            "The graph has parts that are not connected. We process each part separately, so the rest of",
            "the graph does",
            "not influence it. The communities that the library finds become larger as the rest of the",
            "graph grows. Its",
            f"modularity is therefore higher over the whole graph, {found['library']['modularity']:.3f} against",
            f"{found['modularity']:.3f}, and lower within each of the large parts:",
        ),
        table(("entities", "edges", "outermost communities", "modularity", "by the library", "modularity"), parts),
    ]


def _change(found: Figures) -> list[str]:
    rows = [
        (
            name,
            f"{one['documents']:,}",
            f"{one['calls']:,}",
            f"{one['draws'][0]['documents_removed']}",
            _span(one["touched"]),
            _span(one["calls_after"]),
            f"{_span(one['share'])} %",
            f"{_span(one['share_of_tokens'])} %",
            " / ".join(f"{mean(draw[what] for draw in one['draws']):,.0f}" for what in _FATES),
        )
        for name, one in found.items()
    ]
    draws = [draw for one in found.values() for draw in one["draws"]]
    return [
        "### What a change costs\n",
        _said(
            "The number of model calls for all reports, and the number when 1 % of the documents, chosen at",
            "random, are",
            "removed, as a share of writing all reports again, in calls and in tokens sent. Means of five draws, with",
            "the minimum and maximum. *Touched* are the communities whose report would change even with the same",
            "members, because a removed document mentioned one of them; the other changed communities have",
            "other members.",
            "After each draw, the index",
            "was" if all(draw["as_rebuilt"] for draw in draws) else "was not",
            "identical to one built from scratch from the remaining documents.",
        ),
        table(
            (
                "set",
                "documents",
                "calls for all",
                "removed",
                "touched",
                "calls after the removal",
                "share",
                "of tokens",
                "added / changed / same / removed",
            ),
            rows,
        ),
    ]


def _trees(found: Figures) -> list[str]:
    return [text for name, one in found.items() for text in _tree(SUBJECTS[name], one)]


def _tree(subject: Subject, one: Figures) -> list[str]:
    rows = [(str(level), *(f"{number:,}" for number in each.values())) for level, each in enumerate(one["levels"])]
    median, alone = one["median_size"], one["without_levels"]
    return [
        f"### {subject.title}\n",
        _said(
            subject.told,
            f"{one['entities']:,} entities, of which {one['alone']:,} have no relation and are therefore in",
            "no community, and",
            f"{one['relations']:,} relations.",
        ),
        f"![Communities of {subject.title}](../plots/{subject.picture})\n",
        table(("level", "communities", "entities in them", "largest", "of two"), rows),
        _said(
            f"The median size is {median['outermost']:g} members for an outermost community and",
            f"{median['innermost']:g} for an innermost one. The modularity of the outermost level is",
            f"{one['modularity']:.3f}; Leiden without levels, over the whole graph at once, finds",
            f"{alone['communities']} communities with {alone['modularity']:.3f}. Repeated runs, and a run in another",
            f"workspace with the documents in another order, found {_same(one)} communities. The largest",
            "ones, with the",
            "names that reports without a model give them:",
        ),
        "".join(map(_branch, one["largest"])),
    ]


def _branch(one: Figures) -> str:
    """A community and the largest of its parts, as a list."""
    parts = one.get("parts", ())
    lines = [f"- {one['title']}", *(f"    - {part['title']}" for part in parts[:_SHOWN])]
    if more := [part["size"] for part in parts[_SHOWN:]]:
        lines.append(
            f"    - and {len(more)} more, of {more[-1]} to {more[0]}" if len(more) > 1 else "    - and one more"
        )
    return "\n".join(lines) + "\n"


def _same(found: Figures) -> str:
    return "the same" if found["same_every_time"] else "not the same"


def _said(*parts: str) -> str:
    """A paragraph."""
    return textwrap.fill(" ".join(parts), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def _seconds(value: float | None) -> str:
    return f"{value:.2f}" if value else ""


def _span(found: Sequence[float]) -> str:
    return f"{found[0]:g} ({found[1]:g} to {found[2]:g})"


def page(before: str, figures: Figures) -> str:
    """The page with its figures as they are now."""
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{PAGE.name} has no place for figures: put {BEGIN} and {END} where they belong")
    return f"{head}{BEGIN}\n\n{section(figures)}\n{END}{tail}"


def main() -> None:
    figures = json.loads(RESULTS.read_text("utf-8"))
    before = PAGE.read_text("utf-8") if PAGE.is_file() else f"{BEGIN}\n{END}\n"
    wanted = {PAGE: page(before, figures)}
    wanted |= {PLOTS / name: svg for name, svg in drawn(figures).items()}
    write_or_check(wanted, "communities")


if __name__ == "__main__":
    main()
