"""`trueweave compare`: methods side by side on one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.model_files import fetch_model_if_possible
from trueweave.cli.options import AsGroups, AsOf, DatabaseUrl, Json, Model, Workspace
from trueweave.cli.questions import (
    Documents,
    FilterText,
    Question,
    QuestionNotes,
    ShowEvidence,
    Where,
    read_filter,
    read_question,
)
from trueweave.cli.render.answers import check_lines
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.evidence import evidence_lines
from trueweave.cli.render.lines import count, indented, next_step, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.errors import ConfigError
from trueweave.core.json_forms import comparison_json
from trueweave.core.money import money

if TYPE_CHECKING:
    from trueweave.core.answers import Answer, Compared, Comparison
    from trueweave.engine.trueweave import AsyncTrueweave

# One of each family: words, vectors, both, LightRAG's, and ours.
_SHORT_LIST = ("keyword", "naive", "fuse", "mix", "weave")
_ALL = "all"

Methods = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…",
        help=f"The methods, separated by commas, or all. Default: {','.join(_SHORT_LIST)}, without those that need "
        "vectors of entities and relations if the workspace has none.",
    ),
]
Answers = Annotated[bool, typer.Option("--answers", help="Also generate an answer with each method.")]


def compare(
    question: Question,
    methods: Methods = None,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    answers: Answers = False,
    show_evidence: ShowEvidence = False,
    model: Model = None,
    as_group: AsGroups = None,
    as_of: AsOf = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show what each method finds for a question, side by side.

    Methods run one after the other, so that they do not slow each other down. A method that cannot be used here is
    listed with the reason.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace, model=model))
        fetch_model_if_possible(settings)
        if answers and not settings.model_for("answer"):
            raise ConfigError(
                "no language model is set, so there are no answers to compare. Set one in trueweave.toml, as in "
                'model = "ollama/llama3.1:8b", or omit --answers.'
            )
        asked, which = read_question(question), read_filter(document, where, filter, settings.project_folder)
        names = [name.strip() for name in (methods or "").split(",") if name.strip()]

        async def look(trueweave: AsyncTrueweave) -> tuple[Comparison, list[str]]:
            left_out = [] if names else await _without_vectors(trueweave)
            wanted = names or [name for name in _SHORT_LIST if name not in left_out]
            which_ones = () if wanted == [_ALL] else wanted
            listener = QuestionNotes()
            found = await trueweave.compare(asked, which_ones, filter=which, answers=answers, listener=listener)
            return found, left_out

        with spinner("Comparing …"):
            found, left_out = in_workspace(look, settings, groups=as_group, as_of=as_of)
        if left_out:
            say(
                f"Not compared: {', '.join(left_out)}, because only chunks have vectors here. "
                "`trueweave vectors make` makes those of entities and relations."
            )
        lines = comparison_lines(found, settings.currency, show_evidence=show_evidence)
        more = [] if methods else [next_step(f"trueweave compare QUESTION --methods {_ALL}", "compares all")]
        reply(comparison_json(found), *lines, *more)


async def _without_vectors(trueweave: AsyncTrueweave) -> list[str]:
    """Those methods of the short list that need vectors of entities and relations, if only chunks have vectors."""
    from trueweave.retrieval.methods import registry
    from trueweave.retrieval.methods.needs import needs_of

    status = await trueweave.status()
    if not status.embedding_model or status.graph_vectors == "kept":
        return []
    return [name for name in _SHORT_LIST if "graph_vectors" in needs_of(registry.make(name))]


def comparison_lines(found: Comparison, currency: str, *, show_evidence: bool = False) -> list[RenderableType]:
    """A comparison for people: figures, what methods have in common, answers, and what could not be used."""
    usable = [row for row in found.rows if not row.problem]
    text: list[RenderableType] = [_figures(usable, currency)] if usable else []
    found_some = [row for row in usable if row.evidence.passages]
    if len(found_some) > 1:
        text += ["", Text("Passages in common, in percent (= all)", style="bold"), _overlap(found, found_some)]
    for row in usable:
        if row.answer:
            text += ["", Text(row.method, style="bold"), *_answer(row.answer)]
        if show_evidence:
            text += ["", Text(f"What {row.method} found", style="bold"), *evidence_lines(row.evidence, found.question)]
    text += [*_empty(usable), *_unusable(found.rows)]
    return [*text, "", next_step("trueweave ask QUESTION --method NAME", "asks one of them")] if usable else text


def _figures(rows: Sequence[Compared], currency: str) -> TextTable:
    """One line a method. What models took has no columns where none was asked."""
    is_paid = any(row.usage.calls or row.usage.kept for row in rows)
    is_priced = any(row.usage.price != 0 for row in rows)
    headings = ["method", ">passages", ">entities", ">relations", ">SQL", ">ms"]
    headings += [">calls", ">tokens"] if is_paid else []
    made = table(*headings, *([">price"] if is_priced else []), "~best")
    for row in rows:
        made.add_row(
            row.method, *_numbers(row, is_paid=is_paid), *([_price(row, currency)] if is_priced else []), _best(row)
        )
    return made


def _numbers(row: Compared, *, is_paid: bool) -> list[str]:
    found, usage = row.evidence, row.usage
    sizes = len(found.passages), len(found.entities), len(found.relations), found.trace.statements
    numbers = [*(f"{size:,}" for size in sizes), f"{1000 * found.trace.seconds:,.0f}"]
    numbers += [f"{usage.calls:,}", f"{usage.tokens_in + usage.tokens_out:,}"] if is_paid else []
    return numbers


def _price(row: Compared, currency: str) -> str:
    return "?" if row.usage.price is None else money(row.usage.price, currency)


def _best(row: Compared) -> str:
    return row.evidence.passages[0].source if row.evidence.passages else "nothing"


def _overlap(found: Comparison, rows: Sequence[Compared]) -> TextTable:
    """For each pair of methods the share of passages that both found, among those that either did. Columns have the
    numbers of methods for headings, and 100 is written as "=": more would need more room than a terminal has."""
    made = table("", *(f">{n}" for n in range(1, len(rows))), gap=1)
    for n, row in enumerate(rows):
        shares = (f"{100 * found.overlap(row, other):.0f}" for other in rows[:n])
        made.add_row(f"{n + 1:>2} {row.method}", *("=" if share == "100" else share for share in shares))
    return made


def _answer(answer: Answer) -> list[RenderableType]:
    cited = f"{count(len({one.number for one in answer.citations}), 'passage')} cited"
    return [Text(answer.text), *check_lines(answer), Text(cited, style="dim")]


def _empty(rows: Sequence[Compared]) -> list[RenderableType]:
    """Why methods found nothing, where they say so."""
    told = [
        indented(f"{row.method}: {row.evidence.reason}") for row in rows if row.evidence.reason and not row.evidence
    ]
    return ["", warning("Found nothing:"), *told] if told else []


def _unusable(rows: Sequence[Compared]) -> list[RenderableType]:
    """Methods that cannot be used here, by reason."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.problem:
            reasons[row.problem].append(row.method)
    if not reasons:
        return []
    told = [indented(f"{', '.join(names)}: {reason}") for reason, names in reasons.items()]
    return ["", warning("Cannot be used here:"), *told]
