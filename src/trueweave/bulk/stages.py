"""The steps of a bulk load that run on the cluster: each takes a table of rows and returns one. See `flows`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
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
from trueweave.core.graph import VectorKind
from trueweave.core.record import ResolutionSettings
from trueweave.graph.aggregate import entity_text, name_pair_id, relation_id, relation_text
from trueweave.graph.contribution import ChunkRow, DocumentRow, LinkRow, MentionRow
from trueweave.graph.plan import ChangedText
from trueweave.index.linking import link_new
from trueweave.store.postgres import bulk
from trueweave.store.postgres.vectors.vectors import Vector
from trueweave.text.names import key

_LINKED_AT_ONCE = 1500  # chunks; many share the same words, each of which is looked up once


@dataclass(frozen=True)
class WorkShards:
    """Processes shards with models that each process opens once. Returns the result for each shard, by its key."""

    load: Load

    def __call__(self, table: Table) -> Table:
        here = process(self.load)
        return packed((0, (shard.key, here.run(_worked(here, shard)))) for shard in unpacked(table))


async def _worked(here: Process, shard: Shard | RecordShard) -> Worked:
    return await here.copy(shard) if isinstance(shard, RecordShard) else await here.work(shard)


R = TypeVar("R", ChunkRow, MentionRow, LinkRow)


class _Record(NamedTuple):
    """What the documents of a shard say."""

    documents: list[DocumentRow]
    chunks: list[ChunkRow]
    mentions: list[MentionRow]
    links: list[LinkRow]


@dataclass(frozen=True)
class Steps:
    """The steps of a load, in the order in which they run. `left_out` has, for each shard, the versions of documents of
    which another shard has a later version."""

    load: Load
    parts: int
    how: ResolutionSettings
    left_out: Mapping[str, frozenset[UUID]]

    # --- documents: of two with the same uri, the later one counts

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
        """Load what the documents of some shards say. Returns the sums of their names by part and, in two more parts,
        what later steps need: the sums of their pairs of names, and their chunks."""
        mentions: list[MentionRow] = []
        links: list[LinkRow] = []
        chunks: list[UUID] = []
        for _, shard in unpacked(table):
            record = self._record(shard)
            self._process.run(self._load_record(shard, record))
            mentions += record.mentions
            links += record.links
            chunks += (chunk.id for chunk in record.chunks)

        def rows() -> Iterator[tuple[int, Any]]:
            for one in sum_mentions(mentions):
                yield part_of(one.id, self.parts), one
            written = {mention.name: mention.written for mention in mentions}
            yield from ((self._pairs, one) for one in sum_links(links, written))
            yield from ((self._chunks, id_) for id_ in chunks)

        return packed(rows())

    def _record(self, shard: str) -> _Record:
        documents = [row for row in self._process.spool.rows(shard, DocumentRow) if not self._is_gone(shard, row.id)]
        return _Record(
            documents, self._kept(shard, ChunkRow), self._kept(shard, MentionRow), self._kept(shard, LinkRow)
        )

    def _kept(self, shard: str, kind: type[R]) -> list[R]:
        """The rows of a kind of a shard, without those of documents that are left out."""
        return [row for row in self._process.spool.rows(shard, kind) if not self._is_gone(shard, row.document)]

    def _is_gone(self, shard: str, document: UUID) -> bool:
        return shard in self.left_out and document in self.left_out[shard]

    async def _load_record(self, shard: str, record: _Record) -> None:
        here = self._process
        vectors = {v.id: v for v in here.spool.vectors(shard)}
        ids = [chunk.id for chunk in record.chunks]
        workspace = await here.made()
        async with workspace.transaction(unhurried=True) as tx:
            await bulk.load_record(tx, *record, here.spool.made(shard))
            await bulk.index_texts(tx, ids)
            if self.load.space and vectors:
                await bulk.load_vectors(tx, self.load.space, "chunk", [vectors[id_] for id_ in dict.fromkeys(ids)])

    @property
    def _pairs(self) -> int:
        return self.parts

    @property
    def _chunks(self) -> int:
        return self.parts + 1

    # --- names

    def reduce_names(self, table: Table) -> Table:
        part = table["part"][0].as_py()
        return packed((part, one) for one in merge_names(unpacked(table)))

    def map_keys(self, table: Table) -> Table:
        return packed((entry.key % self.parts, entry) for entry in key_entries(unpacked(table), self.how))

    def reduce_keys(self, table: Table) -> Table:
        """Load the keys of a part. Returns the pairs of names that are alike."""
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
            for one in unpacked(table, self._pairs):
                ends = entity_of(one.source), entity_of(one.target)
                id_ = relation_id(*ends) if ends[0] != ends[1] else name_pair_id(one.source, one.target)
                yield part_of(id_, self.parts), one

        return packed(rows())

    def reduce_links(self, table: Table, entities: Shared[EntityOf]) -> Table:
        """Load the relations of a part. Returns how many relations each entity has there."""
        related = relate(merge_pairs(unpacked(table)), entities())
        texts = [
            ChangedText(
                "relation", r.id, r.text_hash, relation_text(r.source_name, r.target_name, r.description, r.keywords)
            )
            for r in related.relations
        ]

        async def load() -> None:
            vectors = await self._embedded("relation", texts)
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
        """Load the names and entities of a part. Returns how many of each there are."""
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
            vectors = await self._embedded("entity", texts)
            workspace = await self._process.made()
            async with workspace.transaction(unhurried=True) as tx:
                await bulk.load_names(tx, gathered.names, gathered.phrase_counts)
                await bulk.load_entities(tx, gathered.entities)
                await self._load_vectors(tx, "entity", vectors)

        self._process.run(load())
        return packed([(0, (len(gathered.names), len(gathered.entities)))])

    # --- occurrences

    def link_chunks(self, table: Table) -> Table:
        """Link chunks to the names in them. Returns how many were linked."""
        chunks: list[UUID] = list(unpacked(table, self._chunks))

        async def link() -> None:
            workspace = await self._process.made()
            for at in range(0, len(chunks), _LINKED_AT_ONCE):
                async with workspace.transaction(unhurried=True) as tx:
                    await link_new(tx, chunks[at : at + _LINKED_AT_ONCE])

        self._process.run(link())
        return packed([(0, len(chunks))])

    async def _embedded(self, kind: VectorKind, texts: list[ChangedText]) -> list[Vector]:
        """The vectors of these texts; none if this kind is not embedded."""
        return await self._process.embed(texts) if kind in self.load.kinds else []

    async def _load_vectors(self, tx: Any, kind: VectorKind, vectors: list[Vector]) -> None:
        if self.load.space and vectors:
            await bulk.load_vectors(tx, self.load.space, kind, vectors)

    @property
    def _process(self) -> Process:
        return process(self.load)
