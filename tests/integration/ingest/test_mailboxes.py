"""Mailboxes: files, Maildir folders, and folders of a real IMAP server."""

import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from email.message import EmailMessage
from email.policy import SMTP
from ipaddress import ip_network
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.certificates import Certificate, make_certificate
from tests.dovecot import Dovecot
from tests.imap_server import Write, imap_server
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.errors import ConfigError, RemovalNotConfirmed, SourceUnavailable, UnreadableFile
from trueweave.events import Refused, Skipped
from trueweave.extend import Connector, ConnectorContext, Database, Fetched, Item
from trueweave.ingest.connectors import open_connector
from trueweave.ingest.connectors.imap import Imap
from trueweave.ingest.loading.mailbox import Mailbox
from trueweave.testing import HashEmbedder
from trueweave.testing.connectors import ConnectorContract, RemoteTexts, listed

LOOPBACK = (ip_network("127.0.0.0/8"),)


def a_mail(n: int | str, text: str = "Ada Lovelace wrote to Grace Hopper.") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Message-ID"] = f"Mail {n}", "ada@example.org", f"<{n}@example.org>"
    mail["Date"] = "Wed, 18 Nov 2026 10:00:00 +0100"
    mail.set_content(text)
    return mail


# --- mbox ---------------------------------------------------------------------------------------------


def mbox(*mails: EmailMessage | bytes) -> bytes:
    contents = [one if isinstance(one, bytes) else one.as_bytes() for one in mails]
    return b"".join(b"From ada@example.org Wed Nov 18 10:00:00 2026\n" + one + b"\n\n" for one in contents)


@pytest.fixture
def load(tmp_path: Path) -> Callable[[bytes], list[Source | Refused | Skipped]]:
    def load(content: bytes) -> list[Source | Refused | Skipped]:
        path = tmp_path / "a.mbox"
        path.write_bytes(content)
        return list(Mailbox().load(path, "a.mbox"))

    return load


def test_the_mails_of_a_mailbox_are_documents_by_their_ids(load: Callable[[bytes], list[object]]) -> None:
    attached = a_mail(2)
    attached.add_attachment("# Terms", subtype="markdown", filename="terms.md")
    quoted = a_mail(3, "First.\n\n>From here on, nothing.\n\nFrom now on, no new mail begins.")
    nested = b"Content-Type: message/rfc822\n\n" * 3000
    without_id = b"Subject: None\n\nNo id."
    found = load(mbox(a_mail(1), attached, nested, quoted, a_mail(1, "Another copy."), without_id))
    sources = {one.uri: one for one in found if isinstance(one, Source)}
    assert [*sources][:4] == [
        "a.mbox#1@example.org",
        "a.mbox#2@example.org#terms.md",
        "a.mbox#2@example.org",
        "a.mbox#3@example.org",
    ]
    assert len([*sources][4]) == len("a.mbox#") + 32
    assert sources["a.mbox#3@example.org"].text.endswith(
        "First.\n\nFrom here on, nothing.\n\nFrom now on, no new mail begins."
    )
    assert [one.path for one in found if isinstance(one, Skipped)] == ["a.mbox#1@example.org"]
    [refused] = [one for one in found if isinstance(one, Refused)]
    assert "a.mbox, mail 3 cannot be read: it is nested too deeply" in refused.reason


def test_what_is_no_mailbox_or_changes_is_refused(load: Callable[[bytes], list[object]], tmp_path: Path) -> None:
    assert load(b"") == []
    with pytest.raises(UnreadableFile, match="it is not a mailbox"):
        load(b"Just text.\n")
    path = tmp_path / "b.mbox"
    path.write_bytes(mbox(*map(a_mail, range(200))))
    reading = Mailbox().load(path, "b.mbox")
    next(reading)
    other = tmp_path / "c.mbox"  # as mail programs do when they compact a mailbox
    other.write_bytes(mbox(*map(a_mail, range(30, 230))))
    other.rename(path)
    found: list[object] = []
    with pytest.raises(UnreadableFile, match="was changed while it was read"):
        found += reading
    uris = [one.uri for one in found if isinstance(one, Source)]
    assert uris == [f"b.mbox#{n}@example.org" for n in range(1, len(uris) + 1)], "none of the other file"


# --- Maildir ------------------------------------------------------------------------------------------


