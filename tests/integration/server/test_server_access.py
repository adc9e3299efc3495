"""Who may do what at the server: keys, scopes, workspaces, what is logged, and what nobody is told."""

import asyncio
import base64
import inspect
import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.integration.proxies import Proxy
from tests.integration.serving import fill, serving
from trueweave import Settings, TrueweaveError
from trueweave.core import errors
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.server import problems
from trueweave.store.postgres.access import api_keys, audit
from trueweave.store.postgres.access.audit import AuditEntry

WORKSPACE = "/v1/workspaces/mine"


async def test_a_request_needs_a_key_that_is_valid(url: str) -> None:
    async with serving(url) as server:
        key = await server.key("read")
        expired = await api_keys.make(server.database, "old", "admin", None, datetime.now(UTC) - timedelta(seconds=1))
        prefix, secret = key.removeprefix("twk_").split("_", 1)
        wrong = [
            "",
            "nonsense",
            expired.token,
            f"twk_{prefix}_{secret[::-1]}",
            f"twk_{'0' * 12}_{secret}",
            key[:-1],
        ]
        answers = []
        for token in wrong:
            async with server.client(token) as client:
                answer = await client.get("/v1/workspaces")
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
                assert answer.headers["content-type"] == "application/problem+json"
                answers.append({**answer.json(), "request_id": ""})
        assert all(one == answers[0] for one in answers), "nobody learns what is wrong with a key"
        async with server.client(key) as client:
            assert (await client.get("/v1/workspaces")).status_code == 200
            assert (await client.get("/v1/version")).json()["version"]
            await api_keys.revoke(server.database, prefix)
            server.app.state.services.keys.forget(prefix)
            assert (await client.get("/v1/workspaces")).status_code == 401
        async with server.client() as client:
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            assert (await client.get("/readyz")).json() == {"status": "ready"}
            assert (await client.get("/v1/openapi.json")).json()["openapi"].startswith("3.1")


async def test_nothing_of_a_secret_is_kept(url: str, database: Database) -> None:
    made = await api_keys.make(database, "somebody", "read", None)
    secret = made.token.split("_", 2)[2]
    with psycopg.connect(url) as connection:
        [(row,)] = connection.execute("SELECT k::text FROM trueweave.api_key k").fetchall()
    assert secret not in row
    assert len(secret) == 43  # 256 bits
    [found] = await api_keys.find(database, [made.token])
    assert found is not None
    assert (found.prefix, found.scope, found.workspaces) == (made.prefix, "read", None)
    [listed] = await api_keys.listed(database, 10)
    assert listed.last_used is not None
    with pytest.raises(ConfigError, match="needs a name"):
        await api_keys.make(database, " ", "read", None)


