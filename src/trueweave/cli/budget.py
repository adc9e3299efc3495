"""`trueweave budget`: show or set the budget for models."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.render.lines import next_step
from trueweave.cli.render.money import allowance_words, budget_rows, parse_allowance
from trueweave.cli.render.tables import pairs
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.core.money import Budget
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def budget(
    session: CommandSession,
    amount: Annotated[
        str | None,
        typer.Argument(metavar="AMOUNT", help='2.00 is money, "500k tokens" is tokens, none removes the limit.'),
    ] = None,
) -> None:
    """Show or set the budget for models from now on.

    The budget is shared by all workers of a workspace, and is never exceeded: the maximum cost of a call is reserved
    before the call.
    """

    async def show_or_set(trueweave: AsyncTrueweave) -> Budget:
        if amount is None:
            return await trueweave.budget.get()
        wanted = parse_allowance(amount)
        return await trueweave.budget.allow(price=wanted.price, tokens=wanted.tokens)

    session = session.with_workspace_settings()
    found = session(show_or_set)
    said = [f"From now on: {allowance_words(parse_allowance(amount), session.settings.currency)}."] if amount else []
    capped = found.price_cap is not None or found.token_cap is not None
    advice = [] if amount or capped else [next_step("trueweave budget AMOUNT", "sets the budget from now on")]
    session.reply(asdict(found), *said, pairs(budget_rows(found, session.settings.currency)), *advice)
