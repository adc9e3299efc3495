"""The server beside the same calls in process: retrieve and ask, with 1, 16 and 64 connections, 1 and 1,000 tenants;
and questions while documents are added.

    python benchmarks/server.py            # some four minutes; writes benchmarks/results/server.json
    python benchmarks/server.py --smoke    # a few seconds; writes nothing

The server is a process of its own that asks for a key; its model is one that answers at once, in a third process. The
calls in process are made with the same settings and as many at once. Each question is another one, so that no reply is
kept from before. They take turns, a few seconds each, over the same workspaces. With `mixed`, one caller adds documents
to another workspace by the server, and a worker works them, while 16 connections retrieve. The last line printed is one
JSON object with all figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import reports
from asking import Target, listed, p50
from served import served

from trueweave import AsyncTrueweave, Chunk, Document, Settings
from trueweave.extend import Database, ModelFactory
from trueweave.server.workspaces import OpenWorkspaces
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.schema.migrate import migrate

Figures = dict[str, Any]
Call = Callable[[int, str], Awaitable[None]]  # in the workspace of a number, a question

RESULTS = Path(__file__).parent / "results" / "server.json"
CONNECTIONS = (1, 16, 64)
MOST_ADDED = 3.0  # milliseconds that the server may add at the median, on one connection
MOST_TIMES = 1.43  # the throughput in process, of that with 16 connections: 1 / 0.7
_BATCH, _PAUSE = 20, 0.5  # documents that are added at once, and the seconds in between


class Client:
    """One connection to the server that is used for one request after the other: HTTP/1.1 and no more of it than this
    takes, as the client shares the processors with what is measured."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> bytes:
        """The body of the response, which must be 200 or 202."""
        if self._streams is None or self._streams[0].at_eof():  # the server hangs up on who asks nothing for a while
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        found = await reader.readexactly(length)
        if not {" 200 ", " 202 "} & {head.partition("\r\n")[0][8:13]}:
            raise RuntimeError(f"{path} was answered {head.partition(chr(13))[0]}: {found[:500]!r}")
        return found

    async def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            await self._streams[1].wait_closed()


@dataclass
class Taken:
    """The milliseconds of calls of one kind, and the seconds that all of them took together."""

    milliseconds: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def figures(self) -> Figures:
        ordered = sorted(self.milliseconds)
        return {
            "per_second": round(len(ordered) / self.seconds, 1),
            "p50_ms": p50(ordered),
            "p99_ms": round(ordered[ceil(0.99 * len(ordered)) - 1], 2),
        }


async def in_turns(calls: dict[str, list[Call]], tenants: int, seconds: float, rounds: int) -> dict[str, Taken]:
    """What calls of each kind took, where each kind has some seconds at a time, as many calls at once as it has
    callers."""
    taken = {name: Taken() for name in calls}
    numbers = count()
    for turn in range(rounds + 1):  # the first is to warm up
        for name, callers in calls.items():
            started = time.perf_counter()
            until = started + seconds

            async def keep_calling(call: Call, kept: list[float], until: float = until, turn: int = turn) -> None:
                while (began := time.perf_counter()) < until:
                    n = next(numbers)
                    await call(n % tenants, f"What of {reports.name(n % 40)} is in report {n}?")
                    if turn:
                        kept.append(1000 * (time.perf_counter() - began))

            await asyncio.gather(*(keep_calling(call, taken[name].milliseconds) for call in callers))
            if turn:
                taken[name].seconds += time.perf_counter() - started
    return taken


