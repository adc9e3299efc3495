"""A process that is killed during a run: the next run fetches nothing that was stored."""

import os
import signal
import subprocess
import sys
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.git_repository import AUTHOR
from tests.integration.ingest.test_buckets import SECRETS, Objects
from tests.integration.ingest.test_mailboxes import MailFolder
from tests.integration.ingest.test_mailboxes import dovecot as dovecot  # a fixture
from tests.integration.ingest.test_sql import Articles
from trueweave import AsyncTrueweave, Settings
from trueweave.core.connectors import Fetched, Item
from trueweave.extend import Database
from trueweave.ingest.connectors.git import Git
from trueweave.ingest.connectors.imap import Imap
from trueweave.ingest.connectors.objects import Bucket
from trueweave.ingest.connectors.sql import PostgresQuery
from trueweave.testing import HashEmbedder

ITEMS, KILLED_AT = 9, 6
SETTINGS = {"extractor": "capitals", "source_networks": ["127.0.0.0/8"]}
VARIABLES = {name: f"KILLED_{name.upper()}" for name in SECRETS}

# Submits two documents at a time, says when it is about to fetch a later one, and waits there to be killed.
PROGRAM = """
import asyncio, sys, time
from trueweave import AsyncTrueweave, Settings
from trueweave.ingest import intake
from {module} import {name}
from trueweave.testing import HashEmbedder

intake._MOST = 2
fetch, fetched = {name}.fetch, []

def counted(self, item, folder, validator):
    fetched.append(item.uri)
    if len(fetched) == {killed_at}:
        print(*fetched, flush=True)
        time.sleep(600)
    return fetch(self, item, folder, validator)

{name}.fetch = counted

async def main():
    settings = Settings.model_validate({settings!r})
    async with AsyncTrueweave.open({url!r}, "killed", HashEmbedder(), settings=settings, make=True) as trueweave:
        await trueweave.sync({address!r}, secrets={secrets!r})

asyncio.run(main())
"""


@dataclass(frozen=True)
class Filled:
    """The address of some documents, with its connector and the environment variables of its credentials."""

    connector: Any
    address: str
    secrets: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def git(tmp_path: Path) -> Filled:
    from dulwich import porcelain

    folder = tmp_path / "project"
    folder.mkdir()
    porcelain.init(str(folder))
    for n in range(ITEMS):
        (folder / f"{n}.md").write_text(f"Ada Lovelace wrote page {n}.")
    porcelain.add(str(folder), [str(folder / f"{n}.md") for n in range(ITEMS)])
    porcelain.commit(str(folder), b"all", author=AUTHOR, committer=AUTHOR)
    return Filled(Git, f"git+file://{folder}")


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Filled:
    for name, variable in VARIABLES.items():
        monkeypatch.setenv(variable, SECRETS[name])
    objects = Objects(s3_endpoint)
    for n in range(ITEMS):
        objects.put(f"{n}", f"Ada Lovelace wrote page {n}.")
    return Filled(Bucket, objects.address, VARIABLES)


@pytest.fixture
def rows(url: str, monkeypatch: pytest.MonkeyPatch) -> Filled:
    articles = Articles(url)
    monkeypatch.setenv("KILLED_PASSWORD", articles.password)
    with closing(articles.connection):
        for n in range(ITEMS):
            articles.put(f"{n}", f"Ada Lovelace wrote page {n}.")
    return Filled(PostgresQuery, articles.address, {"password": "KILLED_PASSWORD"})


@pytest.fixture
def mails(request: pytest.FixtureRequest) -> Filled:
    folder = MailFolder(request.getfixturevalue("dovecot"))
    for n in range(ITEMS):
        folder.put(f"{n}", f"Ada Lovelace wrote page {n}.")
    return Filled(Imap, folder.address, {"password": "MAIL_PASSWORD"})


def killed(program: str) -> list[str]:
    """What a program has printed when it was killed."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        said = running.stdout.readline().split()
        os.kill(running.pid, signal.SIGKILL)
    return said


@pytest.mark.parametrize("source", ["git", "bucket", "rows", "mails"])
async def test_a_killed_run_goes_on_from_its_checkpoint(
    source: str, database: Database, url: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: Filled = request.getfixturevalue(source)
    kind, address, secrets = filled.connector, filled.address, filled.secrets
    given = {"module": kind.__module__, "name": kind.__name__, "killed_at": KILLED_AT, "settings": SETTINGS}
    before = killed(PROGRAM.format(**given, url=url, address=address, secrets=secrets))
    assert len(before) == KILLED_AT, "it failed before"
    after: list[str] = []
    fetch = kind.fetch

    def counted(self: object, item: Item, folder: Path, validator: str) -> Fetched | None:
        after.append(item.uri)
        found: Fetched | None = fetch(self, item, folder, validator)
        return found

    monkeypatch.setattr(kind, "fetch", counted)
    settings = Settings.model_validate(SETTINGS)
    async with aclosing(await AsyncTrueweave.enter(database, "killed", HashEmbedder(), settings=settings)) as index:
        added = await index.sync(address, secrets=secrets)
        assert added.unchanged >= 4, "two batches were stored"
        assert not {*after} & {*before[: added.unchanged]}
        assert len(after) == ITEMS - added.unchanged
        assert len([document async for document in index.documents()]) == ITEMS
