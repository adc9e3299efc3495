"""The graph: entities, relations, and what changes in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.engine.core import OpenWorkspace
from trueweave.evidence import Filter
from trueweave.protocols import Vectors
from trueweave.store.postgres import outbox, read, vectors
from trueweave.store.postgres.projecting import ProjectionSource
from trueweave.store.postgres.public_errors import own_errors
from trueweave.types import Change, Entity, Hit, Relation, VectorKind


@own_errors
class AsyncGraphGroup:
    """The graph of a workspace: `trueweave.graph`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def entities(self, limit: int = 50) -> list[Entity]:
        """The most mentioned entities."""
        async with self._core.workspace.transaction() as tx:
            return await read.entities(tx, limit)

    async def relations(self, *entities: UUID, limit: int = 50) -> list[Relation]:
        """The relations from and to these entities, the heaviest first."""
        async with self._core.workspace.transaction() as tx:
            return await read.relations_of(tx, entities, limit)

    async def neighbours(self, *entities: UUID, hops: int = 1, limit: int = 50) -> list[Entity]:
        """The entities around these, over so many relations: nearer ones first, then those more heavily related."""
        readers = self._core.open_readers(Filter())
        relations = await readers.record.relations(await readers.graph.neighbourhood(entities, hops))
        ends = dict.fromkeys(end for r in relations for end in (r.source, r.target))
        return await readers.record.entities([end for end in ends if end not in entities][:limit])

    async def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return await vectors.nearest(self._core.workspace, kind, vector, limit)

    async def export(self, path: str | Path) -> None:
        """Write the workspace to a file, as its name ends: the graph with its communities in .json, .graphml, .parquet
        (a folder), .nt, .ttl or .cypher; and in .jsonl the documents with all that is said in them, to be imported."""
        from trueweave import exporting

        await exporting.write(self._core.workspace, Path(path))

    async def to_networkx(self) -> Any:
        """The whole graph in memory, as a `networkx.DiGraph`: entities by their ids, and the relations between them."""
        from trueweave.exporting.networkx_graph import to_networkx

        return await to_networkx(self._core.workspace)

    async def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """What changed after a position of the outbox, in order, for a projection to follow."""
        async with self._core.workspace.transaction() as tx:
            return await outbox.changes(tx, after, limit)

    def projection(self, consumer: str) -> ProjectionSource:
        """What changed here and what is behind it, for a copy in another store that goes by this name."""
        return ProjectionSource(self._core.workspace, consumer)
