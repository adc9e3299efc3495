"""Mails that Outlook has saved (.msg): their text, and their attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.utils import getaddresses
from pathlib import Path
from typing import Any

from oxmsg import Message
from oxmsg.attachment import Attachment

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.loading import web
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

_RECIPIENT_TYPE = 0x0C15
_TO, _CC = 1, 2
_HIDDEN = 0x7FFE  # whether it is a part of the text


def read(task: dict[str, Any], make: Callable[[], TextBuilder]) -> Iterator[ParsedFile]:
    """The mail in a file."""
    data = Path(task["path"]).read_bytes()
    try:
        message = Message.load(data)
    except ValueError as error:
        raise UnreadableFile("it is not a mail that Outlook has saved") from error
    draft = make()
    head = _head(message)
    head.write(draft)
    if body := (message.body or "").strip():
        draft.block(storable(body.replace("\r\n", "\n")))
    elif html := message.html_body:
        web.write(html, draft, offsets=False)
    attachments = list(_attachments(message, draft))
    yield ParsedFile(message_name(head.message_id, data), draft, head.subject, bounded(attachments, draft))


def _head(message: Message) -> MailHead:
    headers = {name.lower(): str(value) for name, value in message.message_headers.items()}
    author = next((_shown(name, address) for name, address in getaddresses([message.sender or ""]) if address), "")
    return MailHead(
        storable(" ".join(message.subject.split())),
        author,
        _recipients(message, _TO),
        _recipients(message, _CC),
        message.sent_date,
        plain_id(headers.get("message-id", "")),
        plain_id(headers.get("in-reply-to", "")),
    )


def _recipients(message: Message, kind: int) -> tuple[str, ...]:
    found = [one for one in message.recipients if one.properties.int_prop_value(_RECIPIENT_TYPE) == kind]
    return tuple(_shown(one.name, one.email_address) for one in found[:MOST_ADDRESSES] if one.name or one.email_address)


def _shown(name: str, address: str) -> str:
    name, address = storable(name.strip()), storable(address.strip())
    return f"{name} <{address}>" if name and address and name != address else name or address


def _attachments(message: Message, draft: TextBuilder) -> Iterator[tuple[str, bytes]]:
    for number, one in enumerate(message.attachments, 1):
        name = attachment_name(one.file_name or "", f"attachment-{number}")
        if _is_in_the_text(one):
            continue
        if data := one.file_bytes:
            yield name, data
        else:
            draft.notes.append(f"the attachment {name} was not read: it is another mail, or a link to a file")


def _is_in_the_text(attachment: Attachment) -> bool:
    """Whether it is a picture of the mail's text."""
    is_hidden = attachment.properties.int_prop_value(_HIDDEN)
    return bool(is_hidden) and (attachment.mime_type or "").startswith("image/")
