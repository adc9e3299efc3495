"""A connector for notes in a SQLite database: `sqlite:///home/ada/notes.db`.

They are the rows of a table note (name, author, changed, text).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from trueweave.errors import ConfigError, ItemGone, SourceUnavailable
from trueweave.extend import ConnectorContext, Fetched, Item


class SqliteNotes:
    """Each note is a document. It is fetched again when `changed` has another value, and removed with its row."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        context.check_secrets()
        if not context.ambient_credentials:  # a caller of a server could name any file of its machine
            raise ConfigError("notes are read from files of this machine, so callers of a server cannot add them.")
        self._path = Path(unquote(urlsplit(address).path))
        self._uri = address
        self._most = context.max_items

    def items(self) -> Iterator[Item]:
        for name, author, changed in self._rows(
            "SELECT name, author, changed FROM note ORDER BY name LIMIT ?", self._most
        ):
            yield Item(f"{self._uri}/{quote(name)}", changed, {"author": author, "name": name})

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched:
        rows = self._rows("SELECT text FROM note WHERE name = ?", item.metadata["name"])
        if not rows:
            raise ItemGone(f"{item.uri} was deleted meanwhile")
        path = folder / "note.md"
        path.write_text(f"# {item.metadata['name']}\n\n{rows[0][0]}\n", "utf-8")
        return Fetched(path)

    def close(self) -> None:
        """Nothing stays open between two calls."""

    def _rows(self, statement: str, *values: object) -> list[tuple[str, ...]]:
        try:
            with closing(sqlite3.connect(f"file:{quote(str(self._path))}?mode=ro", uri=True)) as database:
                return database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise SourceUnavailable(f"{self._path} cannot be read: {error}. Check the path.") from error
