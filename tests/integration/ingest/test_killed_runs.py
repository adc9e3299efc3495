"""A process that is killed during a run: the next run fetches nothing that was stored."""

import os
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.integration.ingest.test_buckets import SECRETS, Objects, endpoint
from tests.integration.ingest.test_git import AUTHOR
from trueweave import AsyncTrueweave, Settings
from trueweave.core.connectors import Fetched, Item
from trueweave.extend import Database
from trueweave.ingest.connectors.git import Git
from trueweave.ingest.connectors.objects import Bucket
from trueweave.testing import HashEmbedder

__all__ = ["endpoint"]  # a fixture

ITEMS, KILLED_AT = 9, 6
SETTINGS = {"extractor": "capitals", "source_networks": ["127.0.0.0/8"]}
VARIABLES = {name: f"KILLED_{name.upper()}" for name in SECRETS}

# Submits two documents at a time, says when it is about to fetch a later one, and waits there to be killed.
PROGRAM = """
import asyncio, sys, time
from trueweave import AsyncTrueweave, Settings
from trueweave.ingest import intake
from trueweave.ingest.connectors.{module} import {name}
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


@pytest.fixture
def repository(tmp_path: Path) -> str:
    from dulwich import porcelain

    folder = tmp_path / "project"
    folder.mkdir()
    porcelain.init(str(folder))
    for n in range(ITEMS):
        (folder / f"{n}.md").write_text(f"Ada Lovelace wrote page {n}.")
    porcelain.add(str(folder), [str(folder / f"{n}.md") for n in range(ITEMS)])
    porcelain.commit(str(folder), b"all", author=AUTHOR, committer=AUTHOR)
    return f"git+file://{folder}"


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, variable in VARIABLES.items():
        monkeypatch.setenv(variable, SECRETS[name])
    objects = Objects(endpoint)
    for n in range(ITEMS):
        objects.put(f"{n}", f"Ada Lovelace wrote page {n}.")
    return objects.address


def killed(program: str) -> list[str]:
    """What a program has printed when it was killed."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        said = running.stdout.readline().split()
        os.kill(running.pid, signal.SIGKILL)
    return said


@pytest.mark.parametrize(("kind", "module"), [(Git, "git"), (Bucket, "objects")])
async def test_a_killed_run_goes_on_from_its_checkpoint(
    kind: type[Git] | type[Bucket],
    module: str,
    database: Database,
    url: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address: str = request.getfixturevalue("repository" if kind is Git else "bucket")
    secrets = {} if kind is Git else VARIABLES
    given = {"module": module, "name": kind.__name__, "killed_at": KILLED_AT, "settings": SETTINGS}
    program = PROGRAM.format(**given, url=url, address=address, secrets=secrets)
    before = killed(program)
    assert len(before) == KILLED_AT, "it failed before"
    after: list[str] = []
    fetch = kind.fetch

    def counted(self: Git | Bucket, item: Item, folder: Path, validator: str) -> Fetched | None:
        after.append(item.uri)
        return fetch(self, item, folder, validator)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "fetch", counted)
    settings = Settings.model_validate(SETTINGS)
    async with aclosing(await AsyncTrueweave.enter(database, "killed", HashEmbedder(), settings=settings)) as index:
        added = await index.sync(address, secrets=secrets)
        assert added.unchanged >= 4, "two batches were stored"
        assert not {*after} & {*before[: added.unchanged]}
        assert len(after) == ITEMS - added.unchanged
        assert len([document async for document in index.documents()]) == ITEMS
