"""JSON lines: the record, one document a line with its chunks and all that is said in them.

`trueweave import` reads it back, and an index made from it has the same digest. The fields are those of
`trueweave.extract.preannotated`; one that has its default is left out.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from trueweave.exporting.files import Pieces, write_text
from trueweave.store.postgres import record
from trueweave.store.postgres.db import Workspace
from trueweave.types import Chunk, Document, Link, Mention

_PAGE = 100  # documents read at once


async def write(workspace: Workspace, path: Path) -> None:
    """Write the documents that readers see now."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    async with (
        workspace.transaction(snapshot=True, unhurried=True) as tx,
        aclosing(record.pages(tx, _PAGE, visible=True)) as pages,
    ):
        async for page in pages:
            for document in page:
                yield line(document)


def line(document: Document) -> str:
    """A document as one line."""
    row: dict[str, Any] = {"uri": document.uri, "title": document.title, "metadata": dict(document.metadata)}
    if document.places:
        row["places"] = [[p.start, p.kind, p.label, p.level, p.offset] for p in document.places]
    row["chunks"] = [_chunk(chunk) for chunk in document.chunks]
    return json.dumps({key: value for key, value in row.items() if value or key == "chunks"}, ensure_ascii=False) + "\n"


def _chunk(chunk: Chunk) -> dict[str, Any]:
    said = {"entities": [_given(one) for one in chunk.mentions], "relations": [_given(one) for one in chunk.links]}
    row = {"text": chunk.text, "start": chunk.start, "tokens": chunk.tokens, **said}
    return {key: value for key, value in row.items() if value or key == "text"}


def _given(said: Mention | Link) -> dict[str, Any]:
    kind: Any = type(said)
    values = ((name, default, getattr(said, name)) for name, default in _defaults(kind))
    return {name: value for name, default, value in values if value != default}


@cache
def _defaults(kind: type) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in fields(kind)]
