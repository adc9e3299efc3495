"""What a key, a token or a session with groups gets from each path and tool of the server: what it would get from a
workspace that has the visible documents alone, or a refusal. A path or tool that is added without a case fails."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from tests.identity import AUDIENCE, issuing
from tests.integration.server.test_isolation import ELSEWHERE, IN_WORKSPACE, ROOM, TOOL_ARGUMENTS, routes
from tests.integration.serving import Served, serving
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.mcp.tools import TOOLS
from trueweave.server.app import create_app
from trueweave.server.local_login import LocalLogin
from trueweave.server.origins import COOKIE
from trueweave.store.postgres.access import sessions
from trueweave.testing.model_server import ModelServer
from trueweave.testing.model_server.scripts import Asked
from trueweave.testing.tables import rows

GROUPS = ["legal"]
HIDDEN = "hush"  # part of every name, uri and text that the caller does not see
ISLAND, SHIP = "Zanzibar", "Kipanga"

# Paths that change something, or show what is made from all documents. All others are exact.
REFUSED = {
    f"{ROOM}/activity",
    f"{ROOM}/events",
    f"{ROOM}/documents/failed",
    f"{ROOM}/documents/export",
    f"{ROOM}/document/status",
    f"{ROOM}/estimate",
    f"{ROOM}/estimate/files",
    f"{ROOM}/map",
    f"{ROOM}/rules/mentioned",
    f"{ROOM}/rules/resolution",
    f"{ROOM}/settings",
    f"{ROOM}/checks",
    f"{ROOM}/budget",
    *(
        one.split(" ")[1]
        for one in IN_WORKSPACE
        if re.search(r"}/(access|bench|communities|history|jobs|sources|spend|watches)", one)
    ),
} - {f"{ROOM}/bench/methods"}
# Reading paths under the paths of rules, and those that only read although they are sent by POST.
READ_BY_POST = {"ask", "retrieve", "search", "compare", "subgraph", "recall", "mcp"}
REFUSED_TOOLS = {"report", "remember", "forget"}
# What differs between two workspaces with the same documents, and what depends on all documents: see the promise in
# docs/adr/0056-access-rights.md.
LEFT_OUT = {
    "request_id",
    "added",
    "made",
    "created",
    "seconds",
    "next",
    "next_cursor",
    "score",
    "scores",
    "steps",
    "statements",
}
# Whether a method can be used depends on the caller.
OF_METHODS = {"problem", "usable"}


def is_refused(route: str) -> bool:
    method, path = route.split(" ")
    writes = method != "GET" and path.rpartition("/")[2] not in READ_BY_POST
    return writes or path in REFUSED or path == f"{ROOM}/rules" or path.startswith(f"{ROOM}/rules/")


def test_every_path_and_tool_has_a_case() -> None:
    assert set(routes(create_app().routes)) == IN_WORKSPACE.keys() | ELSEWHERE
    assert {tool.name for tool in TOOLS} == TOOL_ARGUMENTS.keys()


def said(uri: str, text: str, *names: str, links: tuple[Link, ...] = (), **more: Any) -> Document:
    mentions = tuple(Mention(name, "thing", f"{name} in {uri}") for name in names)
    return Document(uri, (Chunk(text, mentions=mentions, links=links),), **more)


VISIBLE = [
    said("other/0", f"{ISLAND} is an island near {SHIP}.", ISLAND, SHIP, links=(Link(ISLAND, SHIP, "near", ("sea",)),)),
    said("other/1", f"The {SHIP} sailed to {ISLAND} with tea.", ISLAND, SHIP, "tea", readers=("legal",)),
    said("memory:1", f"{ISLAND} has cloves.", ISLAND, "cloves", links=(Link(ISLAND, "cloves", "grows", ("farming",)),)),
]
INVISIBLE = [
    said("hush/0", f"The hush of {ISLAND} is secret.", ISLAND, "hush plan", readers=("hr",)),
    said(
        "hush/1",
        f"Captain Hush of the {SHIP} met the hush plan in {ISLAND}.",
        SHIP,
        ISLAND,
        "Captain Hush",
        "hush plan",
        links=(
            Link(SHIP, ISLAND, "hush route", ("hush",)),
            Link("Captain Hush", "hush plan", "hush"),
            Link(ISLAND, "hush plan", "hush sea", ("sea",)),  # contradicts what is visible
        ),
        readers=("hr",),
        title="Hush hush",
        metadata={"kind": "hush"},
    ),
    said("memory:hush", f"{ISLAND} is hush.", ISLAND, "Zanzibaar hush", readers=("board",)),
]


@dataclass(frozen=True)
class Circles:
    """A server with a workspace `mine`, of which the caller sees a part, and a workspace `seen` that is this part.
    `client` has an admin key in the groups of the caller. It is sent to `mine`, and `whole`, which reads all documents,
    to `seen`."""

    server: Served
    url: str
    client: httpx2.AsyncClient
    whole: httpx2.AsyncClient
    visible: Mapping[str, Mapping[str, str]]
    hidden: Mapping[str, str]
    written: Mapping[str, str]

    def shown(self, answer: httpx2.Response) -> tuple[int, Any]:
        """What an answer says, with names in place of ids."""
        return answer.status_code, plain(json.loads(self.named(answer.text)))

    def named(self, text: str) -> str:
        text = text.replace('"name":"mine"', '"name":"seen"')
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lambda id_: self.written.get(id_[0], id_[0]), text)
        begun = {id_[:8]: name for id_, name in self.written.items()}
        return re.sub(r"\b[0-9a-f]{8}\b", lambda id_: begun.get(id_[0], id_[0]), text)

    def of(self, workspace: str) -> httpx2.AsyncClient:
        return self.client if workspace == "mine" else self.whole

    async def send(self, route: str, workspace: str, ids: Mapping[str, str]) -> httpx2.Response:
        case, (method, path) = IN_WORKSPACE[route], route.split(" ")
        return await self.of(workspace).request(
            method,
            filled(path, {"workspace": workspace, "n": "0", **ids}),
            params=filled(dict(case.params), ids),
            json=filled(case.json, ids),
            files=case.files,
            content=case.content,
            headers=filled(dict(case.headers), ids),
        )

    async def call(self, workspace: str, method: str, **params: Any) -> Any:
        answer = await self.of(workspace).post(
            f"/v1/workspaces/{workspace}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers={"Accept": "application/json, text/event-stream"},
        )
        assert answer.status_code == 200, answer.text
        assert HIDDEN not in re.sub("hush/[01]", "", answer.text.lower()), params  # before ids that were sent are named
        return json.loads(self.named(answer.text))


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, id_ in ids.items():
            value = value.replace(f"{{{name}}}", id_)
        return value
    if isinstance(value, dict):
        return {filled(key, ids): filled(one, ids) for key, one in value.items() if "cursor" not in key}
    return [filled(one, ids) for one in value] if isinstance(value, list) else value


async def ids_of(index: AsyncTrueweave, document: str, entity: str) -> dict[str, str]:
    """What a guess could name: ids of a document and an entity, and of its relation and passage."""
    found = await index.graph.entity(entity)
    made = {name: str(uuid4()) for name in ("community", "rule", "suggestion", "job", "question", "run")}
    return {
        **made,
        "document": document,
        "entity": str(found.entity.id),
        "relation": str(found.relations[0].id),
        "passage": str(found.passages[0].id),
        "source": "kettles",
        "idempotency": "guessed",
    }


@asynccontextmanager
async def circles(url: str, **settings: Any) -> AsyncIterator[Circles]:
    settings["functional_relations"] = {"sea": "one target"}
    async with serving(url, extractor="capitals", embedding_model=None, **settings) as server:
        mine = await AsyncTrueweave.enter(server.database, "mine")
        seen = await AsyncTrueweave.enter(server.database, "seen")
        await mine.add_documents([*INVISIBLE, *VISIBLE])
        await seen.add_documents(VISIBLE)
        visible = {"mine": await ids_of(mine, "other/0", ISLAND), "seen": await ids_of(seen, "other/0", ISLAND)}
        visible["mine"]["passage"] = visible["seen"]["passage"]
        [relation] = {name for id_, name in (await written_ids(seen)).items() if id_ == visible["seen"]["relation"]}
        visible["mine"]["relation"] = {name: id_ for id_, name in (await written_ids(mine)).items()}[relation]
        hidden = await ids_of(mine, "hush/1", "Captain Hush")
        written = await written_ids(mine) | await written_ids(seen)
        async with (
            server.client(await server.key("admin", groups=GROUPS)) as client,
            server.client(await server.key("admin", groups=["*"])) as whole,
        ):
            yield Circles(server, url, client, whole, visible, hidden, written)


async def written_ids(index: AsyncTrueweave) -> dict[str, str]:
    """The ids of entities and relations, which are others in each workspace, with names that are the same in all."""
    names = {str(one.id): one.name for one in await index.graph.entities()}
    ends = {str(one.id): f"{one.source_name} to {one.target_name}" for one in await index.graph.relations()}
    return names | ends


def plain(value: Any) -> Any:
    """A response without what may differ. The order of results may depend on all documents."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in LEFT_OUT | OF_METHODS}
    if isinstance(value, str):
        return sorted(re.sub(r"<<<[0-9a-f]{12}|[0-9a-f]{12}>>>", "", value).splitlines())
    return sorted(map(plain, value), key=str) if isinstance(value, list) else value


