"""Amounts of money and tokens, as people write and read them."""

from decimal import Decimal

import pytest

from trueweave.cli.render.money import Allowance, allowance_words, parse_allowance, short_number
from trueweave.core.money import money
from trueweave.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "price", "tokens"),
    [
        ("2.00", "2.00", None),
        ("2", "2", None),
        (" 0.5 ", "0.5", None),
        ("1,250.75", "1250.75", None),
        ("0", "0", None),
        ("500000tokens", None, 500_000),
        ("500k tokens", None, 500_000),
        ("500K Tokens", None, 500_000),
        ("1.5m tokens", None, 1_500_000),
        ("2,000,000 tokens", None, 2_000_000),
        ("2_000 tokens", None, 2_000),
        ("1 token", None, 1),
        ("none", None, None),
        ("None", None, None),
    ],
)
def test_a_budget_is_money_or_tokens_or_none(text: str, price: str | None, tokens: int | None) -> None:
    assert parse_allowance(text) == Allowance(Decimal(price) if price else None, tokens)


@pytest.mark.parametrize(
    "text", ["", "500k", "-2", "$2", "1,5", "two", "1e3", "NaN", "infinity tokens", "2.00 tokensx"]
)
def test_what_could_be_meant_otherwise_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a budget.*2\.00.*500k tokens.*none"):
        parse_allowance(text)


@pytest.mark.parametrize(
    ("price", "shown"),
    [
        ("0", "$0.00"),
        ("0.00003", "less than $0.0001"),
        ("0.0029412", "$0.0029"),
        ("0.5", "$0.5000"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_money_has_its_currency_and_as_many_digits_as_tell_something(price: str, shown: str) -> None:
    assert money(Decimal(price), "USD") == shown
    assert money(Decimal(price), "EUR") == f"{shown.replace('$', '')} EUR"


def test_large_numbers_are_short_where_there_is_little_room() -> None:
    assert [short_number(n) for n in (0, 950, 12_345, 4_100_000)] == ["0", "950", "12.3k", "4.1M"]


def test_an_allowance_is_written_in_words() -> None:
    known = [Allowance(price=Decimal(2)), Allowance(tokens=500_000), Allowance()]
    assert [allowance_words(one, "CHF") for one in known] == ["2.00 CHF", "500,000 tokens", "no limit"]
