"""The rows of a document: ids that follow from what it says, and mentions for all that is linked."""

from dataclasses import dataclass, replace

import pytest

from trueweave import Chunk, Document, Link, Mention
from trueweave.errors import InvalidDocument
from trueweave.graph.contribution import Contribution, contribution
from trueweave.text.names import key, name_id

ADA = Mention("Ada Lovelace", "person", "wrote programs", 7, ((0, 3),))
LETTERS = Link("Ada Lovelace", "Charles Babbage", "wrote to", ("letters",), 8, 6, ((0, 3),), "person", "person")
FIRST = Chunk("Ada wrote to Charles.", 0, 5, (ADA,), (LETTERS,))
SECOND = Chunk("He replied.", 22, 3)
DOCUMENT = Document("letters/1", (FIRST, SECOND), "Letters", {"year": 1843, "place": "London"})


def chunked(*chunks: Chunk) -> Document:
    return replace(DOCUMENT, chunks=chunks)


def of_chunk(*mentions: Mention, links: tuple[Link, ...] = ()) -> Contribution:
    return contribution(chunked(replace(FIRST, mentions=mentions, links=links)))


def spoken_of(made: Contribution) -> list[tuple[str, str]]:
    return [(row.written, row.type) for row in made.mentions]


CHANGED = [
    replace(DOCUMENT, uri="letters/2"),
    replace(DOCUMENT, title="Notes"),
    replace(DOCUMENT, metadata={"year": 1843}),
    chunked(FIRST),
    chunked(SECOND, FIRST),
    chunked(replace(FIRST, text=FIRST.text + "He"), replace(SECOND, text=SECOND.text.removeprefix("He"))),
    *(
        chunked(replace(FIRST, **change), SECOND)
        for change in (
            {"text": "Ada wrote to Charles!"},
            {"start": 1},
            {"tokens": 6},
            {"mentions": ()},
            {"links": ()},
            {"mentions": (ADA, ADA)},
        )
    ),
    *(
        chunked(replace(FIRST, mentions=(replace(ADA, **change),)), SECOND)
        for change in ({"name": "Ada"}, {"type": ""}, {"description": ""}, {"emphasis": 6}, {"spans": ((0, 2),)})
    ),
    *(
        chunked(replace(FIRST, links=(replace(LETTERS, **change),)), SECOND)
        for change in (
            {"source": "Ada"},
            {"target": "Charles"},
            {"description": ""},
            {"keywords": ("letters", "friends")},
            {"strength": 7},
            {"emphasis": 7},
            {"spans": ()},
            {"source_type": ""},
            {"target_type": ""},
        )
    ),
]


def test_the_same_document_makes_the_same_rows_whatever_the_order_of_its_metadata() -> None:
    again = replace(DOCUMENT, metadata=dict(sorted(DOCUMENT.metadata.items())))
    assert contribution(again) == contribution(DOCUMENT)


def test_any_change_makes_another_version() -> None:
    versions = [DOCUMENT, *CHANGED]
    assert len({contribution(document).document.id for document in versions}) == len(versions)


@pytest.mark.parametrize(
    "updated",
    [
        chunked(FIRST, Chunk("He did not.")),
        chunked(Chunk("A preface."), replace(FIRST, start=11, mentions=(), links=())),
        replace(DOCUMENT, title="Notes", metadata={}),
    ],
)
def test_a_chunk_keeps_its_id_when_another_part_of_the_document_changes(updated: Document) -> None:
    first = contribution(DOCUMENT).chunks[0].id
    assert {row.text: row.id for row in contribution(updated).chunks}[FIRST.text] == first


def test_chunks_with_equal_texts_have_ids_of_their_own() -> None:
    repeated = contribution(chunked(SECOND, FIRST, SECOND, SECOND)).chunks
    elsewhere = contribution(replace(DOCUMENT, uri="letters/2")).chunks
    assert len({row.id for row in (*repeated, *elsewhere)}) == 6
    assert repeated[0].text_hash == repeated[2].text_hash == elsewhere[1].text_hash


def test_rows_say_what_the_document_says() -> None:
    document, chunks, mentions, links, _ = contribution(DOCUMENT)
    assert (document.uri, document.title, document.size) == ("letters/1", "Letters", len(mentions) + len(links))
    assert [row[2:6] for row in chunks] == [(0, 0, 5, FIRST.text), (1, 22, 3, SECOND.text)]
    ada, charles = name_id("Ada Lovelace", "person"), name_id("Charles Babbage", "person")
    where = (document.id, chunks[0].id)
    assert mentions[0] == (
        *(*where, 0, ada, "Ada Lovelace", "person"),
        *("wrote programs", key("said", "wrote programs"), 7, [0, 3]),
    )
    assert links == [(*where, 0, ada, charles, "wrote to", key("said", "wrote to"), ["letters"], 8000, 6, [0, 3])]


