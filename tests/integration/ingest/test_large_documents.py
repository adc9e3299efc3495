"""A document with very many names keeps no other waiting, and is seen all at once when it is done."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.integration.ingest.test_worker import CAPITALS, QUICK, Scripted
from trueweave import AsyncTrueweave, ResolutionSettings, Source
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.extend import Vectors
from trueweave.index import settle
from trueweave.ingest import jobs
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.worker import worker_of
from trueweave.testing import HashEmbedder


@dataclass
class Held:
    """An embedder that does not come back with the texts of one document before it is told to."""

    word: str
    go: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    model: str = "testing/hash"
    dimensions: int = 64
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if any(self.word in text for text in texts):
            self.begun.set()
            await self.go.wait()
        return await HashEmbedder(self.dimensions).embed(texts, role)


async def seen(trueweave: AsyncTrueweave, documents: int) -> None:
    while (await trueweave.status()).documents < documents:  # noqa: ASYNC110 (a worker ends it)
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("shares_names", [False, True])
async def test_others_are_seen_before_a_large_document_is(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch, shares_names: bool
) -> None:
    for module in (settle, jobs):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 200)
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy"))
    large = Source("large", " ".join(f"Zed{chr(97 + n % 26)}{chr(97 + n // 26)}x Common{n % 9}" for n in range(300)))
    others = [Source(f"doc/{n}", f"Common{n} Bob{n}" if shares_names else f"Ada{n} Bob{n}") for n in range(12)]
    embedder = Held("Zed")
    no_more = asyncio.Event()
    kit = WorkerDependencies(lambda _: Scripted(), embedder)
    working = asyncio.create_task(worker_of(trueweave.workspace, kit, pace=QUICK).run_until_done(no_more))
    try:
        await take_in(trueweave.workspace, [large], CAPITALS, lambda _: None)
        await asyncio.wait_for(embedder.begun.wait(), 30)
        await take_in(trueweave.workspace, others, CAPITALS, lambda _: None)
        await asyncio.wait_for(seen(trueweave, 12), 30)
        names = {one.name for one in await trueweave.graph.entities(2000)}
        assert not any(name.startswith("Zed") for name in names), "nothing of the large one is seen yet"
        embedder.go.set()
        no_more.set()
        await asyncio.wait_for(working, 60)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert (await trueweave.status()).documents == 13
    assert (await trueweave.maintenance.verify()).exact
