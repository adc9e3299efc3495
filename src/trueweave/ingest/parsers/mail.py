"""Mails as they are sent (RFC 5322): their text, and their attachments."""

from __future__ import annotations

import email
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from mimetypes import guess_extension
from pathlib import Path
from typing import Any

from trueweave.core.errors import NotText, UnreadableFile
from trueweave.ingest.loading import web
from trueweave.ingest.loading.reading import decode
from trueweave.ingest.parsers.mail_text import (
    MOST_ADDRESSES,
    MailHead,
    attachment_name,
    bounded,
    message_name,
    plain_id,
)
from trueweave.ingest.session_process import ParsedFile
from trueweave.text.names import storable
from trueweave.text.text_builder import TextBuilder

_BODY = ("text/plain", "text/html")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_SOFT_BREAK = re.compile(r" \n(?![> ]|-- \n)")


def read(task: dict[str, Any], make: Callable[[], TextBuilder]) -> Iterator[ParsedFile]:
    """The mail in a file, or in the part of a mailbox from `start` on, if it has at most `most` bytes."""
    if task.get("size", 0) > task.get("most", 0):
        raise UnreadableFile(f"it is larger than {task['most'] // 2**20} MiB")
    with Path(task["path"]).open("rb") as file:
        if task.get("inode") not in (None, os.fstat(file.fileno()).st_ino):
            raise UnreadableFile("the mailbox was changed while it was read")
        file.seek(task.get("start", 0))
        data = file.read(task.get("size", -1))
    if "start" in task:  # within a mailbox, it has a line "From" above, and such lines of its text are quoted
        data = _QUOTED_FROM.sub(rb"\1", data.partition(b"\n")[2])
    message: Message = email.message_from_bytes(data)
    if not message.keys():
        raise UnreadableFile("it is not a mail: it has no headers")
    draft = make()
    head = _head(message)
    head.write(draft)
    attachments = list(_write(message, draft))
    yield ParsedFile(message_name(head.message_id, data), draft, head.subject, bounded(attachments, draft))


def _head(message: Message) -> MailHead:
    return MailHead(
        _decoded(message.get("subject", "")),
        next(iter(_addresses(message, "from")), ""),
        _addresses(message, "to"),
        _addresses(message, "cc"),
        _date(message),
        plain_id(_decoded(message.get("message-id", ""))),
        plain_id(_decoded(message.get("in-reply-to", ""))),
    )


def _decoded(value: object) -> str:
    try:
        text = str(make_header(decode_header(value)))  # type: ignore[arg-type]
    except (HeaderParseError, LookupError, ValueError):
        text = str(value)
    return storable(" ".join(text.split()))


def _addresses(message: Message, name: str) -> tuple[str, ...]:
    pairs = getaddresses([str(value) for value in message.get_all(name, [])])[:MOST_ADDRESSES]
    known = [(_decoded(called), storable(address)) for called, address in pairs]
    return tuple(
        f"{called} <{address}>" if called and address else called or address
        for called, address in known
        if called or address
    )


def _date(message: Message) -> datetime | None:
    try:
        return parsedate_to_datetime(str(message.get("date", "")))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _write(message: Message, draft: TextBuilder) -> Iterator[tuple[str, bytes]]:
    """Write the text of a mail, and yield the names and contents of its attachments."""
    waiting: list[tuple[Message, bool]] = [(message, True)]
    number = 0
    while waiting:
        part, is_read = waiting.pop()
        kind = part.get_content_type()
        if kind in ("message/rfc822", "message/global"):
            number += 1
            yield from _attached_mail(part, number, draft)
        elif part.is_multipart():
            parts = [one for one in part.get_payload() if isinstance(one, Message)]
            chosen = _alternative(parts) if kind == "multipart/alternative" else None
            waiting += [(one, is_read and chosen in (None, one)) for one in reversed(parts)]
        elif _is_attachment(part, kind):
            number += 1
            otherwise = f"attachment-{number}{guess_extension(kind) or ''}"
            name = attachment_name(_decoded(part.get_filename() or ""), otherwise)
            yield name, _content(part)
        elif is_read and kind in _BODY:
            _write_text(part, kind, draft)


def _alternative(parts: list[Message]) -> Message | None:
    """Of several versions of a text, the plain one, or the last."""
    return next((one for one in parts if one.get_content_type() == "text/plain"), parts[-1] if parts else None)


def _is_attachment(part: Message, kind: str) -> bool:
    if kind in _SIGNATURES:
        return False
    if part.get_content_disposition() == "attachment":
        return True
    if part.get_content_maintype() == "image":  # a logo, or a picture in the text
        return False
    return kind not in _BODY or part.get_filename() is not None


def _content(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _attached_mail(part: Message, number: int, draft: TextBuilder) -> Iterator[tuple[str, bytes]]:
    inner = part.get_payload()
    mail = inner[0] if isinstance(inner, list) and inner else None
    if not isinstance(mail, Message):
        return
    name = attachment_name(_decoded(mail.get("subject", "")).replace("/", " "), f"mail-{number}")
    try:
        yield f"{name}.eml", mail.as_bytes()
    except (LookupError, ValueError) as error:
        draft.notes.append(f"the attached mail {name} was not read: it is damaged ({error})"[:300])


def _write_text(part: Message, kind: str, draft: TextBuilder) -> None:
    text = _text(part).replace("\r\n", "\n")
    if kind == "text/html":
        web.write(text, draft, offsets=False)
        return
    if part.get_param("format") == "flowed":
        text = _SOFT_BREAK.sub(" ", text)
    draft.block(text)


def _text(part: Message) -> str:
    data = _content(part)
    try:
        return storable(data.decode(part.get_content_charset() or "utf-8"))
    except (LookupError, ValueError):  # it declares none, or a wrong one
        try:
            return decode(data, "the mail").text
        except NotText:
            return storable(data.decode("utf-8", "replace"))
