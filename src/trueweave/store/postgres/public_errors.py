"""Keeps the driver's errors out of the public API: each becomes a DatabaseError that says what to do."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from psycopg import Error

from trueweave.store.postgres.failures import problem

C = TypeVar("C", bound=type)
P = ParamSpec("P")
T = TypeVar("T")


def own_errors(cls: C) -> C:
    """Class decorator: public coroutines raise DatabaseError instead of errors of psycopg and its pool."""
    for name, member in list(vars(cls).items()):
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.iscoroutinefunction(function):
            setattr(cls, name, _own(function) if function is member else type(member)(_own(function)))
    return cls


def _own(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(act)
    async def acting(*args: P.args, **kwargs: P.kwargs) -> T:
        with translated():
            return await act(*args, **kwargs)

    return acting


@contextmanager
def translated() -> Iterator[None]:
    """Convert driver errors to DatabaseError. For the API's generators and context managers, which `own_errors`
    skips."""
    try:
        yield
    except Error as error:
        raise problem(error) from error
