"""Access before the first key and with --no-auth: authentication never turns itself off."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.integration.proxies import Proxy
from tests.integration.serving import fill, serving
from tests.servers import NginxServer, no_nginx
from trueweave import Settings
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.server.run import check_no_auth
from trueweave.store.postgres.access import api_keys

WORKSPACES = "/v1/workspaces"
MCP = "/v1/workspaces/mine/mcp"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def statuses(client: httpx2.AsyncClient, **headers: str) -> tuple[int, int]:
    """What REST and MCP answer."""
    listed = await client.get(WORKSPACES, headers=headers)
    return listed.status_code, (await client.post(MCP, json=PING, headers={**ACCEPT, **headers})).status_code


# --- without a valid key ------------------------------------------------------------------------------


async def test_without_any_key_requests_are_refused_until_one_is_made(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        await fill(server.database, "mine")
        assert await statuses(client) == (401, 401)
        assert (await client.get("/healthz")).status_code == 200
        key = await server.key("read")
        assert await statuses(client) == (401, 401)
        assert await statuses(client, Authorization=f"Bearer {key}") == (200, 200)


@pytest.mark.parametrize("state", ["revoked", "expired"])
async def test_when_the_only_key_is_no_longer_valid_requests_are_refused(url: str, state: str) -> None:
    async with serving(url) as server, server.client() as client:
        await fill(server.database, "mine")
        expires = datetime.now(UTC) - timedelta(seconds=1) if state == "expired" else None
        made = await api_keys.make(server.database, "only", "admin", None, expires)
        if state == "revoked":
            await api_keys.revoke(server.database, made.prefix)
        assert await statuses(client) == (401, 401)
        assert await statuses(client, Authorization=f"Bearer {made.token}") == (401, 401)


# --- with --no-auth -----------------------------------------------------------------------------------


async def test_no_auth_ends_in_all_processes_when_a_key_is_made(url: str) -> None:
    async with serving(url, authenticated=False) as first, serving(url, authenticated=False) as second:
        await fill(first.database, "mine")
        async with first.client() as one, second.client() as two:
            assert await statuses(one) == await statuses(two) == (200, 200)
            made = (await one.post("/v1/keys", json={"name": "first", "scope": "admin"})).json()
            for client in (one, two):
                assert await statuses(client) == (401, 401)
                assert await statuses(client, Authorization=f"Bearer {made['key']}") == (200, 200)
            assert await api_keys.revoke(first.database, made["prefix"])
            for server, client in ((first, one), (second, two)):
                server.app.state.services.keys.forget(made["prefix"])
                assert await statuses(client) == (401, 401), "it does not begin again"


async def test_no_auth_waits_for_the_database_rather_than_letting_a_request_in(url: str, database: Database) -> None:
    proxy = Proxy(url)
    async with proxy.serve(), serving(proxy.url, authenticated=False) as server, server.client() as client:
        assert (await client.get(WORKSPACES)).status_code == 200
        proxy.freeze()
        waiting = asyncio.create_task(client.get(WORKSPACES))
        done, _ = await asyncio.wait((waiting,), timeout=0.3)
        assert not done
        await api_keys.make(database, "first", "admin", None)
        proxy.thaw()
        assert (await waiting).status_code == 401


def test_no_auth_is_refused_for_other_addresses_and_beside_keys_or_tokens() -> None:
    settings = Settings()
    for local in ("127.0.0.1", "::1", "localhost"):
        check_no_auth(settings, local, has_keys=False)
    with pytest.raises(ConfigError, match=r"everybody who reaches 0\.0\.0\.0 full access.*trueweave keys create"):
        check_no_auth(settings, "0.0.0.0", has_keys=False)
    with pytest.raises(ConfigError, match="only for a database without keys"):
        check_no_auth(settings, "127.0.0.1", has_keys=True)
    with pytest.raises(ConfigError, match="--no-auth and oidc_issuer exclude each other"):
        check_no_auth(Settings(oidc_issuer="https://id.example.com"), "127.0.0.1", has_keys=False)


async def test_no_auth_answers_direct_requests_from_this_machine_alone(url: str) -> None:
    async with serving(url, authenticated=False) as server, server.client() as client:
        await fill(server.database, "mine")
        port = urlsplit(server.url).port
        for headers in (
            {},
            {"Host": f"localhost:{port}"},
            {"Origin": server.url},
            {"Host": f"LOCALHOST:{port}", "Origin": f"http://localhost:{port}"},
            {"Origin": server.url, "Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "none"},
        ):
            assert await statuses(client, **headers) == (200, 200), headers
        for headers in (
            {"Host": "evil.example"},
            {"Host": f"evil.example:{port}"},
            {"Host": "127.0.0.1"},
            {"Host": "127.0.0.1:3000"},
            {"Host": f"127.0.0.2:{port}"},
            {"Host": f"127.0.0.1:{port}@evil.example"},
            {"Host": f"[::1]:{port}"},
            {"Host": ""},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:3000"},
            {"Origin": "http://127.0.0.1"},
            {"Origin": f"https://127.0.0.1:{port}"},
            {"Origin": f"http://localhost:{port}"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "cross-site"},
            {"X-Forwarded-For": "192.0.2.1"},
            {"X-Forwarded-Host": "127.0.0.1"},
            {"X-Real-Ip": "192.0.2.1"},
            {"Forwarded": "for=192.0.2.1"},
            {"Via": "1.1 proxy"},
        ):
            assert await statuses(client, **headers) == (403, 403), headers
        preflight = {"Origin": server.url, "Access-Control-Request-Method": "GET"}
        assert "access-control-allow-origin" not in (await client.options(WORKSPACES, headers=preflight)).headers


async def test_no_auth_refuses_http_1_0_and_repeated_headers(url: str) -> None:
    async with serving(url, authenticated=False) as server:
        host = server.url.removeprefix("http://")
        for request, status in (
            (f"GET {WORKSPACES} HTTP/1.1\r\nHost: {host}\r\n", b"200"),
            (f"GET {WORKSPACES} HTTP/1.0\r\nHost: {host}\r\n", b"403"),
            (f"GET {WORKSPACES} HTTP/1.1\r\nHost: {host}\r\nOrigin: {server.url}\r\nOrigin: http://x\r\n", b"403"),
        ):
            name, port = host.split(":")
            reader, writer = await asyncio.open_connection(name, int(port))
            writer.write(f"{request}Connection: close\r\n\r\n".encode())
            assert (await reader.readline()).split()[1] == status, request
            writer.close()
            await writer.wait_closed()


# --- behind nginx -------------------------------------------------------------------------------------


@pytest.fixture
def in_front(tmp_path: Path) -> Iterator["InFront"]:
    if reason := no_nginx():
        pytest.skip(reason)
    started = InFront(tmp_path)
    with closing(started):
        yield started


class InFront:
    """nginx in front of a server, by different settings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[NginxServer] = []

    def of(self, upstream: str, *directives: str) -> str:
        """The address of a proxy with these directives."""
        proxy = NginxServer(self._folder / str(len(self._started)), upstream, *directives)
        proxy.start()
        self._started.append(proxy)
        return proxy.url

    def close(self) -> None:
        for proxy in self._started:
            proxy.stop()


