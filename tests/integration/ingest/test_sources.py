"""Sources: a workspace follows addresses, by hand and on a schedule, with one run of each at a time."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from tests.integration.ingest.test_web import settings, texts
from tests.web_site import Answer, Site, web_site
from trueweave import AsyncTrueweave
from trueweave.core.sources import DocumentSource
from trueweave.engine import scheduling, source_runs
from trueweave.engine.worker import work_for_all
from trueweave.errors import InvalidArgument, RemovalNotConfirmed, SourceBusy, UnknownSource
from trueweave.extend import Database, Workspace
from trueweave.ingest import intake
from trueweave.store.postgres.record import connector_sources
from trueweave.store.postgres.record.connector_sources import SourceClaim
from trueweave.testing import HashEmbedder

HOUR = 3600
PATHS = [f"/{n}" for n in range(6)]


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        yield found


@pytest.fixture
async def index(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.setattr(scheduling, "LOOK_AGAIN", 0.02)
    monkeypatch.setattr(source_runs, "_LOOK_AGAIN", 0.02)
    async with aclosing(await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=settings())) as opened:
        yield opened


@pytest.fixture
async def other(url: str, index: AsyncTrueweave) -> AsyncIterator[AsyncTrueweave]:
    """The same workspace in another process, as far as the database can tell."""
    async with (
        Database(url) as database,
        aclosing(await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=settings())) as opened,
    ):
        yield opened


def published(site: Site, paths: list[str] = PATHS) -> str:
    for path in paths:
        site.page(path, f"Ada Lovelace wrote page {path}.")
    return site.sitemap("/sitemap.xml", *paths, modified="2026-01-02")


class Held:
    """A page of a site that is delivered only when it is let go."""

    def __init__(self, site: Site, path: str) -> None:
        self.asked, self._go = threading.Event(), threading.Event()
        site.pages[path] = Answer(headers={"content-type": "text/plain"}, write=self._write)

    def _write(self, write: Callable[[bytes], object]) -> None:
        self.asked.set()
        assert self._go.wait(60)
        write(b"Grace Hopper wrote the page that came late.")

    async def is_asked(self) -> None:
        assert await asyncio.to_thread(self.asked.wait, 60)

    def let_go(self) -> None:
        self._go.set()


@asynccontextmanager
async def worker(index: AsyncTrueweave) -> AsyncIterator[None]:
    stop = asyncio.Event()
    working = asyncio.create_task(index.work(stop=stop))
    try:
        yield
    finally:
        stop.set()
        await working


async def until(index: AsyncTrueweave, name: str, is_so: Callable[[DocumentSource], object]) -> DocumentSource:
    async with asyncio.timeout(60):
        while not is_so(source := await index.sources.get(name)):  # noqa: ASYNC110 (it is changed in the database)
            await asyncio.sleep(0.02)
    return source


def outcome(source: DocumentSource) -> str | None:
    return source.last_run.outcome if source.last_run else None


async def test_a_source_is_added_synchronised_and_removed(index: AsyncTrueweave, site: Site) -> None:
    address = published(site)
    made = await index.sources.add("site", address, secrets={"token": "SITE_TOKEN"}, by="me")
    assert (made.every_seconds, made.due, made.last_run, made.author) == (None, None, None, "me")
    made = await index.sources.add("site", address)
    assert (made.secrets, await index.sources.all()) == ({}, [made])
    assert (await index.sources.sync("site")).new == 6
    site.sitemap("/sitemap.xml", *PATHS[:3], modified="2026-01-02")
    with pytest.raises(RemovalNotConfirmed):
        await index.sources.sync("site")
    run = (await index.sources.get("site")).last_run
    assert run
    assert (run.outcome, run.removed, len(await texts(index))) == ("stopped", 0, 6)
    assert "3 of the 6 documents" in run.problem
    assert run.problem.endswith("run `trueweave sources sync site --yes`.")
    assert (await index.sources.sync("site", confirmed=True)).removed == 3
    run = (await index.sources.get("site")).last_run
    assert run
    assert (run.outcome, run.documents, run.removed, run.problem) == ("done", 3, 3, "")
    shared = site.sitemap("/other.xml", "/0", modified="2026-01-02")
    await index.sources.add("other", shared)
    await index.sources.sync("other")
    assert await index.sources.remove("site", documents=True) == 2
    assert {*await texts(index)} == {f"{site.url}/0"}, "another source has it, too"
    assert await index.sources.remove("other") == 0
    assert (len(await texts(index)), await index.sources.all()) == (1, [])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("a b", "https://example.org/", {}), "cannot be the name"),
        (("x", "nowhere://example.org/", {}), "no connector for nowhere"),
        (("x", "https://me:word@example.org/", {}), "has a password in it"),
        (("x", "https://example.org/", {"every_seconds": 59}), "at most once a minute"),
        (("x", "https://example.org/", {"secrets": {"token": "twk_secret value"}}), "not as values"),
        (("x", "https://example.org/other", {}), "has another address"),
        (("y", "https://example.org/", {}), "the source x has this address"),
    ],
)
async def test_what_cannot_be_a_source_is_refused(
    index: AsyncTrueweave, given: tuple[str, str, dict[str, Any]], problem: str
) -> None:
    await index.sources.add("x", "https://example.org/")
    name, address, how = given
    with pytest.raises(InvalidArgument, match=problem) as raised:
        await index.sources.add(name, address, **how)
    assert "word@" not in str(raised.value)
    assert "twk_secret" not in str(raised.value)
    assert len(await index.sources.all()) == 1


async def test_names_of_sources_that_are_not_there(index: AsyncTrueweave) -> None:
    for act in (index.sources.get, index.sources.sync, index.sources.request_sync, index.sources.remove):
        with pytest.raises(UnknownSource, match="'nothing'"):
            await act("nothing")


async def test_a_worker_follows_the_schedule_and_stops_before_it_removes_much(
    index: AsyncTrueweave, site: Site
) -> None:
    await index.sources.add("site", published(site), every_seconds=HOUR)
    async with worker(index):
        source = await until(index, "site", lambda it: it.last_run)
        assert source.last_run
        assert source.due
        assert (source.last_run.outcome, source.last_run.new, source.is_running) == ("done", 6, False)
        assert (source.due - source.last_run.ended).total_seconds() == HOUR
        site.sitemap("/sitemap.xml", *PATHS[:3], modified="2026-01-02")
        await index.sources.request_sync("site")
        source = await until(index, "site", lambda it: outcome(it) == "stopped")
        assert source.last_run
        assert "3 of the 6 documents" in source.last_run.problem
        await index.sources.request_sync("site", confirmed=True)
        source = await until(index, "site", lambda it: outcome(it) == "done")
        assert source.last_run
        assert source.last_run.removed == 3
        site.pages["/sitemap.xml"] = Answer(b"", 500)
        await index.sources.request_sync("site")
        source = await until(index, "site", lambda it: outcome(it) == "failed")
        assert source.last_run
        assert "sitemap.xml" in source.last_run.problem
        async with asyncio.timeout(60):
            while len(await texts(index)) != 3:  # noqa: ASYNC110 (the worker processes them)
                await asyncio.sleep(0.05)


async def test_a_worker_for_all_workspaces_follows_schedules(
    index: AsyncTrueweave, database: Database, site: Site
) -> None:
    await index.sources.add("site", published(site), every_seconds=HOUR)
    stop = asyncio.Event()
    working = asyncio.create_task(work_for_all(database, settings(), stop=stop))
    source = await until(index, "site", lambda it: it.last_run)
    stop.set()
    await working
    assert source.last_run
    assert (source.last_run.outcome, source.last_run.new) == ("done", 6)


async def test_two_workers_at_the_same_due_time_run_a_source_once(
    index: AsyncTrueweave, other: AsyncTrueweave, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, claims, claim_due = asyncio.Barrier(2), list[SourceClaim](), connector_sources.claim_due

    async def together(
        database: Database, only: Workspace | None, owner: int, claim_id: UUID, most: int
    ) -> list[tuple[int, SourceClaim]]:
        if len(claims) == 0:
            await both.wait()
        found = await claim_due(database, only, owner, claim_id, most)
        claims.extend(held for _, held in found)
        return found

    monkeypatch.setattr(connector_sources, "claim_due", together)
    await index.sources.add("site", published(site), every_seconds=HOUR)
    async with worker(index), worker(other):
        await until(index, "site", lambda it: it.last_run)
        if both.n_waiting:
            await both.abort()
    assert len(claims) == 1
    assert sorted(path for path, _ in site.taken() if path in PATHS) == PATHS


async def test_another_process_resumes_the_run_of_one_that_is_gone(
    index: AsyncTrueweave, other: AsyncTrueweave, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "_MOST", 2)
    address = published(site)
    late = Held(site, "/3")
    await index.sources.add("site", address)
    first = asyncio.create_task(index.sources.sync("site"))
    await late.is_asked()
    assert (await other.sources.get("site")).is_running
    with pytest.raises(SourceBusy, match="another process"):
        await other.sources.sync("site")
    async with index.workspace.database.transaction(None) as tx:  # its lease expires, as if its machine had lost power
        await tx.execute("DELETE FROM process WHERE id IN (SELECT min(id) FROM process)")
    assert sorted(path for path, _ in site.taken() if path in PATHS) == ["/0", "/1", "/2", "/3"]
    site.page("/3", "Ada Lovelace wrote page /3.")
    assert (await other.sources.sync("site")).unchanged == 2
    assert sorted(path for path, _ in site.taken() if path in PATHS) == ["/2", "/3", "/4", "/5"]
    late.let_go()
    with pytest.raises(SourceBusy, match="taken over"):
        await first
    assert (await texts(index))[f"{site.url}/3"] == "Ada Lovelace wrote page /3."
    run = (await index.sources.get("site")).last_run
    assert run
    assert (run.outcome, run.documents) == ("done", 6)


async def test_a_source_that_is_removed_during_its_run(
    index: AsyncTrueweave, other: AsyncTrueweave, site: Site
) -> None:
    address = published(site)
    late = Held(site, "/3")
    await index.sources.add("site", address, every_seconds=HOUR)
    async with worker(index):
        await late.is_asked()
        removing = asyncio.create_task(other.sources.remove("site", documents=True))
        await until(other, "site", lambda it: it.is_being_removed)
        with pytest.raises(SourceBusy, match="being removed"):
            await other.sources.request_sync("site")
        late.let_go()
        await removing
    assert await index.sources.all() == []
    assert await texts(index) == {}


async def test_a_source_that_is_changed_and_requested_during_its_run(index: AsyncTrueweave, site: Site) -> None:
    address = published(site)
    late = Held(site, "/3")
    await index.sources.add("site", address)
    running = asyncio.create_task(index.sources.sync("site"))
    await late.is_asked()
    await index.sources.add("site", address, every_seconds=HOUR)
    await index.sources.request_sync("site", confirmed=True)
    requested = (await index.sources.get("site")).due
    late.let_go()
    assert (await running).new == 6
    source = await index.sources.get("site")
    assert (source.due, source.every_seconds) == (requested, HOUR)


async def test_a_worker_that_is_stopped_leaves_its_run_to_others(
    index: AsyncTrueweave, other: AsyncTrueweave, site: Site
) -> None:
    address = published(site)
    late = Held(site, "/3")
    await index.sources.add("site", address, every_seconds=HOUR)
    async with worker(index):
        await late.is_asked()
        late.let_go()
    source = await other.sources.get("site")
    if source.last_run is None:
        assert (source.is_running, source.due and source.due <= source.made) == (False, False)
    async with worker(other):
        source = await until(other, "site", lambda it: it.last_run)
    assert source.last_run
    assert source.last_run.documents == 6


async def test_credentials_that_are_revoked_during_a_run_remove_nothing(index: AsyncTrueweave, site: Site) -> None:
    address = published(site)
    await index.sources.add("site", address)
    await index.sources.sync("site")
    site.sitemap("/sitemap.xml", *PATHS, modified="2026-01-03")
    for path in PATHS[3:]:
        site.pages[path] = Answer(b"", 401)
    await index.sources.sync("site")
    run = (await index.sources.get("site")).last_run
    assert run
    assert (run.outcome, run.unreadable, run.removed) == ("done", 3, 0)
    assert len(await texts(index)) == 6
