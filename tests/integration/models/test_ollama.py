"""Ollama, which cuts long prompts without a word unless it is told not to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from trueweave import Message
from trueweave.core.model_calls import Image, Purpose
from trueweave.errors import ModelRefused
from trueweave.extend import Prompt, Reply
from trueweave.models.failures import UselessReply
from trueweave.models.names import endpoint
from trueweave.models.ollama import OllamaChat
from trueweave.models.opening import open_chat
from trueweave.testing.model_server import Asked, Fault, ModelServer, Trouble

PURPOSE = Purpose("test")
SHORT = Prompt((Message("user", "Who was Ada?"),), max_tokens=50)
LONG = Prompt((Message("user", "Ada met Babbage. " * 1000),), max_tokens=50)  # about 6,000 tokens


@asynccontextmanager
async def ollama(server: ModelServer, context: int = 16_384) -> AsyncIterator[OllamaChat]:
    async with server:
        chat = open_chat(endpoint("ollama/any", url=server.url), context=context)
        assert isinstance(chat, OllamaChat)
        try:
            yield chat
        finally:
            await chat.close()


async def test_the_native_api_is_used_and_counts() -> None:
    asked: list[Asked] = []

    def recording(one: Asked) -> str:
        asked.append(one)
        return "A mathematician."

    async with ollama(ModelServer(recording)) as chat:
        prompt = Prompt(SHORT.messages, 50, schema='{"type": "object"}')
        assert await chat.complete(prompt, PURPOSE) == Reply("A mathematician.", 8, 4, "stop")
    assert asked == [Asked("any", SHORT.messages, 50, {"type": "object"})]


async def test_an_image_is_sent_beside_the_text_and_a_low_count_is_not_taken_for_a_cut_prompt() -> None:
    asked: list[Asked] = []

    def recording(one: Asked) -> str:
        asked.append(one)
        return "A ship."

    async with ollama(ModelServer(recording)) as chat:
        image = Image("image/jpeg", b"a file", 1536, 1536)  # 3,146 tokens by our count, 0 by the server's
        reply = await chat.complete(Prompt((Message("user", "Describe this.", (image,)),), 50), PURPOSE)
    assert reply.text == "A ship."
    assert asked[0].messages == (Message("user", "Describe this.", (Image("", b"a file", 0, 0),)),)


async def test_a_prompt_longer_than_ollamas_default_is_seen_whole() -> None:
    async with ollama(ModelServer()) as chat:
        assert (await chat.complete(LONG, PURPOSE)).tokens_in == 6005


async def test_a_prompt_longer_than_the_context_is_not_even_sent() -> None:
    server = ModelServer()
    async with ollama(server, context=4096) as chat:
        with pytest.raises(
            UselessReply, match=r"6,005 tokens.*do not fit into the 4,096 .* takes up to 32,768\. Raise"
        ):
            await chat.complete(LONG, PURPOSE)
    assert server.calls == []


async def test_no_more_context_is_asked_for_than_the_model_takes() -> None:
    async with ollama(ModelServer(context=2048), context=16_384) as chat:
        assert await chat.context_length() == 2048
        with pytest.raises(UselessReply, match=r"do not fit into the 2,048 tokens"):
            await chat.complete(LONG, PURPOSE)


async def test_a_server_that_cuts_all_the_same_is_found_out() -> None:
    twice = Prompt((Message("user", "Ada met Babbage. " * 2000),), max_tokens=50)
    async with ollama(ModelServer(ignores_context=True)) as chat:
        with pytest.raises(ModelRefused, match=r"saw only 4,096 of about 12,005 tokens.*OLLAMA_CONTEXT_LENGTH"):
            await chat.complete(twice, PURPOSE)


async def test_a_server_that_counts_only_what_was_not_cached_is_believed_when_its_context_is_long_enough() -> None:
    async with ollama(ModelServer(trouble=Trouble.always(Fault.MISCOUNTED))) as chat:
        assert (await chat.complete(LONG, PURPOSE)).text == "ok"


async def test_a_reply_that_hit_its_limit_says_so_and_one_without_counts_is_counted_here() -> None:
    trouble = Trouble(at={0: Fault.CUT, 1: Fault.NO_USAGE})
    async with ollama(ModelServer(lambda _: "A mathematician.", trouble=trouble)) as chat:
        assert (await chat.complete(SHORT, PURPOSE)).finish == "length"
        assert await chat.complete(SHORT, PURPOSE) == Reply("A mathematician.", 8, 4, "stop")


async def test_a_model_that_is_not_there_is_to_be_pulled() -> None:
    async with ollama(ModelServer(trouble=Trouble.always(Fault.NO_MODEL))) as chat:
        with pytest.raises(ModelRefused, match=r"404, .*Run `ollama pull any`"):
            await chat.complete(SHORT, PURPOSE)
