"""The search for erased text in values as PostgreSQL returns them."""

import json
from uuid import UUID

import pytest

from trueweave.store.postgres.record.leftovers import Lookup, fingerprints

TEXT = "The patient was admitted on a rainy Tuesday in March with a broken collarbone"
ID = UUID(int=7)


@pytest.fixture
def lookup() -> Lookup:
    return Lookup(fingerprints(b"k" * 32, [TEXT], ["secret.md", ID]))


@pytest.mark.parametrize(
    "value",
    [
        TEXT,
        ID,
        str(ID),
        "secret.md",
        ["other.md", "secret.md"],
        [[UUID(int=8)], [ID]],
        {"a": [{"b": f"He said: {TEXT}!"}]},
        {TEXT: 1},
        {"uri": "secret.md"},
        json.dumps([{"said": TEXT.replace(" ", "\n")}]),
        json.dumps(json.dumps({"said": TEXT.replace(" ", "\n")})),
        json.dumps([json.dumps({"said": TEXT.replace(" ", "\n")})]).encode(),
        TEXT.encode(),
    ],
)
def test_it_is_found_in_every_form(lookup: Lookup, value: object) -> None:
    assert lookup.holding(["nothing", value, None, value]) == 2
    lookup.leave_out([value])
    assert lookup.holding([value]) == 0


def test_nothing_else_is_found(lookup: Lookup) -> None:
    others: list[object] = [
        None,
        3,
        True,
        1.5,
        "",
        "{not json",
        b"\xff\xfe",
        {},
        [],
        UUID(int=8),
        "secret.md.old",
        "Tuesday in March",
    ]
    assert lookup.holding(others) == 0
    assert lookup.holding([]) == 0
    assert Lookup(fingerprints(b"k" * 32, [], [])).holding([TEXT]) == 0
