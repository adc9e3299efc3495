"""Failures of the database: which of them pass by themselves, and which last until somebody does something.

PostgreSQL says what happened by a code (SQLSTATE). What fails before a session begins has none, as libpq keeps only the
text, so that the few that last are told by their words.
"""

from __future__ import annotations

import asyncio

from psycopg import Error, InterfaceError, OperationalError
from psycopg.errors import IdleInTransactionSessionTimeout, TransactionTimeout

from trueweave.core.errors import DatabaseError, DatabaseUnavailable, WorkspaceMoving

DRIVER_ERRORS = (OperationalError, InterfaceError, IdleInTransactionSessionTimeout, TransactionTimeout)

# Of PostgreSQL's own codes, those after which the same statement may succeed: connections that broke, a server that
# starts or stops, deadlocks, too many connections, no memory for now, a lock that was waited for too long.
_PASSING = ("08", "25P", "40", "53200", "53300", "55P03", "57P")

_PROTOCOL_VIOLATION = "08P01"  # what was sent is wrong, and would be wrong again

_READ_ONLY = "25006"

_WHAT_TO_DO = {
    "53100": "The disk of the database is full: make room on it, then run the same command again.",
    "57014": "A statement took longer than statement_timeout allows: raise that setting in trueweave.toml.",
    "28": "Check user and password in the database's address.",
    "3D000": "Check the database's name in its address.",
    "58": "The server cannot read or write its files: see its log.",
}
_REFUSED = ("password authentication failed", "no password supplied", "no pg_hba.conf entry")
_UNKNOWN = ("role", "database")  # … "x" does not exist


def raise_if_cancelled(error: Exception) -> None:
    """CancelledError if the task is being cancelled. psycopg may report a statement that was cancelled as an error of
    the driver, and a loop that takes it for a passing failure would never end."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError from error


def cancel_requests() -> int:
    """How often the task was asked to end. Where that is more after a call than before, whoever called must not go on,
    though the call has returned: before Python 3.12 `asyncio.wait_for`, which psycopg's pool waits with, loses a
    request to cancel that comes together with the result."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


def lasting(error: BaseException) -> DatabaseError | None:
    """The error to end with, where trying again would not help; None where the failure may pass by itself."""
    if isinstance(error, DatabaseError):
        return error
    if not isinstance(error, DRIVER_ERRORS):
        return None
    code = error.sqlstate or _code_by_words(str(error))
    if code is None or (code.startswith(_PASSING) and code != _PROTOCOL_VIOLATION):
        return None
    advice = next((told for of, told in _WHAT_TO_DO.items() if code.startswith(of)), "See the server's log.")
    return DatabaseError(f"the database cannot go on: {first_line(error)}. {advice} What was done so far is kept.")


def problem(error: Error) -> DatabaseError:
    """What a caller of the public API is told of an error of the driver."""
    if found := lasting(error):
        return found
    if isinstance(error, DRIVER_ERRORS):
        return DatabaseUnavailable(f"{describe(error)}. Try again when it is back.")
    if error.sqlstate == _READ_ONLY:
        return DatabaseError(
            "the database takes no writes: its server is a standby, or set to read only. Let database_url lead to the "
            "primary, or name all servers and add ?target_session_attrs=read-write."
        )
    return DatabaseError(
        f"the database refused a statement: {first_line(error)}. If nobody changed its tables or rights by hand, this "
        "is a bug in Trueweave: please report it."
    )


def _code_by_words(message: str) -> str | None:
    if any(words in message for words in _REFUSED):
        return "28P01"
    if "FATAL" in message and "does not exist" in message and any(f'{what} "' in message for what in _UNKNOWN):
        return "28000" if 'role "' in message else "3D000"
    return None


def first_line(error: BaseException) -> str:
    """What an error says, without what follows on further lines."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def describe(error: BaseException) -> str:
    """A passing failure in words."""
    if isinstance(error, WorkspaceMoving):
        return "the workspace is being moved to another server"
    return f"the database is away: {first_line(error)}"
