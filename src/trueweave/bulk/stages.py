"""The steps of a bulk load that run on the cluster: each takes a table of rows and gives one. See `flows`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pyarrow import Table

from trueweave.bulk.flows import Shared, packed, unpacked
from trueweave.bulk.process import Load, Process, process
from trueweave.bulk.shards import RecordShard, Shard
from trueweave.bulk.spool import Worked
from trueweave.bulk.sums import (
    EntityOf,
    KeyEntry,
    NameSum,
    PairSum,
    alike_pairs,
    gather,
    key_entries,
    merge_names,
    merge_pairs,
    part_of,
    relate,
    sum_links,
    sum_mentions,
)
from trueweave.graph.aggregate import entity_text, name_pair_id, relation_id, relation_text
from trueweave.graph.contribution import ChunkRow, DocumentRow, LinkRow, MentionRow
from trueweave.graph.plan import ChangedText
from trueweave.store.postgres import bulk
from trueweave.store.postgres.vectors import Vector
from trueweave.text.names import key
from trueweave.types import ResolutionSettings, VectorKind
from trueweave.view.linking import CHUNKS_AT_ONCE, link_new


@dataclass(frozen=True)
class WorkShards:
    """Works shards with models that its process opens once; gives what was made of each, by its key."""

    load: Load

    def __call__(self, table: Table) -> Table:
        here = process(self.load)
        return packed((0, (shard.key, here.run(_worked(here, shard)))) for shard in unpacked(table))


async def _worked(here: Process, shard: Shard | RecordShard) -> Worked:
    return await here.copy(shard) if isinstance(shard, RecordShard) else await here.work(shard)


@dataclass(frozen=True)
class Steps:
    """The steps of a load, in the order in which they run. `left_out` are the versions of documents of a shard that
    another shard has a later version of."""

    load: Load
    parts: int
    how: ResolutionSettings
    left_out: Mapping[str, frozenset[UUID]]

    # --- documents: of two with the same uri, the one that comes later counts

    def map_uris(self, table: Table) -> Table:
        def rows() -> Iterator[tuple[int, Any]]:
            for order, shard in unpacked(table):
                for document in self._process.spool.rows(shard, DocumentRow):
                    hashed = key("uri", document.uri)
                    yield part_of(hashed, self.parts), (hashed, order, shard, document.id)

        return packed(rows())

    def reduce_uris(self, table: Table) -> Table:
        latest: dict[UUID, tuple[int, str, UUID]] = {}
        left_out: list[tuple[int, Any]] = []
        for hashed, *version in sorted(unpacked(table)):
            if hashed in latest:
                _, shard, id_ = latest[hashed]
                left_out.append((0, (shard, id_)))
            latest[hashed] = tuple(version)
        return packed(left_out)

    def load_record(self, table: Table) -> Table:
        return packed((0, self._process.run(self._load_record(shard))) for _, shard in unpacked(table))

    async def _load_record(self, shard: str) -> list[UUID]:
        here, gone = self._process, self.left_out.get(shard, frozenset())
        documents = [row for row in here.spool.rows(shard, DocumentRow) if row.id not in gone]
        chunks = self._kept(shard, ChunkRow)
        vectors = {v.id: v for v in here.spool.vectors(shard)}
        workspace = await here.made()
        async with workspace.transaction(unhurried=True) as tx:
            mentions, links = self._kept(shard, MentionRow), self._kept(shard, LinkRow)
            await bulk.load_record(tx, documents, chunks, mentions, links, here.spool.made(shard))
            if self.load.space and vectors:
                ids = {chunk.id for chunk in chunks}
                await bulk.load_vectors(tx, self.load.space, "chunk", [vectors[id_] for id_ in ids])
        return [chunk.id for chunk in chunks]

    # --- names

    def map_names(self, table: Table) -> Table:
        def rows() -> Iterator[tuple[int, NameSum]]:
            for _, shard in unpacked(table):
                for one in sum_mentions(self._kept(shard, MentionRow)):
                    yield part_of(one.id, self.parts), one

        return packed(rows())

    def reduce_names(self, table: Table) -> Table:
        part = table["part"][0].as_py()
        return packed((part, one) for one in merge_names(unpacked(table)))

    def map_keys(self, table: Table) -> Table:
        return packed((entry.key % self.parts, entry) for entry in key_entries(unpacked(table), self.how))

    def reduce_keys(self, table: Table) -> Table:
        """Load the keys of a part; gives the pairs of names that are alike."""
        entries: list[KeyEntry] = list(unpacked(table))
        pairs = sorted(alike_pairs(entries, self.how))
        self._process.run(self._load_keys(entries, pairs))
        return packed((0, pair) for pair in pairs)

    async def _load_keys(self, entries: list[KeyEntry], pairs: list[tuple[UUID, UUID]]) -> None:
        workspace = await self._process.made()
        async with workspace.transaction(unhurried=True) as tx:
            await bulk.load_keys(tx, ((e.key, e.name, e.mask) for e in entries if e.is_stored))
            await bulk.load_alike(tx, pairs)

    # --- relations

    def map_links(self, table: Table, entities: Shared[EntityOf]) -> Table:
        entity_of = entities()

        def rows() -> Iterator[tuple[int, PairSum]]:
            for _, shard in unpacked(table):
                written = {mention.name: mention.written for mention in self._kept(shard, MentionRow)}
                for one in sum_links(self._kept(shard, LinkRow), written):
                    ends = entity_of(one.source), entity_of(one.target)
                    id_ = relation_id(*ends) if ends[0] != ends[1] else name_pair_id(one.source, one.target)
                    yield part_of(id_, self.parts), one

        return packed(rows())

    def reduce_links(self, table: Table, entities: Shared[EntityOf]) -> Table:
        """Load the relations of a part; gives how many relations each entity has there."""
        related = relate(merge_pairs(unpacked(table)), entities())
        texts = [
            ChangedText(
                "relation", r.id, r.text_hash, relation_text(r.source_name, r.target_name, r.description, r.keywords)
            )
            for r in related.relations
        ]

        async def load() -> None:
            vectors = await self._process.embed(texts)
            workspace = await self._process.made()
            async with workspace.transaction(unhurried=True) as tx:
                await bulk.load_relations(tx, *related)
                await self._load_vectors(tx, "relation", vectors)

        self._process.run(load())
        degrees = Counter(end for r in related.relations for end in (r.source, r.target))
        return packed((part_of(id_, self.parts), ("degree", id_, number)) for id_, number in degrees.items())

    # --- entities

    def map_entities(self, table: Table, entities: Shared[EntityOf]) -> Table:
        entity_of = entities()
        return packed((part_of(entity_of(one.id), self.parts), ("name", one)) for one in unpacked(table))

    def reduce_entities(self, table: Table, entities: Shared[EntityOf]) -> Table:
        """Load the names and entities of a part; gives how many of each there are."""
        names: list[NameSum] = []
        degrees: Counter[UUID] = Counter()
        for kind, *row in unpacked(table):
            if kind == "name":
                names += row
            else:
                degrees[row[0]] += row[1]
        gathered = gather(names, degrees, entities())
        texts = [
            ChangedText("entity", e.id, e.text_hash, entity_text(e.name, e.type, e.description))
            for e in gathered.entities
        ]

        async def load() -> None:
            vectors = await self._process.embed(texts)
            workspace = await self._process.made()
            async with workspace.transaction(unhurried=True) as tx:
                await bulk.load_names(tx, gathered.names, gathered.phrase_counts)
                await bulk.load_entities(tx, gathered.entities)
                await self._load_vectors(tx, "entity", vectors)

        self._process.run(load())
        return packed([(0, (len(gathered.names), len(gathered.entities)))])

    # --- occurrences

    def link_chunks(self, table: Table) -> Table:
        """Link chunks to the names in them; gives how many were."""
        chunks: list[UUID] = list(unpacked(table))

        async def link() -> None:
            workspace = await self._process.made()
            for at in range(0, len(chunks), CHUNKS_AT_ONCE):
                async with workspace.transaction(unhurried=True) as tx:
                    await link_new(tx, chunks[at : at + CHUNKS_AT_ONCE])

        self._process.run(link())
        return packed([(0, len(chunks))])

    async def _load_vectors(self, tx: Any, kind: VectorKind, vectors: list[Vector]) -> None:
        if self.load.space and vectors:
            await bulk.load_vectors(tx, self.load.space, kind, vectors)

    @property
    def _process(self) -> Process:
        return process(self.load)

    def _kept(self, shard: str, kind: type[Any]) -> list[Any]:
        """The rows of a shard, without those of documents that are left out."""
        gone = self.left_out.get(shard)
        rows = self._process.spool.rows(shard, kind)
        return [row for row in rows if row.document not in gone] if gone else rows
