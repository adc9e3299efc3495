"""Logs slow statements: which statement and how long it took, never its values."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger(__name__)

_SHOWN = 200  # characters shown of a statement that has no name


@contextmanager
def timed(statement: str, slow_after: float) -> Iterator[None]:
    """Log a statement, by name or text, that takes at least `slow_after` seconds; 0 disables this. The text contains no
    values: they are bound parameters."""
    if not slow_after:
        yield
        return
    began = time.monotonic()
    try:
        yield
    finally:
        if (took := time.monotonic() - began) >= slow_after:
            shown = " ".join(statement.split())[:_SHOWN]
            about = {"event": "statement.slow", "statement": shown, "seconds": round(took, 3)}
            _log.info("slow statement: %s took %.1f s", shown, took, extra=about)
