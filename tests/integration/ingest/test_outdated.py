"""A changed prompt, schema or extractor marks documents as out of date; refreshing works those again, and no others."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.extend import Database
from trueweave.ingest.extract import capitals, llm
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked
from trueweave.types import OutOfDate

SOURCES = [Source(f"doc/{n}", f"Ada Lovelace met Charles Babbage {n} times.") for n in range(3)]


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    made = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=Settings(extractor="capitals"))
    async with aclosing(made):
        yield made


async def anew(index: AsyncTrueweave, **changes: object) -> AsyncTrueweave:
    """The same workspace as another process sees it, with other settings."""
    settings = index.settings.model_copy(update=changes)
    return AsyncTrueweave(index.workspace, HashEmbedder(), settings)


async def test_another_version_of_the_extractor_makes_documents_out_of_date(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.add(*SOURCES)
    assert await index.maintenance.out_of_date() == []
    monkeypatch.setattr(capitals, "VERSION", "another")
    assert await index.maintenance.out_of_date() == [OutOfDate(3)]
    assert (await index.add(*SOURCES)).new == 0, "an upgrade alone is no reason to work, and perhaps pay, again"
    assert (await index.estimate(*SOURCES[:2], refresh=True)).documents == 2
    assert (await index.add(*SOURCES[:2], refresh=True)).new == 2
    assert await index.maintenance.out_of_date() == [OutOfDate(1)]
    again = await index.add(*SOURCES, refresh=True)
    assert (again.new, again.unchanged) == (1, 2), "those that are up to date stay"
    assert await index.maintenance.out_of_date() == []
    assert (await index.maintenance.verify()).exact


async def test_other_settings_are_named(index: AsyncTrueweave) -> None:
    await index.add(*SOURCES)
    async with aclosing(await anew(index, max_chunk_size=500)) as other:
        assert await other.maintenance.out_of_date() == [OutOfDate(3, ("max_chunk_size",))]
        assert (await other.add(*SOURCES)).new == 3
        assert await other.maintenance.out_of_date() == []


async def test_documents_whose_entities_were_given_are_never_out_of_date(index: AsyncTrueweave) -> None:
    await index.add(SOURCES[0])
    await index.add_documents([document async for document in index.documents()])
    async with aclosing(await anew(index, max_chunk_size=500)) as other:
        assert sum(one.documents for one in await other.maintenance.out_of_date()) == 1


async def test_a_changed_reading_of_replies_costs_nothing_to_refresh(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(_: Asked) -> str:
        return json.dumps({"entities": [{"name": "Ada Lovelace", "type": "person"}], "relations": []})

    async with ModelServer(script) as server:
        settings = Settings(model="vllm/any", model_url=server.url, model_tries=1)
        index = await AsyncTrueweave.enter(database, "test", settings=settings)
        async with aclosing(index):
            await index.add(*SOURCES)
            calls = len(server.calls)
            monkeypatch.setattr(llm, "VERSION", "another")
            assert await index.maintenance.out_of_date() == [OutOfDate(3)]
            assert (await index.add(*SOURCES, refresh=True)).new == 3
            assert await index.maintenance.out_of_date() == []
            assert len(server.calls) == calls, "the same was asked, so the replies are there"
