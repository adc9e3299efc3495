"""Embedding models known by name, and what models cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.core.money import Price
    from trueweave.models.catalogue import HubModel
    from trueweave.models.hub import ModelFiles
    from trueweave.models.prices import PriceList


def model_table(found: Mapping[HubModel, ModelFiles | None], in_use: str) -> TextTable:
    """Models, one a line: what they are, and whether they are on this machine."""
    made = table("model", ">dimensions", ">tokens", "languages", "licence", "")
    for model, files in found.items():
        here = (
            "here, in use" if files and model.name == in_use else "here" if files else "in use" * (model.name == in_use)
        )
        made.add_row(
            model.name, f"{model.dimensions:,}", f"{model.most_tokens:,}", model.languages, model.licence, here
        )
    return made


def download_line(model: HubModel, files: ModelFiles) -> Text:
    """What was downloaded: how much, of which commit, and the checksum of the model itself."""
    checksum = dict(files.files)[model.model].checksum
    kind = "SHA-256" if len(checksum) == 64 else "SHA-1"
    return Text(
        f"local/{model.name}: {megabytes(files.size)} of {model.repository} at {files.commit[:7]}, checked: {kind} "
        f"{checksum[:12]}…"
    )


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def price_table(own: Mapping[str, Price], listed: Mapping[str, Price]) -> TextTable:
    """Prices in force, one a line: those of the settings, and then those of the list that they do not outweigh."""
    made = table("model", ">in", ">out", "from")
    for source, prices in (("yours", own), ("list", {name: one for name, one in listed.items() if name not in own})):
        for name, price in prices.items():
            made.add_row(name, _figure(price.tokens_in), _figure(price.tokens_out), source)
    return made


def price_notes(currency: str, listed: PriceList) -> str:
    """In what the prices are, and of which day the list is."""
    from trueweave.models.prices import CURRENCY

    told = f"In {currency}, for a million tokens to a model and from it. Models on your own machine cost nothing."
    if currency != CURRENCY:
        return f"{told} The list is in {CURRENCY}, so that none of its prices is in force."
    return f"{told} The list is of {listed.as_of}, from {listed.source}: see what your provider asks today."


def _figure(price: Decimal) -> str:
    """A price with two digits after the point, or as many as it has."""
    return f"{price:.2f}" if price == price.quantize(Decimal("0.01")) else f"{price.normalize():f}"
