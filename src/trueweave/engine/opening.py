"""Opening a workspace wherever it is: in a database, or at a server. What follows is the same for both."""

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

# Who uses a server does not wait for what a database needs.


def connect(
    url: str | None = None,
    workspace: str | None = None,
    *,
    key: str | None = None,
    settings: Settings | None = None,
    make: bool | None = None,
) -> Trueweave | Client:
    """The workspace of that name: a Client for the address of a server, `https://…`, else a Trueweave, for a database
    (`postgresql://…`), or for that of the settings where no address is given.

    The workspace of the settings is made when it is new, and one that is named here with `make=True` alone.

    A `key` is for a server; without one it is that of the variable TRUEWEAVE_KEY. Models, and what else only one of the
    two takes, are given to `Trueweave` and `Client` themselves.
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
    """What `connect` does, for `async with`: an AsyncClient, or an AsyncTrueweave."""
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
