"""Logging in at a real identity provider, over TLS: the code flow with PKCE, and what must not work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import psycopg
import pytest

from tests.certificates import make_certificate
from tests.identity import AUDIENCE as PUBLIC
from tests.integration.serving import Served, fill, serving
from tests.servers import PASSWORD, OidcProvider, free_port, no_oidc_provider
from trueweave.errors import ConfigError
from trueweave.server.app import create_app
from trueweave.server.provider_login import StartedLogin

LOGIN, CALLBACK = "/v1/session/login", "/v1/session/callback"
STARTED, SESSION = "__Host-tw-login", "__Host-tw"
PEOPLE = {"mine": ["mine"], "other": ["other"], "scopeless": ["mine"]}


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[OidcProvider]:
    if reason := no_oidc_provider():
        pytest.skip(reason)
    server = OidcProvider(tmp_path / "provider", PUBLIC, PEOPLE)
    server.start()
    yield server
    server.kill()


@asynccontextmanager
async def served(url: str, folder: Path, issuer: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """The server at its public address, as a client of the provider."""
    monkeypatch.setenv("LOGIN_SECRET", PASSWORD)
    async with serving(
        url,
        certificate=make_certificate(folder),
        public_url=PUBLIC,
        oidc_issuer=issuer,
        oidc_audience=PUBLIC,
        oidc_client_id="web",
        oidc_client_secret_variable="LOGIN_SECRET",
    ) as server:
        yield server


def cookie_of(answer: httpx2.Response, name: str) -> tuple[str, set[str]]:
    """The value and the attributes of a cookie that an answer sets."""
    [found] = [one for one in answer.headers.get_list("set-cookie") if one.startswith(f"{name}=")]
    value, *attributes = [part.strip() for part in found.split(";")]
    return value.partition("=")[2], set(attributes)


async def started(server: Served, next_path: str = "/ui/mine/ask") -> tuple[str, str]:
    """The address at the provider, and the cookie of the login in progress."""
    async with server.client() as client:
        answer = await client.get(LOGIN, params={"next": next_path})
    assert (answer.status_code, answer.headers["cache-control"]) == (303, "no-store")
    value, attributes = cookie_of(answer, STARTED)
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"} <= attributes
    return answer.headers["location"], value


async def at_provider(address: str, user: str) -> dict[str, str]:
    """Log a person in at the provider; returns what it gives to the callback."""
    async with httpx2.AsyncClient(timeout=60) as person:
        answer = await person.get(address)
        for _ in range(10):
            if answer.status_code == 200:
                answer = await person.post(answer.url, data={"prompt": "login", "login": user, "password": "any"})
                continue
            place = urljoin(str(answer.url), answer.headers["location"])
            if place.startswith(f"{PUBLIC}{CALLBACK}?"):
                return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}
            answer = await person.get(place)
    pytest.fail(f"the provider does not lead back: {answer.text}")


async def back(server: Served, given: dict[str, str], cookie: str) -> httpx2.Response:
    """What the browser sends when the provider leads it back."""
    sent = {"Cookie": f"{STARTED}={cookie}", "Sec-Fetch-Site": "cross-site"}
    async with server.client() as client:
        return await client.get(CALLBACK, params=given, headers=sent)


async def test_a_person_logs_in_at_the_provider(
    url: str, provider: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(url, tmp_path, provider.url, monkeypatch) as server:
        await fill(server.database, "mine")
        await fill(server.database, "other")
        async with server.client() as client:
            ways = (await client.get("/v1/session/ways")).json()
        assert ways == {"key": True, "code": False, "provider": True}
        address, cookie = await started(server)
        asked = parse_qs(urlsplit(address).query)
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["redirect_uri"] == [f"{PUBLIC}{CALLBACK}"]
        answer = await back(server, await at_provider(address, "mine"), cookie)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui/mine/ask"), answer.text
        secret, attributes = cookie_of(answer, SESSION)
        assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= attributes
        assert cookie_of(answer, STARTED)[0] in ("", '""')

        page = {"Origin": PUBLIC, "Sec-Fetch-Site": "same-origin", "Cookie": f"{SESSION}={secret}"}
        async with server.client(**page) as browser:
            told = (await browser.get("/v1/session")).json()
            assert (told["caller"], told["name"], told["scope"]) == (f"{provider.url}#mine", "mine", "admin")
            assert [one["name"] for one in (await browser.get("/v1/workspaces")).json()["items"]] == ["mine"]
            assert (await browser.get("/v1/workspaces/other")).status_code == 404
            deleted = await browser.post("/v1/workspaces/mine/documents/delete", json={"uris": ["nothing"]})
            assert deleted.status_code == 200
            assert (await browser.delete("/v1/session")).status_code == 200
            assert (await browser.get("/v1/workspaces")).status_code == 401
    with psycopg.connect(url) as connection:
        logged = connection.execute(
            "SELECT DISTINCT caller FROM trueweave.audit_log WHERE route = %s AND status = 303", [CALLBACK]
        ).fetchall()
    assert logged == [(f"{provider.url}#mine",)]


async def test_only_the_browser_that_started_a_login_can_finish_it_and_only_once(
    url: str, provider: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(url, tmp_path, provider.url, monkeypatch) as server:
        address, cookie = await started(server)
        given = await at_provider(address, "mine")
        _, others = await started(server)
        login = StartedLogin.unpacked(cookie)
        assert login
        forged = {
            "no cookie": (given, "", "login_expired"),
            "another browser": (given, others, "login_expired"),
            "another state": ({**given, "state": "x"}, cookie, "login_expired"),
            "no state": ({"code": given["code"]}, cookie, "login_expired"),
            "nonsense": (given, "bm9uc2Vuc2U", "login_expired"),
            "no code": ({"state": given["state"], "error": "access_denied"}, cookie, "login_refused"),
            "another code": ({**given, "code": "x"}, cookie, "login_refused"),
        }
        for name, (sent, kept, code) in forged.items():
            answer = await back(server, sent, kept)
            assert (answer.status_code, answer.headers["location"]) == (303, f"/ui/login?error={code}"), name
            assert SESSION not in " ".join(one.partition("-login")[0] for one in answer.headers.get_list("set-cookie"))
        assert (await back(server, given, cookie)).headers["location"] == "/ui/mine/ask"
        again = await back(server, given, cookie)
        assert again.headers["location"] == "/ui/login?error=login_refused"


@pytest.mark.parametrize("part", ["nonce", "verifier"])
async def test_a_login_needs_its_nonce_and_its_verifier(
    url: str, provider: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    async with served(url, tmp_path, provider.url, monkeypatch) as server:
        address, cookie = await started(server)
        login = StartedLogin.unpacked(cookie)
        assert login
        changed = login._replace(**{part: "x" * 43})
        answer = await back(server, await at_provider(address, "mine"), changed.packed())
        assert answer.headers["location"] == "/ui/login?error=login_refused"


@pytest.mark.parametrize(
    "wrong", ["https://evil.example/", "//evil.example/", "/\\evil.example", "/v1/keys", "/ui/\r\nX: y", "/ui/\\\\evil"]
)
async def test_a_login_leads_to_the_web_ui_only(
    url: str, provider: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    async with served(url, tmp_path, provider.url, monkeypatch) as server:
        _, cookie = await started(server, wrong)
        login = StartedLogin.unpacked(cookie)
        assert login
        assert login.next == "/ui/"


async def test_a_person_without_a_scope_is_told_so(
    url: str, provider: OidcProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(url, tmp_path, provider.url, monkeypatch) as server:
        address, cookie = await started(server)
        answer = await back(server, await at_provider(address, "scopeless"), cookie)
        assert answer.headers["location"] == "/ui/login?error=forbidden"


async def test_without_its_provider_a_login_says_so(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    async with served(url, tmp_path, away, monkeypatch) as server, server.client() as client:
        for _ in range(2):
            answer = await client.get(LOGIN)
            assert answer.headers["location"] == "/ui/login?error=provider_unavailable"


async def test_a_server_that_is_no_client_of_a_provider_has_no_such_login(url: str) -> None:
    async with serving(url, public_url=PUBLIC) as server, server.client() as client:
        for path in (LOGIN, CALLBACK):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "no_provider")


def test_incomplete_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEWEAVE_OIDC_CLIENT_ID", "web")
    with pytest.raises(ConfigError, match="oidc_issuer is not"):
        create_app()
    monkeypatch.setenv("TRUEWEAVE_OIDC_ISSUER", "https://id.example")
    monkeypatch.setenv("TRUEWEAVE_OIDC_AUDIENCE", PUBLIC)
    monkeypatch.setenv("TRUEWEAVE_OIDC_CLIENT_SECRET_VARIABLE", "NOT_SET")
    with pytest.raises(ConfigError, match="NOT_SET, which is not set"):
        create_app()
