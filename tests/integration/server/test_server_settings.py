"""Settings of a workspace over HTTP: what its administrator may change, and what not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.serving import fill, serving
from trueweave import Settings
from trueweave.core.settings import PROCESS_WIDE
from trueweave.server.routes.settings import TenantSettings
from trueweave.testing import ModelServer

PATH = "/v1/workspaces/mine/settings"

# What would let a tenant reach further than the workspace, and why.
NEVER = {
    "addresses that the server would call": {"model_url", "model_urls", "embedding_url", "reranker_url"},
    "variables that hold secrets": {
        "model_key_variable",
        "model_key_variables",
        "embedding_key_variable",
        "reranker_key_variable",
    },
    "models, which others pay for, and which may be folders": {
        "model",
        "models",
        "model_options",
        "embedding_model",
        "reranker",
        "verifiers",
        "pipeline",
        "embedding_query_prefix",
        "embedding_document_prefix",
        "context_length",
        "max_reply_tokens",
    },
    "text that operators see": {"trace_content"},
    "what is counted, and how fast and how long models are called": {
        "prices",
        "currency",
        "deadline",
        "calls_at_once",
        "requests_per_minute",
        "tokens_per_minute",
        "model_tries",
        "jobs_at_once",
        "tries",
        "try_again_after",
    },
    "limits of the workspace": {"workspace_questions_at_once", "max_storage_bytes", "max_question_tokens"},
    "stores, and how long things are kept": {
        "graph",
        "graph_vectors",
        "vectors",
        "projection_wait",
        "reply_days",
        "log_days",
        "spend_days",
    },
}


def test_every_setting_is_either_a_tenants_or_not() -> None:
    """A setting that is added must be put into one of the lists."""
    never = set().union(*NEVER.values())
    allowed = set(TenantSettings.model_fields)
    assert not allowed & (never | PROCESS_WIDE)
    assert allowed | never | PROCESS_WIDE == set(Settings.model_fields)


async def test_an_administrator_changes_settings(url: str) -> None:
    async with (
        serving(url, extractor="capitals", max_chunk_size=900) as server,
        server.client(await server.key("admin", "mine")) as client,
    ):
        await fill(server.database, "mine")
        found = (await client.get(PATH)).json()
        assert found["own"] == {}
        assert (found["in_force"]["extractor"], found["in_force"]["max_chunk_size"]) == ("capitals", 900)
        described = found["described"]
        assert described.keys() == found["in_force"].keys() == TenantSettings.model_fields.keys()
        assert all(one["description"] for one in described.values())
        size = described["max_chunk_size"]
        assert (size["type"], size["minimum"], size["maximum"], size["default"]) == ("integer", 16, 4000, 900)
        assert "weave" in described["method"]["enum"]
        changed = {"max_chunk_size": 500, "entity_types": {"ship": "a vessel"}, "method": "keyword"}
        answer = await client.patch(PATH, json=changed)
        assert answer.status_code == 200, answer.text
        assert answer.json()["own"] == changed
        assert answer.json()["in_force"]["entity_types"] == {"ship": "a vessel"}
        assert (await client.get("/v1/workspaces/mine")).json()["method"] == "keyword"
        answer = await client.patch(PATH, json={"max_chunk_size": None})
        assert answer.json()["own"] == {"entity_types": {"ship": "a vessel"}, "method": "keyword"}
        assert (await client.get(PATH)).json() == answer.json()
        assert answer.json()["in_force"]["max_chunk_size"] == 900
        async with server.client(await server.key("write", "mine")) as writer:
            assert (await writer.get(PATH)).status_code == 403
            assert (await writer.patch(PATH, json={})).status_code == 403


async def test_what_a_tenant_may_not_set_is_refused(url: str) -> None:
    bodies: list[Any] = [
        {"max_chunk_size": 10**9},
        {"min_chunk_size": 700, "max_chunk_size": 600},
        {"chunk_overlap": 600},
        {"method": "no such method"},
        {"extractor": "somebody's package"},
        {"entity_types": {f"t{n}": "" for n in range(101)}},
        {"entity_types": {"a\0": ""}},
        *({name: "x"} for name in sorted(set().union(*NEVER.values(), PROCESS_WIDE))),
        *({name: None} for name in sorted(set().union(*NEVER.values(), PROCESS_WIDE))),
        {"nonsense": 1},
    ]
    async with serving(url) as server, server.client(await server.key("admin", "mine")) as client:
        for body in bodies:
            answer = await client.patch(PATH, json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), body
        assert (await client.get(PATH)).json()["own"] == {}


async def test_secrets_and_addresses_are_not_shown(url: str) -> None:
    async with (
        serving(url, model="vllm/any", model_url="http://internal.example/v1") as server,
        server.client(await server.key("admin", "mine")) as client,
    ):
        workspace = await fill(server.database, "mine")
        await workspace.maintenance.change_settings({"model_key_variable": "TENANT_API_KEY", "repair": True})
        text = (await client.get(PATH)).text
        assert '"repair":true' in text.replace(" ", "")
        for hidden in ("internal.example", "TENANT_API_KEY", "postgresql://", "model_url"):
            assert hidden not in text


async def test_types_are_tried_on_a_text_before_they_are_saved(url: str) -> None:
    found = {"entities": [{"name": "Ada", "type": "ship"}, {"name": "Bob", "type": "person"}], "relations": []}
    asked: list[str] = []

    def script(prompt: Any) -> str:
        asked.append(str(prompt))
        return json.dumps(found)

    async with (
        ModelServer(script) as model,
        serving(url, model="vllm/any", model_url=model.url, extractor="llm", model_tries=1) as server,
        server.client(await server.key("admin", "mine")) as client,
    ):
        own = {"entity_types": {"ship": "a vessel"}, "strict_schema": True}
        body = {"text": "Ada met Bob.", "settings": own}
        answer = await client.post("/v1/workspaces/mine/try-extract", json=body)
        assert answer.status_code == 200, answer.text
        tried = answer.json()
        assert [(one["name"], one["type"]) for one in tried["entities"]] == [("Ada", "ship")]
        assert [one["what"] for one in tried["left_out"]] == ["Bob"]
        assert (tried["extractor"], tried["problem"], tried["calls"]) == ("llm", "", len(asked))
        assert tried["calls"] > 0
        assert "a vessel" in asked[0]
        assert (await client.get(PATH)).json()["own"] == {}, "nothing is saved"
        assert (await client.get("/v1/workspaces/mine")).json()["status"]["documents"] == 0
        again = await client.post("/v1/workspaces/mine/try-extract", json=body)
        assert (again.json()["calls"], again.json()["tokens_in"]) == (0, 0), "the reply is stored"
        [day] = (await client.get("/v1/workspaces/mine/spend/daily")).json()["days"]
        assert (day["name"], day["calls"]) == ("extract", tried["calls"])
        [day] = (await client.get("/v1/workspaces/mine/spend/daily", params={"by": "model"})).json()["days"]
        assert (day["name"], day["tokens_in"]) == ("vllm/any", tried["tokens_in"])
        later = {"since": "2999-01-01T00:00:00Z"}
        assert (await client.get("/v1/workspaces/mine/spend/daily", params=later)).json()["days"] == []
        async with server.client(await server.key("read", "mine")) as reader:
            assert (await reader.post("/v1/workspaces/mine/try-extract", json=body)).status_code == 403
        wrong = await client.post("/v1/workspaces/mine/try-extract", json={**body, "settings": {"model_url": "x"}})
        assert wrong.status_code == 422


async def test_checks_are_for_whoever_runs_the_server_and_have_no_secrets(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    async with (
        ModelServer(lambda _: json.dumps({"city": "Paris", "year": 1924})) as model,
        serving(url, model="vllm/any", model_url=model.url, model_key_variable="CHAT_KEY", model_tries=1) as server,
        server.client(await server.key("admin")) as client,
    ):
        await fill(server.database, "mine")
        answer = await client.get("/v1/workspaces/mine/checks")
        assert answer.status_code == 200, answer.text
        checks = {one["what"]: one["ok"] for one in answer.json()["checks"]}
        assert checks["PostgreSQL 16 or later"] is True
        assert any("vllm/any" in what for what in checks), checks
        assert "sk-very-secret" not in answer.text
        assert "postgresql://" not in answer.text
        named = (await client.get("/v1/workspaces/mine/models")).json()
        assert (named["chat"]["answer"], named["embedding"], named["extractor"]) == ("vllm/any", "", "auto")
        async with server.client(await server.key("admin", "mine")) as tenant:
            assert (await tenant.get("/v1/workspaces/mine/checks")).status_code == 403
            assert (await tenant.get("/v1/workspaces/mine/models")).json() == named
