"""Ctrl-C and SIGTERM: the first finishes what has been started, the second stops it immediately."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

Work = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


async def until_stopped(work: Work, line: Callable[[str], None]) -> bool:
    """Run until a signal; returns whether there was a second signal."""
    stop = asyncio.Event()
    working = asyncio.create_task(work(stop))

    def on_signal() -> None:
        if stop.is_set():
            working.cancel()
        else:
            line("stopping: finishing what has been started")
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        await working
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
        return True
    return False
