"""Amounts of money and tokens: budgets, spending and estimates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import count
from trueweave.cli.render.tables import TextTable, pairs, table
from trueweave.core.errors import ConfigError
from trueweave.core.money import money

if TYPE_CHECKING:
    from decimal import Decimal

    from trueweave.core.money import Budget, EmbeddingEstimate, Estimate, ReportEstimate, Spent, SpentOn


def budget_rows(found: Budget, currency: str) -> dict[str, str]:
    """A budget as rows to print."""
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
    """What was spent, one line per stage and model, and the sum if there are several."""
    made = table("stage", "model", ">calls", ">tokens in", ">tokens out", ">price")
    for one in spent:
        calls, *tokens = _figures(one)
        lost = f" ({one.lost:,} cut off)" if one.lost else ""
        made.add_row(one.stage, one.model, f"{calls}{lost}", *tokens, _price(one.price, currency))
    if len(spent) > 1:
        sums = (sum(getattr(one, what) for one in spent) for what in ("calls", "tokens_in", "tokens_out"))
        known = [one.price for one in spent if one.price is not None]
        total = sum(known, start=Decimal(0)) if len(known) == len(spent) else None
        made.add_row("all", "", *(f"{number:,}" for number in sums), _price(total, currency), style="bold")
    return made


def _figures(one: Spent | SpentOn) -> tuple[str, str, str]:
    return f"{one.calls:,}", f"{one.tokens_in:,}", f"{one.tokens_out:,}"


def receipt_by_document(spent: Sequence[SpentOn], currency: str) -> TextTable:
    """What was spent, one line per document and model."""
    rows = ((one.document, one.model, *_figures(one), _price(one.price, currency)) for one in spent)
    return table("document", "model", ">calls", ">tokens in", ">tokens out", ">price", rows=rows)


def _price(price: Decimal | None, currency: str) -> str:
    return "not known" if price is None else money(price, currency)


_NUMBER = r"\d+(?:[,_]\d{3})*(?:\.\d+)?"
_MONEY = re.compile(_NUMBER)
_TOKENS = re.compile(rf"({_NUMBER})\s*([km]?)\s*tokens?", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be spent: an amount of money, or a number of tokens, or with neither, no limit."""

    price: Decimal | None = None
    tokens: int | None = None


def parse_allowance(text: str) -> Allowance:
    """An allowance from `2.00` (money), `500k tokens` or `500000tokens`, or `none` (no limit)."""
    wanted = text.strip()
    if wanted.lower() == "none":
        return Allowance()
    if _MONEY.fullmatch(wanted):
        return Allowance(price=_number(wanted))
    if found := _TOKENS.fullmatch(wanted):
        number, unit = found.groups()
        return Allowance(tokens=int(_number(number) * _TIMES[unit.lower()]))
    raise ConfigError(
        f"{text!r} is not a budget. Write money as 2.00, in the currency of the settings; tokens as 500000tokens or "
        '"500k tokens"; or none, for no limit.'
    )


def allowance_words(allowance: Allowance, currency: str) -> str:
    """An allowance in words."""
    if allowance.price is not None:
        return money(allowance.price, currency)
    return "no limit" if allowance.tokens is None else f"{allowance.tokens:,} tokens"


