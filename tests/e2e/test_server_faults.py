"""The server as a process: a replica that is killed, clients that are slow, and uploads without end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, answer, model_server
from tests.integration.serving import fill
from tests.servers import free_port
from trueweave.extend import Database
from trueweave.testing.model_server import Asked

ROOM = "/v1/workspaces/acme"
MIB = 2**20
MOST_GROWTH = 150 * MIB  # of the memory of a server that refuses a gigabyte


class Replica:
    """One server of several over the same database."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *options: str) -> None:
        self.port = free_port()
        self._command: list[str | Path] = [PROGRAM, "serve", "--port", str(self.port), *options]
        self._folder = folder
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        self._launch()
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.port}") as client, asyncio.timeout(60):
            while True:
                with suppress(httpx2.TransportError):
                    if (await client.get("/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.05)

    def _launch(self) -> None:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, env=self._environment, stdout=quiet, stderr=quiet
        )

    def memory(self) -> int:
        """The bytes of memory that it holds."""
        assert self._process
        return int(psutil.Process(self._process.pid).memory_info().rss)

    def end(self, by: signal.Signals) -> None:
        """End it by a signal."""
        assert self._process
        self._process.send_signal(by)
        self._process.wait(60)


@asynccontextmanager
async def running(replica: Replica) -> AsyncIterator[Replica]:
    await replica.start()
    try:
        yield replica
    finally:
        await asyncio.to_thread(replica.end, signal.SIGTERM)


class Balancer:
    """Passes connections on to one port after the other, and to the next where nobody listens, as any load balancer
    does."""

    def __init__(self, *ports: int) -> None:
        self._ports = ports
        self._taken = 0
        self.passed = dict.fromkeys(ports, 0)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """The address at which it takes connections."""
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._taken += 1
        first = self._taken % len(self._ports)
        for port in (*self._ports[first:], *self._ports[:first]):
            with suppress(OSError):
                theirs, to_them = await asyncio.open_connection("127.0.0.1", port)
                self.passed[port] += 1
                await asyncio.gather(_copy(reader, to_them), _copy(theirs, writer))
                return
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.close()


@pytest.fixture
def headers(trueweave: Trueweave) -> dict[str, str]:
    """With a key to write, for a workspace that is there."""
    trueweave("init", "--workspace", "acme")
    made = answer(trueweave("keys", "create", "test", "--scope", "write", "--json"))
    return {"Authorization": f"Bearer {made['key']}"}


async def test_a_killed_replica_costs_no_more_than_what_it_was_doing(
    headers: dict[str, str], tmp_path: Path, environment: dict[str, str]
) -> None:
    done, failed_at = 0, list[tuple[float, float]]()
    stop, answered = asyncio.Event(), asyncio.Condition()
    clock = asyncio.get_running_loop().time
    replicas = [Replica(tmp_path, environment, "--no-worker") for _ in range(2)]
    balancer = Balancer(*(one.port for one in replicas))
    async with running(replicas[1]), balancer.listening() as url:
        await replicas[0].start()

        async def keep_asking(number: int) -> None:
            nonlocal done
            # A connection for each request: one that is kept would belong to the replica that it was made to.
            async with httpx2.AsyncClient(
                base_url=url, headers={**headers, "Connection": "close"}, timeout=30
            ) as client:
                count = 0
                while not stop.is_set():
                    began, count = clock(), count + 1
                    document = {"uri": f"{number}/{count}", "text": "Ada met Byron."}
                    retry = {"Idempotency-Key": document["uri"]}
                    try:
                        one = await client.post(f"{ROOM}/documents", json={"documents": [document]}, headers=retry)
                        assert one.status_code == 202, one.text
                        found = await client.post(f"{ROOM}/retrieve", json={"question": "Ada", "method": "keyword"})
                        assert found.status_code == 200, found.text
                        async with answered:
                            done += 1
                            answered.notify_all()
                    except httpx2.TransportError:
                        failed_at.append((began, clock()))

        async def more(count: int) -> None:
            """Wait until so many more have been answered."""
            wanted = done + count
            async with asyncio.timeout(60), answered:
                await answered.wait_for(lambda: done >= wanted)

        asking = [asyncio.create_task(keep_asking(number)) for number in range(8)]
        await more(20)
        killed = clock()
        await asyncio.to_thread(replicas[0].end, signal.SIGKILL)
        dead = clock()
        await more(20)
        await replicas[0].start()
        before = balancer.passed[replicas[0].port]
        await more(20)
        stop.set()
        await asyncio.gather(*asking)
        await asyncio.to_thread(replicas[0].end, signal.SIGTERM)
    assert balancer.passed[replicas[0].port] > before, "the replica that was started again is used again"
    assert len(failed_at) <= 8, "no more than were under way"
    for began, ended in failed_at:
        assert began <= dead, "nothing failed that was begun after the replica was gone"
        assert ended >= killed


async def test_a_slow_client_holds_no_database_connection(
    headers: dict[str, str], tmp_path: Path, environment: dict[str, str], url: str
) -> None:
    with model_server("--script", f"{__name__}:long_reply") as model:
        modelled = {**environment, "TRUEWEAVE_MODEL": "vllm/test", "TRUEWEAVE_MODEL_URL": model}
        async with running(Replica(tmp_path, modelled, "--no-worker")) as replica, Database(url) as database:
            await (await fill(database, "acme")).aclose()
            with ExitStack() as opened:
                for _ in range(40):
                    opened.enter_context(ask_without_reading(replica.port, headers["Authorization"]))
                    opened.enter_context(send_half(replica.port, headers["Authorization"]))
                await asyncio.sleep(1)
                async with httpx2.AsyncClient(
                    base_url=f"http://127.0.0.1:{replica.port}", headers=headers, timeout=20
                ) as client:
                    for _ in range(20):
                        found = await client.post(f"{ROOM}/retrieve", json={"question": "Ada", "method": "keyword"})
                        assert found.status_code == 200
                async with await database.connect() as connection:
                    held = await connection.execute(
                        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                        "AND state LIKE 'idle in transaction%'"
                    )
                    assert await held.fetchall() == []


def long_reply(_: Asked) -> str:
    """More than the buffers between a server and a client take."""
    return "[1] " + "word " * 20_000


def ask_without_reading(port: int, key: str) -> socket.socket:
    """Ask for a stream of events, read where it begins, and then no more."""
    body = json.dumps({"question": "Who met Byron?", "method": "keyword"})
    asked = socket.create_connection(("127.0.0.1", port), 30)
    asked.sendall(_head(key, "ask", len(body), "Accept: text/event-stream\r\n") + body.encode())
    assert b" 200 " in asked.recv(64)
    return asked


def send_half(port: int, key: str) -> socket.socket:
    """Send half of a body, and then no more."""
    begun = socket.create_connection(("127.0.0.1", port), 30)
    begun.sendall(_head(key, "documents", 1000) + b'{"documents": [')
    return begun


def _head(key: str, what: str, length: int, more: str = "") -> bytes:
    return (
        f"POST {ROOM}/{what} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {key}\r\n{more}"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("told", [True, False], ids=["its length is told", "its length is not told"])
async def test_a_gigabyte_is_refused_in_bounded_memory(
    headers: dict[str, str], tmp_path: Path, environment: dict[str, str], told: bool
) -> None:
    start = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    block, sent, most = os.urandom(MIB), 0, 0
    length = {"Content-Length": str(1024 * MIB + len(start))} if told else {}
    async with running(Replica(tmp_path, environment, "--no-worker")) as replica:
        before = replica.memory()

        async def gigabyte() -> AsyncIterator[bytes]:
            nonlocal sent, most
            yield start
            for _ in range(1024):
                yield block
                sent, most = sent + len(block), max(most, replica.memory())

        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{replica.port}", headers=headers, timeout=60
        ) as client:
            form = {"Content-Type": "multipart/form-data; boundary=x", **length}
            with suppress(httpx2.TransportError):  # the server may hang up while it is being sent to
                refused = await client.post(f"{ROOM}/documents/files", content=gigabyte(), headers=form)
                assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
            assert sent < 300 * MIB, "it does not listen to the end"
            assert max(most, replica.memory()) - before < MOST_GROWTH
            assert (await client.get(f"{ROOM}/documents")).json()["items"] == []
