"""Plain text: the file is the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from trueweave.text.loading.reading import decode, read_stream, read_text
from trueweave.types import Source


@dataclass(frozen=True, slots=True)
class Plain:
    """Reads text as it is."""

    suffixes: frozenset[str] = frozenset({".txt", ".text", ".rst", ".adoc", ".org", ".log"})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        yield Source(uri, read_text(path))


def from_stream(stream: BinaryIO, uri: str) -> Source:
    """What comes in a stream, such as standard input, as one document of plain text."""
    return Source(uri, decode(read_stream(stream, uri), uri))
