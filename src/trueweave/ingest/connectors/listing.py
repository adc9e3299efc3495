"""The list of items at an address, in a temporary file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from trueweave.core.connectors import Item

_TABLES = """
CREATE TABLE item (
    n INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, version TEXT NOT NULL, metadata TEXT NOT NULL, date TEXT,
    is_known INTEGER NOT NULL DEFAULT 0, is_unchanged INTEGER NOT NULL DEFAULT 0, validator TEXT NOT NULL DEFAULT '',
    is_gone INTEGER NOT NULL DEFAULT 0, readers TEXT);
"""
_SOME = 1000


class StoredItem(NamedTuple):
    """What the workspace has of an item: its version, the validator of its content, and whether all its documents are
    there, processed with the recipe of this run."""

    uri: str
    version: str
    validator: str
    is_current: bool


class ListedItem(NamedTuple):
    """An item as listed: its uri, and its readers if the connector knows them."""

    uri: str
    readers: tuple[str, ...] | None


class Listing:
    """The items that an address has now. Large numbers are kept in a temporary file, not in memory."""

    def __init__(self) -> None:
        # It is filled and read in threads, one at a time.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        """Delete the temporary file."""
        self._connection.close()

    def add(self, item: Item) -> bool:
        """Add an item; False if there is one of the same uri already."""
        date = item.date.isoformat() if item.date else None
        readers = None if item.readers is None else json.dumps(item.readers)
        row = (item.uri, item.version, json.dumps(dict(item.metadata)), date, readers)
        new = "INSERT INTO item (uri, version, metadata, date, readers) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return bool(self._connection.execute(new, row).rowcount)

    def items(self) -> Iterator[list[ListedItem]]:
        """All items, in batches."""
        after = 0
        while rows := self._connection.execute(
            "SELECT n, uri, readers FROM item WHERE n > ? ORDER BY n LIMIT ?", (after, _SOME)
        ).fetchall():
            after = rows[-1][0]
            yield [ListedItem(uri, _readers(readers)) for _, uri, readers in rows]

    def compare(self, stored: Iterable[StoredItem]) -> None:
        """Mark the items that the workspace has, and those of them that have not changed."""
        self._connection.executemany(
            "UPDATE item SET is_known = 1, validator = CASE WHEN ?3 THEN ?4 ELSE '' END,"
            " is_unchanged = ?3 AND version <> '' AND version = ?2 WHERE uri = ?1",
            [(one.uri, one.version, one.is_current, one.validator) for one in stored],
        )

    def lost(self, uri: str) -> bool:
        """Mark an item as no longer there; returns whether the workspace has it."""
        found = self._connection.execute("UPDATE item SET is_gone = 1 WHERE uri = ? RETURNING is_known", (uri,))
        return bool(found.fetchone()[0])

    def has(self, uri: str) -> bool:
        """Whether an item is there."""
        found = self._connection.execute("SELECT NOT is_gone FROM item WHERE uri = ?", (uri,)).fetchone()
        return bool(found and found[0])

    def counts(self) -> Mapping[str, int]:
        """How many items are new, perhaps changed, and unchanged."""
        row = self._connection.execute(
            "SELECT coalesce(sum(NOT is_known), 0), coalesce(sum(is_known AND NOT is_unchanged), 0),"
            " coalesce(sum(is_unchanged), 0) FROM item"
        ).fetchone()
        return dict(zip(("new", "changed", "unchanged"), row, strict=True))

    def to_fetch(self) -> Iterator[tuple[Item, str]]:
        """The items that may have changed, in the order of the list, each with the validator of its last content."""
        after = 0
        query = (
            "SELECT n, uri, version, metadata, date, readers, validator FROM item WHERE n > ? AND NOT is_unchanged"
            " ORDER BY n LIMIT ?"
        )
        while rows := self._connection.execute(query, (after, _SOME)).fetchall():
            for n, uri, version, metadata, date, readers, validator in rows:
                after = n
                when = datetime.fromisoformat(date) if date else None
                yield Item(uri, version, json.loads(metadata), when, _readers(readers)), validator


def _readers(stored: str | None) -> tuple[str, ...] | None:
    return None if stored is None else tuple(json.loads(stored))