async def test_a_scope_includes_those_below_it(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        for scope, expected in (("read", (200, 403, 403)), ("write", (200, 200, 403)), ("admin", (200, 200, 200))):
            async with server.client(await server.key(scope, "mine")) as client:  # type: ignore[arg-type]
                found = (
                    await client.get(f"{WORKSPACE}/documents"),
                    await client.post(f"{WORKSPACE}/documents/delete", json={"uris": ["nothing"]}),
                    await client.put(f"{WORKSPACE}/budget", json={"tokens": 10}),
                )
                assert tuple(one.status_code for one in found) == expected
                if scope == "read":
                    told = found[1].json()
                    assert told["code"] == "forbidden"
                    assert told["detail"] == "This needs the scope write; the key has read."


async def test_keys_are_managed_by_who_may_administer(url: str) -> None:
    async with serving(url) as server:
        for name in ("mine", "other"):
            await server.database.find_workspace(name, make=True)
        async with server.client(await server.key("admin")) as everything:
            made = await everything.post("/v1/keys", json={"name": "a", "scope": "admin", "workspaces": ["mine"]})
            assert made.status_code == 201
            mine = made.json()
            assert mine["key"].startswith(f"twk_{mine['prefix']}_")
            other = (await everything.post("/v1/keys", json={"name": "b", "workspaces": ["other"]})).json()
            first = (await everything.get("/v1/keys", params={"limit": 2})).json()
            rest = (await everything.get("/v1/keys", params={"limit": 2, "cursor": first["next"]})).json()
            assert [one["name"] for one in first["items"] + rest["items"]] == ["test admin", "a", "b"]
            assert rest["next"] is None
            assert mine["key"] not in str(first)
            unknown = await everything.post("/v1/keys", json={"name": "c", "workspaces": ["nowhere"]})
            assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_workspace")
        async with server.client(mine["key"]) as client:
            hidden = await client.post("/v1/keys", json={"name": "d", "workspaces": ["other"]})
            nowhere = await client.post("/v1/keys", json={"name": "d", "workspaces": ["nowhere"]})
            assert {**hidden.json(), "request_id": ""} == {**nowhere.json(), "request_id": ""}
            assert [one["name"] for one in (await client.get("/v1/keys")).json()["items"]] == ["a"]
            assert (await client.delete(f"/v1/keys/{other['prefix']}")).status_code == 404
            assert (await client.post("/v1/workspaces", json={"name": "new"})).status_code == 403
            narrowed = (await client.post("/v1/keys", json={"name": "e", "expires_in_days": 1})).json()
            listed = (await client.get("/v1/keys")).json()["items"]
            assert [one["workspaces"] for one in listed] == [["mine"], ["mine"]]
            assert (await client.delete(f"/v1/keys/{narrowed['prefix']}")).json() == {"revoked": narrowed["prefix"]}
        async with server.client(narrowed["key"]) as client:
            assert (await client.get("/v1/workspaces")).status_code == 401


async def test_a_key_gives_no_groups_that_it_does_not_have(url: str) -> None:
    async with serving(url) as server:
        async with server.client(await server.key("admin")) as client:
            made = await client.post("/v1/keys", json={"name": "all", "scope": "admin", "groups": ["*"]})
            assert made.status_code == 201
            assert (await client.get("/v1/me")).json()["groups"] == []
            listed = (await client.get("/v1/keys")).json()["items"]
            assert [one["groups"] for one in listed] == [[], ["*"]]
            bad = await client.post("/v1/keys", json={"name": "bad", "groups": [" hr"]})
            assert (bad.status_code, bad.json()["code"]) == (422, "invalid_argument")
        async with server.client(await server.key("admin", "mine", groups=["hr", "it"])) as client:
            for groups in (["*"], ["hr", "legal"]):
                refused = await client.post("/v1/keys", json={"name": "more", "groups": groups})
                assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
                assert f"cannot give the groups {groups[-1]}" in refused.json()["detail"]
            made = await client.post("/v1/keys", json={"name": "fewer", "groups": ["hr", "hr"]})
            assert made.status_code == 201
        async with server.client(made.json()["key"]) as client:
            assert (await client.get("/v1/me")).json()["groups"] == ["hr"]
        async with server.client(await server.key("admin", "mine", groups=["*"])) as client:
            assert (await client.post("/v1/keys", json={"name": "any", "groups": ["legal"]})).status_code == 201


async def test_of_two_who_make_a_workspace_the_second_learns_that_it_exists(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin")) as client:
        other = await psycopg.AsyncConnection.connect(url)
        async with other:
            await other.execute("SELECT trueweave.open_workspace('mine', true, 'exact')")
            making = asyncio.create_task(client.post("/v1/workspaces", json={"name": "mine"}))
            await _until_one_waits(url)
            await other.commit()
            answer = await making
        assert (answer.status_code, answer.json()["code"]) == (409, "workspace_exists")


async def _until_one_waits(url: str) -> None:
    """Until a statement of another connection waits for a transaction to end."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid' AND datname = current_database()"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as watching, asyncio.timeout(60):
        while (await (await watching.execute(query)).fetchone()) != (1,):
            await watching.execute("SELECT pg_sleep(0.01)")


async def test_an_admin_of_some_workspaces_makes_and_drops_none(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("admin", "mine")) as client:
            for answer in (
                await client.post("/v1/workspaces", json={"name": "new"}),
                await client.delete(WORKSPACE),
            ):
                assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
            assert (await client.delete("/v1/workspaces/other")).status_code == 404
            assert (await client.get(WORKSPACE)).json()["status"]["documents"] == 1


async def test_a_workspace_that_no_workspace_can_be_called_is_a_bad_request(url: str) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with serving(url) as server, server.client(await server.key("read")) as client:
        for name in ("%00", "a%00b", "a" * 201):
            answer = await client.post(f"/v1/workspaces/{name}/mcp", json=ping, headers=accept)
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_workspace")
            assert (await client.get(f"/v1/workspaces/{name}")).status_code == 422
            chat = {"model": f"trueweave/{name}", "messages": [{"role": "user", "content": "Hello?"}]}
            assert (await client.post("/v1/chat/completions", json=chat)).status_code in (400, 404)


LISTS = ("documents", "entities", "relations")
ODD: tuple[Any, ...] = ("\x00", "\ud800", 2**63, -(2**70), 1e308, float("nan"), None, [], {}, True)
ODD_DATES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


async def test_a_changed_cursor_is_a_bad_request(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin")) as client:
        await fill(server.database, "mine", "Byron wrote.", "Babbage built.")
        await fill(server.database, "other")
        await server.key("read")
        for path in (*(f"{WORKSPACE}/{one}" for one in LISTS), "/v1/workspaces", "/v1/keys"):
            listed = (await client.get(path, params={"limit": 1})).json()
            for cursor in _changed(listed["next"], ODD_DATES if path == "/v1/keys" else ()):
                answer = await client.get(path, params={"limit": 1, "cursor": cursor})
                assert answer.status_code == 400, (path, base64.urlsafe_b64decode(cursor))
                assert answer.json()["code"] == "invalid_cursor"
            follow = await client.get(path, params={"limit": 1, "cursor": listed["next"]})
            assert follow.status_code == 200
            assert follow.json()["items"] != listed["items"]


def _changed(cursor: str, odd_firsts: Sequence[str]) -> Iterator[str]:
    """The cursor with each part of its position replaced by something odd."""
    tag, position = json.loads(base64.urlsafe_b64decode(cursor))
    parts = position if isinstance(position, list) else [position]
    odd = [*itertools.product(range(len(parts)), ODD), *((0, one) for one in odd_firsts)]
    for n, put in odd:
        changed = [*parts[:n], put, *parts[n + 1 :]]
        packed = json.dumps([tag, changed if isinstance(position, list) else put])
        yield base64.urlsafe_b64encode(packed.encode()).decode()


async def test_what_is_wrong_with_the_settings_is_told_to_the_operator_alone(
    url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tool = {"name": "ask", "arguments": {"question": "Whom did Ada work with?", "method": "keyword"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    accept = {"Accept": "application/json, text/event-stream"}
    asked = {"question": "Whom did Ada work with?", "method": "keyword"}
    async with serving(url, model="openai/any") as server:
        await fill(server.database, "mine")
        for key in (await server.key("read"), await server.key("admin", "mine")):
            async with server.client(key, **{"X-Request-Id": "mine-1"}) as client:
                answer = await client.post(f"{WORKSPACE}/ask", json=asked)
                assert (answer.status_code, answer.json()["code"]) == (409, "not_configured")
                streamed = await client.post(f"{WORKSPACE}/ask", json=asked, headers={"Accept": "text/event-stream"})
                by_agent = await client.post(f"{WORKSPACE}/mcp", json=call, headers=accept)
                chat = {"model": "trueweave/mine/keyword", "messages": [{"role": "user", "content": "Whom?"}]}
                chatted = await client.post("/v1/chat/completions", json=chat)
                for one in (answer, streamed, by_agent, chatted):
                    assert "not set up for this" in one.text
                    assert "OPENAI_API_KEY" not in one.text
        logged = [one for one in caplog.records if "OPENAI_API_KEY" in one.getMessage()]
        assert len(logged) == 8
        assert {getattr(one, "request", "") for one in logged} == {"mine-1"}
        async with server.client(await server.key("admin")) as client:
            answer = await client.post(f"{WORKSPACE}/ask", json=asked)
            assert (answer.status_code, answer.json()["code"]) == (409, "not_configured")
            assert "OPENAI_API_KEY" in answer.json()["detail"]


async def test_workspaces_are_made_and_dropped(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin")) as client:
        assert (await client.post("/v1/workspaces", json={"name": "mine"})).status_code == 201
        again = await client.post("/v1/workspaces", json={"name": "mine"})
        assert (again.status_code, again.json()["code"]) == (409, "workspace_exists")
        await fill(server.database, "mine")
        found = (await client.get(WORKSPACE)).json()
        assert (found["name"], found["status"]["documents"], found["has_model"]) == ("mine", 1, False)
        assert [one["name"] for one in (await client.get("/v1/workspaces")).json()["items"]] == ["mine"]
        assert (await client.delete(WORKSPACE)).json() == {"dropped": "mine", "documents": 1}
        assert (await client.get(WORKSPACE)).status_code == 404
        assert (await client.post("/v1/workspaces", json={"name": "mine"})).status_code == 201
        assert (await client.get(WORKSPACE)).json()["status"]["documents"] == 0


async def test_a_key_for_a_dropped_workspace_is_not_one_for_its_successor(url: str) -> None:
    async with serving(url) as server:
        old = await server.key("read", "mine")
        async with server.client(await server.key("admin")) as client:
            await client.delete(WORKSPACE)
            await client.post("/v1/workspaces", json={"name": "mine"})
        async with server.client(old) as client:
            assert (await client.get(WORKSPACE)).status_code == 404
            assert (await client.get("/v1/workspaces")).json() == {"items": [], "next": None}


async def test_writes_and_refusals_are_audited(url: str) -> None:
    async with serving(url) as server:
        await server.database.find_workspace("other", make=True)
        key = await server.key("write", "mine")
        async with server.client(key, **{"X-Request-Id": "my-request"}) as client:
            answer = await client.post(f"{WORKSPACE}/documents/delete", json={"uris": ["secret-uri"]})
            assert answer.headers["x-request-id"] == "my-request"
            await client.get(f"{WORKSPACE}/documents")
            await client.get("/v1/workspaces/other/documents")
            await client.put(f"{WORKSPACE}/budget", json={})
        async with server.client() as client:
            answer = await client.get("/v1/workspaces", headers={"X-Request-Id": "bad id\tx" * 20})
            assert len(answer.headers["x-request-id"]) == 32
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT caller, method, route, workspace, status FROM trueweave.audit_log ORDER BY id"
        ).fetchall()
    who = key.split("_")[1]
    mine = 2
    assert rows == [
        (who, "POST", "/v1/workspaces/{workspace}/documents/delete", mine, 200),
        (who, "GET", "/v1/workspaces/{workspace}/documents", None, 404),
        (who, "PUT", "/v1/workspaces/{workspace}/budget", mine, 403),
        ("", "GET", "(none)", None, 401),
    ]


async def test_the_audit_log_is_pruned(url: str, database: Database) -> None:
    now = datetime.now(UTC)
    entries = [AuditEntry(now - timedelta(days=days), "r", "k", "GET", "/", None, 200) for days in (0, 40, 50)]
    await audit.write(database, entries)
    await audit.prune(database, timedelta(days=30))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.audit_log").fetchone() == (1,)


def test_every_error_has_a_status_and_a_code() -> None:
    known = {one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, TrueweaveError)}
    assert set(problems.KINDS) == known


async def test_what_is_inside_stays_inside(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """A bug and a database that is away tell a caller no more than that, and a log all."""
    async with serving(url) as server, server.client(await server.key("read")) as client:

        @server.app.get("/v1/bug")
        async def bug() -> None:
            raise RuntimeError("the password is swordfish")

        @server.app.get("/v1/away")
        async def away() -> None:
            raise errors.DatabaseUnavailable("postgresql://db.internal:5432 did not answer")

        found = await client.get("/v1/bug")
        assert (found.status_code, found.json()["code"]) == (500, "internal")
        assert found.json()["request_id"] == found.headers["x-request-id"]
        assert "swordfish" not in found.text
        found = await client.get("/v1/away")
        assert (found.status_code, found.json()["code"], found.headers["retry-after"]) == (
            503,
            "database_unavailable",
            "5",
        )
        assert "db.internal" not in found.text
        assert "db.internal" in caplog.text
        found = await client.get("/v1/nowhere")
        assert (found.status_code, found.json()["code"]) == (404, "not_found")
        found = await client.post("/v1/keys/0", json={})
        assert (found.status_code, found.json()["title"]) == (405, "Method Not Allowed")


async def test_a_workspace_is_closed_when_others_are_used(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read")) as client:
        open_workspaces = server.app.state.services.workspaces
        open_workspaces._most = 2
        for n in range(5):
            await server.database.find_workspace(f"w{n}", make=True)
        await asyncio.gather(*(client.get(f"/v1/workspaces/w{n}") for n in range(5)))
        await client.get("/v1/workspaces/w0")
        assert len(open_workspaces) == 2


def test_the_limit_of_uploads_is_of_the_process() -> None:
    with pytest.raises(ConfigError, match="not a setting of a workspace"):
        Settings().over({"max_upload_bytes": 1})


async def test_a_server_lives_without_its_database_and_is_not_ready(url: str) -> None:
    proxy = Proxy(url)
    async with proxy.serve(), serving(proxy.url) as server, server.client() as client:
        proxy.freeze()
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        proxy.thaw()
        assert (await client.get("/readyz")).status_code == 200


async def test_a_key_that_asks_too_much_is_told_when_to_ask_again_and_others_are_not_held_up(url: str) -> None:
    async with serving(url, key_requests_per_minute=3) as server:
        async with server.client(await server.key("read")) as client:
            answers = [await client.get("/v1/version") for _ in range(4)]
            assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
            assert answers[-1].headers["retry-after"] == "20"
            assert answers[-1].json()["code"] == "too_many_requests"
            assert (await client.get("/healthz")).status_code == 200
        async with server.client(await server.key("read")) as another:
            assert (await another.get("/v1/version")).status_code == 200


async def test_callers_learn_who_they_are(url: str) -> None:
    async with serving(url, key_tokens_per_day=500) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            answer = await client.get("/v1/me")
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
            me = answer.json()
            assert (me["name"], me["scope"], me["identified_by"]) == ("test write", "write", "key")
            assert (me["all_workspaces"], me["max_tokens_per_day"], me["max_spend_per_day"]) == (False, 500, None)
            assert (me["tokens_today"], float(me["spend_today"])) == (0, 0)
        async with server.client(await server.key("admin")) as client:
            assert (await client.get("/v1/me")).json()["all_workspaces"]
        async with server.client() as client:
            assert (await client.get("/v1/me")).status_code == 401
