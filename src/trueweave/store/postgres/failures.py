"""Database failures: which are temporary, and which last until somebody fixes the cause.

PostgreSQL identifies errors by a code (SQLSTATE). Failures before a session begins have none, because libpq keeps only
the message text, so the few of those that are permanent are recognised by their wording.
"""

from __future__ import annotations

import asyncio

from psycopg import Error, InterfaceError, OperationalError
from psycopg.errors import IdleInTransactionSessionTimeout, TransactionTimeout

from trueweave.core.errors import DatabaseError, DatabaseUnavailable, WorkspaceMoving

DRIVER_ERRORS = (OperationalError, InterfaceError, IdleInTransactionSessionTimeout, TransactionTimeout)

# SQLSTATE prefixes of errors that a retry may fix: broken connections, a server starting or stopping, deadlocks, too
# many connections, temporary lack of memory, a lock timeout.
_PASSING = ("08", "25P", "40", "53200", "53300", "55P03", "57P")

_PROTOCOL_VIOLATION = "08P01"  # the request itself is invalid; retrying would not help

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
    """Raise CancelledError if the task is being cancelled. psycopg may report a cancelled statement as a driver error,
    and a retry loop that mistakes it for a temporary failure would never end."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError from error


def cancel_requests() -> int:
    """How often cancellation of the task was requested. If the number grows during a call, the caller must stop even
    though the call returned: before Python 3.12 `asyncio.wait_for`, which psycopg's pool uses, loses a cancellation
    that arrives together with the result."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


def lasting(error: BaseException) -> DatabaseError | None:
    """The error to raise if retrying would not help; None if the failure may be temporary."""
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
    """The public API's error for a driver error."""
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


def connection_advice(message: str) -> str:
    """What to do about a connection that PostgreSQL refused; empty if the message does not tell its reason."""
    code = _code_by_words(message) or ""
    return next((told for of, told in _WHAT_TO_DO.items() if code.startswith(of)), "")


def _code_by_words(message: str) -> str | None:
    if any(words in message for words in _REFUSED):
        return "28P01"
    if "FATAL" in message and "does not exist" in message and any(f'{what} "' in message for what in _UNKNOWN):
        return "28000" if 'role "' in message else "3D000"
    return None


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def describe(error: BaseException) -> str:
    """A temporary failure in words."""
    if isinstance(error, WorkspaceMoving):
        return "the workspace is being moved to another server"
    return f"the database is unavailable: {first_line(error)}"
