"""The database that a process works in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from trueweave.config import Settings
from trueweave.errors import SchemaOutdated
from trueweave.store.embedded import EmbeddedServer, default_directory
from trueweave.store.postgres.connections import Timeouts
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.migrate import migrate
from trueweave.store.postgres.standbys import StandbyOptions, Standbys


def bundled(settings: Settings) -> EmbeddedServer:
    """The PostgreSQL that comes with Trueweave."""
    return EmbeddedServer(settings.data_directory or default_directory())


@asynccontextmanager
async def opened_database(settings: Settings, url: str | None = None) -> AsyncIterator[Database]:
    """The database of these settings, for all workspaces that a process works in. Without a `url` anywhere it is in the
    bundled PostgreSQL, which is started if need be and left running.

    A schema that is missing or outdated is an error, SchemaOutdated. Only in the bundled PostgreSQL, which belongs to
    one user, it is made and migrated here.
    """
    url = url or settings.database_url
    revive = None
    if url is None:
        revive = bundled(settings).start
        url = await asyncio.to_thread(revive)
    timeouts = Timeouts(settings.statement_timeout, settings.lock_timeout, settings.idle_timeout)
    database = Database(
        url,
        direct_url=settings.direct_database_url,
        timeouts=timeouts,
        revive=revive,
        slow_after=settings.slow_statement_seconds,
    )
    try:
        await database.open()
    except SchemaOutdated:
        if revive is None:
            raise
        await migrate(url)
        await database.open()
    standbys = _standbys(database, settings)
    try:
        yield database
    finally:
        if standbys:
            await standbys.aclose()
        await database.close()


def _standbys(database: Database, settings: Settings) -> Standbys | None:
    if settings.standby_urls:
        options = StandbyOptions(
            settings.standby_lag_seconds,
            settings.standby_wait,
            settings.standby_connections,
            database.timeouts,
            settings.slow_statement_seconds,
        )
        database.standbys = Standbys(database, settings.standby_urls, options)
    return database.standbys
