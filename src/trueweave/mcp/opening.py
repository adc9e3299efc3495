"""How a server opens the workspace of a request, for reading and for writing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

# Opens the workspace that answers a request. The argument is the HTTP request, or None over stdio.
Opening = Callable[[Any], AbstractAsyncContextManager["AsyncTrueweave"]]


class Writing(Protocol):
    """Lets agents write: says who of them may, and opens the workspace for one who does."""

    def allows(self, request: Any) -> bool:
        """Whether the caller of this request may write."""
        ...

    def author(self, request: Any, given: str) -> str:
        """The author of what the caller writes; `given` is what it says of itself."""
        ...

    def open(self, request: Any) -> AbstractAsyncContextManager[AsyncTrueweave]:
        """Open the workspace for writing. Raises an error if the caller may not write."""
        ...
