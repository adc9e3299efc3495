"""Sessions of browsers, over TLS: logging in by key, forged requests, and how a session ends."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import psycopg
import pytest

from tests.certificates import Certificate, make_certificate
from tests.integration.serving import fill, serving
from trueweave.errors import ConfigError
from trueweave.server import services
from trueweave.server.app import create_app
from trueweave.server.login_attempts import LoginAttempts
from trueweave.server.origins import SessionOrigins
from trueweave.server.problems import Refusal
from trueweave.store.postgres.access import api_keys, sessions

SESSION = "/v1/session"
WORKSPACES = "/v1/workspaces"


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path)


async def log_in(client: httpx2.AsyncClient, key: str) -> httpx2.Response:
    return await client.post(SESSION, json={"key": key})


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()


async def test_a_browser_logs_in_with_a_key_and_out_again(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server:
        await fill(server.database, "mine")
        await fill(server.database, "other")
        key = await server.key("write", "mine")
        async with server.browser() as browser:
            assert (await browser.get(f"{SESSION}/ways")).json() == {"key": True, "code": False, "provider": False}
            assert (await browser.get(WORKSPACES)).status_code == 401
            answer = await log_in(browser, key)
            assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
            [cookie] = answer.headers.get_list("set-cookie")
            name, *attributes = [part.strip() for part in cookie.split(";")]
            assert name.startswith("__Host-tw=")
            assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= set(attributes)
            assert not any(one.lower().startswith("domain") for one in attributes)
            secret = name.partition("=")[2]
            assert key not in answer.text
            assert secret not in answer.text
            told = answer.json()
            assert (told["caller"], told["scope"]) == (key.split("_")[1], "write")
            assert datetime.fromisoformat(told["ends"]) > datetime.now(UTC) + timedelta(days=6)

            assert [one["name"] for one in (await browser.get(WORKSPACES)).json()["items"]] == ["mine"]
            assert (await browser.get(SESSION)).json() == told
            deleted = await browser.post(f"{WORKSPACES}/mine/documents/delete", json={"uris": ["nothing"]})
            assert deleted.status_code == 200
            assert (await browser.get(f"{WORKSPACES}/other")).status_code == 404
            assert (await browser.get("/v1/keys")).status_code == 403
            [(stored,)] = rows(url, "SELECT w::text FROM trueweave.web_session w")
            assert secret not in str(stored)

            ended = await browser.delete(SESSION)
            assert (ended.status_code, ended.json()) == (200, {"ended": key.split("_")[1]})
            assert "__Host-tw" not in dict(browser.cookies)
            browser.cookies.set("__Host-tw", secret)
            again = await browser.get(WORKSPACES)
            assert (again.status_code, again.json()["code"]) == (401, "session_ended")
    logged = set(rows(url, "SELECT caller, method, route, status FROM trueweave.audit_log"))
    prefix = key.split("_")[1]
    assert {(prefix, "POST", SESSION, 201), (prefix, "DELETE", SESSION, 200), ("", "GET", "(none)", 401)} <= logged


async def test_a_key_in_a_header_counts_before_the_cookie(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        await log_in(browser, await server.key("read", "mine"))
        other = {"Authorization": f"Bearer {await server.key('read', 'other')}"}
        assert [one["name"] for one in (await browser.get(WORKSPACES, headers=other)).json()["items"]] == ["other"]
        assert (await browser.get(SESSION, headers=other)).status_code == 404
        nonsense = {"Authorization": "Bearer nonsense"}
        assert (await browser.get(WORKSPACES, headers=nonsense)).status_code == 401


FORGED = [
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"},
    {"Origin": "https://127.0.0.1:3000"},
    {"Origin": "{http}"},
    {"Origin": "{own}", "Sec-Fetch-Site": "same-site"},
    {"Origin": "{own}", "Sec-Fetch-Site": "none"},
    {"Origin": "{own}", "Sec-Fetch-Site": ""},
    {"Origin": ""},
]


@pytest.mark.parametrize("forged", FORGED, ids=str)
async def test_writes_from_other_origins_are_refused(
    url: str, certificate: Certificate, forged: dict[str, str]
) -> None:
    async with serving(url, certificate=certificate) as server:
        await fill(server.database, "mine")
        key = await server.key("admin", "mine")
        filled = {"own": server.url, "http": server.url.replace("https", "http")}
        headers = {name: value.format(**filled) for name, value in forged.items()}
        async with server.browser() as browser:
            await log_in(browser, key)
            mine = f"{WORKSPACES}/mine"
            for send in (
                browser.post(f"{mine}/documents/files", files={"file": ("a.txt", b"text")}, headers=headers),
                browser.post(f"{mine}/communities/find", headers=headers),
                browser.delete(f"{mine}/document", params={"uri": "mine/ada"}, headers=headers),
                browser.put(f"{mine}/budget", json={"tokens": 1}, headers=headers),
                browser.delete(SESSION, headers=headers),
                browser.post(SESSION, json={"key": key}, headers=headers),
            ):
                answer = await send
                assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
            assert (await browser.get(f"{mine}/document", params={"uri": "mine/ada"})).status_code == 200
            assert (await browser.get(f"{mine}/jobs")).json()["items"] == []


async def test_a_write_without_any_of_the_headers_is_refused(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server:
        key = await server.key("admin", "mine")
        async with server.browser() as browser, server.client() as bare:
            secret = (await log_in(browser, key)).cookies["__Host-tw"]
            cookie = {"Cookie": f"__Host-tw={secret}"}
            assert (await bare.get(WORKSPACES, headers=cookie)).status_code == 200
            assert (await bare.post(f"{WORKSPACES}/mine/communities/find", headers=cookie)).status_code == 403
            elsewhere = {"Origin": "https://evil.example", **cookie}
            assert (await bare.get(WORKSPACES, headers=elsewhere)).status_code == 403
            assert (await bare.get(WORKSPACES, headers={"Sec-Fetch-Site": "same-site", **cookie})).status_code == 403


async def test_a_session_ends_with_its_key(url: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_KEY_FRESH", 0.5)
    async with serving(url, certificate=certificate) as server:
        keys = [await server.key("read", "mine") for _ in range(2)]
        soon = datetime.now(UTC) + timedelta(hours=1)
        keys.append((await api_keys.make(server.database, "expires", "read", None, soon)).token)
        browsers = [server.browser() for _ in keys]
        for browser, key in zip(browsers, keys, strict=True):
            answer = await log_in(browser, key)
            assert (await browser.get(WORKSPACES)).status_code == 200
        assert datetime.fromisoformat(answer.json()["ends"]) <= soon
        async with server.client(await server.key("admin")) as admin:
            assert await sessions_of_keys(admin) == [1, 1, 1, 0]
            await admin.delete(f"/v1/keys/{keys[0].split('_')[1]}")
            assert await sessions_of_keys(admin) == [0, 1, 1, 0]
        assert (await browsers[0].get(WORKSPACES)).status_code == 401, "revoked at this server"
        await api_keys.revoke(server.database, keys[1].split("_")[1])  # by another process
        await until_ended(browsers[1])
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE trueweave.api_key SET expires = now() WHERE name = 'expires'")
        await until_ended(browsers[2])
        for browser in browsers:
            await browser.aclose()


async def sessions_of_keys(admin: httpx2.AsyncClient) -> list[int]:
    listed = (await admin.get("/v1/keys")).json()["items"]
    for one in listed:
        assert (one["sessions_last_used"] is None) == (one["sessions"] == 0)
    return [one["sessions"] for one in listed]


async def until_ended(browser: httpx2.AsyncClient) -> None:
    for _ in range(100):
        if (await browser.get(WORKSPACES)).status_code == 401:
            return
        await asyncio.sleep(0.1)
    pytest.fail("the session did not end")


@pytest.mark.parametrize("change", ["last_used = now() - interval '12 hours'", "ends = now()"])
async def test_a_session_ends_by_itself(url: str, certificate: Certificate, change: str) -> None:
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        await log_in(browser, await server.key("read"))
        with psycopg.connect(url) as connection:
            connection.execute(f"UPDATE trueweave.web_session SET {change}")
        assert (await browser.get(WORKSPACES)).status_code == 401
        await log_in(browser, await server.key("read"))
        assert len(rows(url, "SELECT 1 FROM trueweave.web_session")) == 1, "the ended one was removed"


async def test_using_a_session_keeps_it(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        await log_in(browser, await server.key("read"))
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE trueweave.web_session SET last_used = now() - interval '11 hours'")
        assert (await browser.get(WORKSPACES)).status_code == 200
        [(is_new,)] = rows(url, "SELECT last_used > now() - interval '1 minute' FROM trueweave.web_session")
        assert is_new


async def test_a_caller_has_a_limited_number_of_sessions(
    url: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_MOST_OF_CALLER", 3)
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        key = await server.key("read")
        first = (await log_in(browser, key)).cookies["__Host-tw"]
        for _ in range(3):
            await log_in(browser, key)
        assert (await browser.get(WORKSPACES)).status_code == 200
        assert len(rows(url, "SELECT 1 FROM trueweave.web_session")) == 3
        assert await sessions.find(server.database, [first]) == [None]


async def test_failed_logins_are_limited_and_told_the_same(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        good = await server.key("read")
        revoked = await server.key("read")
        await api_keys.revoke(server.database, revoked.split("_")[1])
        guessed = f"{good[:-1]}{'a' if good[-1] != 'a' else 'b'}"
        answers = [await log_in(browser, key) for key in (revoked, guessed, "nonsense", "twk_", good[:20])]
        assert {one.status_code for one in answers} == {401}
        assert len({one.text.replace(one.headers["x-request-id"], "") for one in answers}) == 1
        for _ in range(5):
            assert (await log_in(browser, "nonsense")).status_code == 401
        refused = await log_in(browser, good)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 60


def test_attempts_are_counted_by_address_and_for_a_minute() -> None:
    now = [0.0]
    attempts = LoginAttempts(lambda: now[0])
    for _ in range(10):
        attempts.check("a")
        attempts.fail("a")
    with pytest.raises(Refusal):
        attempts.check("a")
    attempts.check("b")
    now[0] = 60
    attempts.check("a")


async def test_over_http_a_browser_gets_no_session(url: str) -> None:
    async with serving(url) as server, server.browser() as browser:
        key = await server.key("read")
        assert (await browser.get(f"{SESSION}/ways")).json() == {"key": False, "code": False, "provider": False}
        answer = await log_in(browser, key)
        assert (answer.status_code, answer.json()["code"]) == (409, "https_needed")
        assert "set-cookie" not in answer.headers
        opened = await sessions.open_for_key(server.database, key.split("_")[1])
        assert opened
        for name in ("__Host-tw", "tw"):
            sent = await browser.get(WORKSPACES, headers={"Cookie": f"{name}={opened.secret}"})
            assert sent.status_code == 401


async def test_behind_a_proxy_the_public_address_is_the_own_one(url: str) -> None:
    public = "https://trueweave.example"
    async with serving(url, public_url=f"{public}/") as server:
        key = await server.key("write", "mine")
        async with server.client(**{"Sec-Fetch-Site": "same-origin"}) as client:
            for origin, status in ((server.url, 403), ("https://trueweave.example:8443", 403), (public, 201)):
                answer = await client.post(SESSION, json={"key": key}, headers={"Origin": origin})
                assert answer.status_code == status
            sent = {"Cookie": f"__Host-tw={answer.headers['set-cookie'].partition('=')[2].partition(';')[0]}"}
            for origin, status in ((server.url, 403), (public, 200)):
                answer = await client.post(
                    f"{WORKSPACES}/mine/documents/delete", json={"uris": ["x"]}, headers={"Origin": origin, **sent}
                )
                assert answer.status_code == status
            for n in range(11):
                proxied = {"Origin": public, "X-Forwarded-For": f"10.0.0.{n}, 192.0.2.{n}"}
                answer = await client.post(SESSION, json={"key": "nonsense"}, headers=proxied)
                assert answer.status_code == 401, "other addresses behind the proxy are counted apart"


@pytest.mark.parametrize("wrong", ["http://trueweave.example", "trueweave.example", "https://a.example/path"])
def test_a_public_url_must_be_an_https_origin(wrong: str) -> None:
    with pytest.raises(ConfigError, match="public_url is"):
        SessionOrigins.of(wrong)


async def test_a_login_is_small(url: str, certificate: Certificate) -> None:
    async with serving(url, certificate=certificate) as server, server.browser() as browser:
        answer = await browser.post(SESSION, content=b" " * 5000, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413


def test_the_server_refuses_a_wrong_public_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEWEAVE_PUBLIC_URL", "http://trueweave.example")
    with pytest.raises(ConfigError, match="public_url"):
        create_app()
