"""Dates in ISO 8601: a year, a month, a day or a time. Dates of documents are the value of `date` in their metadata."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from trueweave.core.errors import InvalidArgument
from trueweave.core.record import Json

_KEY = "date"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400  # seconds
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    r"(?P<time>[T ]\d{2}:\d{2}(?P<second>:\d{2}(?P<fraction>\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?)?"
)


class Period(NamedTuple):
    """A point on a line of numbers, or a half-open period such as a day in seconds since 1970."""

    begin: Decimal
    end: Decimal

    @property
    def is_long(self) -> bool:
        return self.begin != self.end


def period(written: str) -> Period:
    """The period that a date covers. Raises InvalidArgument if the text is no date."""
    if not (parts := _ISO.fullmatch(written.strip())):
        raise InvalidArgument(
            f"{written!r} is not a date. Write it like 2024, 2024-05, 2024-05-31 or 2024-05-31T12:00Z."
        )
    time = (parts["time"] or "").replace(" ", "T")
    try:
        moment = datetime.fromisoformat(f"{parts['year']}-{parts['month'] or '01'}-{parts['day'] or '01'}{time}")
    except ValueError as error:
        raise InvalidArgument(f"{written!r} is not a date: {error}.") from error
    begin = seconds(moment)
    if parts["fraction"]:
        return Period(begin, begin)
    if time:
        return Period(begin, begin + (1 if parts["second"] else 60))
    if parts["day"]:
        return Period(begin, begin + _DAY)
    days = monthrange(moment.year, moment.month)[1] if parts["month"] else 365 + isleap(moment.year)
    return Period(begin, begin + days * _DAY)


def seconds(moment: datetime) -> Decimal:
    """A time in seconds since 1970. The default time zone is UTC."""
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return Decimal(since.days * _DAY + since.seconds) + Decimal(since.microseconds) / 1_000_000


def date_of(stated: str | None) -> str:
    """The date of a document, from the text of `date` in its metadata; empty if that is no date."""
    try:
        period(stated or "")
    except InvalidArgument:
        return ""
    return (stated or "").strip()


def date_in(metadata: Mapping[str, Json]) -> str:
    """The date of a document with this metadata; empty if it has none."""
    return date_of(str(metadata.get(_KEY, "")))


def checked_date(given: str | None) -> str:
    """A date that a caller gave for documents, or an empty text. Raises InvalidArgument if it is no date."""
    if given:
        period(given)
    return (given or "").strip()


def with_date(metadata: Mapping[str, Json], date: str) -> Mapping[str, Json]:
    """Metadata with this date, unless it states one."""
    return metadata if not date or _KEY in metadata else {**metadata, _KEY: date}