FORWARDING = (
    (),  # it then sends the address of the server as Host, and says nothing of itself
    ("proxy_set_header Host $http_host;",),
    ("proxy_http_version 1.1;", "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"),
    ("proxy_http_version 1.1;", "proxy_set_header X-Real-IP $remote_addr;"),
    ("proxy_http_version 1.1;", "proxy_set_header Forwarded for=$remote_addr;"),
)


async def test_no_auth_refuses_what_nginx_forwards(url: str, in_front: InFront) -> None:
    async with serving(url, authenticated=False) as server, httpx2.AsyncClient(timeout=30) as client:
        for directives in FORWARDING:
            proxy = in_front.of(server.url, *directives)
            answer = await client.get(f"{proxy}{WORKSPACES}")
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), directives
        silent = in_front.of(server.url, "proxy_http_version 1.1;")
        page = {"Origin": silent, "Sec-Fetch-Site": "same-origin"}
        assert (await client.post(f"{silent}/v1/keys", json={"name": "x"}, headers=page)).status_code == 403


async def test_with_a_key_a_server_is_reached_through_nginx(url: str, in_front: InFront) -> None:
    async with serving(url) as server, httpx2.AsyncClient(timeout=30) as client:
        key = {"Authorization": f"Bearer {await server.key('read')}"}
        for directives in FORWARDING:
            proxy = in_front.of(server.url, *directives)
            assert (await client.get(f"{proxy}{WORKSPACES}", headers=key)).status_code == 200, directives
            assert (await client.get(f"{proxy}{WORKSPACES}")).status_code == 401, directives
