"""Mails in files: their text, who wrote them, their attachments as documents of their own, and hostile ones."""

import gzip
import json
import time
import zipfile
from collections.abc import Callable
from contextlib import aclosing, suppress
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any

import pytest

from tests.outlook_file import attached_mail, write_msg
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.errors import UnreadableFile
from trueweave.events import Skipped
from trueweave.extend import Database
from trueweave.ingest.loading import documents
from trueweave.ingest.loading.mail import Mail
from trueweave.ingest.loading.web_archive import WebArchive
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.parsing import ParserLimits
from trueweave.testing import HashEmbedder


def a_mail(subject: str = "Handover", text: str = "See the attachment.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    given = {
        "From": "Ada Lovelace <ada@example.org>",
        "To": "Grace Hopper <grace@example.org>, alan@example.org",
        "Date": "Wed, 18 Nov 2026 10:00:00 +0100",
        "Message-ID": "<1@example.org>",
        **headers,
    }
    message["Subject"] = subject
    for name, value in given.items():
        message[name] = value
    message.set_content(text)
    return message


@pytest.fixture(scope="module")
def session() -> Any:
    with ParserSession(ParserLimits(cpu_seconds=8)) as session:
        yield session


@pytest.fixture
def load(tmp_path: Path, session: ParserSession) -> Callable[[EmailMessage | bytes], list[Source]]:
    def load(mail: EmailMessage | bytes) -> list[Source]:
        path = tmp_path / "a.eml"
        path.write_bytes(mail if isinstance(mail, bytes) else mail.as_bytes(policy=SMTP))
        return [one for one in Mail(session=session).load(path, "a.eml") if isinstance(one, Source)]

    return load


Load = Callable[[EmailMessage | bytes], list[Source]]


def test_a_mail_has_its_text_and_who_wrote_it_to_whom_and_when(load: Load) -> None:
    mail = a_mail(
        "Übergabe", "Liebe Grace,\n\nsiehe Anhang.", **{"In-Reply-To": "<0@example.org>", "Cc": "b@example.org"}
    )
    mail.add_alternative("<p>The same as <b>HTML</b></p>", subtype="html")
    [source] = load(mail)
    assert source.uri == "a.eml"
    assert source.title == "Übergabe"
    assert source.text == (
        "Übergabe\n\nFrom: Ada Lovelace <ada@example.org>\nTo: Grace Hopper <grace@example.org>, alan@example.org\n"
        "Cc: b@example.org\nDate: 2026-11-18 10:00\n\nLiebe Grace,\n\nsiehe Anhang."
    )
    assert source.metadata == {
        "author": "Ada Lovelace <ada@example.org>",
        "to": ["Grace Hopper <grace@example.org>", "alan@example.org"],
        "cc": ["b@example.org"],
        "date": "2026-11-18T10:00:00+01:00",
        "message_id": "1@example.org",
        "in_reply_to": "0@example.org",
    }


def test_attachments_are_documents_with_the_date_and_author_of_their_mail(load: Load) -> None:
    mail = a_mail()
    mail.add_attachment("name,limit\nDental,1000\n", subtype="csv", filename="benefits.csv")
    mail.add_attachment("# Terms\n\nAll of them.", subtype="markdown", filename="terms.md")
    mail.add_attachment("# Other terms", subtype="markdown", filename="terms.md")
    mail.add_attachment(b"\0\1", maintype="application", subtype="octet-stream", filename="program.bin")
    mail.add_attachment("AWS_KEY", filename="id_rsa")
    next(mail.iter_parts()).add_related(b"\x89PNG", maintype="image", subtype="png", cid="<logo>")
    found = {source.uri: source for source in load(mail)}
    assert [*found] == ["a.eml#benefits.csv#1", "a.eml#terms.md", "a.eml#terms (2).md", "a.eml"]
    assert found["a.eml#terms.md"].title == "Terms"
    assert found["a.eml#benefits.csv#1"].metadata == {
        "author": "Ada Lovelace <ada@example.org>",
        "date": "2026-11-18T10:00:00+01:00",
        "attached_to": "a.eml",
    }
    assert found["a.eml"].notes == (
        "the attachment program.bin was not read: there is no reader for .bin files",
        "the attachment id_rsa was not read: it is named like a key or secret, or contains one",
    )


