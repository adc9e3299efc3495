"""Watches over HTTP: their alerts, the stream of them, and what callers may not have."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.integration.serving import Served, serving
from tests.integration.watches.conftest import CHIEF, NEW_CHIEF, OTHER, QUESTION, said
from tests.integration.watches.conftest import signing_key as signing_key
from trueweave import AsyncTrueweave
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import KeyLimits
from trueweave.testing import HashEmbedder

ROOM = "/v1/workspaces/mine/watches"
ASKED = {"question": QUESTION, "name": "chief", "method": "keyword", "passages": 1}


@asynccontextmanager
async def served(url: str, **settings: Any) -> AsyncIterator[tuple[Served, AsyncTrueweave]]:
    async with serving(url, **settings) as server:
        opened = await AsyncTrueweave.enter(server.database, "mine", HashEmbedder())
        async with aclosing(opened) as mine:
            await mine.add_documents([CHIEF, OTHER])
            yield server, mine


async def made(client: httpx2.AsyncClient, status: int = 201, **more: object) -> dict[str, Any]:
    answer = await client.post(ROOM, json={**ASKED, **more})
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_watch_is_made_asked_by_a_worker_and_removed(url: str) -> None:
    async with (
        served(url, works=True) as (server, mine),
        server.client(await server.key("write", groups=["*"])) as client,
    ):
        watch = await made(client, filter={"none_of": [{"prefix": "drafts/"}]}, by="me")
        assert (watch["name"], watch["author"], watch["groups"]) == ("chief", "test write: me", ["*"])
        assert watch["filter"] == {"none_of": [{"prefix": "drafts/"}]}
        await mine.add_documents([NEW_CHIEF])
        async with asyncio.timeout(60):
            while not (await client.get(f"{ROOM}/chief")).json()["alerts"]:  # noqa: ASYNC110 (a worker changes it)
                await asyncio.sleep(0.1)
        first, second = (await client.get(f"{ROOM}/alerts", params={"watch": "chief"})).json()["alerts"]
        assert (first["is_first"], second["is_first"], second["added"]) == (True, False, 1)
        after = (await client.get(f"{ROOM}/alerts", params={"after": first["id"]})).json()["alerts"]
        assert after == [second]
        assert (await client.delete(f"{ROOM}/chief")).json() == {"removed": "chief"}
        assert (await client.get(f"{ROOM}/chief")).json()["code"] == "unknown_watch"


async def test_alerts_are_streamed(url: str) -> None:
    async with served(url) as (server, mine), server.client(await server.key("write", groups=["*"])) as client:
        await made(client)
        async with client.stream("GET", f"{ROOM}/events") as stream:
            lines = aiter(stream.aiter_lines())
            await mine.add_documents([NEW_CHIEF])
            await mine.watches.check()
            async with asyncio.timeout(30):
                while not (line := await anext(lines)).startswith("data: "):
                    pass
        told = json.loads(line.removeprefix("data: "))
        assert (told["watch"], told["added"], told["is_first"]) == ("chief", 1, False)


async def test_callers_have_webhooks_only_at_hosts_that_are_allowed(url: str, signing_key: Path) -> None:
    hosts = {"*": ["hooks.example"]}
    async with (
        served(url, signing_key_file=signing_key, webhook_hosts=hosts) as (server, _),
        server.client(await server.key("admin", groups=["*"])) as client,
    ):
        refused = await made(client, 403, webhook="https://other.example/")
        assert refused["code"] == "webhook_not_allowed"
        assert (await made(client, webhook="https://hooks.example/"))["webhook"] == "https://hooks.example/"


async def test_without_keys_there_are_no_other_webhooks(url: str) -> None:
    async with served(url, authenticated=False) as (server, _), server.client() as client:
        assert (await made(client, 403, webhook="https://hooks.example/"))["code"] == "webhook_not_allowed"


async def test_a_revoked_key_stops_its_watches(url: str) -> None:
    async with served(url) as (server, mine):
        key = await api_keys.make(server.database, "mine", "write", None, None, groups=["*"])
        async with server.client(key.token) as client:
            await made(client)
        await api_keys.revoke(server.database, key.prefix)
        await mine.add_documents([NEW_CHIEF])
        await mine.watches.check()
        assert len(await mine.watches.alerts()) == 1
        async with server.client(await server.key("write", groups=["*"])) as client:
            shown = (await client.get(f"{ROOM}/chief")).json()
        assert shown["problem"] == "The server's administrator finds the reason in `trueweave watch list`."


async def test_a_caller_with_a_limit_has_no_answers(url: str) -> None:
    async with served(url, model="ollama/none") as (server, _):
        ends = datetime.now(UTC) + timedelta(hours=1)
        limited = await api_keys.make(server.database, "few", "write", None, ends, KeyLimits(100, None), groups=["*"])
        async with server.client(limited.token) as client:
            assert "daily limit" in (await made(client, 403, answers=True))["title"] + str(
                await made(client, 403, answers=True)
            )
            await made(client)


async def test_a_watch_reads_no_more_than_its_caller(url: str) -> None:
    async with served(url) as (server, mine), server.client(await server.key("write", groups=["legal"])) as client:
        assert (await made(client))["groups"] == ["legal"]
        assert (await made(client, 422, name="b", groups=["*"]))["code"] == "invalid_argument"
        await mine.add_documents([said("secret.md", "The chief executive of Acme is Bo Lind.", readers=("hr",))])
        await mine.watches.check()
        assert "Bo Lind" not in str(await mine.watches.alerts())
        for path in (ROOM, f"{ROOM}/chief", f"{ROOM}/alerts", f"{ROOM}/events"):
            assert (await client.get(path)).status_code == 403
