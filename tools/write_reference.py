"""Writes docs/reference from the settings, the methods and the server themselves. `make docs` fails while it is out of
date."""

from __future__ import annotations

import json
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

from written import write_or_check

from trueweave.core.settings import PREFIX, PROCESS_WIDE, Settings
from trueweave.retrieval.methods import registry
from trueweave.retrieval.methods.registry import Description

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

_SETTINGS = f"""# Settings

Set them in `trueweave.toml`, in the environment as `{PREFIX}…`, for a workspace, or in a call; each overrides the one
before. `trueweave settings` lists them, `trueweave settings NAME` explains one, and `trueweave settings NAME VALUE`
sets it in `trueweave.toml`; [`trueweave workspace settings`](../databases.md#settings-of-a-workspace) sets those of a
workspace. `make reference` writes this page.

| setting | default | a workspace may have its own | |
|---|---|---|---|
"""

_METHODS = """# Methods

Each method is one file in [`retrieval/methods`](../../src/trueweave/retrieval/methods), over the same index. On the
command line: `--method NAME --set parameter=value`; in Python: the class, with its parameters.
[Asking](../asking.md) covers the details.
This page is written by `make reference`.
"""


class _About(NamedTuple):
    """What the code of a method does not tell in a line: how it ranks, and when to use it."""

    how: str
    when: str


_ABOUT = {
    "auto": _About(
        "weave where at least least_subjects of the chunks are about a name that few others have, else fuse",
        "The default. Without vectors it is keyword.",
    ),
    "naive": _About(
        "score = similarity of the vectors of chunk and question",
        "Questions in other words than the documents'. It is the yardstick for all others.",
    ),
    "keyword": _About(
        "score = Σ over the question's words of idf · tf / (tf + k1 · (1 − b + b · length / mean length))",
        "Names, numbers and exact terms; and wherever nothing is embedded.",
    ),
    "fuse": _About(
        "score = Σ over the parts of weight / (k + rank), or of weight · score brought to 0 … 1",
        "What words and vectors agree on, with no call to a model; where documents share no names.",
    ),
    "local": _About(
        "entities of all keywords in one order by their similarity; the chunks that mention them by\n"
        "score = similarity of chunk and question + entity_weight · similarity of its best entity to the keyword\n"
        "pick=order: chunks in the order of the entities that they mention, but one with more of the entity's\n"
        "neighbours in it overtakes those at most order_range ahead; score = 1 / rank",
        "Questions about particular people and things. One call for the keywords if there is a model.",
    ),
    "global": _About(
        "relations of all keywords in one order by similarity; the chunks that state them, or mention their ends, by\n"
        "score = similarity of chunk and question + relation_weight · similarity of its best relation to the keyword\n"
        "pick=order: importance = alpha · (1 − order / max_order) + (1 − alpha) · weight / max_weight\n"
        "order: mean rank of the relations that a chunk states; weight: their mean strength",
        "Questions about themes and how things hang together. One call for the keywords if there is a model.",
    ),
    "hybrid": _About(
        "the first of each part, then the second of each, without repeats",
        "When you cannot tell whether a question is about things or about themes.",
    ),
    "mix": _About(
        "the first of naive, local and global, then the second of each, without repeats",
        "Vectors and the graph together, where entities and relations are to go along with the passages.",
    ),
    "subgraph": _About(
        "score = node_freq_weight · relevant entities in the chunk / relevant entities\n"
        "      + node_sim_weight · their mean similarity to the question",
        "Questions that join facts about several things; paths between these go along. similarity_threshold depends on "
        "the embedding model: null takes whatever stands out.",
    ),
    "guess": _About(
        "strength of a relation = harmonic mean of its emphasis · how often it is stated; each entity's strongest\n"
        "score = similarity of the vectors of chunk and guess",
        "Questions that are worded quite unlike the documents. Needs a language model, which is asked twice.",
    ),
    "community": _About(
        "reports of one level, all of them or those nearest to the question; a model says what each has to say of it,\n"
        "and how much that helps; score of a passage = Σ of that over the findings that rest on it",
        "Questions about all documents at once: themes, trends, what matters most. Needs `trueweave communities build` "
        "once, and one call for each map_tokens of reports if there is a model.",
    ),
    "drift": _About(
        "the reports nearest to the question, then the question and what follows from them by another method;\n"
        "score = Σ over these of 1 / (60 + rank)",
        "Questions that begin wide and end at particulars. Needs `trueweave communities build` once, and one call if "
        "there is a model.",
    ),
    "walk": _About(
        "mass goes from chunks to the names in them, each 1 / (chunks that have it + 3), and from names to\n"
        "chunks, each exp(similarity / 0.2) · (1 if it is about the name, else 0.03 · times, at most 3)\n"
        "score = mass after some steps",
        "To see where the graph alone leads. For answers, weave is better.",
    ),
    "weave": _About(
        "the best by ln(mass of the walk) + (0.7 · similarity + 0.3 · BM25), then\n"
        "score = weighted sum of ln(mass), similarity to the question without its names, what the chunk and another\n"
        "of the first ten have of the question together, what it adds to one that it shares a name with, and whether\n"
        "one of the first names what it is about",
        "Questions that take several passages, where one leads to the next by a name. Needs no language model.",
    ),
    "hipporag": _About(
        "personalised PageRank over entities, their relations and the chunks that mention them\n"
        "seeds: entities by similarity to a keyword / times mentioned, the nearest chunks by passage_node_weight ·\n"
        "similarity; score = rank",
        "To compare with HippoRAG 2, in whose style it is. For answers, weave finds more.",
    ),
    "linearrag": _About(
        "entities of the question activate those that statements nearest to the question put beside them, round by\n"
        "round; then personalised PageRank over these entities and the chunks that mention them; score = rank",
        "To compare with LinearRAG, in whose style it is. For answers, weave finds more.",
    ),
}


