"""Parsing and printing points in time and intervals."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from trueweave.core.errors import ConfigError

_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}")
_INTERVAL = re.compile(r"(\d{1,6})\s*([mhdw])", re.IGNORECASE)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds


def parse_interval(text: str) -> int | None:
    """The seconds of an interval such as `30m`, `12h`, `7d` or `2w`; None if it is none."""
    found = _INTERVAL.fullmatch(text.strip())
    return int(found[1]) * _UNITS[found[2].lower()] if found else None


def interval(seconds: int) -> str:
    """An interval as `parse_interval` reads it, in the largest unit that fits."""
    for unit in reversed(_UNITS):
        if seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{seconds} s"


def parse_moment(text: str) -> datetime:
    """A time from `2026-07-01` or `2026-07-01T14:30`, in local time unless it has a time zone; from how long ago it
    was: `30m`, `12h`, `7d`, `2w`; or from `today`, `yesterday` or a day of the week, which mean their beginning."""
    try:
        if (days := _days_ago(text.strip().lower())) is not None:
            return datetime.combine(date.today() - timedelta(days=days), time()).astimezone()  # noqa: DTZ011 (local)
        if (ago := parse_interval(text)) is not None:
            return datetime.now().astimezone() - timedelta(seconds=ago)
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{text!r} is not a date. Write a date, as 2026-07-01 or 2026-07-01T14:30, how long ago it was: 30m, 12h, "
            "7d, 2w, or a day: monday, yesterday."
        ) from error


def parse_as_of(text: str) -> datetime:
    """A time as `parse_moment` reads it; a date alone stands for its end, or for now if it is today's."""
    moment = parse_moment(text)
    if _DATE.fullmatch(text.strip()):
        return min(moment + timedelta(days=1), max(moment, datetime.now().astimezone()))
    return moment


def _days_ago(word: str) -> int | None:
    """How many days ago the last day of this name was; None if it is no name of a day."""
    if word in _DAYS:
        return (date.today().weekday() - _DAYS.index(word)) % 7  # noqa: DTZ011 (local)
    return {"today": 0, "yesterday": 1}.get(word)


def local_time(moment: datetime) -> str:
    """A point in time in local time, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
