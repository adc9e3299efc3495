"""A language model for each role: who is asked for what, at which address, with which key, and at what price."""

import json
from decimal import Decimal
from typing import Any, get_args

import pytest

from trueweave import AsyncTrueweave, Message, Settings, Source
from trueweave.core.model_calls import ModelRole
from trueweave.engine.model_settings import chat_endpoint
from trueweave.testing import ModelServer
from trueweave.testing.model_server import Asked

ROLES: tuple[ModelRole, ...] = get_args(ModelRole)
TEXT_ROLES = ROLES[:-1]  # a model for all roles is not given pictures
NAMES = {role: f"vllm/{role}" for role in ROLES}
TEXT = "Ada Lovelace worked with Charles Babbage in London. Mary Somerville taught Ada Lovelace."
QUESTION = "Whom did Ada Lovelace work with?"
FOUND = {
    "entities": [
        {"name": name, "type": "person", "description": "a person"}
        for name in ("Ada Lovelace", "Charles Babbage", "Mary Somerville")
    ],
    "relations": [
        {"source": "Ada Lovelace", "target": other, "description": "knew", "keywords": "knowing", "strength": 5}
        for other in ("Charles Babbage", "Mary Somerville")
    ],
}


def script(asked: Asked) -> str:
    """What the model of each role says, which is of use to nobody else."""
    match asked.model:
        case "extract":
            return json.dumps(FOUND)
        case "keywords":
            if asked.schema is None:
                return "Whom did Ada Lovelace know?"
            return json.dumps({"low_level": ["Ada Lovelace"], "high_level": ["knowing"]})
        case "report":
            finding = {"summary": "They knew each other.", "text": "They did.", "references": "R1"}
            report = {"title": "Friends", "summary": "Friends.", "rating": 5, "reason": "Few."}
            return json.dumps(report | {"findings": [finding]})
        case "judge":
            return json.dumps({"verdicts": [{"claim": 1, "verdict": "entailed"}]})
    return 'She worked with Charles Babbage [1 "worked with Charles Babbage"].'


def settings(url: str, server: ModelServer, **more: Any) -> Settings:
    usual = {"workspace": "test", "database_url": url, "model": "vllm/any", "model_url": server.url}
    embedding = {"embedding_model": "vllm/embed", "embedding_url": server.url}
    return Settings(**{**usual, **embedding, "models": NAMES, "verifiers": ("rules", "llm"), **more})


async def test_each_role_has_its_own_model(url: str) -> None:
    prices = {name: (Decimal(1), Decimal(1)) for name in NAMES.values()}
    async with (
        ModelServer(script) as server,
        AsyncTrueweave.open(url, settings=settings(url, server, prices=prices)) as trueweave,
    ):
        await trueweave.add(Source("a.txt", TEXT))
        await trueweave.communities.find()
        await trueweave.communities.write_reports()
        history = (Message("user", "Who was Ada Lovelace?"), Message("assistant", "A mathematician."))
        answer = await trueweave.ask(QUESTION, "local", history=history)
        spent = await trueweave.budget.receipt()
    assert answer.text.startswith("She worked with Charles Babbage")
    assert {(one.stage, one.model) for one in spent if one.stage != "embed"} == {
        ("extract", "vllm/extract"),
        ("report", "vllm/report"),
        ("rewrite", "vllm/keywords"),
        ("keywords", "vllm/keywords"),
        ("answer", "vllm/answer"),
        ("verify", "vllm/judge"),
    }
    assert answer.usage.calls == 4, "what is asked of all of them is counted"


async def test_a_role_without_a_model_of_its_own_has_the_one_for_all(url: str) -> None:
    async with (
        ModelServer() as server,
        AsyncTrueweave.open(url, settings=settings(url, server, models={"answer": "vllm/answer"})) as trueweave,
    ):
        await trueweave.add(Source("a.txt", TEXT))
        await trueweave.ask(QUESTION, "keyword", verifiers=())
        spent = await trueweave.budget.receipt()
    assert {(one.stage, one.model) for one in spent if one.stage != "embed"} == {
        ("extract", "vllm/any"),
        ("answer", "vllm/answer"),
    }


def test_one_model_for_answers_alone_leaves_documents_to_rules() -> None:
    only = Settings(models={"answer": "ollama/llama3.1:8b"})
    assert only.model_for("extract") is None
    assert only.chat_models == {"ollama/llama3.1:8b": ("answer",)}


def test_a_key_and_an_address_are_for_the_provider_that_they_are_set_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "of-the-gateway")
    monkeypatch.setenv("OTHER_KEY", "of-the-other")
    monkeypatch.setenv("GROQ_API_KEY", "of-groq")
    chosen = Settings(
        model="openai/one",
        model_url="https://gateway.example/v1",
        model_key_variable="GATEWAY_KEY",
        model_urls={"vllm": "http://127.0.0.1:9000/v1", "vllm/special": "http://127.0.0.1:9001/v1"},
        model_key_variables={"vllm/special": "OTHER_KEY"},
    )
    places = {
        "openai/one": ("https://gateway.example/v1", "of-the-gateway"),
        "openai/two": ("https://gateway.example/v1", "of-the-gateway"),
        "groq/three": ("https://api.groq.com/openai/v1", "of-groq"),
        "vllm/four": ("http://127.0.0.1:9000/v1", ""),
        "vllm/special": ("http://127.0.0.1:9001/v1", "of-the-other"),
    }
    found = {name: chat_endpoint(chosen, name) for name in places}
    assert {name: (one.url, one.key) for name, one in found.items()} == places


def test_who_names_a_model_means_it_for_all_roles() -> None:
    named = Settings(model="vllm/any", models=NAMES)
    sees = {"vllm/vision": ("vision",)}
    assert named.given({"model": "vllm/given"}).chat_models == {"vllm/given": TEXT_ROLES, **sees}
    assert named.given({"model": "vllm/given"}).over({"models": NAMES}).chat_models == {
        "vllm/given": TEXT_ROLES,
        **sees,
    }
    assert named.over({"model": "vllm/stored"}).chat_models == {"vllm/stored": TEXT_ROLES, **sees}
    stored = named.over({"model": "vllm/stored", "models": {"judge": "vllm/strict"}})
    assert stored.chat_models == {"vllm/stored": TEXT_ROLES[:-1], "vllm/strict": ("judge",)}
    assert named.over({"method": "weave"}).chat_models == named.chat_models


def test_a_role_that_is_not_known_and_a_key_in_place_of_its_variable_are_refused() -> None:
    for wrong in ({"models": {"poet": "vllm/any"}}, {"model_key_variables": {"vllm": "sk-1234"}}):
        with pytest.raises(ValueError, match=r"poet|pattern"):
            Settings.model_validate(wrong)
