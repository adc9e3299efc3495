"""The models of the settings, their prices, the budget of a run, and the extractor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from trueweave.cli.render.money import Allowance, parse_allowance
from trueweave.core.errors import PriceUnknown

if TYPE_CHECKING:
    from trueweave.core.settings import Settings


def of_documents(settings: Settings) -> list[str]:
    """The models that are called to process documents."""
    from trueweave.engine import model_settings
    from trueweave.ingest.own import BUILT_IN_EXTRACTORS

    asked = model_settings.recipe(settings)
    # A custom extractor may call the model of the settings.
    model = asked.model if asked.extractor in BUILT_IN_EXTRACTORS else settings.model_for("extract")
    return [name for name in (model, settings.embedding_model) if name]


def of_reports(settings: Settings) -> list[str]:
    """The models that are called to write community reports."""
    return [name for name in (settings.model_for("report"), settings.embedding_model) if name]


def read_budget(budget: str | None, settings: Settings, models: Sequence[str]) -> Allowance | None:
    """What a run may spend on these models, if that is given. In money, their prices must be known."""
    allowance = parse_allowance(budget) if budget else None
    if allowance and allowance.price is not None:
        check_priced(settings, models)
    return allowance


def confirmed(yes: bool) -> bool:
    """Whether to continue: on a terminal, the user is asked."""
    return yes or not sys.stdin.isatty() or typer.confirm("Continue?", err=True)


def is_priced(settings: Settings, models: Sequence[str]) -> bool:
    """Whether spending can be shown in money: the price of each model is known, and one costs something."""
    from trueweave.engine import model_settings

    prices = [model_settings.price(settings, name) for name in models]
    return None not in prices and any(price != model_settings.FREE for price in prices)


def is_paid(settings: Settings, models: Sequence[str]) -> bool:
    """Whether a model is known to cost money."""
    from trueweave.engine import model_settings

    return any(model_settings.price(settings, name) != model_settings.FREE for name in models)


def check_priced(settings: Settings, models: Sequence[str]) -> None:
    """Raise PriceUnknown if a budget in money cannot be enforced, and ConfigError for an unknown provider."""
    from trueweave.engine import model_settings

    for name in models:
        model_settings.check_name(settings, name)
        if model_settings.price(settings, name) is None:
            raise PriceUnknown(
                f"a budget in money needs prices, and the price of {name} is not known. Set it under [prices] in "
                f'trueweave.toml, per million tokens of input and output, as in "{name}" = [0.50, 2.00]; or give '
                'the budget in tokens, as in --budget "500k tokens".'
            )