class MaildirFolder:
    """A folder of mails, as mail programs write it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"maildir://{quote(str(folder))}"
        for name in ("cur", "new", "tmp"):
            (folder / name).mkdir(parents=True)

    def put(self, name: str, text: str) -> None:
        (self.folder / "cur" / f"{name}.host:2,").write_bytes(a_mail(name, text).as_bytes())

    def delete(self, name: str) -> None:
        (self.folder / "cur" / f"{name}.host:2,").unlink()

    def open(self) -> Connector:
        return open_connector(self.address, ConnectorContext())


class TestMaildir(ConnectorContract):
    @pytest.fixture
    def remote(self, tmp_path: Path) -> RemoteTexts:
        return MaildirFolder(tmp_path / "Mail dir")


def test_a_mail_keeps_its_name_when_programs_move_and_flag_it(tmp_path: Path) -> None:
    remote = MaildirFolder(tmp_path / "Maildir")
    new = remote.folder / "new" / "1.host"
    new.write_bytes(a_mail(1).as_bytes())
    (remote.folder / "cur" / ".hidden").write_text("")
    (remote.folder / "cur" / "link:2,S").symlink_to("/etc/passwd")
    before = listed(remote)
    with closing(remote.open()) as connector:
        [item] = [one for one in connector.items() if isinstance(one, Item)]
        moved = new.rename(remote.folder / "cur" / "1.host:2,S")
        (tmp_path / "fetched").mkdir()
        fetched = connector.fetch(item, tmp_path / "fetched", "")
        assert fetched is not None
        assert fetched.path.read_bytes() == moved.read_bytes()
    after = listed(remote)
    assert {uri: item.version for uri, item in before.items()} == {uri: item.version for uri, item in after.items()}
    moved.unlink()
    (remote.folder / "cur" / "link:2,S").unlink()
    (remote.folder / "cur" / ".hidden").unlink()
    (remote.folder / "cur").rmdir()
    with pytest.raises(SourceUnavailable, match="is not a Maildir folder"):
        listed(remote)


# --- IMAP ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot()
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(server.certificate.chain))
        patch.setenv("MAIL_PASSWORD", "secret")
        yield server
    server.close()


class MailFolder:
    """A folder of a user of its own."""

    _users = count()

    def __init__(self, server: Dovecot, folder: str = "INBOX") -> None:
        self.server = server
        self.user = f"user{next(self._users)}"
        self.address = f"imaps://{self.user}@127.0.0.1:{server.port}/{folder}"
        self._uids: dict[str, str] = {}

    def put(self, name: str, text: str) -> None:
        if name in self._uids:
            self.delete(name)
        with self.server.client(self.user) as client:
            client.append("INBOX", "", "", a_mail(name, text).as_bytes(policy=SMTP))
            client.select("INBOX", readonly=True)
            self._uids[name] = client.uid("SEARCH", "ALL")[1][0].split()[-1].decode()

    def delete(self, name: str) -> None:
        with self.server.client(self.user) as client:
            client.select("INBOX")
            client.uid("STORE", self._uids.pop(name), "+FLAGS", "(\\Deleted)")
            client.expunge()

    def open(self, max_bytes: int = 2**20) -> Connector:
        context = ConnectorContext({"password": "secret"}, LOOPBACK, max_bytes=max_bytes)
        return open_connector(self.address, context)


class TestImap(ConnectorContract):
    @pytest.fixture
    def remote(self, dovecot: Dovecot) -> RemoteTexts:
        return MailFolder(dovecot)

    def test_a_version_stays_until_the_content_changes(self, remote: RemoteTexts) -> None:
        """A mail never changes: another one replaces it."""
        remote.put("one", "The first text.")
        before = listed(remote)
        assert before == listed(remote)
        remote.put("one", "Another text.")
        assert not listed(remote).keys() & before.keys()


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings.model_validate({"extractor": "capitals", "source_networks": ["127.0.0.0/8"]})
    async with aclosing(await AsyncTrueweave.enter(database, "mail", HashEmbedder(), settings=settings)) as opened:
        yield opened


SECRETS = {"password": "MAIL_PASSWORD"}


async def test_the_index_follows_a_folder_of_mail(
    index: AsyncTrueweave, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = MailFolder(dovecot)
    for n in range(6):
        remote.put(str(n), f"Ada Lovelace wrote mail {n}.")
    fetched: list[str] = []
    fetch = Imap.fetch

    def counted(self: Imap, item: Item, folder: Path, validator: str) -> Fetched | None:
        fetched.append(item.uri)
        return fetch(self, item, folder, validator)

    monkeypatch.setattr(Imap, "fetch", counted)
    assert (await index.sync(remote.address, secrets=SECRETS)).new == 6
    assert len(fetched) == 6
    again = await index.sync(remote.address, secrets=SECRETS)
    assert (again.new, again.unchanged, len(fetched)) == (0, 6, 6)
    remote.put("new", "Grace Hopper answered.")
    remote.delete("5")
    changed = await index.sync(remote.address, secrets=SECRETS)
    assert (changed.new, changed.removed, len(fetched)) == (1, 1, 7)
    [first, *_] = await index.list_documents(1)
    assert first.uri == f"{remote.address}/;UID=1"
    with dovecot.client(remote.user) as client:
        client.select("INBOX", readonly=True)
        assert client.search(None, "UNSEEN")[1][0].split() == [b"1", b"2", b"3", b"4", b"5", b"6"]


async def test_a_folder_that_another_replaced_is_read_anew(index: AsyncTrueweave, dovecot: Dovecot) -> None:
    remote = MailFolder(dovecot, quote("Größe & mehr"))
    name = '"Gr&APYA3w-e &- mehr"'
    for texts in (["One.", "Two.", "Three."], ["Four.", "Five."]):
        with dovecot.client(remote.user) as client:
            client.delete(name)
            assert client.create(name)[0] == "OK"
            for n, text in enumerate(texts):
                client.append(name, "", "", a_mail(f"{text}-{n}", text).as_bytes(policy=SMTP))
        if len(texts) == 3:
            assert (await index.sync(remote.address, secrets=SECRETS)).new == 3
        else:  # the UIDs begin anew, and belong to other mails
            with pytest.raises(RemovalNotConfirmed, match="1 of the 3"):
                await index.sync(remote.address, secrets=SECRETS)
            changed = await index.sync(remote.address, secrets=SECRETS, confirmed=True)
            assert (changed.new, changed.unchanged, changed.removed) == (2, 0, 1)


def break_connection(connector: Connector) -> None:
    assert isinstance(connector, Imap)
    assert connector._client
    connector._client.sock.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_breaks_is_made_again_and_a_server_that_is_gone_is_reported(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    remote = MailFolder(dovecot)
    remote.put("one", "The first text.")
    remote.put("two", "The second text.")
    with closing(remote.open()) as connector:
        items = [one for one in connector.items() if isinstance(one, Item)]
        break_connection(connector)
        fetched = connector.fetch(items[1], tmp_path, "")
        assert fetched is not None
        assert b"The second text." in fetched.path.read_bytes()
        dovecot.stop()
        break_connection(connector)
        try:
            with pytest.raises(SourceUnavailable, match=r"cannot be read: .*Check address, user and password"):
                connector.fetch(items[0], tmp_path, "")
        finally:
            dovecot.start()


def test_large_mails_wrong_passwords_and_private_addresses_are_refused(dovecot: Dovecot, tmp_path: Path) -> None:
    remote = MailFolder(dovecot)
    remote.put("large", "x" * 70 + ("\n" + "x" * 70) * 40_000)
    remote.put("small", "Small.")
    with closing(remote.open(max_bytes=100_000)) as connector:
        skipped, item = list(connector.items())
        assert isinstance(skipped, Skipped)
        assert isinstance(item, Item)
        with pytest.raises(UnreadableFile, match="is larger than 100,000 bytes"):
            connector.fetch(Item(skipped.path), tmp_path, "")
        assert connector.fetch(item, tmp_path, "") is not None, "with a new connection"
    with (
        closing(open_connector(remote.address, ConnectorContext({"password": "wrong"}, LOOPBACK))) as connector,
        pytest.raises(SourceUnavailable, match="Authentication failed"),
    ):
        list(connector.items())
    with (
        closing(open_connector(remote.address, ConnectorContext({"password": "secret"}))) as connector,
        pytest.raises(ConfigError, match="private or reserved"),
    ):
        list(connector.items())
    with pytest.raises(ConfigError, match="needs a password"):
        open_connector(remote.address, ConnectorContext())
    for wrong in ("imaps://127.0.0.1/INBOX", "imaps://a@h/INBOX?x=1", "imaps://a%0d%0aB@h/"):
        with pytest.raises(ConfigError):
            open_connector(wrong, ConnectorContext({"password": "secret"}))


# --- hostile servers of IMAP --------------------------------------------------------------------------

MAIL = Item("imaps://ada@127.0.0.1/INBOX/;UID=1")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certificate]:
    made = make_certificate(tmp_path_factory.mktemp("certificate"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(made.chain))
        yield made


def opened_at(port: int, **limits: Any) -> closing[Connector]:
    context = ConnectorContext({"password": "secret"}, LOOPBACK, **{"max_bytes": 2**20, **limits})
    return closing(open_connector(f"imaps://ada@127.0.0.1:{port}/INBOX", context))


def lines(write: Write) -> None:
    """Untagged lines without an end."""
    while True:
        write(b"* 1 FETCH (FLAGS ())\r\n" * 1000)


def literals(write: Write) -> None:
    """Literals without an end, each as large as a mail may be."""
    while True:
        write(b"* 1 FETCH (BODY[] {500000}\r\n" + b"x" * 500_000 + b")\r\n")


def drip(write: Write) -> None:
    """One byte after the other, each within the time in which one must arrive."""
    while True:
        write(b"*")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("command", "reply", "why"),
    [
        ("CAPABILITY", lines, "more than"),
        ("LOGIN", drip, "not complete after 1 s"),
        ("EXAMINE", lines, "more than"),
        ("FETCH", lines, "more than"),
        ("FETCH", literals, "larger than"),
        ("FETCH", drip, "not complete after 1 s"),
        ("EXAMINE", lambda write: write(b"* EXISTS many\r\n"), "is not a number"),
        ("EXAMINE", lambda write: write(b"* EXISTS " + b"9" * 5000 + b"\r\n"), "is not a number"),
    ],
)
def test_a_list_of_mails_without_an_end_is_cut_off(
    certificate: Certificate, command: str, reply: Callable[[Write], None], why: str
) -> None:
    seconds = 1 if reply is drip else 60
    with (
        imap_server(certificate, {command: reply}) as port,
        opened_at(port, seconds=seconds) as connector,
        pytest.raises(SourceUnavailable, match=why),
    ):
        list(connector.items())


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (lines, "sends more than 1,048,576 bytes of lines"),
        (literals, "is larger than 1,048,576 bytes"),
        (drip, "not complete after 1 s"),
    ],
)
def test_a_mail_without_an_end_is_cut_off(
    certificate: Certificate, reply: Callable[[Write], None], why: str, tmp_path: Path
) -> None:
    seconds = 1 if reply is drip else 60
    with (
        imap_server(certificate, {"UID": reply}) as port,
        opened_at(port, seconds=seconds) as connector,
        pytest.raises(UnreadableFile, match=why),
    ):
        connector.fetch(MAIL, tmp_path, "")


def test_a_mail_without_an_end_after_a_broken_connection_is_cut_off(certificate: Certificate, tmp_path: Path) -> None:
    def breaks_first(write: Write) -> None:
        connections.append(1)
        if len(connections) == 1:
            raise ConnectionAbortedError
        literals(write)

    connections: list[int] = []
    with imap_server(certificate, {"UID": breaks_first}) as port, opened_at(port) as connector:
        with pytest.raises(UnreadableFile, match="is larger than"):
            connector.fetch(MAIL, tmp_path, "")
        assert len(connections) == 2


def test_a_date_that_does_not_exist_is_left_out(certificate: Certificate) -> None:
    reply = b'* 1 FETCH (UID 1 RFC822.SIZE 4 INTERNALDATE "01-Jan-0000 00:00:00 +0000")\r\n'
    with imap_server(certificate, {"FETCH": lambda write: write(reply)}) as port, opened_at(port) as connector:
        assert [one.date for one in connector.items() if isinstance(one, Item)] == [None]


def test_no_more_mails_are_listed_than_may_be_read(certificate: Certificate) -> None:
    """A server that claims to have more mails than there can be, and lists none of them."""
    asked: list[int] = []
    replies: dict[str, Callable[[Write], object]] = {
        "EXAMINE": lambda write: write(b"* 99999999999999 EXISTS\r\n* OK [UIDVALIDITY 1]\r\n"),
        "FETCH": lambda write: asked.append(1),
    }
    with imap_server(certificate, replies) as port, opened_at(port, max_items=4500) as connector:
        assert list(connector.items()) == []
    assert len(asked) == 5
