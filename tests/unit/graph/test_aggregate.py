"""What many mentions and links add up to: sums that can be taken back, and texts that depend only on what is there."""

from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.graph.aggregate import (
    ALIASES_KEPT,
    DESCRIPTIONS_KEPT,
    EMPTY,
    KEYWORDS_KEPT,
    EntityRow,
    Histogram,
    NamePairRow,
    NameRow,
    Phrase,
    RelationRow,
    add,
    chosen,
    entity,
    entity_text,
    harmonic_emphasis,
    name_pair_id,
    relation,
    relation_id,
    relation_text,
    total,
)
from trueweave.graph.plan import changed_name, changed_name_pair, sums
from trueweave.text.names import key

A, B, C = UUID(int=1), UUID(int=2), UUID(int=3)
ONE: Histogram = (0, 0, 0, 0, 1, 0, 0, 0, 0)

histograms = st.tuples(*[st.integers(0, 1000)] * 9)
said_rows = st.lists(st.tuples(st.sampled_from((A, B)), st.integers(1, 9), st.just(1), st.integers(1, 10)))


def name(written: str, times: int = 1, type_: str = "") -> NameRow:
    return NameRow(key(written, type_), written, type_, times, ONE, None)


def said(*values: str) -> list[Phrase]:
    return [Phrase(key("said", value), value, 5) for value in values]


def made(*names: NameRow, label: str | None = None) -> EntityRow:
    return entity(A, names, said("first", "second"), 7, label)


def related(*name_pairs: NamePairRow) -> RelationRow:
    written = {A: "Ada", B: "Babbage", C: "Countess"}
    phrases = said("wrote to"), said("letters", "friends"), said("letters")
    return relation(relation_id(A, B), (A, B), name_pairs, written, *phrases)


@given(histograms, histograms)
def test_adding_a_histogram_and_subtracting_it_is_nothing(a: Histogram, b: Histogram) -> None:
    assert add(add(a, b), [-count for count in b]) == a
    assert total([a, b]) == add(b, a)
    assert total([]) == EMPTY


@given(said_rows)
def test_what_a_batch_adds_the_same_batch_with_the_opposite_sign_takes_away(
    rows: list[tuple[UUID, int, int, int]],
) -> None:
    comes = sums(rows)
    goes = sums((owner, emphasis, -count, -weight) for owner, emphasis, count, weight in rows)
    row, name_pair = name("Ada"), NamePairRow(A, B, 3, 20, ONE, None)
    for owner in (A, B):
        assert changed_name(changed_name(row, comes.get(owner)), goes.get(owner)) == row
        assert (
            changed_name_pair((A, B), changed_name_pair((A, B), name_pair, comes.get(owner)), goes.get(owner))
            == name_pair
        )


def test_a_batch_is_added_up_by_owner() -> None:
    by = sums([(A, 5, 1, 8), (A, 9, 2, 3), (B, 1, 1, 1)])
    assert changed_name(name("Ada", times=4), by[A])[3:5] == (7, (0, 0, 0, 0, 2, 0, 0, 0, 2))
    assert changed_name_pair((B, C), None, by[B]) == NamePairRow(B, C, 1, 1, (1, 0, 0, 0, 0, 0, 0, 0, 0), None)


@pytest.mark.parametrize(
    ("histogram", "expected"),
    [
        (EMPTY, 0),
        (ONE, 5),
        ((0, 1, 0, 0, 0, 1, 0, 0, 0), 3),  # 2 / (1/2 + 1/6)
        ((2, 0, 0, 0, 0, 0, 0, 4, 0), 2.4),  # 6 / (2/1 + 4/8)
    ],
)
def test_the_harmonic_mean_of_emphasis(histogram: Histogram, expected: float) -> None:
    assert harmonic_emphasis(histogram) == pytest.approx(expected)


@given(st.lists(st.sampled_from("abcdefgh")), st.integers(0, 5), st.randoms(use_true_random=True))
def test_what_is_chosen_depends_on_neither_order_nor_repetition(values: list[str], most: int, chance: Random) -> None:
    first = chosen(said(*values), most)
    assert first == sorted(set(values), key=lambda value: key("said", value))[:most]
    again = values * 2
    chance.shuffle(again)
    assert chosen(said(*again), most) == first


def test_what_was_said_with_most_emphasis_is_chosen_whichever_name_it_was_said_of() -> None:
    low, high, twice = said("low")[0], said("high")[0], said("twice")[0]
    phrases = [low, high._replace(weight=9), twice._replace(weight=4), twice._replace(weight=8)]
    assert set(chosen(phrases, 2)) == {"high", "twice"}
    assert set(chosen(phrases, 3)) == {"high", "twice", "low"}


