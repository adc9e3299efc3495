"""Which names become one entity, and which entity keeps its id. Each letter is a name."""

from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.graph.components import NameRule, components, inherit
from trueweave.types import RuleKind

NAMES = "ABCDEF"
IDS = {letter: UUID(int=ord(letter)) for letter in NAMES}
X, Y = UUID(int=1), UUID(int=2)

Said = tuple[RuleKind, str]


def ids(letters: str) -> frozenset[UUID]:
    return frozenset(IDS[letter] for letter in letters)


def grouped(alike: str, *said: Said, live: str = "ABCD") -> str:
    """The groups as words of letters; `alike` as well, and the rules in the order in which they were made."""
    pairs = [(IDS[pair[0]], IDS[pair[1]]) for pair in alike.split()]
    rules = [NameRule(order, kind, ids(letters), "") for order, (kind, letters) in enumerate(said, 1)]
    groups = components(ids(live), pairs, rules)
    return " ".join(sorted("".join(sorted(chr(name.int) for name in group)) for group in groups))


@pytest.mark.parametrize(
    ("alike", "said", "expected"),
    [
        pytest.param("", [], "A B C D", id="nothing links them"),
        pytest.param("AB CB", [], "ABC D", id="alike to the same name"),
        pytest.param("", [("merge", "ACD")], "ACD B", id="merge joins what is not alike"),
        pytest.param("AB CD", [("merge", "BC")], "ABCD", id="merge brings along what is alike"),
        pytest.param("", [("merge", "AB"), ("merge", "BC")], "ABC D", id="merges chain"),
        pytest.param("AB BC AC", [("split", "A")], "A BC D", id="split cuts a name off"),
        pytest.param("AB BC", [("split", "B")], "A B C D", id="a name split off does not conduct"),
        pytest.param("BC CD", [("split", "AB")], "AB CD", id="split keeps its names together"),
        pytest.param("", [("split", "A"), ("merge", "AB")], "AB C D", id="a later merge outweighs a split"),
        pytest.param("", [("merge", "AB"), ("split", "A")], "A B C D", id="a later split outweighs a merge"),
        pytest.param("AC", [("split", "A"), ("merge", "AB")], "AB C D", id="a later merge opens only its own way"),
        pytest.param("", [("merge", "ABC"), ("split", "C")], "AB C D", id="a later split leaves the rest merged"),
        pytest.param("", [("split", "AB"), ("split", "BC")], "A BC D", id="a later split outweighs a split"),
        pytest.param("", [("rename", "AB")], "A B C D", id="rename joins nothing"),
        pytest.param("AB", [("rename", "A")], "AB C D", id="rename parts nothing"),
    ],
)
def test_groups(alike: str, said: list[Said], expected: str) -> None:
    assert grouped(alike, *said) == expected


def test_dead_names_do_not_conduct() -> None:
    assert grouped("AB BC", live="AC") == "A C"
    assert grouped("BC", ("merge", "AB"), live="AC") == "A C"


def test_a_rule_holds_for_its_live_names_when_others_are_dead() -> None:
    assert grouped("", ("merge", "ABC"), live="AC") == "AC"
    assert grouped("AD", ("split", "AB"), live="AD") == "A D"


some = st.text(NAMES, min_size=1, max_size=4)
rules = st.lists(st.tuples(st.sampled_from(("merge", "split", "rename")), some), max_size=4)
pairs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)


@given(some, pairs, rules, st.randoms(use_true_random=True))
def test_groups_part_the_live_names_whatever_the_order_of_names_links_and_rules(
    live: str, alike: list[tuple[str, str]], said: list[Said], chance: Random
) -> None:
    names = list(ids(live))
    links = [(IDS[a], IDS[b]) for a, b in alike]
    made = [NameRule(order, kind, ids(letters), "") for order, (kind, letters) in enumerate(said, 1)]
    groups = components(names, links, made)
    assert sorted(name for group in groups for name in group) == sorted(names)
    for given_ in (names, links, made):
        chance.shuffle(given_)
    assert set(components(names, [(b, a) for a, b in links], made)) == set(groups)


@pytest.mark.parametrize(
    ("groups", "before", "expected"),
    [
        pytest.param("A", {}, [None], id="new names need a new entity"),
        pytest.param("AB", {"A": (X, 1)}, [X], id="a group keeps its entity when a new name joins"),
        pytest.param("A B", {"A": (X, 1), "B": (X, 2)}, [None, X], id="of a parted entity the heavier part keeps it"),
        pytest.param("AB C", {"A": (X, 2), "B": (X, 2), "C": (X, 3)}, [X, None], id="claims of one group add up"),
        pytest.param("AB", {"A": (X, 1), "B": (Y, 2)}, [Y], id="of two joined entities the heavier is kept"),
        pytest.param(
            "AB C", {"A": (X, 5), "B": (Y, 4), "C": (Y, 1)}, [X, Y], id="what a group gives up another may keep"
        ),
    ],
)
def test_inherited_ids(groups: str, before: dict[str, tuple[UUID, int]], expected: list[UUID | None]) -> None:
    former = {IDS[letter]: claim for letter, claim in before.items()}
    assert inherit(map(ids, groups.split()), former) == expected


@given(st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from((X, Y)), st.integers(0, 3))), pairs)
def test_each_entity_goes_to_at_most_one_group_and_only_to_one_that_had_it(
    before: dict[str, tuple[UUID, int]], alike: list[tuple[str, str]]
) -> None:
    groups = components(ids(NAMES), [(IDS[a], IDS[b]) for a, b in alike], [])
    kept = inherit(groups, {IDS[letter]: claim for letter, claim in before.items()})
    given_out = [id_ for id_ in kept if id_]
    assert len(given_out) == len(set(given_out))
    for group, id_ in zip(groups, kept, strict=True):
        had = {before[letter][0] for letter in before if IDS[letter] in group}
        assert id_ in had if id_ else had <= set(given_out)
