"""Chunks that a model reads together, and which of them each finding belongs to."""

from random import Random

import pytest

from trueweave import Chunk, Link, Mention, Source
from trueweave.extend import Extraction
from trueweave.ingest.extract.units import Unit, units
from trueweave.text.names import key

SAID = [
    "Ada Lovelace wrote a letter.",
    "She sent it to Charles Babbage in London.",
    "In London it rained.",
    "Ada Lovelace praised his engine.",
]


def cut(parts: list[str], between: str = " ") -> tuple[Source, list[Chunk]]:
    """A document and its chunks, one for each part, with a token for each word."""
    chunks, start = [], 0
    for part in parts:
        chunks.append(Chunk(part, start, len(part.split())))
        start += len(part) + len(between)
    return Source("a.md", between.join(parts)), chunks


def whole() -> Unit:
    source, chunks = cut(SAID, "\n\n")
    [unit] = units(source, chunks, 100)
    assert unit.text == source.text
    return unit


def test_without_a_size_each_chunk_is_read_by_itself() -> None:
    source, chunks = cut(SAID)
    read = units(source, chunks, 0)
    assert [(u.text, u.chunks) for u in read] == [(c.text, (c,)) for c in chunks]
    assert {u.hashes for u in read} == {(key("text", c.text), ()) for c in chunks}, "and asked for by its own hash"


def test_chunks_without_counts_are_not_put_together_by_chance() -> None:
    assert len(units(Source("a", "one two"), [Chunk("one"), Chunk("two", 4)], 0)) == 2


def test_units_have_every_chunk_once_in_order_and_are_within_the_size() -> None:
    random = Random(7)
    for _ in range(200):
        source, chunks = cut([" ".join(["word"] * random.randint(1, 30)) for _ in range(random.randint(1, 40))])
        size = random.choice([16, 40, 100, 1000])
        read = units(source, chunks, size)
        assert [c for unit in read for c in unit.chunks] == chunks
        for unit in read:
            assert unit.tokens <= size or len(unit.chunks) == 1
            assert unit.text == source.text[unit.start : unit.chunks[-1].end]
            assert units(source, unit.chunks, size) == [unit], "it is one by itself, too"


def test_most_units_survive_a_change_near_the_beginning() -> None:
    parts = [f"Part {n} says that {key('said', str(n))} happened." for n in range(200)]
    before = {unit.text for unit in units(*cut(parts), 40)}
    changed = ["Something new.", *parts[:3], "Another sentence.", *parts[4:]]
    after = [unit.text for unit in units(*cut(changed), 40)]
    assert sum(text not in before for text in after) <= 6
    assert len(after) > 25


def test_a_mention_belongs_to_each_chunk_with_the_name_and_its_description_to_one() -> None:
    found = Extraction((Mention("London", "place", "A city where it rained."),), notes=("a note",))
    first, second, third, fourth = whole().divided(found)
    assert first.mentions == fourth.mentions == ()
    assert second.mentions == (Mention("London", "place", "", spans=((34, 40),)),)
    assert third.mentions == (Mention("London", "place", "A city where it rained.", spans=((3, 9),)),)
    assert [e.notes for e in (first, second, third, fourth)] == [("a note",), (), (), ()]


def test_a_name_that_no_chunk_has_belongs_to_the_chunk_that_says_most_of_it() -> None:
    found = Extraction((Mention("Analytical Engine", "work", "The engine that Ada praised."),))
    assert [len(each.mentions) for each in whole().divided(found)] == [0, 0, 0, 1]


def test_a_relation_belongs_to_one_chunk_with_both_ends_if_there_is_one() -> None:
    mentions = (Mention("Charles Babbage", "person"), Mention("London", "place"))
    found = Extraction(mentions, (Link("Charles Babbage", "London", "It rained in London."),))
    shared = whole().divided(found)
    assert [len(each.links) for each in shared] == [0, 1, 0, 0], "the third has more of its words, and one end"


def test_a_relation_over_several_chunks_keeps_the_types_of_its_ends() -> None:
    mentions = (Mention("Ada Lovelace", "person"), Mention("Charles Babbage", "person"))
    found = Extraction(mentions, (Link("Ada Lovelace", "Charles Babbage", "She praised his engine."),))
    shared = whole().divided(found)
    assert shared[3].links == (
        Link(
            "Ada Lovelace",
            "Charles Babbage",
            "She praised his engine.",
            source_type="person",
            target_type="person",
        ),
    )
    assert sum(len(each.links) for each in shared) == 1


@pytest.mark.parametrize("size", [16, 24])
def test_a_chunk_larger_than_the_size_is_a_unit(size: int) -> None:
    source, chunks = cut([" ".join(["word"] * 50), "and more", "and more again"])
    assert [len(unit.chunks) for unit in units(source, chunks, size)] == [1, 2]
