"""Migrations: which exist, which of them a database has, and whether this version of Trueweave can use it.

An additive migration leaves everything that older code reads and writes unchanged, so that processes of the previous
version keep running. See docs/adr/0020-explicit-migrations.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import LiteralString, NamedTuple

from trueweave.core.errors import DatabaseError, SchemaMismatch, SchemaNewer, SchemaOutdated
from trueweave.store.postgres.connections import PostgresConnection, location
from trueweave.store.postgres.queries import QUERIES

ROLE = "trueweave_app"

_HEADERS = {"-- additive": True, "-- breaking": False}
_NAMED = 5  # migrations listed in an error


class Migration(NamedTuple):
    number: int
    name: str
    additive: bool
    sql: LiteralString


class Applied(NamedTuple):
    """A migration that a database has."""

    number: int
    name: str
    additive: bool


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The migrations of a database compared with those of this version: `missing` ones have not been applied yet,
    `unknown` ones were applied by a newer Trueweave. `is_there` says whether any was applied."""

    is_there: bool
    missing: tuple[str, ...] = ()
    unknown: tuple[Applied, ...] = ()

    @property
    def predates_baseline(self) -> bool:
        """Whether it was created by the migrations of development versions, which today's first migration replaced."""
        return self.is_there and migrations()[0].name in self.missing

    @property
    def is_newer(self) -> bool:
        """Whether it has changes that this version can neither use nor migrate further."""
        return bool(self.unknown and self.missing) or any(not one.additive for one in self.unknown)

    def mismatch(self, url: str) -> SchemaMismatch | None:
        """Why this version cannot use it, and what to do; None if it can."""
        schema = f"the schema of the database at {location(url)}"
        if self.predates_baseline:
            return SchemaMismatch(
                f"{schema} was made by a development version of Trueweave and cannot be migrated. Use another "
                "database; or delete this schema with all that is in it (DROP SCHEMA trueweave CASCADE), run "
                "`trueweave init`, and add the documents again."
            )
        if self.is_newer:
            breaking = [one.name for one in self.unknown if not one.additive]
            lacks = f", and lacks {_names(self.missing)}" if self.missing else ""
            return SchemaNewer(
                f"{schema} is newer than this version of Trueweave: it has changes that this version cannot work with, "
                f"{_names(breaking or [one.name for one in self.unknown])}{lacks}. Upgrade Trueweave here."
            )
        if not self.is_there:
            return SchemaOutdated(
                f"there is no schema of Trueweave in the database at {location(url)}. Run `trueweave init` to make it, "
                "as a user who may create a schema."
            )
        if self.missing:
            return SchemaOutdated(
                f"{schema} is older than this version of Trueweave: it lacks {_names(self.missing)}. Run `trueweave "
                "migrate` as the owner of the schema."
            )
        return None


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations of this version of Trueweave, in order."""
    folder = files(__package__).joinpath("migrations")
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple(migration(file.name.removesuffix(".sql"), file.read_text("utf-8")) for file in found)


def migration(name: str, sql: LiteralString) -> Migration:
    """A migration from its file. The name must start with four digits, and the first line must say whether it is
    additive or breaking."""
    header = sql.partition("\n")[0].rstrip()
    if header not in _HEADERS:
        raise ValueError(f"the first line of migration {name} must be one of: {', '.join(_HEADERS)}")
    return Migration(int(name[:4]), name, _HEADERS[header], sql)


def state_of(applied: Iterable[Applied]) -> SchemaState:
    """The state of a schema with these migrations."""
    done = {one.name: one for one in applied}
    known = [one.name for one in migrations()]
    missing = tuple(name for name in known if name not in done)
    unknown = tuple(one for name, one in done.items() if name not in known)
    return SchemaState(bool(done), missing, unknown)


async def read_state(connection: PostgresConnection) -> SchemaState:
    """The state of the schema, for a user who owns it or has Trueweave's role."""
    [has_schema, _] = await _access(connection)
    if not has_schema:
        return state_of(())
    rows = await (await connection.execute(QUERIES["version.applied"])).fetchall()
    return state_of(Applied(*row) for row in rows)


async def refusal(connection: PostgresConnection, url: str) -> DatabaseError | None:
    """Why Trueweave's role could not read the schema; None if both are in order."""
    [has_schema, has_role] = await _access(connection)
    if has_schema and not has_role:
        return no_role(connection, url)
    return (await read_state(connection)).mismatch(url)


def no_role(connection: PostgresConnection, url: str) -> DatabaseError:
    """The error for a user who may not switch to Trueweave's role, or does not inherit its privileges."""
    user = connection.info.user
    return DatabaseError(
        f"user {user} may not work as {ROLE} in the database at {location(url)}. Run, as an administrator of the "
        f'database: GRANT {ROLE} TO "{user}" WITH INHERIT TRUE, SET TRUE'
    )


async def _access(connection: PostgresConnection) -> tuple[bool, bool]:
    """Whether the schema exists, and whether this user may use Trueweave's role."""
    row = await (await connection.execute(QUERIES["version.access"], {"role": ROLE})).fetchone()
    assert row is not None
    return row[0], row[1]


def _names(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
