"""What a reader reports while reading: rows that it cannot use, and what could not be imported."""

from __future__ import annotations

import logging

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Listener, Noted, Refused

_log = logging.getLogger(__name__)


def note(listener: Listener | None, text: str) -> None:
    """Report something about the whole import: to the listener, or else to the log."""
    if listener is None:
        _log.warning(text)
    else:
        listener(Noted(text))


def refuse(listener: Listener | None, place: str, error: InvalidDocument) -> None:
    """Report that one row cannot be used, and continue; without a listener, raise the error."""
    if listener is None:
        raise error
    listener(Refused(place, str(error)))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
