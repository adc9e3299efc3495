"""Settings to vary, and the verdict on several indexes."""

from dataclasses import replace
from decimal import Decimal

import pytest

from tests.unit.bench.test_bench_report import made
from trueweave.bench import report
from trueweave.bench.results import GraphGain, IndexResult
from trueweave.bench.variants import combinations, in_full, read_variations
from trueweave.bench.verdict import verdict
from trueweave.core.bench import Interval
from trueweave.errors import ConfigError


def test_all_combinations_of_settings_are_measured_and_methods_are_apart() -> None:
    variations = read_variations(["max_chunk_size=256, 512", "method=weave,fuse", "chunk_overlap=0,10"])
    assert variations["method"] == ("weave", "fuse")
    assert combinations(variations) == [
        {"max_chunk_size": "256", "chunk_overlap": "0"},
        {"max_chunk_size": "256", "chunk_overlap": "10"},
        {"max_chunk_size": "512", "chunk_overlap": "0"},
        {"max_chunk_size": "512", "chunk_overlap": "10"},
    ]
    assert combinations(read_variations(["method=weave"])) == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["max_chunk_size"], "names no values"),
        (["max_chunk_size="], "names no values"),
        (["max_chunk_size=1,1"], "repeats a value or a name"),
        (["max_chunk_size=256", "max_chunk_size=512"], "repeats a value or a name"),
        (["database_url=a,b"], "database_url is not a setting of a workspace"),
        (["max_chunk_size=many"], "max_chunk_size of the workspace"),
        ([f"max_chunk_size={','.join(map(str, range(100, 160)))}"], "asks for 60 indexes, and at most 50"),
    ],
)
def test_what_cannot_be_varied_says_so(given: list[str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        combinations(read_variations(given))


def test_the_smallest_chunk_follows_the_largest() -> None:
    """With the default of 400, a maximum of 256 would be refused."""
    assert in_full({"max_chunk_size": "256"}) == {"max_chunk_size": "256", "min_chunk_size": "128"}
    assert in_full({"max_chunk_size": "256", "min_chunk_size": "9"})["min_chunk_size"] == "9"
    assert in_full({"chunk_overlap": "9"}) == {"chunk_overlap": "9"}


def test_the_verdict_on_several_indexes_says_whether_the_graph_helps_and_what_it_costs() -> None:
    measured = made()
    first, second = measured.methods[0].name, measured.methods[1].name
    index = IndexResult("a=1", {"a": "1"}, {"weave": first}, 2.5, 3, 4, 5, 6_000_000, 70, Decimal("0.42"))
    other = replace(index, name="a=2", labels={"fuse": second}, price=None)
    gain = GraphGain(first, second, Interval(0.05, 0.01, 0.09))
    found = replace(measured, indexes=(index, other), graph=gain)
    assert (
        f"The graph helps on these questions: {first} finds 5.0 points more than {second}, the best without it (95 % "
        in (verdict(found))
    )
    may_be_chance = replace(found, graph=replace(gain, interval=Interval(0.05, -0.01, 0.09)))
    assert "These questions do not show that the graph helps" in verdict(may_be_chance)
    behind = replace(found, graph=replace(gain, interval=Interval(-0.05, -0.09, -0.01)))
    assert f"The graph does not help on these questions: {first} finds 5.0 points less than" in verdict(behind)
    assert "The index of the best takes 2.5 s, $0.4200 to build and 6.0 MB" in verdict(found)
    page = report.page(found)
    assert "<h3>a=1</h3>" in page
    assert "What an index takes" in page
    assert "not known" in page
    assert '<th class="number">2 hops (20)</th>' in page, "kinds are in a table, as such names are too long for a plot"
