"""Names as capitals show them."""

import time

import pytest

from trueweave import Chunk, Place, Source
from trueweave.extend import Extraction
from trueweave.ingest.extract.capitals import CapitalsExtractor


async def extract(text: str, title: str = "", places: tuple[Place, ...] = (), size: int = 0) -> list[Extraction]:
    size = size or max(len(text), 1)
    chunks = [Chunk(text[start : start + size], start) for start in range(0, max(len(text), 1), size)]
    return list(await CapitalsExtractor().extract(Source("a.md", text, title, places=places), chunks))


async def names(text: str, title: str = "") -> list[str]:
    [found] = await extract(text, title)
    return [mention.name for mention in found.mentions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("we saw the University of Cambridge", ["University of Cambridge"], id="small words inside"),
        pytest.param("by Ludwig van Beethoven", ["Ludwig van Beethoven"], id="van"),
        pytest.param("in Rio de la Plata", ["Rio de la Plata"], id="two small words"),
        pytest.param("Ada Lovelace and Charles Babbage met", ["Ada Lovelace", "Charles Babbage"], id="and parts"),
        pytest.param("with O'Neill and O’Brien", ["O'Neill", "O’Brien"], id="apostrophes"),
        pytest.param("it is Ada's and Charles' work", ["Ada", "Charles"], id="possessives"),
        pytest.param("by J. R. R. Tolkien and T.S. Eliot", ["J. R. R. Tolkien", "T.S. Eliot"], id="initials"),
        pytest.param("as George W. Bush said", ["George W. Bush"], id="an initial in the middle"),
        pytest.param("Jean-Paul Sartre came", ["Jean-Paul Sartre"], id="hyphens"),
        pytest.param("of NASA, AT&T and the U.S. Army", ["NASA", "AT&T", "U.S. Army"], id="acronyms"),
        pytest.param("on Apollo 11, with 3,000 people", ["Apollo 11"], id="a number behind"),
        pytest.param("he paid Ada 11,000 for it", ["Ada"], id="an amount is no part of a name"),
        pytest.param("at the 2016 Summer Olympics", ["2016 Summer Olympics"], id="a year before"),
        pytest.param("In 1842 Ada wrote", ["Ada"], id="a year that only stands before a name"),
        pytest.param("by 20th Century Fox", ["20th Century Fox"], id="an ordinal before"),
        pytest.param("it was Mr. Smith of St. Louis", ["Mr. Smith of St. Louis"], id="titles"),
        pytest.param("by Tovar & Sons", ["Tovar & Sons"], id="an ampersand"),
        pytest.param("visited Österreich and Élodie", ["Österreich", "Élodie"], id="accents"),
        pytest.param("и Пушкин встретил Наталью Гончарову", ["Пушкин", "Наталью Гончарову"], id="Cyrillic"),
        pytest.param("και ο Όμηρος", ["Όμηρος"], id="Greek"),
        pytest.param("see \U0001e900\U0001e922\U0001e923 there", ["\U0001e900\U0001e922\U0001e923"], id="Adlam"),
        pytest.param("the iPhone was new", [], id="a capital inside a word is none"),
    ],
)
async def test_a_capitalised_phrase_is_a_name(text: str, expected: list[str]) -> None:
    assert await names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("However, she left. The end. Many of Shakespeare's plays", ["Shakespeare"], id="common words"),
        pytest.param("Machines think. We like machines.", [], id="written small elsewhere"),
        pytest.param("Couldn't I go? Couldn’t you, Ada? Wouldn't They.", ["Ada"], id="contractions with not"),
        pytest.param("I'd go, and so I'd say I'll see Ada. We’ve. You'd Be", ["Ada"], id="contractions of pronouns"),
        pytest.param("so I Couldn't, and Ada Didn't", ["Ada"], id="contractions inside a sentence"),
        pytest.param("Do come--Come!--" + "they come to Ada and come again; " * 6, ["Ada"], id="mostly written small"),
        pytest.param("the Rose fell and rose, and a Rose rose", ["Rose"], id="as often in capitals as small"),
        pytest.param("Apples fell. Newton saw apples, and so did Newton.", ["Newton"], id="never written small"),
        pytest.param("Apple grew. An apple a day. But Apple sells", ["Apple"], id="small, but also a name elsewhere"),
        pytest.param(
            "The Beatles sang. New York and Los Angeles heard.", ["Beatles", "New York", "Los Angeles"], id="The"
        ),
        pytest.param('She said: "The end is near", and "Ada" left', ["Ada"], id="after a quotation mark"),
        pytest.param("He took plan B. The Germans left.", ["Germans"], id="a letter that ends a sentence"),
        pytest.param("after World War I. The war was over", ["World War I"], id="a point is no part of a name"),
        pytest.param("We met on Monday in March, when I was there.", [], id="days, months, I"),
        pytest.param("Come to London. Come and see Ada. Take this.", ["London", "Ada"], id="imperatives"),
        pytest.param("Newton fell. He met Isaac Newton.", ["Newton", "Isaac Newton"], id="part of a name elsewhere"),
        pytest.param("Ada's engine turned. NASA and McKay. iPhones", ["Ada", "NASA", "McKay"], id="genitive, capitals"),
        pytest.param("Ada sang. Babbage wept.", [], id="nothing else shows that it is a name"),
        pytest.param("Paris\nLondon\n- New York\n- Rome", ["Paris", "London", "New York", "Rome"], id="a list"),
        pytest.param(
            "It was a long and winding road that led them all to Ada\nLovelace and home.",
            ["Ada Lovelace"],
            id="a name over the end of a full line",
        ),
    ],
)
async def test_the_capital_of_a_sentence_makes_no_name(text: str, expected: list[str]) -> None:
    assert await names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("they met Acme Robotics of\n\nLondon", ["Acme Robotics", "London"], id="of before a blank line"),
        pytest.param("- by the University of\n- and Acme of the\n", ["University", "Acme"], id="of ends an item"),
        pytest.param("they saw Pelican Vision - and Acme & more", ["Pelican Vision", "Acme"], id="marks"),
    ],
)
async def test_a_name_ends_with_no_small_word_and_no_mark(text: str, expected: list[str]) -> None:
    [found] = await extract(text)
    assert [mention.name for mention in found.mentions] == expected
    assert [text[a:b] for mention in found.mentions for a, b in mention.spans] == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Pelican Vision -", "Pelican Vision"),
        ("Pelican Vision – (2021)", "Pelican Vision"),
        ("Acme Robotics of", "Acme Robotics"),
        ("— Acme Robotics of the", "Acme Robotics"),
        ("C#", "C#"),
        ("The Who", "The Who"),
        ("Yahoo!", "Yahoo!"),
    ],
)
async def test_a_title_ends_with_no_small_word_and_no_mark(title: str, expected: str) -> None:
    assert await names("nothing here", title) == [expected]


