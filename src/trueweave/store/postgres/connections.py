"""Single connections, set up so that neither end waits for a peer that is gone.

With TCP alone it takes hours to notice that a machine has lost power. Keepalives on both ends reduce that to about
twenty seconds. PostgreSQL's timeouts limit statements, waits for locks and idle transactions.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from psycopg import AsyncConnection, Error  # noqa: TID251 (the one place)
from psycopg.abc import PQGen

from trueweave.core.errors import ConfigError, DatabaseError
from trueweave.store.postgres.failures import connection_advice

T = TypeVar("T")
Row = tuple[Any, ...]

_QUIET, _BETWEEN, _PROBES = 5, 5, 3  # seconds idle before the first probe, seconds between probes, number of probes

# For the client's end of a connection. A connection whose peer is silent for this long is given up.
KEEPALIVE: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": _QUIET,
    "keepalives_interval": _BETWEEN,
    "keepalives_count": _PROBES,
    "tcp_user_timeout": 1000 * (_QUIET + _BETWEEN * _PROBES),
}

# The same for the server's end. These are session settings, so they are set only if no pooler shares the session.
_SERVER_KEEPALIVE = {
    "tcp_keepalives_idle": _QUIET,
    "tcp_keepalives_interval": _BETWEEN,
    "tcp_keepalives_count": _PROBES,
    "tcp_user_timeout": 1000 * (_QUIET + _BETWEEN * _PROBES),
}


@dataclass(frozen=True)
class Timeouts:
    """PostgreSQL's timeouts, in seconds, for statements, waits for locks and idle transactions; 0 means none."""

    statement: float = 600.0
    lock: float = 300.0
    idle: float = 60.0

    @property
    def settings(self) -> dict[str, str]:
        """The timeouts as PostgreSQL settings."""
        return {
            "statement_timeout": _milliseconds(self.statement),
            "lock_timeout": _milliseconds(self.lock),
            "idle_in_transaction_session_timeout": _milliseconds(self.idle),
        }


NONE = Timeouts(0, 0, 0)  # no limits, for migrations and index builds


class PostgresConnection(AsyncConnection[Row]):
    """A connection that any task may close, even while another task is waiting for a statement on it.

    An event loop must never watch a closed descriptor: uvloop then aborts the process. So `close` shuts the socket
    down, which makes the statement fail at once, and closes the descriptor after the waiting task has stopped watching
    it.
    """

    _wait_ended: asyncio.Future[None] | None = None

    async def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Wait for a statement. psycopg calls this for every statement."""
        self._wait_ended = ended = asyncio.get_running_loop().create_future()
        try:
            return await super().wait(gen, *args, **kwargs)
        finally:
            self._wait_ended = None
            ended.set_result(None)

    async def close(self) -> None:
        """Close the connection. A statement in progress fails with an OperationalError."""
        while self._wait_ended and not self.closed:
            _shut_down(self.pgconn.socket)
            await asyncio.shield(self._wait_ended)
        await super().close()


def _shut_down(descriptor: int) -> None:
    """Shut down both directions of a socket. Its descriptor stays open."""
    with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
        copy.shutdown(socket.SHUT_RDWR)


async def connect(
    url: str,
    timeouts: Timeouts = Timeouts(),  # noqa: B008 (immutable)
    *,
    said_to_be_direct: bool = False,
) -> PostgresConnection:
    """A dedicated connection to PostgreSQL itself, in autocommit mode. Session settings persist on it.

    Raises ConfigError if a pooler is in between, unless `said_to_be_direct` states that this address gives each client
    its own session.
    """
    connection = await PostgresConnection.connect(url, autocommit=True, **KEEPALIVE)
    try:
        if not said_to_be_direct:
            await refuse_pooler(connection, url)
        await configure(connection, timeouts.settings)
    except BaseException:
        await connection.close()
        raise
    return connection


async def configure(connection: PostgresConnection, settings: dict[str, str]) -> None:
    """Apply these settings, and keepalives, to the whole session. Not for sessions that a pooler shares."""
    every = {**settings, **{name: str(value) for name, value in _SERVER_KEEPALIVE.items()}}
    await connection.execute(f"SELECT {set_all(every, local=False)}".encode())


async def refuse_pooler(connection: PostgresConnection, url: str) -> None:
    """Raise ConfigError if there is a pooler in front of PostgreSQL. A pooler reports its own backend process ids."""
    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    if row != (connection.pgconn.backend_pid,):
        raise ConfigError(
            f"there is a pooler such as PgBouncer in front of the database at {location(url)}, but the queue and "
            "migrations need a session to themselves. Set direct_database_url to the address of PostgreSQL itself; "
            "or to the same address, if the pooler gives each client its own session. An owner_database_url must "
            "be the address of PostgreSQL itself, too."
        )


def set_all(settings: dict[str, str], *, local: bool) -> str:
    """A list of SQL expressions that apply settings; with `local`, for this transaction only. No value may contain a
    quote."""
    scope = "true" if local else "false"
    return ", ".join(f"set_config('{name}', '{value}', {scope})" for name, value in settings.items())


def unusable(url: str, error: Error) -> DatabaseError:
    """The error to raise when a database cannot be used."""
    reason = str(error).strip().splitlines()[0]
    if advice := connection_advice(reason):
        return DatabaseError(f"cannot work with the database at {location(url)}: {reason}. {advice}")
    return DatabaseError(
        f"cannot work with the database at {location(url)}: {reason}. Check that it runs, that the URL is right, that "
        "PostgreSQL has the pgvector extension, and that `trueweave init` was run by a user who may create a schema."
    )


def location(url: str) -> str:
    """A database URL without user and password, safe to display."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] + parts.path


def _milliseconds(seconds: float) -> str:
    return str(round(1000 * seconds))
