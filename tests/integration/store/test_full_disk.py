"""On a full disk the bundled PostgreSQL stops. Its users are told so, and it starts again when there is room."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.errors import DatabaseError, DiskFull
from trueweave.extend import Database
from trueweave.store import embedded
from trueweave.store.embedded import EmbeddedServer
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.server_user import server_user
from trueweave.testing import HashEmbedder

SMALL = {"fsync": "off", "shared_buffers": "16MB"}


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of 200 MB; only root can make one."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    folder = Path(f"/tmp/trueweave-disk-{os.getpid()}")
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m,mode=755", "tmpfs", folder], check=False)
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("cannot mount a small disk here")
    yield folder
    EmbeddedServer(folder / "server").stop()
    subprocess.run(["umount", "-l", folder], check=True)
    folder.rmdir()


def fill(disk: Path) -> Path:
    """Leave no byte free."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(65536))
    return ballast


def wait_until_it_stopped(server: EmbeddedServer, url: str) -> None:
    """Write until the server has no room for its log, and is gone."""
    pid = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
    end = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the server went on without any room"
        with suppress(psycopg.Error), psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
            connection.execute("SELECT pg_logical_emit_message(false, 'filler', repeat('x', 5000000))")
        time.sleep(0.05)


async def test_a_full_disk_is_named_and_the_server_comes_back_when_there_is_room(disk: Path) -> None:
    server = EmbeddedServer(disk / "server", SMALL)
    settings = Settings(data_directory=server.directory, workspace="test", extractor="capitals")
    url = server.start()
    await migrate(url)
    async with Database(url, revive=server.start) as database:
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        await trueweave.add(Source("first", "Ada Lovelace met Charles Babbage."))
        ballast = fill(disk)
        await asyncio.to_thread(wait_until_it_stopped, server, url)
        began = time.monotonic()
        with pytest.raises(DatabaseError, match="disk"):
            await trueweave.add(Source("second", "Ada Lovelace wrote notes."))
        assert time.monotonic() - began < 100  # the pool alone tries for a minute
        with pytest.raises(DiskFull, match=r"is full: \d+ MB are free in .*Make room"):
            server.start()
        ballast.unlink()
        added = await trueweave.add(Source("second", "Ada Lovelace wrote notes."))  # starts it again
        assert added.new + added.unchanged == 1
        assert (await trueweave.status()).documents == 2
        await trueweave.aclose()


def test_what_the_server_says_of_a_full_disk_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without a disk of our own: the end of the log tells."""
    server = EmbeddedServer(tmp_path / "server", SMALL)
    tmp_path.chmod(0o755)
    user = server_user()
    said = 'PANIC:  could not write to file "pg_wal/xlogtemp.9": No space left on device'
    monkeypatch.setattr(EmbeddedServer, "_check_reach", lambda *_: None)
    monkeypatch.setattr(EmbeddedServer, "_programs", lambda *_: tmp_path)
    monkeypatch.setattr(EmbeddedServer, "_create", lambda *_: None)
    monkeypatch.setattr(EmbeddedServer, "_check_version", lambda *_: None)

    def run(*command: object, **_: object) -> subprocess.CompletedProcess[str]:
        with (server.directory / "log").open("a") as log:
            log.write(said)
        return subprocess.CompletedProcess([], 1, "", "pg_ctl: could not start server")

    monkeypatch.setattr(type(user), "run", run)
    with pytest.raises(DiskFull, match="the disk of the bundled PostgreSQL is full"):
        server.start()


@pytest.mark.parametrize(("free", "most"), [(100e6, 128), (10e9, 500), (1e12, 1024)])
def test_the_log_of_the_bundled_server_fits_its_disk(free: float, most: int) -> None:
    assert embedded._most_log(int(free)) == most
