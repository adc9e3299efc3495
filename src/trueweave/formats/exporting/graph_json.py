"""JSON: one object with lists of communities (with their reports), entities and relations."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path

from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.formats.exporting.rows import Section, rows
from trueweave.store.postgres.db import Workspace

_SECTIONS: tuple[Section, ...] = ("communities", "entities", "relations")


async def write(workspace: Workspace, path: Path) -> None:
    """Write the graph as one JSON object, one row per line."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        for n, section in enumerate(_SECTIONS):
            yield f'{"," if n else "{"}\n"{section}": ['
            before = "\n"
            async with aclosing(rows(tx, section)) as found:
                async for row in found:
                    yield before + json.dumps(row, ensure_ascii=False)
                    before = ",\n"
            yield "]"
        yield "\n}\n"
