"""What agents remember: texts and conversations that say who told them and when."""

from datetime import UTC, datetime

import pytest

from trueweave import AsyncTrueweave, Message
from trueweave.errors import InvalidArgument
from trueweave.extend import Database
from trueweave.testing import HashEmbedder

MAY = datetime(2024, 5, 1, 10, tzinfo=UTC)
JUNE = datetime(2024, 6, 1, 10, tzinfo=UTC)


@pytest.fixture
async def index(database: Database) -> AsyncTrueweave:
    return await AsyncTrueweave.enter(database, "test", HashEmbedder())


async def work(index: AsyncTrueweave) -> None:
    await index.maintenance.retry()


async def test_what_is_remembered_is_found_with_who_told_it_and_when(index: AsyncTrueweave) -> None:
    uri = await index.remember("Ada prefers tea to coffee.", by="Bob", source="a talk", date=MAY)
    await index.remember("Ada owns a kettle.", by="Carol", date=JUNE)
    await work(index)
    [first, *_] = await index.recall("tea")
    assert (first.uri, first.title) == (uri, "Told by Bob on 2024-05-01, from a talk")
    assert {one.text for one in await index.recall("Ada", by="Carol")} == {"Ada owns a kettle."}
    assert {one.text for one in await index.recall("Ada", since=JUNE)} == {"Ada owns a kettle."}
    assert uri in {one.uri for one in await index.search("tea")}, "every search finds it"


async def test_saying_it_twice_stores_it_once_with_the_latest_date(index: AsyncTrueweave) -> None:
    uris = {await index.remember("Ada prefers tea.", by="Bob", date=date) for date in (MAY, JUNE)}
    await work(index)
    [uri] = uris
    assert (await index.document(uri)).title == "Told by Bob on 2024-06-01"
    assert await index.remember("Ada prefers tea.", by="Carol") not in uris


async def test_a_conversation_is_replaced_as_it_goes_on(index: AsyncTrueweave) -> None:
    said = [Message("user", "Which tea does Ada prefer?"), Message("assistant", "Assam.")]
    uri = await index.remember(said, conversation="7")
    await work(index)
    assert await index.remember([*said, Message("user", "And which kettle?")], conversation="7") == uri
    await work(index)
    assert (await index.status()).documents == 1
    assert "user: And which kettle?" in (await index.recall("kettle"))[0].text


async def test_what_is_forgotten_before_it_was_indexed_never_is(index: AsyncTrueweave) -> None:
    uri = await index.remember("Ada prefers tea.")
    assert await index.forget(uri) == 1
    await work(index)
    assert await index.recall("tea") == []
    assert (await index.status()).documents == 0


async def test_only_memories_are_forgotten(index: AsyncTrueweave) -> None:
    uri = await index.remember("Ada prefers tea.")
    with pytest.raises(InvalidArgument, match="is not a memory"):
        await index.forget(uri, "notes/ada.md")
    await work(index)
    assert len(await index.recall("tea")) == 1, "nothing was removed"


async def test_nothing_and_a_time_without_a_zone_cannot_be_remembered(index: AsyncTrueweave) -> None:
    with pytest.raises(InvalidArgument, match="nothing to remember"):
        await index.remember(" \n")
    with pytest.raises(InvalidArgument, match="has no time zone"):
        await index.remember("Ada", date=datetime(2024, 5, 1))  # noqa: DTZ001
