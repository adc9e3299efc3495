"""Filters in requests."""

import json

import pytest

from trueweave import Filter, Range
from trueweave.core.errors import ConfigError
from trueweave.core.json_forms import filter_json
from trueweave.integrations.haystack import HaystackRetriever
from trueweave.server.bodies import FilterBody
from trueweave.server.filters import read_filter
from trueweave.server.problems import Refusal

YEAR, MAIL = Filter(metadata={"year": [1843, Range(1900, bounds="(]")]}), Filter(metadata={"kind": ["mail"]})


@pytest.mark.parametrize(
    "filter",
    [
        YEAR,
        Filter(("a", "b"), {"kind": ["mail"]}, "letters/"),
        ~YEAR,
        (YEAR | ~MAIL) & Filter(prefix="a"),
        Filter(all_of=(YEAR,), any_of=(MAIL, YEAR), none_of=(~MAIL,)),
    ],
    ids=repr,
)
def test_a_filter_is_the_same_after_it_was_sent_or_saved(filter: Filter) -> None:
    assert FilterBody.model_validate(filter_json(filter)).filter() == filter
    assert read_filter(json.dumps(filter_json(filter))) == filter
    saved = HaystackRetriever(workspace="notes", filter=filter).to_dict()
    assert HaystackRetriever.from_dict(json.loads(json.dumps(saved))).to_dict() == saved


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('{"not": {"uris": ["a"]}}', "not: Extra inputs are not permitted"),
        ('{"none_of": {"uris": ["a"]}}', "none_of: Input should be a valid array"),
        (json.dumps({"any_of": [{"all_of": [{"prefix": "a"}] * 40}] * 3}), "100 is the most"),
        ('{"any_of": [' * 150 + "]}" * 150, "recursion"),
    ],
    ids=range(4),
)
def test_what_is_no_filter_is_refused(written: str, told: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_filter(written)
    assert told in str(caught.value.detail)


def test_ranges_are_checked_in_all_parts() -> None:
    with pytest.raises((Refusal, ConfigError)):
        FilterBody.model_validate({"none_of": [{"metadata": {"year": {}}}]}).filter()
