"""Settings of a workspace over HTTP: what its administrator may change, and what not."""

from __future__ import annotations

from typing import Any

from tests.integration.serving import fill, serving
from trueweave import Settings
from trueweave.core.settings import PROCESS_WIDE
from trueweave.server.routes.settings import TenantSettings

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
        "embedding_model",
        "reranker",
        "verifiers",
        "pipeline",
        "embedding_query_prefix",
        "embedding_document_prefix",
        "context_length",
        "max_reply_tokens",
    },
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
