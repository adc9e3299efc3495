"""Writes docs/reference from the code itself. `make docs` fails while it is out of date."""

from __future__ import annotations

import json
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

from reference_commands import commands_page
from reference_errors import errors_page, events_page
from reference_formats import formats_page
from reference_python import python_pages
from reference_rest import rest_pages
from reference_schema import schema_page
from written import cell, write_or_check

from trueweave.core.settings import PREFIX, PROCESS_WIDE, Settings
from trueweave.retrieval.methods import registry
from trueweave.retrieval.methods.registry import Description

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

_SETTINGS = f"""# Settings

Set them in `trueweave.toml`, in the environment as `{PREFIX}…`, for a workspace, or in a call; each overrides the one
before. `trueweave settings` lists them, `trueweave settings NAME` explains one, and `trueweave settings NAME VALUE`
sets it in `trueweave.toml`; [`trueweave workspace settings`](../how-to/tenants.md#settings-of-a-workspace) sets
those of a workspace, where the last column allows it. `make reference` writes this page.

| setting | meaning | default | per workspace |
|---|---|---|---|
"""

_METHODS = """# Methods

Each method is one file in [`retrieval/methods`](../../src/trueweave/retrieval/methods), and all use the same index. On
the command line: `--method NAME --set parameter=value`; in Python: the class, with its parameters.
[The methods, drawn](../explanation/methods.md) shows what each one does, what it costs and when it pays, and
[asking](../how-to/asking.md) how to use them. `make reference` writes this page.
"""


class _About(NamedTuple):
    """What the code of a method does not tell in a line: how it ranks, and when to use it."""

    how: str
    when: str


_ABOUT = {
    "auto": _About(
        "weave if at least the share least_subjects of the chunks are about a name that few chunks contain,\n"
        "and the question contains a name of the documents; if only the latter is missing, fuse with\n"
        "by=score, weights=0.7,0.3; else fuse",
        "The default. Without vectors, it uses keyword.",
    ),
    "naive": _About(
        "score = similarity of the vectors of chunk and question",
        "For questions worded differently from the documents, and as the baseline for all other methods.",
    ),
    "keyword": _About(
        "score = Σ over the question's words of idf · tf / (tf + k1 · (1 − b + b · length / mean length))",
        "For names, numbers and exact terms, and if nothing is embedded.",
    ),
    "fuse": _About(
        "score = Σ over the parts of weight / (k + rank), or of weight · score scaled to 0 … 1",
        "For questions that one passage answers, and documents that share no names. No model call.",
    ),
    "local": _About(
        "entities of all keywords, ranked together by similarity; the chunks that mention them, ranked by\n"
        "score = similarity of chunk and question + entity_weight · similarity of its best entity to the keyword\n"
        "pick=order: chunks in the order of the entities that they mention, but a chunk with more of the entity's\n"
        "neighbours overtakes chunks at most order_range ahead; score = 1 / rank",
        "For questions about particular people and things. One model call for the keywords, if a model is set.",
    ),
    "global": _About(
        "relations of all keywords, ranked together by similarity; the chunks that state them or mention an end, by\n"
        "score = similarity of chunk and question + relation_weight · similarity of its best relation to the keyword\n"
        "pick=order: importance = alpha · (1 − order / max_order) + (1 − alpha) · weight / max_weight\n"
        "order: mean rank of the relations that a chunk states; weight: their mean strength",
        "For questions about themes and connections. One model call for the keywords, if a model is set.",
    ),
    "hybrid": _About(
        "the first of each part, then the second of each, without repeats",
        "When you cannot tell whether a question is about things or about themes.",
    ),
    "mix": _About(
        "the first of naive, local and global, then the second of each, without repeats",
        "For answers that need entities and relations as well as passages.",
    ),
    "subgraph": _About(
        "score = node_freq_weight · relevant entities in the chunk / relevant entities\n"
        "      + node_sim_weight · their mean similarity to the question\n"
        "      + text_weight · (similarity of the chunk + Σ 61/2 / (60 + rank) by meaning and by words)",
        "For questions about the connections between named things; the paths between them are part of the evidence. "
        "A similarity_threshold depends on the embedding model: null takes the entities that stand out. With "
        "text_weight=0, chunks are found by entities alone.",
    ),
    "guess": _About(
        "strength of a relation = harmonic mean of its emphasis · how often it is stated; each entity's strongest\n"
        "score = similarity of the vectors of chunk and guess",
        "For questions worded quite unlike the documents. Needs a language model, for two calls.",
    ),
    "community": _About(
        "reports of one level, all of them or those nearest to the question; a model notes what each says about it\n"
        "and how much that helps; score of a passage = Σ of that over the findings that it supports",
        "For questions about all documents at once: themes, trends, what matters most. Needs `trueweave communities "
        "build` once, and one call for each map_tokens of reports, if a model is set.",
    ),
    "drift": _About(
        "the reports nearest to the question; then the question and follow-up questions, by another method;\n"
        "score = Σ over these of 1 / (60 + rank)",
        "For questions that start broad and end in details. Needs `trueweave communities build` once, and one call if "
        "a model is set.",
    ),
    "rephrase": _About(
        "score = that of `part` for the beginning of an answer, which is embedded as documents are",
        "For short questions, whose vectors are nearer to other questions than to answers. Needs a language model, for "
        "one call.",
    ),
    "hyde": _About(
        "score = that of `part` for a made-up passage, which is embedded as documents are",
        "For questions worded quite unlike the documents, about subjects that the model knows. Needs a language model, "
        "for one call.",
    ),
    "rewrite": _About(
        "score = that of `part` for the rewritten question",
        "For questions as people type them: abbreviated, polite, or with more around them than they ask. Needs a "
        "language model, for one call.",
    ),
    "decompose": _About(
        "the question and up to `most` simpler questions, each by `part`; score = Σ over these of 1 / (60 + rank)",
        "For questions that compare, or that ask for several facts. Needs a language model, for one call.",
    ),
    "walk": _About(
        "mass goes from chunks to the names in them, each 1 / (chunks that have it + 3), and from names to\n"
        "chunks, each exp(similarity / 0.2) · (1 if it is about the name, else 0.03 · times, at most 3)\n"
        "score = mass after some steps",
        "To see where the graph alone leads. For answers, weave finds more.",
    ),
    "weave": _About(
        "the best by ln(mass of the walk) + (0.7 · similarity + 0.3 · BM25), then\n"
        "score = weighted sum of ln(mass); similarity to the question without its names; how much of the question the\n"
        "chunk and one other of the first ten cover together; how much it adds to a chunk that it shares a name with;\n"
        "whether one of the first chunks names its subject",
        "For questions that need several passages, where each leads to the next by a name. Needs no language model.",
    ),
    "hipporag": _About(
        "personalised PageRank over entities, their relations and the chunks that mention them\n"
        "seeds: entities by similarity to a keyword / times mentioned, the nearest chunks by passage_node_weight ·\n"
        "similarity; score = rank",
        "For comparison with HippoRAG 2, which it follows. For answers, weave finds more.",
    ),
    "linearrag": _About(
        "entities of the question activate those that they share a statement with, the statements nearest to the\n"
        "question first, round by round; then personalised PageRank over these entities and the chunks that mention\n"
        "them; score = rank",
        "For comparison with LinearRAG, which it follows. For answers, weave finds more.",
    ),
    "pathrag": _About(
        "resource of an entity = Σ over those before it of alpha · resource / relations; 1 where a path starts\n"
        "an entity with less than theta for each of its relations passes nothing on\n"
        "reliability of a path = Σ of the resources of its entities / its relations\n"
        "score of a chunk of these = similarity + path_weight · reliability of the best path that it states",
        "For questions about how named things are connected, and for comparison with PathRAG, which it follows. One "
        "model call for the keywords, if a model is set.",
    ),
    "graphrag": _About(
        "the entities nearest to the question; chunks in the order of the nearest entity that they mention, then by\n"
        "how many of its relations they state; score = 1 / rank\n"
        "relations: those between these entities, then those to others, by how many of these they are connected to\n"
        "reports: by how many of these entities the community has, then by rating",
        "For comparison with the local search of GraphRAG, which it follows. With `trueweave communities build`, "
        "reports on what the entities belong to come with the passages. No model call.",
    ),
}


