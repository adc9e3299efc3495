"""A call that adds documents reports what happened to each of them, also if another worker processed it."""

import asyncio
from contextlib import aclosing

import pytest

from tests.integration.ingest.test_worker import Mill
from trueweave import AsyncTrueweave, Event, Settings, Source
from trueweave.events import Extracted, Failed
from trueweave.extend import Database
from trueweave.ingest.worker import run_until
from trueweave.store.postgres.queue.queue import ClaimedJob, Queue
from trueweave.testing import HashEmbedder

HERE = Settings(extractor="capitals")


async def test_documents_that_another_worker_processed_are_counted(
    trueweave: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, claim = Mill(trueweave), Queue.claim

    async def only_the_other(self: Queue, most: int, now: float) -> list[ClaimedJob]:
        return await claim(self, most, now) if self._database is trueweave.workspace.database else []

    monkeypatch.setattr(Queue, "claim", only_the_other)
    stop, heard = asyncio.Event(), list[Event]()
    working = asyncio.create_task(run_until(other.worker(), stop))
    async with (
        Database(url) as here,
        aclosing(await AsyncTrueweave.enter(here, "test", HashEmbedder(), settings=HERE)) as adding,
    ):
        sources = [Source("good", "Ada"), Source("odd", "odd Bob"), Source("bad", "poison")]
        added = await asyncio.wait_for(adding.add(*sources, listener=heard.append), 60)
    stop.set()
    await working
    assert set(other.extractor.worked) == {"good", "odd", "bad"}
    assert (added.new, added.extracted, added.chunks, added.noted, added.failed) == (3, 2, 2, 1, 1)
    assert {one.uri: one.notes for one in heard if isinstance(one, Extracted)} == {"good": (), "odd": ("odd",)}
    assert [(one.uri, one.error, one.final) for one in heard if isinstance(one, Failed)] == [
        ("bad", "bad: of no use", True)
    ]
