"""What `trueweave doctor` finds out about models."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from trueweave.core.checks import HealthCheck
from trueweave.errors import ConfigError
from trueweave.models.checks import check_chat, check_embedder
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat, open_embedder
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Fault, ModelServer, Trouble


@asynccontextmanager
async def checked(server: ModelServer, name: str = "vllm/any") -> AsyncIterator[tuple[HealthCheck, ...]]:
    async with server:
        chat = open_chat(endpoint(name, url=server.url))
        try:
            yield await check_chat(chat)
        finally:
            await chat.close()


@pytest.mark.parametrize("name", ["vllm/any", "ollama/any"])
async def test_a_good_model_answers_keeps_to_schemas_and_takes_long_prompts(name: str) -> None:
    async with checked(ModelServer(), name) as (answers, schema, context):
        assert (answers.ok, schema.ok, context.ok) == (True, True, True)
        assert schema.detail == '{"city": "", "year": 0}'
        assert context.detail == ("32,768 tokens" if name.startswith("vllm") else "16,384 tokens")


async def test_prose_instead_of_json_is_shown_with_what_to_do() -> None:
    async with checked(ModelServer(trouble=Trouble.always(Fault.PROSE))) as (answers, schema, _):
        assert (answers.ok, schema.ok) == (True, False)
        assert "it wrote 'Sure, here is the JSON" in schema.detail
        assert "json_schema" in schema.fix


async def test_a_short_context_is_found_out_and_an_unknown_one_is_said_to_be() -> None:
    async with checked(ModelServer(context=4096)) as (_, _, context):
        assert (context.ok, context.detail) == (False, "4,096 tokens")
        assert "8,192 tokens or more" in context.fix
    async with checked(ModelServer(), "vllm/another") as (_, _, context):
        assert (context.ok, context.detail) == (None, "the server does not say how many tokens it takes")


async def test_a_server_without_llamacpps_properties_says_nothing_of_its_context() -> None:
    async with checked(ModelServer(), "llamacpp/any") as (_, _, context):
        assert context.ok is None
        assert "there is no GET /props here" in context.detail


async def test_a_model_that_does_not_answer_is_one_failed_check_with_the_reason() -> None:
    async with checked(ModelServer(trouble=Trouble.always(Fault.BAD_KEY))) as checks:
        (only,) = checks
        assert not only.ok
        assert "401" in only.detail
        assert not only.fix, "the reason says what to do"


async def test_an_embedder_is_checked_by_its_vectors() -> None:
    async with ModelServer(embedder=HashEmbedder(dimensions=32)) as server:
        embedder: Any = await open_embedder(endpoint("vllm/any", url=server.url))
        assert await check_embedder(embedder) == (HealthCheck("vllm/any embeds", True, "32 dimensions"),)
        server.trouble = Trouble.always(Fault.BROKEN)
        (only,) = await check_embedder(embedder)
        assert (only.ok, "500, something broke" in only.detail) == (False, True)
        await embedder.close()


def test_a_model_in_a_folder_cannot_chat() -> None:
    with pytest.raises(ConfigError, match=r"onnx/folder embeds; it cannot chat"):
        open_chat(endpoint("onnx/folder"))
