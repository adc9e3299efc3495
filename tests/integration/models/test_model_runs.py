"""Models that are opened, waited for or given up while questions are put and documents are added."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Event, Mention, Settings, Source
from trueweave.errors import ModelRefused, ModelUnavailable
from trueweave.events import Waiting
from trueweave.models import opening
from trueweave.models.retry import Clock
from trueweave.testing import Fault, ModelServer, Trouble

QUESTION = "Whom did Ada Lovelace work with?"
DOCUMENT = Document("a", (Chunk("Ada Lovelace worked with Charles Babbage.", mentions=(Mention("Ada Lovelace"),)),))
AT_ONCE = 10.0  # seconds, on a busy machine; with patience it would be half a minute at the least


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[AsyncTrueweave]:
    async with AsyncExitStack() as stack:
        usual = {
            "workspace": "test",
            "database_url": url,
            "method": "keyword",
            "extractor": "capitals",
            "model_tries": 6,
        }
        opening = AsyncTrueweave.open(url, settings=Settings(**{**usual, **settings}))
        yield await stack.enter_async_context(opening)


async def test_a_question_to_a_model_that_cannot_be_reached_fails_at_once_and_says_so(url: str) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    async with opened(url) as filling:
        await filling.add_documents([DOCUMENT])
    began = time.monotonic()
    async with opened(url, model="vllm/any", model_url=nowhere) as trueweave:
        with pytest.raises(ModelUnavailable, match=r"cannot reach vllm/any at .* Is it running, and the URL right\?$"):
            await trueweave.ask(QUESTION)
        with pytest.raises(ModelUnavailable, match="cannot reach"):
            await anext(trueweave.stream(QUESTION))
        [row] = (await trueweave.compare(QUESTION, ["keyword"], answers=True)).rows
        assert "cannot reach" in row.problem
    async with opened(url, embedding_model="vllm/embed", embedding_url=nowhere, method="naive") as trueweave:
        with pytest.raises(ModelUnavailable, match="cannot reach vllm/embed"):
            await trueweave.retrieve(QUESTION)
    assert time.monotonic() - began < AT_ONCE


async def test_an_embedder_with_the_wrong_key_fails_at_once(url: str) -> None:
    async with ModelServer(trouble=Trouble.always(Fault.BAD_KEY)) as server:
        embedding = {"embedding_model": "vllm/embed", "embedding_url": server.url, "method": "naive"}
        async with opened(url, **embedding) as trueweave:
            with pytest.raises(ModelRefused, match="401"):
                await trueweave.retrieve(QUESTION)
        assert len(server.calls) == 1


@pytest.mark.parametrize("role", ["model", "embedding"])
async def test_a_run_stops_at_once_where_its_model_was_never_reached(url: str, role: str) -> None:
    where = f"http://127.0.0.1:{free_port()}/v1"
    unreached = {"model": "vllm/any", "model_url": where, "extractor": "llm"}
    if role == "embedding":
        unreached = {"embedding_model": "vllm/any", "embedding_url": where}
    events = list[Event]()
    async with opened(url, **unreached) as trueweave:
        with pytest.raises(ModelUnavailable, match=r"cannot reach vllm/any .*Is it running, and the URL right\?"):
            await trueweave.add(Source("a", "Ada met Charles."), listener=events.append)
    assert not any(isinstance(event, Waiting) for event in events)


async def test_a_run_waits_for_an_embedder_that_answered_before_and_says_until_when(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "jitter", lambda _: 1.0)
    port, events = free_port(), list[Event]()
    embedding = {"embedding_model": "vllm/embed", "embedding_url": f"http://127.0.0.1:{port}/v1"}
    async with opened(url, **embedding) as trueweave:
        async with ModelServer(port=port):
            await trueweave.add(Source("a", "Ada met Charles."))
        adding = asyncio.create_task(trueweave.add(Source("b", "Byron met Shelley."), listener=events.append))
        async with asyncio.timeout(30):
            while not any(isinstance(event, Waiting) for event in events):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        async with ModelServer(port=port):
            assert (await asyncio.wait_for(adding, 90)).extracted == 1
    told = next(event for event in events if isinstance(event, Waiting))
    assert told.reason.endswith(f" Trying again in {told.pause:.0f} s (2 of 6).")
    assert told.pause == 1.0


async def test_a_server_that_is_overloaded_when_the_embedder_is_opened_is_asked_again(url: str) -> None:
    async with ModelServer(trouble=Trouble(at={0: Fault.OVERLOADED})) as server:
        embedding = {"embedding_model": "vllm/embed", "embedding_url": server.url, "method": "naive"}
        async with opened(url, **embedding) as trueweave:
            await trueweave.add_documents([DOCUMENT])
            assert (await trueweave.retrieve(QUESTION)).passages


async def test_first_questions_at_the_same_time_open_one_embedder(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = 0
    load = opening.open_embedder

    async def counting(*given: Any, **how: Any) -> Any:
        nonlocal loads
        loads += 1
        return await load(*given, **how)

    monkeypatch.setattr(opening, "open_embedder", counting)
    async with ModelServer(delay=0.05) as server:
        embedding = {"embedding_model": "vllm/embed", "embedding_url": server.url, "method": "naive"}
        async with opened(url, **embedding) as trueweave:
            await trueweave.add_documents([DOCUMENT])
        loads = 0
        async with opened(url, **embedding) as trueweave:
            await asyncio.gather(*(trueweave.retrieve(f"{QUESTION} {n}") for n in range(8)))
    assert loads == 1


async def test_two_runs_at_the_same_time_each_hear_their_own_events(url: str) -> None:
    trouble = Trouble(at={0: Fault.RATE_LIMIT_SECONDS, 1: Fault.RATE_LIMIT_SECONDS}, retry_after=1.0)
    heard: list[list[Event]] = [[], [], []]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer(trouble=trouble))
        trueweave = await stack.enter_async_context(opened(url, model="vllm/any", model_url=server.url))
        await trueweave.add_documents([DOCUMENT])
        await asyncio.gather(
            trueweave.ask(f"{QUESTION} 1", listener=heard[0].append),
            trueweave.ask(f"{QUESTION} 2", listener=heard[1].append),
            trueweave.add(Source("b", "Ada met Charles."), listener=heard[2].append),
        )
    for events in heard[:2]:
        [event] = [event for event in events if isinstance(event, Waiting)]
        assert event.reason.startswith("vllm/any at ")
        assert "answered 429, too many requests. Trying again in " in event.reason
        assert " s (2 of 6)." in event.reason
    assert not any(isinstance(event, Waiting) for event in heard[2])
