"""Two tenants of one server: with guessed ids, cursors, idempotency keys and names of the other, nothing is found out,
not even that there is something. A route that is added without a case here fails."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest
from starlette.routing import BaseRoute

from tests.identity import AUDIENCE, issuing
from tests.integration.serving import Served, fill, serving
from trueweave import Chunk, Document, Link, Mention, NameKey
from trueweave.bench.own import run_own
from trueweave.core.bench import BenchPassage
from trueweave.mcp.tools import TOOLS
from trueweave.server import activity
from trueweave.server.app import create_app
from trueweave.testing.tables import rows

SECRET = "Zanzibar"
COMMON = ("trueweave.audit_log", "trueweave.api_key", "trueweave.caller_usage", "trueweave.web_session")
PUBLIC = "https://trueweave.example"
ROOM = "/v1/workspaces/{workspace}"


@dataclass(frozen=True)
class Case:
    """One request to a workspace. `{…}` in path, parameters and body stand for ids of the other tenant."""

    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    files: Any = None
    content: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


QUESTION = {"question": f"Where is {SECRET}?", "method": "keyword"}
TEXTS = {"documents": [{"uri": "{document}", "text": "another text"}]}
RULE = {"kind": "suppress", "names": [{"name": SECRET}]}
NAMED = {"name": SECRET}
RIGHT = {"question": SECRET, "passages": [{"uri": "{document}", "chunk": "{passage}"}]}
LINES = json.dumps({"uri": "x:y", "text": "t"})

# Every route in a workspace. What is in the path, `{job}` and the like, is that of the other tenant.
IN_WORKSPACE: dict[str, Case] = {
    f"GET {ROOM}": Case(),
    f"GET {ROOM}/status": Case(),
    f"GET {ROOM}/activity": Case(),
    f"GET {ROOM}/events": Case(),
    f"DELETE {ROOM}": Case(),
    f"GET {ROOM}/documents": Case({"cursor": "{documents_cursor}"}),
    f"GET {ROOM}/documents/failed": Case({"cursor": "{documents_cursor}"}),
    f"GET {ROOM}/documents/export": Case(),
    f"POST {ROOM}/documents": Case(json=TEXTS, headers={"Idempotency-Key": "{idempotency}"}),
    f"POST {ROOM}/documents/files": Case({"job": "{job}"}, files={"file": ("a.txt", b"text")}),
    f"POST {ROOM}/documents/annotated": Case(content=LINES, headers={"Content-Type": "application/x-ndjson"}),
    f"POST {ROOM}/documents/retry": Case(json={"uris": ["{document}"]}),
    f"POST {ROOM}/documents/off": Case(json={"uris": ["{document}"]}),
    f"POST {ROOM}/documents/on": Case(json={"uris": ["{document}"]}),
    f"POST {ROOM}/documents/delete": Case(json={"uris": ["{document}"]}),
    f"GET {ROOM}/document": Case({"uri": "{document}"}),
    f"GET {ROOM}/document/outline": Case({"uri": "{document}"}),
    f"GET {ROOM}/document/mentions": Case({"uri": "{document}"}),
    f"GET {ROOM}/passages": Case({"id": "{passage}"}),
    f"GET {ROOM}/document/status": Case({"uri": "{document}"}),
    f"DELETE {ROOM}/document": Case({"uri": "{document}"}),
    f"POST {ROOM}/estimate": Case(json=TEXTS),
    f"POST {ROOM}/estimate/files": Case(files={"file": ("a.txt", b"text")}),
    f"POST {ROOM}/ask": Case(json={**QUESTION, "context_only": True}),
    f"GET {ROOM}/methods": Case(),
    f"POST {ROOM}/retrieve": Case(json={**QUESTION, "filter": {"uris": ["{document}"]}}),
    f"POST {ROOM}/search": Case(json={"text": SECRET, "filter": {"uris": ["{document}"]}}),
    f"POST {ROOM}/compare": Case(json={"question": SECRET, "methods": ["keyword"]}),
    f"GET {ROOM}/entities": Case({"cursor": "{entities_cursor}"}),
    f"GET {ROOM}/entities/search": Case({"text": SECRET}),
    f"GET {ROOM}/entity": Case({"name": "{entity}"}),
    f"GET {ROOM}/entity/mentions": Case({"name": "{entity}", "document": "{document}"}),
    f"GET {ROOM}/entity/documents": Case({"name": "{entity}"}),
    f"GET {ROOM}/relation": Case({"id": "{relation}"}),
    f"GET {ROOM}/relation/statements": Case({"id": "{relation}"}),
    f"GET {ROOM}/conflicts": Case(),
    f"GET {ROOM}/relations": Case({"entity": "{entity}"}),
    f"GET {ROOM}/relations/search": Case({"text": SECRET}),
    f"GET {ROOM}/neighbours": Case({"entity": "{entity}"}),
    f"GET {ROOM}/path": Case({"start": "{entity}", "end": "{entity}"}),
    f"GET {ROOM}/around": Case({"entity": "{entity}", "exclude": "{entity}"}),
    f"GET {ROOM}/map": Case({"zoom": "100000"}),
    f"GET {ROOM}/types": Case(),
    f"GET {ROOM}/entities/complete": Case({"text": SECRET}),
    f"POST {ROOM}/subgraph": Case(json={"entities": ["{entity}"], "chunks": ["{passage}"]}),
    f"GET {ROOM}/picture": Case({"entity": "{entity}"}),
    f"GET {ROOM}/communities": Case({"within": "{community}"}),
    f"GET {ROOM}/communities/hierarchy": Case(),
    f"GET {ROOM}/communities/retired": Case({"since": "2020-01-01T00:00:00Z"}),
    f"GET {ROOM}/communities/reports/estimate": Case(),
    f"POST {ROOM}/communities/find": Case(),
    f"POST {ROOM}/communities/reports": Case(),
    f"GET {ROOM}/communities/{{community}}": Case(),
    f"GET {ROOM}/communities/tree": Case({"within": "{community}"}),
    f"GET {ROOM}/communities/{{community}}/members": Case(),
    f"GET {ROOM}/communities/{{community}}/report/estimate": Case(),
    f"POST {ROOM}/communities/{{community}}/report": Case(),
    f"GET {ROOM}/rules": Case(),
    f"POST {ROOM}/rules": Case(json=RULE),
    f"GET {ROOM}/rules/suggestions": Case(),
    f"POST {ROOM}/rules/suggestions/accept": Case(json={"ids": ["{suggestion}"]}),
    f"POST {ROOM}/rules/suggestions/reject": Case(json={"ids": ["{suggestion}"]}),
    f"POST {ROOM}/rules/suggestions/decide": Case(json={"one": NAMED, "other": {"name": "Zanzibaar"}, "same": True}),
    f"POST {ROOM}/rules/suggestions/again": Case(json={"one": NAMED, "other": {"name": "Zanzibaar"}}),
    f"POST {ROOM}/rules/preview": Case(json=RULE),
    f"POST {ROOM}/rules/mentioned": Case(json={"names": [{"name": SECRET}]}),
    f"GET {ROOM}/rules/resolution": Case(),
    f"PUT {ROOM}/rules/resolution": Case(json={"mode": "exact"}),
    f"DELETE {ROOM}/rules/{{rule}}": Case(),
    f"GET {ROOM}/access": Case({"cursor": "{documents_cursor}"}),
    f"PUT {ROOM}/access": Case(json={"prefix": "{document}", "readers": ["hr"]}),
    f"DELETE {ROOM}/access": Case({"prefix": "{document}"}),
    f"GET {ROOM}/history": Case(),
    f"PUT {ROOM}/history": Case(json={"days": 30}),
    f"DELETE {ROOM}/history": Case(),
    f"GET {ROOM}/history/versions": Case({"uri": "{document}"}),
    f"GET {ROOM}/history/diff": Case(),
    f"GET {ROOM}/bench": Case(),
    f"POST {ROOM}/bench": Case(json={"methods": ["keyword"]}),
    f"GET {ROOM}/bench/methods": Case(),
    f"GET {ROOM}/bench/compare": Case(
        {"run_a": "{run}", "method_a": "keyword", "run_b": "{run}", "method_b": "keyword"}
    ),
    f"GET {ROOM}/bench/questions": Case(),
    f"POST {ROOM}/bench/questions": Case(json=RIGHT),
    f"PUT {ROOM}/bench/questions/{{question}}": Case(json=RIGHT),
    f"DELETE {ROOM}/bench/questions/{{question}}": Case(),
    f"GET {ROOM}/bench/{{run}}": Case(),
    f"DELETE {ROOM}/bench/{{run}}": Case(),
    f"GET {ROOM}/bench/{{run}}/outcomes/{{n}}": Case(),
    f"POST {ROOM}/memories": Case(json={"text": SECRET}),
    f"POST {ROOM}/memories/recall": Case(json={"text": SECRET}),
    f"POST {ROOM}/memories/forget": Case(json={"uris": ["memory:{document}"]}),
    f"GET {ROOM}/watches": Case(),
    f"POST {ROOM}/watches": Case(json={"question": "Who?", "name": "{watch}"}),
    f"GET {ROOM}/watches/alerts": Case(),
    f"GET {ROOM}/watches/events": Case(),
    f"GET {ROOM}/watches/{{watch}}": Case(),
    f"DELETE {ROOM}/watches/{{watch}}": Case(),
    f"GET {ROOM}/sources": Case(),
    f"GET {ROOM}/sources/{{source}}": Case(),
    f"PUT {ROOM}/sources/{{source}}": Case(json={"address": "https://example.org/"}),
    f"POST {ROOM}/sources/{{source}}/sync": Case(json={}),
    f"DELETE {ROOM}/sources/{{source}}": Case(),
    f"GET {ROOM}/jobs": Case(),
    f"GET {ROOM}/jobs/{{job}}": Case(),
    f"GET {ROOM}/jobs/{{job}}/documents": Case(),
    f"GET {ROOM}/jobs/{{job}}/events": Case(),
    f"POST {ROOM}/mcp": Case(
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "documents", "arguments": {}}},
        headers={"Accept": "application/json, text/event-stream"},
    ),
    f"GET {ROOM}/settings": Case(),
    f"PATCH {ROOM}/settings": Case(json={"repair": True}),
    f"GET {ROOM}/models": Case(),
    f"GET {ROOM}/checks": Case(),
    f"POST {ROOM}/try-extract": Case(json={"text": SECRET}),
    f"GET {ROOM}/spend": Case(),
    f"GET {ROOM}/spend/daily": Case({"by": "model"}),
    f"GET {ROOM}/spend/documents": Case(),
    f"GET {ROOM}/budget": Case(),
    f"PUT {ROOM}/budget": Case(json={"tokens": 1}),
}
# Every tool for agents, with names and ids of the other tenant.
TOOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"text": SECRET},
    "ask": {"question": f"Where is {SECRET}?"},
    "entity": {"name": "{entity}"},
    "neighbours": {"name": "{entity}"},
    "path": {"start": "{entity}", "end": "{entity}"},
    "conflicts": {},
    "report": {"id": "{community}"},
    "documents": {"prefix": "other"},
    "document": {"uri": "{document}"},
    "recall": {"text": SECRET},
    "remember": {"text": "a text"},
    "forget": {"uris": ["memory:{document}"]},
}
# Routes of no workspace, each with a test of its own below, or with nothing of a tenant in it.
ELSEWHERE = {
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /v1/openapi.json",
    "GET /v1/version",
    "GET /v1/methods",
    "GET /v1/workspaces",
    "POST /v1/workspaces",
    "GET /v1/me",
    "GET /v1/keys",
    "POST /v1/keys",
    "DELETE /v1/keys/{prefix}",
    "GET /v1/session",
    "POST /v1/session",
    "DELETE /v1/session",
    "GET /v1/session/ways",
    "GET /v1/session/login",
    "GET /v1/session/callback",
    "GET /v1/models",
    "POST /v1/chat/completions",
    "GET /api/tags",
    "POST /api/chat",
    "GET /",
    "GET /docs",
    "GET /docs/{name}",
    "GET /ui",
    "GET /ui/{path:path}",
}


@pytest.fixture(autouse=True)
def _short_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams of activity end after their first event."""
    monkeypatch.setattr(activity, "LONGEST", 0)


