"""Mailboxes in one file (mbox): each mail is a document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trueweave.core.errors import UnreadableFile
from trueweave.core.events import Refused, Skipped
from trueweave.core.record import Json, Source
from trueweave.ingest import reading_limits
from trueweave.ingest.loading.mail import LARGEST_MAIL, MAIL_PARSER, Mail, MailReader
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.seen import Seen
from trueweave.text.uris import ROW

_SEPARATOR = re.compile(rb"From .{0,500}\d\d:\d\d")  # a line of the text may begin with "From", but has no time
_BLOCK = 2**20
_LINES = 2**14  # how often limits are checked


@dataclass(frozen=True, slots=True)
class Mailbox(Mail):
    """Reads the mails of a mailbox, each under its Message-ID, and their attachments."""

    suffixes: frozenset[str] = frozenset({".mbox"})

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        sessions = ParserSession(self.limits), ParserSession(self.limits)  # the second for mails attached to mails
        with sessions[0] as session, sessions[1] as nested, Seen() as seen:
            reader = MailReader(nested, self.ocr, self.picture_model)
            for span, parsed in session.each(MAIL_PARSER, _mails(path), lambda span: span.task(path)):
                origin = f"{path}, mail {span.number}"
                if isinstance(parsed, UnreadableFile):
                    yield Refused(origin, f"{origin} cannot be read: {parsed}.")
                    continue
                [mail] = parsed
                name = f"{uri}{ROW}{mail.name}"
                if seen.clash(mail.name, origin):
                    yield Skipped(name, "a second copy of a mail in the same mailbox")
                else:
                    yield from reader.with_attachments(mail, name, origin)


class _Span(NamedTuple):
    """A mail of a mailbox: its number, the inode of the file, where it begins, and how long it is."""

    number: int
    inode: int
    start: int
    size: int

    def task(self, path: Path) -> dict[str, Json]:
        return {"path": str(path), "inode": self.inode, "start": self.start, "size": self.size, "most": LARGEST_MAIL}


def _mails(path: Path) -> Iterator[_Span]:
    """The mails of a mailbox, in order."""
    number = 0
    limits = reading_limits.current()
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        at, start, lines, is_line, is_blank = 0, -1, 0, True, True
        while line := file.readline(_BLOCK):
            lines += 1
            if not lines % _LINES:
                limits.check()
            if is_line and is_blank and _SEPARATOR.match(line):
                if start >= 0:
                    number += 1
                    yield _Span(number, before.st_ino, start, at - start)
                start = at
                now = path.stat()
                if now.st_ino != before.st_ino or now.st_size < before.st_size:  # new mails at its end do no harm
                    raise UnreadableFile(f"{path} was changed while it was read. Add it again.")
            elif start < 0 and line.strip():
                raise UnreadableFile(f"{path} cannot be read: it is not a mailbox, which begins with a line From.")
            is_blank = is_line and not line.strip()
            is_line = line.endswith(b"\n")
            at += len(line)
        if start >= 0:
            yield _Span(number + 1, before.st_ino, start, at - start)
