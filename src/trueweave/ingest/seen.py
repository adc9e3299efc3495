"""The documents that a run has read so far, and their origins."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Self

from trueweave.core.events import Refused

_TABLES = """
CREATE TABLE document (uri TEXT PRIMARY KEY, origin TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (uri TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class Seen:
    """The documents of one run by uri. Large numbers are kept in a temporary file, not in memory."""

    def __init__(self) -> None:
        # Files are read in any thread, one at a time.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def clash(self, uri: str, origin: str) -> Refused | None:
        """Record a document. Returns a refusal that names both origins if another has the same uri."""
        new = "INSERT INTO document VALUES (?, ?) ON CONFLICT DO NOTHING"
        if self._connection.execute(new, (uri, origin)).rowcount:
            return None
        [first] = self._connection.execute("SELECT origin FROM document WHERE uri = ?", (uri,)).fetchone()
        if first == origin:  # the same file by two paths
            return None
        return Refused(
            origin, f"{origin}: its uri {uri!r} is also that of {first}. Give each its own id, and add it again."
        )

    def whole(self, file: str) -> None:
        """Record that a file was read completely, without refusals."""
        self._connection.execute("INSERT OR IGNORE INTO file VALUES (?)", (file,))

    def is_whole(self, file: str) -> bool:
        """Whether all that is in a file has been read."""
        return self._connection.execute("SELECT 1 FROM file WHERE uri = ?", (file,)).fetchone() is not None

    def has(self, uri: str) -> bool:
        """Whether a document of this uri has been read."""
        return self._connection.execute("SELECT 1 FROM document WHERE uri = ?", (uri,)).fetchone() is not None
