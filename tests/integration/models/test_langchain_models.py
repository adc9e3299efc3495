"""Chat and embedding models of LangChain as the models of a workspace, by the real langchain-core."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import PrivateAttr

from trueweave import AsyncTrueweave, Message, Settings, Source
from trueweave.core.model_calls import Image, Purpose
from trueweave.errors import BudgetReached, ConfigError, ModelRefused, ModelUnavailable, SpaceMismatch
from trueweave.extend import Prompt, Reply
from trueweave.integrations.langchain import LangChainChat, LangChainEmbedder

PROMPT = Prompt((Message("system", "Be brief."), Message("user", "Who was Ada?")), max_tokens=50)
PURPOSE = Purpose("test")
TEXT = "Ada Lovelace met Charles Babbage in Marylebone."
FOUND = {
    "entities": [
        {"name": "Ada Lovelace", "type": "person", "description": "A mathematician."},
        {"name": "Charles Babbage", "type": "person", "description": "An engineer."},
    ],
    "relations": [
        {"source": "Ada Lovelace", "target": "Charles Babbage", "keywords": "met", "description": "met", "strength": 8}
    ],
}


class StatusError(Exception):
    """An error as SDKs raise them."""

    def __init__(self, status_code: int) -> None:
        super().__init__("slow down")
        self.status_code = status_code


class Chat(BaseChatModel):
    """A chat model of LangChain that notes what it is asked."""

    model: str = "small"
    max_tokens: int | None = None
    temperature: float = 0.5
    fails: int = 0
    _asked: list[tuple[int | None, list[BaseMessage]]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "test"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.fails:
            raise StatusError(self.fails)
        self._asked.append((self.max_tokens, messages))
        usage: Any = {"input_tokens": 40, "output_tokens": 10, "total_tokens": 50}
        said = AIMessage("She met Charles Babbage [1].", usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        self._asked.append((self.max_tokens, messages))
        for word in ("A ", "mathematician"):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        end: Any = {"input_tokens": 40, "output_tokens": 3, "total_tokens": 43}
        about = {"finish_reason": "length"}
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=end, response_metadata=about))

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[Any, dict[str, Any]]:
        assert include_raw
        assert schema["title"] == "reply"

        def called(messages: list[BaseMessage]) -> dict[str, Any]:
            self._asked.append((self.max_tokens, messages))
            call: Any = {"name": "reply", "args": FOUND, "id": "1"}
            return {"raw": AIMessage("", tool_calls=[call]), "parsed": FOUND, "parsing_error": None}

        return RunnableLambda(called)


@asynccontextmanager
async def opened(url: str, chat: Chat, **settings: Any) -> AsyncIterator[AsyncTrueweave]:
    chosen = Settings(workspace="langchain", database_url=url, **settings)
    embeddings = DeterministicFakeEmbedding(size=16)
    async with AsyncTrueweave.open(url, "langchain", embeddings, llm=chat, settings=chosen, make=True) as trueweave:
        yield trueweave


async def test_a_prompt_is_sent_as_messages_with_the_limit_of_its_reply() -> None:
    chat = Chat()
    llm = LangChainChat(chat)
    reply = await llm.complete(PROMPT, PURPOSE)
    assert reply == Reply("She met Charles Babbage [1].", 40, 10, "stop")
    [(limit, messages)] = chat._asked
    assert [(one.type, one.content) for one in messages] == [("system", "Be brief."), ("human", "Who was Ada?")]
    assert limit == 50
    await LangChainChat(Chat(max_tokens=20)).complete(PROMPT, PURPOSE)
    pieces = [piece async for piece in llm.stream(PROMPT, PURPOSE)]
    assert pieces == ["A ", "mathematician", Reply("A mathematician", 40, 3, "length")]
    image = Image("image/png", b"a file", 10, 10)
    await llm.complete(Prompt((Message("user", "Describe this.", (image,)),), 50), PURPOSE)
    assert chat._asked[-1][1][0].content_blocks[0] == {"type": "image", "mime_type": "image/png", "base64": "YSBmaWxl"}


async def test_a_reply_that_must_follow_a_schema_is_the_arguments_of_the_tool() -> None:
    schema = json.dumps({"type": "object", "properties": {"entities": {"type": "array"}}})
    reply = await LangChainChat(Chat()).complete(Prompt(PROMPT.messages, 50, schema), PURPOSE)
    assert json.loads(reply.text) == FOUND


async def test_errors_of_the_sdk_become_those_of_trueweave() -> None:
    with pytest.raises(ModelUnavailable, match=r"langchain/small answered 429, slow down"):
        await LangChainChat(Chat(fails=429)).complete(PROMPT, PURPOSE)
    with pytest.raises(ModelRefused, match=r"refuses: 401, slow down"):
        await LangChainChat(Chat(fails=401)).complete(PROMPT, PURPOSE)

    class Odd(Chat):
        def _generate(self, *_: Any, **__: Any) -> ChatResult:
            raise KeyError("token")

    with pytest.raises(ModelRefused, match=r"failed with KeyError: 'token'\. Fix it in LangChain"):
        await LangChainChat(Odd()).complete(PROMPT, PURPOSE)


def test_a_model_is_named_by_its_package_and_parameters() -> None:
    kind = type("ChatOpenAI", (Chat,), {"__module__": "langchain_openai.chat_models.base"})
    assert LangChainChat(kind(model="gpt-4o-mini")).model == "openai/gpt-4o-mini"
    azure = type("AzureChatOpenAI", (Chat,), {"__module__": "langchain_openai.chat_models.azure"})
    assert LangChainChat(azure(model="gpt-4o-mini")).model == "azure/gpt-4o-mini"
    google = type("ChatGoogle", (Chat,), {"__module__": "langchain_google_genai.chat_models"})
    assert LangChainChat(google(model="gemini-2.5-flash")).model == "gemini/gemini-2.5-flash"
    assert LangChainChat(Chat(), "mine/special").model == "mine/special"
    with pytest.raises(ConfigError, match=r"'special' is not the name of a model"):
        LangChainChat(Chat(), "special")


async def test_documents_and_questions_use_them_and_nothing_is_paid_twice(url: str) -> None:
    chat = Chat()
    async with opened(url, chat, prices={"langchain/small": [1, 1]}) as trueweave:
        await trueweave.add(Source("a", TEXT))
        asked = len(chat._asked)
        assert asked >= 1, "the entities are the model's"
        found = await trueweave.graph.search_relations("met")
        assert found.items
        answer = await trueweave.ask("Whom did Ada Lovelace meet?", "naive")
        assert answer.text == "A mathematician"
        spent = {(one.model, one.stage) for one in await trueweave.budget.receipt()}
        assert {("langchain/small", "extract"), ("langchain/small", "answer")} <= spent
        assert any(stage == "embed" for _, stage in spent)
        names = await trueweave.maintenance.models()
        assert (names.chat["answer"], names.embedding) == ("langchain/small", "langchain/DeterministicFakeEmbedding")
        asked = len(chat._asked)
        await trueweave.ask("Whom did Ada Lovelace meet?", "naive")
        assert len(chat._asked) == asked, "the reply was kept"
    async with opened(url, hot := Chat(temperature=1.5)) as trueweave:
        await trueweave.ask("Whom did Ada Lovelace meet?", "naive")
        assert hot._asked, "replies of a model with other parameters are others"


async def test_a_budget_holds_and_options_are_set_on_the_model_itself(url: str) -> None:
    chat = Chat()
    async with opened(url, chat, extractor="capitals", prices={"langchain/small": [1, 1]}) as trueweave:
        await trueweave.add(Source("a", TEXT))
        await trueweave.budget.allow(price=Decimal(0))
        with pytest.raises(BudgetReached):
            await trueweave.ask("Who was Ada Lovelace?", "keyword")
        assert chat._asked == []
    async with opened(url, chat, model_options={"answer": {"seed": 7}}) as trueweave:
        with pytest.raises(ConfigError, match=r"sets seed for langchain/small, which is a model of LangChain"):
            await trueweave.ask("Who was Ada Lovelace?", "keyword")


async def test_an_embedding_model_of_another_dimension_is_another_space(url: str) -> None:
    async with opened(url, Chat(), extractor="capitals") as trueweave:
        await trueweave.add(Source("a", TEXT))
        assert (await trueweave.retrieve("Ada", "naive")).passages
    settings = Settings(workspace="langchain", database_url=url)
    other = DeterministicFakeEmbedding(size=8)
    async with AsyncTrueweave.open(url, "langchain", other, settings=settings) as trueweave:
        with pytest.raises(SpaceMismatch):
            await trueweave.retrieve("Ada", "naive")
        await trueweave.maintenance.change_space(other)
        assert (await trueweave.retrieve("Ada", "naive")).passages
    assert (await LangChainEmbedder.open(other, "mine/eight")).dimensions == 8
