"""Ranges of numbers and moments, as they are searched for."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from trueweave import Range
from trueweave.core.conditions import read_conditions
from trueweave.core.ranges import Bound, RangeBounds
from trueweave.errors import ConfigError

ENDLESS = Decimal("Infinity")


def seconds(*moment: int) -> Decimal:
    return Decimal(int(datetime(*moment, tzinfo=UTC).timestamp()))  # type: ignore[arg-type,misc]


def has(one: Range, value: Decimal | int) -> bool:
    limits = one.limits()
    return limits.low <= value <= limits.high and value not in limits.excluded


@pytest.mark.parametrize(
    ("bounds", "inside"), [("[]", (1, 2, 3)), ("[)", (1, 2)), ("(]", (2, 3)), ("()", (2,))], ids=str
)
def test_the_ends_of_numbers_are_in_or_out(bounds: RangeBounds, inside: tuple[int, ...]) -> None:
    assert tuple(n for n in range(5) if has(Range(1, 3, bounds), n)) == inside


def test_an_end_that_is_not_given_is_none() -> None:
    assert Range(low=1).limits() == ("number", Decimal(1), ENDLESS, ())
    assert Range(high=1.5).limits() == ("number", -ENDLESS, Decimal("1.5"), ())
    assert Range(0.1, Decimal("0.30")).limits()[1:3] == (Decimal("0.1"), Decimal("0.3"))


@pytest.mark.parametrize(
    ("written", "first", "behind"),
    [
        ("2024", (2024, 1, 1), (2025, 1, 1)),
        ("2023", (2023, 1, 1), (2024, 1, 1)),
        ("2024-02", (2024, 2, 1), (2024, 3, 1)),
        ("2023-12", (2023, 12, 1), (2024, 1, 1)),
        ("2024-06-30", (2024, 6, 30), (2024, 7, 1)),
        ("2024-06-30T12:30", (2024, 6, 30, 12, 30), (2024, 6, 30, 12, 31)),
        ("2024-06-30 12:30:05Z", (2024, 6, 30, 12, 30, 5), (2024, 6, 30, 12, 30, 6)),
        ("2024-06-30T14:30+02:00", (2024, 6, 30, 12, 30), (2024, 6, 30, 12, 31)),
        (date(2024, 6, 30), (2024, 6, 30), (2024, 7, 1)),
    ],
    ids=str,
)
def test_a_moment_is_as_long_as_it_is_exact(written: Bound, first: tuple[int, ...], behind: tuple[int, ...]) -> None:
    begin, end = seconds(*first), seconds(*behind)
    for bounds, low, high in (("[]", begin, end), ("[)", begin, begin), ("(]", end, end), ("()", end, begin)):
        limits = Range(written, written, bounds).limits()  # type: ignore[arg-type]
        assert limits[:3] == ("moment", low, high)
        assert limits.excluded == (high,)
    assert not has(Range(high=written), end)
    assert has(Range(high=written), end - 1)


def test_a_datetime_is_a_point() -> None:
    at = datetime(2024, 6, 30, 14, 30, 0, 250_000, timezone(timedelta(hours=2)))
    assert Range(at, at).limits()[1:] == (seconds(2024, 6, 30, 12, 30) + Decimal("0.25"),) * 2 + ((),)


def test_the_last_year_has_an_end() -> None:
    assert Range("9999", "9999-12").limits().high == seconds(9999, 12, 31) + 86_400


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (None, None, "Give numbers or dates"),
        (1, "2024", "Give numbers or dates"),
        ("yesterday", None, "'yesterday' is not a date. Write it like 2024"),
        ("2024-02-31", None, "'2024-02-31' is not a date: day"),
        (True, None, "neither a number nor a date"),
        (float("nan"), None, "NaN"),
    ],
    ids=str,
)
def test_what_is_no_range_is_an_error(low: Bound | None, high: Bound | None, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Range(low, high)
    with pytest.raises(ConfigError, match="has the bounds '<>'"):
        Range(1, 2, "<>")  # type: ignore[arg-type]


# --- on the command line --------------------------------------------------------------------------------


def test_conditions_are_values_and_ranges() -> None:
    assert read_conditions(["lang=en", "lang=fr", "year = 1843"]) == {"lang": ["en", "fr"], "year": ["1843", 1843]}
    assert read_conditions(["year>=2020"]) == {"year": [Range(Decimal(2020)), Range("2020")]}
    assert read_conditions(["year>2020", "year <= 2024"]) == {
        "year": [Range(Decimal(2020), Decimal(2024), "(]"), Range("2020", "2024", "(]")]
    }
    assert read_conditions(["date:2024-01-01..2024-06-30"]) == {"date": [Range("2024-01-01", "2024-06-30")]}
    assert read_conditions(["date: 2024-01-01T10:00 .. "]) == {"date": [Range("2024-01-01T10:00")]}
    assert read_conditions(["price:..2.50"]) == {"price": [Range(None, Decimal("2.50"))]}
    assert read_conditions(["price<-1"]) == {"price": [Range(None, Decimal(-1), "[)")]}
    assert read_conditions(["dc:date=2024..2025", "title=a>b", "x=y=z"]) == {
        "dc:date": ["2024..2025"],
        "title": ["a>b"],
        "x": ["y=z"],
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["year"], "'year' is not a condition. Write it like"),
        (["=1843"], "'=1843' is not a condition"),
        (["year:.."], "neither a lower nor an upper bound"),
        (["year>=2020", "year>2021"], "year has two lower bounds, 2020 and 2021. Give one."),
        (["year<new"], "year: 'new' is not a date"),
        (["year>=1", "year<2024-05"], "year: '1' is not a date"),
    ],
    ids=str,
)
def test_what_is_no_condition_is_an_error(given: list[str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        read_conditions(given)
