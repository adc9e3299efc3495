"""Questions are read from a standby, never find less than the primary has, and outlive its failure and promotion."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.integration.serving import serving
from tests.replication import Server, both, no_standby, replicated
from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Filter, Link, Mention, Settings
from trueweave.cli import doctor
from trueweave.engine import certificates
from trueweave.engine.database import opened_database
from trueweave.errors import DatabaseError, NotForRestricted
from trueweave.retrieval.methods import registry
from trueweave.server.metrics import Metrics
from trueweave.store.postgres.cluster.joining import join_servers, weigh_server
from trueweave.store.postgres.cluster.moving import OwnerAddress
from trueweave.store.postgres.reading.question_server import QuestionServer
from trueweave.store.postgres.standby_reads import StandbyState
from trueweave.testing import Databases, HashEmbedder

# Servers are killed here, machines are not.
QUICK = {"fsync": "off", "max_connections": "100", "autovacuum": "off", "max_standby_streaming_delay": "0"}
ROOM = "/v1/workspaces/tenant"
NEED_A_MODEL = {"community", "drift", "guess", "rephrase", "hyde", "rewrite", "decompose"}
PLACES = ("Ambrel Bridge", "Tower", "Mill", "Harbour", "Castle")


def document(n: int) -> Document:
    """A document with a word of its own, about two of the places."""
    one, other = PLACES[n % 5], PLACES[(n + 1) % 5]
    said = Chunk(
        f"The {one} is near the {other}, says word{n}.",
        mentions=(Mention(one, "place", f"a place of word{n}"), Mention(other, "place", "a place")),
        links=(Link(one, other, f"neighbours by word{n}", ("nearness",)),),
    )
    return Document(f"doc{n}", (said,), title=f"Title {n}")


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Server, Server]]:
    if reason := no_standby():
        pytest.skip(reason)
    with replicated(QUICK) as servers:
        yield servers


@pytest.fixture(scope="module")
async def made(pair: tuple[Server, Server]) -> Databases:
    databases = Databases(pair[0].url)
    await databases.prepare()
    return databases


@pytest.fixture
def urls(pair: tuple[Server, Server], made: Databases) -> tuple[str, str]:
    """A new database, by its addresses on the primary and on the standby."""
    url = made.make()
    return url, of(pair[1], url)


def of(server: Server, url: str) -> str:
    """The address of the same database on another server."""
    return urlunsplit(urlsplit(server.url)._replace(path=urlsplit(url).path))


async def until(is_so: Callable[[], object], within: float = 15.0) -> None:
    end = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


@asynccontextmanager
async def opened(url: str, *standbys: str, wait: float = 5.0, lag: float = 30.0) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(
        database_url=url, standby_urls=standbys, standby_wait=wait, standby_lag_seconds=lag, standby_connections=4
    )
    async with opened_database(settings) as database:
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        try:
            yield trueweave
        finally:
            await trueweave.aclose()


def state(trueweave: AsyncTrueweave) -> StandbyState:
    standbys = trueweave.workspace.database.standbys
    assert standbys
    standbys.start()
    [one] = standbys.states()
    return one


def shown(evidence: Evidence) -> str:
    return repr((evidence.passages, evidence.entities, evidence.relations, evidence.reports, evidence.paths))


async def finds(trueweave: AsyncTrueweave, n: int) -> bool:
    found = await trueweave.retrieve(f"word{n}", "keyword")
    return [passage.uri for passage in found.passages] == [f"doc{n}"]


async def test_every_method_finds_the_same_on_a_standby(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as asking, opened(url) as primary:
        await primary.add_documents(map(document, range(30)))
        await until(lambda: not state(asking).problem)
        for name in sorted({*registry.names()} - NEED_A_MODEL):
            for filter_ in (None, Filter(uris=("doc3", "doc4"))):
                before = state(asking).reads
                there = await asking.retrieve("Which place is near the Mill?", name, filter=filter_)
                assert shown(there) == shown(
                    await primary.retrieve("Which place is near the Mill?", name, filter=filter_)
                )
                assert state(asking).reads > before, name
        assert state(asking).failures == 0


async def test_a_standby_shows_a_caller_what_its_groups_read(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as asking, opened(url) as primary:
        await primary.add_documents(map(document, range(30)))
        await until(lambda: not state(asking).problem)
        # Where nothing is restricted, a caller has all methods, by the primary.
        there = await asking.acting_as(["hr"]).retrieve("Which place is near the Mill?", "mix")
        assert shown(there) == shown(await primary.retrieve("Which place is near the Mill?", "mix"))
        await primary.add_documents([document(3)], readers=["hr"])
        before = state(asking).reads
        for groups, seen in ([], []), (["hr"], ["doc3"]):
            found = await asking.acting_as(groups).retrieve("word3", "keyword")
            assert [one.uri for one in found.passages] == seen
        assert state(asking).reads > before
        with pytest.raises(NotForRestricted):
            await asking.acting_as(["hr"]).retrieve("Which place is near the Mill?", "mix")


@pytest.mark.parametrize(("synchronous_commit", "wait"), [("on", 5.0), ("off", 0.3)])
async def test_what_any_process_committed_is_found_at_once(
    urls: tuple[str, str], synchronous_commit: str, wait: float
) -> None:
    url, standby_url = urls
    with psycopg.connect(url, autocommit=True) as connection:
        name = urlsplit(url).path[1:]
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = {synchronous_commit}".encode())
    async with opened(url, standby_url, wait=wait) as asking, opened(url) as writing:
        await until(lambda: not state(asking).problem)
        for n in range(5):
            await writing.add_documents([document(n)])
            assert await finds(asking, n)
            await writing.remove([f"doc{n}"])
            assert not await finds(asking, n)
        assert state(asking).reads >= 10 or synchronous_commit == "off"  # then some of the log is written late


async def test_a_standby_that_falls_behind_is_not_read_from_until_it_has_caught_up(
    urls: tuple[str, str], pair: tuple[Server, Server]
) -> None:
    url, standby_url = urls
    async with opened(url, standby_url, wait=0.05, lag=1.5) as trueweave:
        await until(lambda: not state(trueweave).problem)
        pair[1].execute("SELECT pg_wal_replay_pause()")
        try:
            before = state(trueweave).reads
            await trueweave.add_documents([document(1)])
            assert await finds(trueweave, 1)  # before anybody could notice that the standby has stopped
            await until(lambda: "behind" in state(trueweave).problem)
            lag = state(trueweave).lag
            assert lag is None or lag > 1.5
            assert await finds(trueweave, 1)
            assert state(trueweave).reads == before
        finally:
            pair[1].execute("SELECT pg_wal_replay_resume()")
        await until(lambda: not state(trueweave).problem)
        async with asyncio.timeout(60):  # a busy machine may let the standby fall behind once more
            while state(trueweave).reads == before:
                assert await finds(trueweave, 1)


async def test_an_idle_primary_makes_no_lag(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    async with opened(url, standby_url, lag=2.0) as trueweave:
        await until(lambda: not state(trueweave).problem)
        for _ in range(15):
            await asyncio.sleep(0.2)
            assert not state(trueweave).problem


async def test_a_statement_that_replay_breaks_off_is_asked_of_the_primary(
    urls: tuple[str, str], pair: tuple[Server, Server]
) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as trueweave:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE public.contested (n int); GRANT SELECT ON public.contested TO PUBLIC")
            await until(lambda: not state(trueweave).problem)
            source = QuestionServer(trueweave.workspace, standbys=True)
            statement = b"SELECT count(*), pg_is_in_recovery() FROM public.contested, pg_sleep(%(seconds)s)"
            assert await source.read(statement, {"seconds": 0}) == [(0, True)]
            reading = asyncio.create_task(source.read(statement, {"seconds": 1}))
            await asyncio.sleep(0.3)
            connection.execute("ALTER TABLE public.contested ADD COLUMN m int")  # replay needs the lock of the reader
        assert await reading == [(0, False)]
        assert await source.read(statement, {"seconds": 0}) == [(0, False)]  # the rest of the question is there too
        assert state(trueweave).failures == 1
        assert not state(trueweave).problem  # it is well, and the next question is its


async def test_a_standby_that_dies_costs_no_question_and_comes_back(
    urls: tuple[str, str], pair: tuple[Server, Server]
) -> None:
    url, standby_url = urls
    _, server = pair
    async with opened(url, standby_url) as trueweave:
        await trueweave.add_documents(map(document, range(10)))
        await until(lambda: not state(trueweave).problem)
        asked = 0
        stop = asyncio.Event()

        async def ask() -> None:
            nonlocal asked
            while not stop.is_set():
                assert await finds(trueweave, asked % 10)
                asked += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(ask())
            await asyncio.sleep(0.5)
            await asyncio.to_thread(server.kill)
            await until(lambda: "does not answer" in state(trueweave).problem)
            seen, reads = asked, state(trueweave).reads
            await until(lambda: asked > seen + 10)
            assert state(trueweave).reads == reads
            await asyncio.to_thread(server.start)
            await until(lambda: state(trueweave).reads > reads + 10)
            stop.set()


async def test_a_standby_that_hangs_holds_a_question_up_for_a_few_seconds_only(
    urls: tuple[str, str], pair: tuple[Server, Server]
) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as trueweave:
        await trueweave.add_documents([document(1)])
        await until(lambda: not state(trueweave).problem)
        assert await finds(trueweave, 1)
        pair[1].suspend()
        try:
            began = time.monotonic()
            assert await finds(trueweave, 1)
            assert time.monotonic() - began < 8
            assert "does not answer" in state(trueweave).problem
            began = time.monotonic()
            assert await finds(trueweave, 1)
            assert time.monotonic() - began < 2
        finally:
            pair[1].resume()
        await until(lambda: not state(trueweave).problem)


async def test_a_standby_is_not_believed_that_has_not_replayed_enough(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as trueweave:
        await until(lambda: not state(trueweave).problem)
        standbys = trueweave.workspace.database.standbys
        assert standbys
        chosen = await standbys.choose()
        assert chosen
        standby, least = chosen
        found = await standby.read(trueweave.workspace.id, b"SELECT 1", None, least)
        assert found
        assert found[0] >= least
        assert found[1] == [(1,)]
        assert await standby.read(trueweave.workspace.id, b"SELECT 1", None, found[0] + 2**40) is None


async def test_who_works_in_a_standby_is_told_what_to_do(urls: tuple[str, str]) -> None:
    async with opened(*urls) as trueweave:
        await until(lambda: not state(trueweave).problem)
    with pytest.raises(DatabaseError, match=r"takes no writes.*target_session_attrs=read-write"):
        async with opened(urls[1]) as trueweave:
            await trueweave.add_documents([document(1)])


async def test_what_is_no_standby_of_the_primary_is_refused(
    urls: tuple[str, str], url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for wrong, reason in ((urls[0], "is the primary now"), (url, "another cluster")):
        caplog.clear()
        async with opened(urls[0], wrong) as trueweave:
            await until(lambda reason=reason: reason in state(trueweave).problem)  # type: ignore[misc]
            await trueweave.add_documents([document(1)])
            assert await finds(trueweave, 1)
            assert state(trueweave).reads == 0
        assert (reason in caplog.text) is (wrong == url)  # every server may be named, so the primary is no problem
        assert "password" not in caplog.text


async def test_a_question_is_answered_where_all_connections_to_standbys_are_taken(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    async with opened(url, standby_url) as trueweave:
        await trueweave.add_documents(map(document, range(10)))
        await until(lambda: not state(trueweave).problem)
        assert all(await asyncio.gather(*(finds(trueweave, n % 10) for n in range(40))))
        with psycopg.connect(standby_url) as connection:
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            row = connection.execute(query).fetchone()
        assert row
        assert row[0] <= 4 + 1  # and the one that asks how far it is


@pytest.fixture
async def failing_over() -> AsyncIterator[tuple[Server, Server]]:
    """A primary that tells nobody of a commit before the standby has it."""
    if reason := no_standby():
        pytest.skip(reason)
    with replicated(QUICK) as (primary, standby):
        await AsyncTrueweave.migrate(primary.url)
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.execute("SELECT pg_reload_conf()")
        end = time.monotonic() + 10
        while primary.execute("SELECT sync_state FROM pg_stat_replication") != [("sync",)]:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        yield primary, standby


async def again(act: Callable[[], Awaitable[object]], within: float = 30) -> None:
    """Do this until it succeeds, as whoever calls a service does."""
    end = time.monotonic() + within
    while True:
        try:
            await act()
        except DatabaseError:
            assert time.monotonic() < end
            await asyncio.sleep(0.1)
        else:
            return


async def test_a_promotion_loses_no_document_where_replication_is_synchronous(
    failing_over: tuple[Server, Server],
) -> None:
    primary, standby = failing_over
    url = both(primary, standby)
    acknowledged: list[int] = []
    async with AsyncExitStack() as stack:
        writers = [await stack.enter_async_context(opened(url, standby.url)) for _ in range(2)]
        stop = asyncio.Event()

        async def write(first: int) -> None:
            n = first
            while not stop.is_set():
                await again(lambda: writers[first].add_documents([document(n)]))  # noqa: B023 (done at once)
                acknowledged.append(n)
                n += len(writers)

        async with asyncio.TaskGroup() as group:
            for n in range(len(writers)):
                group.create_task(write(n))
            await until(lambda: len(acknowledged) > 10)
            await asyncio.to_thread(primary.kill)
            before = len(acknowledged)
            await asyncio.to_thread(standby.promote)
            standby.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            standby.execute("SELECT pg_reload_conf()")
            await until(lambda: len(acknowledged) > before + 10, 40)
            stop.set()
        trueweave = writers[0]
        kept = {one.uri for one in await trueweave.list_documents(10_000)}
        assert {f"doc{n}" for n in acknowledged} == kept
        assert all([await finds(trueweave, n) for n in acknowledged])
        await until(lambda: state(trueweave).is_primary)
        assert (await trueweave.maintenance.verify()).exact


async def test_after_a_promotion_another_standby_is_read_from_once_it_is_on_the_new_timeline() -> None:
    if reason := no_standby():
        pytest.skip(reason)
    with replicated(QUICK) as (old, new), ExitStack() as stack:
        other = old.standby(old.folder.with_name("other"), QUICK)
        stack.callback(other.stop)
        await AsyncTrueweave.migrate(old.url)
        async with opened(both(old, new), other.url) as trueweave:
            await until(lambda: not state(trueweave).problem)
            old.kill()
            new.promote()
            await until(lambda: "is on timeline 1, but the primary is on 2" in state(trueweave).problem)
            other.execute(f"ALTER SYSTEM SET primary_conninfo = '{new.url}'")
            other.execute("ALTER SYSTEM SET primary_slot_name = ''")
            other.execute("SELECT pg_reload_conf()")
            await again(lambda: trueweave.add_documents([document(1)]))
            assert await finds(trueweave, 1)
            assert state(trueweave).reads == 0
            new.execute("CHECKPOINT")
            await until(
                lambda: (
                    new.execute("SELECT replay_lsn = pg_current_wal_flush_lsn() FROM pg_stat_replication") == [(True,)]
                )
            )
            other.execute("CHECKPOINT")
            await until(lambda: not state(trueweave).problem)
            assert await finds(trueweave, 1)
            assert state(trueweave).reads > 0


async def test_servers_beside_the_home_have_standbys_of_their_own(urls: tuple[str, str], url: str) -> None:
    east, standby_url = urls
    home = OwnerAddress(url)
    await join_servers({"home": home, "east": OwnerAddress(east)})
    await weigh_server(home, "home", 0)
    settings = Settings(
        database_url=url,
        server_urls={"east": east},
        server_standby_urls={"east": (standby_url,)},
        standby_wait=5,
        standby_lag_seconds=30,
    )
    async with (
        opened_database(settings) as database,
        aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)) as there,
    ):
        await there.add_documents([document(1)])
        assert (await there.workspace.placed()).url == east
        [standbys] = database.all_standbys
        assert await finds(there, 1)  # begins to look after them
        await until(lambda: not standbys.states()[0].problem)
        before = standbys.states()[0].reads
        assert await finds(there, 1)
        assert standbys.states()[0].reads > before


async def _reached(told: Callable[[str], Awaitable[float]]) -> None:
    while not await told("used{"):  # noqa: ASYNC110 (of a server)
        await asyncio.sleep(0.05)


async def test_a_server_finds_on_a_standby_what_another_has_just_taken_in(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    settings: dict[str, Any] = {"standby_urls": (standby_url,), "standby_wait": 5, "standby_lag_seconds": 30}
    async with (
        serving(url, works=True, extractor="capitals", **settings) as taking,
        serving(url, **settings) as answering,
    ):
        await taking.key("read", "tenant")  # makes the workspace
        key = await taking.key("admin", groups=["*"])  # a standby answers those who read all documents
        async with taking.client(key) as writer, answering.client(key) as reader:

            async def told(series: str) -> float:
                page = (await reader.get("/metrics")).raise_for_status().text
                return float(page.partition(f"trueweave_standby_{series}")[2].split()[1])

            await asyncio.wait_for(_reached(told), 15)
            for n in range(5):
                body = {"documents": [{"uri": f"doc{n}", "text": f"The Ambrel Bridge is near word{n}."}]}
                job = (await writer.post(f"{ROOM}/documents", json=body)).raise_for_status().json()
                async with writer.stream("GET", f"{ROOM}/jobs/{job['id']}/events") as events:
                    _ = [line async for line in events.aiter_lines()]  # until it is done
                question = {"question": f"word{n}", "method": "keyword"}
                found = (await reader.post(f"{ROOM}/retrieve", json=question)).raise_for_status().json()
                assert [passage["uri"] for passage in found["evidence"]["passages"]] == [f"doc{n}"]
            assert await told('reads_total{answered_by="standby"') >= 5


async def test_metrics_and_the_doctor_tell_of_standbys(urls: tuple[str, str]) -> None:
    url, standby_url = urls
    server = urlsplit(standby_url).netloc.rpartition("@")[2] + urlsplit(standby_url).path
    async with opened(url, standby_url) as trueweave:
        await trueweave.add_documents([document(1)])
        await until(lambda: not state(trueweave).problem)
        assert await finds(trueweave, 1)
        metrics = Metrics()
        metrics.watch(trueweave.workspace.database, asyncio.get_running_loop())
        page, _ = await asyncio.to_thread(metrics.page)
    told = page.decode()
    assert f'trueweave_standby_used{{server="{server}"}} 1.0' in told
    assert f'trueweave_standby_lag_seconds{{server="{server}"}}' in told
    reads = float(
        told.partition(f'trueweave_standby_reads_total{{answered_by="standby",server="{server}"}} ')[2].split()[0]
    )
    assert reads > 0

    away = "postgresql://nobody:secret@127.0.0.1:1/trueweave"
    here = Settings(database_url=url, standby_urls=(standby_url, url, away), workspace="test", standby_lag_seconds=1.0)
    good, primary, bad = await doctor._standbys(here)
    assert (good.what, good.ok) == (f"standby {server}", True)
    assert (primary.ok, primary.detail) == (True, "is the primary now")
    assert bad.ok is False
    assert "does not answer" in bad.fix
    assert "secret" not in bad.fix


async def test_a_certificate_of_erasure_says_which_standbys_have_it(
    pair: tuple[Server, Server],
    urls: tuple[str, str],
    tmp_path: Path,
    signing_key: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRUEWEAVE_SIGNING_KEY_FILE", str(signing_key))
    monkeypatch.setattr(certificates, "_STANDBY_PATIENCE", 0.5)
    async with opened(urls[0]) as trueweave:
        await trueweave.add_documents(map(document, range(3)))
        pair[1].suspend()
        try:
            behind = await trueweave.certificates.erase("doc1", file=tmp_path / "behind.json")
        finally:
            pair[1].resume()
        assert behind["standbys"] == [{"name": "standby", "has_all": False}]
        monkeypatch.setattr(certificates, "_STANDBY_PATIENCE", 30.0)
        reached = await trueweave.certificates.erase("doc2", file=tmp_path / "reached.json")
        assert reached["standbys"] == [{"name": "standby", "has_all": True}]
