"""What models cost: by the settings, nothing at home, or by the list that comes with Trueweave."""

import runpy
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trueweave import Settings
from trueweave.core.money import Price
from trueweave.engine import model_settings
from trueweave.models.names import PROVIDERS
from trueweave.models.prices import listed, price_list

KNOWN = "openai/text-embedding-3-small"
TODAY = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[3] / "tools" / "write_prices.py"))


# --- the list -------------------------------------------------------------------------------------------


def test_the_list_has_its_day_and_prices_of_providers_that_are_paid() -> None:
    found = price_list()
    assert found.as_of <= datetime.now(UTC).date()
    assert found.source.startswith("genai-prices ")
    providers = {name.partition("/")[0] for name in found.prices}
    assert providers == {"openai", "anthropic", "gemini", "mistral", "groq", "together", "cohere", "bedrock"}
    assert not [name for name in providers if PROVIDERS[name].local]
    # A slip of the point would be seen.
    assert all(Decimal("0.01") <= price.tokens_in <= 100 for price in found.prices.values())
    free = [name for name, price in found.prices.items() if not price.tokens_out]
    assert all("embed" in name for name in free)
    assert all(price.tokens_out <= 500 for price in found.prices.values())


def test_a_name_is_listed_exactly_or_not_at_all() -> None:
    assert listed(KNOWN) == Price(Decimal("0.02"), Decimal(0))
    for other in (f"{KNOWN}-x", KNOWN.upper(), KNOWN.partition("/")[2], f"azure/{KNOWN.partition('/')[2]}", ""):
        assert listed(other) is None


def test_the_list_has_just_the_models_that_its_tool_names(tool: dict[str, Any]) -> None:
    named = [f"{provider}/{model}" for provider, (_, models) in tool["MODELS"].items() for model in models]
    assert list(price_list().prices) == named


# --- what is in force -----------------------------------------------------------------------------------


def test_settings_outweigh_the_list_also_with_nothing() -> None:
    assert model_settings.price(Settings(), KNOWN) == listed(KNOWN)
    own = Settings(prices={KNOWN: (Decimal(3), Decimal(4))})
    assert model_settings.price(own, KNOWN) == Price(Decimal(3), Decimal(4))
    assert model_settings.price(Settings(prices={KNOWN: (Decimal(0), Decimal(0))}), KNOWN) == model_settings.FREE


def test_the_list_is_not_in_force_in_another_currency() -> None:
    assert model_settings.price(Settings(currency="EUR"), KNOWN) is None
    assert model_settings.price(Settings(currency="EUR"), "ollama/any") == model_settings.FREE


@pytest.mark.parametrize("model", ["openai/any", "azure/gpt-4o", "bedrock/amazon.nova-lite-v1:0", "ours/any"])
def test_other_models_have_no_known_price(model: str) -> None:
    assert model_settings.price(Settings(), model) is None


# --- how the list is made -------------------------------------------------------------------------------


@dataclass
class Tiers:
    """A price that grows with the prompt, as genai-prices has it."""

    base: Decimal
    tiers: list[Any]


def priced(tokens_in: Any, tokens_out: Any = None, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(input_mtok=tokens_in, output_mtok=tokens_out, **more)


def at(price: str) -> SimpleNamespace:
    return SimpleNamespace(start=200_000, price=Decimal(price))


def test_the_highest_tier_counts(tool: dict[str, Any]) -> None:
    prices = priced(Tiers(Decimal(3), [at("6"), at("5")]), Tiers(Decimal(15), [at("22.5")]))
    assert tool["highest"]("any", prices, TODAY) == (Decimal(6), Decimal("22.5"))
    assert tool["highest"]("any", priced(Decimal(1)), TODAY) == (Decimal(1), Decimal(0))


def test_a_write_to_the_cache_counts_where_it_comes_unasked(tool: dict[str, Any]) -> None:
    prices = priced(Decimal(2), Decimal(10), cache_write_mtok=Tiers(Decimal("2.5"), [at("5")]))
    assert tool["highest"]("gpt", prices, TODAY) == (Decimal(5), Decimal(10))
    assert tool["highest"]("claude", prices, TODAY) == (Decimal(2), Decimal(10))


def test_prices_of_the_past_do_not_count_and_those_to_come_do(tool: dict[str, Any]) -> None:
    def since(day: date | None, price: int) -> SimpleNamespace:
        constraint = SimpleNamespace(start_date=day) if day else None
        return SimpleNamespace(constraint=constraint, prices=priced(Decimal(price), Decimal(price)))

    past, now, later = since(None, 9), since(date(2026, 10, 1), 2), since(date(2026, 12, 1), 4)
    assert tool["highest"]("any", [past, now], TODAY) == (Decimal(2), Decimal(2))
    assert tool["highest"]("any", [past, now, later], TODAY) == (Decimal(4), Decimal(4))
    by_night = SimpleNamespace(constraint=SimpleNamespace(start_time=None), prices=priced(Decimal(1), Decimal(7)))
    assert tool["highest"]("any", [now, by_night], TODAY) == (Decimal(2), Decimal(7))
