"""Mails and mailboxes. The attachments of a mail are documents of their own, if there is a loader for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from trueweave.core.errors import InvalidDocument, UnreadableFile
from trueweave.core.events import Refused, Skipped
from trueweave.core.protocols import Loader
from trueweave.core.record import Source
from trueweave.ingest.loading.documents import Parsed, with_options
from trueweave.ingest.loading.installed import loaders
from trueweave.ingest.loading.secret_files import named_like_secret, secret_in
from trueweave.ingest.parser_session import Attachment, ParserSession, SessionDocument
from trueweave.text.uris import ROW

LARGEST_MAIL = 64 * 2**20  # bytes

MAIL_PARSER = "trueweave.ingest.parsers.mail:read"
_PARSERS = {".eml": MAIL_PARSER, ".msg": "trueweave.ingest.parsers.outlook:read"}
MAIL_SUFFIXES = frozenset(_PARSERS)

_MOST_ATTACHMENTS = 100  # of a mail, with those of the mails attached to it
_DEEPEST = 3  # mails attached to mails
_LOOKED_AT = 2**20  # bytes at the start of an attachment that are searched for secrets
_PASSED_ON = ("author", "date")


@dataclass(frozen=True, slots=True)
class Mail(Parsed):
    """Reads a mail, and its attachments as documents of their own. With a `session`, the process of that session parses
    it; it belongs to the caller."""

    suffixes: frozenset[str] = MAIL_SUFFIXES
    parser: str = MAIL_PARSER
    ocr: str = "auto"
    session: ParserSession | None = None

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        if path.stat().st_size > LARGEST_MAIL:
            raise UnreadableFile(f"{path} cannot be read: it is larger than {LARGEST_MAIL // 2**20} MiB.")
        with ExitStack() as stack:
            session = self.session or stack.enter_context(ParserSession(self.limits))
            reader = MailReader(session, self.ocr, self.picture_model)
            try:
                yield from reader.documents(_PARSERS.get(path.suffix.lower(), MAIL_PARSER), path, uri)
            except UnreadableFile as error:
                raise UnreadableFile(f"{path} cannot be read: {error}.") from error


@dataclass
class _Left:
    """How many attachments of a mail may still be read."""

    attachments: int = _MOST_ATTACHMENTS


class MailReader:
    """Reads mails in a session. What could not be read of a mail is noted on it."""

    def __init__(self, session: ParserSession, ocr: str, picture_model: str) -> None:
        self._session = session
        self._ocr = ocr
        self._picture_model = picture_model

    @cached_property
    def _loaders(self) -> Mapping[str, Loader]:
        return {suffix: with_options(loader, self._ocr, self._picture_model) for suffix, loader in loaders().items()}

    def documents(self, parser: str, path: Path, uri: str) -> Iterator[Source]:
        """The attachments of the mail in a file, and then the mail. UnreadableFile, with the reason alone, if it cannot
        be parsed."""
        [mail] = [*self._session.documents(parser, {"path": str(path)})]
        yield from self.with_attachments(mail, uri)

    def with_attachments(self, mail: SessionDocument, uri: str, origin: str = "") -> Iterator[Source]:
        """The attachments of a mail that was parsed, and then the mail."""
        yield from self._documents(mail, uri, origin, _Left(), _DEEPEST)

    def _documents(self, mail: SessionDocument, name: str, origin: str, left: _Left, deeper: int) -> Iterator[Source]:
        notes = [*mail.notes]
        for attachment in mail.attachments:
            try:
                yield from self._attached(attachment, mail, name, left, deeper)
            except (InvalidDocument, UnicodeDecodeError, OSError) as error:
                reason = str(error).replace(str(attachment.path), "it").removesuffix(".")
                notes.append(f"the attachment {attachment.name} was not read: {reason}"[:500])
            attachment.path.unlink()
        yield Source(name, mail.text, mail.title, mail.metadata, mail.places, tuple(notes), origin)

    def _attached(
        self, attachment: Attachment, mail: SessionDocument, name: str, left: _Left, deeper: int
    ) -> Iterator[Source]:
        """The documents in an attachment."""
        left.attachments -= 1
        if left.attachments < 0:
            raise UnreadableFile(f"the mail has more than {_MOST_ATTACHMENTS} attachments")
        path, uri = attachment.path, f"{name}{ROW}{attachment.name}"
        _check_secrets(attachment)
        given = {key: value for key, value in mail.metadata.items() if key in _PASSED_ON} | {"attached_to": name}
        for one in self._read(path, uri, left, deeper):
            origin = one.origin.replace(str(path), uri) or uri
            yield replace(one, metadata={**given, **one.metadata}, origin=origin)

    def _read(self, path: Path, uri: str, left: _Left, deeper: int) -> Iterator[Source]:
        if parser := _PARSERS.get(path.suffix):
            if not deeper:
                raise UnreadableFile(f"mails within mails are read to a depth of {_DEEPEST}")
            [mail] = [*self._session.documents(parser, {"path": str(path)})]
            yield from self._documents(mail, uri, "", left, deeper - 1)
            return
        loader = self._loaders.get(path.suffix)
        if loader is None or isinstance(loader, Mail):
            raise UnreadableFile(f"there is no reader for {path.suffix or 'such'} files")
        refused = 0
        for one in loader.load(path, uri):
            if isinstance(one, Source):
                yield one
            refused += isinstance(one, Refused)
        if refused:
            raise UnreadableFile(f"{refused:,} of its rows cannot be used")


def _check_secrets(attachment: Attachment) -> None:
    with attachment.path.open("rb") as file:
        start = file.read(_LOOKED_AT)
    if named_like_secret(PurePosixPath(attachment.name).name) or secret_in(start):
        raise UnreadableFile("it is named like a key or secret, or contains one")