def invented(ids: Mapping[str, str]) -> dict[str, str]:
    names = ("entity", "relation", "passage")
    return {**ids, **{name: str(uuid4()) for name in names}, "document": "nowhere"}


async def test_each_path_is_exact_or_refused(url: str) -> None:
    async with circles(url) as found:
        before, wrong = rows(url), list[str]()
        for route in IN_WORKSPACE:
            answer = await found.send(route, "mine", found.visible["mine"])
            assert HIDDEN not in answer.text.lower(), route
            if is_refused(route):
                if (answer.status_code, answer.json().get("code")) != (403, "not_for_restricted"):
                    wrong.append(f"{route} is not refused: {answer.status_code} {answer.text[:300]}")
                continue
            same = await found.send(route, "seen", found.visible["seen"])
            if answer.status_code != 200 or found.shown(answer) != found.shown(same):
                wrong.append(f"{route} is not exact:\n  {answer.status_code} {answer.text}\n  {same.text}")
        assert not wrong, "\n".join(wrong)
        changed = {table for table, some in rows(url).items() if some != before[table]}
        assert changed <= {"trueweave.audit_log", "trueweave.api_key", "trueweave.caller_usage"}


# Look-ups in other ways than those of the cases. Each is read page by page.
LOOK_UPS: tuple[tuple[str, dict[str, str]], ...] = (
    ("documents", {"total": "true"}),
    ("documents", {"order": "added", "state": "any"}),
    ("documents", {"prefix": "other/", "since": "2020-01-01T00:00:00Z", "total": "true"}),
    ("documents", {"filter": json.dumps({"none_of": [{"uris": ["hush/1"]}]})}),
    ("documents", {"filter": json.dumps({"metadata": {"kind": "hush"}}), "total": "true"}),
    ("document", {"uri": "other/1"}),
    ("document/mentions", {"uri": "other/1"}),
    ("entities", {"type": "thing"}),
    ("entities/search", {"text": "sea island hush plan"}),
    ("entities/complete", {"text": "h"}),
    ("entity", {"name": SHIP, "passages": "100", "relations": "100"}),
    ("entity/mentions", {"name": SHIP}),
    ("entity/mentions", {"name": ISLAND, "document": "hush/1"}),
    ("entity/documents", {"name": SHIP}),
    ("relations", {}),
    ("relations/search", {"text": "hush route"}),
    ("neighbours", {"entity": "cloves", "hops": "3"}),
    ("around", {"entity": ISLAND, "document": "hush/1"}),
    ("path", {"start": "cloves", "end": SHIP}),
    ("path", {"start": "tea", "end": ISLAND}),
    ("picture", {"entity": "cloves", "to": SHIP}),
    ("types", {}),
)


