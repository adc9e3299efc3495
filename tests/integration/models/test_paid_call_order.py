"""Chat, streamed chat, embedding and reranking take the same steps in the same order, as the factory builds them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from trueweave.core.errors import ModelUnavailable
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply, TextRole
from trueweave.core.protocols import Vectors
from trueweave.core.settings import Settings
from trueweave.engine.factory import ModelFactory
from trueweave.engine.workspace_models import WorkspaceModels
from trueweave.models.retry import Clock
from trueweave.models.usage import most_text_tokens
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.money import ledger
from trueweave.store.postgres.money.ledger import PostgresLedger
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.rate_limit import SharedRateLimiter
from trueweave.testing import HashEmbedder

PROMPT = Prompt((Message("user", "Who?"),), max_tokens=10)
PURPOSE = Purpose("test")
NAME = "vllm/any"  # of a server of one's own, so that it has a price

Steps = list[str]


class Model:
    """Chats, embeds and reranks. The first `failures` requests fail."""

    model, dimensions = NAME, 8
    metric: Metric = "cosine"

    def __init__(self, steps: Steps, failures: int = 0) -> None:
        self._steps = steps
        self._failures = failures

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self._ask()
        return Reply("Ada.", 5, 2)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        self._ask()
        yield "Ada."
        yield Reply("Ada.", 5, 2)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self._ask()
        return await HashEmbedder(8).embed(texts, role)

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self._ask()
        return [1.0] * len(texts)

    def _ask(self) -> None:
        self._steps.append("ask")
        if self._failures:
            self._failures -= 1
            raise ModelUnavailable("overloaded")


async def chat(models: WorkspaceModels, model: Any) -> None:
    await models.paid_chat(model).complete(PROMPT, PURPOSE)


async def stream(models: WorkspaceModels, model: Any) -> None:
    async with aclosing(models.paid_chat(model).stream(PROMPT, PURPOSE)) as pieces:
        assert [piece async for piece in pieces if isinstance(piece, str)] == ["Ada."]


async def embed(models: WorkspaceModels, model: Any) -> None:
    await models.paid_embedder(model, NAME).embed(["Ada"], "document")


async def rerank(models: WorkspaceModels, model: Any) -> None:
    await models.paid_reranker(model, NAME).score("Who?", ["Ada", "Babbage"])


KINDS = pytest.mark.parametrize("ask", [chat, stream, embed, rerank])


@pytest.fixture
async def models(database: Database, workspace: Workspace) -> AsyncIterator[WorkspaceModels]:
    async with (
        ModelFactory(database) as factory,
        aclosing(await WorkspaceModels.open(factory, workspace, Settings(model_tries=3, calls_at_once=1))) as made,
    ):
        yield made


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """The steps of paid calls, written down as they are taken."""
    taken: Steps = []

    def note(owner: type, method: str, step: str) -> None:
        bare = getattr(owner, method)

        async def noted(self: Any, *args: Any, **given: Any) -> Any:
            taken.append(step)
            return await bare(self, *args, **given)

        monkeypatch.setattr(owner, method, noted)

    for owner, method, step in [
        (PostgresReplies, "ask", "look up"),
        (PostgresReplies, "claim", "look up"),
        (PostgresReplies, "keep", "store"),
        (PostgresReplies, "forget", "forget"),
        (PostgresLedger, "reserve", "hold"),
        (PostgresLedger, "book", "book"),
        (PostgresLedger, "release", "release"),
        (Clock, "sleep", "pause"),
    ]:
        note(owner, method, step)
    acquire = SharedRateLimiter.acquire

    @asynccontextmanager
    async def noted(self: SharedRateLimiter, tokens: int) -> AsyncIterator[None]:
        async with acquire(self, tokens):
            taken.append("slot")
            try:
                yield
            finally:
                taken.append("slot free")

    monkeypatch.setattr(SharedRateLimiter, "acquire", noted)
    return taken


def expected(ask: Callable[..., object], *steps: str) -> Steps:
    """These steps; scores are not cached."""
    return [step for step in steps if ask is not rerank or step not in ("look up", "store", "forget")]


@KINDS
async def test_the_order_of_a_call(ask: Any, models: WorkspaceModels, steps: Steps) -> None:
    await ask(models, Model(steps))
    assert steps == expected(ask, "look up", "hold", "slot", "ask", "slot free", "store", "book")


@KINDS
async def test_each_attempt_holds_its_own_money_and_slot_and_a_pause_holds_neither(
    ask: Any, models: WorkspaceModels, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "jitter", lambda _: 0.0)
    await ask(models, Model(steps, failures=1))
    failed = "hold", "slot", "ask", "slot free", "release", "pause"
    assert steps == expected(ask, "look up", *failed, "hold", "slot", "ask", "slot free", "store", "book")


@KINDS
async def test_a_call_that_is_given_up_leaves_nothing_behind(
    ask: Any, models: WorkspaceModels, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "jitter", lambda _: 0.0)
    with pytest.raises(ModelUnavailable, match="overloaded Tried 3 times"):
        await ask(models, Model(steps, failures=3))
    failed = "hold", "slot", "ask", "slot free", "release"
    assert steps == expected(ask, "look up", *failed, "pause", *failed, "pause", *failed, "forget")


@KINDS
async def test_a_call_that_is_being_booked_holds_no_slot(
    ask: Any, models: WorkspaceModels, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one slot for all calls, a second call is asked while the first is booked."""
    booking, go_on = asyncio.Event(), asyncio.Event()
    book = PostgresLedger.book

    async def slow(self: PostgresLedger, id: UUID, *cost: Any) -> None:
        if not booking.is_set():
            booking.set()
            await go_on.wait()
        await book(self, id, *cost)

    monkeypatch.setattr(PostgresLedger, "book", slow)
    async with asyncio.timeout(10):
        first = asyncio.create_task(ask(models, Model(steps)))
        await booking.wait()
        await models.paid_reranker(Model(steps), NAME).score("Where?", ["Ada"])
        assert not first.done()
        go_on.set()
        await first


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no slot for anybody."""

    @asynccontextmanager
    async def acquire(self: SharedRateLimiter, tokens: int) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    monkeypatch.setattr(SharedRateLimiter, "acquire", acquire)


async def cancelled_while_waiting(call: Coroutine[Any, Any, object], workspace: Workspace) -> int:
    """The tokens that the workspace holds while a call waits for a slot. Then it is cancelled."""
    waiting = asyncio.create_task(call)
    held = 0
    async with asyncio.timeout(10):
        while not held:
            await asyncio.sleep(0.2)
            async with workspace.transaction() as tx:
                held = (await ledger.budget(tx)).held_tokens
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return held


@KINDS
@pytest.mark.usefixtures("closed")
async def test_a_call_that_is_cancelled_while_it_waits_for_a_slot_costs_nothing(
    ask: Any, models: WorkspaceModels, steps: Steps, workspace: Workspace
) -> None:
    assert await cancelled_while_waiting(ask(models, Model(steps)), workspace)
    assert steps == expected(ask, "look up", "hold", "release", "forget")
    async with workspace.transaction() as tx:
        budget = await ledger.budget(tx)
    assert (budget.tokens, budget.held_tokens) == (0, 0)


@pytest.mark.usefixtures("closed")
async def test_few_batches_of_texts_hold_money_while_they_wait_for_a_slot(
    models: WorkspaceModels, steps: Steps, workspace: Workspace
) -> None:
    texts = [f"text {n:04}" for n in range(64 * 10)]
    call = models.paid_embedder(Model(steps), NAME).embed(texts, "document")
    batch = most_text_tokens(texts[:64])
    assert await cancelled_while_waiting(call, workspace) == 2 * batch, "two calls for the one slot"
