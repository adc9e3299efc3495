"""Models that are asked again, on a clock of the test's own."""

import logging
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from tests.paid_calls import patient_chat, patient_embedder
from trueweave import Message
from trueweave.core.events import Event, Waiting, in_run
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.extend import Prompt, Reply, Vectors
from trueweave.models.failures import asked_wait
from trueweave.models.retry import Clock, Patience
from trueweave.testing import HashEmbedder

PROMPT = Prompt((Message("user", "?"),), max_tokens=10)
PURPOSE = Purpose("test")
REPLY = Reply("!", 5, 1)
NOON = 1_763_208_000.0  # 2025-11-15 12:00:00 UTC


class FastClock(Clock):
    """Time passes by sleeping only, and chance is what the test says."""

    def __init__(self, jitter: float = 1.0) -> None:
        self.waits: list[float] = []
        self._jitter = jitter

    def now(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def jitter(self) -> float:
        return self._jitter


class Flaky:
    """Fails with these errors, one after the other, and answers from then on."""

    model = "test/flaky"

    def __init__(self, *errors: ModelError) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return REPLY

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


def down(retry_after: float | None = None, *, charged: bool = False) -> ModelUnavailable:
    return ModelUnavailable("test/flaky answered 503, overloaded.", retry_after=retry_after, charged=charged)


async def test_waits_double_up_to_the_longest_and_then_it_answers() -> None:
    clock = FastClock()
    patience = Patience(tries=6, first=1, longest=5)
    assert await patient_chat(Flaky(*[down()] * 5), patience, clock).complete(PROMPT, PURPOSE) == REPLY
    assert clock.waits == [1, 2, 4, 5, 5]


async def test_a_wait_is_anything_from_nothing_to_its_longest() -> None:
    waits = []
    for jitter in (0.0, 0.25, 1.0):
        clock = FastClock(jitter)
        await patient_chat(Flaky(down(), down()), Patience(first=4), clock).complete(PROMPT, PURPOSE)
        waits.append(clock.waits)
    assert waits == [[0, 0], [1, 2], [4, 8]]


async def test_the_server_is_left_alone_for_as_long_as_it_asks() -> None:
    clock = FastClock(jitter=0.5)
    await patient_chat(Flaky(down(retry_after=20)), Patience(first=2, longest=60), clock).complete(PROMPT, PURPOSE)
    assert clock.waits == [21]


async def test_a_server_that_asks_for_more_than_the_longest_wait_is_given_up_at_once() -> None:
    clock = FastClock()
    flaky = Flaky(down(retry_after=3600))
    with pytest.raises(ModelUnavailable, match=r"overloaded\. Tried once\. It asks callers to wait for 3600 s\."):
        await patient_chat(flaky, Patience(longest=60), clock).complete(PROMPT, PURPOSE)
    assert (flaky.asked, clock.waits) == (1, [])


async def test_giving_up_says_how_often_how_long_and_why() -> None:
    flaky = Flaky(*[down()] * 9)
    with pytest.raises(ModelUnavailable, match=r"answered 503, overloaded\. Tried 3 times in 3 s\. Try again later\."):
        await patient_chat(flaky, Patience(tries=3, first=1), FastClock()).complete(PROMPT, PURPOSE)
    assert flaky.asked == 3


@pytest.mark.parametrize("charges", [[False, True, False], [False, False, False]])
async def test_giving_up_says_whether_any_of_the_tries_may_have_been_charged(charges: list[bool]) -> None:
    flaky = Flaky(*(down(charged=charged) for charged in charges))
    with pytest.raises(ModelUnavailable) as raised:
        await patient_chat(flaky, Patience(tries=3), FastClock()).complete(PROMPT, PURPOSE)
    assert raised.value.charged is any(charges)


@pytest.mark.parametrize("error", [ModelRefused("wrong key"), BadReply("no use")])
async def test_what_does_not_pass_by_itself_is_not_tried_again(error: ModelError) -> None:
    clock = FastClock()
    flaky = Flaky(error)
    with pytest.raises(type(error), match=str(error)):
        await patient_chat(flaky, Patience(), clock).complete(PROMPT, PURPOSE)
    assert (flaky.asked, clock.waits) == (1, [])


async def test_an_embedder_is_asked_again_in_the_same_way_and_keeps_its_space() -> None:
    class FlakyEmbedder(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
            if errors:
                raise errors.pop()
            return await super().embed(texts, role)

    errors = [down(), down()]
    clock = FastClock()
    embedder = patient_embedder(FlakyEmbedder(), Patience(first=1), clock)
    plain = HashEmbedder()
    assert np.array_equal(await embedder.embed(["a", "b"], "document"), await plain.embed(["a", "b"], "document"))
    assert clock.waits == [1, 2]
    assert (embedder.model, embedder.dimensions, embedder.metric) == (plain.model, plain.dimensions, plain.metric)


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"first": -1.0}, {"longest": -1.0}])
def test_patience_must_make_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="is invalid"):
        Patience(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30.0),
        (" 0.5 ", 0.5),
        ("Sat, 15 Nov 2025 12:01:30 GMT", 90.0),
        ("Sat, 15 Nov 2025 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_and_as_a_date(header: str, seconds: float | None) -> None:
    assert asked_wait({"retry-after": header}, NOON) == seconds


def test_no_retry_after_is_no_wish() -> None:
    assert asked_wait({}, NOON) is None


async def test_longer_waits_are_told_with_their_reason() -> None:
    events: list[Event] = []
    patience = Patience(tries=4, first=0.5, longest=60)
    model = patient_chat(Flaky(down(), down(), down()), patience, FastClock())
    with in_run(events.append):
        await model.complete(PROMPT, PURPOSE)
    told = [(event.reason, event.pause) for event in events if isinstance(event, Waiting)]
    assert told == [
        ("test/flaky answered 503, overloaded. Trying again in 1 s (3 of 4).", 1.0),
        ("test/flaky answered 503, overloaded. Trying again in 2 s (4 of 4).", 2.0),
    ]


async def test_a_server_that_never_took_a_connection_is_given_up_at_once_where_somebody_watches() -> None:
    gone = ModelUnavailable("cannot reach test/flaky: connection refused.", unreachable=True)
    clock, flaky = FastClock(), Flaky(gone)
    model = patient_chat(flaky, Patience(), clock)
    with in_run(lambda _: None, is_watched=True):
        with pytest.raises(ModelUnavailable, match=r"connection refused\.$"):
            await model.complete(PROMPT, PURPOSE)
        assert (flaky.asked, clock.waits) == (1, [])
        assert await model.complete(PROMPT, PURPOSE) == REPLY
        flaky.errors = [gone, gone]
        assert await model.complete(PROMPT, PURPOSE) == REPLY
        assert len(clock.waits) == 2


async def test_a_server_that_takes_no_connection_is_given_up_at_once_for_a_question_and_waited_for_else() -> None:
    gone = ModelUnavailable("cannot reach test/flaky: connection refused.", unreachable=True)
    clock, flaky = FastClock(), Flaky(*[gone] * 3)
    with in_run(lambda _: None, is_question=True), pytest.raises(ModelUnavailable, match=r"connection refused\.$"):
        await patient_chat(flaky, Patience(), clock).complete(PROMPT, PURPOSE)
    assert (flaky.asked, clock.waits) == (1, [])
    assert await patient_chat(flaky, Patience(), clock).complete(PROMPT, PURPOSE) == REPLY
    assert len(clock.waits) == 2


async def test_each_retry_is_logged_with_the_model_and_without_what_the_server_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = patient_chat(Flaky(down(), down()), Patience(tries=5), FastClock())
    with caplog.at_level(logging.INFO, "trueweave"):
        await model.complete(PROMPT, PURPOSE)
    first, second = (record.__dict__ for record in caplog.records)
    assert (first["event"], first["model"], first["attempt"], first["attempts"]) == ("model.retry", "test/flaky", 1, 5)
    assert second["attempt"] == 2
    assert second["wait_seconds"] > 0
    assert "overloaded" not in caplog.text