async def test_look_ups_are_exact_page_by_page(url: str) -> None:
    async with circles(url) as found:
        for path, params in LOOK_UPS:
            pages = {workspace: await paged(found, workspace, path, params) for workspace in ("mine", "seen")}
            assert pages["mine"] == pages["seen"], (path, params)
            shown = json.dumps(pages["mine"]).replace("there is no document 'hush/1'", "")  # which the request names
            assert "hush" not in shown, (path, params)


async def paged(found: Circles, workspace: str, path: str, params: Mapping[str, str]) -> list[Any]:
    """All pages of a list, each with one item; or what else is found."""
    pages, cursor, limit = [], "", {"limit": "1"} if path != "around" and path != "picture" else {}
    while True:
        answer = await found.of(workspace).get(
            f"/v1/workspaces/{workspace}/{path}", params={**params, **limit, **({"cursor": cursor} if cursor else {})}
        )
        assert answer.status_code in (200, 404), answer.text
        pages.append(found.shown(answer))
        cursor = answer.json().get("next") or ""
        if not cursor:
            return sorted(pages, key=str)


async def test_what_is_not_visible_is_what_is_not_there(url: str) -> None:
    async with circles(url) as found:
        for route in IN_WORKSPACE:
            nothing = invented(found.hidden)
            guessed = await found.send(route, "mine", found.hidden)
            missing = await found.send(route, "mine", nothing)
            assert guessed.status_code == missing.status_code, route
            left = plain(guessed.json()), plain(missing.json())
            for one, other in zip(found.hidden.values(), nothing.values(), strict=True):
                left = (
                    json.loads(json.dumps(left[0]).replace(one, "")),
                    json.loads(json.dumps(left[1]).replace(other, "")),
                )
            assert left[0] == left[1], route
        for path, params in (
            ("entity", {"name": "hush plan"}),
            ("entity", {"name": "hush pla"}),
            ("entity", {"name": "Zanzibaar hus"}),
            ("document", {"uri": "hush/"}),
            ("documents", {"prefix": "hush/"}),
            ("entities/complete", {"text": "Captain"}),
            ("entities/search", {"text": "Captain Hush"}),
        ):
            answers = [
                await found.of(one).get(f"/v1/workspaces/{one}/{path}", params=params) for one in ("mine", "seen")
            ]
            assert found.shown(answers[0]) == found.shown(answers[1]), (path, params)
            assert "Captain Hush" not in answers[0].text


