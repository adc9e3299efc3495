"""Behind PgBouncer in transaction mode, which lends its sessions to many clients: nothing reaches another tenant."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from tests.integration.conftest import SESSIONS
from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Link, Mention, Settings, Source
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.methods import Hybrid, Keyword, Local, Naive, Subgraph
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.testing import HashEmbedder

WORDS = ("alpha", "omega")


def speaking(name: str, word: str) -> Document:
    """A document all of whose parts have its word in them, about the things that the others speak of as well."""
    said = Chunk(
        f"The Ambrel Bridge is {word} to the tower.",
        mentions=(Mention("Ambrel Bridge", "place", f"a {word} bridge"), Mention("Tower", "place", f"a {word} tower")),
        links=(Link("Ambrel Bridge", "Tower", f"{word} neighbours", (f"{word}ness",)),),
    )
    return Document(name, (said,), title=f"{word} title")


@asynccontextmanager
async def tenants(pooled: str, url: str, clients: int) -> AsyncIterator[list[tuple[AsyncTrueweave, str, str]]]:
    """As many processes for each of two workspaces, with the word of each and that of the other."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(clients):
            for mine, other in (WORDS, WORDS[::-1]):
                database = await stack.enter_async_context(Database(pooled, direct_url=url, connections=4))
                found.append((await AsyncTrueweave.enter(database, mine, HashEmbedder()), mine, other))
        yield found


def is_only(evidence: Evidence, mine: str, other: str) -> bool:
    told = repr((evidence.passages, evidence.entities, evidence.relations, evidence.paths))
    return mine in told and other not in told


async def test_two_tenants_that_share_sessions_see_and_write_only_their_own(pooled: str, url: str) -> None:
    chance = random.Random(7)
    methods = (Naive(), Keyword(), Local(), Hybrid(), Subgraph(similarity_threshold=-1))

    async def live(trueweave: AsyncTrueweave, mine: str, other: str, n: int) -> None:
        await trueweave.add_documents([speaking(f"{mine} {n}", mine)])
        for k in range(6):
            method = chance.choice(methods)
            assert is_only(await trueweave.retrieve("Ambrel Bridge tower", method), mine, other)
            assert all(mine in entity.description for entity in await trueweave.graph.entities())
            if k == 3:
                await trueweave.add_documents([speaking(f"{mine} {n} again", mine)])

    async with tenants(pooled, url, 4) as clients:
        for trueweave, mine, _ in clients[:2]:
            await trueweave.add_documents([speaking(f"{mine} first", mine)])
        await asyncio.gather(*(live(*client, n) for n, client in enumerate(clients)))
        for trueweave, mine, _ in clients[:2]:
            assert {document.title async for document in trueweave.documents()} == {f"{mine} title"}
            await trueweave.maintenance.settle()
            assert (await trueweave.status()).documents == 9
            assert (await trueweave.maintenance.verify()).exact
    with psycopg.connect(url) as owner:
        texts = owner.execute("SELECT workspace, array_agg(DISTINCT text) FROM trueweave.chunk GROUP BY 1").fetchall()
    assert sorted(len(said) for _, said in texts) == [1, 1]


async def test_nothing_of_a_transaction_stays_in_the_session_that_it_used(pooled: str, url: str) -> None:
    async with Database(pooled, direct_url=url, connections=SESSIONS) as database:
        workspace = await database.find_workspace("test", make=True)
        assert workspace
        for _ in range(20):
            await workspace.read(b"SELECT set_config('hnsw.ef_search', '77', true)")
            async with workspace.transaction(unhurried=True) as tx:
                await tx.rows("ledger.read_budget")
    asked = """SELECT current_user, current_setting('trueweave.workspace', true), current_setting('search_path'),
        current_setting('hnsw.ef_search', true), current_setting('statement_timeout')"""
    async with AsyncExitStack() as stack:  # all sessions at once, each held by a transaction
        others = [
            await stack.enter_async_context(await psycopg.AsyncConnection.connect(pooled, prepare_threshold=None))
            for _ in range(SESSIONS)
        ]
        for other in others:
            user, workspace_left, path, effort, timeout = await (await other.execute(asked)).fetchone() or ()
            assert user == urlsplit(url).username
            assert not workspace_left
            assert effort in (None, "", "40")
            assert (path, timeout) == ('"$user", public', "0")


async def test_a_statement_without_a_transaction_of_ours_reads_nothing(pooled: str, url: str) -> None:
    async with Database(pooled, direct_url=url) as database:
        workspace = await database.find_workspace("test", make=True)
        assert workspace
        await workspace.read(b"SELECT count(*) FROM document")
        async with database._lent() as connection:
            with pytest.raises(psycopg.errors.DatabaseError):
                await connection.execute("SET ROLE trueweave_app; SELECT count(*) FROM trueweave.document")


async def test_documents_are_added_and_asked_about_through_a_pooler(pooled: str, url: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Bridges\n\nThe Ambrel Bridge was built by Lady Maron in 1712.\n")
    settings = Settings(database_url=pooled, direct_database_url=url, workspace="flow")
    async with AsyncTrueweave.open(settings=settings, embedder=HashEmbedder()) as trueweave:
        added = await trueweave.add(tmp_path, Source("note", "Lady Maron lived in the Tower."))
        assert (added.new, added.failed) == (2, 0)
        found = await trueweave.ask("Who built the Ambrel Bridge?", context_only=True)
        assert any("Lady Maron" in passage.text for passage in found.evidence.passages)
        assert await trueweave.remove(["note"]) == 1
        assert (await trueweave.maintenance.verify()).exact
        await trueweave.maintenance.drop()


async def test_claims_of_a_process_that_is_gone_are_taken_over_behind_a_pooler(pooled: str, url: str) -> None:
    async with Database(pooled, direct_url=url) as database, Liveness(database, 1.5) as alive:
        workspace = await database.find_workspace("test", make=True)
        assert workspace
        dead = Liveness(database, 1.5)
        await dead._register()  # and never renews
        key = uuid4()
        assert await PostgresReplies(workspace, dead, "m").ask(key) is None
        asked = asyncio.create_task(PostgresReplies(workspace, alive, "m").ask(key))
        await asyncio.sleep(0.5)
        assert not asked.done()
        assert await asyncio.wait_for(asked, 30) is None
        await dead._disconnect()


async def test_a_pooler_without_a_direct_address_is_refused_with_the_next_step(pooled: str, url: str) -> None:
    with pytest.raises(ConfigError, match="direct_database_url"):
        await Database(pooled).open()
    with pytest.raises(ConfigError, match="direct_database_url"):
        await migrate(pooled)
    assert await migrate(url) == []