def test_names_of_attachments_are_never_paths(load: Load, tmp_path: Path) -> None:
    mail = a_mail()
    for name in (
        "../../../outside.txt",
        "C:\\Windows\\system.txt",
        "/etc/passwd",
        "a#b\tc.txt",
        "..",
        "x" * 3000 + ".txt",
    ):
        mail.add_attachment("Some text.", filename=name)
    before = {*tmp_path.parent.iterdir()}
    *attached, _ = load(mail)
    assert [source.uri for source in attached[:5]] == [
        "a.eml#outside.txt",
        "a.eml#system.txt",
        "a.eml#passwd",
        "a.eml#a b c.txt",
        "a.eml#attachment-5.txt",
    ]
    assert attached[5].uri.endswith("xxx.txt")
    assert len(attached[5].uri) < 120
    assert {*tmp_path.parent.iterdir()} == before


def test_mails_within_mails_are_read_to_a_bounded_depth_and_number(load: Load) -> None:
    mail = a_mail("Innermost", "The last one.")
    for level in range(5):
        outer = a_mail(f"Level {level}", "One more within.")
        outer.add_attachment(mail)
        mail = outer
    found = load(mail)
    assert [source.uri.count("#") for source in found] == [3, 2, 1, 0]
    assert found[0].notes == ("the attachment Level 0.eml was not read: mails within mails are read to a depth of 3",)
    assert found[0].uri == "a.eml#Level 3.eml#Level 2.eml#Level 1.eml"

    inner = a_mail("Inner")
    for n in range(60):
        inner.add_attachment(f"Text {n}.", filename=f"{n}.txt")
    outer = a_mail("Outer")
    for _ in range(3):
        outer.add_attachment(inner)
    found = load(outer)
    assert len(found) == 1 + 100
    assert "the mail has more than 100 attachments" in found[-1].notes[-1]


@pytest.mark.parametrize(
    "hostile",
    [
        b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(3000)),
        b"Content-Type: message/rfc822\n\n" * 3000,
        b"Subject: x\nTo: " + b"(" * 50_000,
        b"Subject: " + b"=?utf-8?b?" * 20_000 + b"\n\nText.",
        b"Content-Type: text/plain; charset=" + b"zlib" + b"\n\n\x00\xff\xfe text",
        b"",
        b"\x00\x01\x02",
    ],
    ids=["parts", "mails", "addresses", "words", "charset", "empty", "binary"],
)
def test_a_hostile_mail_is_read_or_refused_in_little_time(load: Load, hostile: bytes) -> None:
    began = time.monotonic()
    with suppress(UnreadableFile):
        load(hostile)
    assert time.monotonic() - began < 30
    assert load(a_mail())[0].title == "Handover", "the next mail is read by the same session"


def test_a_mail_that_outlook_has_saved_is_read_with_its_attachments(tmp_path: Path, session: ParserSession) -> None:
    loader = Mail(session=session)
    path = write_msg(
        tmp_path / "a.msg",
        "Handover",
        "See the attachment.\r\nIt is long.",
        ("Ada Lovelace", "ada@example.org"),
        ("Grace Hopper", "grace@example.org"),
        {"terms.md": b"# Terms\n\n" + b"All of them. " * 1000},
    )
    attached, mail = [one for one in loader.load(path, "a.msg") if isinstance(one, Source)]
    assert (attached.uri, attached.title, mail.uri) == ("a.msg#terms.md", "Terms", "a.msg")
    assert mail.text == (
        "Handover\n\nFrom: Ada Lovelace <ada@example.org>\nTo: Grace Hopper <grace@example.org>\n"
        "Date: 2026-11-18 10:00\n\nSee the attachment.\nIt is long."
    )
    assert mail.metadata["date"] == "2026-11-18T10:00:00+00:00"
    assert mail.metadata["author"] == "Ada Lovelace <ada@example.org>"
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(UnreadableFile, match=r"a\.msg cannot be read: it is damaged"):
        list(loader.load(path, "a.msg"))
    path.write_bytes(b"Not a mail.")
    with pytest.raises(UnreadableFile, match="it is not a mail that Outlook has saved"):
        list(loader.load(path, "a.msg"))


