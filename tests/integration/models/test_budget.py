"""A cap holds, to the token, under any concurrency and over all workers; and a run goes on once it is raised."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

import psycopg
import pytest

from tests.paid_calls import paid_chat
from trueweave import Budget, Message, Spent
from trueweave.core.events import in_run
from trueweave.core.model_calls import Call, Purpose
from trueweave.core.money import Price
from trueweave.errors import BudgetReached, ConfigError, ModelUnavailable, PriceUnknown
from trueweave.extend import Database, Prompt, Reply, Workspace
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat
from trueweave.models.usage import most_prompt_tokens, prompt_tokens
from trueweave.store.postgres.money import ledger
from trueweave.store.postgres.money.ledger import PostgresLedger
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.testing import ModelServer
from trueweave.text import tokens

PRICE = Price(Decimal("0.15"), Decimal("0.60"))
TOKENS_IN, TOKENS_OUT = 40, 25


def prompt(n: int) -> Prompt:
    return Prompt((Message("user", f"What is said in chunk {n:03d}?"),), max_tokens=50)


MOST = most_prompt_tokens(prompt(0)) + 50


class Model:
    """Takes a moment, and always the same number of tokens."""

    model = "paid/model"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.calls += 1
        await asyncio.sleep(0.02)
        return Reply("something", TOKENS_IN, TOKENS_OUT)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


@dataclass(frozen=True)
class Till:
    """A worker's way to the purse: a pool of connections and a lease of its own."""

    workspace: Workspace
    ledger: PostgresLedger
    liveness: Liveness

    async def budget(self) -> Budget:
        async with self.workspace.transaction() as tx:
            return await ledger.budget(tx)

    async def allow(self, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        async with self.workspace.transaction() as tx:
            return await ledger.allow(tx, price, tokens)

    async def receipt(self) -> list[Spent]:
        async with self.workspace.transaction() as tx:
            return await ledger.receipt(tx)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Till]:
    async with Database(url) as database, Liveness(database) as liveness:
        workspace = await database.find_workspace("test", make=True)
        assert workspace is not None
        yield Till(workspace, PostgresLedger(workspace, liveness), liveness)


@pytest.fixture
async def till(url: str) -> AsyncIterator[Till]:
    async with opened(url) as made:
        yield made


@pytest.fixture
async def other(url: str) -> AsyncIterator[Till]:
    async with opened(url) as made:
        yield made


@pytest.fixture
def highest(url: str) -> Iterator[psycopg.Connection[tuple[int, Decimal]]]:
    """Writes down every state of the purse, as PostgreSQL itself sees it."""
    owner: psycopg.Connection[tuple[int, Decimal]] = psycopg.connect(url, autocommit=True)
    owner.execute("CREATE TABLE public.seen (tokens bigint, price numeric)")
    owner.execute("GRANT INSERT ON public.seen TO trueweave_app")
    owner.execute(
        "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen "
        "VALUES (NEW.tokens + NEW.held_tokens, NEW.price + NEW.held_price); RETURN NEW; END $$"
    )
    owner.execute("CREATE TRIGGER note AFTER UPDATE ON trueweave.budget FOR EACH ROW EXECUTE FUNCTION public.note()")
    yield owner
    owner.close()


async def test_64_calls_at_once_from_two_workers_never_exceed_a_cap_in_tokens(
    till: Till, other: Till, highest: psycopg.Connection[tuple[int, Decimal]]
) -> None:
    cap = 20 * (TOKENS_IN + TOKENS_OUT) + MOST - 1  # room for twenty; the next might take one token too many
    await till.allow(tokens=cap)
    model = Model()
    llms = [paid_chat(model, each.ledger, PRICE) for each in (till, other)]

    async def run() -> tuple[int, int]:
        calls = (llms[n % 2].complete(prompt(n), Purpose("extract", f"doc/{n}")) for n in range(64))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        done = sum(isinstance(outcome, Reply) for outcome in outcomes)
        reached = sum(isinstance(outcome, BudgetReached) for outcome in outcomes)
        assert done + reached == 64, outcomes
        return done, reached

    done, _ = await run()
    purse = await till.budget()
    seen = highest.execute("SELECT max(tokens), max(price) FROM public.seen").fetchone()
    assert seen is not None
    assert seen[0] <= cap
    assert (purse.tokens, purse.held_tokens) == (done * (TOKENS_IN + TOKENS_OUT), 0)
    # Whoever could not be sure to fit waited for the others, so nothing of the cap is left that a call would fit in.
    assert done == model.calls == 20
    assert cap - purse.tokens < MOST

    await till.allow(tokens=64 * (TOKENS_IN + TOKENS_OUT) + MOST)
    assert await run() == (64, 0)
    [spent] = await till.receipt()
    assert (spent.stage, spent.model, spent.calls, spent.lost) == ("extract", "paid/model", 84, 0)
    assert (spent.tokens_in, spent.tokens_out) == (84 * TOKENS_IN, 84 * TOKENS_OUT)


