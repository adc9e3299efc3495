"""The server with tokens of a real identity provider: oidc-provider, which is certified for OpenID Connect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest

from tests.identity import AUDIENCE, SigningKey, issuing
from tests.integration.serving import fill, serving
from tests.servers import PASSWORD, OidcProvider, free_port, no_oidc_provider
from trueweave.errors import ConfigError
from trueweave.server.app import create_app

WORKSPACE = "/v1/workspaces/mine"
TENANTS = {
    "mine": ["mine"],
    "other": ["other"],
    "both": ["mine", "other", "nowhere"],
    "all": ["*"],
    "none": list[str](),
}


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[OidcProvider]:
    if reason := no_oidc_provider():
        pytest.skip(reason)
    server = OidcProvider(tmp_path / "provider", AUDIENCE, TENANTS)
    server.start()
    yield server
    server.kill()


async def token_of(provider: OidcProvider, client: str, scope: str = "trueweave:read", audience: str = AUDIENCE) -> str:
    """A token as the provider gives it to a client."""
    asked = {"grant_type": "client_credentials", "scope": scope, "resource": audience}
    async with httpx2.AsyncClient(timeout=60) as http:
        answer = await http.post(f"{provider.url}/token", data=asked, auth=(client, PASSWORD))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


async def test_tokens_of_a_real_provider(url: str, provider: OidcProvider) -> None:
    async with serving(url, oidc_issuer=provider.url, oidc_audience=AUDIENCE) as server:
        await fill(server.database, "mine")
        await fill(server.database, "other")
        seen = {}
        for client in TENANTS:
            async with server.client(await token_of(provider, client)) as http:
                listed = await http.get("/v1/workspaces")
                assert listed.status_code == 200, listed.text
                seen[client] = [one["name"] for one in listed.json()["items"]]
                for name in ("mine", "other"):
                    answer = await http.get(f"/v1/workspaces/{name}/documents")
                    assert answer.status_code == (200 if name in seen[client] else 404)
        assert seen == {
            "mine": ["mine"],
            "other": ["other"],
            "both": ["mine", "other"],
            "all": ["mine", "other"],
            "none": [],
        }

        for scope, status in (("trueweave:read", 403), ("trueweave:read trueweave:write", 200)):
            async with server.client(await token_of(provider, "mine", scope)) as http:
                answer = await http.post(f"{WORKSPACE}/documents/delete", json={"uris": ["nothing"]})
                assert answer.status_code == status
        async with server.client(await token_of(provider, "mine", "")) as http:
            answer = await http.get("/v1/workspaces")
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
            assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope"'
        async with server.client(await token_of(provider, "mine", audience="https://other.example")) as http:
            answer = await http.get("/v1/workspaces")
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        async with server.client(await server.key("read", "mine")) as http:
            assert (await http.get(f"{WORKSPACE}/documents")).status_code == 200, "keys are taken as before"
    with psycopg.connect(url) as connection:
        logged = connection.execute(
            "SELECT DISTINCT caller, status FROM trueweave.audit_log WHERE status = 200"
        ).fetchall()
    assert logged == [(f"{provider.url}#mine", 200)]


async def test_a_provider_that_starts_again_has_other_keys(url: str, provider: OidcProvider) -> None:
    async with serving(url, oidc_issuer=provider.url, oidc_audience=AUDIENCE) as server:
        old = await token_of(provider, "mine")
        async with server.client(old) as http:
            assert (await http.get("/v1/workspaces")).status_code == 200
        provider.kill()
        provider.start()
        keys = server.app.state.services.tokens._keys
        keys._tried -= 10  # so long it was not asked
        async with server.client(await token_of(provider, "mine")) as http:
            assert (await http.get("/v1/workspaces")).status_code == 200
        server.app.state.services.tokens._known.clear()
        async with server.client(old) as http:
            assert (await http.get("/v1/workspaces")).status_code == 401


async def test_without_its_provider_a_server_takes_keys(url: str) -> None:
    with issuing(SigningKey("k")) as issuer:
        token = issuer.token()
    away = f"http://127.0.0.1:{free_port()}"
    async with serving(url, oidc_issuer=away, oidc_audience=AUDIENCE) as server:
        async with server.client(token) as http:
            answer = await http.get("/v1/workspaces")
            assert (answer.status_code, answer.json()["code"]) == (503, "identity_provider_unavailable")
            assert 1 <= int(answer.headers["retry-after"]) <= 10
            assert away not in answer.text
        async with server.client(await server.key("read")) as http:
            assert (await http.get("/v1/workspaces")).status_code == 200
        async with server.client("twk_nonsense") as http:
            assert (await http.get("/v1/workspaces")).status_code == 401, "a key is never sent to the provider"


async def test_a_server_without_a_provider_takes_no_token(url: str) -> None:
    with issuing() as issuer:
        async with serving(url) as server, server.client(issuer.token()) as http:
            assert (await http.get("/v1/workspaces")).status_code == 401
        assert not issuer.asked


async def test_an_administrator_of_no_workspace_makes_no_key_and_sees_none(url: str) -> None:
    with issuing() as issuer:
        async with serving(url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE) as server:
            await server.key("read", "mine")
            token = issuer.token(scope="trueweave:admin", trueweave_workspaces=["nowhere"])
            async with server.client(token) as http:
                assert (await http.post("/v1/keys", json={"name": "k", "scope": "admin"})).status_code == 403
                assert (await http.get("/v1/keys")).json()["items"] == []
                assert (await http.post("/v1/workspaces", json={"name": "new"})).status_code == 403


def test_settings_that_would_take_any_token_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEWEAVE_OIDC_ISSUER", "https://id.example")
    with pytest.raises(ConfigError, match="oidc_audience is not"):
        create_app()
