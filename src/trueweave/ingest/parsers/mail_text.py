"""What all mails have in common: their headings in the text, and their metadata."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from trueweave.core.record import Json
from trueweave.text.names import storable
from trueweave.text.text_builder import LINE, TextBuilder

MOST_ATTACHMENTS = 100
MOST_ADDRESSES = 100

_SHOWN_ADDRESSES = 20
_LONGEST_NAME = 100
_LONGEST_ID = 200
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f\u2028\u2029#]+")


@dataclass(frozen=True, slots=True)
class MailHead:
    """Who wrote a mail, when, to whom, and about what."""

    subject: str = ""
    author: str = ""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    date: datetime | None = None
    message_id: str = ""
    in_reply_to: str = ""

    def write(self, draft: TextBuilder) -> None:
        """Write it above the text of the mail, and into the metadata of the document."""
        draft.heading(self.subject, 1)
        shown = {
            "From": self.author,
            "To": _some(self.to),
            "Cc": _some(self.cc),
            "Date": f"{self.date:%Y-%m-%d %H:%M}" if self.date else "",
        }
        for name, value in shown.items():
            if value:
                draft.block(f"{name}: {value}", LINE)
        given: dict[str, Json] = {
            "author": self.author,
            "to": [*self.to],
            "cc": [*self.cc],
            "date": self.date.isoformat() if self.date else "",
            "message_id": self.message_id,
            "in_reply_to": self.in_reply_to,
        }
        draft.metadata.update({name: value for name, value in given.items() if value})


def _some(addresses: Sequence[str]) -> str:
    more = len(addresses) - _SHOWN_ADDRESSES
    return ", ".join(addresses[:_SHOWN_ADDRESSES]) + (f" and {more} more" if more > 0 else "")


def message_name(message_id: str, content: bytes) -> str:
    """The name of a mail among others: its Message-ID, or else a hash of its content."""
    name = _UNPRINTABLE.sub("", storable(message_id)).strip("<>")
    return name if 0 < len(name) <= _LONGEST_ID else hashlib.sha256(content).hexdigest()[:32]


def plain_id(text: str) -> str:
    """A Message-ID without its brackets."""
    return text.strip().strip("<>")[:_LONGEST_ID]


def attachment_name(given: str, otherwise: str) -> str:
    """The name of an attachment in uris, without folders and unusual characters. It is never used as a path."""
    name = _UNPRINTABLE.sub(" ", storable(given).replace("\\", "/").rpartition("/")[2]).strip(" .")
    if len(name) > _LONGEST_NAME:
        suffix = PurePosixPath(name).suffix
        name = (
            name[: _LONGEST_NAME - len(suffix)] + suffix if len(suffix) < _LONGEST_NAME // 2 else name[:_LONGEST_NAME]
        )
    return name or otherwise


def bounded(attachments: Sequence[tuple[str, bytes]], draft: TextBuilder) -> tuple[tuple[str, bytes], ...]:
    """The first attachments, each with a name of its own; the others are noted."""
    if (more := len(attachments) - MOST_ATTACHMENTS) > 0:
        draft.notes.append(f"{more:,} of its {len(attachments):,} attachments were not read: there are too many")
    taken: dict[str, bytes] = {}
    for name, data in attachments[:MOST_ATTACHMENTS]:
        path, n, unique = PurePosixPath(name), 1, name
        while unique in taken:
            n += 1
            unique = f"{path.stem} ({n}){path.suffix}"
        taken[unique] = data
    return tuple(taken.items())
