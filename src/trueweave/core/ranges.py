"""Ranges of numbers and of dates, for filtering documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from trueweave.core.dates import Period, period, seconds
from trueweave.core.errors import InvalidArgument

Bound = int | float | Decimal | date | str
RangeBounds = Literal["[]", "[)", "(]", "()"]
RangeKind = Literal["number", "moment"]

_Number = int | float | Decimal


class RangeLimits(NamedTuple):
    """A range in numbers, dates as seconds since 1970: from `low` to `high`, without the `excluded` ends."""

    kind: RangeKind
    low: Decimal
    high: Decimal
    excluded: tuple[Decimal, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers, or all dates, from `low` to `high`; without one of these, the range is open at that end.

    `bounds` says whether each end is included: "[)" includes `low` and excludes `high`. A date is a date, a datetime,
    or text in ISO 8601: a year, a month, a day or a time. The default time zone is UTC. A date covers its whole period:
    up to "2024-06" is up to the end of that June. In metadata, texts that look like numbers or dates count as such.
    """

    low: Bound | None = None
    high: Bound | None = None
    bounds: RangeBounds = "[]"

    def __post_init__(self) -> None:
        if self.bounds not in get_args(RangeBounds):
            raise InvalidArgument(
                f"a range has the bounds {self.bounds!r}. Use one of {', '.join(get_args(RangeBounds))}."
            )
        if len({isinstance(one, _Number) for one in (self.low, self.high) if one is not None}) != 1:
            raise InvalidArgument(
                f"a range cannot go from {self.low!r} to {self.high!r}. Give numbers or dates, for one end or both."
            )
        self.limits()

    def limits(self) -> RangeLimits:
        """The range as numbers, for the search."""
        kind: RangeKind = "number" if isinstance(self.high if self.low is None else self.low, _Number) else "moment"
        first, last, excluded = Decimal("-Infinity"), Decimal("Infinity"), list[Decimal]()
        if self.low is not None:
            low = _stretch(self.low)
            first = low.begin if self.bounds[0] == "[" else low.end
            excluded += [first] if self.bounds[0] == "(" and not low.is_long else []
        if self.high is not None:
            high = _stretch(self.high)
            last = high.end if self.bounds[1] == "]" else high.begin
            excluded += [last] if self.bounds[1] == ")" or high.is_long else []
        return RangeLimits(kind, first, last, tuple(excluded))


def _stretch(bound: Bound) -> Period:
    match bound:
        case bool():
            raise InvalidArgument(f"{bound} is neither a number nor a date. Write it like 2024, 3.5 or 2024-05-31.")
        case int() | float() | Decimal():
            number = Decimal(str(bound)) if isinstance(bound, float) else Decimal(bound)
            if number.is_nan():
                raise InvalidArgument("a range cannot start or end at NaN. Omit that end, or give a number.")
            return Period(number, number)
        case datetime():
            return Period(seconds(bound), seconds(bound))
        case _:
            return period(bound.isoformat() if isinstance(bound, date) else bound)
