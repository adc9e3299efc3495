"""Verifying changes nothing, asks no model, and says what it could not compare."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import combinations
from uuid import uuid4

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Rule, Settings
from trueweave.engine import maintenance
from trueweave.extend import Database, Workspace
from trueweave.graph.contribution import contribution
from trueweave.index.verify import Moment, compare_with
from trueweave.store.postgres.cluster import temporary_workspaces
from trueweave.store.postgres.record import record, resolution
from trueweave.testing import ModelServer, tables
from trueweave.types import Verdict

FOLK = ("miller", "smith", "reeve", "priest")


def told(a: str, b: str, how: str = "knows") -> Document:
    link = Link(a, b, how)
    return Document(f"{a}/{b}", (Chunk(f"The {a} {how} the {b}.", mentions=(Mention(a), Mention(b)), links=(link,)),))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as made:
        yield made


@pytest.fixture
async def index(
    database: Database, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncTrueweave]:
    """A workspace whose embedding model is in the settings, with communities that have reports."""
    monkeypatch.setenv("TRUEWEAVE_EMBEDDING_MODEL", "vllm/any")
    monkeypatch.setenv("TRUEWEAVE_EMBEDDING_URL", server.url)
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=Settings.load())) as made:
        await made.add_documents(told(a, b) for a, b in combinations(FOLK, 2))
        await made.communities.find()
        await made.communities.write_reports()
        yield made


async def store(index: AsyncTrueweave, *documents: Document) -> None:
    """Store documents, and leave them to be settled by somebody else."""
    await record.store(index.workspace, [contribution(d) for d in documents])


async def test_verifying_leaves_every_table_as_it_was_and_asks_no_model(
    index: AsyncTrueweave, server: ModelServer, url: str
) -> None:
    await index.add_documents([told("miller", "widow"), told("widow", "ferryman")])  # communities are behind
    await index.remove(["smith/reeve"])
    await store(index, told("smith", "reeve", "met"), told("miller", "widow", "met"))
    await record.withdraw(index.workspace, ["miller/smith"])
    before, calls = tables.rows(url), len(server.calls)
    verdict = await index.maintenance.verify()
    assert verdict.exact
    assert (verdict.waiting_documents, verdict.left_out) == (3, ("communities",))
    assert tables.rows(url) == before
    assert len(server.calls) == calls, "a settings file with an embedding model is no reason to call it"


async def test_the_view_is_compared_with_the_documents_that_it_shows(index: AsyncTrueweave) -> None:
    await store(index, told("smith", "reeve", "met"))
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.waiting_documents, verdict.left_out) == (True, 1, ())
    await index.maintenance.settle()
    await index.communities.find()
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.waiting_documents, verdict.left_out) == (True, 0, ())


async def test_what_a_rule_that_waits_would_change_is_left_out(index: AsyncTrueweave) -> None:
    names = [NameKey("miller"), NameKey("smith")]
    await resolution.add_rule(index.workspace, Rule(uuid4(), "merge", tuple(names)))
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.waiting_names) == (True, 2)
    assert set(verdict.left_out) == {"names", "entities", "relations", "communities", "vectors"}


async def test_a_difference_is_still_found(index: AsyncTrueweave, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.relation SET weight = weight + 1")
    verdict = await index.maintenance.verify()
    assert not verdict.exact
    assert {one.section for one in verdict.differences} == {"relations"}


async def test_documents_that_change_meanwhile_are_told_of_and_are_no_alarm(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change_and_compare(workspace: Workspace, rebuilt: Workspace, before: Moment) -> Verdict:
        await index.add_documents([told("widow", "reeve")])
        return await compare_with(workspace, rebuilt, before)

    monkeypatch.setattr(maintenance, "compare_with", change_and_compare)
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.changed, verdict.differences) == (False, True, ())


async def test_what_a_killed_process_left_is_dropped_and_what_a_living_one_builds_is_not(
    index: AsyncTrueweave, url: str
) -> None:
    before = tables.rows(url)
    async with temporary_workspaces.temporary_workspace(index.database, "living") as living:
        killed = temporary_workspaces.temporary_workspace(index.database, "killed")
        left = AsyncTrueweave(await killed.__aenter__(), settings=Settings(embedding_model=None))
        await left.add_documents([told("miller", "widow")])
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE trueweave.workspace SET expires = now() WHERE name = 'killed'")
        assert (await index.maintenance.verify()).exact
        with psycopg.connect(url) as connection:
            rows = connection.execute("SELECT id FROM trueweave.workspace WHERE expires IS NOT NULL").fetchall()
        assert rows == [(living.id,)]
        await temporary_workspaces.renew(living)
    await killed.__aexit__(None, None, None)
    assert tables.rows(url) == before


async def test_a_rule_that_was_lost_is_noticed_though_the_view_is_as_the_other_rules_say(
    index: AsyncTrueweave, url: str
) -> None:
    rule = await index.rules.merge(NameKey("nobody"), NameKey("no one"))  # no document mentions them
    await index.rules.undo((await index.rules.merge(NameKey("miller"), NameKey("smith"))).id)
    await index.maintenance.settle()
    await index.communities.find()
    assert (await index.maintenance.verify()).exact
    with psycopg.connect(url) as owner:
        owner.execute("ALTER TABLE trueweave.rule DISABLE TRIGGER USER")
        owner.execute("DELETE FROM trueweave.rule WHERE id = %s", (rule.id,))
    verdict = await index.maintenance.verify()
    assert (verdict.exact, verdict.digest) == (False, verdict.rebuilt)
    assert [one.section for one in verdict.differences] == ["rules"]
