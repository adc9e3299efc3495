"""Readers and access rules through the server, and through its client."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.serving import Served, serving
from trueweave import AsyncClient, AsyncTrueweave, Chunk, Document, Source
from trueweave.errors import AccessDenied, InvalidArgument, UnknownAccessRule
from trueweave.types import AccessRule

WORKSPACE = "/v1/workspaces/mine"


@pytest.fixture
async def server(url: str) -> AsyncIterator[Served]:
    async with serving(url, works=True, extractor="capitals", embedding_model=None) as found:
        await found.database.find_workspace("mine", make=True)
        yield found


async def readers(server: Served) -> dict[str, list[str]]:
    async with aclosing(await AsyncTrueweave.enter(server.database, "mine", make=False)) as index:
        async with index.workspace.transaction() as tx:
            rows = await (await tx.execute("SELECT uri, readers FROM document WHERE current ORDER BY uri")).fetchall()
        return dict(rows)


async def test_an_administrator_makes_rules_and_others_do_not(server: Served) -> None:
    rule: dict[str, Any] = {"prefix": "hr/**", "readers": ["hr"]}
    async with server.client(await server.key("write")) as client:
        for method, query in (("PUT", {}), ("GET", {}), ("DELETE", {"prefix": "hr/"})):
            body = rule if method == "PUT" else None
            answer = await client.request(method, f"{WORKSPACE}/access", json=body, params=query)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    async with server.client(await server.key("admin")) as client:
        assert (await client.put(f"{WORKSPACE}/access", json=rule)).json() == {"changed": 0}
        assert (await client.put(f"{WORKSPACE}/access", json={"prefix": "", "readers": []})).json() == {"changed": 0}
        first = (await client.get(f"{WORKSPACE}/access", params={"limit": 1})).json()
        assert first["items"] == [{"prefix": "", "readers": []}]
        second = (await client.get(f"{WORKSPACE}/access", params={"cursor": first["next"]})).json()
        assert second == {"items": [{"prefix": "hr/", "readers": ["hr"]}], "next": None}
        assert (await client.delete(f"{WORKSPACE}/access", params={"prefix": "hr/"})).json() == {"changed": 0}
        gone = await client.delete(f"{WORKSPACE}/access", params={"prefix": "hr/"})
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_access_rule")
        bad = await client.put(f"{WORKSPACE}/access", json={"prefix": "hr/", "readers": ["*"]})
        assert (bad.status_code, bad.json()["code"]) == (422, "invalid_argument")


async def test_a_client_gives_readers_in_every_way_of_adding(server: Served, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("---\nreaders: own\n---\nAda")
    (tmp_path / "plain.txt").write_text("Ada")
    key = await server.key("admin", groups=["*"])
    async with AsyncClient.open(server.url, "mine", key=key) as client:
        await client.add(Source("text", "Ada"), Source("stated", "Ada", readers=("own",)), readers=["legal"])
        await client.add(tmp_path, readers=["hr"])
        await client.add_documents([Document("given", (Chunk("Ada"),))], readers=["it"])
        uri = await client.remember("Ada prefers trains", readers=["travel"])
        found = await readers(server)
        names = {name.rpartition("/")[2]: groups for name, groups in found.items()}
        expected = {"text": ["legal"], "stated": ["own"], "file.md": ["own"], "plain.txt": ["hr"], "given": ["it"]}
        assert names | expected == names
        await client.add(Source("text", "Ada"), tmp_path / "plain.txt", readers=[])
        await client.add_documents([Document("given", (Chunk("Ada"),))], readers=[])
        names = {name.rpartition("/")[2]: groups for name, groups in (await readers(server)).items()}
        assert names | {"text": [], "stated": ["own"], "plain.txt": [], "given": []} == names
        assert uri.startswith("memory:")
        exported = {one.uri: one.readers async for one in client.documents()}
        assert exported["stated"] == ("own",)
        with pytest.raises(InvalidArgument):
            await client.add(Source("text", "Ada"), readers=["*"])


async def test_a_client_makes_rules(server: Served) -> None:
    async with AsyncClient.open(server.url, "mine", key=await server.key("admin", groups=["*"])) as client:
        await client.add(Source("hr/pay", "Ada"))
        assert await client.access.set("hr/**", ["hr"]) == 1
        assert await client.access.all() == [AccessRule("hr/", ("hr",))]
        assert await readers(server) == {"hr/pay": ["hr"]}
        assert await client.access.remove("hr/**") == 1
        with pytest.raises(UnknownAccessRule):
            await client.access.remove("hr/")
    async with AsyncClient.open(server.url, "mine", key=await server.key("write")) as client:
        with pytest.raises(AccessDenied):
            await client.access.set("hr/", ["hr"])
