"""A loader for logbooks: a first line with the ship, then an entry a line, as in `1903-05-04 | Fog at the Stack.`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trueweave import Source
from trueweave.errors import UnreadableFile


class Logbook:
    """Reads `.logbook` files. Each entry is a document of its own, with its date as metadata."""

    suffixes = frozenset({".logbook"})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        ship, *lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines, 2):
            date, separator, text = line.partition(" | ")
            if not separator:
                raise UnreadableFile(f"{path}: line {number} is not an entry. Write DATE | TEXT.")
            yield Source(f"{uri}#{date}", text, f"{ship}, {date}", {"date": date})
