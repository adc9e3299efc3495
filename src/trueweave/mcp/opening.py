"""How a server opens the workspace of a request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

# Opens the workspace that answers a request. The argument is the HTTP request, or None over stdio.
Opening = Callable[[Any], AbstractAsyncContextManager["AsyncTrueweave"]]
