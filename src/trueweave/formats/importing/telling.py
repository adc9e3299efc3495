"""What a reader says while it reads: rows that it cannot use, and what did not carry over."""

from __future__ import annotations

import logging

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Listener, Noted, Refused

_log = logging.getLogger(__name__)


def note(listener: Listener | None, text: str) -> None:
    """Say something about all that was read: to the listener, or else to the log."""
    if listener is None:
        _log.warning(text)
    else:
        listener(Noted(text))


def refuse(listener: Listener | None, place: str, error: InvalidDocument) -> None:
    """Say that one row cannot be used, and go on; without a listener it is an error."""
    if listener is None:
        raise error
    listener(Refused(place, str(error)))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
