"""However much a server sends, packed or not, with whatever status: little of it is ever in memory."""

import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import openai as openai  # the SDK is loaded when it is first used, and its modules do not count here
import pytest

from trueweave import Message
from trueweave.core.model_calls import Purpose
from trueweave.errors import ModelError
from trueweave.extend import Prompt
from trueweave.models.names import endpoint
from trueweave.models.openai import OpenAIEmbedder
from trueweave.models.opening import open_chat
from trueweave.models.reply_stream import ReplyStream
from trueweave.models.rerank import RerankServer
from trueweave.testing.model_server import Fault, ModelServer, Trouble

PROMPT = Prompt((Message("user", "Who?"),), max_tokens=100)
MOST = 12 << 20  # bytes; what the SDK itself takes is in it, and the megabyte that the server sends


async def chat(server: ModelServer, stack: AsyncExitStack) -> object:
    model = open_chat(endpoint("vllm/any", url=server.url))
    stack.push_async_callback(model.close)
    return await model.complete(PROMPT, Purpose("test"))


async def stream(server: ModelServer, stack: AsyncExitStack) -> object:
    model = open_chat(endpoint("vllm/any", url=server.url))
    stack.push_async_callback(model.close)
    return [piece async for piece in ReplyStream(model.stream(PROMPT, Purpose("test")))]


async def ollama(server: ModelServer, stack: AsyncExitStack) -> object:
    model = open_chat(endpoint("ollama/any", url=server.url))
    stack.push_async_callback(model.close)
    return await model.complete(PROMPT, Purpose("test"))


async def embed(server: ModelServer, stack: AsyncExitStack) -> object:
    model = OpenAIEmbedder(endpoint("vllm/any", url=server.url), 64)
    stack.push_async_callback(model.close)
    return await model.embed(["one", "two"], "document")


async def rerank(server: ModelServer, stack: AsyncExitStack) -> object:
    model = RerankServer(endpoint("vllm/any", url=server.url))
    stack.push_async_callback(model.close)
    return await model.score("one", ["two", "three"])


Call = Callable[[ModelServer, AsyncExitStack], Awaitable[object]]


@pytest.mark.parametrize("call", [chat, stream, ollama, embed, rerank], ids=lambda call: call.__name__)
@pytest.mark.parametrize(
    "fault", [Fault.HUGE_ERROR, Fault.BOMB, Fault.ERROR_BOMB, Fault.ENDLESS], ids=lambda f: f.value
)
async def test_a_reply_without_end_is_an_error_and_takes_little_memory(fault: Fault, call: Call) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer(lambda _: "word " * 50, trouble=Trouble.always(fault)))
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        with pytest.raises(ModelError, match=r"did not stop|refuses: 400"):
            await call(server, stack)
        assert tracemalloc.get_traced_memory()[1] < MOST


@pytest.mark.parametrize("call", [chat, stream, ollama, embed, rerank], ids=lambda call: call.__name__)
async def test_no_prompt_goes_where_a_server_redirects_to(call: Call) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer(trouble=Trouble.always(Fault.REDIRECT)))
        with pytest.raises(ModelError, match=r"at http://127\.0\.0\.1:.* redirects to http://localhost:9/") as raised:
            await call(server, stack)
        assert "secret" not in str(raised.value)
        assert not raised.value.charged
        assert len(server.calls) == 1


async def test_a_packed_reply_is_read() -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            ModelServer(lambda _: "word " * 50, trouble=Trouble.always(Fault.PACKED))
        )
        assert getattr(await chat(server, stack), "text", "") == "word " * 50
