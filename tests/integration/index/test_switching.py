"""A document that is switched off is in the record and not in the view, whatever happens to it at the same time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest

from tests.integration.index.test_settle import Meanwhile, document, names_of, race, store
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, ResolutionSettings, Settings, Source
from trueweave.errors import UnknownDocument
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.graph.plan import Plan
from trueweave.index.planning import Planner
from trueweave.store.postgres.record import record
from trueweave.store.postgres.view import digest
from trueweave.testing import HashEmbedder

ADA = Document("ada", (Chunk("Ada wrote", mentions=(Mention("Ada", "", "wrote"),)),))
BOB = Document("bob", (Chunk("Ada met Bob", mentions=(Mention("Ada", "", "met"), Mention("Bob"))),))
NEW_BOB = Document("bob", (Chunk("Ada knew Bob", mentions=(Mention("Ada", "", "knew"), Mention("Bob"))),))


async def switch(trueweave: AsyncTrueweave, *uris: str, off: bool = True) -> int:
    """Switch documents, and leave it to others to settle them."""
    return await record.switch(trueweave.workspace, uris, off=off)


async def listed(trueweave: AsyncTrueweave, state: str = "") -> set[str]:
    return {one.uri for one in await trueweave.list_documents(state=state)}  # type: ignore[arg-type]


async def assert_exact(trueweave: AsyncTrueweave, *, on: set[str], off: set[str]) -> None:
    """These documents are in the view, which is as if there were no others; these are switched off."""
    await trueweave.maintenance.settle()
    status = await trueweave.status()
    assert (status.documents, status.off, status.waiting_documents) == (len(on), len(off), 0)
    assert (await listed(trueweave), await listed(trueweave, "off")) == (on, off)
    assert await listed(trueweave, "any") == on | off
    verdict = await trueweave.maintenance.verify()
    assert verdict.exact, verdict.differences
    how = await trueweave.rules.resolution()
    embedder = HashEmbedder(64)
    fresh = await AsyncTrueweave.enter(trueweave.workspace.database, "fresh", embedder)
    await fresh.rules.change_resolution(how)
    await fresh.add_documents([one async for one in trueweave.documents()])
    if await fresh.maintenance.digest() != await trueweave.maintenance.digest():
        raise AssertionError(await digest.differences(trueweave.workspace, fresh.workspace))
    await fresh.maintenance.drop()


@pytest.fixture
async def both(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents([ADA, BOB])
    return trueweave


async def test_a_document_that_is_switched_off_leaves_the_view_and_comes_back(both: AsyncTrueweave) -> None:
    before = await both.maintenance.digest()
    assert await both.switch_off(["bob", "bob", "nobody"]) == 1
    assert await both.switch_off(["bob"]) == 0
    assert await names_of(both) == {frozenset({"Ada"})}
    assert {one.uri for one in await both.search("Ada met Bob", 10)} == {"ada"}
    with pytest.raises(UnknownDocument, match="'bob' is switched off"):
        await both.document("bob")
    await assert_exact(both, on={"ada"}, off={"bob"})
    assert await both.switch_on(["bob", "ada"]) == 1
    assert await both.maintenance.digest() == before
    assert {one.uri for one in await both.search("Ada met Bob", 10)} == {"ada", "bob"}
    await assert_exact(both, on={"ada", "bob"}, off=set())


# --- at the same time as settling ---------------------------------------------------------------------


async def test_a_document_is_switched_off_while_it_is_settled(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([ADA])
    await race(trueweave, BOB, lambda: switch(trueweave, "bob"))
    await assert_exact(trueweave, on={"ada"}, off={"bob"})


async def meanwhile(both: AsyncTrueweave, act: Callable[[], Awaitable[object]]) -> None:
    """Switch a document off, and act between the plan and the lock: the description of Ada is embedded again."""
    embedder = Meanwhile(act)
    assert await AsyncTrueweave(both.workspace, embedder).switch_off(["bob"]) == 1
    assert embedder.calls


async def test_a_document_is_switched_on_while_it_is_being_switched_off(both: AsyncTrueweave) -> None:
    await meanwhile(both, lambda: switch(both, "bob", off=False))
    await assert_exact(both, on={"ada", "bob"}, off=set())


async def test_a_document_is_removed_while_it_is_being_switched_off(both: AsyncTrueweave) -> None:
    await meanwhile(both, lambda: record.withdraw(both.workspace, ["bob"]))
    await assert_exact(both, on={"ada"}, off=set())
    await both.add_documents([BOB])
    await assert_exact(both, on={"ada", "bob"}, off=set())


@pytest.mark.parametrize("new", [BOB, NEW_BOB], ids=["the same", "another version"])
async def test_a_document_is_added_while_it_is_being_switched_off(both: AsyncTrueweave, new: Document) -> None:
    await meanwhile(both, lambda: store(both, new))
    await assert_exact(both, on={"ada"}, off={"bob"})


async def test_a_document_that_was_removed_and_added_again_is_on(both: AsyncTrueweave) -> None:
    await switch(both, "bob")
    await record.withdraw(both.workspace, ["bob"])  # its version is still visible
    await store(both, BOB)
    await assert_exact(both, on={"ada", "bob"}, off=set())


# --- new versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settled", [True, False])
async def test_new_versions_of_a_document_that_is_off_stay_off(both: AsyncTrueweave, settled: bool) -> None:
    await switch(both, "bob")
    if settled:
        await both.maintenance.settle()
    for version in (BOB, NEW_BOB, BOB):
        await store(both, version)
        if settled:
            await assert_exact(both, on={"ada"}, off={"bob"})
    await assert_exact(both, on={"ada"}, off={"bob"})
    await both.switch_on(["bob"])
    await assert_exact(both, on={"ada", "bob"}, off=set())


async def test_an_earlier_version_that_is_still_visible_does_not_switch_the_document_on(both: AsyncTrueweave) -> None:
    await store(both, NEW_BOB)
    await switch(both, "bob")
    await store(both, BOB)
    await assert_exact(both, on={"ada"}, off={"bob"})


async def _is_waiting(trueweave: AsyncTrueweave) -> None:
    """Wait until another transaction waits for a lock."""
    async with asyncio.timeout(30), trueweave.workspace.transaction() as tx:
        query = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
        while await (await tx.execute(query)).fetchone() != (True,):  # noqa: ASYNC110 (in another session)
            await asyncio.sleep(0.01)


async def test_a_document_is_switched_off_while_its_new_version_is_stored(both: AsyncTrueweave) -> None:
    async with both.workspace.transaction() as tx:
        await record.store_in(tx, [contribution(NEW_BOB)])
        switching = asyncio.create_task(switch(both, "bob"))
        await _is_waiting(both)
    assert await switching == 1
    await assert_exact(both, on={"ada"}, off={"bob"})


async def test_a_new_version_is_stored_while_the_document_is_switched_off(both: AsyncTrueweave) -> None:
    async with both.workspace.transaction() as tx:
        await record.switch_in(tx, ["bob"], off=True)
        storing = asyncio.create_task(store(both, NEW_BOB))
        await _is_waiting(both)
    await storing
    await assert_exact(both, on={"ada"}, off={"bob"})


# --- several callers, crashes, failures ---------------------------------------------------------------


async def test_two_callers_switch_the_same_documents(both: AsyncTrueweave) -> None:
    async with both.workspace.transaction() as tx:
        await record.switch_in(tx, ["ada", "bob"], off=True)
        others = [
            asyncio.create_task(switch(both, "bob", "ada")),
            asyncio.create_task(switch(both, "bob", "ada", off=False)),
        ]
        await _is_waiting(both)
    changed = await asyncio.gather(*others)
    assert changed in ([0, 2], [2, 2])
    on, off = (set(), {"ada", "bob"}) if changed == [2, 2] else ({"ada", "bob"}, set())
    await assert_exact(both, on=on, off=off)


async def test_what_a_killed_process_switched_off_is_hidden_by_the_next_who_works(both: AsyncTrueweave) -> None:
    await switch(both, "bob")
    await store(both, document("other", "Cy"))  # as any worker does
    assert (await both.status()).waiting_documents == 2
    await both.maintenance.settle()
    await assert_exact(both, on={"ada", "other"}, off={"bob"})


async def test_a_document_that_failed_is_tried_again_after_it_was_switched(
    both: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Planner) -> Plan:
        raise IndexError("list index out of range")

    with monkeypatch.context() as patch:
        patch.setattr(Planner, "plan", broken)
        assert await switch(both, "bob") == 1
        await store(both, document("cy", "Cy"))
        with pytest.raises(Exception, match="cannot be settled"):
            await both.maintenance.settle()
        assert {one.about for one in await both.maintenance.failed_work()} == {"bob", "cy"}
    await switch(both, "cy")
    await switch(both, "bob", off=False)
    assert await both.maintenance.failed_work() == []
    await assert_exact(both, on={"ada", "bob"}, off={"cy"})


# --- what a document that is off must not do ----------------------------------------------------------


async def test_a_name_in_a_document_that_is_off_connects_no_others(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy"))
    ends, between = ["Marten Aldous", "Martena Baldouse"], ["Marten Aldouse", "Martena Aldouse"]
    await trueweave.add_documents([document(name, name) for name in (*ends, *between)])
    assert len(await names_of(trueweave)) == 1
    await trueweave.switch_off(between)
    assert await names_of(trueweave) == {frozenset({name}) for name in ends}
    await assert_exact(trueweave, on=set(ends), off=set(between))
    await trueweave.switch_on(between)
    assert len(await names_of(trueweave)) == 1


async def test_documents_that_are_off_take_no_place_of_others(trueweave: AsyncTrueweave) -> None:
    """However many of them emphasise an entity more, its passages are those of the other documents."""

    def said(n: int, emphasis: int) -> Document:
        names = (Mention("Ada", "", "", emphasis), Mention("Bob", "", "", emphasis))
        links = (Link("Ada", "Bob", "knows", strength=emphasis, emphasis=emphasis),)
        return Document(f"doc {n}", (Chunk(f"Ada knows Bob {n}", mentions=names, links=links),))

    await trueweave.add_documents([said(n, 9) for n in range(60)] + [said(99, 1)])
    await trueweave.switch_off([f"doc {n}" for n in range(60)])
    assert [one.uri for one in (await trueweave.graph.entity("Ada", passages=3)).passages] == ["doc 99"]
    path = await trueweave.graph.path("Ada", "Bob")
    assert path
    assert [one.uri for one in path.steps[0].passages] == ["doc 99"]
    for method in ("local", "mix", "walk", "hipporag"):
        found = await trueweave.retrieve("Ada", method)
        assert {one.uri for one in found.passages} == {"doc 99"}, method


# --- documents in the queue ---------------------------------------------------------------------------


@pytest.fixture
async def queue(database: Database) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(extractor="capitals")
    async with aclosing(await AsyncTrueweave.enter(database, "queue", HashEmbedder(64), settings=settings)) as made:
        yield made


async def test_a_document_that_waits_is_switched_off_before_it_is_processed(queue: AsyncTrueweave) -> None:
    job = await queue.jobs.submit(Source("bob", "Ada met Bob."))
    assert await queue.switch_off(["bob"]) == 1
    await queue.jobs.submit(Source("bob", "Ada met Bob in Paris."))
    await queue.add(Source("ada", "Ada wrote."))
    assert (await queue.jobs.get(job.id)).state == "done"
    await assert_exact(queue, on={"ada"}, off={"bob"})


async def test_an_unchanged_document_that_is_off_is_unchanged(queue: AsyncTrueweave) -> None:
    bob = Source("bob", "Ada met Bob.")
    await queue.add(bob)
    await queue.switch_off(["bob"])
    added = await queue.add(bob)
    assert (added.new, added.unchanged) == (0, 1)
    await assert_exact(queue, on=set(), off={"bob"})
    await queue.add(Source("bob", "Ada met Bob in Paris."))
    await assert_exact(queue, on=set(), off={"bob"})
    assert await queue.remove(["bob"]) == 1
    await assert_exact(queue, on=set(), off=set())
    await queue.add(bob)
    await assert_exact(queue, on={"bob"}, off=set())
