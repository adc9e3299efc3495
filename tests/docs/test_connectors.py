"""What the page on connectors shows is what the commands print, with each system on this machine."""

from collections.abc import Iterator
from contextlib import ExitStack
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import psycopg
import pytest

from tests.commands import run_command
from tests.docs.test_transcripts import CLEAN, DOCS
from tests.docs.transcripts import Session, check, terminal
from tests.dovecot import Dovecot
from tests.git_repository import git_server
from tests.web_site import Answer, Site, web_site
from trueweave.cli.render import console as consoles
from trueweave.testing import Databases

COMMANDS = 25
_FEED = '<rss version="2.0"><channel>{}</channel></rss>'


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wide enough for the addresses of this machine, which are longer than those of the page."""
    with terminal():
        monkeypatch.setattr(consoles.out, "_width", 150)
        yield


def _publish(site: Site, pages: int) -> None:
    """A site with these pages."""
    paths = [f"/kettle/{n}" for n in range(pages)]
    for path in paths:
        site.page(path, f"Ada Lovelace reviewed {path} in London.")
    site.sitemap("/sitemap.xml", *paths, modified="2026-01-02")
    site.page("/about", "Grace Hopper founded the shop in Rotterdam.", "About us")
    items = "".join(f"<item><title>News</title><link>{site.url}{path}</link></item>" for path in ("/n/1", "/n/2"))
    for path in ("/n/1", "/n/2"):
        site.page(path, f"Grace Hopper opened a shop {path}.")
    site.pages["/news.xml"] = Answer(_FEED.format(items).encode(), headers={"content-type": "application/rss+xml"})


def _mail(n: int) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Message-ID"] = f"Mail {n}", "grace@example.org", f"<{n}@example.org>"
    mail["Date"] = "Wed, 18 Nov 2026 10:00:00 +0100"
    mail.set_content(f"Grace Hopper wrote letter {n}.")
    return mail


def _send(server: Dovecot, *numbers: int, deleted: str = "") -> None:
    with server.client("ada") as client:
        for n in numbers:
            client.append("INBOX", "", "", _mail(n).as_bytes(policy=SMTP))
        client.select("INBOX")
        if deleted:
            client.uid("STORE", deleted, "+FLAGS", "(\\Deleted)")
            client.expunge()


def _fill(url: str) -> str:
    """A shop with articles and customers; its address without the password."""
    parts = urlsplit(url)
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE TABLE public.article (id int, title text, body text);"
            "CREATE TABLE customer (id int, changed date, title text, note text);"
            "INSERT INTO article SELECT n, 'Kettle ' || n, 'Ada Lovelace likes ' || n FROM generate_series(1, 6) n;"
            "INSERT INTO customer SELECT n, '2026-01-01', 'Customer', 'Grace ' || n FROM generate_series(1, 3) n"
        )
    return f"postgresql://{parts.username}@{parts.hostname}:{parts.port}{parts.path}?sslmode=disable&"


def test_the_page_on_connectors(databases: Databases, tmp_path: Path, s3_endpoint: str) -> None:
    url, shop = databases.make(), databases.make()
    folder, maildir = tmp_path / "handbook", tmp_path / "Maildir"
    folder.mkdir()
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    bucket = boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1", **keys)
    bucket.create_bucket(Bucket="handbook")
    for n in range(6):
        bucket.put_object(Bucket="handbook", Key=f"notes/{n}.md", Body=f"Ada Lovelace wrote note {n}.".encode())
    for name in ("cur", "new", "tmp"):
        (maildir / name).mkdir(parents=True)
    for n in range(10, 13):
        (maildir / "cur" / f"{n}.host:2,").write_bytes(_mail(n).as_bytes())
    with ExitStack() as stack:
        site = stack.enter_context(web_site())
        repository = stack.enter_context(git_server(tmp_path / "project"))
        repository.commit({f"docs/{n}.md": f"Ada Lovelace wrote page {n}." for n in range(10)} | {"logo.bin": "x"})
        mail = Dovecot()
        stack.callback(mail.close)
        mail.start()
        _send(mail, *range(6))
        _publish(site, 8)
        environment = {
            **CLEAN,
            "TRUEWEAVE_DATABASE_URL": url,
            "TRUEWEAVE_EXTRACTOR": "capitals",
            "TRUEWEAVE_SOURCE_NETWORKS": '["127.0.0.0/8"]',
            "TRUEWEAVE_SOURCE_PAUSE": "0",
            "SSL_CERT_FILE": str(mail.certificate.chain),
            "MAIL_PASSWORD": "secret",
            "SHOP_PASSWORD": urlsplit(shop).password or "",
            "NOTES_ID": "test",
            "NOTES_KEY": "test",
        }
        addresses = {
            "https://kettles.example": site.url,
            "git+https://git.example/project.git": repository.url,
            "https://s3.example": s3_endpoint,
            "@mail.example/": f"@127.0.0.1:{mail.port}/",
            "maildir:///home/ada/Maildir": f"maildir://{maildir}",
            "postgresql://reader@db.example/shop?": _fill(shop),
        }
        happens = {
            3: lambda: _publish(site, 5),
            5: lambda: _publish(site, 8),
            8: lambda: _publish(site, 5),
            18: lambda: repository.commit({"docs/0.md": "Grace Hopper wrote page 0.", "docs/9.md": None}),
            20: lambda: bucket.delete_object(Bucket="handbook", Key="notes/5.md"),
            22: lambda: _send(mail, 6, deleted="1"),
        }
        run_command("init", folder=folder, environment=environment)
        session = Session(folder, environment, addresses=addresses, before=happens)
        stack.callback(session.close)
        assert check(DOCS / "how-to" / "connectors.md", session) == COMMANDS, "the numbers of commands have changed"
    databases.drop(url)
    databases.drop(shop)
