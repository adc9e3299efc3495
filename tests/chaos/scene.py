"""The processes that work together. Each can be killed at any moment; all but some workers are restarted at once."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil
import psycopg

from tests.chaos.calls import Kill, Kind
from trueweave.errors import EmbeddedServerError
from trueweave.store.embedded import EmbeddedServer

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds in which what is killed is gone, and the database is back
_ENDS_IN = 30.0  # seconds in which a worker that has nothing left to do ends
_TELLS_IN = 2.0  # seconds in which one that does not says what it is at


@dataclass
class Scene:
    """A PostgreSQL, a model server whose replies take `delay` seconds, and a `staff` of so many workers; `kills` are
    those so far."""

    folder: Path
    postgres: EmbeddedServer
    delay: float = 0.0
    faults: Mapping[str, float] = field(default_factory=dict)
    staff: int = 0
    workers: list[psutil.Popen] = field(default_factory=list)
    unreplaced: int = 0  # workers that were killed and stayed dead
    kills: list[Kill] = field(default_factory=list)
    server: psutil.Popen | None = None
    database_url: str = field(init=False, default="")
    _port: int = field(default_factory=lambda: _free_port())
    _started: int = 0
    _logs: dict[int, Path] = field(default_factory=dict)  # by process

    def __post_init__(self) -> None:
        self.database_url = self.postgres.url

    @property
    def model_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def log(self) -> Path:
        return self.folder / "calls.jsonl"

    def start_worker(self) -> None:
        self.workers.append(self._start("worker", "tests.chaos.worker", self.database_url, self.model_url))

    def start_server(self) -> None:
        """Start the model server: on the same port, with the same log."""
        options = [f"--port={self._port}", f"--log={self.log}", f"--delay={self.delay}", f"--seed={self._started}"]
        for name, share in self.faults.items():
            options.append(f"--fault={name}:{share}")
        self.server = self._start(
            "server", "trueweave.testing.model_server", "--script=tests.chaos.corpus:reply", *options
        )

    def _start(self, name: str, module: str, *arguments: str) -> psutil.Popen:
        self._started += 1
        log = self.folder / f"{name}-{self._started}.log"
        with log.open("w") as said:
            command = [sys.executable, "-m", module, *arguments]
            started = psutil.Popen(command, cwd=self.folder, env=_environment(), stdout=said, stderr=said)
        self._logs[started.pid] = log
        return started

    async def kill(self, kind: Kind, random: Random, *, stays_dead: bool = False) -> None:
        """Kill -9 one process of a kind, and start another. A worker that `stays_dead` is not replaced before another
        worker is killed; at least one is always left."""
        self.check_nobody_left()
        if kind == "worker":
            victim = random.choice(self.workers)
            self.workers.remove(victim)
            self._kill(kind, victim, self._port)
            if stays_dead and self.workers:
                self.unreplaced += 1
                return None
            while len(self.workers) < self.staff:
                self.start_worker()
        elif kind == "model server":
            assert self.server
            self._kill(kind, self.server)
            self.start_server()
        else:
            pid = (self.postgres.directory / "data" / "postmaster.pid").read_text().split()[0]
            postmaster = psutil.Process(int(pid))
            backends = [child for child in postmaster.children() if "postgres: trueweave" in _title(child)]
            try:
                self._kill(kind, random.choice(backends) if kind == "backend" and backends else postmaster)
            except psutil.NoSuchProcess:  # its client had just closed the connection
                return await self.kill(kind, random)
            await asyncio.to_thread(self._restart_postgres)
        return None

    def _kill(self, kind: Kind, victim: psutil.Process, towards: int = 0) -> None:
        """Stop it first, so that what it was at can be seen."""
        after = time.time()
        victim.suspend()
        open_ = victim.net_connections(kind="tcp") if towards else ()
        ports = frozenset(c.laddr.port for c in open_ if c.raddr and c.raddr.port == towards)
        victim.kill()
        self.kills.append(Kill(kind, after, time.time(), ports))
        victim.wait(PATIENCE)

    def _restart_postgres(self) -> None:
        """Start it if it was killed, and wait until it takes connections: the postmaster mends lost backends itself."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return psycopg.connect(self.postgres.start()).close()
            except (psycopg.OperationalError, EmbeddedServerError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def check_nobody_left(self) -> None:
        """Workers are there until they are killed."""
        gone = [worker.pid for worker in self.workers if worker.poll() is not None]
        assert not gone, f"workers {gone} ended by themselves\n{self.said()}"

    def said(self) -> str:
        """The last words of all processes."""
        logs = sorted(self.folder.glob("*.log"), key=lambda path: path.stat().st_mtime)[-8:]
        return "\n".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in logs)

    def end(self) -> None:
        """Let the workers end in good order, and stop the rest."""
        for worker in self.workers:
            worker.terminate()
        _, left = psutil.wait_procs(self.workers, _ENDS_IN)
        assert not left, "\n".join(map(self._at_what, left))
        assert self.server
        self.server.kill()
        self.server.wait()

    def _at_what(self, worker: psutil.Process) -> str:
        """What a worker that does not end says that its threads and tasks are at, after its last words."""
        worker.send_signal(signal.SIGUSR1)
        time.sleep(_TELLS_IN)
        said = self._logs[worker.pid].read_text()
        return f"worker {worker.pid} had not ended {_ENDS_IN:g} s after SIGTERM:\n{said[-30_000:]}"


@asynccontextmanager
async def scene(
    folder: Path, postgres: EmbeddedServer, delay: float, faults: Mapping[str, float], workers: int
) -> AsyncIterator[Scene]:
    """A model server and workers, gone at the end whatever happens."""
    made = Scene(folder, postgres, delay, faults, workers)
    try:
        made.start_server()
        for _ in range(workers):
            made.start_worker()
        yield made
    finally:
        for process in (*made.workers, *filter(None, [made.server])):
            with suppress(psutil.NoSuchProcess):
                process.kill()
            process.wait()


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it is gone
        return ""


def _environment() -> dict[str, str]:
    """That of this process, without anybody's settings, and so that modules of these tests are found."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRUEWEAVE_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
