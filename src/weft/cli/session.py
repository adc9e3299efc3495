"""Where commands work: the database and the workspace that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from urllib.parse import urlsplit

import psycopg

from weft.cli.output import err
from weft.config import Settings
from weft.engine import AsyncWeft
from weft.errors import DatabaseError, UnknownWorkspace
from weft.store.embedded import EmbeddedServer, default_directory
from weft.store.postgres.db import Database
from weft.store.postgres.migrate import migrate

T = TypeVar("T")


def in_workspace(act: Callable[[AsyncWeft], Awaitable[T]], settings: Settings, *, make: bool = False) -> T:
    """What `act` gives in the workspace of these settings. One that is not there is an error, or made with `make`."""

    async def enter_and_act() -> T:
        async with _entered(settings, make) as weft:
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


def location(url: str) -> str:
    """A database URL without user and password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] + parts.path


def place(settings: Settings) -> str:
    """Where the database of these settings is, in words."""
    if settings.database_url:
        return location(settings.database_url)
    return f"the bundled PostgreSQL ({bundled(settings).directory})"


def _url(settings: Settings) -> str:
    return settings.database_url or start(bundled(settings))


@asynccontextmanager
async def _entered(settings: Settings, make: bool) -> AsyncIterator[AsyncWeft]:
    url = await asyncio.to_thread(_url, settings)
    try:
        await migrate(url)
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0]
        raise DatabaseError(
            f"cannot work with the database at {location(url)}: {reason}. Check that it runs and that the URL is right."
        ) from error
    async with Database(url) as database:
        workspace = await database.find_workspace(settings.workspace, make=make)
        if workspace is None:
            raise UnknownWorkspace(
                f"there is no workspace {settings.workspace!r}. "
                f"Run `weft init --workspace {settings.workspace}` to make it."
            )
        yield AsyncWeft(database, workspace)
