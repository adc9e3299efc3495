"""Prices of well-known models, from a list that comes with Trueweave.

prices.toml says what date it is from and how its figures were chosen; tools/write_prices.py writes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType

from trueweave.core.money import Price

CURRENCY = "USD"

_FILE = Path(__file__).with_name("prices.toml")


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices of models by name, as of a date, and their source."""

    as_of: date
    source: str
    prices: Mapping[str, Price]


@cache
def price_list() -> PriceList:
    """The list that comes with this version."""
    found = tomllib.loads(_FILE.read_text("utf-8"), parse_float=Decimal)
    prices = {name: Price(Decimal(to), Decimal(back)) for name, (to, back) in found["prices"].items()}
    return PriceList(found["as_of"], found["source"], MappingProxyType(prices))


def listed(model: str) -> Price | None:
    """The listed price of the model with exactly that name, in `CURRENCY`; None for all others, including names that
    only begin like it."""
    return price_list().prices.get(model)
