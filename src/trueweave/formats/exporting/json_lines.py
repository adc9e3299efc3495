"""JSON lines: the record, one document a line with its chunks and all that is said in them.

`trueweave import` reads it back, and an index made from it has the same digest. The fields are those of
`trueweave.ingest.extract.preannotated`; one that has its default is left out.
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.ingest.extract import preannotated
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.record import record


async def write(workspace: Workspace, path: Path) -> None:
    """Write the documents that readers see now."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    async with (
        workspace.transaction(snapshot=True, unhurried=True) as tx,
        aclosing(record.pages(tx, visible=True)) as pages,
    ):
        async for page in pages:
            for document in page:
                yield preannotated.written(document)