async def test_a_cap_in_money_holds_to_the_last_fraction(
    till: Till, other: Till, highest: psycopg.Connection[tuple[int, Decimal]]
) -> None:
    each = PRICE.of(TOKENS_IN, TOKENS_OUT)
    cap = 10 * each + PRICE.of(most_prompt_tokens(prompt(0)), 50)
    await till.allow(price=cap)
    llms = [paid_chat(Model(), one.ledger, PRICE) for one in (till, other)]
    calls = (llms[n % 2].complete(prompt(n), Purpose("extract")) for n in range(64))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    done = sum(isinstance(outcome, Reply) for outcome in outcomes)
    seen = highest.execute("SELECT max(tokens), max(price) FROM public.seen").fetchone()
    assert seen is not None
    assert seen[1] <= cap
    assert done == 11
    assert (await till.budget()).price == 11 * each


async def test_what_a_dead_worker_held_back_is_booked_by_the_calls_of_others_though_nobody_waits_for_it(
    url: str, till: Till, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "_LOOK_FOR_ABANDONED", 0.1)
    call = Call("paid/model", Purpose("extract"), MOST - 50, 50, None)
    async with opened(url) as dying:
        await dying.ledger.reserve(call)
    async with asyncio.timeout(40):
        while not (lost := [one for one in await till.receipt() if one.lost]):
            await till.ledger.release(await till.ledger.reserve(call), charged=False)
            await asyncio.sleep(0.2)
    assert [(one.lost, one.tokens_in + one.tokens_out) for one in lost] == [(1, MOST)]
    assert (await till.budget()).held_tokens == 0


async def test_a_budget_in_money_for_a_model_without_a_price_is_refused_before_anything_is_sent(till: Till) -> None:
    model = Model()
    await till.allow(price=Decimal(1))
    with pytest.raises(PriceUnknown, match=r"the price of paid/model is not known.*\[prices\]"):
        await paid_chat(model, till.ledger, None).complete(prompt(1), Purpose("extract"))
    assert model.calls == 0
    await till.allow(tokens=MOST)
    await paid_chat(model, till.ledger, None).complete(prompt(1), Purpose("extract"))
    assert [spent.price for spent in await till.receipt()] == [None]


@pytest.mark.parametrize(("charged", "booked"), [(False, 0), (True, MOST)])
async def test_a_call_that_brought_nothing_is_free_unless_it_may_have_been_charged(
    till: Till, charged: bool, booked: int
) -> None:
    class Broken(Model):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            raise ModelUnavailable("away", charged=charged)

    with pytest.raises(ModelUnavailable):
        await paid_chat(Broken(), till.ledger, PRICE).complete(prompt(1), Purpose("extract"))
    purse = await till.budget()
    assert (purse.tokens, purse.held_tokens) == (booked, 0)
    assert sum(spent.lost for spent in await till.receipt()) == (1 if charged else 0)


async def test_whoever_is_cancelled_while_money_is_held_back_for_them_leaves_nothing_held(till: Till) -> None:
    await till.allow(tokens=200 * MOST)
    call = Call("paid/model", Purpose("extract"), MOST - 50, 50, None)

    async def cancelled_after(seconds: float) -> None:
        reserving = asyncio.create_task(till.ledger.reserve(call))
        await asyncio.sleep(seconds)
        if not reserving.done():
            reserving.cancel()
        if not isinstance(found := (await asyncio.gather(reserving, return_exceptions=True))[0], BaseException):
            await till.ledger.release(found, charged=False)

    await asyncio.gather(*(cancelled_after(0.0005 * n) for n in range(80)))
    await till.ledger.aclose()
    assert (await till.budget()).held_tokens == 0


