"""A separate database for every test, copied from a template that is migrated once."""

from __future__ import annotations

from itertools import count
from typing import LiteralString
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from trueweave.store.postgres.schema.migrate import migrate


class Databases:
    """Creates databases on one server. Call `await prepare()` first."""

    def __init__(self, server_url: str, prefix: str = "trueweave_test") -> None:
        self._server = server_url
        self._prefix = prefix
        self._numbers = count(1)

    async def prepare(self) -> None:
        """Create the template with the current schema."""
        self._execute("DROP DATABASE IF EXISTS {template} WITH (FORCE)", "CREATE DATABASE {template}")
        await migrate(self._url("template"))

    def make(self, like: str | None = None) -> str:
        """The URL of a new database, empty or a copy of the one at this URL, to which nobody may be connected."""
        name, template = str(next(self._numbers)), self._name(like) if like else "template"
        # Copying files takes a third of the time of the default strategy, which writes the copy to the write-ahead log.
        create = "CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"
        self._execute("DROP DATABASE IF EXISTS {name} WITH (FORCE)", create, name=name, template=template)
        return self._url(name)

    def drop(self, url: str) -> None:
        """Drop a database, even while clients are connected to it."""
        self._execute("DROP DATABASE IF EXISTS {name} WITH (FORCE)", name=self._name(url))

    def _execute(self, *statements: LiteralString, name: str = "", template: str = "template") -> None:
        names = {"name": self._identifier(name), "template": self._identifier(template)}
        with psycopg.connect(self._server, autocommit=True) as connection:
            for statement in statements:
                connection.execute(sql.SQL(statement).format(**names))

    @staticmethod
    def _name(url: str) -> str:
        return urlsplit(url).path.rpartition("_")[2]

    def _identifier(self, name: str) -> sql.Identifier:
        return sql.Identifier(f"{self._prefix}_{name}")

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{self._prefix}_{name}"))