async def test_a_word_of_the_title_is_a_name_where_it_begins_a_sentence() -> None:
    assert await names("Lovelace wrote notes. Come and see.", "Ada Lovelace") == ["Lovelace", "Ada Lovelace"]


async def test_spans_are_where_the_name_stands() -> None:
    text = "The Beatles met Ada. They liked Ada's Beatles."
    [found] = await extract(text)
    spans = {mention.name: [text[a:b] for a, b in mention.spans] for mention in found.mentions}
    assert spans == {"Beatles": ["Beatles", "Beatles"], "Ada": ["Ada", "Ada"]}


async def test_a_word_written_small_in_another_chunk_counts() -> None:
    text = "Machines think of Ada. " + "We like machines, Ada."
    first, second = await extract(text, size=23)
    assert [mention.name for mention in first.mentions + second.mentions] == ["Ada", "Ada"]


async def test_a_title_is_a_name_of_the_first_chunk_however_the_text_writes_it() -> None:
    text = "In mathematics, the riemann integral is due to Riemann. More on the Riemann Integral."
    first, second = await extract(text, "Riemann integral (mathematics)", size=56)
    title = first.mentions[0]
    assert (title.name, title.emphasis, [text[a:b] for a, b in title.spans]) == (
        "Riemann integral",
        9,
        ["riemann integral"],
    )
    assert [mention.name for mention in second.mentions] == ["Riemann Integral"]


