"""Opening the database that a process uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from trueweave.core.errors import SchemaOutdated
from trueweave.core.settings import Settings
from trueweave.store.embedded import EmbeddedServer, default_directory
from trueweave.store.postgres.cluster.moving import OwnerAddress
from trueweave.store.postgres.cluster.servers import Servers
from trueweave.store.postgres.cluster.standbys import StandbyOptions, Standbys
from trueweave.store.postgres.connections import Timeouts
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.schema.migrate import migrate


def bundled(settings: Settings) -> EmbeddedServer:
    """The bundled PostgreSQL."""
    return EmbeddedServer(settings.data_directory or default_directory())


def owner_addresses(settings: Settings) -> dict[str, OwnerAddress]:
    """The addresses of the servers besides the home, by name, for the owners of their schemas."""
    found = {name: settings.server(name) for name in settings.server_urls}
    return {name: OwnerAddress(one.owner_url, one.owner_url == one.direct_url) for name, one in found.items()}


@asynccontextmanager
async def opened_database(settings: Settings, url: str | None = None, *, make: bool = False) -> AsyncIterator[Database]:
    """The database of these settings, for all workspaces that a process uses. If there is no `url` in either, it is in
    the bundled PostgreSQL, which is started if necessary and left running; with `make` it is also created. If the
    settings name more servers, it is their home, and each workspace is used on the server it is on.

    A missing or outdated schema raises SchemaOutdated, except in the bundled PostgreSQL, which belongs to one user:
    there the schema is created or migrated.
    """
    url = url or settings.database_url
    revive = None
    if url is None:
        revive = partial(bundled(settings).start, make=make)
        url = await asyncio.to_thread(revive)
    database = _database(settings, url, settings.direct_database_url, revive)
    try:
        await database.open()
    except SchemaOutdated:
        if revive is None:
            raise
        await migrate(url)
        await database.open()
    servers = _servers(database, settings)
    _give_standbys(database, settings.standby_urls, settings)
    try:
        yield database
    finally:
        for standbys in database.all_standbys:
            await standbys.aclose()
        if servers:
            await servers.aclose()
        await database.close()


def _give_standbys(database: Database, urls: Sequence[str], settings: Settings) -> None:
    if urls:
        options = StandbyOptions(
            settings.standby_lag_seconds,
            settings.standby_wait,
            settings.standby_connections,
            database.timeouts,
            settings.slow_statement_seconds,
        )
        database.standbys = Standbys(database, urls, options)


def _servers(database: Database, settings: Settings) -> Servers | None:
    if not settings.server_urls:
        return None
    addresses = {name: settings.server(name) for name in settings.server_urls}
    others = {name: _database(settings, one.url, one.direct_url) for name, one in addresses.items()}
    for name, other in others.items():
        _give_standbys(other, settings.server_standby_urls.get(name, ()), settings)
    database.servers = servers = Servers(database, others)
    return servers


def _database(
    settings: Settings, url: str, direct_url: str | None, revive: Callable[[], object] | None = None
) -> Database:
    return Database(
        url,
        direct_url=direct_url,
        timeouts=Timeouts(settings.statement_timeout, settings.lock_timeout, settings.idle_timeout),
        connections=settings.pool_size,
        index_memory=settings.index_memory(bundled=revive is not None),
        revive=revive,
        slow_after=settings.slow_statement_seconds,
    )
