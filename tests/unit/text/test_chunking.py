"""Chunks are exact spans within their limits, cut at the borders of the text, and stay where they are under edits."""

import random
import string
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueweave import Chunk, Place, Source
from trueweave.errors import ConfigError
from trueweave.extend import ChunkSizes
from trueweave.text import chunking, tokens
from trueweave.text.chunking import chunk

SMALL = ChunkSizes(min_chunk_size=20, max_chunk_size=40)

WORDS = ["".join(random.Random(n).choices(string.ascii_lowercase, k=2 + n % 8)) for n in range(2000)]


class Prose:
    """Text that is never the same twice, and always the same for one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def sentence(self) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.randint(5, 25))).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self._random.randint(2, 8)))

    def words(self, how_many: int) -> str:
        return " ".join(self._random.choices(WORDS, k=how_many))


def texts(source: Source, sizes: ChunkSizes = SMALL) -> list[str]:
    return [made.text for made in chunk(source, sizes)]


def sections(*parts: tuple[int, str]) -> Source:
    """A document of headings, each with its level, and what stands below them."""
    text, places = "", []
    for level, part in parts:
        if level:
            places.append(Place(len(text), "heading", part.split("\n", maxsplit=1)[0], level))
        text += part + "\n\n"
    return Source("u", text, places=tuple(places))


def holds(source: Source, sizes: ChunkSizes, chunks: list[Chunk]) -> None:
    """What is true of the chunks of any document."""
    covered = bytearray(len(source.text))
    for made in chunks:
        assert made.text == source.text[made.start : made.end]
        assert made.text == made.text.strip() != ""
        assert made.tokens == tokens.count(made.text) <= sizes.max_chunk_size
        covered[made.start : made.end] = b"\1" * len(made.text)
    assert all(covered[i] for i, character in enumerate(source.text) if not character.isspace())
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(chunks))
    if not sizes.overlap:
        assert all(a.end <= b.start for a, b in pairwise(chunks))


PIECES = st.sampled_from(
    [
        "word",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        ". ",
        "! ",
        "。",
        "東京都は",
        "é",
        "😀",
        "\u0301",
        "a" * 50,
        "- item\n",
        "\u2028",
        "  ",
    ]
)
SIZES = st.builds(
    lambda most, overlap, least: ChunkSizes(
        max(1, int((most - most * overlap // 100) * least)), most, most * overlap // 100
    ),
    st.integers(16, 120),
    st.integers(0, 50),
    st.floats(0, 1),
)


@settings(max_examples=300)
@given(
    st.lists(PIECES | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=60),
    SIZES,
    st.data(),
)
def test_chunks_are_exact_spans_that_hold_all_there_is_within_the_limit(
    pieces: list[str], sizes: ChunkSizes, data: st.DataObject
) -> None:
    text = "".join(pieces)
    place = st.builds(
        Place, st.integers(0, len(text)), st.sampled_from(["page", "heading"]), st.just("x"), st.integers(0, 7)
    )
    source = Source("u", text, places=tuple(data.draw(st.lists(place, max_size=8))))
    holds(source, sizes, chunk(source, sizes))


@settings(max_examples=300)
@given(
    st.lists(PIECES | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=20), SIZES
)
def test_a_short_text_becomes_what_looking_for_borders_makes_of_it(pieces: list[str], sizes: ChunkSizes) -> None:
    source = Source("u", "".join(pieces))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "_surely_fits", lambda *_: False)
        by_borders = chunk(source, sizes)
    assert chunk(source, sizes) == by_borders


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("東京都は日本の首都である" * 2000, id="no spaces"),
        pytest.param("".join(random.Random(0).choices(string.ascii_letters + string.digits, k=50_000)), id="base64"),
        pytest.param("x" * 100_000, id="one letter"),
        pytest.param("😀" * 10_000, id="three tokens a character"),
        pytest.param(Prose(0).words(20_000), id="no full stop"),
        pytest.param("a" + "\n" * 300_000 + "b", id="a sea of white space"),
        pytest.param("." * 50_000 + ". " * 10_000, id="full stops"),
    ],
)
def test_text_without_borders_is_cut_within_the_limit(text: str) -> None:
    sizes = ChunkSizes()
    holds(Source("u", text), sizes, chunk(Source("u", text), sizes))


def test_nothing_and_white_space_have_no_chunks() -> None:
    assert chunk(Source("u", ""), ChunkSizes()) == chunk(Source("u", " \n\t " * 1000), ChunkSizes()) == []


def test_a_short_document_is_one_chunk_without_the_white_space_round_it() -> None:
    assert chunk(Source("u", "\n Hello world \n"), ChunkSizes()) == [Chunk("Hello world", 2, 2)]


def test_chunks_end_where_paragraphs_end_if_any_does_in_reach() -> None:
    prose = Prose(1)
    paragraphs = [prose.paragraph() for _ in range(60)]
    made = texts(Source("u", "\n\n".join(paragraphs)), ChunkSizes(200, 800))
    assert {one.split("\n\n")[-1] for one in made} <= set(paragraphs)
    assert {one.split("\n\n")[0] for one in made} <= set(paragraphs)


def test_a_long_paragraph_is_cut_between_sentences_even_when_its_lines_are_wrapped() -> None:
    prose = Prose(2)
    wrapped = " ".join(prose.sentence() for _ in range(200)).replace(" ", "\n", 400).replace("\n", " ", 200)
    made = texts(Source("u", wrapped), ChunkSizes(100, 200))
    assert len(made) > 10
    assert all(one.endswith(".") and one[0].isupper() for one in made)


def test_initials_and_small_letters_after_a_full_stop_end_no_sentence() -> None:
    line = "Here J. R. Smith spoke of e.g. the sea and other things at some length, as he was used to. "
    assert set(texts(Source("u", line * 30), ChunkSizes(20, 60))) <= {(line * n).strip() for n in range(1, 10)}


def test_lists_are_cut_between_items() -> None:
    items = [f"- {Prose(n).words(8)}" for n in range(60)]
    made = texts(Source("u", "\n".join(items)), ChunkSizes(100, 200))
    assert len(made) > 5
    assert all(line in items for one in made for line in one.split("\n"))


ROWS = [f"benefit {n} | EUR {n * 100} | Once a year. After a wait." for n in range(30)]


@pytest.mark.parametrize("before", range(5, 100, 10))
def test_a_table_that_fits_into_a_chunk_is_never_cut(before: int) -> None:
    table = "\n".join(ROWS[:8])
    prose = " ".join(f"Sentence number {n} says little." for n in range(before))
    sizes = ChunkSizes(min_chunk_size=200, max_chunk_size=400)
    assert 100 < tokens.count(table) < 200
    for text in (f"{prose}\n\n{table}\n\n{prose}", f"{prose}\n{table}\n{prose}"):
        chunks = chunk(Source("u", text), sizes)
        holds(Source("u", text), sizes, chunks)
        assert sum(table in one.text for one in chunks) == 1


def test_a_larger_table_is_cut_between_rows() -> None:
    source = Source("u", "\n".join(ROWS))
    chunks = chunk(source, ChunkSizes(min_chunk_size=40, max_chunk_size=100))
    assert len(chunks) > 3
    assert [line for one in chunks for line in one.text.splitlines()] == ROWS


def test_pages_are_as_good_a_place_to_cut_as_paragraphs() -> None:
    prose = Prose(3)
    pages = [" ".join(prose.sentence() for _ in range(12)) for _ in range(30)]
    starts = [sum(len(page) + 1 for page in pages[:n]) for n in range(len(pages))]
    places = tuple(Place(start, "page", str(n)) for n, start in enumerate(starts))
    made = chunk(Source("u", " ".join(pages), places=places), ChunkSizes(500, 2000))
    assert {one.start for one in made} <= set(starts)


def test_sections_that_fill_a_chunk_are_never_mixed() -> None:
    prose = Prose(4)
    source = sections(*((2, f"Head {n}\n" + prose.words(20)) for n in range(8)))
    assert all(one.startswith(f"Head {n}") for n, one in enumerate(texts(source, ChunkSizes(20, 400))))


def test_small_sections_side_by_side_are_joined() -> None:
    source = sections(*((2, f"Head {n}\nFew words here.") for n in range(12)))
    made = chunk(source, SMALL)
    assert all(20 <= one.tokens <= 40 for one in made)
    assert all(one.text.startswith("Head") for one in made)


def test_a_heading_of_higher_standing_ends_what_is_joined() -> None:
    source = sections((1, "One"), (2, "a\nfew"), (2, "b\nfew"), (1, "Two"), (2, "c\nfew"))
    assert texts(source) == ["One\n\na\nfew\n\nb\nfew\n\nTwo\n\nc\nfew"]
    source = sections((2, "a\nfew"), (2, "b\nfew"), (1, "Two"), (2, "c\nfew"))
    assert texts(source) == ["a\nfew\n\nb\nfew", "Two\n\nc\nfew"]


def test_a_heading_with_nothing_below_it_stays_with_the_section_that_follows() -> None:
    long = Prose(5).words(25)
    source = sections((1, "Book"), (2, "Part"), (3, f"Chapter\n{long}"), (3, f"Next\n{long}"))
    assert texts(source, ChunkSizes(20, 200)) == [f"Book\n\nPart\n\nChapter\n{long}", f"Next\n{long}"]


def test_a_section_leaves_no_scrap_at_its_end() -> None:
    for seed in range(20):
        text = "\n\n".join(Prose(seed * 100 + n).paragraph() for n in range(8 + seed))
        made = chunk(Source("u", text), ChunkSizes(200, 800))
        assert min(one.tokens for one in made) >= 195


def test_an_overlap_is_whole_sentences_and_chunks_keep_their_limit() -> None:
    prose = Prose(6)
    source = Source("u", " ".join(prose.sentence() for _ in range(300)))
    sizes = ChunkSizes(100, 300, 100)
    made = chunk(source, sizes)
    holds(source, sizes, made)
    shared = [a.text[b.start - a.start :] for a, b in pairwise(made)]
    assert all(one and one[0].isupper() and tokens.count(one) <= 100 for one in shared)


def test_an_overlap_of_one_endless_sentence_is_whole_words() -> None:
    text = Prose(7).words(2000)
    words = set(text.split())
    made = chunk(Source("u", text), ChunkSizes(100, 200, 50))
    assert all(a.end > b.start and set(b.text.split()) <= words for a, b in pairwise(made))


def test_sections_do_not_overlap() -> None:
    source = sections(*((1, f"Head {n}\n" + Prose(n).words(40)) for n in range(5)))
    made = chunk(source, ChunkSizes(20, 400, 100))
    assert all(a.end <= b.start for a, b in pairwise(made))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["paragraphs", "one paragraph", "no full stop"])
@pytest.mark.parametrize("edit", ["word", "insertion"])
def test_an_edit_in_the_middle_leaves_nine_chunks_in_ten_as_they_were(seed: int, kind: str, edit: str) -> None:
    prose = Prose(seed)
    *parts, new = [prose.words(20) if kind == "no full stop" else prose.paragraph() for _ in range(301)]
    middle = len(parts) // 2
    edited = [*parts[:middle], new, *parts[middle:]]
    if edit == "word":
        edited = [*parts[:middle], parts[middle].replace(" ", " other ", 1), *parts[middle + 1 :]]
    between = "\n\n" if kind == "paragraphs" else " "
    before, after = (texts(Source("u", between.join(each)), ChunkSizes(50, 200)) for each in (parts, edited))
    assert len(before) >= 100
    assert len(set(after) & set(before)) >= 0.9 * len(after)


def test_cuts_fall_into_step_again_even_where_all_lines_are_of_one_length() -> None:
    numbers = random.Random(9)
    lines = ["".join(f" {numbers.randrange(100, 1000)}" for _ in range(5)) for _ in range(2000)]
    before, after = (
        texts(Source("u", "\n".join(each)), ChunkSizes(50, 200)) for each in (lines, [*lines[:99], " 100", *lines[99:]])
    )
    assert len(before) >= 100
    assert len(set(after) & set(before)) >= 0.9 * len(after)


def test_an_edit_under_one_heading_leaves_all_other_sections_as_they_were() -> None:
    prose = Prose(8)
    parts = [(2, f"Head {n}\n" + "\n\n".join(prose.paragraph() for _ in range(30))) for n in range(12)]
    edited = [*parts[:5], (2, f"{parts[5][1]}\n\n{prose.paragraph()}"), *parts[6:]]
    before, after = texts(sections(*parts), ChunkSizes()), texts(sections(*edited), ChunkSizes())
    others = [one for one in before if one not in parts[5][1]]
    assert set(others) <= set(after)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ((1, 15, 0), "max_chunk_size is 15 tokens; it must be at least 16"),
        ((400, 300, 0), "min_chunk_size is 400 tokens; it must be between 1 and 300"),
        ((0, 300, 0), "min_chunk_size is 0 tokens; it must be between 1 and 300"),
        ((100, 300, 151), "overlap is 151 tokens; it must be between 0 and 150"),
        ((100, 300, -1), "overlap is -1 tokens"),
        ((250, 300, 100), "min_chunk_size is 250 tokens; it must be between 1 and 200"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(sizes: tuple[int, int, int], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        ChunkSizes(*sizes)