_REST = """# The server's paths

What [the server](../server.md) answers to, with the parameters of each path and the forms of what is sent and answered,
which `/v1/openapi.json` describes. Errors are `application/problem+json` everywhere. This page is written by
`make reference`.
"""


def rest_page() -> str:
    """The page of all paths of the server."""
    from trueweave.server.app import create_app

    rooms: dict[str, list[str]] = {}
    for path, methods in create_app(Settings()).openapi()["paths"].items():
        for method, operation in methods.items():
            rooms.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    return _REST + "".join(f"\n## {room}\n{''.join(told)}" for room, told in rooms.items())


def _operation(method: str, path: str, one: dict[str, Any]) -> str:
    told = [f"\n### `{method} {path}`\n\n{' '.join(one['description'].split())}\n"]
    named = [p for p in one.get("parameters", ()) if p["in"] != "path" and p["name"] != "idempotency-key"]
    if named:
        rows = [f"| `{p['name']}` | {_kind(p['schema'])} | {p.get('description', '')} |\n" for p in named]
        told += ["\n| parameter | | |\n|---|---|---|\n", *rows]
    body = one.get("requestBody", {}).get("content", {})
    sent = [f"{_kind(content['schema'])} as `{kind}`" for kind, content in body.items()]
    good = {status: r for status, r in one["responses"].items() if status.startswith("2")}
    answered = [
        f"{status}: {_kind(content['schema'])} as `{kind}`"
        for status, response in good.items()
        for kind, content in response.get("content", {}).items()
    ]
    facts = [f"Takes {'; '.join(sent)}."] if sent else []
    facts += [f"Answers {'; '.join(answered)}."] if answered else []
    if any(p["name"] == "idempotency-key" for p in one.get("parameters", ())):
        facts.append("Takes an `Idempotency-Key`.")
    return "".join((*told, f"\n{' '.join(facts)}\n" if facts else ""))


def _kind(schema: dict[str, Any]) -> str:
    """What a schema is, in a word or two."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"] if one.get("type") != "null")
    default = f", else {json.dumps(schema['default'])}" if schema.get("default") not in (None, "") else ""
    return f"{schema.get('format') or schema.get('type', 'anything')}{default}"


def settings_page() -> str:
    """The page of all settings."""
    lines = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = "none" if default is None else f"`{json.dumps(default, default=str)}`"
        if isinstance(default, dict):
            shown = f"`{', '.join(default)}`" if default else "none"
        own = "" if name in PROCESS_WIDE else "yes"
        lines.append(f"| `{name}` | {shown} | {own} | {field.description} |\n")
    return _SETTINGS + "".join(lines)


def methods_page() -> str:
    """The page of all methods that come with Trueweave."""
    own = [entry.name for entry in distribution("trueweave").entry_points.select(group=registry.GROUP)]
    known = {name: registry.describe(name) for name in own}
    if untold := [name for name in known if name not in _ABOUT]:
        sys.exit(f"{Path(__file__).name} does not tell how {', '.join(untold)} ranks and when to use it: add that")
    return _METHODS + "".join(_method(known[name], about) for name, about in _ABOUT.items() if name in known)


def _method(one: Description, about: _About) -> str:
    rows = [f"| `{p.name}` | `{_cell(p.type)}` | `{_cell(p.default)}` | {p.help} |\n" for p in one.parameters]
    table = "".join(("\n| parameter | type | default | |\n|---|---|---|---|\n", *rows)) if rows else ""
    return f"\n## {one.name}\n\n{one.summary}\n\n```text\n{about.how}\n```\n\n{about.when}\n{table}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    pages = {"settings.md": settings_page(), "methods.md": methods_page(), "rest.md": rest_page()}
    write_or_check({FOLDER / name: page for name, page in pages.items()}, "reference")


if __name__ == "__main__":
    main()
