"""Dates of documents: what counts as one, and which one applies."""

import pytest

from trueweave.core.dates import checked_date, date_in, period, with_date
from trueweave.errors import InvalidArgument


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        ("1903-08-19", "1903-08-19"),
        (" 1903-08 ", "1903-08"),
        (1903, "1903"),
        ("2024-05-31T12:00:00+02:00", "2024-05-31T12:00:00+02:00"),
        ("19 August 1903", ""),
        ("2024-02-30", ""),
        (True, ""),
        (None, ""),
        (["1903"], ""),
        ({"of": "1903"}, ""),
    ],
)
def test_the_date_of_metadata_is_a_date_in_iso_8601_or_none(stated: object, read: str) -> None:
    assert date_in({"date": stated}) == read  # type: ignore[dict-item]


def test_metadata_without_a_date_has_none() -> None:
    assert date_in({}) == ""


def test_a_given_date_is_checked() -> None:
    assert checked_date(None) == checked_date("") == ""
    assert checked_date(" 2024-05 ") == "2024-05"
    with pytest.raises(InvalidArgument, match="is not a date"):
        checked_date("yesterday")


def test_a_document_keeps_the_date_that_it_states() -> None:
    assert with_date({"kind": "letter"}, "1903") == {"kind": "letter", "date": "1903"}
    assert with_date({"date": "19 August"}, "1903") == {"date": "19 August"}
    assert with_date({"kind": "letter"}, "") == {"kind": "letter"}


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("2024", 366 * 86_400), ("2024-02", 29 * 86_400), ("2024-02-29", 86_400), ("2024-02-29T12:00Z", 60)],
)
def test_a_date_covers_its_whole_period(written: str, seconds: int) -> None:
    found = period(written)
    assert found.end - found.begin == seconds
