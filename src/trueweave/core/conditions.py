"""Conditions on metadata as text: `year=1843`, `kind!=mail`, `year>=2020`, `date:2024-01..2024-06`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.core.evidence import Filter, Scalar
    from trueweave.core.ranges import Bound, Range, RangeBounds

_COMPARED = re.compile(r"(?P<key>[^<>=]+?)\s*(?P<operator>>=|<=|=|>|<)\s*(?P<value>.*)", re.DOTALL)
_BETWEEN = re.compile(r"(?P<key>[^:]+?)\s*:\s*(?P<low>.*?)\s*\.\.\s*(?P<high>.*)", re.DOTALL)

_UNEQUAL = re.compile(r"(?P<key>[^<>=!]+?)\s*!=(?P<value>.*)", re.DOTALL)


class _End(NamedTuple):
    written: str
    included: bool


def read_where(given: Sequence[str]) -> Filter:
    """The filter for all of these conditions. Those that exclude values are written with `!=`."""
    from trueweave.core.evidence import Filter

    excluded = [found for one in given if (found := _UNEQUAL.fullmatch(one.strip()))]
    included = [one for one in given if not _UNEQUAL.fullmatch(one.strip())]
    without = [Filter(metadata=read_conditions([f"{one['key']}={one['value']}"])) for one in excluded]
    return Filter(metadata=read_conditions(included), none_of=tuple(without))


def read_conditions(given: Sequence[str]) -> dict[str, list[Scalar | Range]]:
    """For each key, the accepted values and ranges. A lower and an upper bound of the same key form one range."""
    wanted: dict[str, list[Scalar | Range]] = {}
    ends: dict[str, dict[str, _End]] = {}
    for one in given:
        if found := _COMPARED.fullmatch(one.strip()):
            key, operator, value = found["key"], found["operator"], found["value"].strip()
            if operator == "=":
                wanted.setdefault(key, []).extend(_readings(value))
            else:
                _limit(ends, key, "low" if operator[0] == ">" else "high", _End(value, len(operator) == 2))
        elif found := _BETWEEN.fullmatch(one.strip()):
            for side in ("low", "high"):
                if found[side]:
                    _limit(ends, found["key"], side, _End(found[side], True))
            if found["key"] not in ends:
                raise ConfigError(f"{one!r} has neither a lower nor an upper bound. Write it like year:2020..2024.")
        else:
            raise ConfigError(f"{one!r} is not a condition. Write it like name=value, year>=2020 or year:2020..2024.")
    for key, limits in ends.items():
        wanted.setdefault(key, []).extend(_ranges(key, limits))
    return wanted


def _limit(ends: dict[str, dict[str, _End]], key: str, side: str, end: _End) -> None:
    if side in ends.setdefault(key, {}):
        which = "lower" if side == "low" else "upper"
        raise ConfigError(f"{key} has two {which} bounds, {ends[key][side].written} and {end.written}. Give one.")
    ends[key][side] = end


def _ranges(key: str, limits: dict[str, _End]) -> list[Range]:
    """The possible ranges, of numbers and of dates: 2024 may be either."""
    from trueweave.core.ranges import Range

    low, high = limits.get("low"), limits.get("high")
    bounds: RangeBounds = (
        ("[]" if high is None or high.included else "[)")
        if low is None or low.included
        else ("(]" if high is None or high.included else "()")
    )
    found, problem = list[Range](), ""
    for read in (_number, _text):
        try:
            first, last = (read(one.written) if one else None for one in (low, high))
            found.append(Range(first, last, bounds))
        except (ConfigError, InvalidOperation) as error:
            problem = str(error)
    if not found:
        raise ConfigError(f"{key}: {problem}")
    return found


def _number(written: str) -> Bound:
    return Decimal(written)


def _text(written: str) -> Bound:
    return written


def _readings(value: str) -> list[Scalar | Range]:
    """The values that a text may stand for in metadata: itself, and the number or boolean that it looks like."""
    try:
        meant = json.loads(value)
    except ValueError:
        meant = value
    return [value, meant] if isinstance(meant, bool | int | float) else [value]
