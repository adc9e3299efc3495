"""What normal forms make of the pairs of names that are written down for the benchmark."""

import csv
from pathlib import Path

from trueweave.text.names import normalise

PAIRS = Path(__file__).parents[3] / "benchmarks" / "data" / "name_pairs.tsv"
FORGIVEN = {("Monsters", "Monsters, Inc.")}  # a legal form that is part of a title
NOT_FOUND = {"spelling", "slip", "other words"}  # for a person to decide


def pairs(kind: str) -> list[tuple[str, str, str]]:
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(why, one, other) for which, why, one, other in rows if which == kind]


def test_there_are_a_hundred_pairs_of_each_kind_and_none_twice() -> None:
    same, apart = pairs("same"), pairs("apart")
    assert (len(same), len(apart)) == (100, 100)
    assert len({frozenset(pair[1:]) for pair in same + apart}) == 200


def test_different_things_have_different_normal_forms() -> None:
    merged = {(one, other) for _, one, other in pairs("apart") if normalise(one) == normalise(other)}
    assert merged == FORGIVEN


def test_most_ways_to_write_one_name_have_one_normal_form() -> None:
    ways = [(one, other) for why, one, other in pairs("same") if why not in NOT_FOUND]
    merged = [pair for pair in ways if len({normalise(name) for name in pair}) == 1]
    assert (len(merged), len(ways)) == (67, 75)
