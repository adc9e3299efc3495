"""Mails of an IMAP server: `imaps://ada@mail.example/INBOX`."""

from __future__ import annotations

import base64
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from imaplib import IMAP4, IMAP4_SSL, Internaldate2tuple
from pathlib import Path
from time import mktime
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from httpcore2 import ConnectError

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable, UnreadableFile
from trueweave.core.events import Skipped, Unreadable
from trueweave.ingest.connectors.http import ForbiddenAddress, checked_addresses
from trueweave.ingest.loading.mail import Mail
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.parsing import ParserLimits

_PORT = 993
_LISTED_AT_ONCE = 1000
_SPARE = 2**20  # bytes of a reply beside the mail
_NUMBER = re.compile(rb"\d{1,20}")
_UID = re.compile(rb"\bUID (\d{1,10})\b")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d{1,20})\b")


class _CutOff(Exception):
    """A reply is larger than it may be, or takes longer."""


class _TimedSocket(ssl.SSLSocket):
    """A connection on which nothing is received after the deadline, however slowly bytes arrive."""

    deadline = 0.0

    def recv_into(self, *args: Any) -> int:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.settimeout(left)
        return super().recv_into(*args)


class _Client(IMAP4_SSL):
    """Connects to a checked address, and limits the bytes and the seconds of the reply to each command: imaplib itself
    collects lines and literals until the reply ends."""

    sock: _TimedSocket

    def __init__(self, host: str, port: int, context: ConnectorContext) -> None:
        self._limits = context
        self._lines = self._literals = 0
        secured = ssl.create_default_context()
        secured.sslsocket_class = _TimedSocket
        super().__init__(host, port, ssl_context=secured, timeout=context.seconds)

    def _create_socket(self, timeout: float | None) -> ssl.SSLSocket:
        [address, *_] = checked_addresses(self.host, self.port, self._limits.networks)
        plain = socket.create_connection((address, self.port), timeout)
        secure = self.ssl_context.wrap_socket(plain, server_hostname=self.host)
        assert isinstance(secure, _TimedSocket)
        secure.deadline = time.monotonic() + self._limits.seconds
        return secure

    def send(self, data: Any) -> None:
        self._lines = self._literals = 0
        self.sock.deadline = time.monotonic() + self._limits.seconds
        self.sock.settimeout(self._limits.seconds)
        super().send(data)

    def read(self, size: int) -> bytes:
        self._literals += size
        if self._literals > self._limits.max_bytes + _SPARE:
            raise _CutOff(f"it is larger than {self._limits.max_bytes:,} bytes")
        return self._received(super().read, size)

    def readline(self) -> bytes:
        line = self._received(super().readline)
        self._lines += len(line)
        if self._lines > _SPARE:
            raise _CutOff(f"the server sends more than {_SPARE:,} bytes of lines")
        return line

    def _received(self, receive: Callable[..., bytes], *args: int) -> bytes:
        try:
            return receive(*args)
        except TimeoutError as error:
            raise _CutOff(f"it was not complete after {self._limits.seconds:g} s") from error


