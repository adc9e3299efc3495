"""What a model replied is kept, and asked for once, whoever asks and whoever dies meanwhile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.paid_calls import cached_chat, cached_embedder
from trueweave import Message
from trueweave.core.model_calls import Call, Purpose, TextRole
from trueweave.extend import Database, Embedder, Prompt, Reply, StreamingLLM, Vectors, Workspace
from trueweave.models.paid import PaidChat, PaidEmbedder
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.testing import HashEmbedder

WHY = Purpose("extract", "notes/1")


def prompt(words: str) -> Prompt:
    return Prompt((Message("user", words),), 100)


class Counting:
    """A model that counts how often it is asked, and answers when it is let."""

    model = "testing/counting"

    def __init__(self) -> None:
        self.asked = 0
        self.let = asyncio.Event()
        self.let.set()

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.asked += 1
        await self.let.wait()
        return Reply(f"{self.asked}: {prompt.messages[0].content}", 7, 3)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


def cached(model: StreamingLLM, workspace: Workspace, process: Liveness) -> PaidChat:
    return cached_chat(model, PostgresReplies(workspace, process, model.model))


def embedding(model: Embedder, workspace: Workspace, process: Liveness) -> PaidEmbedder:
    return cached_embedder(model, PostgresReplies(workspace, process, model.model))


async def test_the_same_prompt_is_asked_once_by_any_number_of_callers_in_two_processes(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    model = Counting()
    model.let.clear()
    here, there = (cached(model, workspace, p) for p in processes[:2])
    calls = [asyncio.create_task(llm.complete(prompt("hello"), WHY)) for llm in (here, there) for _ in range(20)]
    await asyncio.sleep(0.1)
    model.let.set()
    found = Counter(await asyncio.gather(*calls))
    assert found == {Reply("1: hello", 7, 3): 1, Reply("1: hello", 7, 3, price=Decimal(0), kept=True): 39}
    assert model.asked == 1
    assert (await here.complete(prompt("hullo"), WHY)).text == "2: hullo"


async def test_what_the_reply_depends_on_is_in_the_key_and_what_it_is_for_is_not(
    database: Database, workspace: Workspace, liveness: Liveness
) -> None:
    model = Counting()
    llm = cached(model, workspace, liveness)
    await llm.complete(prompt("hello"), WHY)
    await llm.complete(prompt("hello"), Purpose("glean", "another"))
    assert model.asked == 1
    message = Message("user", "hello")
    for other in (
        Prompt((message,), 101),
        Prompt((message,), 100, schema="{}"),
        Prompt((message,), 100, temperature=0.5),
        Prompt((Message("system", "hello"),), 100),
        Prompt((message, message), 100),
    ):
        before = model.asked
        await llm.complete(other, WHY)
        assert model.asked == before + 1, other


async def test_what_a_dead_process_began_to_ask_is_asked_by_another_and_not_before(
    database: Database, workspace: Workspace, liveness: Liveness
) -> None:
    key = uuid4()
    async with Liveness(database) as dying:
        assert await PostgresReplies(workspace, dying, "m").ask(key) is None
        waiting = asyncio.create_task(PostgresReplies(workspace, liveness, "m").ask(key))
        await asyncio.sleep(0.3)
        assert not waiting.done()
    assert await asyncio.wait_for(waiting, 15) is None


async def test_the_first_reply_stays(database: Database, workspace: Workspace, liveness: Liveness) -> None:
    replies = PostgresReplies(workspace, liveness, "m")
    key = UUID(int=1)
    assert await replies.keep(key, b"first", Purpose("answer")) == b"first"
    assert await replies.keep(key, b"second", Purpose("answer")) == b"first"
    assert await replies.ask(key) == b"first"


async def test_a_call_that_failed_is_anybodys_again(
    database: Database, workspace: Workspace, liveness: Liveness
) -> None:
    class Failing(Counting):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            if self.asked == 0:
                self.asked += 1
                raise ConnectionError("away")
            return await super().complete(prompt, purpose)

    llm = cached(Failing(), workspace, liveness)
    with pytest.raises(ConnectionError):
        await llm.complete(prompt("hello"), WHY)
    assert (await asyncio.wait_for(llm.complete(prompt("hello"), WHY), 5)).text == "2: hello"


async def test_a_text_is_embedded_once(database: Database, workspace: Workspace, liveness: Liveness) -> None:
    embedded: list[str] = []

    class CountingEmbedder(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            embedded.extend(texts)
            return await super().embed(texts, role)

    bare = CountingEmbedder(8)
    embedder = embedding(bare, workspace, liveness)
    words = ["one", "two", "one", "three"]
    first = await embedder.embed(words, "document")
    again = await embedder.embed(list(reversed(words)), "document")
    assert again[::-1].tolist() == first.tolist() == (await bare.embed(words, "document")).tolist()
    assert sorted(embedded[:3]) == ["one", "three", "two"]
    assert len(embedded) == 3 + len(words)
    assert (await embedder.embed([], "document")).shape == (0, 8)


async def cancelled_after(call: Coroutine[Any, Any, object], seconds: float) -> None:
    task = asyncio.create_task(call)
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


MOMENTS = [0.0005 * n for n in range(80)]  # from before a batch is gathered until after it is carried out


async def test_whoever_is_cancelled_at_any_moment_leaves_the_question_to_others(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    model = Counting()
    model.let.clear()
    llms = [cached(model, workspace, processes[0]) for _ in MOMENTS]
    asked = [prompt(f"{n}") for n in range(len(MOMENTS))]
    calls = zip(llms, asked, MOMENTS, strict=True)
    await asyncio.gather(*(cancelled_after(llm.complete(what, WHY), after) for llm, what, after in calls))
    model.let.set()
    there = cached(model, workspace, processes[1])
    async with asyncio.timeout(10):
        assert len(await asyncio.gather(*(there.complete(what, WHY) for what in asked))) == len(asked)
        # The same in the process itself, also where two ask the same and one of them leaves.
        again = prompt("again")
        await asyncio.gather(*(cancelled_after(llms[0].complete(again, WHY), after) for after in MOMENTS))
        assert (await llms[0].complete(again, WHY)).text.endswith("again")


async def test_whoever_is_cancelled_at_any_moment_leaves_the_texts_to_be_embedded_by_others(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    class Slow(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            await asyncio.sleep(0.01)
            return await super().embed(texts, role)

    bare = Slow(8)
    here, there = (embedding(bare, workspace, p) for p in processes[:2])
    texts = [f"text {n}" for n in range(1000)]
    parts = [texts[at : at + 100] for at in range(0, 1000, 50)]
    moments = [0.004 * n for n in range(len(parts))]
    await asyncio.gather(
        *(cancelled_after(here.embed(part, "document"), after) for part, after in zip(parts, moments, strict=True))
    )
    async with asyncio.timeout(10):
        assert (await there.embed(texts, "document")).shape == (1000, 8)


async def test_two_processes_embed_the_same_texts_in_opposite_order_and_each_text_once(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    embedded: Counter[str] = Counter()

    class CountingEmbedder(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            embedded.update(texts)
            await asyncio.sleep(0.02)
            return await super().embed(texts, role)

    bare = CountingEmbedder(8)
    here, there = (embedding(bare, workspace, p) for p in processes[:2])
    texts = [f"text {n}" for n in range(600)]
    async with asyncio.timeout(10):
        forth, back = await asyncio.gather(here.embed(texts, "document"), there.embed(texts[::-1], "document"))
    assert forth.tolist() == back[::-1].tolist()
    assert (len(embedded), set(embedded.values())) == (600, {1})


async def test_texts_whose_call_failed_are_anybodys_again_and_the_others_are_kept(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    class Failing(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            if "text 70" in texts:
                raise ConnectionError("away")
            return await super().embed(texts, role)

    embedded: list[str] = []

    class CountingEmbedder(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            embedded.extend(texts)
            return await super().embed(texts, role)

    texts = [f"text {n}" for n in range(130)]
    failing, counting = Failing(8), CountingEmbedder(8)
    with pytest.raises(ConnectionError, match="away"):
        await embedding(failing, workspace, processes[0]).embed(texts, "document")
    async with asyncio.timeout(10):
        await embedding(counting, workspace, processes[1]).embed(texts, "document")
    assert sorted(embedded) == sorted(texts[64:128])


class Killed(BaseException):
    """The process ends here: nothing after this is done."""


class EndingLedger:
    """A ledger whose process is killed when a call is to be booked."""

    async def reserve(self, call: Call) -> UUID:
        return UUID(int=1)

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
        raise Killed

    async def release(self, id: UUID, *, charged: bool) -> None:
        raise AssertionError("the call was made")


async def test_what_a_process_that_was_killed_had_asked_but_not_booked_is_not_asked_again(
    database: Database, workspace: Workspace, liveness: Liveness
) -> None:
    embedded: list[str] = []

    class CountingEmbedder(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            embedded.extend(texts)
            return await super().embed(texts, role)

    model, bare = Counting(), CountingEmbedder(8)
    async with Liveness(database) as dying:
        replies, vectors = (PostgresReplies(workspace, dying, one.model) for one in (model, bare))
        llm = cached_chat(model, replies, EndingLedger())
        with pytest.raises(Killed):
            await llm.complete(prompt("hello"), WHY)
        with pytest.raises(Killed):
            await cached_embedder(bare, vectors, EndingLedger()).embed(["one", "two"], "document")
    assert (await cached(model, workspace, liveness).complete(prompt("hello"), WHY)).text == "1: hello"
    await embedding(bare, workspace, liveness).embed(["two", "one"], "document")
    assert (model.asked, embedded) == (1, ["one", "two"])


async def test_a_reply_that_is_being_kept_is_not_asked_again_when_its_caller_leaves(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    class SlowReplies(PostgresReplies):
        async def _keep_all(self, replies: Sequence[tuple[UUID, bytes, Purpose]]) -> list[bytes]:
            await asyncio.sleep(0.5)
            return await super()._keep_all(replies)

    model = Counting()
    replies = SlowReplies(workspace, processes[0], model.model)
    llm = cached_chat(model, replies)
    await cancelled_after(llm.complete(prompt("hello"), WHY), 0.2)
    assert model.asked == 1
    async with asyncio.timeout(10):
        assert (await cached(model, workspace, processes[1]).complete(prompt("hello"), WHY)).text == "1: hello"
    assert model.asked == 1
