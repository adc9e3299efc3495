"""A workspace that keeps history shows its index as it was at any time since."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.index.test_settle import names_of
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.errors import (
    DatabaseError,
    InvalidArgument,
    NotForRestricted,
    UnknownDocument,
    UnknownEntity,
    UnknownWorkspace,
)
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.store.postgres.record import history, record
from trueweave.testing import HashEmbedder


def said(uri: str, text: str, *names: str, readers: tuple[str, ...] | None = None) -> Document:
    """A document with one chunk that mentions these names, and links the first two."""
    links = (Link(names[0], names[1], text),) if len(names) > 1 else ()
    chunk = Chunk(text, mentions=tuple(Mention(name, "", f"{name} in {text}") for name in names), links=links)
    return Document(uri, (chunk,), title=uri.title(), readers=readers)


ADA = said("ada", "Ada wrote a program", "Ada")
BOB = said("bob", "Ada met Bob in Zürich", "Ada", "Bob", "Zürich")
NEW_BOB = said("bob", "Ada met Carl in Rome", "Ada", "Carl", "Rome")


@dataclass(frozen=True)
class ListeningEmbedder(HashEmbedder):
    """Notes the texts of documents that it embeds."""

    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if role == "document":
            self.asked.extend(texts)
        return await super().embed(texts, role)


def now() -> datetime:
    return datetime.now(UTC)


async def as_of(trueweave: AsyncTrueweave, at: datetime) -> str:
    """The digest of then."""
    async with trueweave.as_of(at) as past:
        verdict = await past.maintenance.verify()
        assert verdict.exact, verdict.differences
        return await past.maintenance.digest()


@pytest.fixture
async def kept(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    """A workspace with two documents that keeps history."""
    await trueweave.add_documents([ADA, BOB])
    await trueweave.history.keep()
    return trueweave


async def former(trueweave: AsyncTrueweave) -> int:
    return (await trueweave.history.status()).versions


async def test_the_index_is_as_it_was_before_each_change(kept: AsyncTrueweave) -> None:
    seen: list[tuple[datetime, str, set[frozenset[str]]]] = []

    async def note() -> None:
        seen.append((now(), await kept.maintenance.digest(), await names_of(kept)))

    await note()
    await kept.add_documents([NEW_BOB])
    await note()
    assert await kept.remove(["ada"]) == 1
    await note()
    await kept.switch_off(["bob"])
    await note()
    await kept.add_documents([ADA])
    await kept.switch_on(["bob"])
    await note()
    await kept.add_documents([BOB])  # the first version comes back
    await note()
    assert seen[0][1] == seen[-1][1]
    assert len({digest for _, digest, _ in seen}) == 4
    for at, digest, names in seen:
        async with kept.as_of(at) as past:
            assert await past.maintenance.digest() == digest
            assert await names_of(past) == names
    assert [one.until is None for one in await kept.history.versions("bob")] == [True, False, False, False]
    verdict = await kept.maintenance.verify()
    assert verdict.exact, verdict.differences


async def test_questions_are_answered_from_what_was_known_then(kept: AsyncTrueweave) -> None:
    before = now()
    await kept.add_documents([NEW_BOB])
    await kept.remove(["ada"])
    async with kept.as_of(before) as past:
        assert {one.added < before for one in await past.list_documents()} == {True}
        assert {one.text for one in await past.search("Ada met", 10)} == {ADA.chunks[0].text, BOB.chunks[0].text}
        assert (await past.graph.entity("Zürich")).entity.name == "Zürich"
        with pytest.raises(UnknownEntity):
            await past.graph.entity("Carl")
    assert {one.text for one in await kept.search("Ada met", 10)} == {NEW_BOB.chunks[0].text}


async def test_passages_of_then_are_embedded_only_if_they_are_no_longer_in_the_index(
    database: Database,
) -> None:
    embedder = ListeningEmbedder(16)
    trueweave = await AsyncTrueweave.enter(database, "embedded", embedder)
    await trueweave.add_documents([ADA, BOB])
    await trueweave.history.keep()
    before = now()
    await trueweave.add_documents([NEW_BOB])
    embedder.asked.clear()
    async with trueweave.as_of(before) as past:
        assert BOB.chunks[0].text in embedder.asked
        assert ADA.chunks[0].text not in embedder.asked
        assert (await past.search("Ada met Bob in Zürich", 1))[0].uri == "bob"


async def test_without_history_nothing_is_kept(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([ADA, BOB])
    await trueweave.add_documents([NEW_BOB])
    await trueweave.remove(["ada"])
    status = await trueweave.history.status()
    assert (status.settings, status.versions, status.bytes) == (None, 0, 0)
    with pytest.raises(InvalidArgument, match=r"keeps no history\. Run `trueweave history keep`"):
        async with trueweave.as_of(now()):
            pass
    with pytest.raises(UnknownDocument, match="no version of the document bob is kept"):
        await trueweave.history.versions("bob")


async def test_a_time_before_history_was_kept_or_after_now_is_refused(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([ADA])
    before = now()
    await trueweave.history.keep()
    for at, problem in (
        (before, "history is kept since"),
        (now() + timedelta(days=1), "is in the future"),
        (datetime(2030, 1, 1), "has no time zone"),  # noqa: DTZ001 (the error)
    ):
        with pytest.raises(InvalidArgument, match=problem):
            async with trueweave.as_of(at):
                pass


async def test_what_is_erased_is_in_no_past(kept: AsyncTrueweave) -> None:
    before = now()
    await kept.add_documents([NEW_BOB])
    await kept.remove(["ada"])
    assert await former(kept) == 2
    assert await kept.remove(["ada"]) == 0  # it is former already
    assert await kept.remove(["ada", "bob"], erase=True) == 2
    status = await kept.history.status()
    assert (status.versions, status.bytes) == (0, 0)
    async with kept.as_of(before) as past:
        assert (await past.status()).documents == 0
    assert await _rows(kept) == dict.fromkeys(("document", "chunk", "mention", "link", "shown", "name"), 0)


async def _rows(trueweave: AsyncTrueweave) -> dict[str, int]:
    async with trueweave.workspace.transaction() as tx:
        tables = ("document", "chunk", "mention", "link", "shown", "name")
        return {
            table: (await (await tx.connection.execute(f"SELECT count(*) FROM {table}")).fetchone() or (0,))[0]
            for table in tables
        }


async def test_the_end_of_history_erases_former_versions_and_no_others(kept: AsyncTrueweave) -> None:
    await kept.add_documents([NEW_BOB])
    digest = await kept.maintenance.digest()
    status = await kept.history.end()
    assert (status.settings, status.versions) == (None, 0)
    assert await kept.maintenance.digest() == digest
    assert {key: (await _rows(kept))[key] for key in ("document", "shown", "name")} == {
        "document": 2,
        "shown": 0,
        "name": 3,
    }
    await kept.remove(["ada"])
    assert await former(kept) == 0


async def test_former_versions_are_deleted_when_they_are_old(kept: AsyncTrueweave) -> None:
    await kept.add_documents([NEW_BOB])
    await kept.remove(["ada"])
    await kept.history.keep(days=10)
    await age(kept, days=9)
    assert await history.expire(kept.workspace) == 0
    await age(kept, days=2)
    assert await history.expire(kept.workspace) == 2
    assert await former(kept) == 0
    status = (await kept.history.status()).settings
    assert status
    assert status.oldest > now() - timedelta(days=10, minutes=1)
    with pytest.raises(InvalidArgument, match="history is kept since"):
        async with kept.as_of(now() - timedelta(days=10, hours=1)):
            pass
    assert (await kept.status()).documents == 1
    assert (await kept.maintenance.verify()).exact


async def age(trueweave: AsyncTrueweave, days: int) -> None:
    """Let everything have happened so many days earlier."""
    async with trueweave.workspace.transaction() as tx:
        for table, columns in (("shown", ("since", "until")), ("history", ("since", "changed"))):
            for column in columns:
                await tx.connection.execute(f"UPDATE {table} SET {column} = {column} - interval '{days} days'")


async def test_a_document_that_is_off_and_was_shown_before_is_kept(kept: AsyncTrueweave) -> None:
    before, digest = now(), await kept.maintenance.digest()
    await kept.switch_off(["bob"])
    await kept.remove(["bob"])
    assert await as_of(kept, before) == digest
    assert await former(kept) == 1


async def test_a_version_that_was_never_shown_is_not_kept(kept: AsyncTrueweave) -> None:
    await record.store(kept.workspace, [contribution(said("new", "Nobody saw this", "Nobody"))])
    await record.store(kept.workspace, [contribution(said("new", "Everybody sees this", "Everybody"))])
    await kept.maintenance.settle()
    assert await former(kept) == 0
    assert len(await kept.history.versions("new")) == 1


async def test_the_past_has_the_rules_and_the_rights_of_today(kept: AsyncTrueweave) -> None:
    before = now()
    await kept.rules.merge(NameKey("Ada"), NameKey("Bob"))
    await kept.access.set("bob", ["staff"])
    await kept.add_documents([said("bob", "Ada met Carl", "Ada", "Carl")])
    await kept.add_documents([said("open", "Everybody reads of Dora", "Dora")])
    async with kept.as_of(before) as past:
        assert frozenset({"Ada", "Bob"}) in await names_of(past)
        guest = past.acting_as(())
        assert {one.uri for one in await guest.list_documents()} == {"ada"}
        assert {one.uri for one in await past.acting_as(["staff"]).list_documents()} == {"ada", "bob"}
    with pytest.raises(NotForRestricted):
        async with kept.acting_as(()).as_of(before):
            pass


# --- what is different -----------------------------------------------------------------------------------


async def test_a_diff_shows_what_was_added_removed_and_changed_with_passages(kept: AsyncTrueweave) -> None:
    before = now()
    await kept.add_documents([NEW_BOB, said("dora", "Dora met Carl", "Dora", "Carl")])
    await kept.remove(["ada"])
    found = await kept.history.diff(before)
    told = {(one.kind, one.change, one.name): one for one in found.changes}
    assert set(told) == {
        ("document", "removed", "ada"),
        ("document", "changed", "bob"),
        ("document", "added", "dora"),
        ("entity", "removed", "Bob"),
        ("entity", "removed", "Zürich"),
        ("entity", "changed", "Ada"),
        ("entity", "added", "Carl"),
        ("entity", "added", "Rome"),
        ("entity", "added", "Dora"),
        ("relation", "removed", "Ada – Bob"),
        ("relation", "added", "Ada – Carl"),
        ("relation", "added", "Dora – Carl"),
    }
    assert found.counts["entity"] == {"added": 3, "removed": 2, "changed": 1}
    ada = told["entity", "changed", "Ada"]
    assert ada.before != ada.after
    assert BOB.chunks[0].text in {one.text for one in ada.passages_before}
    assert [one.text for one in ada.passages_after] == [NEW_BOB.chunks[0].text]
    assert [one.uri for one in told["relation", "removed", "Ada – Bob"].passages_before] == ["bob"]
    few = await kept.history.diff(before, limit=1)
    assert few.counts == found.counts
    assert len(few.changes) == 3
    assert (await kept.history.diff(now(), now())).is_empty


async def test_diffs_take_turns_on_a_small_pool(url: str, kept: AsyncTrueweave) -> None:
    async with Database(url, connections=4) as database:
        same = await AsyncTrueweave.enter(database, "test", HashEmbedder(64))
        async with asyncio.timeout(30):  # each takes two connections: without turns, all would hold one and wait
            found = await asyncio.gather(*(same.history.diff_from("test") for _ in range(12)))
    assert all(one.is_empty for one in found)
    assert (await kept.history.diff()).is_empty


async def test_a_diff_that_is_applied_to_the_past_gives_the_present(kept: AsyncTrueweave, database: Database) -> None:
    before = now()
    await kept.add_documents([NEW_BOB, said("dora", "Dora met Carl", "Dora", "Carl")])
    await kept.remove(["ada"])
    found = [one for one in (await kept.history.diff(before)).changes if one.kind == "document"]
    present = {one.uri: one async for one in kept.documents()}
    async with kept.as_of(before) as past:
        await past.remove([one.name for one in found if one.change == "removed"])
        await past.add_documents([present[one.name] for one in found if one.change != "removed"])
        assert await past.maintenance.digest() == await kept.maintenance.digest()
    other = await AsyncTrueweave.enter(database, "other", HashEmbedder(64))
    await other.add_documents(list(present.values()))
    assert (await kept.history.diff_from("other")).is_empty
    with pytest.raises(UnknownWorkspace):
        await kept.history.diff_from("nowhere")


# --- others act in the middle -------------------------------------------------------------------------


async def test_history_begins_while_a_document_is_stored(trueweave: AsyncTrueweave) -> None:
    """Whoever stored a new version before it began has either replaced a version that is kept, or not yet."""
    await trueweave.add_documents([BOB])
    async with trueweave.workspace.transaction() as storing:
        await record.store_in(storing, [contribution(NEW_BOB)])
        keeping = asyncio.create_task(trueweave.history.keep())
        await _waits(trueweave, keeping)
    await keeping
    before = now()  # the new version is stored, and the old one still in the index
    await trueweave.maintenance.settle()
    assert await former(trueweave) == 1
    async with trueweave.as_of(before) as past:
        assert (await past.search("Ada met", 1))[0].text == BOB.chunks[0].text


async def _waits(trueweave: AsyncTrueweave, task: "asyncio.Task[object]") -> None:
    """Return once the task waits for a lock."""
    while not task.done():
        async with trueweave.database.transaction(None) as tx:
            waiting = await (await tx.connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")).fetchone()
        if waiting and waiting[0]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not wait")


async def test_a_document_is_erased_while_the_past_is_built(kept: AsyncTrueweave) -> None:
    before = now()
    await kept.remove(["bob"])
    built = 0

    async def erased() -> AsyncIterator[int]:
        async with kept.as_of(before) as past:
            yield 1
            await past.search("Zürich", 1)

    erasing = erased()
    built += await anext(erasing)
    assert await kept.remove(["bob"], erase=True) == 1
    with pytest.raises((UnknownWorkspace, DatabaseError), match="dropped"):
        await anext(erasing)
    assert built == 1
    async with kept.as_of(before) as past:
        assert (await past.status()).documents == 1


async def test_the_clock_of_history_does_not_go_back(kept: AsyncTrueweave) -> None:
    ahead = now() + timedelta(seconds=30)
    async with kept.workspace.transaction() as tx:
        await tx.connection.execute("UPDATE history SET changed = %s", (ahead,))
    await kept.add_documents([NEW_BOB])
    await kept.add_documents([BOB])
    found = (await kept.history.status()).settings
    assert found
    assert found.changed > ahead
    times = [one.since for one in await kept.history.versions("bob")]
    assert times == sorted(times, reverse=True)
    assert len({*times}) == 3
