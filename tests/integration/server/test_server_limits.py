"""Limits of the server beyond requests: what models may take in a day, questions at once, and bytes of text."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.identity import AUDIENCE, issuing
from tests.integration.server.test_server_questions import ASK, QUESTION, asked, notes, until
from tests.integration.serving import ANSWER, Served, fill, serving
from trueweave import AsyncTrueweave, Chunk, Document, Message, Settings, Source
from trueweave.core.model_calls import Purpose
from trueweave.errors import QuestionTooLong, StorageFull
from trueweave.extend import Database, Prompt
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat
from trueweave.models.question import QuestionLLM
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import KeyLimits
from trueweave.store.postgres.money import caller_usage
from trueweave.store.postgres.record import storage
from trueweave.testing.model_server import Asked, Fault, ModelServer, Trouble
from trueweave.text import tokens

CHAT, ASKED = "trueweave/mine/keyword", {"role": "user", "content": "Whom did Ada work with?"}
PRICED: dict[str, Any] = {"prices": {"vllm/any": (Decimal(1000), Decimal(1000))}}


def question(n: int) -> dict[str, Any]:
    """A question that no reply is kept for."""
    return {**QUESTION, "question": f"Whom did Ada work with in {n}?"}


async def tokens_today(database: Database, caller: str) -> int:
    """The tokens that models took for requests of a caller today."""
    return (await caller_usage.today(database, [caller]))[caller].tokens


async def limited(server: Served, **limits: Any) -> str:
    """A key for the workspace with a limit."""
    found = await server.database.find_workspace("mine", make=True)
    assert found
    return (await api_keys.make(server.database, "limited", "admin", [found.id], None, KeyLimits(**limits))).token


async def test_tokens_of_a_key_are_counted_by_day_over_all_servers(url: str) -> None:
    async with asked(url) as (server, unlimited, model):
        key = await limited(server, tokens_per_day=100)
        async with server.client(key) as client:
            answer = await client.post(ASK, json=question(1))
            assert answer.status_code == 200, answer.text
            usage = answer.json()["usage"]
            [listed] = [one for one in (await client.get("/v1/keys")).json()["items"] if one["name"] == "limited"]
            assert listed["tokens_today"] == usage["tokens_in"] + usage["tokens_out"] >= 100
            assert listed["max_tokens_per_day"] == 100
        async with serving(url, model="vllm/any", model_url=model.url) as other, other.client(key) as client:
            calls = model.calls
            answer = await client.post(ASK, json=question(2))
            assert (answer.status_code, answer.json()["code"]) == (429, "daily_limit_reached")
            assert 0 < int(answer.headers["retry-after"]) <= 86400
            assert model.calls == calls
            streamed = await client.post(ASK, json=question(2), headers={"Accept": "text/event-stream"})
            assert "daily_limit_reached" in streamed.text
            chat = {
                "model": "trueweave/mine/keyword",
                "messages": [{"role": "user", "content": "Whom did Ada meet in London?"}],
            }
            answer = await client.post("/v1/chat/completions", json=chat)
            assert (answer.status_code, answer.json()["error"]["code"]) == (429, "daily_limit_reached")
            tool = {"name": "ask", "arguments": {"question": "Who worked in London?", "method": "keyword"}}
            called = await client.post(
                "/v1/workspaces/mine/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool},
                headers={"Accept": "application/json, text/event-stream"},
            )
            assert "tokens that this caller has for a day are used" in called.text
            free = await client.post("/v1/workspaces/mine/retrieve", json=question(3))
            assert free.status_code == 200, "what needs no model is answered"
            again = await client.post(ASK, json=question(1))
            assert again.status_code == 200, "a reply that was kept costs nothing"
        assert (await unlimited.post(ASK, json=question(4))).status_code == 200
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE trueweave.caller_usage SET day = day - 1")
        async with server.client(key) as client:
            assert (await client.post(ASK, json=question(5))).status_code == 200, "a new day"


async def test_a_limit_in_money(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        asked(url, **PRICED) as (server, _, _model),
        server.client(await limited(server, spend_per_day=Decimal("0.01"))) as client,
    ):
        assert (await client.post(ASK, json=question(1))).status_code == 200
        answer = await client.post(ASK, json=question(2))
        assert (answer.status_code, answer.json()["code"]) == (429, "daily_limit_reached")
        assert "$0.0100" in answer.json()["detail"]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    async with (
        serving(url, model="openai/unheard-of", model_url="http://127.0.0.1:1") as server,
        server.client(await limited(server, spend_per_day=Decimal(1))) as client,
    ):
        answer = await client.post(ASK, json=question(3))
        assert (answer.status_code, answer.json()["code"]) == (409, "price_unknown")


async def test_who_hangs_up_is_counted(url: str, tmp_path: Path) -> None:
    slow, log = Trouble(share={Fault.SLOW: 1.0}, pause=0.005), tmp_path / "calls"
    async with asked(url, trouble=slow, text="[1] " + "word " * 2000, log=log) as (server, _, _model):
        key = await limited(server, tokens_per_day=100)
        async with server.client(key) as client:
            asking = asyncio.create_task(client.post(ASK, json=question(1)))
            await until(lambda: len(notes(log)) == 1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            for _ in range(1000):
                if await tokens_today(server.database, key.split("_")[1]):
                    break
                await asyncio.sleep(0.01)
            assert (await client.post(ASK, json=question(2))).status_code == 429


async def test_limits_for_all_hold_for_holders_of_tokens(url: str) -> None:
    with issuing() as issuer:
        settings: dict[str, Any] = {"oidc_issuer": issuer.url, "oidc_audience": AUDIENCE, "key_tokens_per_day": 100}
        async with asked(url, **settings) as (server, key, _model):
            for subject in ("ada", "byron"):
                token = issuer.token(sub=subject, trueweave_workspaces=["mine"])
                async with server.client(token) as client:
                    statuses = [(await client.post(ASK, json=question(n))).status_code for n in (len(subject), 7)]
                    assert statuses == [200, 429], subject
            assert (await key.post(ASK, json=question(8))).status_code == 200
            assert (await key.post(ASK, json=question(9))).status_code == 429
            async with server.client(await limited(server, tokens_per_day=10**6)) as client:
                statuses = [(await client.post(ASK, json=question(n))).status_code for n in (10, 11)]
                assert statuses == [200, 429], "a limit of its own does not raise the server's"


# --- keys that keys make ------------------------------------------------------------------------------


async def made(client: httpx2.AsyncClient, **wanted: Any) -> dict[str, Any]:
    """A key that the holder of another one makes."""
    answer = await client.post("/v1/keys", json={"name": "made", "scope": "admin", **wanted})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def status_of_question(server: Served, key: str, n: int) -> int:
    async with server.client(key) as client:
        return (await client.post(ASK, json=question(n))).status_code


GREEDY: tuple[dict[str, Any], ...] = ({}, {"max_tokens_per_day": 10**15}, {"max_spend_per_day": "1000000000"})


@pytest.mark.parametrize("limit_of", ["server", "maker", "token"])
async def test_keys_share_the_tokens_of_their_maker(url: str, limit_of: str) -> None:
    with issuing() as issuer:
        settings: dict[str, Any] = {"oidc_issuer": issuer.url, "oidc_audience": AUDIENCE, **PRICED}
        if limit_of != "maker":
            settings["key_tokens_per_day"] = 100
        async with asked(url, **settings) as (server, _, _model):
            if limit_of == "token":
                key = issuer.token(sub="ada", scope="trueweave:admin", trueweave_workspaces=["mine"])
            else:
                key = await limited(server, **({"tokens_per_day": 100} if limit_of == "maker" else {}))
            async with server.client(key) as client:
                keys = [(await made(client, **wanted))["key"] for wanted in GREEDY]
                async with server.client(keys[0]) as child:
                    keys.append((await made(child))["key"])
            assert await status_of_question(server, keys[-1], 1) == 200
            assert [await status_of_question(server, one, 2) for one in (key, *keys)] == [429] * 5


async def test_a_lower_limit_holds_for_the_keys_made_with_it_and_leaves_the_rest_to_others(url: str) -> None:
    async with asked(url) as (server, _, _model):
        root = await limited(server, tokens_per_day=10**6)
        async with server.client(root) as client:
            low = (await made(client, max_tokens_per_day=100))["key"]
        async with server.client(low) as client:
            lower = await made(client, max_tokens_per_day=10**6)
        assert lower["max_tokens_per_day"] == 100
        assert await status_of_question(server, low, 1) == 200
        assert await status_of_question(server, lower["key"], 2) == 429
        assert await status_of_question(server, root, 3) == 200


async def test_keys_share_the_requests_and_questions_of_their_maker(url: str) -> None:
    async with serving(url, key_requests_per_minute=3) as server:
        async with server.client(await server.key("admin", "mine")) as client:
            keys = [(await made(client))["key"] for _ in range(3)]
        for key in keys:
            async with server.client(key) as client:
                assert (await client.get("/v1/workspaces")).status_code == 429


async def test_an_administrator_of_all_workspaces_makes_keys_that_share_nothing(url: str) -> None:
    async with asked(url, key_tokens_per_day=100) as (server, _, _model):
        async with server.client(await server.key("admin")) as client:
            keys = [(await made(client, workspaces=["mine"]))["key"] for _ in range(2)]
        assert [await status_of_question(server, key, n) for n, key in enumerate(keys)] == [200, 200]
        assert [await status_of_question(server, key, 9) for key in keys] == [429, 429]


async def test_a_key_does_not_outlive_the_key_that_made_it(url: str) -> None:
    async with serving(url) as server:
        found = await server.database.find_workspace("mine", make=True)
        assert found
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        for workspaces in ([found.id], None):
            root = await api_keys.make(server.database, "root", "admin", workspaces, tomorrow)
            async with server.client(root.token) as client:
                for wanted in ({}, {"expires_in_days": 3650}):
                    assert datetime.fromisoformat((await made(client, **wanted))["expires"]) == root.expires
                    listed = (await client.get("/v1/keys?limit=200")).json()["items"]
                    assert {one["expires"] for one in listed if one["name"] == "made"} == {listed[0]["expires"]}


async def test_a_key_that_was_revoked_makes_no_other_while_a_server_still_accepts_it(url: str) -> None:
    async with serving(url) as server:
        key = await server.key("admin", "mine")
        async with server.client(key) as client:
            await made(client)
            await api_keys.revoke(server.database, key.split("_")[1])  # by another process
            assert (await client.get("/v1/workspaces")).status_code == 200, "the server has not noticed yet"
            answer = await client.post("/v1/keys", json={"name": "late"})
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert [one.name for one in await api_keys.listed(server.database, 10)] == ["test admin", "made"]


async def test_a_row_of_keys_that_made_each_other_ends(url: str) -> None:
    async with serving(url) as server:
        key = await server.key("admin", "mine")
        for _ in range(8):
            async with server.client(key) as client:
                key = (await made(client))["key"]
        async with server.client(key) as client:
            assert (await client.get("/v1/workspaces")).status_code == 200
            assert (await client.post("/v1/keys", json={"name": "one more"})).status_code == 403


async def test_days_are_forgotten(url: str, database: Database) -> None:
    await caller_usage.add(database, ["a"], 1, Decimal(0))
    await caller_usage.add(database, ["a", "b"], 2, Decimal("0.5"))
    found = await caller_usage.today(database, ["a", "b", "c"])
    assert {caller: (used.tokens, used.price) for caller, used in found.items()} == {
        "a": (3, Decimal("0.5")),
        "b": (2, Decimal("0.5")),
        "c": (0, 0),
    }
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO trueweave.caller_usage VALUES ('a', now() - interval '40 days', 1, 1)")
    await caller_usage.prune(database, timedelta(days=30))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.caller_usage").fetchone() == (2,)


@pytest.mark.parametrize("setting", ["key_questions_at_once", "workspace_questions_at_once"])
async def test_so_many_questions_are_under_way_and_no_more(url: str, setting: str, tmp_path: Path) -> None:
    slow, log = Trouble(share={Fault.SLOW: 1.0}, pause=0.001), tmp_path / "calls"
    only: dict[str, Any] = {setting: 1}
    async with asked(url, trouble=slow, text="word " * 10, log=log, **only) as (server, client, _model):
        asking = asyncio.create_task(client.post(ASK, json=question(1)))
        await until(lambda: len(notes(log)) == 1)
        answer = await client.post(ASK, json=question(2))
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_requests")
        assert answer.headers["retry-after"] == "1"
        assert (await client.get("/v1/workspaces/mine/documents")).status_code == 200
        async with server.client(await server.key("read", "mine")) as other:
            answer = await other.post("/v1/workspaces/mine/retrieve", json=question(3))
            assert answer.status_code == (200 if setting.startswith("key") else 429)
        assert (await asking).status_code == 200
        assert (await client.post("/v1/workspaces/mine/retrieve", json=question(4))).status_code == 200
        assert not server.app.state.services.asking._under_way


def texts(workspace: AsyncTrueweave) -> Any:
    async def found() -> int:
        async with workspace.workspace.transaction() as tx:
            return await storage.used(tx)

    return found()


async def test_bytes_of_text_are_counted_as_they_come_and_go(url: str, database: Database) -> None:
    async with aclosing(await AsyncTrueweave.enter(database, "mine")) as mine:
        other = await AsyncTrueweave.enter(database, "other")
        await mine.add_documents([Document("a", (Chunk("ü" * 10), Chunk("b" * 5))), Document("b", (Chunk("c" * 7),))])
        await other.add_documents([Document("a", (Chunk("x" * 1000),))])
        assert await texts(mine) == 32
        await mine.add_documents([Document("a", (Chunk("d" * 3),))])
        assert await texts(mine) == 10, "the version before is gone"
        await mine.jobs.submit(Source("waiting", "w" * 100))
        assert await texts(mine) == 110
        await mine.remove(["b", "waiting"])
        assert await texts(mine) == 3
        for n in range(5):
            await mine.add_documents([Document(f"d{n}", (Chunk(f"{n}"),))])
        await mine.maintenance.clean_up()
        assert await texts(mine) == 8
        with psycopg.connect(url) as connection:
            count = connection.execute(
                "SELECT count(*) FROM trueweave.stored_bytes WHERE workspace = %s", [mine.workspace.id]
            ).fetchone()
        assert count == (1,), "rows of the count are put together"
        assert await texts(other) == 1000
        await mine.maintenance.drop()
        await other.aclose()
    with psycopg.connect(url) as connection:
        left = connection.execute("SELECT DISTINCT workspace FROM trueweave.stored_bytes").fetchall()
    assert left == [(other.workspace.id,)]


async def test_a_workspace_that_is_full_takes_no_more(url: str) -> None:
    async with (
        serving(url, max_storage_bytes=1000, extractor="capitals") as server,
        server.client(await server.key("write", "mine")) as client,
    ):
        path = "/v1/workspaces/mine/documents"
        small = {"documents": [{"uri": "a", "text": "a" * 600}]}
        assert (await client.post(path, json=small)).status_code == 202
        for send in (
            client.post(path, json={"documents": [{"uri": "b", "text": "b" * 401}]}),
            client.post(f"{path}/files", files={"file": ("b.txt", b"b" * 401)}),
            client.post(f"{path}/annotated", content='{"uri": "b", "text": "%s"}' % ("b" * 401)),
        ):
            answer = await send
            assert (answer.status_code, answer.json()["code"]) == (413, "storage_full"), answer.text
            assert "1,000 bytes" in answer.json()["detail"]
        assert (await client.post(path, json=small)).status_code == 202, "what is there unchanged takes no room"
        assert (await client.delete("/v1/workspaces/mine/document", params={"uri": "a"})).status_code == 200
        again = {"documents": [{"uri": "b", "text": "b" * 1000}]}
        assert (await client.post(path, json=again)).status_code == 202
        assert (await client.get("/v1/workspaces/mine/documents/failed")).json()["items"] == []


async def test_a_workspace_has_a_limit_of_its_own_also_in_python(database: Database) -> None:
    settings = Settings(extractor="capitals")
    async with aclosing(await AsyncTrueweave.enter(database, "mine", settings=settings)) as trueweave:
        await trueweave.maintenance.change_settings({"max_storage_bytes": 10})
        with pytest.raises(StorageFull, match="may hold 10 bytes of text"):
            await trueweave.add(Source("a", "a" * 11))
        await trueweave.add(Source("a", "a" * 10))
        with pytest.raises(StorageFull):
            await trueweave.add_documents([Document("b", (Chunk("b"),))])
        assert (await trueweave.status()).documents == 1


LONG = "Answer like a pirate. " * 8000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (ASK, {**QUESTION, "options": {"instructions": LONG}}),
        (ASK, {**QUESTION, "question": "漢字" * 10_000}),
        (ASK, {**QUESTION, "options": {"instructions": LONG}, "context_only": True}),
        ("/v1/chat/completions", {"model": CHAT, "messages": [{"role": "system", "content": LONG}, ASKED]}),
        ("/v1/chat/completions", {"model": CHAT, "messages": [{"role": "user", "content": LONG}]}),
        ("/api/chat", {"model": CHAT, "stream": False, "messages": [{"role": "system", "content": LONG}, ASKED]}),
    ],
    ids=["instructions", "question", "context only", "system message", "user message", "ollama"],
)
async def test_a_question_that_is_too_long_is_refused_before_any_call(url: str, path: str, body: Any) -> None:
    async with asked(url) as (_, client, model):
        answer = await client.post(path, json=body)
        assert answer.status_code == 413, answer.text
        assert "question_too_long" in answer.text
        assert model.calls == []


async def test_a_long_conversation_is_cut_and_not_refused(url: str) -> None:
    sizes: list[int] = []

    def reply(asked: Asked) -> str:
        sizes.append(sum(tokens.count(one.content) for one in asked.messages))
        return ANSWER

    async with (
        ModelServer(reply) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
    ):
        await fill(server.database, "mine")
        said = [{"role": role, "content": LONG} for role in ("user", "assistant") * 5]
        async with server.client(await server.key("read", "mine")) as client:
            answer = await client.post(ASK, json={**QUESTION, "history": said})
        assert answer.status_code == 200, answer.text
        assert len(sizes) == 2
        assert max(sizes) <= 14_000


async def test_no_prompt_has_more_tokens_than_a_question_may_have(url: str) -> None:
    async with asked(url, max_question_tokens=6100) as (_, client, model):
        answer = await client.post(ASK, json=QUESTION)
        assert (answer.status_code, answer.json()["code"]) == (413, "question_too_long")
        assert model.calls == []


async def test_parameters_of_a_method_do_not_lift_the_bound(url: str) -> None:
    async with ModelServer(lambda _: "never") as server:
        llm = QuestionLLM(open_chat(endpoint("vllm/any", url=server.url)), 10)
        with pytest.raises(QuestionTooLong, match="would be given 20 tokens at once, and 10 are allowed"):
            await llm.complete(Prompt((Message("user", "word " * 19 + "word"),), 10), Purpose("test"))
        assert server.calls == []


async def test_the_daily_limit_is_checked_before_each_call_of_a_request(url: str) -> None:
    async with asked(url) as (server, _, model), server.client(await limited(server, tokens_per_day=100)) as client:
        said = [{"role": "user", "content": "Who was Ada?"}, {"role": "assistant", "content": "A mathematician."}]
        answer = await client.post(ASK, json={**QUESTION, "history": said})
        assert (answer.status_code, answer.json()["code"]) == (429, "daily_limit_reached")
        assert len(model.calls) == 1, "the question was rewritten, which took all that was left"
