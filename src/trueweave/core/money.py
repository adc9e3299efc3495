"""Money: prices, budgets, what was spent, and estimates. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, for a million tokens."""

    tokens_in: Decimal
    tokens_out: Decimal

    def of(self, tokens_in: int, tokens_out: int) -> Decimal:
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent on one stage by one model. `price` is None where it is not known; `lost` calls were cut off, and
    are booked with the most that they may have cost."""

    stage: str
    model: str
    calls: int
    lost: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class SpentOn:
    """What was spent on one document by one model. `price` is None where it is not known."""

    document: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Budget:
    """What a workspace may spend in all, has spent, and holds back for calls under way. A cap of None is none."""

    price_cap: Decimal | None
    token_cap: int | None
    price: Decimal
    tokens: int
    held_price: Decimal
    held_tokens: int


def money(price: Decimal, currency: str) -> str:
    """A price with as many digits as tell something: `$1,234.50`, `0.0042 EUR`."""
    if price and abs(price) < Decimal("0.0001"):
        return f"less than {_in(currency, '0.0001')}"
    return _in(currency, f"{price:,.2f}" if price >= 1 or not price else f"{price:.4f}")


def _in(currency: str, amount: str) -> str:
    return f"${amount}" if currency == "USD" else f"{amount} {currency}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What adding documents would take. Prices are None where they are not known.

    `tokens_in` is counted, on the very prompts that would be sent. What a model replies cannot be counted before:
    `tokens_out` is what it wrote for as much text so far in this workspace (`learnt`), or else an assumption, and
    `most_tokens_out` is what it may write at most. `answered` chunks have a reply already and cost nothing.
    The notes say where nothing can be counted beforehand.
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


@dataclass(frozen=True, slots=True)
class EmbeddingEstimate:
    """What embedding everything with another model would take: so many texts and tokens. `present` ones are embedded
    already, by an earlier try. The price is None where it is not known."""

    model: str
    texts: int
    tokens: int
    present: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class ReportEstimate:
    """What writing all reports that are missing or stale would take. Prices are None where they are not known.

    Communities that are written from the reports of others are counted as if these were as long as they may be.
    """

    reports: int
    current: int
    model: str
    calls: int
    answered: int
    tokens_in: int
    most_tokens_out: int
    most_price: Decimal | None
