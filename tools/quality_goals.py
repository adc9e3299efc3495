"""The sections of docs/explanation/quality.md on the default embedding model, and on goals that were not reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from written import table

from trueweave.models.catalogue import DEFAULT

Figures = Mapping[str, Any]

GOALS = {"musique": "72", "twowiki": "98.5", "hotpotqa": "97"}
_METHODS = ("weave", "fuse", "naive", "keyword")


def embedders(found: Figures, titles: Mapping[str, str]) -> list[str]:
    """What methods find with the default embedding model and others, from results by "MODEL train" and "MODEL test"."""
    models = list(dict.fromkeys(part.rsplit(" ", 1)[0] for part in found))
    said = (
        "\n## With the default embedding model\n\n"
        f"The default is {DEFAULT}. All questions of each set; names are recognised by capitalisation, and short\n"
        "names count as full ones. The same weights are used with all models. They were fitted on the training sets,\n"
        "so figures for those would be too high. With this code, each test set was run once with each model\n"
        "([results](../../benchmarks/results/embedders.json)).\n"
    )
    shown = [said]
    for which, heading in (("test", "Test sets"), ("train", "Training sets")):
        rows = [
            (titles.get(name, name), f"{one['questions']:,}", model, *_row(method, one[method]))
            for name in dict.fromkeys(name for model in models for name in found.get(f"{model} {which}", {}))
            for model in models
            if (one := found.get(f"{model} {which}", {}).get(name))
            for method in _METHODS
        ]
        head = ("set", "questions", "model", "method", "recall at 2 / 5 / 10", "weave is ahead at 5 by")
        shown += [f"\n{heading}:\n", table(head, rows)] if rows else []
    return shown


def goals(
    quality: Figures, growth: Figures, ingest: Figures, relations: Figures, demanded: Figures, measured: Figures
) -> list[str]:
    """What was aimed at and not reached, what limits it, and what was tried."""
    small, large = quality["cost"]["29429_passages"]["costs"]["weave"], growth["sizes"]["500000"]["methods"]["weave"]
    medical, novels = (quality["prose"][f"graphragbench_{name}"] for name in ("medical", "novel"))
    by_default = measured[f"{DEFAULT} test"]
    deep = by_default["musique"]["weave"]
    hops = {kind[:6]: share for kind, share in deep["by_kind"].items()}
    rows = [
        (
            "recall at 5 with the default embedding model, MuSiQue / 2Wiki / HotpotQA",
            " / ".join(GOALS.values()),
            _recall(by_default),
        ),
        ("the same, questions of MuSiQue with 3 / 4 hops", "70 / 55", f"{hops['3 hops']:.1f} / {hops['4 hops']:.1f}"),
        ("prose, points that `weave` is ahead of `fuse`: medical texts", "+3", _ahead(medical)),
        ("prose, points that `weave` is ahead of `fuse`: novels", "+3", _ahead(novels)),
        ("p50 of `weave`, 29,429 passages", "50 ms", f"{small['p50_ms']:.1f} ms"),
        ("p50 of `weave`, 500,000 passages", "90 ms", f"{large['p50_ms']:.1f} ms"),
        (
            "chunks per second and core, names by spaCy, relations embedded",
            "30",
            f"{ingest['b']['chunks_per_second_of_client_cpu']:g}",
        ),
        (
            "the same, vectors of chunks alone, as by default",
            "30",
            f"{demanded['all-MiniLM-L6-v2, 8 bits']['chunks_only']['chunks_per_second_of_cpu']:.1f}",
        ),
    ]
    [hotpot, musique] = (relations[name] for name in ("hotpotqa_train100", "musique_train100"))
    return [
        "\n## Goals that were not reached\n",
        table(("what", "goal", "measured"), rows),
        _REASONS.format(
            at_5=deep["recall@5"][0],
            at_10=deep["recall@10"][0],
            statements=small["statements"],
            embedded=hotpot["texts_a_passage"],
            of_relations=hotpot["of_these_relations"],
            embedded_2=musique["texts_a_passage"],
            of_relations_2=musique["of_these_relations"],
        ),
    ]


_REASONS = """
**Recall, and questions of 3 and 4 hops.** On MuSiQue, {at_5:.1f} % of the supporting passages are among the first
five, and {at_10:.1f} % among the first ten. So `weave` finds many of the missing passages, but ranks them too low. A
question of four hops needs four of the first five places. These changes were tried and not adopted:

- The weights were fitted again on 1,943 questions, with three more features. This was better in cross-validation, but
  not on the MuSiQue training questions, and worse on the demo's documents
  ([0051](../adr/0051-the-scale-of-the-walk.md)).
- Three passages that cover the question together, BM25 as a feature, and a second search with what the first passages
  lack brought nothing ([0051](../adr/0051-the-scale-of-the-walk.md)).
- Choosing passages one by one, so that each covers what those before it leave open, brought no clear gain at 5
  ([0055](../adr/0055-auto-for-each-question.md)).

Counting short names as full ones corrects facts, but does not change recall
([0052](../adr/0052-short-names.md)).

**Prose.** A chunk of prose is rarely about one named subject, and the same few names are in most chunks
([when a graph does not help](no-graph.md)). Adding up scores instead of ranks did not find more
([0055](../adr/0055-auto-for-each-question.md)). `auto` uses `fuse` for such documents, so the default finds as much as
`fuse`, and no more.

**Time of a question.** `weave` sends {statements:g} statements, and each step of the walk needs the result of the one
before. Two things have changed since these measurements: `weave` looks up the chunks of a name once for a question, and
not at each step; and vector search keeps more candidates in large indexes, which takes longer
([0054](../adr/0054-recall-of-searches.md)). The times have not been measured again.

**Embedding relations.** Embedding takes most of the time, and many of the texts are those of relations:
{of_relations:g} of {embedded:g} texts per passage on HotpotQA, {of_relations_2:g} of {embedded_2:g} on MuSiQue. Vectors
that are computed from those of entities and chunks find about as much, and need no embedding. They are not used yet:
one more mention of a frequent entity would change the vectors of all its relations
([0040](../adr/0040-vectors-of-relations.md)). So by default, entities and relations are embedded only when a method
needs them ([0058](../adr/0058-vectors-on-demand.md)).
"""


def _recall(by_default: Figures) -> str:
    return " / ".join(f"{by_default[name]['weave']['recall@5'][0]:.1f}" for name in GOALS)


def _row(method: str, one: Figures) -> Sequence[str]:
    three = " / ".join(f"{one[f'recall@{k}'][0]:.1f}" for k in (2, 5, 10))
    return method, three, _span(one["weave_ahead_at_5"]) if "weave_ahead_at_5" in one else ""


def _ahead(one: Figures) -> str:
    return _span(one["methods"]["fuse"]["weave_ahead"])


def _span(found: Sequence[float]) -> str:
    return f"{found[0]:+.1f} [{found[1]:+.1f}, {found[2]:+.1f}]"
