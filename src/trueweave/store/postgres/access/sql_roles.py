"""Roles to hand out to SQL users: each can read one workspace, whatever it sets, and write nothing."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from psycopg import Error, errors, sql

from trueweave.core.errors import DatabaseError, UnknownWorkspace
from trueweave.store.postgres.connections import NONE, PostgresConnection, connect, unusable
from trueweave.store.postgres.queries import QUERIES

_ALLOWED = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Reader:
    """A role that can log in and read one workspace. Only the creator knows the password."""

    role: str
    password: str = field(repr=False)


async def make_reader(url: str, workspace: str, role: str | None = None, *, said_to_be_direct: bool = False) -> Reader:
    """Create a role for a workspace. Connects as the owner of the schema, who must be allowed to create roles."""
    try:
        async with await connect(url, NONE, said_to_be_direct=said_to_be_direct) as connection:
            return await _make(connection, workspace, role)
    except errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"the user of this database's address may not create roles: {error.diag.message_primary}. Use the "
            "address of a user who may (ALTER ROLE … CREATEROLE)."
        ) from error
    except Error as error:
        raise unusable(url, error) from error


async def drop_reader(url: str, role: str, *, said_to_be_direct: bool = False) -> None:
    """Drop a role created by `make_reader`."""
    try:
        async with (
            await connect(url, NONE, said_to_be_direct=said_to_be_direct) as connection,
            connection.transaction(),
        ):
            if not (await connection.execute(QUERIES["reader.forget"], {"role": role})).rowcount:
                raise DatabaseError(f"{role} is not a role that `trueweave workspace role` created in this database.")
            parts = {"role": sql.Identifier(role), "database": sql.Identifier(connection.info.dbname)}
            await connection.execute(sql.SQL(QUERIES["reader.drop"]).format(**parts))
    except Error as error:
        raise unusable(url, error) from error


async def _make(connection: PostgresConnection, workspace: str, role: str | None) -> Reader:
    row = await (await connection.execute(QUERIES["reader.workspace"], {"name": workspace})).fetchone()
    if row is None:
        raise UnknownWorkspace(f"there is no workspace {workspace!r}. `trueweave workspace list` shows all.")
    [number, database] = row
    named = role or f"trueweave_reader_{number}"
    if not _ALLOWED.fullmatch(named):
        raise DatabaseError(f"{named!r} is not a valid role name. Use lower-case letters, digits and underscores.")
    made = Reader(named, secrets.token_urlsafe(24))
    # PostgreSQL receives a hash, so that the password is not written to its log.
    hashed = connection.pgconn.encrypt_password(made.password.encode(), named.encode(), b"scram-sha-256").decode()
    parts = {
        "role": sql.Identifier(named),
        "hash": sql.Literal(hashed),
        "database": sql.Identifier(database),
        "workspace": sql.Literal(str(number)),
    }
    async with connection.transaction():
        try:
            await connection.execute(sql.SQL(QUERIES["reader.create"]).format(**parts))
        except errors.DuplicateObject as error:
            raise DatabaseError(f"the role {named} already exists. Choose another name with --role.") from error
        await connection.execute(QUERIES["reader.remember"], {"role": named, "workspace": number})
    return made
