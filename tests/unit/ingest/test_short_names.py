"""Full names in place of short ones: what is one person, what is left alone, and that only names change."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave import Chunk, Document, Link, Mention, Source
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.extract.spans import Finder
from trueweave.ingest.short_names import with_full_names
from trueweave.ingest.stages import assemble


def names(text: str, *, title: str = "") -> set[str]:
    """The names that a text contributes, as the extractor `capitals` finds them."""
    return {mention.name for chunk in found(text, title).chunks for mention in chunk.mentions}


def found(text: str, title: str = "") -> Document:
    source, chunks = Source("a", text, title), [Chunk(text)]
    return with_full_names(assemble(source, chunks, asyncio.run(CapitalsExtractor().extract(source, chunks))))


def document(text: str, *mentions: Mention, links: tuple[Link, ...] = ()) -> Document:
    """A document of one chunk with these mentions, where they are in the text."""
    finder = Finder(text)
    located = tuple(Mention(m.name, m.type, m.description, m.emphasis, finder.find(m.name)) for m in mentions)
    return Document("a", (Chunk(text, mentions=located, links=links),))


def mentioned(made: Document) -> list[tuple[str, str]]:
    return [(mention.name, mention.type) for chunk in made.chunks for mention in chunk.mentions]


def test_a_surname_is_the_one_person_who_has_it() -> None:
    assert names("Arthur Koestler moved to Vienna. There Koestler wrote.") == {"Arthur Koestler", "Vienna"}


def test_a_given_name_is_the_one_person_who_has_it() -> None:
    assert names("It follows Samantha Fox. Later the press met Samantha again.") == {"Samantha Fox"}


def test_a_title_is_no_part_of_a_name() -> None:
    text = "We met Dr. Ellen Voss. A day later Dr. Voss wrote. The paper is by E. Voss, and Ellen Voss signed it."
    assert names(text) == {"Ellen Voss"}


def test_titles_in_german() -> None:
    assert "Greta Lindner" in names("Es sprach Frau Greta Lindner. Danach ging Frau Lindner.")
    assert "Frau Lindner" not in names("Es sprach Frau Greta Lindner. Danach ging Frau Lindner.")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Bob Cratchit came. Then Mrs. Cratchit came, and Mr. Cratchit.", "Mrs. Cratchit"),
        ("Robin Cratchit came. Then Mrs. Cratchit came, and Mr. Cratchit.", "Mrs. Cratchit"),
        ("Quill Cratchit came. Then Mrs. Cratchit came, and Mr. Cratchit.", "Mr. Cratchit"),
        ("Anna Brandt met Paul Brandt. Later we saw Brandt.", "Brandt"),
        ("Jack London lived in London. We saw London.", "London"),
        ("We crossed London Bridge and saw London.", "London"),
        ("Here is Paris Hilton. The city of Paris is large.", "Paris"),
        ("Henry Ford came. Then Ford Motor Company grew. We bought a Ford.", "Ford"),
        ("He was named after Walter Disney. Later we saw Disney.", "Disney"),
        ("It is known that Freud was first. Then came Anna Freud.", "Freud"),
        ("It cost David Morse much. The script was by David and Janet Peoples.", "David"),
        ("We met George Nevill. Then his grandfather, Sir George, came.", "Sir George"),
        ("Mrs. John Smith met John Smith.", "Mrs. John Smith"),
        ("We met Jane Bennet. Then Mrs. Bennet and Miss Bennet came.", "Miss Bennet"),
        ("George Bush met George W. Bush and George H. Bush. Then we saw Bush.", "Bush"),
    ],
)
def test_what_may_be_another_is_left_alone(text: str, kept: str) -> None:
    assert kept in names(text)


def test_long_after_the_full_name_a_short_one_is_left_alone() -> None:
    between = "Nothing else was said about it. " * 80
    assert "Koestler" in names(f"We met Arthur Koestler. {between} We met Koestler.")


def test_a_name_of_another_type_is_left_alone() -> None:
    text = "Arthur Koestler came. Then Koestler wrote."
    made = document(text, Mention("Arthur Koestler", "person"), Mention("Koestler", "place"))
    assert mentioned(with_full_names(made)) == [("Arthur Koestler", "person"), ("Koestler", "place")]
    made = document(text, Mention("Arthur Koestler", "organization"), Mention("Koestler"))
    assert mentioned(with_full_names(made)) == [("Arthur Koestler", "organization"), ("Koestler", "")]


def test_a_short_name_gets_the_type_of_the_full_one() -> None:
    made = document("Arthur Koestler came. Koestler wrote.", Mention("Arthur Koestler", "person"), Mention("Koestler"))
    assert mentioned(with_full_names(made)) == [("Arthur Koestler", "person")] * 2


def test_a_name_without_a_type_gets_the_only_one_that_the_document_gives_it() -> None:
    made = with_full_names(document("London, LONDON", Mention("London", "place"), Mention("LONDON")))
    assert mentioned(made) == [("London", "place"), ("LONDON", "place")]
    two = document("London, LONDON", Mention("London", "place"), Mention("London", "person"), Mention("LONDON"))
    assert with_full_names(two) == two


def test_the_ends_of_links_are_the_names_of_their_chunk() -> None:
    text = "Arthur Koestler came to London. Koestler wrote."
    links = (Link("KOESTLER", "london", "came to"), Link("Arthur Koestler", "Koestler", "is"), Link("Paris", "London"))
    made = document(text, Mention("Arthur Koestler"), Mention("Koestler"), Mention("London", "place"), links=links)
    kept = with_full_names(made).chunks[0].links
    assert [(link.source, link.target) for link in kept] == [("Arthur Koestler", "London"), ("Paris", "London")]


def test_an_end_that_another_chunk_types_gets_its_type() -> None:
    first = Chunk("London", mentions=(Mention("London", "place", spans=((0, 6),)),))
    second = Chunk("Ada", 10, mentions=(Mention("Ada", spans=((0, 3),)),), links=(Link("Ada", "london", "went to"),))
    [link] = with_full_names(Document("a", (first, second))).chunks[1].links
    assert (link.target, link.target_type, link.source_type) == ("london", "place", "")


def test_spans_stay_where_the_words_are() -> None:
    made = found("Arthur Koestler moved. Later Koestler wrote.")
    [chunk] = made.chunks
    spans = [chunk.text[start:end] for mention in chunk.mentions for start, end in mention.spans]
    assert spans == ["Arthur Koestler", "Koestler"]


def test_co_occurrence_keeps_its_ends_in_alphabetical_order() -> None:
    text = "Arthur Koestler saw Berlin. From Berlin came Koestler."
    [chunk] = found(text).chunks
    assert {(link.source, link.target) for link in chunk.links} == {("Arthur Koestler", "Berlin")}


PARTS = st.sampled_from(["Dr.", "Mr.", "Mrs.", "Ellen", "Bob", "E.", "Voss", "Cratchit", "van", "London", "Jr.", "Q"])
NAMES = st.lists(PARTS, min_size=1, max_size=4).map(" ".join)
TYPES = st.sampled_from(["", "person", "place"])
SENTENCES = st.lists(st.tuples(NAMES | st.text(max_size=8), TYPES), max_size=8)


def made_of(sentences: list[tuple[str, str]], order: list[int]) -> Document:
    text = ". ".join(name for name, _ in sentences) or "."
    starts = [sum(len(name) + 2 for name, _ in sentences[:n]) for n in range(len(sentences))]
    mentions = [
        Mention(name, type_, spans=((start, start + len(name)),))
        for (name, type_), start in zip(sentences, starts, strict=True)
        if name.strip()
    ]
    return Document("a", (Chunk(text, mentions=tuple(mentions[n % len(mentions)] for n in order)),))


@given(SENTENCES, st.randoms(use_true_random=False))
def test_only_names_and_types_change_whatever_the_order_of_mentions(sentences, random) -> None:  # type: ignore[no-untyped-def]
    real = sum(1 for name, _ in sentences if name.strip())
    if any("\x00" in name or not name.isprintable() for name, _ in sentences):
        return
    order = list(range(real))
    before = made_of(sentences, order)
    after = with_full_names(before)
    assert [m.spans for m in after.chunks[0].mentions] == [m.spans for m in before.chunks[0].mentions]
    random.shuffle(order)
    shuffled = with_full_names(made_of(sentences, order))
    assert sorted(mentioned(shuffled)) == sorted(mentioned(after))


def test_many_names_alike_take_no_longer_each() -> None:
    def seconds(number: int) -> float:
        first = [f"{'ABCDEFGHIJ'[n % 10]}{''.join(chr(97 + int(digit)) for digit in f'{n:05}')}" for n in range(number)]
        written = ["Smith", *first, *(f"{one} Smith" for one in first)]
        written += (f"{one[0]}. {one} Smith" for one in first)
        written += (f"Mr. Dr. {one[0]}. {one[1]}. Smith" for one in first)
        text = ". ".join(written)
        mentions, at = [], 0
        for one in written:
            mentions.append(Mention(one, spans=((at, at + len(one)),)))
            at += len(one) + 2
        made = Document("a", (Chunk(text, mentions=tuple(mentions)),))
        began = time.process_time()
        with_full_names(made)
        return time.process_time() - began

    seconds(10)
    assert seconds(3000) < 40 * seconds(300) + 0.5