async def test_a_title_that_the_text_does_not_repeat_is_linked_with_its_first_sentence() -> None:
    [found] = await extract("She worked with Charles Babbage. He knew Dickens.", "Ada Lovelace")
    assert [(link.source, link.target) for link in found.links] == [("Ada Lovelace", "Charles Babbage")]


async def test_headings_are_topics_of_the_chunks_where_they_begin_or_go_on() -> None:
    text = "# 1. Analytical Engine\nwheels\n# Introduction\nnothing\n# Steam\nsteam"
    places = tuple(
        Place(text.index(f"# {label}"), "heading", label) for label in ("1. Analytical Engine", "Introduction", "Steam")
    )
    found = await extract(text, places=(*places, Place(0, "page", "Page One")), size=23)
    about = [{mention.name: mention.emphasis for mention in each.mentions} for each in found]
    assert about == [{"Analytical Engine": 8}, {"Analytical Engine": 8}, {"Steam": 8}]


@pytest.mark.parametrize("title", ["Introduction", "Chapter 3", "", "12", "table of contents", "word " * 30])
async def test_what_may_head_any_document_is_no_topic(title: str) -> None:
    assert await names("nothing here", title) == []


async def test_names_are_linked_with_the_nearest_few_of_their_sentence() -> None:
    [found] = await extract("Did Anna meet Berta, Carla, Dora and Emma? No, said Frida.")
    assert {(link.source, link.target): link.strength for link in found.links} == {
        ("Anna", "Berta"): 3, ("Anna", "Carla"): 2, ("Anna", "Dora"): 1,
        ("Berta", "Carla"): 3, ("Berta", "Dora"): 2, ("Berta", "Emma"): 1,
        ("Carla", "Dora"): 3, ("Carla", "Emma"): 2,
        ("Dora", "Emma"): 3,
    }  # fmt: skip
    assert found.links[0].spans == ((0, 43),)


async def test_standing_together_twice_is_one_stronger_link_in_whatever_order() -> None:
    [found] = await extract("Berta met Anna. Anna left Berta.")
    [link] = found.links
    assert (link.source, link.target, link.strength, link.spans) == ("Anna", "Berta", 5, ((0, 16), (16, 32)))


async def test_a_list_of_names_makes_few_links() -> None:
    listed = ", ".join(f"Name{n}" for n in range(200))
    [found] = await extract(f"they are {listed}.")
    assert len(found.mentions) == 200
    assert len(found.links) < 600


async def test_the_more_often_and_the_earlier_the_more_emphasis() -> None:
    [found] = await extract("We saw Ada. Then Berta came. And Carla, Carla, Carla. " + "Then Dora. " * 20)
    assert {mention.name: mention.emphasis for mention in found.mentions} == {
        "Ada": 4,
        "Berta": 2,
        "Carla": 4,
        "Dora": 7,
    }


async def test_a_script_without_capitals_is_noted() -> None:
    [found] = await extract("東京は日本の首都です。Tokyo")
    assert [mention.name for mention in found.mentions] == ["Tokyo"]
    assert found.notes == (
        "most of this chunk is in a script without capitals, so its names were not found; use nlp or llm",
    )


@pytest.mark.parametrize("text", ["nothing here", "", " \n"])
async def test_a_chunk_without_names_is_noted(text: str) -> None:
    assert await extract(text) == [Extraction(notes=("no capitalised name in this chunk",))]


async def test_no_chunks_no_findings() -> None:
    assert list(await CapitalsExtractor().extract(Source("a", "", "Title"), [])) == []


@pytest.mark.parametrize("part", [".", "A", "A ", "A.", "A of ", "A. ", "\n", "- ", "É’", "A\n", "(", "9 A "])
async def test_hostile_text_takes_no_longer_than_it_is_long(part: str) -> None:
    begun = time.process_time()
    await extract(part * (60_000 // len(part)), title=part * 1000)
    assert time.process_time() - begun < 3