async def test_attachments_go_with_their_mail(database: Database, tmp_path: Path) -> None:
    for name in ("a", "b"):
        mail = a_mail(f"Mail {name}", "Ada Lovelace wrote to Grace Hopper.")
        mail.add_attachment("Alan Turing is mentioned here.", filename="note.txt")
        (tmp_path / f"{name}.eml").write_bytes(mail.as_bytes(policy=SMTP))
    settings = Settings.model_validate({"extractor": "capitals", "project_folder": tmp_path})
    async with aclosing(await AsyncTrueweave.enter(database, "mails", HashEmbedder(), settings=settings)) as index:
        assert (await index.add(tmp_path)).new == 4
        assert await index.matching("a.eml") == {"a.eml": ["a.eml", "a.eml#note.txt"]}
        (tmp_path / "b.eml").unlink()
        assert (await index.sync(tmp_path)).removed == 2
        assert [one.uri for one in await index.list_documents()] == ["a.eml", "a.eml#note.txt"]


# --- other formats ------------------------------------------------------------------------------------


def test_rtf_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title The \'dcbergabe}{\author Ada}}"
        r"\f0 First paragraph with \b bold\b0  and \'fc.\par\par Second \u8364? one.\par}"
    )
    [source] = documents.rtf().load(path, "u")
    assert isinstance(source, Source)
    assert (source.text, source.title) == ("First paragraph with bold and ü.\n\nSecond € one.", "The Übergabe")
    assert source.metadata == {"author": "Ada"}
    path.write_text("Just text.")
    with pytest.raises(UnreadableFile, match="it is not an RTF file"):
        list(documents.rtf().load(path, "u"))


