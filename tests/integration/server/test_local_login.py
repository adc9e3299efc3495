"""The one-time code of `trueweave ui`: it opens one session, at the random host name of this process alone."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from tests.integration.serving import serving
from trueweave.server.local_login import LocalLogin

SESSION = "/v1/session"


def page(origin: str) -> dict[str, str]:
    return {"Host": origin.partition("://")[2], "Origin": origin, "Sec-Fetch-Site": "same-origin"}


async def test_the_code_opens_one_session_at_its_own_host(url: str) -> None:
    local = LocalLogin("ada")
    async with serving(url, local=local) as server, server.client() as client:
        port = int(server.url.rpartition(":")[2])
        address = local.address(port)
        origin, _, code = address.partition("/ui/login#code=")
        assert origin == f"http://{local.host}:{port}"
        for other in (server.url, f"http://localhost:{port}", f"http://other.localhost:{port}"):
            ways = await client.get(f"{SESSION}/ways", headers=page(other))
            assert ways.json() == {"key": False, "code": False, "provider": False}
            refused = await client.post(SESSION, json={"code": code}, headers=page(other))
            assert (refused.status_code, refused.json()["code"]) == (409, "https_needed")
        for forged in (
            {"Origin": f"http://{local.host}:{port + 1}"},
            {"Origin": server.url},
            {"Sec-Fetch-Site": "same-site"},
            {"X-Forwarded-For": "192.0.2.1"},
        ):
            refused = await client.post(SESSION, json={"code": code}, headers={**page(origin), **forged})
            assert refused.status_code in (403, 409)
        for _ in range(20):  # wrong codes, as of other users of this machine, do not keep the right one out
            assert (await client.post(SESSION, json={"code": "x" * 43}, headers=page(origin))).status_code == 401
        assert (await client.get("/v1/workspaces", headers=page(origin))).status_code == 401

        ways = await client.get(f"{SESSION}/ways", headers=page(origin))
        assert ways.json() == {"key": True, "code": True, "provider": False}
        tries = [client.post(SESSION, json={"code": code}, headers=page(origin)) for _ in range(5)]
        answers = await asyncio.gather(*tries)
        assert sorted(one.status_code for one in answers) == [201, 401, 401, 401, 401]
        [opened] = [one for one in answers if one.status_code == 201]
        assert (opened.json()["caller"], opened.json()["name"], opened.json()["scope"]) == ("local", "ada", "admin")
        cookie, *attributes = [part.strip() for part in opened.headers["set-cookie"].split(";")]
        assert cookie.startswith("tw=")
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(attributes)
        client.cookies.clear()
        sent = {**page(origin), "Cookie": cookie}
        made = await client.post("/v1/workspaces", json={"name": "first"}, headers=sent)
        assert made.status_code == 201, made.text
        for other in (server.url, f"http://localhost:{port}"):
            assert (await client.get("/v1/workspaces", headers={**sent, **page(other)})).status_code == 401
    with psycopg.connect(url) as connection:
        logged = connection.execute("SELECT DISTINCT caller FROM trueweave.audit_log WHERE status = 201").fetchall()
    assert logged == [("local",)]


async def test_a_server_without_a_code_takes_none(url: str) -> None:
    async with serving(url, public_url="https://trueweave.example") as server, server.client() as client:
        headers = {"Origin": "https://trueweave.example", "Sec-Fetch-Site": "same-origin"}
        assert (await client.get(f"{SESSION}/ways")).json() == {"key": True, "code": False, "provider": False}
        assert (await client.post(SESSION, json={"code": "x" * 43}, headers=headers)).status_code == 401
        for body in ({}, {"key": "a", "code": "b"}):
            assert (await client.post(SESSION, json=body, headers=headers)).status_code == 422


@pytest.mark.parametrize(("seconds", "is_valid"), [(599, True), (600, False)])
def test_the_code_is_valid_for_ten_minutes(seconds: float, is_valid: bool) -> None:
    now = [0.0]
    local = LocalLogin("ada", lambda: now[0])
    code = local.address(1).rpartition("=")[2]
    assert not local.take(code[:-1])
    now[0] = seconds
    assert local.take(code) is is_valid
    assert not local.take(code)
