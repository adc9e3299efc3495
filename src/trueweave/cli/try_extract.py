"""`trueweave try-extract`: try an extractor on one chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.options import Extractor, Model
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, indented, warning
from trueweave.cli.render.tables import pairs, table
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.money import money

if TYPE_CHECKING:
    from trueweave.core.model_calls import ExtractionTrial, ModelExchange


@workspace_command
def try_extract(
    session: CommandSession,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file. If it has several documents, the first is used.")
    ],
    chunk: Annotated[int, typer.Option(min=1, metavar="N", help="The number of the chunk.")] = 1,
    extractor: Extractor = None,
    model: Model = None,
) -> None:
    """Try extraction on one chunk.

    Shows the prompt, the reply, what is kept, what is dropped and why, and the cost. Nothing is added to the index.
    Replies are cached as usual, so adding the document afterwards costs nothing for this chunk.

    Exits with 1 when the model's reply cannot be used.
    """
    session = session.with_workspace_settings(extractor=extractor, model=model)
    with spinner("Asking …"):
        found = session(lambda trueweave: trueweave.try_extract(file, chunk=chunk))
    session.reply(_trial_answer(found), *_trial_lines(found, session.settings.currency))
    if found.problem:
        raise typer.Exit(1)


def _trial_answer(found: ExtractionTrial) -> dict[str, object]:
    """A trial with its sums."""
    return {**asdict(found), "tokens_in": found.tokens_in, "tokens_out": found.tokens_out, "price": found.price}


def _trial_lines(found: ExtractionTrial, currency: str) -> Iterator[RenderableType]:
    """The chunk, each call, what was kept and left out, and the cost."""
    yield pairs(
        {
            "document": found.uri,
            "chunk": f"{found.number} of {found.chunks}, {count(found.chunk.tokens, 'token')}, by {found.chunker}",
            "extractor": found.extractor,
        }
    )
    yield from _titled("Text", Text(found.chunk.text))
    for number, call in enumerate(found.calls, 1):
        yield from _call(number, call)
    if found.problem:
        yield from _titled("Problem", warning(found.problem))
    yield from _kept(found)
    if found.left_out:
        rows = ((one.kind, one.what, one.why) for one in found.left_out)
        yield from _titled(f"Left out: {len(found.left_out)}", table("", "left out", "why", rows=rows))
    if found.found.notes:
        yield from _titled("Notes", *map(indented, found.found.notes))
    yield from _titled("Cost", pairs(_cost(found, currency)))


def _titled(title: str, *body: RenderableType) -> Iterator[RenderableType]:
    yield Text(f"\n{title}", style="bold")
    yield from body


def _call(number: int, call: ModelExchange) -> Iterator[RenderableType]:
    cached = ", from the cache" if call.reply.kept else ""
    yield from _titled(f"Call {number}: {call.stage}{cached}")
    for message in call.prompt.messages:
        yield Text(f"[{message.role}]", style="dim")
        yield Text(message.content)
    yield Text("[reply]", style="dim")
    yield Text(call.reply.text)


def _kept(found: ExtractionTrial) -> Iterator[RenderableType]:
    entities, relations = (
        table("entity", "type", ">places", "~description"),
        table("relation", "keywords", "~description"),
    )
    for mention in found.found.mentions:
        entities.add_row(mention.name, mention.type, f"{len(mention.spans):,}", mention.description)
    for link in found.found.links:
        relations.add_row(f"{link.source} -> {link.target}", ", ".join(link.keywords), link.description)
    kept = f"{count(len(found.found.mentions), 'entity')}, {count(len(found.found.links), 'relation')}"
    shown = [one for one, some in ((entities, found.found.mentions), (relations, found.found.links)) if some]
    yield from _titled(f"Kept: {kept}", *shown)


def _cost(found: ExtractionTrial, currency: str) -> dict[str, object]:
    cached = sum(call.reply.kept for call in found.calls)
    price = "not known" if found.price is None else money(found.price, currency)
    return {
        "calls": f"{len(found.calls) - cached:,}{f', and {cached:,} from the cache' if cached else ''}",
        "tokens": f"{found.tokens_in:,} to the model, {found.tokens_out:,} from it",
        "price": price,
    }
