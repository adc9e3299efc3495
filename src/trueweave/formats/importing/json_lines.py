"""JSON lines of annotated documents, as `trueweave export` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Listener
from trueweave.core.record import Document
from trueweave.formats.importing.telling import refuse
from trueweave.ingest.extract import preannotated
from trueweave.ingest.json_lines import broken, lines, name_of, parsed, place, row_uri


def read(path: Path, uri: str, listener: Listener | None = None) -> Iterator[Document]:
    """The documents of a file, with the uris they had; a row without one gets a uri from the file and its id. A row
    that cannot be used is refused, and the others are still imported."""
    for number, line in lines(path):
        origin = place(path, number)
        try:
            row = parsed(line)
            named = name_of(row) if row.get("uri") is not None else row_uri(row, uri)
            made = preannotated.document(row, named, origin)
        except InvalidDocument as error:
            refuse(listener, origin, broken(path, number, str(error)))
        else:
            yield made