def settings_page() -> str:
    """The page of all settings."""
    lines = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = "none" if default is None else f"`{json.dumps(default, default=str)}`"
        if isinstance(default, dict):
            shown = f"`{', '.join(default)}`" if default else "none"
        own = "" if name in PROCESS_WIDE else "yes"
        lines.append(f"| `{name}` | {field.description} | {shown} | {own} |\n")
    return _SETTINGS + "".join(lines)


def methods_page() -> str:
    """The page of all methods that come with Trueweave."""
    own = [entry.name for entry in distribution("trueweave").entry_points.select(group=registry.GROUP)]
    known = {name: registry.describe(name) for name in own}
    if untold := [name for name in known if name not in _ABOUT]:
        sys.exit(f"{Path(__file__).name} does not tell how {', '.join(untold)} ranks and when to use it: add that")
    return _METHODS + "".join(_method(known[name], about) for name, about in _ABOUT.items() if name in known)


def _method(one: Description, about: _About) -> str:
    rows = [f"| `{p.name}` | `{cell(p.type)}` | `{cell(p.default)}` | {p.help} |\n" for p in one.parameters]
    table = "".join(("\n| parameter | type | default | meaning |\n|---|---|---|---|\n", *rows)) if rows else ""
    return f"\n## {one.name}\n\n{one.summary}\n\n```text\n{about.how}\n```\n\n{about.when}\n{table}"


def main() -> None:
    pages = {"settings.md": settings_page(), "methods.md": methods_page()}
    pages |= {
        "commands.md": commands_page(),
        **rest_pages(),
        **python_pages(),
        "errors.md": errors_page(),
        "events.md": events_page(),
    }
    pages |= {"formats.md": formats_page(), "schema.md": schema_page()}
    write_or_check({FOLDER / name: page for name, page in pages.items()}, "reference")


if __name__ == "__main__":
    main()
