"""Mailboxes in one file (mbox): each mail is a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trueweave.core.errors import InvalidDocument, UnreadableFile
from trueweave.core.events import Refused, Skipped
from trueweave.core.record import Source
from trueweave.ingest import reading_limits
from trueweave.ingest.loading.mail import LARGEST_MAIL, MAIL_PARSER, Mail, MailReader
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.seen import Seen
from trueweave.text.uris import ROW

_SEPARATOR = re.compile(rb"From .{0,500}\d\d:\d\d")  # a line of the text may begin with "From", but has no time
_BLOCK = 2**20
_LINES = 2**14  # how often limits are checked


class _SecondCopy(InvalidDocument):
    """Another mail of the mailbox has the same Message-ID."""


@dataclass(frozen=True, slots=True)
class Mailbox(Mail):
    """Reads the mails of a mailbox, each under its Message-ID, and their attachments."""

    suffixes: frozenset[str] = frozenset({".mbox"})

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        with ParserSession(self.limits) as session, Seen() as seen:
            reader = MailReader(session, self.ocr, self.picture_model)
            for n, (start, size) in enumerate(_mails(path), 1):
                origin = f"{path}, mail {n}"

                def named(name: str, origin: str = origin) -> str:
                    if seen.clash(name, origin):
                        raise _SecondCopy(name)
                    return f"{uri}{ROW}{name}"

                try:
                    if size > LARGEST_MAIL:
                        raise UnreadableFile(f"it is larger than {LARGEST_MAIL // 2**20} MiB")
                    yield from reader.documents(
                        MAIL_PARSER, {"path": str(path), "start": start, "size": size}, named, origin
                    )
                except _SecondCopy as error:
                    yield Skipped(f"{uri}{ROW}{error}", "a second copy of a mail in the same mailbox")
                except InvalidDocument as error:
                    yield Refused(origin, f"{origin} cannot be read: {str(error).removesuffix('.')}.")


def _mails(path: Path) -> Iterator[tuple[int, int]]:
    """Where the mails of a mailbox begin, and how long they are."""
    limits = reading_limits.current()
    with path.open("rb") as file:
        before = path.stat()
        at, start, lines, is_line, is_blank = 0, -1, 0, True, True
        while line := file.readline(_BLOCK):
            lines += 1
            if not lines % _LINES:
                limits.check()
            if is_line and is_blank and _SEPARATOR.match(line):
                if start >= 0:
                    yield start, at - start
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
            yield start, at - start
