"""Trueweave and AsyncTrueweave have one surface, and Trueweave's thread behaves."""

import asyncio
import inspect
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import get_type_hints

import pytest

from trueweave import AsyncConversation, AsyncTrueweave, Conversation, Trueweave, TrueweaveError
from trueweave.core.waiting import LoopThread
from trueweave.engine import sync

# The constructor, what is of the event loop's own database or for its workers, and `close`.
LEFT_OUT = {
    "open",
    "enter",
    "aclose",
    "database",
    "workspace",
    "worker_dependencies",
    "model_and_prompts",
    "varied",
    "estimate_varied",
    "source_runs",
    "watch_runs",
    "clean_up",
    "projection",
    "for_run",
}
INSTEAD = {
    r"(AsyncIterator|Stream)\b": "Iterator",
    r"AsyncTrueweave\b": "Trueweave",
    r"AsyncConversation\b": "Conversation",
    r"asyncio\.Event": "threading.Event",
}


def members(kind: type) -> dict[str, object]:
    return {name: value for name, value in inspect.getmembers_static(kind) if not name.startswith("_")}


def signature(function: object) -> str:
    """Names, kinds, types and defaults, as they are without async."""
    assert callable(function)
    found = inspect.signature(function)
    shown = str(found.replace(parameters=list(found.parameters.values())[1:]))
    for pattern, plain in INSTEAD.items():
        shown = re.sub(pattern, plain, shown)
    return shown


def unwrapped(member: object) -> object:
    if isinstance(member, property):
        return member.fget
    return getattr(member, "__func__", member)


GROUPS = {name: kind for name, kind in get_type_hints(AsyncTrueweave).items() if not name.startswith("_")}
PAIRS: list[tuple[type, type]] = [
    (Trueweave, AsyncTrueweave),
    *((getattr(sync, kind.__name__.removeprefix("Async")), kind) for kind in GROUPS.values()),
    (Conversation, AsyncConversation),
]


def test_both_have_the_same_names() -> None:
    assert set(members(Trueweave)) - {"close", "workspace", *GROUPS} == set(members(AsyncTrueweave)) - LEFT_OUT
    named = "graph communities rules access history bench sources watches jobs budget projections certificates records"
    assert {*named.split(), "vectors", "maintenance"} == set(GROUPS) <= set(members(Trueweave))
    for mine, other in PAIRS[1:]:
        assert set(members(mine)) == set(members(other)) - LEFT_OUT


@pytest.mark.parametrize(
    ("kinds", "name"), [(pair, name) for pair in PAIRS for name in sorted(set(members(pair[1])) - LEFT_OUT)]
)
def test_both_have_the_same_signature_and_docstring(kinds: tuple[type, type], name: str) -> None:
    mine, other = members(kinds[0])[name], members(kinds[1])[name]
    assert type(mine) is type(other)
    assert signature(unwrapped(mine)) == signature(unwrapped(other))
    assert inspect.getdoc(mine) == inspect.getdoc(other)
    assert not inspect.iscoroutinefunction(mine)


def test_the_constructor_is_what_open_is() -> None:
    opening = inspect.unwrap(AsyncTrueweave.open)
    mine = inspect.signature(Trueweave.__init__).parameters
    other = inspect.signature(opening).parameters
    assert list(mine.values())[1:] == list(other.values())[1:]
    assert inspect.getdoc(Trueweave.__init__) == inspect.getdoc(opening)


def test_a_constructor_does_nothing_and_closing_it_neither() -> None:
    before = threading.active_count()
    trueweave = Trueweave("postgresql://nobody@127.0.0.1:1/nothing")
    trueweave.close()
    assert threading.active_count() == before
    with pytest.raises(TrueweaveError, match="is closed"):
        trueweave.status()


def test_what_cannot_be_opened_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    trueweave = Trueweave("postgresql://nobody@127.0.0.1:1/nothing")
    for _ in range(2):
        with pytest.raises(TrueweaveError, match="cannot work with the database"):
            trueweave.status()
    assert threading.active_count() == before


# --- the thread ---------------------------------------------------------------------------------------


async def nothing() -> None:
    pass


async def forever(seen: list[str]) -> None:
    seen.append("begun")
    try:
        await asyncio.sleep(3600)
    finally:
        await asyncio.sleep(0.05)
        seen.append("ended")


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def test_an_interrupted_call_is_cancelled_and_its_end_waited_for() -> None:
    thread, seen = LoopThread(), list[str]()

    main = threading.get_ident()

    def interrupt() -> None:
        assert within(5, lambda: bool(seen))
        signal.pthread_kill(main, signal.SIGINT)

    def raised(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raised)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.wait_for(partial(forever, seen))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["begun", "ended"]
    thread.wait_for(nothing)  # it goes on
    thread.close()


def test_closing_ends_what_other_threads_wait_for() -> None:
    thread, seen, told = LoopThread(), list[str](), list[str]()

    def call() -> None:
        try:
            thread.wait_for(partial(forever, seen))
        except TrueweaveError as error:
            told.append(str(error))

    waiting = threading.Thread(target=call)
    waiting.start()
    assert within(5, lambda: bool(seen))
    thread.close()
    thread.close()
    waiting.join(5)
    assert seen == ["begun", "ended"]
    assert told == ["this Trueweave is closed. Open the workspace again with another."]
    with pytest.raises(TrueweaveError, match="is closed"):
        thread.wait_for(nothing)


def test_calls_that_race_with_closing_end_all_the_same() -> None:
    for _ in range(20):
        thread = LoopThread()
        outcomes: list[str] = []

        def call(thread: LoopThread = thread, outcomes: list[str] = outcomes) -> None:
            try:
                while True:
                    thread.wait_for(partial(asyncio.sleep, 0))
            except TrueweaveError:
                outcomes.append("closed")

        callers = [threading.Thread(target=call) for _ in range(4)]
        for caller in callers:
            caller.start()
        thread.close()
        for caller in callers:
            caller.join(5)
        assert outcomes == ["closed"] * 4


def test_the_thread_itself_cannot_wait_for_itself() -> None:
    thread = LoopThread()

    async def call() -> None:
        thread.wait_for(nothing)

    with pytest.raises(TrueweaveError, match="a listener cannot call the Trueweave that it listens to"):
        thread.wait_for(call)
    thread.close()


def test_what_was_opened_is_let_go_even_where_that_fails() -> None:
    thread, seen = LoopThread(), list[str]()

    @asynccontextmanager
    async def opening() -> AsyncIterator[AsyncTrueweave]:
        seen.append("opened")
        try:
            yield AsyncTrueweave.__new__(AsyncTrueweave)
        finally:
            seen.append("let go")

    thread.open(opening)
    thread.close()
    assert seen == ["opened", "let go"]


def test_a_program_that_never_closes_ends(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from trueweave.core.waiting import WaitingCalls\n"
        "from contextlib import asynccontextmanager\n"
        "@asynccontextmanager\n"
        "async def opening():\n"
        "    yield None\n"
        "    print('let go')\n"
        "waiting = WaitingCalls(opening)\n"
        "waiting.__enter__()\n"
    )
    done = subprocess.run((sys.executable, program), text=True, capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("let go\n", "")