def test_the_text_stays_the_same_while_the_same_are_chosen() -> None:
    before = [one._replace(weight=weight) for one, weight in zip(said("a", "b", "c"), (9, 8, 1), strict=True)]
    after = [one._replace(weight=weight) for one, weight in zip(said("a", "b", "c"), (9, 20, 3), strict=True)]
    assert chosen(before, 2) == chosen(after, 2)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param([name("Ada"), name("Ada Lovelace", 2)], "Ada Lovelace", id="most mentioned"),
        pytest.param([name("Lovelace", 2), name("Ada", 2)], "Ada", id="smallest of equals"),
        pytest.param(
            [name("ADA", 2), name("Ada", 2), name("Lovelace", 3)], "ADA", id="spellings with one normal form add up"
        ),
        pytest.param([name("zürich"), name("Zurich", 2)], "Zurich", id="most mentioned spelling of the normal form"),
    ],
)
def test_an_entity_is_called_as_most_mentions_call_it(names: list[NameRow], expected: str) -> None:
    assert made(*names).name == expected
    assert made(*reversed(names)).name == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([name("Ada", 3, "poet"), name("Ada", 2, "person"), name("Lovelace", 2, "person")], "person"),
        ([name("Ada", 1, "poet"), name("Ada", 1, "person")], "person"),
        ([name("Ada", 3, "poet"), name("Ada", 2, "Person"), name("Ada", 2, "PERSON")], "PERSON"),
    ],
)
def test_an_entity_has_the_type_of_most_mentions_and_of_equals_the_smallest(
    names: list[NameRow], expected: str
) -> None:
    assert made(*names).type == expected


def test_a_label_outweighs_the_count_and_leaves_the_other_names_as_aliases() -> None:
    names = name("Ada", 9), name("Ada Lovelace"), name("Ada", 1, "poet")
    assert made(*names).aliases == ["Ada Lovelace"]
    labelled = made(*names, label="Countess of Lovelace")
    assert labelled.name == "Countess of Lovelace"
    assert labelled.aliases == ["Ada", "Ada Lovelace"]


def test_a_person_may_give_an_entity_another_type() -> None:
    row = entity(A, [name("Ada", 9, "place")], said(), 0, type_label="person")
    assert (row.type, row.text_hash) == ("person", key("text", entity_text("Ada", "person", "")))


def test_an_entity_adds_up_its_names_and_hashes_the_text_that_is_embedded() -> None:
    row = made(name("Ada", 2, "person"), name("Lovelace", 1, "person"))
    assert (row.id, row.count, row.histogram, row.degree) == (A, 3, (0, 0, 0, 0, 2, 0, 0, 0, 0), 7)
    assert set(row.description.split("\n")) == {"first", "second"}
    assert row.text_hash == key("text", entity_text("Ada", "person", row.description))


def test_a_relation_adds_up_its_ties_and_hashes_the_text_that_is_embedded() -> None:
    row = related(NamePairRow(A, B, 1, 8, ONE, None), NamePairRow(C, B, 2, 5, ONE, None))
    assert (row.source, row.target, row.count, row.weight) == (A, B, 3, 13)
    assert row.histogram == (0, 0, 0, 0, 2, 0, 0, 0, 0)
    assert row.text_hash == key("text", relation_text("Countess", "Babbage", "wrote to", row.keywords))
    assert set(row.keywords) == {"letters", "friends"}
    assert row.type == "letters"


@pytest.mark.parametrize(("times", "expected"), [((1, 2), "Countess"), ((2, 1), "Ada"), ((2, 2), "Ada")])
def test_a_relation_names_its_ends_as_its_most_frequent_tie_does(times: tuple[int, int], expected: str) -> None:
    name_pairs = NamePairRow(A, B, times[0], 9, ONE, None), NamePairRow(C, B, times[1], 9, ONE, None)
    assert {related(*name_pairs).source_name, related(*reversed(name_pairs)).source_name} == {expected}
    assert related(*name_pairs).target_name == "Babbage"


def test_what_people_read_is_bounded_however_much_was_said() -> None:
    much = said(*map(str, range(100)))
    row = entity(A, [name(f"{n:03}") for n in range(100)], much, 0)
    assert (len(row.description.split("\n")), len(row.aliases)) == (DESCRIPTIONS_KEPT, ALIASES_KEPT)
    name_pair = NamePairRow(A, B, 1, 1, ONE, None)
    related = relation(relation_id(A, B), (A, B), [name_pair], {A: "a", B: "b"}, much, much, much)
    assert len(related.keywords) == KEYWORDS_KEPT


def test_ties_and_relations_have_a_direction_and_ids_of_their_own() -> None:
    assert len({name_pair_id(A, B), name_pair_id(B, A), relation_id(A, B), relation_id(B, A)}) == 4


@pytest.mark.parametrize(
    ("type_", "description", "expected"),
    [
        ("", "", "Ada"),
        ("person", "", "Ada (person)"),
        ("", "a poet", "Ada: a poet"),
        ("person", "a poet", "Ada (person): a poet"),
    ],
)
def test_the_text_of_an_entity_leaves_out_what_is_not_known(type_: str, description: str, expected: str) -> None:
    assert entity_text("Ada", type_, description) == expected


@pytest.mark.parametrize(
    ("description", "keywords", "expected"),
    [
        ("", [], "Ada -> Babbage"),
        ("wrote to", [], "Ada -> Babbage: wrote to"),
        ("wrote to", ["letters", "friends"], "Ada -> Babbage (letters, friends): wrote to"),
        ("wrote to", ["wrote to"], "Ada -> Babbage: wrote to"),
        ("wrote to", ["letters", "wrote to"], "Ada -> Babbage (letters): wrote to"),
    ],
)
def test_the_text_of_a_relation_leaves_out_what_is_not_known(
    description: str, keywords: list[str], expected: str
) -> None:
    assert relation_text("Ada", "Babbage", description, keywords) == expected