def routes(of: Iterable[BaseRoute]) -> Iterator[str]:
    """The methods and paths of routes."""
    for route in of:
        path, methods = getattr(route, "path", repr(route)), getattr(route, "methods", None) or {"ANY"}
        yield from (f"{method} {path}" for method in methods if method != "HEAD")


def test_every_route_has_a_case() -> None:
    assert set(routes(create_app().routes)) == IN_WORKSPACE.keys() | ELSEWHERE


@dataclass(frozen=True)
class Tenants:
    """A server with two tenants: clients of the first, and ids of what the other has."""

    server: Served
    url: str
    mine: httpx2.AsyncClient
    mine_key: str
    other_key: str
    ids: Mapping[str, str]

    def filled(self, value: Any, ids: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            for name, id_ in ids.items():
                value = value.replace(f"{{{name}}}", id_)
            return value
        if isinstance(value, dict):
            return {self.filled(key, ids): self.filled(one, ids) for key, one in value.items()}
        return [self.filled(one, ids) for one in value] if isinstance(value, list) else value

    async def send(self, route: str, workspace: str, ids: Mapping[str, str]) -> httpx2.Response:
        """One request to a workspace with these ids, by the first tenant."""
        case, (method, path) = IN_WORKSPACE[route], route.split(" ")
        return await self.mine.request(
            method,
            self.filled(path, {"workspace": workspace, "n": "0", **ids}),
            params=self.filled(dict(case.params), ids),
            json=self.filled(case.json, ids),
            files=case.files,
            content=case.content,
            headers=self.filled(dict(case.headers), ids),
        )


Way = Literal["direct", "PgBouncer", "token", "session"]
ways = pytest.mark.parametrize("way", get_args(Way))


@asynccontextmanager
async def two_tenants(
    url: str, way: Way = "direct", request: pytest.FixtureRequest | None = None
) -> AsyncIterator[Tenants]:
    """Two tenants of a database, which the server reaches through a pooler if that is the way. The first has a key, or
    a token of an identity provider, or a session that was opened with the key."""
    pooled = request.getfixturevalue("pooled") if request and way == "PgBouncer" else ""
    more: dict[str, Any] = {"direct_database_url": url} if pooled else {}
    with issuing() as issuer:
        if way == "session":
            more = {"public_url": PUBLIC}
        if way == "token":
            more = {"oidc_issuer": issuer.url, "oidc_audience": AUDIENCE}
        token = issuer.token(scope="trueweave:admin", trueweave_workspaces=["mine"]) if way == "token" else ""
        async with _two_tenants(url, pooled or url, token, more, has_session=way == "session") as tenants:
            yield tenants


@asynccontextmanager
async def _two_tenants(
    url: str, served: str, token: str, more: dict[str, Any], *, has_session: bool
) -> AsyncIterator[Tenants]:
    async with serving(served, extractor="capitals", **more) as server:
        await fill(server.database, "mine")
        other = await fill(server.database, "other", f"{SECRET} is an island.", "Pemba is another.", "Mafia is, too.")
        ring = (Link(SECRET, "Pemba"), Link("Pemba", "Mafia"), Link("Mafia", SECRET))
        await other.add_documents([Document("ring", (Chunk("ring", links=ring),))])
        await other.communities.find()
        [community, *_] = await other.communities.select()
        rule = await other.rules.rename(NameKey("Pemba"), "Green Island")
        entity = await other.graph.entity(SECRET)
        alike = Chunk("Zanzibaar", mentions=(Mention("Zanzibaar"),))
        await other.add_documents([Document("alike", (alike,))])
        [suggestion, *_] = await other.rules.suggestions(80)
        question = await other.bench.add_question(SECRET, [BenchPassage(entity.passages[0].uri)])
        run = await run_own(other, ["keyword"], "")
        await other.watches.add(f"Who is {SECRET}?", name="hidden")
        await other.sources.add("kettles", f"https://{SECRET}.example/")
        other_key = await server.key("admin", "other")
        async with server.client(other_key) as client:
            job = await client.post(
                "/v1/workspaces/other/documents",
                json={"documents": [{"uri": "other/0", "text": "another text"}]},
                headers={"Idempotency-Key": "guessed"},
            )
            documents = await client.get("/v1/workspaces/other/documents", params={"limit": 1})
            entities = await client.get("/v1/workspaces/other/entities", params={"limit": 1})
        ids = {
            "document": "other/0",
            "documents_cursor": documents.json()["next"],
            "entities_cursor": entities.json()["next"],
            "entity": str(entity.entity.id),
            "relation": str(entity.relations[0].id),
            "passage": str(entity.passages[0].id),
            "community": str(community.id),
            "rule": str(rule.id),
            "suggestion": str(suggestion.id),
            "job": job.json()["id"],
            "question": str(question.id),
            "run": str(run.id),
            "source": "kettles",
            "watch": "hidden",
            "idempotency": "guessed",
        }
        mine_key = await server.key("admin", "mine")
        page = {"Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}
        async with server.client(**page) if has_session else server.client(token or mine_key) as mine:
            if has_session:
                opened = await mine.post("/v1/session", json={"key": mine_key})
                mine.headers["Cookie"] = opened.headers["set-cookie"].partition(";")[0]
            yield Tenants(server, url, mine, mine_key, other_key, ids)


def invented(ids: Mapping[str, str]) -> dict[str, str]:
    """Ids of nothing, of the same form."""
    names = ("entity", "relation", "passage", "community", "rule", "suggestion", "job", "question", "run")
    return {
        **{name: str(uuid4()) for name in names},
        "document": "nowhere",
        "source": "nowhere",
        "watch": "nothing",
        "idempotency": "never-seen",
        **{n: ids[n] for n in ids if n.endswith("cursor")},
    }


def seen(answer: httpx2.Response) -> tuple[Any, ...]:
    """All that a caller can see of an answer, without what is the request's own."""
    own = {"x-request-id", "date", "content-length", "etag"}
    headers = {name: value for name, value in answer.headers.items() if name not in own}
    return answer.status_code, headers, answer.text.replace(answer.headers["x-request-id"], "")


def named(answer: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """The same without the names that the request itself had."""
    status, headers, text = answer
    for name in names:
        text = text.replace(name, "")
    return status, headers, text


def others(url: str, workspace: int) -> dict[str, list[str]]:
    """All rows of a workspace."""
    kept = {table: some for table, some in rows(url).items() if table not in COMMON}
    return {table: [row for row in some if row.startswith(f"({workspace},")] for table, some in kept.items()}


@ways
async def test_a_workspace_of_another_is_one_that_does_not_exist(
    url: str, way: Way, request: pytest.FixtureRequest
) -> None:
    async with two_tenants(url, way, request) as tenants:
        found = await tenants.server.database.find_workspace("other", make=False)
        assert found is not None
        before = others(url, found.id)
        for route in IN_WORKSPACE:
            theirs = await tenants.send(route, "other", tenants.ids)
            nobodys = await tenants.send(route, "nowhere", tenants.ids)
            assert theirs.status_code == 404, (route, theirs.text)
            assert seen(theirs) == seen(nobodys), route
            assert SECRET not in theirs.text
        assert others(url, found.id) == before


@ways
async def test_ids_of_another_are_ids_of_nothing(url: str, way: Way, request: pytest.FixtureRequest) -> None:
    async with two_tenants(url, way, request) as tenants:
        found = await tenants.server.database.find_workspace("other", make=False)
        assert found is not None
        before = others(url, found.id)
        for route in [one for one in IN_WORKSPACE if one != f"DELETE {ROOM}"]:
            guesses, nothing = tenants.ids, invented(tenants.ids)
            theirs = await tenants.send(route, "mine", guesses)
            again = await tenants.send(route, "mine", nothing)
            assert theirs.status_code == again.status_code, route
            assert theirs.status_code < 500, (route, theirs.text)
            if theirs.status_code >= 400:
                left = named(seen(theirs), *guesses.values()), named(seen(again), *nothing.values())
                assert left[0] == left[1], route
            assert "Pemba" not in theirs.text, route
            assert "island" not in theirs.text.lower(), route
        assert others(url, found.id) == before
        for route in ("documents", "entities"):
            answer = await tenants.mine.get(
                f"/v1/workspaces/mine/{route}", params={"cursor": tenants.ids[f"{route}_cursor"]}
            )
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


async def test_tools_tell_nothing_of_another(url: str) -> None:
    assert TOOL_ARGUMENTS.keys() == {tool.name for tool in TOOLS}
    async with two_tenants(url) as tenants:
        for name, arguments in TOOL_ARGUMENTS.items():
            answers = []
            for ids in (tenants.ids, invented(tenants.ids)):
                params = {"name": name, "arguments": tenants.filled(arguments, ids)}
                answer = await tenants.mine.post(
                    "/v1/workspaces/mine/mcp",
                    json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
                    headers={"Accept": "application/json, text/event-stream"},
                )
                assert answer.status_code == 200, answer.text
                text = json.dumps(answer.json()["result"])
                for id_ in ids.values():
                    text = text.replace(id_, "")
                assert "Pemba" not in text, name
                assert "island" not in text.lower(), name
                answers.append(re.sub(r"<<<[0-9a-f]{12}|[0-9a-f]{12}>>>", "", text))
            assert answers[0] == answers[1], name
        for uri in ("other/0", "nowhere"):
            read = {"method": "resources/read", "params": {"uri": f"trueweave://documents/{quote(uri, safe='')}"}}
            answer = await tenants.mine.post(
                "/v1/workspaces/mine/mcp",
                json={"jsonrpc": "2.0", "id": 1, **read},
                headers={"Accept": "application/json, text/event-stream"},
            )
            assert "error" in answer.json(), answer.text


async def test_an_idempotency_key_of_another_is_a_new_one(url: str) -> None:
    async with two_tenants(url) as tenants:
        body = {"documents": [{"uri": "other/0", "text": "another text"}]}
        answer = await tenants.mine.post(
            "/v1/workspaces/mine/documents", json=body, headers={"Idempotency-Key": "guessed"}
        )
        assert answer.status_code == 202
        assert "idempotent-replayed" not in answer.headers
        assert answer.json()["id"] != tenants.ids["job"]
        # Two keys for the same workspace are two callers.
        second = await tenants.server.key("write", "other")
        async with tenants.server.client(second) as client:
            answer = await client.post(
                "/v1/workspaces/other/documents", json=body, headers={"Idempotency-Key": "guessed"}
            )
            assert answer.json()["id"] != tenants.ids["job"]


@pytest.mark.parametrize("way", ["direct", "token", "session"])
async def test_what_is_outside_of_workspaces_tells_of_ones_own(url: str, way: Way) -> None:
    async with two_tenants(url, way) as tenants:
        listed = await tenants.mine.get("/v1/workspaces")
        assert [one["name"] for one in listed.json()["items"]] == ["mine"]
        models = await tenants.mine.get("/v1/models")
        assert {one["id"].split("/")[1] for one in models.json()["data"]} == {"mine"}
        tags = await tenants.mine.get("/api/tags")
        assert {one["name"].split("/")[1] for one in tags.json()["models"]} == {"mine"}
        keys = await tenants.mine.get("/v1/keys")
        assert [one["workspaces"] for one in keys.json()["items"]] == [["mine"]]
        prefix = tenants.other_key.split("_")[1]
        said = {"role": "user", "content": "?"}
        for method, path, json_ in (
            ("POST", "/v1/keys", {"name": "k", "workspaces": ["{name}"]}),
            (
                "POST",
                "/v1/chat/completions",
                {"model": "trueweave/{name}", "messages": [said]},
            ),
            ("POST", "/api/chat", {"model": "trueweave/{name}", "messages": [said]}),
            ("POST", "/v1/workspaces", {"name": "{name}"}),
        ):
            answers = [
                await tenants.mine.request(method, path, json=tenants.filled(json_, {"name": name}))
                for name in ("other", "nowhere")
            ]
            assert answers[0].status_code in (403, 404)
            assert seen(answers[0]) == seen(answers[1]), path
        revoked = [await tenants.mine.delete(f"/v1/keys/{one}") for one in (prefix, "0" * 12)]
        assert seen(revoked[0]) == seen(revoked[1])
        async with tenants.server.client(tenants.other_key) as other:
            assert (await other.get("/v1/workspaces")).status_code == 200, "the key is still valid"


@pytest.mark.parametrize("scope", ["read", "write"])
async def test_a_key_without_the_scope_learns_nothing_of_another_workspace(url: str, scope: Any) -> None:
    async with (
        two_tenants(url) as tenants,
        tenants.server.client(await tenants.server.key(scope, "mine")) as client,
    ):
        for name in ("other", "nowhere"):
            assert (await client.put(f"/v1/workspaces/{name}/budget", json={})).status_code == 404
        assert (await client.put("/v1/workspaces/mine/budget", json={})).status_code == 403
        assert (await client.get("/v1/keys")).status_code == 403