CONTENT = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:text>
<text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>
<text:h text:outline-level="1">Terms</text:h><text:p>The <text:span>insurer</text:span><text:s text:c="2"/>pays<text:tab/>all.<office:annotation><text:p>Comment.</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>First</text:p></text:list-item></text:list>
<table:table><table:table-column table:number-columns-repeated="9999999"/><table:table-row><table:table-cell><text:p>Benefit</text:p></table:table-cell>
<table:table-cell><text:p>Limit</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Dental</text:p><text:p>care</text:p></table:table-cell>
<table:table-cell><text:p>1000</text:p></table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"""  # noqa: E501
META = (
    '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>A policy</dc:title><dc:creator>Ada</dc:creator>'
    "<dc:date>2026-11-18T10:00:00</dc:date></office:meta></office:document-meta>"
)


def test_open_document_text_has_headings_lists_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.odt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", CONTENT)
        archive.writestr("meta.xml", META)
    [source] = documents.open_document().load(path, "u")
    assert isinstance(source, Source)
    assert source.text == "Terms\n\nThe insurer  pays\tall.\n\nFirst\n\nBenefit | Limit\nDental care | 1000"
    assert source.title == "A policy"
    assert source.metadata == {"author": "Ada", "date": "2026-11-18T10:00:00"}
    assert [(place.label, place.level) for place in source.places] == [("Terms", 1)]


def test_a_notebook_has_its_text_code_and_output(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# Profit\n", "\n", "Of the *year*.\n", "```\n", "# no heading\n", "```"]},
        {
            "cell_type": "code",
            "source": "print(6 * 7)",
            "outputs": [
                {"output_type": "stream", "text": ["42\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
                {"output_type": "execute_result", "data": {"text/plain": "x" * 20_000}},
            ],
        },
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {"authors": [{"name": "Ada"}]}, "nbformat": 4}))
    [source] = documents.notebook().load(path, "u")
    assert isinstance(source, Source)
    assert source.text.startswith("Profit\n\nOf the *year*.\n```\n# no heading\n```\n\nprint(6 * 7)\n\n42\n\nxxx")
    assert (source.title, source.metadata) == ("Profit", {"author": "Ada"})
    assert source.notes == ("of each output, the first 10,000 characters were read",)
    path.write_text("[" * 100_000)
    with pytest.raises(UnreadableFile, match="nested too deeply"):
        list(documents.notebook().load(path, "u"))


# --- web archives -------------------------------------------------------------------------------------

PAGE = (
    "<html><head><title>Kettles</title></head><body><nav>Home</nav><main><h1>Kettles</h1><p>{}</p></main></body></html>"
)


def archive(path: Path, pages: list[tuple[str, str, str, bytes]]) -> Path:
    records = []
    for url, status, kind, body in pages:
        http = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n".encode() + body
        head = f"WARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-18T10:00:00Z"
        head += f"\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}"
        records.append(f"WARC/1.0\r\n{head}\r\n\r\n".encode() + http + b"\r\n\r\n")
    path.write_bytes(b"".join(map(gzip.compress, records) if path.suffix == ".gz" else records))
    return path


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_the_pages_of_a_web_archive_are_documents(tmp_path: Path, name: str) -> None:
    text = "Copper kettles heat water faster than those made of iron, which everybody knows. " * 5
    pages = [
        ("https://kettles.example/", "200 OK", "text/html; charset=utf-8", PAGE.format(text).encode()),
        ("https://kettles.example/logo.png", "200 OK", "image/png", b"\x89PNG"),
        ("https://kettles.example/none", "404 Not Found", "text/html", b"None."),
        ("https://kettles.example/", "200 OK", "text/html", PAGE.format("Later.").encode()),
        ("https://kettles.example/large", "200 OK", "text/html", b"x" * (2**24 + 1)),
        ("https://kettles.example/b", "200 OK", "text/plain; charset=latin-1", "Ärger".encode("latin-1")),
    ]
    found = list(WebArchive().load(archive(tmp_path / name, pages), name))
    sources = {one.uri: one for one in found if isinstance(one, Source)}
    assert [*sources] == [f"{name}#https://kettles.example/", f"{name}#https://kettles.example/b"]
    page = sources[f"{name}#https://kettles.example/"]
    assert page.title == "Kettles"
    assert text.strip() in page.text
    assert "Home" not in page.text
    assert page.metadata == {"url": "https://kettles.example/", "date": "2026-11-18T10:00:00Z"}
    assert sources[f"{name}#https://kettles.example/b"].text == "Ärger"
    assert [one.reason.partition(":")[0] for one in found if isinstance(one, Skipped)] == [
        "not a page of an archive",
        "not a page of an archive",
        "another capture of a page",
        "larger than 16 MiB",
    ]


def test_a_web_archive_that_is_a_bomb_or_damaged_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"Not an archive.\r\n" * 1000))
    with pytest.raises(UnreadableFile, match=r"a\.warc\.gz cannot be read: it is damaged, or not a WARC file"):
        list(WebArchive().load(path, "u"))
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nContent-Length: 8000000000\r\n\r\n"
    )
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head + b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        for _ in range(100):
            file.write(b"\0" * 2**20)
    began = time.monotonic()
    with suppress(UnreadableFile):
        assert not any(
            isinstance(one, Source) for one in WebArchive(limits=ParserLimits(cpu_seconds=2)).load(path, "u")
        )
    assert time.monotonic() - began < 60


def test_mails_attached_to_a_mail_of_outlook_are_read_with_their_attachments(
    tmp_path: Path, session: ParserSession
) -> None:
    ada, grace = ("Ada Lovelace", "ada@example.org"), ("Höpper, Grace", "grace@example.org")
    innermost = attached_mail("The keys", "They are in the drawer.", grace, ("Charles Babbage", ""))
    inner = attached_mail(
        "Keys: whose / when?", "Whose are they?", ada, grace, {"list.csv": b"name,keys\nAda,2\n", "The keys": innermost}
    )
    path = write_msg(tmp_path / "a.msg", "Fwd: keys", "See below.", ada, grace, {"Keys": inner, "empty.txt": b""})
    found = {one.uri: one for one in Mail(session=session).load(path, "a.msg") if isinstance(one, Source)}
    outer = "a.msg#Keys: whose when?.eml"
    assert [*found] == [f"{outer}#list.csv#1", f"{outer}#The keys.eml", outer, "a.msg"]
    assert found[outer].text == (
        "Keys: whose / when?\n\nFrom: Ada Lovelace <ada@example.org>\nTo: Höpper, Grace <grace@example.org>\n"
        "Date: 2026-11-18 10:00\n\nWhose are they?"
    )
    assert found[outer].metadata["attached_to"] == "a.msg"
    assert found[f"{outer}#The keys.eml"].metadata["author"] == "Höpper, Grace <grace@example.org>"
    assert found[f"{outer}#The keys.eml"].metadata["to"] == ["Charles Babbage"]
    assert found["a.msg"].notes == ("the attachment empty.txt was not read: it is a link to a file, or empty",)
    deep = attached_mail("Innermost", "The last one.", ada, grace)
    for level in range(20):
        deep = attached_mail(f"Level {level}", "One more within.", ada, grace, {"deeper": deep})
    path = write_msg(tmp_path / "b.msg", "Fwd", "See below.", ada, grace, {"deeper": deep})
    found = {one.uri: one for one in Mail(session=session).load(path, "b.msg") if isinstance(one, Source)}
    assert max(uri.count("#") for uri in found) == 3
    assert any("read to a depth of 3" in note for one in found.values() for note in one.notes)