def short_number(number: int) -> str:
    """A number in short form: `950`, `12.3k`, `4.1M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("_", ""))


def document_estimate(found: Estimate, currency: str) -> list[RenderableType]:
    """An estimate to print: the figures, what they are based on, and what to do if a price is missing."""
    from trueweave.ingest.estimate import ASSUMED_OUT
    from trueweave.ingest.own import BUILT_IN_EXTRACTORS

    others = [(found.unchanged, "unchanged"), (found.unreadable, "unreadable")]
    rows: dict[str, object] = {
        "documents": ", ".join(
            (f"{found.documents:,} new or changed", *(f"{number:,} {what}" for number, what in others if number))
        ),
        "chunks": f"{found.chunks:,}, of {count(found.tokens, 'token')} in all",
    }
    not_counted = [f"{note[0].upper()}{note[1:]}." for note in found.notes]
    if not found.model:
        asks_none = found.extractor in ("", *BUILT_IN_EXTRACTORS)
        told = (
            "none: no model is called, and nothing is charged"
            if asks_none
            else f"as the extractor {found.extractor} asks it"
        )
        more = {**_vision(found, currency), **_embedding(found, currency)}
        unknown = [found.vision_model] if found.vision_price is None else []
        return [pairs({**rows, **more, "model": told}), *not_counted, *map(_how_to_price, unknown)]
    answered = f" ({count(found.answered, 'chunk')} answered already)" if found.answered else ""
    rows |= {
        "calls": f"{found.calls:,} to {found.model}{answered}",
        "tokens to it": f"{found.tokens_in:,}",
        "tokens from it": f"{found.tokens_out:,} expected, {found.most_tokens_out:,} at most",
        "price": _estimated(currency, found.price, found.most_price),
        **_vision(found, currency),
        **_embedding(found, currency),
    }
    rests = "as it wrote here so far" if found.learnt else f"assumed: {ASSUMED_OUT:g} for each token of text"
    notes: list[RenderableType] = [f"Tokens from the model are {rests}."] if found.calls else []
    unknown = [found.model] if found.price is None else []
    unknown += [found.embedding_model] if found.embedding_price is None else []
    unknown += [found.vision_model] if found.vision_price is None else []
    return [pairs(rows), *notes, *not_counted, *map(_how_to_price, unknown)]


def report_estimate(found: ReportEstimate, currency: str) -> list[RenderableType]:
    """An estimate for community reports to print."""
    rows: dict[str, object] = {"reports": f"{found.reports:,} to write, {found.current:,} up to date"}
    if not found.model:
        return [pairs({**rows, "model": "none: no model is called, and nothing is charged"})]
    answered = f" ({count(found.answered, 'report')} answered already)" if found.answered else ""
    rows |= {
        "calls": f"{found.calls:,} to {found.model}{answered}",
        "tokens to it": f"{found.tokens_in:,}",
        "tokens from it": f"{found.most_tokens_out:,} at most",
        "price": f"{_estimated(currency, found.most_price)}{' at most' if found.most_price else ''}",
    }
    return [pairs(rows), *([_how_to_price(found.model)] if found.most_price is None else [])]


def embedding_estimate(found: EmbeddingEstimate, currency: str) -> list[RenderableType]:
    """An estimate for embedding everything again to print."""
    present = f" ({count(found.present, 'text')} embedded already)" if found.present else ""
    rows = {
        "texts": f"{found.texts:,} to embed with {found.model}{present}",
        "tokens": f"{found.tokens:,}",
        "price": _estimated(currency, found.price),
    }
    return [pairs(rows), *([_how_to_price(found.model)] if found.price is None else [])]


def _vision(found: Estimate, currency: str) -> dict[str, object]:
    price = _estimated(currency, found.vision_price)
    return {"pictures": f"{found.pictures:,} to describe by {found.vision_model}, {price}"} if found.pictures else {}


def _embedding(found: Estimate, currency: str) -> dict[str, object]:
    price = _estimated(currency, found.embedding_price)
    return {"embedding": f"{found.embedding_model}, {price}"} if found.embedding_model else {}


def _estimated(currency: str, expected: Decimal | None, most: Decimal | None = None) -> str:
    if expected is None:
        return "not known"
    if not expected and not most:
        return "nothing"
    told = money(expected, currency)
    return told if most is None else f"{told} expected, {money(most, currency)} at most"


def _how_to_price(model: str) -> str:
    return (
        f"The price of {model} is not known. Set it under [prices] in trueweave.toml, for a million tokens to it and "
        f'from it, as in: "{model}" = [0.50, 2.00]'
    )
