"""The bundled PostgreSQL, started for real: by root as the system user `trueweave`, and by an ordinary user."""

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from trueweave import AsyncTrueweave, Settings
from trueweave.errors import EmbeddedServerError, EmbeddedServerMissing, SchemaOutdated
from trueweave.store import embedded
from trueweave.store.embedded import EmbeddedServer, default_directory
from trueweave.store.server_user import ServerUser

QUICK = {"fsync": "off", "shared_buffers": "16MB"}
NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for whom a system user runs the server")

# What another process runs. It imports everything before it may give up the right to read the interpreter.
CLIENT = f"""
    import encodings.idna, os, sys
    from pathlib import Path
    import psycopg
    from trueweave.store.embedded import EmbeddedServer

    server = EmbeddedServer(Path(sys.argv[1]), {QUICK})
"""
SHOW_START_TIME = """
    with psycopg.connect(server.start()) as connection:
        print(connection.execute("SELECT pg_postmaster_start_time()::text").fetchone())
"""
START_AND_STOP_AS_NOBODY = f"""
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
    with psycopg.connect(server.start()) as connection:
        print(connection.execute("SELECT current_database()").fetchone())
    server.stop()
    print(server.running(), server.directory.joinpath("data").stat().st_uid)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Callable[[], Path]]:
    """Makes directories that every user can reach, unlike pytest's own, and stops what runs in them."""
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        made: list[Path] = []

        def make() -> Path:
            made.append(Path(root, str(len(made))))
            return made[-1]

        yield make
        for directory in made:
            EmbeddedServer(directory).stop()


@pytest.fixture(scope="module")
def shared(place: Callable[[], Path]) -> EmbeddedServer:
    """A server for the tests that leave it as they found it: able to start, with whatever tables."""
    return EmbeddedServer(place(), QUICK)