def test_what_a_model_wrote_is_made_storable() -> None:
    mention = Mention(" Ada\x00\nLovelace ", "\ud800person", " wrote\x00 \ud800programs\n")
    link = Link("Ada  Lovelace", "Ada Lovelace\t", keywords=("a\x00b", "a b", " ", "c"), description="\x00")
    made = of_chunk(mention, links=(link,))
    assert made.mentions[0][4:7] == ("Ada Lovelace", "person", "wrote programs")
    assert (made.links[0].description, made.links[0].keywords) == ("", ["a b", "c"])
    assert made.links[0].source == made.links[0].target == made.mentions[0].name


def test_the_ends_of_links_become_mentions_exactly_once() -> None:
    links = (Link("Ada", "Babbage", emphasis=8), Link("Babbage ", "Ada", emphasis=2), Link("Ada", "Byron", emphasis=3))
    made = of_chunk(Mention("Ada", emphasis=9), links=links)
    assert [(row.written, row.emphasis) for row in made.mentions] == [("Ada", 9), ("Babbage", 8), ("Byron", 3)]
    assert [row.n for row in made.mentions] == [0, 1, 2]


def test_a_linked_name_is_mentioned_once_when_some_links_leave_its_type_out() -> None:
    made = of_chunk(links=(LETTERS, LETTERS, Link("Charles Babbage", "Ada Lovelace")))
    assert spoken_of(made) == [("Ada Lovelace", "person"), ("Charles Babbage", "person")]
    assert made.links[2].target == made.links[0].source == name_id("Ada Lovelace", "person")


def test_each_chunk_mentions_the_ends_of_its_own_links() -> None:
    made = contribution(chunked(FIRST, replace(SECOND, links=(LETTERS,))))
    assert spoken_of(made) == [("Ada Lovelace", "person"), ("Charles Babbage", "person")] * 2
    assert {row.chunk for row in made.mentions[2:]} == {made.chunks[1].id}


PLANET, ELEMENT = Mention("Mercury", "planet"), Mention("Mercury", "element")


@pytest.mark.parametrize(
    ("type_", "meant"),
    [
        pytest.param("element", "element", id="the type says which homonym is meant"),
        pytest.param("", "planet", id="without a type the first mention is meant"),
        pytest.param("god", "god", id="a type that was not mentioned makes another homonym"),
    ],
)
def test_a_link_means_the_homonym_of_its_type(type_: str, meant: str) -> None:
    made = of_chunk(PLANET, ELEMENT, links=(Link("Mercury", "Mercury", source_type=type_, target_type="planet"),))
    assert made.links[0].source == name_id("Mercury", meant)
    assert made.links[0].target == name_id("Mercury", "planet")
    assert spoken_of(made) == list(dict.fromkeys([("Mercury", "planet"), ("Mercury", "element"), ("Mercury", meant)]))


@pytest.mark.parametrize("span", [(-1, 2), (2, 2), (3, 2), (0, len(FIRST.text) + 1)])
def test_a_span_outside_its_chunk_is_refused(span: tuple[int, int]) -> None:
    problem = f"span {span[0]}-{span[1]} is outside its chunk of {len(FIRST.text)} characters"
    with pytest.raises(InvalidDocument, match=f"letters/1: {problem}"):
        of_chunk(replace(ADA, spans=((0, 1), span)))
    with pytest.raises(InvalidDocument, match=problem):
        of_chunk(ADA, links=(replace(LETTERS, spans=(span,)),))


def test_a_span_may_cover_its_whole_chunk() -> None:
    assert of_chunk(replace(ADA, spans=((0, 1), (0, len(FIRST.text))))).mentions[0].spans == [0, 1, 0, 21]


@pytest.mark.parametrize(
    ("mentions", "links"), [((Mention("\x00 \n"),), ()), ((), (Link("", "Ada"),)), ((), (Link("Ada", " "),))]
)
def test_an_empty_name_is_refused_with_the_place_where_it_stands(
    mentions: tuple[Mention, ...], links: tuple[Link, ...]
) -> None:
    with pytest.raises(InvalidDocument, match="letters/1: chunk at 0 mentions an empty name"):
        of_chunk(*mentions, links=links)


def test_ids_are_the_same_in_every_version_of_the_program() -> None:
    """Golden: another id here, and every document of every user would be new."""
    made = contribution(DOCUMENT)
    assert str(made.document.id) == "11486485-2722-5583-c9e3-68dce2fc2714"
    assert str(made.chunks[0].id) == "899298d3-8d5d-b4d0-fc91-47d3866589f9"


def test_a_field_that_is_added_to_what_is_said_changes_no_id() -> None:
    @dataclass(frozen=True, slots=True)
    class LaterMention(Mention):
        certainty: float = 1.0

    later = LaterMention("Ada Lovelace", "person", "wrote programs", 7, ((0, 3),))
    same, other = (replace(FIRST, mentions=(one,)) for one in (later, replace(later, certainty=0.5)))
    before = contribution(chunked(FIRST, SECOND)).document.id
    assert contribution(chunked(same, SECOND)).document.id == before
    assert contribution(chunked(other, SECOND)).document.id != before
