"""Where commands work: the database and the workspace that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from weft.cli.output import err
from weft.config import Settings
from weft.engine import AsyncWeft
from weft.store.embedded import EmbeddedServer, default_directory
from weft.store.postgres.db import location

T = TypeVar("T")


def in_workspace(act: Callable[[AsyncWeft], Awaitable[T]], settings: Settings, *, make: bool = False) -> T:
    """What `act` gives in the workspace of these settings. One that is not there is an error, or made with `make`."""

    async def enter_and_act() -> T:
        url = settings.database_url or await asyncio.to_thread(start, bundled(settings))
        async with AsyncWeft.open(url, settings.workspace, make=make) as weft:
            return await act(weft)

    return asyncio.run(enter_and_act())


def bundled(settings: Settings) -> EmbeddedServer:
    """The bundled PostgreSQL, running or not."""
    return EmbeddedServer(settings.data_directory or default_directory())


def start(server: EmbeddedServer) -> str:
    """The address of the server once it runs."""
    if server.running():
        return server.url
    with err.status("Starting the bundled PostgreSQL …"):
        return server.start()


def place(settings: Settings) -> str:
    """Where the database of these settings is, in words."""
    if settings.database_url:
        return location(settings.database_url)
    return f"the bundled PostgreSQL ({bundled(settings).directory})"