async def test_each_tool_is_exact_or_refused(url: str) -> None:
    async with circles(url) as found:
        for name, arguments in TOOL_ARGUMENTS.items():
            nothing = invented(found.hidden)
            for ids in (
                found.visible,
                {"mine": found.hidden, "seen": found.hidden},
                {"mine": nothing, "seen": nothing},
            ):
                result, same = [
                    await found.call(one, "tools/call", name=name, arguments=filled(arguments, ids[one]))
                    for one in ("mine", "seen")
                ]
                if name in REFUSED_TOOLS:
                    assert result["result"]["isError"], name
                    assert "who may not read all documents" in json.dumps(result), name
                else:
                    assert plain(result) == plain(same), name
        listed = [await found.call(one, "resources/list") for one in ("mine", "seen")]
        assert plain(listed[0]) == plain(listed[1])
        for uri in ("other/0", "hush/0", "nowhere"):
            read = {"uri": f"trueweave://documents/{quote(uri, safe='')}"}
            answers = [await found.call(one, "resources/read", **read) for one in ("mine", "seen")]
            assert plain(answers[0]) == plain(answers[1])
            assert ("error" in answers[0]) == (uri != "other/0")


async def test_a_model_is_shown_the_visible_documents_alone(url: str) -> None:
    asked: list[Asked] = []

    def script(one: Asked) -> str:
        asked.append(one)
        return f'{SHIP} sailed to {ISLAND} [1 "sailed to {ISLAND}"].'

    question = f"Who sailed to {ISLAND}, and what is the hush plan?"
    said = [{"role": "user", "content": question}]
    async with (
        ModelServer(script) as model,
        circles(url, model="vllm/any", model_url=model.url, model_tries=1) as found,
    ):
        for method, sent, path in (
            ("keyword", {"question": question}, "ask"),
            ("", {"messages": said, "model": "trueweave/{}/keyword"}, "chat"),
            ("", {"messages": said, "model": "trueweave/{}/keyword", "stream": False}, "ollama"),
        ):
            answers = []
            for workspace in ("mine", "seen"):
                body: dict[str, Any] = {**sent, **({"method": method} if method else {})}
                if "model" in body:
                    body["model"] = body["model"].format(workspace)
                paths = {
                    "ask": f"/v1/workspaces/{workspace}/ask",
                    "chat": "/v1/chat/completions",
                    "ollama": "/api/chat",
                }
                answers.append(await found.of(workspace).post(paths[path], json=body))
            assert [one.status_code for one in answers] == [200, 200], answers[0].text
            assert "Sources" in answers[0].text or '"citations":[{' in answers[0].text
            assert {"hush/", "Captain Hush"}.isdisjoint(re.findall(r"hush/|Captain Hush", answers[0].text))
        streamed = await found.client.post(
            "/v1/workspaces/mine/ask",
            json={"question": question, "method": "keyword"},
            headers={"Accept": "text/event-stream"},
        )
        assert "event: answer" in streamed.text
        assert "hush/" not in streamed.text
        assert asked
        for one in asked:
            assert "hush/" not in str(one.messages)
            assert "Captain Hush" not in str(one.messages)