class Imap:
    """The mails of one folder. Their versions are their UIDs with the UIDVALIDITY of the folder: a mail never changes.
    The folder is opened for reading only, and no mail is marked as read."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        context.check_secrets("password")
        parts = urlsplit(address)
        password = context.secret("password")
        if not parts.hostname or not parts.username or parts.query or parts.fragment:
            raise ConfigError(f"{address} is not the address of a mailbox. Write imaps://USER@HOST/FOLDER.")
        if not password:
            raise ConfigError(
                f"{address} needs a password. Put it into an environment variable, and name the variable, as in "
                "--secret password=MAIL_PASSWORD."
            )
        if not unquote(parts.username).isprintable():
            raise ConfigError(f"{address} has control characters in the name of its user. Write it without them.")
        self._host, self._port = parts.hostname, parts.port or _PORT
        self._user, self._password = unquote(parts.username), password
        self._folder = unquote(parts.path.strip("/")) or "INBOX"
        self._uri = f"imaps://{parts.netloc}/{quote(self._folder, safe='/.-_')}"
        self._context = context
        self._client: _Client | None = None
        self._validity = ""
        self._count = 0
        self._session = ParserSession(ParserLimits())

    def close(self) -> None:
        self._session.close()
        self._disconnect()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client:
            client.shutdown()

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        try:
            client = self._connected()
            count = min(self._count, self._context.max_items + 1)  # one more, so that a run reports that there are more
            for first in range(1, count + 1, _LISTED_AT_ONCE):
                last = min(first + _LISTED_AT_ONCE - 1, count)
                # While mails are listed by number, a server must not give the numbers to other mails.
                for line in self._asked(client.fetch(f"{first}:{last}", "(UID RFC822.SIZE INTERNALDATE)")):
                    if isinstance(line, bytes):
                        yield from self._listed(line)
        except (OSError, IMAP4.error, _CutOff) as error:
            self._disconnect()
            raise self._unavailable(error) from error

    def _listed(self, line: bytes) -> Iterator[Item | Skipped]:
        uid, size = _UID.search(line), _SIZE.search(line)
        if not uid or not size:
            return
        uri = f"{self._uri}/;UID={int(uid[1])}"
        if int(size[1]) > self._context.max_bytes:
            yield Skipped(uri, f"larger than {self._context.max_bytes:,} bytes")
        else:
            yield Item(uri, f"{self._validity}-{int(uid[1])}", date=_date(line))

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        try:
            content = self._content(item.uri.rpartition("=")[2])
        except _CutOff as error:
            self._disconnect()
            raise UnreadableFile(f"{item.uri} cannot be fetched: {error}.") from error
        except IMAP4.error as error:
            raise UnreadableFile(f"{item.uri} cannot be fetched: {error}.") from error
        if content is None:
            raise ItemGone(f"{item.uri} no longer exists.")
        path = folder / "mail.eml"
        path.write_bytes(content)
        return Fetched(path, loader=Mail(session=self._session))

    def _content(self, uid: str) -> bytes | None:
        """The mail of a UID. If the connection breaks, it is opened once more."""
        try:
            return self._sent(uid)
        except (OSError, IMAP4.abort):
            self._disconnect()
        try:
            return self._sent(uid)
        except (OSError, IMAP4.abort) as error:
            self._disconnect()
            raise self._unavailable(error) from error

    def _sent(self, uid: str) -> bytes | None:
        found = self._asked(self._connected().uid("FETCH", uid, "(UID BODY.PEEK[])"))
        return next((bytes(one[1]) for one in found if isinstance(one, tuple) and len(one) > 1), None)

    def _connected(self) -> _Client:
        """The connection, with the folder open."""
        if self._client is None:
            try:
                self._client = _Client(self._host, self._port, self._context)
                self._open(self._client)
            except ForbiddenAddress as error:
                raise ConfigError(f"{self._uri} cannot be read: {error}") from error
            except ConnectError as error:
                raise SourceUnavailable(f"{self._uri} cannot be read: {error}.") from error
            except (OSError, IMAP4.error, UnicodeError, _CutOff) as error:
                self._disconnect()
                raise self._unavailable(error) from error
        return self._client

    def _open(self, client: _Client) -> None:
        client.login(_escaped(self._user), self._password)
        status, found = client.select(_quoted(self._folder), readonly=True)
        if status != "OK":
            raise SourceUnavailable(
                f"{self._uri} cannot be read: there is no folder {self._folder!r}. Check the address."
            )
        count = found[0] or b"0"
        if not _NUMBER.fullmatch(count):
            raise IMAP4.error(f"the number of mails, {count[:20]!r}, is not a number")
        self._count = int(count)
        [validity, *_] = client.response("UIDVALIDITY")[1] or [None]
        validity = validity.decode() if isinstance(validity, bytes) else ""
        if self._validity not in ("", validity):
            raise SourceUnavailable(f"{self._uri} was replaced by another folder while it was read. Run it again.")
        self._validity = validity

    def _asked(self, response: tuple[str, list[Any]]) -> list[Any]:
        status, found = response
        if status != "OK":
            raise IMAP4.error(f"the server answers with {status}")
        return found

    def _unavailable(self, error: Exception) -> SourceUnavailable:
        text = str(error) or type(error).__name__
        reason = text.replace(self._password, "…") if self._password else text
        return SourceUnavailable(
            f"{self._uri} cannot be read: {reason}. Check address, user and password; run it again."
        )


def _date(line: bytes) -> datetime | None:
    """When a mail arrived, for those that have no date of their own."""
    try:
        found = Internaldate2tuple(line)
        return datetime.fromtimestamp(mktime(found), UTC) if found else None
    except (ValueError, OverflowError):  # no date of the calendar
        return None


def _quoted(folder: str) -> str:
    """The name of a folder in a command: in the UTF-7 of IMAP, and in quotes."""
    parts = re.split(r"([^\x20-\x7e]+)", folder.replace("&", "&-"))
    encoded = [
        part if n % 2 == 0 else f"&{base64.b64encode(part.encode('utf-16-be')).decode().rstrip('=').replace('/', ',')}-"
        for n, part in enumerate(parts)
    ]
    return _escaped("".join(encoded))


def _escaped(text: str) -> str:
    """A text in quotes, for a command."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
