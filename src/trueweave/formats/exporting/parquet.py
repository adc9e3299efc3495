"""Parquet: a folder with one table each for entities, relations and communities."""

from __future__ import annotations

import json
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError
from trueweave.formats.exporting.files import folder, replacing
from trueweave.formats.exporting.rows import Row, Section, batches
from trueweave.store.postgres.db import Workspace

_AT_ONCE = 5000  # rows in a row group
_TABLES: dict[Section, dict[str, str]] = {
    "entities": {
        "id": "string", "name": "string", "type": "string", "description": "string", "aliases": "list<string>",
        "mentions": "int64", "degree": "int64", "community": "string",
    },
    "relations": {
        "id": "string", "source": "string", "target": "string", "source_name": "string", "target_name": "string",
        "type": "string", "description": "string", "keywords": "list<string>", "weight": "double", "links": "int64",
    },
    "communities": {
        "id": "string", "level": "int64", "parent": "string", "size": "int64", "relations": "int64", "title": "string",
        "summary": "string", "rating": "double", "reason": "string", "findings": "string", "author": "string",
        "stale": "bool",
    },
}  # fmt: skip


async def write(workspace: Workspace, path: Path) -> None:
    """Write a folder of this name with entities.parquet, relations.parquet and communities.parquet. Other files in it
    are not changed. The findings of a report are JSON."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError('writing .parquet needs pyarrow: pip install "trueweave[formats]"') from error
    with folder(path), ExitStack() as files:
        async with workspace.transaction(snapshot=True, unhurried=True) as tx:
            for section, columns in _TABLES.items():
                partial = files.enter_context(replacing(path / f"{section}.parquet"))
                with pyarrow.parquet.ParquetWriter(partial, _schema(columns)) as writer:
                    async with aclosing(batches(tx, section, _AT_ONCE)) as found:
                        async for batch in found:
                            chosen = [_row(row, columns) for row in batch]
                            writer.write_table(pyarrow.Table.from_pylist(chosen, writer.schema))


def _schema(columns: dict[str, str]) -> Any:
    import pyarrow

    types = {"list<string>": pyarrow.list_(pyarrow.string())}
    return pyarrow.schema([(name, types.get(kind) or pyarrow.type_for_alias(kind)) for name, kind in columns.items()])


def _row(row: Row, columns: dict[str, str]) -> dict[str, Any]:
    return {name: _value(row[name], kind) for name, kind in columns.items()}


def _value(value: Any, kind: str) -> Any:
    return json.dumps(value, ensure_ascii=False) if kind == "string" and isinstance(value, list) else value
