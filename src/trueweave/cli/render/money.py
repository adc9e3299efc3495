"""What was spent on models, and what may be."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from trueweave.cli.render.tables import TextTable, table
from trueweave.core.money import money

if TYPE_CHECKING:
    from trueweave.core.money import Budget, Spent, SpentOn


def budget_rows(found: Budget, currency: str) -> dict[str, str]:
    """A budget, for people."""
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


def receipt_table(spent: Sequence[Spent], currency: str) -> TextTable:
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


def receipt_by_document(spent: Sequence[SpentOn], currency: str) -> TextTable:
    """What was spent, one line a document and model."""
    made = table("document", "model", ">calls", ">tokens in", ">tokens out", ">price")
    for one in spent:
        figures = f"{one.calls:,}", f"{one.tokens_in:,}", f"{one.tokens_out:,}"
        made.add_row(one.document, one.model, *figures, _price(one.price, currency))
    return made


def _price(price: Decimal | None, currency: str) -> str:
    return "not known" if price is None else money(price, currency)
