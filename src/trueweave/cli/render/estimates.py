"""Estimates: of documents, of reports, of embedding again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType

from trueweave.cli.render.lines import count
from trueweave.cli.render.tables import pairs
from trueweave.core.money import money

if TYPE_CHECKING:
    from decimal import Decimal

    from trueweave.core.money import EmbeddingEstimate, Estimate, ReportEstimate


def document_estimate(found: Estimate, currency: str) -> list[RenderableType]:
    """An estimate for people: the figures, what they rest on, and what to do where a price is missing."""
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
        told = "none: nothing is asked, nothing is paid" if asks_none else f"as the extractor {found.extractor} asks it"
        return [pairs({**rows, **_embedding(found, currency), "model": told}), *not_counted]
    answered = f" ({count(found.answered, 'chunk')} answered already)" if found.answered else ""
    rows |= {
        "calls": f"{found.calls:,} to {found.model}{answered}",
        "tokens to it": f"{found.tokens_in:,}",
        "tokens from it": f"{found.tokens_out:,} expected, {found.most_tokens_out:,} at most",
        "price": _price(currency, found.price, found.most_price),
        **_embedding(found, currency),
    }
    rests = "as it wrote here so far" if found.learnt else f"assumed: {ASSUMED_OUT:g} for each token of text"
    notes: list[RenderableType] = [f"Tokens from the model are {rests}."] if found.calls else []
    unknown = [found.model] if found.price is None else []
    unknown += [found.embedding_model] if found.embedding_price is None else []
    return [pairs(rows), *notes, *not_counted, *map(_how_to_price, unknown)]


def report_estimate(found: ReportEstimate, currency: str) -> list[RenderableType]:
    """An estimate of reports about communities, for people."""
    rows: dict[str, object] = {"reports": f"{found.reports:,} to write, {found.current:,} up to date"}
    if not found.model:
        return [pairs({**rows, "model": "none: nothing is asked, nothing is paid"})]
    answered = f" ({count(found.answered, 'report')} answered already)" if found.answered else ""
    rows |= {
        "calls": f"{found.calls:,} to {found.model}{answered}",
        "tokens to it": f"{found.tokens_in:,}",
        "tokens from it": f"{found.most_tokens_out:,} at most",
        "price": f"{_price(currency, found.most_price)}{' at most' if found.most_price else ''}",
    }
    return [pairs(rows), *([_how_to_price(found.model)] if found.most_price is None else [])]


def embedding_estimate(found: EmbeddingEstimate, currency: str) -> list[RenderableType]:
    """An estimate of embedding everything again, for people."""
    present = f" ({count(found.present, 'text')} embedded already)" if found.present else ""
    rows = {
        "texts": f"{found.texts:,} to embed with {found.model}{present}",
        "tokens": f"{found.tokens:,}",
        "price": _price(currency, found.price),
    }
    return [pairs(rows), *([_how_to_price(found.model)] if found.price is None else [])]


def _embedding(found: Estimate, currency: str) -> dict[str, object]:
    price = _price(currency, found.embedding_price)
    return {"embedding": f"{found.embedding_model}, {price}"} if found.embedding_model else {}


def _price(currency: str, expected: Decimal | None, most: Decimal | None = None) -> str:
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
