"""A client against a real server: opening, keys, streams that are left, uploads, broken connections and threads."""

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.integration.server.test_server_questions import asked, notes, until
from tests.integration.serving import fill, serving
from trueweave import Answer, AsyncClient, AsyncTrueweave, Client, Event, NameKey, Source, connect, connect_async
from trueweave.client import connection as connecting
from trueweave.client import following, uploads
from trueweave.core import errors
from trueweave.events import Indexed, Skipped, Unreadable, Waiting
from trueweave.server.middleware import Limits
from trueweave.testing.model_server import Fault, Trouble

QUICK: dict[str, Any] = {"extractor": "capitals"}
QUESTION = "Whom did Ada work with?"


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[AsyncClient]:
    """A client that may write, of a server."""
    async with (
        serving(url, **settings) as server,
        AsyncClient.open(server.url, "mine", key=await server.key("write", "mine"), make=True) as client,
    ):
        yield client


@asynccontextmanager
async def questioner(url: str, **how: Any) -> AsyncIterator[AsyncClient]:
    """A client of a server with a model, and a workspace with documents."""
    async with (
        asked(url, **how) as (server, _, _model),
        AsyncClient.open(server.url, "mine", key=await server.key("read", "mine"), make=True) as client,
    ):
        yield client


async def test_one_string_decides(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        monkeypatch.setenv("TRUEWEAVE_KEY", await server.key("read", "mine"))
        found = []
        for where, kind in ((url, AsyncTrueweave), (server.url, AsyncClient)):
            async with connect_async(where, "mine", make=True) as index:
                assert type(index) is kind
                found.append(await index.graph.entity("Ada Lovelace"))
        assert found[0] == found[1]


async def test_a_workspace_is_made_by_who_may(url: str) -> None:
    async with serving(url) as server:
        admin, reader = await server.key("admin"), await server.key("read")
        for make in (False, None):  # a name that is given may be mistyped
            with pytest.raises(errors.UnknownWorkspace):
                async with AsyncClient.open(server.url, "new", key=admin, make=make):
                    pass
        with pytest.raises(errors.UnknownWorkspace, match="for this key, and it cannot make one"):
            async with AsyncClient.open(server.url, "new", key=reader, make=True):
                pass
        async with AsyncClient.open(server.url, "new", key=admin, make=True) as client:
            assert (await client.status()).documents == 0
            assert (client.method, client.has_model) == ("auto", False)
        async with AsyncClient.open(server.url, "new", key=reader, make=False) as client:
            with pytest.raises(errors.AccessDenied, match="This needs the scope write"):
                await client.rules.merge(NameKey("a"), NameKey("b"))
        for wrong in ("twk_nonsense", None):
            with pytest.raises(errors.AccessDenied, match="no valid key"):
                async with AsyncClient.open(server.url, "new", key=wrong, make=True):
                    pass


async def test_a_client_without_a_key_uses_a_server_without_authentication(url: str) -> None:
    async with serving(url, authenticated=False) as server, AsyncClient.open(server.url, "new", make=True) as client:
        assert (await client.status()).documents == 0


async def test_a_server_that_is_not_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_FIRST_PAUSE", 0.01)
    with pytest.raises(errors.ServerUnavailable, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        async with AsyncClient.open("http://127.0.0.1:9", "mine", key="twk_a"):
            pass


# --- streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["closed", "let go", "cancelled", "asked"])
async def test_who_leaves_stops_the_model(url: str, how: str, tmp_path: Path) -> None:
    slow, log = Trouble(share={Fault.SLOW: 1.0}, pause=0.005), tmp_path / "calls"
    async with questioner(url, trouble=slow, text="[1] " + "word " * 2000, log=log) as client:
        if how in ("closed", "let go"):
            stream = client.stream(QUESTION, "keyword")
            assert isinstance(await anext(stream), str)
            if how == "closed":
                await stream.aclose()
            else:
                del stream
                gc.collect()
        else:

            async def hear() -> None:
                if how == "asked":
                    await client.ask(QUESTION, "keyword")
                async for _ in client.stream(QUESTION, "keyword"):
                    pass

            asking = asyncio.create_task(hear())
            await until(lambda: len(notes(log)) == 1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: len(notes(log)) == 2)
        assert notes(log)[1] == ("end", False), "the model's server was hung up on"
        assert (await client.status()).documents == 2, "the client goes on"


async def test_a_client_that_is_closed_ends_its_streams(url: str, tmp_path: Path) -> None:
    slow, log = Trouble(share={Fault.SLOW: 1.0}, pause=0.005), tmp_path / "calls"
    async with asked(url, trouble=slow, text="[1] " + "word " * 2000, log=log) as (server, _, _model):
        async with AsyncClient.open(server.url, "mine", key=await server.key("read", "mine"), make=True) as client:
            stream = client.stream(QUESTION, "keyword")
            await anext(stream)
        await until(lambda: len(notes(log)) == 2)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_model_that_fails_while_it_streams_is_that_error(url: str) -> None:
    async with questioner(url, trouble=Trouble.always(Fault.BAD_KEY)) as client:
        with pytest.raises(errors.ModelRefused, match="refuses the calls of this one"):
            await anext(client.stream(QUESTION, "keyword"))


# --- uploads ------------------------------------------------------------------------------------------


async def test_many_files_are_one_job_in_requests_of_bounded_size(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "_MOST_FILES", 3)
    monkeypatch.setattr(uploads, "_MOST_TEXTS", 2)
    for n in range(8):
        (tmp_path / f"{n}.txt").write_text(f"Ada wrote letter {n}.")
    (tmp_path / "large.txt").write_bytes(b"Ada wrote more. " * 2**17)
    (tmp_path / "trueweave.toml").write_text('database_url = "postgresql://ada:secret@host/db"')
    (tmp_path / "notes").write_text("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n")
    async with opened(url, works=True, max_upload_bytes=2**20, **QUICK) as client:
        heard: list[Event] = []
        texts = [Source(f"text {n}", f"Byron wrote {n}.") for n in range(5)]
        added = await client.add(tmp_path, *texts, listener=heard.append)
        assert (added.new, added.extracted, added.unreadable) == (13, 13, 1)
        [large] = [one for one in heard if isinstance(one, Unreadable)]
        assert large.path.endswith("large.txt")
        assert [Path(one.path).name for one in heard if isinstance(one, Skipped)] == ["notes", "trueweave.toml"]
        assert "it has 2,097,152 bytes, and the server takes" in large.reason
        [job] = await client.jobs.latest()
        assert (job.documents, job.state) == (13, "done")
        assert sum(one.documents for one in heard if isinstance(one, Indexed)) == 13


async def test_a_path_that_does_not_exist_is_an_error_at_once(url: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada wrote a letter.")
    async with opened(url, **QUICK) as client, AsyncTrueweave.open(url, "mine") as engine:
        for it in (client, engine):
            for call in (it.add, it.estimate, it.jobs.submit):
                with pytest.raises(errors.UnreadableFile, match=r"there is no file or folder 'nope'\. Check the path"):
                    await call(tmp_path, "nope")
        assert await engine.jobs.latest() == []
        assert await engine.list_documents() == []


async def test_what_a_server_takes_less_of_is_sent_in_parts(url: str, tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / f"{n}.txt").write_text(f"Ada wrote letter {n}. " * 200)
    (tmp_path / "large.txt").write_text("Ada wrote more. " * 1000)
    limits = Limits(upload=10_000, texts=10_000)  # as those of a proxy may be, of which nobody tells
    async with opened(url, limits=limits, **QUICK) as client:
        heard: list[Event] = []
        texts = [Source(f"text {n}", f"Byron wrote {n}. " * 200) for n in range(5)]
        job = await client.jobs.submit(tmp_path, *texts, Source("long", "Byron. " * 2000), listener=heard.append)
        assert (job.documents, len(job.refused)) == (9, 2)
        told = {Path(one.path).name: one.reason for one in heard if isinstance(one, Unreadable)}
        assert set(told) == {"large.txt", "long"}
        assert all("more than 10,000 bytes" in reason for reason in told.values())


async def test_a_large_file_is_not_read_into_memory(url: str, tmp_path: Path) -> None:
    file = tmp_path / "large.bin"  # which no server reads
    with file.open("wb") as writing:
        for _ in range(24):
            writing.write(bytes(2**20))
    async with opened(url, **QUICK) as client:
        tracemalloc.start()
        try:
            job = await client.jobs.submit(file)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (job.documents, len(job.refused)) == (0, 1)
        assert peak < 12 * 2**20  # of client and server


async def test_who_waits_for_a_worker_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_QUIET", 0.2)
    waiting = asyncio.Event()

    def heard(event: Event) -> None:
        if isinstance(event, Waiting) and "1 documents wait for a worker" in event.reason:
            waiting.set()

    async with opened(url, **QUICK) as client:
        adding = asyncio.create_task(client.add(Source("a", "Ada wrote."), listener=heard))
        async with asyncio.timeout(30):
            await waiting.wait()
        async with AsyncTrueweave.open(url, "mine", make=True) as engine:
            await engine.add(Source("b", "Byron wrote."))  # which works what waits
        assert (await adding).extracted == 1


async def test_what_a_client_cannot_do_is_said(url: str, tmp_path: Path) -> None:
    async with opened(url, **QUICK) as client:
        with pytest.raises(errors.ConfigError, match="cannot tell which files of a folder were removed"):
            await client.add(tmp_path, prune=True)


# --- connections that break ---------------------------------------------------------------------------


class Cutting:
    """Passes on to a server, and cuts connections off before the reply, as often as it is told."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self.cuts = 0
        self.cut = 0

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection(self._to.hostname, self._to.port)

        async def answers() -> None:
            while data := await back.read(1 << 16):
                if self.cuts:
                    self.cuts, self.cut = self.cuts - 1, self.cut + 1
                    break
                writer.write(data)
                await writer.drain()
            writer.close()

        async def asks() -> None:
            while data := await reader.read(1 << 16):
                forth.write(data)
                await forth.drain()
            forth.close()

        await asyncio.gather(answers(), asks(), return_exceptions=True)


async def test_a_write_whose_answer_was_lost_is_carried_out_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_FIRST_PAUSE", 0.01)
    async with serving(url, works=True, **QUICK) as server:
        cutting, key = Cutting(server.url), await server.key("write", "mine")
        async with cutting.serve() as address, AsyncClient.open(address, "mine", key=key, make=True) as client:
            cutting.cuts = 2
            job = await client.jobs.submit(Source("a", "Ada wrote."))
            assert (cutting.cut, job.documents) == (2, 1)
            assert [one.id for one in await client.jobs.latest()] == [job.id]
            cutting.cuts = 1
            rule = await client.rules.merge(NameKey("Ada"), NameKey("Countess"))
            assert [one.id for one in await client.rules.all()] == [rule.id]
            cutting.cuts = 1
            with pytest.raises(errors.ServerUnavailable, match="broke the connection off"):
                await client.rules.undo(rule.id)  # a second time it would be an error of its own
            cutting.cuts = 10
            with pytest.raises(errors.ServerUnavailable):
                await client.status()
            assert cutting.cuts == 6, "four tries"


# --- the synchronous client ---------------------------------------------------------------------------


async def test_the_synchronous_client_waits(url: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Notes\n\nAda wrote to Byron.\n")
    async with asked(url, **QUICK) as (server, _, _model):
        key = await server.key("admin")

        def use() -> None:
            with connect(server.url, "mine", key=key, make=True) as index:
                assert isinstance(index, Client)
                assert index.ask(QUESTION, "keyword").citations[0].quote == "worked with Charles Babbage"
                *pieces, last = index.stream(QUESTION, "keyword")
                assert isinstance(last, Answer)
                assert "".join(map(str, pieces)) == last.text
                assert index.graph.entity("Ada Lovelace").entity.type == "person"
                assert index.jobs.submit(tmp_path).documents == 1
                assert {one.uri for one in index.documents()} >= {"mine/ada"}
                talk = index.conversation("keyword")
                assert talk.ask(QUESTION).text
                assert len(talk.history) == 2
                with ThreadPoolExecutor(4) as pool:
                    found = list(pool.map(lambda _: index.status().documents, range(8)))
                assert set(found) == {2}
                with pytest.raises(errors.UnknownMethod):
                    index.retrieve("Ada", "magic")
            with pytest.raises(errors.TrueweaveError, match="is closed"):
                index.status()

        await asyncio.to_thread(use)
        assert "trueweave" not in [thread.name for thread in threading.enumerate()]
