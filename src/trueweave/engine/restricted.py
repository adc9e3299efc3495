"""Calls that are refused to callers who may not read all documents. See docs/adr/0056-access-rights.md."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from trueweave.engine.core import OpenWorkspace

C = TypeVar("C", bound=type)
P = ParamSpec("P")
T = TypeVar("T")


class _Calls(Protocol):
    """A class with calls in an open workspace."""

    _core: OpenWorkspace


def refuse_restricted(group: str = "", *, but: Collection[str] = ()) -> Callable[[C], C]:
    """Class decorator: a public coroutine raises NotForRestricted before it does anything, if the caller may not read
    all documents. `but` are those whose results are exact for such a caller.

    It skips generators and context managers, which check that themselves. What is missed here is refused by the
    database, whose role for such callers has no right to it.
    """

    def refusing(cls: C) -> C:
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(member) and name not in but:
                setattr(cls, name, _checked(f"{group}.{name}" if group else name, member))
        return cls

    return refusing


def _checked(
    call: str, act: Callable[Concatenate[_Calls, P], Awaitable[T]]
) -> Callable[Concatenate[_Calls, P], Awaitable[T]]:
    @wraps(act)
    async def checked(self: _Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._core.check_unrestricted(call)
        return await act(self, *args, **kwargs)

    return checked
