"""Which failures of the database pass by themselves, and what is said of those that do not."""

import pytest
from psycopg import Error, InterfaceError, OperationalError, errors

from trueweave.errors import NotIsolated
from trueweave.store.postgres.failures import lasting


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("connection to server at 127.0.0.1, port 5432 failed: Connection refused"),
        OperationalError("connection failed: FATAL:  the database system is starting up"),
        OperationalError("consuming input failed: server closed the connection unexpectedly"),
        InterfaceError("the connection is closed"),
        errors.AdminShutdown("terminating connection due to administrator command"),
        errors.CannotConnectNow("the database system is shutting down"),
        errors.TooManyConnections("sorry, too many clients already"),
        errors.DeadlockDetected("deadlock detected"),
        errors.LockNotAvailable("canceling statement due to lock timeout"),
    ],
)
def test_what_may_pass_is_waited_for(error: Error) -> None:
    assert lasting(error) is None


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errors.DiskFull('could not extend file "base/1/2": No space left on device'), "make room"),
        (errors.QueryCanceled("canceling statement due to statement timeout"), "statement_timeout"),
        (errors.InvalidPassword("password authentication failed"), "user and password"),
        (
            OperationalError('FATAL:  password authentication failed for user "x"'),
            "user and password",
        ),
        (OperationalError('connection failed: FATAL:  database "x" does not exist'), "database's name"),
        (OperationalError('connection failed: FATAL:  role "x" does not exist'), "user and password"),
        (errors.ProtocolViolation("insufficient data left in message"), "log"),
        (errors.IoError("could not read block 3"), "log"),
    ],
)
def test_what_lasts_says_what_happened_and_what_to_do(error: Error, advice: str) -> None:
    problem = lasting(error)
    assert problem is not None
    assert advice in str(problem)
    assert str(error) in str(problem)


def test_an_error_of_our_own_about_the_database_lasts_as_it_is() -> None:
    error = NotIsolated("not bound by row-level security")
    assert lasting(error) is error
    assert lasting(KeyError("bug")) is None
