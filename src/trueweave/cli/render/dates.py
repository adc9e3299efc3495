"""Parsing and printing points in time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from trueweave.core.errors import ConfigError

_AGO = re.compile(r"(\d+)\s*([hdw])", re.IGNORECASE)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_moment(text: str) -> datetime:
    """A time from `2026-07-01` or `2026-07-01T14:30`, in local time unless it has a time zone; or from how long ago it
    was: `12h`, `7d`, `2w`."""
    wanted = text.strip()
    try:
        if found := _AGO.fullmatch(wanted):
            number, unit = found.groups()
            return datetime.now().astimezone() - int(number) * _UNITS[unit.lower()]
        return datetime.fromisoformat(wanted).astimezone()
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{text!r} is not a date. Write a date, as 2026-07-01 or 2026-07-01T14:30, or how long ago it was: 12h, "
            "7d, 2w."
        ) from error


def local_time(moment: datetime) -> str:
    """A point in time in local time, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