async def uris(client: httpx2.AsyncClient) -> set[str]:
    answer = await client.post("/v1/workspaces/mine/search", json={"text": ISLAND, "limit": 20})
    assert answer.status_code == 200, answer.text
    return {one["uri"] for one in answer.json()["passages"]}


OPEN = {"other/0", "memory:1"}


@pytest.mark.parametrize(
    ("groups", "seen"),
    [
        ([], OPEN),
        (["unknown"], OPEN),
        (["legal"], {*OPEN, "other/1"}),
        (["hr", "board"], {*OPEN, "hush/0", "hush/1", "memory:hush"}),
        (["*"], {one.uri for one in VISIBLE + INVISIBLE}),
    ],
)
async def test_keys_tokens_and_sessions_read_as_their_groups(url: str, groups: list[str], seen: set[str]) -> None:
    with issuing() as issuer:
        async with circles(
            url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, public_url="https://trueweave.example"
        ) as found:
            server = found.server
            key = await server.key("read", groups=groups)
            for shown_key in (key, issuer.token(trueweave_groups=groups)):
                async with server.client(shown_key) as client:
                    assert await uris(client) == seen
            page = {"Origin": "https://trueweave.example", "Sec-Fetch-Site": "same-origin"}
            async with server.client(**page) as browser:
                opened = await browser.post("/v1/session", json={"key": key})
                browser.headers["Cookie"] = opened.headers["set-cookie"].partition(";")[0]
                assert await uris(browser) == seen
                assert (await browser.get("/v1/me")).json()["groups"] == sorted(groups)
                at_provider = await sessions.open_for_caller(server.database, "ada", "Ada", "read", None, groups)
                browser.headers["Cookie"] = f"{COOKIE}={at_provider.secret}"
                assert await uris(browser) == seen


async def test_who_needs_no_key_reads_all_documents(url: str) -> None:
    every = {one.uri for one in VISIBLE + INVISIBLE}
    async with serving(url, authenticated=False, extractor="capitals", embedding_model=None) as server:
        await (await AsyncTrueweave.enter(server.database, "mine")).add_documents([*VISIBLE, *INVISIBLE])
        async with server.client() as client:
            assert await uris(client) == every
            assert (await client.get("/v1/me")).json()["groups"] == ["*"]
    local = LocalLogin("ada")
    async with serving(url, local=local, extractor="capitals", embedding_model=None) as server:
        port = int(server.url.rpartition(":")[2])
        code = local.address(port).partition("#code=")[2]
        own = f"http://{local.host}:{port}"
        async with server.browser(Host=f"{local.host}:{port}", Origin=own) as browser:
            opened = await browser.post("/v1/session", json={"code": code})
            assert opened.status_code == 201, opened.text
            browser.headers["Cookie"] = opened.headers["set-cookie"].partition(";")[0]
            assert await uris(browser) == every


async def test_a_document_that_gets_readers_is_hidden_at_the_next_request(url: str) -> None:
    async with circles(url) as found, found.server.client(await found.server.key("read")) as reader:
        of_mine = (await found.whole.post("/v1/workspaces/mine/search", json={"text": SHIP})).json()["passages"]
        [passage] = [one["id"] for one in of_mine if one["uri"] == "other/0"]
        path = f"/v1/workspaces/mine/passages?id={passage}"
        first = await reader.get(path)
        assert len(first.json()["passages"]) == 1
        assert (await reader.get(path, headers={"If-None-Match": first.headers["etag"]})).status_code == 304
        rule = {"prefix": "other/", "readers": ["hr"]}
        assert (await found.whole.put("/v1/workspaces/mine/access", json=rule)).status_code == 200
        again = await reader.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.json()["passages"]) == (200, [])
        assert await uris(reader) == {"memory:1"}


async def test_what_concerns_no_workspace_names_no_document(url: str) -> None:
    async with circles(url) as found:
        for route in sorted(ELSEWHERE):
            method, path = route.split(" ")
            if method == "GET" and "{" not in path:
                answer = await found.client.get(path)
                assert answer.status_code < 500
                assert HIDDEN not in answer.text.lower(), route
