"""Sources through a server: only what the administrator allows for a workspace is fetched, and only for it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.serving import Served, serving
from tests.web_site import Site, web_site
from trueweave import AsyncTrueweave, Settings
from trueweave.engine.worker import work_for_all
from trueweave.errors import SourceNotAllowed
from trueweave.store.postgres.access import api_keys

HERE = "/v1/workspaces/mine/sources"
ALLOWED: dict[str, Any] = {
    "extractor": "capitals",
    "embedding_model": None,
    "source_networks": ["127.0.0.0/8"],
    "source_pause": 0,
    "source_connectors": {"*": ["sitemap+http"], "other": ["git+file"]},
    "source_variables": {"mine": ["SITE_TOKEN"]},
}


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        yield found


async def put(server: Served, key: str, name: str, **body: Any) -> tuple[int, dict[str, Any]]:
    async with server.client(key) as client:
        answer = await client.put(f"{HERE}/{name}", json=body)
        return answer.status_code, answer.json()


async def ended(server: Served, key: str, name: str) -> dict[str, Any]:
    """The last run of a source, once there is one."""
    async with server.client(key) as client, asyncio.timeout(60):
        while True:
            found = (await client.get(f"{HERE}/{name}")).json()
            if found["last_run"] and not found["is_running"]:
                run: dict[str, Any] = found["last_run"]
                return run
            await asyncio.sleep(0.05)


async def test_nothing_is_allowed_unless_the_administrator_says_so(url: str) -> None:
    async with serving(url) as server:
        await AsyncTrueweave.enter(server.database, "mine", settings=Settings())
        key = await server.key("admin")
        for address in (
            "https://example.org/",
            "git+https://example.org/x.git",
            "git+file:///etc",
            "s3://b",
            "gs://b",
            "az://a/b",
        ):
            status, problem = await put(server, key, "x", address=address)
            assert (status, problem["code"]) == (403, "source_not_allowed")
            assert "source_connectors" in problem["detail"]


async def test_only_connectors_and_variables_of_the_workspace_are_allowed(url: str, site: Site) -> None:
    address = site.sitemap("/sitemap.xml")
    async with serving(url, **ALLOWED) as server:
        await AsyncTrueweave.enter(server.database, "mine", settings=Settings())
        reader, writer = await server.key("read", "mine"), await server.key("write", "mine")
        assert (await put(server, reader, "x", address=address))[0] == 403
        status, problem = await put(server, writer, "x", address="git+file:///srv/project")
        assert (status, problem["code"]) == (403, "source_not_allowed")
        assert problem["detail"].startswith("sources with git+file:// addresses are not allowed in the workspace mine")
        for variable in ("DATABASE_PASSWORD", "TRUEWEAVE_DATABASE_URL"):
            status, problem = await put(server, writer, "x", address=address, secrets={"token": variable})
            assert (status, problem["code"]) == (403, "source_not_allowed")
            assert f"variable {variable} in the workspace mine" in problem["detail"]
            assert "source_variables" in problem["detail"]
        status, made = await put(server, writer, "x", address=address, secrets={"token": "SITE_TOKEN"}, by="me")
        assert (status, made["author"], made["restricted"]) == (200, "test write: me", True)
        status, problem = await put(server, writer, "x", address=address, secrets={"token": "two words"})
        assert (status, problem["code"]) == (422, "invalid_argument")


async def test_what_is_no_longer_allowed_does_not_run_and_sources_of_the_command_line_do(url: str, site: Site) -> None:
    site.page("/a", "Ada Lovelace wrote it.")
    address, by_hand = site.sitemap("/sitemap.xml", "/a"), site.sitemap("/other.xml", "/a")
    async with serving(url, **ALLOWED) as server:
        trueweave = await AsyncTrueweave.enter(server.database, "mine", settings=Settings(extractor="capitals"))
        writer, operator = await server.key("write", "mine"), await server.key("admin")
        assert (await put(server, writer, "served", address=address, every_seconds=3600))[0] == 200
        await trueweave.sources.add("by-hand", by_hand, every_seconds=3600)
        stop, now = asyncio.Event(), Settings.model_validate({**ALLOWED, "source_connectors": {}})
        working = asyncio.create_task(work_for_all(server.database, now, stop=stop))
        try:
            assert (await ended(server, writer, "by-hand"))["outcome"] == "done"
            run = await ended(server, writer, "served")
            assert (run["outcome"], run["problem"].startswith("The run failed.")) == ("failed", True)
            assert "source_connectors" in (await ended(server, operator, "served"))["problem"]
        finally:
            stop.set()
            await working
        assert site.taken()
        with pytest.raises(SourceNotAllowed):
            await trueweave.sources.sync("served")


async def test_a_source_is_run_by_the_server_and_survives_the_key_that_added_it(url: str, site: Site) -> None:
    site.page("/a", "Ada Lovelace wrote it.")
    address = site.sitemap("/sitemap.xml", "/a")
    async with serving(url, works=True, **ALLOWED) as server:
        await AsyncTrueweave.enter(server.database, "mine", settings=Settings())
        writer, reader = await server.key("write", "mine"), await server.key("read", "mine")
        assert (await put(server, writer, "site", address=address))[0] == 200
        async with server.client(writer) as client:
            assert (await client.post(f"{HERE}/site/sync", json={})).status_code == 202
        assert await api_keys.revoke(server.database, writer.removeprefix("twk_").partition("_")[0])
        assert (await ended(server, reader, "site"))["new"] == 1
        async with server.client(await server.key("write", "mine")) as client:
            removed = await client.delete(f"{HERE}/site", params={"documents": True})
            assert (removed.status_code, removed.json()) == (200, {"removed": "site", "documents": 1})
            assert (await client.get(HERE)).json() == {"items": [], "next": None}
            gone = await client.post(f"{HERE}/site/sync", json={})
            assert (gone.status_code, gone.json()["code"]) == (404, "unknown_source")
