"""Ctrl-C and SIGTERM: the first lets what is begun come to its end, the second stops it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

Work = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


async def until_stopped(work: Work, line: Callable[[str], None]) -> bool:
    """Work until a signal comes; whether a second one came, too."""
    stop = asyncio.Event()
    working = asyncio.create_task(work(stop))

    def on_signal() -> None:
        if stop.is_set():
            working.cancel()
        else:
            line("stopping: what is begun is brought to its end")
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
