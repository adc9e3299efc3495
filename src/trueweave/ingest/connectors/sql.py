"""Rows of a PostgreSQL query: `postgresql://reader@db.example/shop?table=article`, or with `query=SELECT …`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from httpcore2 import ConnectError
from psycopg import IsolationLevel, sql

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable
from trueweave.core.events import Skipped, Unreadable
from trueweave.core.record import Json
from trueweave.ingest.connectors.http import ForbiddenAddress, checked_addresses
from trueweave.ingest.loading.rows import TEXT_COLUMNS
from trueweave.text.names import storable
from trueweave.text.uris import ROW

_OPTIONS = ("name", "query", "sslmode", "table")
_TLS = ("verify-full", "require", "disable")
_PORT = 5432
_LISTED_AT_ONCE = 1000
_FETCHED_AT_ONCE = 500
_FETCHED_BYTES = 16 * 2**20  # at once

# Each has a parameter, so that the server takes it as one statement, whatever the query contains.
_COLUMNS = "SELECT * FROM (\n{query}\n) AS q WHERE $1::boolean"
_LIST = (
    "SELECT q.id::text, {version}, octet_length(q::text) FROM (\n{query}\n) AS q"
    ' ORDER BY q.id::text COLLATE "C" LIMIT $1'
)
_FETCH = (
    "SELECT q.id::text, to_jsonb(q) FROM (\n{query}\n) AS q WHERE octet_length(q::text) <= $1"
    ' ORDER BY q.id::text COLLATE "C"'
)


class PostgresQuery:
    """The rows of a query, in one read-only snapshot. First their ids and versions are listed; then, if any of them is
    new or changed, one pass over the rows in the same order finds those."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        context.check_secrets("password")
        parts = urlsplit(address)
        options = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if unknown := sorted(options.keys() - {*_OPTIONS}):
            raise ConfigError(f"{address[:200]} has an unknown option {unknown[0]!r}. There are {', '.join(_OPTIONS)}.")
        if not parts.hostname or not parts.path.strip("/") or ("query" in options) == ("table" in options):
            raise ConfigError(
                f"{address[:200]} does not say what to read. Write postgresql://USER@HOST/DATABASE?table=TABLE, or "
                "?query=SELECT+… in place of the table."
            )
        table = options.get("table", "")
        query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table.split("."))) if table else None
        self._query = query.as_string() if query else options["query"].rstrip().rstrip(";")
        self._uri = parts._replace(query="", fragment="").geturl().rstrip("/")
        self._uri += f"/{options.get('name') or table or 'query'}"
        self._context = context
        self._parameters = _parameters(parts.hostname, parts.port or _PORT, options.get("sslmode", _TLS[0]))
        self._parameters |= {
            "user": unquote(parts.username or ""),
            "password": context.secret("password") or "",
            "dbname": unquote(parts.path.strip("/")),
            "connect_timeout": max(int(context.seconds), 2),
        }
        self._connection: psycopg.Connection[Any] | None = None
        self._largest = 1
        self._rows: Iterator[tuple[str, dict[str, Json]]] = iter(())

    def close(self) -> None:
        if self._connection:
            with suppress(psycopg.Error):
                self._connection.close()

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        try:
            columns = self._columns()
            if "id" not in columns:
                raise ConfigError(
                    f"the query of {self._uri} has no column 'id', which names its documents. Name one, as in "
                    "SELECT number AS id."
                )
            version = "q.version::text" if "version" in columns else "md5(q::text)"
            query = _LIST.format(query=self._query, version=version)
            before = None
            for key, stated, size in self._stream(query, self._context.max_items + 1, _LISTED_AT_ONCE):
                yield from self._listed(key, stated or "", size, before)
                before = key
        except psycopg.Error as error:
            raise self._unavailable(error) from error

    def _listed(
        self, key: str | None, version: str, size: int, before: str | None
    ) -> Iterator[Item | Unreadable | Skipped]:
        uri = f"{self._uri}{ROW}{key}"
        if key is None or key == before:
            what = "no id" if key is None else f"the id {key!r} of another row"
            yield Unreadable(uri, f"a row of {self._uri} has {what}. Give each row its own id.")
        elif size > self._context.max_bytes:
            yield Skipped(uri, f"larger than {self._context.max_bytes:,} bytes")
        else:
            self._largest = max(self._largest, size)
            yield Item(uri, version)

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        key = item.uri.removeprefix(f"{self._uri}{ROW}")
        try:
            row = self._row(key)
        except psycopg.Error as error:
            raise self._unavailable(error) from error
        if row is None:
            raise ItemGone(f"{item.uri} no longer exists.")
        path = folder / "row.jsonl"
        path.write_text(json.dumps({"uri": item.uri, **_document(row)}) + "\n")
        return Fetched(path)

    def _row(self, key: str) -> dict[str, Json] | None:
        """The row with this id: usually one of the next, as rows are fetched in the order of the list."""
        for _ in range(2):
            for found, row in self._rows:
                if found == key:
                    return row
            query = _FETCH.format(query=self._query)
            at_once = min(max(_FETCHED_BYTES // self._largest, 1), _FETCHED_AT_ONCE)
            self._rows = self._stream(query, self._context.max_bytes, at_once)
        return None

    def _columns(self) -> set[str]:
        with psycopg.RawCursor(self._connected()) as cursor:
            cursor.execute(_COLUMNS.format(query=self._query).encode(), (False,))
            return {column.name for column in cursor.description or ()}

    def _stream(self, query: str, parameter: int, at_once: int) -> Iterator[Any]:
        with psycopg.RawServerCursor(self._connected(), "trueweave") as cursor:
            cursor.itersize = at_once
            cursor.execute(query.encode(), (parameter,))
            yield from cursor

    def _connected(self) -> psycopg.Connection[Any]:
        """The connection, in a transaction that can only read, and sees no change that others make meanwhile."""
        if self._connection is None:
            host, port = str(self._parameters["host"]), int(self._parameters["port"])
            try:
                [address, *_] = checked_addresses(host, port, self._context.networks)
            except ForbiddenAddress as error:
                raise ConfigError(f"{self._uri} cannot be read: {error}") from error
            except ConnectError as error:
                raise SourceUnavailable(f"{self._uri} cannot be read: {error}.") from error
            milliseconds = int(self._context.seconds * 1000)
            self._connection = psycopg.connect(
                hostaddr=address, options=f"-c statement_timeout={milliseconds}", **self._parameters
            )
            self._connection.read_only = True
            self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        return self._connection

    def _unavailable(self, error: psycopg.Error) -> SourceUnavailable:
        reason = " ".join(str(error).split())
        return SourceUnavailable(
            f"{self._uri} cannot be read: {reason}. Check the address and the query; run it again."
        )


def _parameters(host: str, port: int, tls: str) -> dict[str, Any]:
    """How to connect. Neither passwords nor certificates that the environment has for other servers are sent."""
    if tls not in _TLS:
        raise ConfigError(f"{tls!r} is not an sslmode for this. There are {', '.join(_TLS)}.")
    roots = {"sslrootcert": os.environ.get("SSL_CERT_FILE", "system")} if tls == _TLS[0] else {}
    own = {"passfile": os.devnull, "sslcertmode": "disable", "gssencmode": "disable", "client_encoding": "utf8"}
    return {"host": host, "port": port, "sslmode": tls, **roots, **own}


def _document(row: dict[str, Json]) -> dict[str, Json]:
    """Text, title and metadata of a row, by the rule for CSV files."""
    shown = [name for name in row if name not in ("id", "version") and row[name] not in (None, "")]
    known: dict[str, Json] = {name: row[name] for name in shown}
    title = storable(_written(known.pop("title", "")))
    column = next((name for name in TEXT_COLUMNS if name in row), None)
    if column is None:
        lines = "\n".join(f"{name}: {_written(value)}" for name, value in {"id": row["id"], **known}.items())
        return {"title": title, "text": storable(lines), "metadata": {}}
    text = _written(known.pop(column, ""))
    return {"title": title, "text": storable(text), "metadata": known}


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
