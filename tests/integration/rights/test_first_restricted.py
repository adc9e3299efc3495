"""The first restricted documents of a workspace, added by several callers at once. A lock keeps callers who see all
documents from being shown something else meanwhile: nobody may wait for it with another lock that its holder needs."""

import asyncio

import pytest

from tests.integration.rights.test_access_rules import Paused, readers
from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Source
from trueweave.errors import NotForRestricted
from trueweave.extend import Database, Workspace
from trueweave.graph.contribution import contribution
from trueweave.store.postgres.record import access_rules, record
from trueweave.store.postgres.sight import Sight
from trueweave.testing import HashEmbedder

WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def said(uri: str, *groups: str) -> Document:
    return Document(uri, (Chunk(f"Ada wrote {uri}", mentions=(Mention("Ada"),)),), readers=groups or None)


@pytest.fixture
async def index(database: Database) -> AsyncTrueweave:
    index = await AsyncTrueweave.enter(database, "test", HashEmbedder(8), settings=Settings(extractor="capitals"))
    await index.add_documents([said("open"), said("hr/old")])
    return index


async def stored_by(index: AsyncTrueweave, group: str, document: Document) -> None:
    """A caller in this group stores a document. It is indexed by whoever does so next."""
    await record.store(index.workspace.seen(Sight((group,))), [contribution(document)])


async def await_waiting(workspace: Workspace, number: int) -> None:
    """Return once so many transactions wait for advisory locks."""
    async with asyncio.timeout(30):
        while True:
            async with workspace.transaction() as tx:
                row = await (await tx.execute(WAITING)).fetchone()
            if row == (number,):
                return
            await asyncio.sleep(0.01)


async def test_two_callers_who_see_all_add_the_first_restricted_documents(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them sees all no longer, and so can write nothing more."""
    paused = Paused(monkeypatch, record, "_still_wanted")
    first = asyncio.create_task(stored_by(index, "hr", said("pay", "hr")))
    await paused.reached.wait()
    second = asyncio.create_task(stored_by(index, "it", said("plan", "it")))
    await await_waiting(index.workspace, 1)
    paused.go_on.set()
    await first
    with pytest.raises(NotForRestricted):
        await second
    assert await readers(index) == {"hr/old": [], "open": [], "pay": ["hr"]}


async def test_the_same_documents_are_added_by_two_with_and_without_readers(index: AsyncTrueweave) -> None:
    async with index.workspace.seen(Sight(())).transaction():
        restricting = asyncio.create_task(index.add_documents([said("a", "hr")]))
        await await_waiting(index.workspace, 1)
        both = asyncio.create_task(index.add_documents([said("a"), said("b", "it")]))
        await await_waiting(index.workspace, 2)
    await asyncio.gather(restricting, both)
    assert await readers(index) == {"a": ["hr"], "b": ["it"], "hr/old": [], "open": []}


async def test_a_rule_is_made_while_a_caller_who_sees_all_adds_a_document(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = Paused(monkeypatch, record, "names_may_arrive")
    adding = asyncio.create_task(stored_by(index, "it", said("hr/pay")))
    await paused.reached.wait()
    setting = asyncio.create_task(index.access.set("hr/", ["hr"]))
    await await_waiting(index.workspace, 1)
    paused.go_on.set()
    await asyncio.gather(adding, setting)
    assert await readers(index) == {"hr/old": ["hr"], "hr/pay": ["hr"], "open": []}


@pytest.mark.parametrize("given", [(), ("board",)])
async def test_a_rule_is_made_while_the_first_restricted_document_is_stored(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    paused = Paused(monkeypatch, record, "_register")
    adding = asyncio.create_task(index.add_documents([said("hr/pay", *given)]))
    await paused.reached.wait()
    setting = asyncio.create_task(index.access.set("hr/", ["hr"]))
    await await_waiting(index.workspace, 1)
    paused.go_on.set()
    await asyncio.gather(adding, setting)
    assert await readers(index) == {"hr/old": ["hr"], "hr/pay": [*(given or ("hr",))], "open": []}


@pytest.mark.parametrize("given", [(), ("board",)])
async def test_the_first_restricted_document_arrives_while_a_rule_is_made(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    paused = Paused(monkeypatch, access_rules, "_keep")
    setting = asyncio.create_task(index.access.set("hr/", ["hr"]))
    await paused.reached.wait()
    adding = asyncio.create_task(index.add_documents([said("hr/pay", *given)]))
    removing = asyncio.create_task(index.acting_as([]).remove(["hr/old"]))
    await await_waiting(index.workspace, 2)
    paused.go_on.set()
    await asyncio.gather(adding, setting)
    with pytest.raises(NotForRestricted):
        await removing
    assert await readers(index) == {"hr/old": ["hr"], "hr/pay": [*(given or ("hr",))], "open": []}


async def test_the_first_document_that_a_rule_restricts_waits_before_it_locks_others(index: AsyncTrueweave) -> None:
    """There was nothing below the rule until now. A caller who sees all changes a document of the same batch."""
    await index.access.set("new/", ["hr"])
    async with index.workspace.seen(Sight(())).transaction() as tx:
        adding = asyncio.create_task(index.add_documents([said("open"), said("new/pay")]))
        await await_waiting(index.workspace, 1)
        await tx.rows("record.lock_versions", uris=["open"])
    await adding
    assert await readers(index) == {"hr/old": [], "new/pay": ["hr"], "open": []}


async def test_documents_that_nothing_restricts_do_not_wait_for_callers_who_see_all(index: AsyncTrueweave) -> None:
    await index.access.set("new/", ["hr"])
    async with index.workspace.seen(Sight(())).transaction(), asyncio.timeout(30):
        assert await index.add_documents([said("more")]) == 1


async def test_a_document_that_was_submitted_with_readers_waits_before_it_locks_others(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.jobs.submit(Source("pay", "Ada earns much."), readers=["hr"])
    locking = Paused(monkeypatch, record, "names_may_arrive")
    stop = asyncio.Event()
    async with index.workspace.seen(Sight(())).transaction():
        working = asyncio.create_task(index.work(stop=stop))
        await await_waiting(index.workspace, 1)
        assert not locking.reached.is_set()
    locking.go_on.set()
    async with asyncio.timeout(30):
        while (await readers(index)).get("pay") != ["hr"]:  # noqa: ASYNC110 (it is PostgreSQL)
            await asyncio.sleep(0.01)
    stop.set()
    await working