def run(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def client(body: str, directory: Path) -> subprocess.Popen[str]:
    code = textwrap.dedent(CLIENT) + textwrap.dedent(body)
    return subprocess.Popen(
        [sys.executable, "-c", code, directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def output(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def postmaster_pid(server: EmbeddedServer) -> int:
    return int(server.directory.joinpath("data", "postmaster.pid").read_text().splitlines()[0])


def test_data_and_address_outlast_a_stop(shared: EmbeddedServer) -> None:
    url = shared.start()
    run(url, "CREATE EXTENSION vector; CREATE TABLE kept AS SELECT '[1,2]'::vector AS v")
    shared.stop()
    assert not shared.running()
    shared.stop()
    assert shared.start() == url == shared.url
    assert shared.running()
    assert run(url, "SELECT v::text FROM kept") == [("[1,2]",)]


async def test_opening_migrates_the_bundled_server_and_no_other_database(place: Callable[[], Path]) -> None:
    server = EmbeddedServer(place(), QUICK)
    settings = Settings(data_directory=server.directory, workspace="first")
    with pytest.raises(SchemaOutdated, match="Run `trueweave init`"):
        async with AsyncTrueweave.open(server.start(), settings=settings):
            pass
    async with AsyncTrueweave.open(settings=settings) as trueweave:
        assert (await trueweave.status()).documents == 0
    assert await AsyncTrueweave.migrate(settings=settings) == []


def test_another_process_finds_the_running_server(shared: EmbeddedServer) -> None:
    [(started,)] = run(shared.start(), "SELECT pg_postmaster_start_time()::text")
    assert output(client(SHOW_START_TIME, shared.directory)) == f"('{started}',)\n"
    assert shared.running()


def test_a_killed_server_comes_back_with_its_data(shared: EmbeddedServer) -> None:
    run(shared.start(), "CREATE TABLE survives AS SELECT 1 AS one")
    postmaster = psutil.Process(postmaster_pid(shared))
    postmaster.kill()
    postmaster.wait(timeout=10)
    assert not shared.running()
    assert run(shared.start(), "SELECT one FROM survives") == [(1,)]


def test_only_the_password_lets_one_in(shared: EmbeddedServer) -> None:
    url = shared.start()
    password = shared.directory.joinpath("password")
    assert password.stat().st_mode & 0o777 == 0o600
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url.replace(password.read_text(), "guess"))
    listening = psutil.Process(postmaster_pid(shared)).net_connections(kind="all")
    assert {c.laddr[0] for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_a_taken_port_is_replaced(shared: EmbeddedServer, place: Callable[[], Path]) -> None:
    url = shared.start()
    other = EmbeddedServer(place(), QUICK)
    other.start()
    other.stop()
    port = shared.directory.joinpath("port").read_text()
    other.directory.joinpath("port").write_text(port)
    assert f":{port}/" in url
    assert f":{port}/" not in other.start()


def test_four_processes_start_one_server(place: Callable[[], Path]) -> None:
    directory = place()
    starters = [client(SHOW_START_TIME, directory) for _ in range(4)]
    assert len({output(starter) for starter in starters}) == 1


def test_a_setting_that_postgres_refuses_is_told_from_the_log(shared: EmbeddedServer) -> None:
    shared.stop()
    with pytest.raises(EmbeddedServerError, match=r"(?s)The end of .*/log:.*nonsense"):
        EmbeddedServer(shared.directory, {"shared_buffers": "nonsense"}).start()


def test_data_of_another_major_version_is_refused(place: Callable[[], Path]) -> None:
    directory = place()
    directory.joinpath("data").mkdir(parents=True)
    directory.joinpath("data", "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedServerError, match=r"created by PostgreSQL 16, but .* is PostgreSQL 18"):
        EmbeddedServer(directory).start()


def test_without_the_wheel_the_message_says_what_to_install(
    place: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(EmbeddedServerMissing, match=r"trueweave\[embedded\]"):
        EmbeddedServer(place()).start()


def test_a_stopped_server_has_no_address(place: Callable[[], Path]) -> None:
    directory = place()
    with pytest.raises(EmbeddedServerError, match="trueweave db start"):
        _ = EmbeddedServer(directory).url
    EmbeddedServer(directory).stop()
    assert not directory.exists()


@as_root
def test_an_unreachable_directory_is_named(place: Callable[[], Path]) -> None:
    closed = place()
    closed.mkdir(mode=0o700)
    with pytest.raises(
        EmbeddedServerError, match=f"cannot enter {closed} .*Set data_directory .*such as /var/lib/trueweave"
    ):
        EmbeddedServer(closed / "below").start()
    assert not closed.joinpath("below").exists()


@as_root
def test_unreachable_programs_are_copied(place: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    may_use = ServerUser.may_use
    monkeypatch.setattr(
        ServerUser, "may_use", lambda user, path: "site-packages" not in path.parts and may_use(user, path)
    )
    server = EmbeddedServer(place(), QUICK)
    run(server.start(), "CREATE EXTENSION vector")
    executable = psutil.Process(postmaster_pid(server)).exe()
    assert Path(executable).is_relative_to(server.directory)


@as_root
def test_an_ordinary_user_runs_a_server_of_his_own(place: Callable[[], Path]) -> None:
    directory = place()
    directory.mkdir()
    os.chown(directory, NOBODY, NOBODY)
    if not ServerUser("nobody", NOBODY, NOBODY).may_use(embedded._package()):
        pytest.skip("this checkout is closed to the ordinary user")
    assert output(client(START_AND_STOP_AS_NOBODY, directory)) == f"('trueweave',)\nFalse {NOBODY}\n"


@pytest.mark.parametrize("uid", [0, 1000])
def test_data_go_where_xdg_data_home_says(uid: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "trueweave"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".local" / "share" / "trueweave"
    assert default_directory() == (home if uid else Path("/var/lib/trueweave"))


async def test_nothing_is_made_by_who_only_reads(tmp_path: Path) -> None:
    place = tmp_path / "new"
    with pytest.raises(EmbeddedServerError, match=f"there is no database yet in {place}. Run `trueweave init`"):
        EmbeddedServer(place).start(make=False)
    with pytest.raises(EmbeddedServerError, match="there is no database yet"):
        async with AsyncTrueweave.open(settings=Settings(data_directory=place), make=False):
            pass
    assert not place.exists()
