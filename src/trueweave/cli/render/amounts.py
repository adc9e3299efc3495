"""Amounts of money and tokens, as people write and read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from trueweave.core.errors import ConfigError
from trueweave.core.money import money

_NUMBER = r"\d+(?:[,_]\d{3})*(?:\.\d+)?"
_MONEY = re.compile(_NUMBER)
_TOKENS = re.compile(rf"({_NUMBER})\s*([km]?)\s*tokens?", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be spent: so much money, or so many tokens, or, with neither, as much as it takes."""

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
    """A number where there is little room: `950`, `12.3k`, `4.1M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("_", ""))
