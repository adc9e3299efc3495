"""Every mention of an entity and every statement of a relation, in their sentences."""

from uuid import uuid4

import pytest

from tests.integration.serving import fill, serving
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.errors import UnknownEntity, UnknownRelation

ADA = "Ada Lovelace"
LETTER = "😀 Dr. Ada Lovelace wrote. In 1843, 👩‍👩‍👧 Ada met Babbage in London. Ada left!"
DIARY = "ADA LOVELACE is here. Nobody else came."


def spans_of(text: str, name: str) -> tuple[tuple[int, int], ...]:
    starts = [at for at in range(len(text)) if text.startswith(name, at)]
    return tuple((at, at + len(name)) for at in starts)


LETTERS = [
    Document(
        "a/letter",
        (
            Chunk(
                LETTER,
                100,
                mentions=(
                    Mention("Ada Lovelace", "person", spans=spans_of(LETTER, "Ada Lovelace")),
                    Mention("Ada", "person", spans=spans_of(LETTER, "Ada ")),
                    Mention("Countess", "person"),
                    Mention("Babbage", "person"),
                ),
                links=(Link("Ada", "Babbage", "she met him", ("met",), 3),),
            ),
        ),
        "A letter",
    ),
    # Neither chunk says where the name is; the second does not write it at all.
    Document(
        "b/diary",
        (
            Chunk(DIARY, mentions=(Mention("Ada Lovelace", "person"),)),
            Chunk("She is at sea. It rains.", 500, mentions=(Mention("Ada Lovelace", "person"),)),
        ),
    ),
    Document("c/other", (Chunk("Nothing.", mentions=(Mention("Canada", "place"),)),)),
]


@pytest.fixture
async def letters(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents(LETTERS)
    await trueweave.rules.merge(NameKey("Ada Lovelace"), NameKey("Ada"), NameKey("Countess"))
    return trueweave


async def test_every_mention_is_listed_in_its_sentence(letters: AsyncTrueweave) -> None:
    found = await letters.graph.mentions("Ada Lovelace")
    assert [(one.uri, one.text) for one in found] == [
        ("a/letter", "😀 Dr. Ada Lovelace wrote."),
        ("a/letter", "😀 Dr. Ada Lovelace wrote."),
        ("a/letter", "In 1843, 👩‍👩‍👧 Ada met Babbage in London."),
        ("a/letter", "Ada left!"),
        ("b/diary", "ADA LOVELACE is here."),
        ("b/diary", "She is at sea."),
    ]
    texts = {"a/letter": LETTER.rjust(100 + len(LETTER)), "b/diary": DIARY}
    for one in found[:-1]:
        whole = texts[one.uri]
        assert whole[one.text_start : one.text_start + len(one.text)] == one.text
        assert whole[one.start : one.end].strip().lower() in ("ada", "ada lovelace")
    assert (found[-1].start, found[-1].end, found[-1].text_start) == (500, 500, 500)
    assert await letters.graph.mentions("Ada Lovelace", document="b/diary") == found[4:]
    assert await letters.graph.mentions("Ada Lovelace", document="nowhere") == []

    counts = await letters.graph.mention_counts("Ada Lovelace")
    assert (counts.mentions, counts.documents) == (6, 2)
    assert [(one.uri, one.title, one.mentions) for one in counts.by_document] == [
        ("a/letter", "A letter", 4),
        ("b/diary", "", 2),
    ]
    assert len((await letters.graph.mention_counts("Ada Lovelace", limit=1)).by_document) == 1


async def test_a_relation_is_shown_where_its_names_are_nearest(letters: AsyncTrueweave) -> None:
    [relation] = await letters.graph.relations("Babbage")
    assert await letters.graph.relation(relation.id) == relation
    [one] = await letters.graph.statements(relation.id)
    assert (one.uri, one.source, one.target, one.keywords, one.strength) == ("a/letter", "Ada", "Babbage", ("met",), 3)
    assert one.text == "In 1843, 👩‍👩‍👧 Ada met Babbage in London."
    assert [LETTER[start - 100 : end - 100] for start, end in one.names] == ["Ada", "Babbage"]


async def test_a_statement_with_a_span_is_shown_there(trueweave: AsyncTrueweave) -> None:
    text = "Ada knew Byron. Then Ada wrote to Byron."
    link = Link("Ada", "Byron", spans=((16, len(text)),))
    await trueweave.add_documents([Document("d", (Chunk(text, links=(link,)),))])
    [relation] = await trueweave.graph.relations()
    [one] = await trueweave.graph.statements(relation.id)
    assert one.text == text[16:]
    assert [text[start:end] for start, end in one.names] == ["Ada", "Byron"]


async def test_the_sentence_of_a_mention_is_bounded(trueweave: AsyncTrueweave) -> None:
    text = f"{'x' * 30_000} Ada {'y' * 30_000}"
    mentions = (Mention("Ada", spans=((30_001, 30_004),)), Mention("Far away", spans=((0, len(text)),)))
    await trueweave.add_documents([Document("d", (Chunk(text, mentions=mentions),))])
    [one] = await trueweave.graph.mentions("Ada")
    assert len(one.text) == 600
    assert one.text[one.start - one.text_start : one.end - one.text_start] == "Ada"
    [long] = await trueweave.graph.mentions("Far away")
    assert (long.end, len(long.text)) == (len(text), 600)


async def test_what_no_longer_exists_has_no_mentions(letters: AsyncTrueweave) -> None:
    [relation] = await letters.graph.relations("Babbage")
    babbage = (await letters.graph.entity("Babbage")).entity.id
    await letters.rules.suppress(NameKey("Babbage"))
    for call in (letters.graph.mentions, letters.graph.mention_counts):
        with pytest.raises(UnknownEntity):
            await call(babbage)
    for id_ in (relation.id, uuid4()):
        with pytest.raises(UnknownRelation):
            await letters.graph.relation(id_)
        with pytest.raises(UnknownRelation):
            await letters.graph.statements(id_)


async def test_pages_go_on_after_a_document_was_removed(url: str) -> None:
    """Whoever reads page by page finds every mention that is still there once."""
    room = "/v1/workspaces/mine"
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        await trueweave.add_documents(LETTERS)
        await trueweave.rules.merge(NameKey("Ada Lovelace"), NameKey("Ada"), NameKey("Countess"))
        all_of = await trueweave.graph.mentions(ADA)
        params: dict[str, str | int] = {"name": ADA, "limit": 1}
        found: list[tuple[str, int]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = (await client.get(f"{room}/entity/mentions", params={**params, "cursor": cursor})).json()
            found += [(one["uri"], one["start"]) for one in page["items"]]
            cursor = page["next"]
        assert found == [(one.uri, one.start) for one in all_of]

        first = (await client.get(f"{room}/entity/mentions", params={"name": ADA, "limit": 2})).json()
        await trueweave.remove(["a/letter"])
        rest = await client.get(f"{room}/entity/mentions", params={"name": ADA, "cursor": first["next"]})
        assert {one["uri"] for one in rest.json()["items"]} == {uri for uri, _ in found} - {"a/letter"}
        elsewhere = {"name": ADA, "document": "b/diary", "cursor": first["next"]}
        refused = await client.get(f"{room}/entity/mentions", params=elsewhere)
        assert refused.json()["code"] == "invalid_cursor"