class Bench:
    """A server over a database with workspaces, and the same workspaces in process."""

    def __init__(
        self,
        port: int,
        key: str,
        workspaces: OpenWorkspaces,
        variables: dict[str, str],
        seconds: float,
        rounds: int,
    ) -> None:
        self._port = port
        self._key = key
        self._variables = variables
        self._workspaces = workspaces
        self._seconds = seconds
        self._rounds = rounds
        self.targets: list[Target] = []

    async def measure(self, what: str, tenants: int) -> Figures:
        """One kind of request with each number of connections."""
        figures: Figures = {}
        for connections in CONNECTIONS:
            clients = [Client(self._port, self._key) for _ in range(connections)]
            calls = {
                "server": [self._over_http(what, client) for client in clients],
                "in_process": [self._in_process(what)] * connections,
            }
            taken = await in_turns(calls, tenants, self._seconds, self._rounds)
            for client in clients:
                await client.close()
            found = {name: some.figures() for name, some in taken.items()}
            share = round(found["server"]["per_second"] / found["in_process"]["per_second"], 2)
            added = round(found["server"]["p50_ms"] - found["in_process"]["p50_ms"], 2)
            figures[f"{connections}_connections"] = found | {"share_of_throughput": share, "added_ms": added}
            self._judge(f"{what}, {tenants} tenants", connections, added, share)
            print(f"  {what}, {tenants} tenants, {connections}: {json.dumps(found)}", file=sys.stderr, flush=True)
        return figures

    async def mixed(self) -> Figures:
        """Retrieving by 16 connections: with nothing else going on, and while documents are added and worked."""
        clients = [Client(self._port, self._key) for _ in range(16)]
        callers = [self._over_http("retrieve", client) for client in clients]
        alone = await in_turns({"retrieve": callers}, 1, self._seconds, self._rounds)
        adder = Client(self._port, self._key)
        with _process("trueweave", "worker", **self._variables):
            adding = asyncio.create_task(self._keep_adding(adder))
            await self._more_than(await self._indexed())  # the worker has started
            before, began = await self._indexed(), time.perf_counter()
            beside = await in_turns({"retrieve": callers}, 1, self._seconds, self._rounds)
            indexed, took = await self._indexed() - before, time.perf_counter() - began
            adding.cancel()
            await asyncio.gather(adding, return_exceptions=True)
        for client in (*clients, adder):
            await client.close()
        figures = {
            "alone": alone["retrieve"].figures(),
            "while_documents_are_added": beside["retrieve"].figures(),
            "documents_indexed_per_second": round(indexed / took, 1),
        }
        print(f"  mixed: {json.dumps(figures)}", file=sys.stderr, flush=True)
        return figures

    async def _keep_adding(self, client: Client) -> None:
        for first in count(step=_BATCH):
            documents = [{"uri": f"added {n}", "text": reports.report(n)} for n in range(first, first + _BATCH)]
            body = json.dumps({"documents": documents}).encode()
            await client.post(f"/v1/workspaces/{quote(_name(1))}/documents", body)
            await asyncio.sleep(_PAUSE)

    async def _more_than(self, indexed: int) -> None:
        while True:
            if await self._indexed() > indexed:
                return
            await asyncio.sleep(0.1)

    async def _indexed(self) -> int:
        async with self._workspaces.lend(_name(1), lambda _: True, ("*",)) as trueweave:
            return (await trueweave.status()).documents

    def _judge(self, what: str, connections: int, added: float, share: float) -> None:
        if connections == 1:
            self.targets.append(Target(f"{what}: milliseconds added on one connection", MOST_ADDED, added))
        if connections == 16:
            times = round(1 / share, 2)
            self.targets.append(Target(f"{what}: throughput in process by that of 16 connections", MOST_TIMES, times))

    def _over_http(self, what: str, client: Client) -> Call:
        async def call(tenant: int, question: str) -> None:
            body = json.dumps({"question": question, "method": "keyword"}).encode()
            await client.post(f"/v1/workspaces/{quote(_name(tenant))}/{what}", body)

        return call

    def _in_process(self, what: str) -> Call:
        async def call(tenant: int, question: str) -> None:
            async with self._workspaces.lend(_name(tenant), lambda _: True, ("*",)) as trueweave:
                if what == "retrieve":
                    await trueweave.retrieve(question, "keyword")
                else:
                    await trueweave.ask(question, "keyword")

        return call


def _name(tenant: int) -> str:
    return f"tenant {tenant}"


async def _fill(database: Database, tenants: int, most: int) -> None:
    """Workspaces with two reports each, and the first of them with more."""
    for tenant in range(tenants):
        trueweave = await AsyncTrueweave.enter(database, _name(tenant))
        numbers = range(most) if tenant == 0 else range(2 * tenant, 2 * tenant + 2)
        await trueweave.add_documents(Document(f"report {n}", (Chunk(reports.report(n)),)) for n in numbers)
        await trueweave.aclose()


@contextmanager
def _process(*words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", *words], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


async def _listening(port: int, process: subprocess.Popen[str]) -> None:
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


@asynccontextmanager
async def _bench(url: str, tenants: int, options: argparse.Namespace) -> AsyncIterator[Bench]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with _process("trueweave.testing.model_server") as model:
        assert model.stdout
        model_url = model.stdout.readline().strip()
        settings = Settings(database_url=url, model="vllm/instant", model_url=model_url)
        variables = {
            "TRUEWEAVE_DATABASE_URL": url,
            "TRUEWEAVE_MODEL": "vllm/instant",
            "TRUEWEAVE_MODEL_URL": model_url,
            "TRUEWEAVE_EXTRACTOR": "capitals",
        }
        async with Database(url) as database, ModelFactory(database) as models:
            await _fill(database, tenants, 20 if options.smoke else 2000)
            key = await api_keys.make(database, "benchmark", "write", None, groups=["*"])
            with _process("trueweave", "serve", "--port", str(port), "--no-worker", **variables) as server:
                await asyncio.wait_for(_listening(port, server), 60)
                workspaces = OpenWorkspaces(database, settings, models)
                seconds, rounds = (0.3, 1) if options.smoke else (2.0, 2)
                yield Bench(port, key.token, workspaces, variables, seconds, rounds)
                await workspaces.aclose()


async def run(url: str, options: argparse.Namespace) -> Figures:
    await migrate(url)
    many = 5 if options.smoke else 1000
    figures: Figures = {"processors": os.cpu_count(), "load_before": round(os.getloadavg()[0], 1)}
    async with _bench(url, many, options) as bench:
        for what in ("retrieve", "ask"):
            figures[what] = {f"{tenants}_tenants": await bench.measure(what, tenants) for tenants in (1, many)}
        figures["mixed"] = await bench.mixed()
        figures["targets"] = listed(bench.targets)
        for target in bench.targets:
            print(target, file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few seconds; writes nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        figures = asyncio.run(run(server.url, options))
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
