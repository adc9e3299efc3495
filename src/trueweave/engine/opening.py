"""Opening a workspace wherever it is: in a database or on a server. Both give the same calls."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.client.client import AsyncClient
    from trueweave.client.sync import Client
    from trueweave.core.settings import Settings
    from trueweave.engine.sync import Trueweave
    from trueweave.engine.trueweave import AsyncTrueweave

# Imported where they are used, so that users of a server do not load what only a database needs.


def connect(
    url: str | None = None,
    workspace: str | None = None,
    *,
    key: str | None = None,
    settings: Settings | None = None,
    make: bool | None = None,
) -> Trueweave | Client:
    """Open the workspace of that name: a Client if the address is that of a server (`https://…`), otherwise a Trueweave
    for a database (`postgresql://…`), by default the one in the settings.

    A workspace named in the settings is created if it is missing; one named here is created only with `make=True`.

    `key` is for a server, and defaults to the environment variable TRUEWEAVE_KEY. To pass models, or anything else that
    only one of the two takes, use `Trueweave` or `Client` directly.
    """
    if _is_server(url, key):
        from trueweave.client.sync import Client

        return Client(url or "", workspace, key=key, settings=settings, make=make)
    from trueweave.engine.sync import Trueweave

    return Trueweave(url, workspace, settings=settings, make=make)


def connect_async(
    url: str | None = None,
    workspace: str | None = None,
    *,
    key: str | None = None,
    settings: Settings | None = None,
    make: bool | None = None,
) -> AbstractAsyncContextManager[AsyncTrueweave | AsyncClient]:
    """Like `connect`, for `async with`: gives an AsyncClient or an AsyncTrueweave."""
    if _is_server(url, key):
        from trueweave.client.client import AsyncClient

        return AsyncClient.open(url or "", workspace, key=key, settings=settings, make=make)
    from trueweave.engine.trueweave import AsyncTrueweave

    return AsyncTrueweave.open(url, workspace, settings=settings, make=make)


def _is_server(url: str | None, key: str | None) -> bool:
    from trueweave.client.address import is_server

    found = url is not None and is_server(url)
    if key is not None and not found:
        raise ConfigError("a key is for a server, and the address is not that of one. Write it like https://host.")
    return found
