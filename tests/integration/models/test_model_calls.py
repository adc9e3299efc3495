"""No transaction and no lock is held while a model is waited for, and nobody who has a connection waits for another."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import psycopg

from tests.integration.index.test_communities import Model, towns
from tests.integration.index.test_settle import document
from tests.integration.ingest.test_summaries import described
from trueweave import AsyncTrueweave, Link, Settings, Source
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.extend import Database, Prompt, Reply, Vectors
from trueweave.index.communities.reports import Reporting, write_reports
from trueweave.index.communities.writer import ReportWriter
from trueweave.ingest.summaries import summarise_some
from trueweave.store.postgres.view.view import LONG_DESCRIPTION
from trueweave.testing import HashEmbedder

_HELD = """
SELECT DISTINCT a.pid, a.xact_start,
    a.state || ': ' || a.query || coalesce(' holding ' || l.locktype || ' ' || l.mode, '')
FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid AND l.granted AND l.locktype IN ('advisory', 'tuple')
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
    AND (a.state IN ('idle in transaction', 'idle in transaction (aborted)') OR l.pid IS NOT NULL)
"""


@dataclass
class Looking:
    """What is held in the database during each call of a model, as somebody else sees it."""

    url: str
    calls: int = 0
    held: list[str] = field(default_factory=list)

    async def look(self) -> None:
        self.calls += 1
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            rows = {*await (await connection.execute(_HELD)).fetchall()}
            if rows:  # the worker looks for jobs meanwhile: what is held for the call is held a moment later, too
                await asyncio.sleep(0.2)
                rows &= {*await (await connection.execute(_HELD)).fetchall()}
        self.held += [held for _, _, held in rows]


@dataclass
class LookingEmbedder:
    looking: Looking
    model: str = "testing/hash"
    dimensions: int = 64
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        await self.looking.look()
        return await HashEmbedder(self.dimensions).embed(texts, role)


@dataclass
class LookingModel(Model):
    looking: Looking = field(default_factory=lambda: Looking(""))

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        await self.looking.look()
        return await super().complete(prompt, purpose)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


async def test_no_transaction_is_open_and_nothing_is_locked_while_a_model_is_waited_for(
    url: str, database: Database
) -> None:
    looking = Looking(url)
    embedder, model = LookingEmbedder(looking), LookingModel(looking=looking)
    trueweave = await AsyncTrueweave.enter(
        database, "test", embedder, llm=model, settings=Settings.load(extractor="capitals")
    )

    async def seen(what: str, least: int = 1) -> None:
        assert looking.held == [], what
        assert looking.calls >= least, what
        looking.calls = 0

    long = "She wrote the first program. " * (LONG_DESCRIPTION // 20)
    await trueweave.add_documents([*towns("Aldar", "Berth"), described("long", long)])
    await seen("settling")
    await trueweave.remove([one.uri for one in towns("Berth")][:3])
    await trueweave.add(Source("a", "Ada Lovelace met Charles Babbage in London. Ada Lovelace wrote to Paris."))
    await seen("adding")

    async def summarise(name: str, descriptions: str) -> str:
        await looking.look()
        return f"{name} in short"

    assert await summarise_some(trueweave.workspace, summarise) == 1
    await seen("summing up")
    await trueweave.communities.find()
    how = Reporting(ReportWriter(model), embedder)
    assert [page async for page in write_reports(trueweave.workspace, how)]
    await seen("reporting", 2)
    await trueweave.ask("Who met Charles Babbage?", method="naive")
    await seen("asking", 2)
    await trueweave.maintenance.change_space(LookingEmbedder(looking, "testing/other", 32))
    await seen("embedding anew")
    await trueweave.aclose()
    assert (await trueweave.maintenance.verify()).exact


async def test_more_settle_and_regroup_at_once_than_there_are_connections(url: str) -> None:
    async with Database(url, connections=2) as database:
        some = [await AsyncTrueweave.enter(database, "test", HashEmbedder()) for _ in range(12)]
        link = Link("Hub", "Spoke", "holds")
        added = (one.add_documents([document(f"{n}", "Hub", links=[link])]) for n, one in enumerate(some))
        await asyncio.wait_for(asyncio.gather(*added), 120)
        await asyncio.wait_for(asyncio.gather(*(one.communities.find() for one in some)), 120)
        await asyncio.wait_for(asyncio.gather(*(one.communities.write_reports() for one in some[:3])), 120)
        [hub] = [e for e in await some[0].graph.entities() if e.name == "Hub"]
        assert hub.count == 12
        for one in some:
            await one.aclose()
        assert (await some[0].maintenance.verify()).exact
