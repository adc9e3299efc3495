"""The connection to Neo4j, and the translation of its errors."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from trueweave.core.errors import ConfigError, StoreError, StoreUnavailable

if TYPE_CHECKING:
    from neo4j import AsyncTransaction, Record

EXAMPLE_URL = "neo4j://user:password@host:7687/database"

_NAME = re.compile(r"^// name: (\w+)\n", re.MULTILINE)
_CONNECT_WITHIN = 10.0  # seconds
_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")

Row = dict[str, Any]


@cache
def _queries() -> dict[str, str]:
    text = files(__package__).joinpath("queries.cypher").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@lru_cache(maxsize=512)  # some contain the types of a copy, and those grow
def query(name: str, /, **parts: str | int) -> str:
    """The text of a statement with its parts filled in. Parts are our own text, never text from a document."""
    text = _queries()[name]
    for part, value in parts.items():
        text = text.replace(f"<<{part}>>", str(value))
    return text


class Neo4jClient:
    """A Neo4j server or cluster. Connections are opened when needed, and shared."""

    def __init__(self, url: str) -> None:
        try:
            from neo4j import AsyncGraphDatabase
        except ImportError as error:
            raise ConfigError(
                'Neo4j needs its driver, which is not installed. Run `pip install "trueweave[neo4j]"`.'
            ) from error
        parts = urlsplit(url)
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise ConfigError(f"neo4j_url must look like {EXAMPLE_URL}")
        self.types: dict[str, list[str]] = {}  # types of relations by copy, as last read
        self.place = f"Neo4j at {parts.hostname}:{parts.port or 7687}"
        self._database = parts.path.strip("/") or None
        self._driver = AsyncGraphDatabase.driver(
            f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}",
            auth=(unquote(parts.username), unquote(parts.password or "")) if parts.username else None,
            connection_timeout=_CONNECT_WITHIN,
            connection_acquisition_timeout=_CONNECT_WITHIN * 3,
            notifications_min_severity="OFF",
            user_agent="trueweave",
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._driver.close()

    async def rows(self, statement: str, **params: Any) -> list[Record]:
        """The rows of one read-only statement. It is not retried."""
        with self._translated():
            async with self._driver.session(database=self._database, default_access_mode="READ") as session:
                result = await session.run(statement, params)
                return [record async for record in result]

    async def run(self, statement: str, **params: Any) -> None:
        """Run a statement in its own transaction, or one that manages its own transactions."""
        with self._translated():
            async with self._driver.session(database=self._database) as session:
                await (await session.run(statement, params)).consume()

    async def define(self, statement: str) -> None:
        """Create an index or a constraint by a statement with IF NOT EXISTS. Of two clients that create it at the same
        moment, Neo4j refuses one: for that one it exists, too."""
        from neo4j.exceptions import ClientError

        with self._translated():
            async with self._driver.session(database=self._database) as session:
                try:
                    await (await session.run(statement)).consume()
                except ClientError as error:
                    if error.code != "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
                        raise

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[CypherTransaction]:
        """A transaction: committed at the end, rolled back on any error."""
        with self._translated():
            async with (
                self._driver.session(database=self._database) as session,
                await session.begin_transaction() as tx,
            ):
                yield CypherTransaction(tx)
                await tx.commit()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Convert driver errors to StoreError, or to StoreUnavailable if a later retry may help."""
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        try:
            yield
        except AuthError as error:
            raise StoreError(f"{self.place} rejects the user or password. Check them in neo4j_url.") from error
        except Neo4jError as error:
            if error.is_retryable():
                raise StoreUnavailable(f"{self.place} cannot do it now: {error.message}") from error
            raise StoreError(f"{self.place} refused a statement: {error.code}: {error.message}") from error
        except (DriverError, OSError) as error:
            raise StoreUnavailable(
                f"{self.place} is unavailable: {_first_line(error)}. Start it, or wait for it."
            ) from error


class CypherTransaction:
    """A write transaction."""

    def __init__(self, tx: AsyncTransaction) -> None:
        self._tx = tx

    async def rows(self, statement: str, **params: Any) -> list[Record]:
        result = await self._tx.run(statement, params)
        return [record async for record in result]

    async def run(self, statement: str, **params: Any) -> None:
        await (await self._tx.run(statement, params)).consume()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
