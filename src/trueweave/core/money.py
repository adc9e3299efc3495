"""Money: prices, budgets, spending and estimates. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a model, per million tokens."""

    tokens_in: Decimal
    tokens_out: Decimal

    def of(self, tokens_in: int, tokens_out: int) -> Decimal:
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Spent:
    """The spending on one stage by one model. `price` is None if unknown; `lost` calls were cut off, and are booked
    with their maximum cost."""

    stage: str
    model: str
    calls: int
    lost: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


SpendBy = Literal["stage", "model"]


@dataclass(frozen=True, slots=True)
class SpentOnDay:
    """The spending of one day (in UTC) on one stage, or by one model. `price` is None if unknown."""

    day: date
    name: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class SpentOn:
    """The spending on one document by one model. `price` is None if unknown."""

    document: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Budget:
    """The total budget of a workspace, its spending, and the amount reserved for calls in progress. A cap of None is no
    limit."""

    price_cap: Decimal | None
    token_cap: int | None
    price: Decimal
    tokens: int
    held_price: Decimal
    held_tokens: int


def money(price: Decimal, currency: str) -> str:
    """A price with its significant digits: `$1,234.50`, `0.0042 EUR`."""
    if price and abs(price) < Decimal("0.0001"):
        return f"less than {_in(currency, '0.0001')}"
    return _in(currency, f"{price:,.2f}" if price >= 1 or not price else f"{price:.4f}")


def _in(currency: str, amount: str) -> str:
    return f"${amount}" if currency == "USD" else f"{amount} {currency}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate for adding documents. Prices are None if unknown.

    `tokens_in` is counted on the exact prompts that would be sent. Replies cannot be counted in advance: `tokens_out`
    is derived from earlier replies in this workspace (`learnt`), or is an assumption, and `most_tokens_out` is the
    maximum. `answered` texts, each of one chunk or of several that are read together, already have a reply and cost
    nothing. `pictures` are those that `vision_model` would describe; models count images in different ways, so their
    price is an approximation. The notes say what cannot be counted in advance.
    """

    documents: int
    unchanged: int
    unreadable: int
    chunks: int
    tokens: int
    answered: int
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    most_tokens_out: int
    learnt: bool
    price: Decimal | None
    most_price: Decimal | None
    embedding_model: str
    embedding_price: Decimal | None
    extractor: str = ""
    notes: tuple[str, ...] = ()
    pictures: int = 0
    vision_model: str = ""
    vision_price: Decimal | None = Decimal(0)


@dataclass(frozen=True, slots=True)
class EmbeddingEstimate:
    """An estimate for embedding texts: their number, and their tokens. `present` texts are already embedded, by an
    earlier attempt. The price is None if unknown."""

    model: str
    texts: int
    tokens: int
    present: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class ReportEstimate:
    """An estimate for writing all missing or stale reports. Prices are None if unknown.

    For communities whose report is based on other reports, these are counted at their maximum length.
    """

    reports: int
    current: int
    model: str
    calls: int
    answered: int
    tokens_in: int
    most_tokens_out: int
    most_price: Decimal | None
