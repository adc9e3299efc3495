"""JSON lines: the record, one document per line with its chunks and everything said in them.

`trueweave import` reads it back, and an index made from it has the same digest. The fields are those of
`trueweave.ingest.extract.preannotated`; fields with their default value are left out.
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.ingest.extract import preannotated
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.record import record


async def write(workspace: Workspace, path: Path) -> None:
    """Write the documents that are visible to readers now."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    async with (
        workspace.transaction(snapshot=True, unhurried=True) as tx,
        aclosing(record.pages(tx, visible=True)) as pages,
    ):
        async for page in pages:
            for document in page:
                yield preannotated.written(document)