async def test_what_a_dead_worker_held_back_is_booked_as_lost_and_blocks_nobody_for_ever(url: str, till: Till) -> None:
    await till.allow(tokens=2 * MOST)
    call = Call("paid/model", Purpose("extract"), MOST - 50, 50, None)
    async with opened(url) as dying:
        await dying.ledger.reserve(call)
    await till.ledger.reserve(call)
    waiting = asyncio.create_task(till.ledger.reserve(call))
    async with asyncio.timeout(15):  # it may yet come back, as after a restart of the database
        while not (receipt := await till.receipt()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    [spent] = receipt
    assert (spent.lost, spent.tokens_in + spent.tokens_out) == (1, MOST)
    assert not waiting.done()  # our own call is still under way, and may leave something over
    await till.allow(tokens=MOST)
    await asyncio.wait_for(waiting, 5)


class Closed:
    """A rate limiter at which it is nobody's turn."""

    @asynccontextmanager
    async def acquire(self, tokens: int) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield


async def test_whoever_is_cancelled_before_its_turn_owes_nothing_and_after_that_the_most(till: Till) -> None:
    class Silent(Model):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            await asyncio.Event().wait()
            raise AssertionError

    waiting, asked = paid_chat(Model(), till.ledger, PRICE, limiter=Closed()), paid_chat(Silent(), till.ledger, PRICE)
    for llm, owed in ((waiting, 0), (asked, MOST)):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await llm.complete(prompt(1), Purpose("extract"))
        purse = await till.budget()
        assert (purse.tokens, purse.held_tokens) == (owed, 0)


async def test_so_many_calls_hold_something_back_while_they_wait_for_their_turn(till: Till) -> None:
    llm = paid_chat(Model(), till.ledger, PRICE, limiter=Closed(), places=3)
    calls = [asyncio.create_task(llm.complete(prompt(n), Purpose("extract"))) for n in range(10)]
    await asyncio.sleep(0.5)
    assert (await till.budget()).held_tokens == 3 * MOST
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    purse = await till.budget()
    assert (purse.tokens, purse.held_tokens) == (0, 0)


# --- servers that count wrongly -------------------------------------------------------------------------

ASKED = Prompt((Message("user", "What did Ada Lovelace write, and for whom? " * 10),), max_tokens=200)
ANSWER = "She wrote notes on the Analytical Engine, for Charles Babbage and all who came after him. " * 5
SENT, WRITTEN = prompt_tokens(ASKED), tokens.count(ANSWER)
NONSENSE = [True, -100_000_000, 2**70, 10**4000, "12", 1.5, float("nan"), [1], 10_000_001]


def usage(provider: str, value: object) -> dict[str, object]:
    names = {"vllm": ("prompt_tokens", "completion_tokens"), "ollama": ("prompt_eval_count", "eval_count")}
    return dict.fromkeys(names[provider], value)


@pytest.mark.parametrize("provider", ["vllm", "ollama"])
@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: str(value)[:12])
async def test_a_count_that_cannot_be_is_told_and_what_is_counted_here_is_booked(
    till: Till, provider: str, value: object
) -> None:
    told: list[str] = []
    async with ModelServer(lambda _: ANSWER, usage=usage(provider, value)) as server:
        chat = open_chat(endpoint(f"{provider}/any", url=server.url))
        try:
            with in_run(lambda event: told.append(str(event))):
                reply = await paid_chat(chat, till.ledger, PRICE).complete(ASKED, Purpose("answer"))
        finally:
            await chat.close()
    assert (reply.tokens_in, reply.tokens_out) == (SENT, WRITTEN)
    assert reply.price == PRICE.of(SENT, WRITTEN)
    purse = await till.budget()
    assert (purse.tokens, purse.held_tokens) == (SENT + WRITTEN, 0)
    assert len(told) == 2
    assert all("which cannot be" in one and len(one) < 200 for one in told)


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "booked"),
    [
        (0, 0, (SENT, WRITTEN)),  # it does not count
        (SENT + 7, WRITTEN + 3, (SENT + 7, WRITTEN + 3)),
        (SENT * 3 // 5, WRITTEN * 3 // 5, (SENT * 3 // 5, WRITTEN * 3 // 5)),  # another tokenizer
        (1, 1, (SENT // 2, WRITTEN // 2)),  # no tokenizer is so good
        (2**80, -5, (SENT, WRITTEN)),
    ],
)
async def test_what_is_booked_is_no_less_than_can_be_told_here_whatever_a_model_says(
    till: Till, tokens_in: int, tokens_out: int, booked: tuple[int, int]
) -> None:
    class Lying(Model):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            return Reply(ANSWER, tokens_in, tokens_out)

    reply = await paid_chat(Lying(), till.ledger, PRICE).complete(ASKED, Purpose("answer"))
    assert (reply.tokens_in, reply.tokens_out) == booked
    purse = await till.budget()
    assert (purse.tokens, purse.held_tokens) == (sum(booked), 0)


async def test_a_server_that_counts_nothing_cannot_go_beyond_a_cap(till: Till) -> None:
    most = most_prompt_tokens(ASKED) + ASKED.max_tokens
    await till.allow(tokens=3 * (SENT + WRITTEN) + most)
    async with ModelServer(lambda _: ANSWER, usage=usage("vllm", -(10**9))) as server:
        chat = open_chat(endpoint("vllm/any", url=server.url))
        llm = paid_chat(chat, till.ledger, None)
        for _ in range(4):
            await llm.complete(ASKED, Purpose("answer"))
        with pytest.raises(BudgetReached):
            await llm.complete(ASKED, Purpose("answer"))
        await chat.close()


# --- a budget for one run ----------------------------------------------------------------------------


async def test_a_run_s_budget_binds_all_workers_and_ends_with_the_run(till: Till, other: Till) -> None:
    llms = [paid_chat(Model(), each.ledger, PRICE) for each in (till, other)]
    async with till.ledger.run_budget(None, MOST):
        await llms[0].complete(prompt(0), Purpose("extract"))
        for llm in llms:
            with pytest.raises(BudgetReached, match="less than that is left for this run") as reached:
                await llm.complete(prompt(1), Purpose("extract"))
            assert reached.value.of_run
        with pytest.raises(ConfigError, match="another run in this workspace has its own budget"):
            async with other.ledger.run_budget(None, 1):
                pass
    assert (await till.budget()).token_cap is None
    await llms[1].complete(prompt(1), Purpose("extract"))


async def test_a_run_s_budget_allows_no_more_than_that_of_the_workspace(till: Till) -> None:
    await till.allow(tokens=MOST - 1)
    llm = paid_chat(Model(), till.ledger, PRICE)
    async with till.ledger.run_budget(None, 100 * MOST):
        with pytest.raises(BudgetReached, match="less than that is left to this workspace") as reached:
            await llm.complete(prompt(0), Purpose("extract"))
    assert not reached.value.of_run
    assert (await till.budget()).token_cap == MOST - 1


async def test_the_budget_of_a_run_whose_process_died_is_gone(url: str, till: Till) -> None:
    async with opened(url) as dying:
        run = dying.ledger.run_budget(None, 0)
        await run.__aenter__()  # and never left
        llm = paid_chat(Model(), till.ledger, PRICE)
        with pytest.raises(BudgetReached):
            await llm.complete(prompt(0), Purpose("extract"))
    await llm.complete(prompt(0), Purpose("extract"))  # its lease is given back


async def test_a_run_keeps_its_budget_under_another_number_of_its_process(url: str, till: Till) -> None:
    llm = paid_chat(Model(), till.ledger, PRICE)
    async with till.ledger.run_budget(None, 0):
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("DELETE FROM trueweave.process")
        before = till.liveness.owner
        async with asyncio.timeout(30):
            while till.liveness.owner == before:  # noqa: ASYNC110 (it is renewed in the background)
                await asyncio.sleep(0.05)
        with pytest.raises(BudgetReached):
            await llm.complete(prompt(0), Purpose("extract"))
    await llm.complete(prompt(0), Purpose("extract"))
