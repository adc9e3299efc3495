"""The entry point of the image, without a database URL: PostgreSQL, server and worker in one process tree."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers import free_port, wait_for_url
from trueweave.store.embedded import EmbeddedServer

ENTRYPOINT = Path(__file__).parents[2] / "deploy" / "entrypoint.sh"

Container = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def data() -> Iterator[Path]:
    """A volume that every user can reach, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        yield Path(root) / "postgresql"
        EmbeddedServer(Path(root) / "postgresql").stop()


@pytest.fixture
def container(data: Path, tmp_path: Path) -> Iterator[Container]:
    """Starts the entry point as the image does."""
    started: list[subprocess.Popen[str]] = []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path), "TRUEWEAVE_DATA_DIRECTORY": str(data)}

    def start() -> subprocess.Popen[str]:
        command = ["sh", str(ENTRYPOINT), "serve", "--port", str(free_port())]
        started.append(subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def _is_serving(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    said = next(line for line in process.stderr if "Serving" in line)
    [address] = re.findall(r"http://[\d.]+:\d+", said)[:1]
    wait_for_url(f"{address}/healthz")


def test_it_serves_with_a_postgresql_that_stops_with_it_and_starts_after_a_crash(
    container: Container, data: Path
) -> None:
    first = container()
    _is_serving(first)
    assert EmbeddedServer(data).running()
    second = container()
    assert second.wait(120) == 1
    assert second.stderr is not None
    assert "another container uses this volume" in second.stderr.read()

    first.send_signal(signal.SIGTERM)
    assert first.wait(60) in (0, 128 + signal.SIGTERM)
    assert not EmbeddedServer(data).running()

    # A container that is killed leaves this file, and its number may be that of any process of the next container.
    pid = data / "data" / "postmaster.pid"
    pid.write_text(f"{os.getpid()}\n{data / 'data'}\n1\n1\n\n127.0.0.1\n1 1\nready\n")
    _is_serving(container())
