"""Joining servers to a home, and listing them; for the owners of the schemas."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg import Error

from trueweave.core.errors import DatabaseError
from trueweave.store.postgres.access.sql_roles import drop_reader
from trueweave.store.postgres.cluster.moving import OwnerAddress
from trueweave.store.postgres.cluster.servers import HOME
from trueweave.store.postgres.connections import PostgresConnection, connect, location, unusable
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.schema.migrate import migrate


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server: its share in proportion to others, the size of its database when last measured, and its number of
    workspaces. `problem` says why it could not be measured now."""

    name: str
    weight: float
    bytes: int
    measured: datetime | None
    workspaces: int
    problem: str = ""


async def migrate_servers(servers: Mapping[str, OwnerAddress]) -> dict[str, list[str]]:
    """Create the schema on all servers, or bring it up to date, and join new servers; returns the migrations applied to
    each."""
    applied = {
        name: await migrate(server.url, said_to_be_direct=server.said_to_be_direct) for name, server in servers.items()
    }
    if len(servers) > 1:
        await join_servers(servers)
    return applied


async def join_servers(servers: Mapping[str, OwnerAddress]) -> list[str]:
    """Register all other servers in the home, which is among these, and the home in each of them; returns the new ones.

    All of them must be migrated. A server that has its own workspaces, or another home, cannot be joined.
    """
    joined: list[str] = []
    async with _connected(servers[HOME]) as home:
        await home.execute(QUERIES["servers.make_home"])
        [(number, name)] = await (await home.execute(QUERIES["servers.read_catalogue"])).fetchall()
        if name != HOME:
            raise DatabaseError(
                f"the database at {location(servers[HOME].url)} is the server {name} of another home. Set database_url "
                "to the address of that."
            )
        for one in servers:
            if one != HOME and await _join(servers[one], one, number):
                joined.append(one)
            await home.execute(QUERIES["servers.add_server"], {"name": one})
    return joined


async def list_servers(servers: Mapping[str, OwnerAddress]) -> list[ServerInfo]:
    """The servers that the home knows, measured now; empty if it is the only one."""
    problems: dict[str, str] = {}
    async with _connected(servers[HOME]) as home:
        for name, server in servers.items():
            try:
                async with _connected(server) as connection:
                    [(size,)] = await (await connection.execute(QUERIES["servers.size"])).fetchall()
                await home.execute(QUERIES["servers.measured"], {"name": name, "size": size})
            except DatabaseError as error:
                problems[name] = str(error)
        rows = await (await home.execute(QUERIES["servers.list"])).fetchall()
    unknown = "the settings here do not say where it is"
    found = [ServerInfo(*row) for row in rows]
    return [replace(one, problem=problems.get(one.name, "" if one.name in servers else unknown)) for one in found]


async def server_of(home: OwnerAddress, workspace: str) -> str:
    """The server that a workspace is on; the home if there is no such workspace."""
    async with _connected(home) as connection:
        rows = await (await connection.execute(QUERIES["move.find"], {"name": workspace})).fetchall()
    return str(rows[0][1]) if rows else HOME


async def drop_reader_anywhere(servers: Mapping[str, OwnerAddress], role: str) -> None:
    """Drop a role that reads a workspace, on whichever server it was created: the workspace may have been moved."""
    problem: DatabaseError | None = None
    for server in servers.values():
        try:
            return await drop_reader(server.url, role, said_to_be_direct=server.said_to_be_direct)
        except DatabaseError as error:
            problem = error
    assert problem, "the home is always there"
    raise problem


async def weigh_server(home: OwnerAddress, name: str, weight: float) -> None:
    """Set a server's share of the workspaces in proportion to others; with 0 it gets no new ones."""
    async with _connected(home) as connection:
        if not (await connection.execute(QUERIES["servers.weigh"], {"name": name, "weight": weight})).rowcount:
            raise DatabaseError(f"there is no server {name!r}. `trueweave db servers list` shows all.")


async def _join(server: OwnerAddress, name: str, home: object) -> bool:
    """Join a server; returns whether it was new to this home."""
    async with _connected(server) as connection, connection.transaction():
        found = await (await connection.execute(QUERIES["servers.read_catalogue"])).fetchall()
        if found == [(home, name)]:
            return False
        [(has_own,)] = await (await connection.execute(QUERIES["servers.own_workspaces"])).fetchall()
        if found or has_own:
            what = f"is the server {found[0][1]} of a home" if found else "has workspaces of its own"
            raise DatabaseError(
                f"the database at {location(server.url)} {what}, so it cannot be joined as {name}. Set "
                "[server_urls] to the address of an empty database."
            )
        await connection.execute(QUERIES["servers.join"], {"home": home, "name": name})
        await connection.execute(QUERIES["servers.number_apart"])
        return True


@asynccontextmanager
async def _connected(server: OwnerAddress) -> AsyncIterator[PostgresConnection]:
    try:
        async with await connect(server.url, said_to_be_direct=server.said_to_be_direct) as connection:
            yield connection
    except Error as error:
        raise unusable(server.url, error) from error
