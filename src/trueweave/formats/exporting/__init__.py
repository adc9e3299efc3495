"""Exports: a workspace as a file, in the format that the file extension selects.

.jsonl is the record, documents with everything said in them, which `trueweave import` reads back; the others are the
graph with its communities. Files are written as rows are read, so they may be larger than memory.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from trueweave.core.errors import ConfigError
from trueweave.store.postgres.db import Workspace

# Each module has `async def write(workspace, path)`. It is imported on use, as some need optional libraries.
_MODULES = {
    ".jsonl": "json_lines",
    ".json": "graph_json",
    ".graphml": "graphml",
    ".parquet": "parquet",
    ".nt": "rdf",
    ".ttl": "rdf",
    ".cypher": "cypher",
}


async def write(workspace: Workspace, path: Path) -> None:
    """Write a file in the format of its extension. An existing file is replaced only once everything is written."""
    module = _MODULES.get(path.suffix.lower())
    if module is None:
        known = ", ".join(_MODULES)
        raise ConfigError(f"{path.name} has none of the extensions {known}. The extension selects the format.")
    await import_module(f"{__name__}.{module}").write(workspace, path)
