"""Filters as text, and the operators that combine them."""

import pytest

from trueweave import Filter, Range
from trueweave.core.conditions import read_where
from trueweave.core.errors import ConfigError
from trueweave.core.evidence import MOST_FILTERS
from trueweave.core.filter_text import read_filter_text

A, B, C = (Filter(metadata={"k": [one]}) for one in "abc")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("k=a", A),
        ("k=a and k=b", A & B),
        ("k=a or k=b or k=c", A | B | C),
        ("k=a or k=b and k=c", A | (B & C)),
        ("(k=a or k=b) and k=c", (A | B) & C),
        ("not k=a and k=b", ~A & B),
        ("not (k=a or k=b)", ~(A | B)),
        ("NOT not k=a", ~~A),
        ("k!=a", ~A),
        ("uri=letters/a.md", Filter(("letters/a.md",))),
        ("uri=letters/**", Filter(prefix="letters/")),
        ("uri!=letters/** and k=a", ~Filter(prefix="letters/") & A),
        ("author=Ada Lovelace or k=a", Filter(metadata={"author": ["Ada Lovelace"]}) | A),
        ('title="War and (Peace)"', Filter(metadata={"title": ["War and (Peace)"]})),
        (r'title="say \"so\""', Filter(metadata={"title": ['say "so"']})),
        ('"a key"=b', Filter(metadata={"a key": ["b"]})),
        ("date:2024-01..2024-06", Filter(metadata={"date": [Range("2024-01", "2024-06")]})),
        ("date: 2024-01 .. 2024-06 and k=a", Filter(metadata={"date": [Range("2024-01", "2024-06")]}) & A),
        ("url=https://example.org/?q=1", Filter(metadata={"url": ["https://example.org/?q=1"]})),
        ("year>=1900", read_where(["year>=1900"])),
    ],
)
def test_a_text_is_a_filter(written: str, meant: Filter) -> None:
    assert read_filter_text(written) == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "a condition is missing at the end"),
        ("k", "'k' is not followed by =, !=, <, <=, > or >= at the end"),
        ("k=a and", "a condition is missing at the end"),
        ("k=a or or k=b", "a condition is missing at character 8"),
        ("(k=a", "a closing bracket is missing at the end"),
        ("k=a)", "')' is unexpected at character 4"),
        ('k="a', "a closing quote is missing"),
        ("uri>a", "uri takes = or != and a uri"),
        ("year<new", "year: 'new' is not a date"),
        ("(" * 60 + "k=a" + ")" * 60, "more than 50 brackets"),
    ],
)
def test_what_is_no_filter_is_an_error_that_says_how_to_write_one(written: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_filter_text(written)
    assert told in str(caught.value)
    assert "Write it like" in str(caught.value)


def test_conditions_exclude_values() -> None:
    assert read_where(["k=a", "k!=b", "k!=c"]) == Filter(metadata={"k": ["a"]}, none_of=(B, C))
    assert read_where([]) == Filter()


def test_filters_combine() -> None:
    assert Filter() & A == A & Filter() == A
    assert Filter(all_of=(A, B, C)) == A & B & C
    assert Filter() | A == Filter(any_of=(Filter(), A)), "all documents pass, as they pass one of them"
    assert not Filter()
    assert ~Filter()


def test_a_filter_has_a_largest_size() -> None:
    many = Filter(any_of=(A,) * (MOST_FILTERS - 1))
    with pytest.raises(ConfigError, match="combines 101 filters, and 100 is the most"):
        many | B
