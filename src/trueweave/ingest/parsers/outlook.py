"""Mails that Outlook has saved (.msg): their text, and their attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr, getaddresses
from pathlib import Path
from typing import Any, NamedTuple

from oxmsg import Message
from oxmsg.attachment import Attachment
from oxmsg.domain.model import MSG_HDR_OFFSET
from oxmsg.properties import Properties
from oxmsg.storage import Storage

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
_MAIL = "__substg1.0_3701000D"  # the storage of a mail that is attached
_ATTACHED_HEADER = 24  # bytes before the properties of such a mail
_DEEPEST = 10  # levels of mails within mails that are taken out; the loader reads fewer


class _Person(NamedTuple):
    """Who sent or received a mail."""

    name: str = ""
    address: str = ""


class _Mail(Message):
    """A mail with the storage that it is in. That of an attached mail has a shorter header before its properties."""

    def __init__(self, storage: Storage, header: int = MSG_HDR_OFFSET) -> None:
        super().__init__(storage)
        self.storage = storage
        self._header = header

    @property
    def properties(self) -> Properties:
        return Properties(self.storage, properties_header_offset=self._header)


def read(task: dict[str, Any], make: Callable[[], TextBuilder]) -> Iterator[ParsedFile]:
    """The mail in a file."""
    data = Path(task["path"]).read_bytes()
    try:
        message = _loaded(data)
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


def _loaded(data: bytes) -> _Mail:
    message = _Mail.load(data)
    assert isinstance(message, _Mail)
    return message


def _head(message: Message) -> MailHead:
    headers = {name.lower(): str(value) for name, value in message.message_headers.items()}
    return MailHead(
        storable(" ".join(message.subject.split())),
        _shown(_sender(message)),
        tuple(map(_shown, _recipients(message, _TO))),
        tuple(map(_shown, _recipients(message, _CC))),
        message.sent_date,
        plain_id(headers.get("message-id", "")),
        plain_id(headers.get("in-reply-to", "")),
    )


def _sender(message: Message) -> _Person:
    pairs = getaddresses([message.sender or ""])
    return next((_person(name, address) for name, address in pairs if address), _Person())


def _recipients(message: Message, kind: int) -> list[_Person]:
    found = [one for one in message.recipients if one.properties.int_prop_value(_RECIPIENT_TYPE) == kind]
    return [_person(one.name, one.email_address) for one in found[:MOST_ADDRESSES] if one.name or one.email_address]


def _person(name: str, address: str) -> _Person:
    return _Person(" ".join(storable(name).split()), "".join(storable(address).split()))


def _shown(person: _Person) -> str:
    name, address = person
    return f"{name} <{address}>" if name and address and name != address else name or address


def _attachments(message: _Mail, draft: TextBuilder) -> Iterator[tuple[str, bytes]]:
    for number, storage in enumerate(message.storage.iter_attachment_storages(), 1):
        one = Attachment(storage)
        if _is_in_the_text(one):
            continue
        if mail := _mail_in(storage):
            name = attachment_name(mail.subject.replace("/", " "), f"mail-{number}")
            yield f"{name}.eml", _as_sent(mail, _DEEPEST).as_bytes()
            continue
        name = attachment_name(one.file_name or "", f"attachment-{number}")
        if data := one.file_bytes:
            yield name, data
        else:
            draft.notes.append(f"the attachment {name} was not read: it is a link to a file, or empty")


def _is_in_the_text(attachment: Attachment) -> bool:
    """Whether it is a picture of the mail's text."""
    is_hidden = attachment.properties.int_prop_value(_HIDDEN)
    return bool(is_hidden) and (attachment.mime_type or "").startswith("image/")


def _mail_in(attachment: Storage) -> _Mail | None:
    """The mail that is attached, if it is one."""
    return next((_Mail(one, _ATTACHED_HEADER) for one in attachment.storages if one.name == _MAIL), None)


def _as_sent(message: _Mail, deeper: int) -> MIMEMultipart:
    """A mail in the form in which mails are sent, which is read as any other attachment."""
    head, mail = _head(message), MIMEMultipart()
    mail["Subject"] = Header(head.subject, "utf-8").encode()
    people = {"From": [_sender(message)], "To": _recipients(message, _TO), "Cc": _recipients(message, _CC)}
    for name, some in people.items():
        mail[name] = ", ".join(map(_written, some))
    if head.date:
        mail["Date"] = format_datetime(head.date)
    for name, value in {"Message-ID": head.message_id, "In-Reply-To": head.in_reply_to}.items():
        if value:
            mail[name] = Header(f"<{value}>", "utf-8").encode()
    if body := (message.body or "").strip():
        mail.attach(MIMEText(storable(body), "plain", "utf-8"))
    elif html := message.html_body:
        mail.attach(MIMEText(storable(html), "html", "utf-8"))
    for number, storage in enumerate(message.storage.iter_attachment_storages(), 1):
        one = Attachment(storage)
        if _is_in_the_text(one):
            continue
        if inner := _mail_in(storage):
            if deeper:
                mail.attach(MIMEMessage(_as_sent(inner, deeper - 1)))
        elif data := one.file_bytes:
            part = MIMEApplication(data)
            name = attachment_name(one.file_name or "", f"attachment-{number}")
            part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
            mail.attach(part)
    return mail


def _written(person: _Person) -> str:
    """A person in the head of a mail that is sent."""
    return formataddr((person.name, person.address if person.address.isascii() else ""), "utf-8")
