"""networkx: the graph as an object in memory."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from trueweave.core.errors import ConfigError
from trueweave.formats.exporting.rows import rows
from trueweave.store.postgres.db import Workspace


async def to_networkx(workspace: Workspace) -> Any:
    """A `networkx.DiGraph`: entities by id and the relations between them, with all their attributes."""
    try:
        import networkx
    except ImportError as error:
        raise ConfigError('exporting a networkx graph needs networkx: pip install "trueweave[formats]"') from error
    graph = networkx.DiGraph()
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        async with aclosing(rows(tx, "entities")) as found:
            async for row in found:
                graph.add_node(row["id"], **{name: value for name, value in row.items() if name != "id"})
        async with aclosing(rows(tx, "relations")) as found:
            async for row in found:
                said = {name: value for name, value in row.items() if name not in ("source", "target")}
                graph.add_edge(row["source"], row["target"], **said)
    return graph
