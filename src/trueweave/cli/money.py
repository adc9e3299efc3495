"""`trueweave receipt` and `trueweave budget`: what was spent, on what, and what may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.amounts import parse_allowance, written
from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.output import next_step, pairs, replying, table
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.cli.tables import Table
from trueweave.types import money

if TYPE_CHECKING:
    from trueweave.engine import AsyncTrueweave
    from trueweave.types import Budget, Spent, SpentOn


def receipt(
    by_document: Annotated[bool, typer.Option("--by-document", help="The costliest documents, by model.")] = False,
    limit: Limit = 20,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show what was spent on models, by stage and model."""
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        if by_document:
            costly = in_workspace(lambda trueweave: trueweave.receipt_by_document(limit=limit), settings)
            reply({"documents": costly}, _by_document(costly, settings.currency) if costly else _nothing())
        else:
            spent = in_workspace(lambda trueweave: trueweave.receipt(), settings)
            reply({"receipt": spent}, receipt_table(spent, settings.currency) if spent else _nothing())


def budget(
    amount: Annotated[
        str | None, typer.Argument(metavar="AMOUNT", help='2.00 is money, "500k tokens" are tokens, none is no limit.')
    ] = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show or set what may be spent on models from now on.

    The budget is one for all workers of a workspace, and is never exceeded: what a call may cost at most is held back
    before it is made.
    """

    async def show_or_set(trueweave: AsyncTrueweave) -> Budget:
        if amount is None:
            return await trueweave.budget()
        wanted = parse_allowance(amount)
        return await trueweave.allow(price=wanted.price, tokens=wanted.tokens)

    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        found = in_workspace(show_or_set, settings)
        said = [f"From now on: {written(parse_allowance(amount), settings.currency)}."] if amount else []
        capped = found.price_cap is not None or found.token_cap is not None
        advice = (
            [] if amount or capped else [next_step("trueweave budget AMOUNT", "sets what may be spent from now on")]
        )
        reply(asdict(found), *said, pairs(purse(found, settings.currency)), *advice)


def purse(found: Budget, currency: str) -> dict[str, str]:
    """What a budget comes to, for people."""
    left = "no limit"
    if found.price_cap is not None:
        left = f"{money(max(found.price_cap - found.price - found.held_price, Decimal(0)), currency)} left"
    elif found.token_cap is not None:
        left = f"{max(found.token_cap - found.tokens - found.held_tokens, 0):,} tokens left"
    rows = {"budget": left, "spent": _spent(found.price, found.tokens, currency)}
    if found.held_tokens:
        rows["held"] = f"{_spent(found.held_price, found.held_tokens, currency)}, for calls under way"
    return rows


def _spent(price: Decimal, tokens: int, currency: str) -> str:
    return f"{money(price, currency)} and {tokens:,} tokens" if price else f"{tokens:,} tokens"


def receipt_table(spent: Sequence[Spent], currency: str) -> Table:
    """What was spent, one line a stage and model, and the sum where there are several."""
    made = table("stage", "model", ">calls", ">tokens in", ">tokens out", ">price")
    for one in spent:
        lost = f" ({one.lost:,} cut off)" if one.lost else ""
        figures = f"{one.calls:,}{lost}", f"{one.tokens_in:,}", f"{one.tokens_out:,}"
        made.add_row(one.stage, one.model, *figures, _price(one.price, currency))
    if len(spent) > 1:
        calls, tokens_in, tokens_out = (sum(each) for each in zip(*map(_figures, spent), strict=True))
        known = [one.price for one in spent if one.price is not None]
        total = sum(known, start=Decimal(0)) if len(known) == len(spent) else None
        made.add_row(
            "all", "", f"{calls:,}", f"{tokens_in:,}", f"{tokens_out:,}", _price(total, currency), style="bold"
        )
    return made


def _figures(one: Spent) -> tuple[int, int, int]:
    return one.calls, one.tokens_in, one.tokens_out


def _by_document(spent: Sequence[SpentOn], currency: str) -> Table:
    made = table("document", "model", ">calls", ">tokens in", ">tokens out", ">price")
    for one in spent:
        figures = f"{one.calls:,}", f"{one.tokens_in:,}", f"{one.tokens_out:,}"
        made.add_row(one.document, one.model, *figures, _price(one.price, currency))
    return made


def _price(price: Decimal | None, currency: str) -> str:
    return "not known" if price is None else money(price, currency)


def _nothing() -> str:
    return "Nothing was spent."
