"""Before a caller is identified, headers, connections and the time to a request are bounded, and unknown keys are
cheap."""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from tests.integration.server.test_server_questions import until
from tests.integration.serving import Served, fill, serving
from trueweave import Settings
from trueweave.extend import Database
from trueweave.server.services import AuditLog
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.audit import AuditEntry

FIRST_REQUEST_SECONDS = Settings.model_fields["first_request_seconds"].default
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@asynccontextmanager
async def connected(server: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def status(reader: asyncio.StreamReader) -> int:
    """The status of the next answer; 0 where the connection was closed without one."""
    async with asyncio.timeout(20):
        line = await reader.readline()
    return int(line.split()[1]) if line else 0


@pytest.mark.parametrize(
    "blocks",
    [
        [b"X-%d: " % n + b"a" * 1000 + b"\r\n" for n in range(100)],
        [b"X-Long: ", *[b"a" * 10_000] * 10],
        [b"X-Long: " + b"a" * 100_000 + b"\r\n\r\n"],
        [b"X-%d: b\r\n" % n for n in range(20_000)],
    ],
    ids=["many", "one that does not end", "one block", "short ones"],
)
async def test_headers_are_bounded(url: str, blocks: list[bytes]) -> None:
    async with serving(url) as server, connected(server) as (reader, writer):
        writer.write(HEAD)
        try:
            for block in blocks:
                writer.write(block)
                await writer.drain()
                await asyncio.sleep(0)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 431 ")
            assert b"Content-Type: application/problem+json\r\n" in head
            assert json.loads(await reader.read())["code"] == "headers_too_large"
        except ConnectionError:
            pass  # the server closed the connection before all was sent
        async with server.client() as client:
            assert (await client.get("/healthz")).status_code == 200


async def test_headers_below_the_limit_are_taken_also_after_a_large_body(url: str) -> None:
    async with serving(url) as server, connected(server) as (reader, writer):
        await fill(server.database, "mine")
        key = await server.key("write", "mine")
        body = b'{"documents": [{"uri": "a", "text": "' + b"word " * 100_000 + b'"}]}'
        post = f"POST /v1/workspaces/mine/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        post += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        more = b"X-Long: " + b"a" * 60_000 + b"\r\n\r\n"
        writer.write(post.encode() + body + HEAD + more)
        assert await status(reader) == 202
        rest = await asyncio.wait_for(reader.readuntil(b"HTTP/1.1 200"), 20)
        assert rest


async def test_a_connection_without_a_request_is_closed(url: str) -> None:
    async with serving(url, first_request_seconds=0.2) as server:
        for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost:"):
            async with connected(server) as (reader, writer):
                writer.write(begun)
                assert await status(reader) == 408
                assert await asyncio.wait_for(reader.read(), 20) is not None
        async with connected(server) as (reader, writer):  # a second request has the same time
            writer.write(HEAD + b"\r\n")
            assert await status(reader) == 200
            await asyncio.wait_for(reader.readuntil(b"}"), 20)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost:")
            assert await status(reader) == 408


async def test_a_long_answer_is_not_cut_off(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(url, first_request_seconds=0.1) as server:
        trueweave = await fill(server.database, "mine")
        go = asyncio.Event()
        listed = type(trueweave).status

        async def held(self: object) -> object:
            await go.wait()
            return await listed(self)  # type: ignore[arg-type]

        monkeypatch.setattr(type(trueweave), "status", held)
        async with server.client(await server.key("read", "mine")) as client:
            asking = asyncio.create_task(client.get("/v1/workspaces/mine"))
            await asyncio.sleep(0.5)  # longer than a request has to arrive
            go.set()
            assert (await asking).status_code == 200


async def test_one_address_has_so_many_connections(url: str) -> None:
    async with (
        serving(url, connections_per_address=3) as server,
        connected(server),
        connected(server),
        connected(server) as (_, third),
        connected(server) as (reader, _),
    ):
        assert await status(reader) == 503
        third.close()
        await _answered(server)


async def _answered(server: Served) -> None:
    """Connect again and again: connections that were refused do not count, or this would keep itself out."""
    async with asyncio.timeout(FIRST_REQUEST_SECONDS / 2):
        while True:
            async with connected(server) as (reader, writer):
                writer.write(HEAD + b"\r\n")
                if await status(reader) == 200:
                    return


def unknown() -> str:
    return f"twk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


async def test_unknown_keys_are_looked_up_together_and_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    find, go = api_keys.find, asyncio.Event()

    async def held(database: Database, tokens: list[str]) -> list[api_keys.ValidKey | None]:
        asked.append(len(tokens))
        await go.wait()
        return await find(database, tokens)

    monkeypatch.setattr(api_keys, "find", held)
    async with serving(url) as server, server.client() as client:
        keys = [unknown() for _ in range(40)]

        async def show(key: str) -> int:
            answer = await client.get("/v1/workspaces", headers={"Authorization": f"Bearer {key}"})
            return answer.status_code

        showing = [asyncio.create_task(show(key)) for key in keys]
        looking = server.app.state.services.keys._look_up
        await until(lambda: sum(asked) + len(looking._waiting) == 40)
        go.set()
        assert set(await asyncio.gather(*showing)) == {401}
        assert len(asked) <= 2
        assert {await show(key) for key in keys} == {401}
        assert await show("twk_nonsense") == 401
        assert len(asked) <= 2, "they are known to be unknown"
        made = await server.key("read")
        assert await show(made) == 200, "a new key works at once"


async def test_of_requests_without_a_key_a_few_are_audited(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    log = AuditLog(database, timedelta(days=1), lambda: now)
    entry = AuditEntry(datetime.now(UTC), "r", "", "GET", "(none)", None, 401)
    for _ in range(1000):
        log.add_unauthorized(entry, "10.0.0.1")
    assert log._waiting.qsize() == 20
    log.add_unauthorized(entry, "10.0.0.2")
    assert log._waiting.qsize() == 21
    for n in range(10_000):
        log.add_unauthorized(entry, f"2001:db8::{n}")
    assert log._waiting.qsize() <= 600
    assert len(log._unauthorized) <= 600
    waiting, now = log._waiting.qsize(), 60.0
    with caplog.at_level(logging.WARNING):
        log.add_unauthorized(entry, "10.0.0.1")
    assert log._waiting.qsize() == waiting + 1
    assert "more requests without a valid key" in caplog.text
