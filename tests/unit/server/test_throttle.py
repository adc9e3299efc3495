"""Limits on the requests of one key, by a clock of the test's own."""

from contextlib import ExitStack

import pytest

from trueweave.server.problems import Refusal
from trueweave.server.throttle import Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def refused(throttle: Throttle, caller: str = "a") -> str:
    with pytest.raises(Refusal) as told, throttle.request(caller):
        pass
    assert (told.value.status_code, told.value.code) == (429, "too_many_requests")
    return (told.value.headers or {})["Retry-After"]


def test_a_key_has_so_many_requests_under_way_and_no_more() -> None:
    throttle = Throttle(2, None)
    with ExitStack() as under_way:
        for _ in range(2):
            under_way.enter_context(throttle.request("a"))
        assert refused(throttle) == "1"
        with throttle.request("b"):
            pass
    with throttle.request("a"):
        pass


def test_a_request_that_fails_is_over() -> None:
    throttle = Throttle(1, None)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), throttle.request("a"):
            raise ZeroDivisionError


def test_a_minute_s_requests_come_again_one_by_one() -> None:
    clock = Clock()
    throttle = Throttle(10, 6, clock)
    for _ in range(6):
        with throttle.request("a"):
            pass
    assert refused(throttle) == "10"
    clock.now = 4.0
    assert refused(throttle) == "6"
    clock.now = 10.0
    with throttle.request("a"):
        pass
    assert refused(throttle) == "10"
    clock.now = 1000.0
    for _ in range(6):
        with throttle.request("a"):
            pass
    assert refused(throttle) == "10"


def test_keys_that_ask_nothing_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueweave.server.throttle._MOST_KEYS", 3)
    throttle = Throttle(1, 60, Clock())
    for n in range(50):
        with throttle.request(str(n)):
            pass
    assert len(throttle._usage) <= 4
