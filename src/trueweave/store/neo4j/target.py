"""A copy of the graph in Neo4j, maintained by a projector. docs/how-to/neo4j.md describes its schema."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from trueweave.core.errors import StoreError
from trueweave.core.graph import Relation, VectorKind
from trueweave.core.projections import (
    ProjectedBatch,
    ProjectedChunk,
    ProjectedCommunity,
    ProjectedDocument,
    ProjectedEntity,
    ProjectedKind,
    ProjectedRelation,
    ProjectionCopy,
)
from trueweave.core.protocols import NameLookup
from trueweave.graph.aggregate import harmonic_emphasis
from trueweave.store.neo4j.client import CypherTransaction, Neo4jClient, Row, query
from trueweave.store.neo4j.vocabulary import RELATED, NameVocabulary, escaped, label, relation_type

_NODES = {"document": "Document", "chunk": "Chunk", "entity": "Entity", "community": "Community"}
_ALL_NODES = (*_NODES.values(), "EntityName", "NamePair")
_SHORT = 40  # maximum length of a description used as the type of a relation that has none
_SOURCES = 50  # chunks listed on an entity or a relation
_PAGE = 500
_FUNCTIONS = {"cosine": "cosine", "l2": "euclidean", "inner": "cosine"}
_DIMENSIONS = 4096  # maximum for a vector index in Neo4j

_INDEXES = (
    "CREATE CONSTRAINT trueweave_copy IF NOT EXISTS FOR (c:TrueweaveCopy) REQUIRE c.id IS UNIQUE",
    *(
        f"CREATE CONSTRAINT trueweave_{name.lower()} IF NOT EXISTS FOR (n:{name}) REQUIRE (n.copy, n.id) IS UNIQUE"
        for name in _ALL_NODES
    ),
    "CREATE INDEX trueweave_name_entity IF NOT EXISTS FOR (n:EntityName) ON (n.copy, n.entity)",
    "CREATE INDEX trueweave_pair_relation IF NOT EXISTS FOR (n:NamePair) ON (n.copy, n.relation)",
    "CREATE INDEX trueweave_entity_name IF NOT EXISTS FOR (n:Entity) ON (n.displayName)",
    "CREATE INDEX trueweave_document_uri IF NOT EXISTS FOR (n:Document) ON (n.uri)",
    "CREATE FULLTEXT INDEX trueweave_entities IF NOT EXISTS FOR (n:Entity) ON EACH [n.displayName, n.description]",
    "CREATE FULLTEXT INDEX trueweave_chunks IF NOT EXISTS FOR (n:Chunk) ON EACH [n.text]",
)


class Neo4jTarget:
    """A `ProjectionTarget`. Without `vectors`, chunks and entities are written without their embeddings."""

    name = "neo4j"
    kinds: Sequence[ProjectedKind] = ("document", "entity", "relation", "chunk", "community")

    def __init__(self, client: Neo4jClient, *, vectors: bool = True) -> None:
        self._client = client
        self.vector_kinds: Sequence[VectorKind] = ("chunk", "entity") if vectors else ()
        self._labels = NameVocabulary((), "")
        self._types = NameVocabulary((), RELATED)

    async def begin(self, copy: ProjectionCopy) -> None:
        """Create the indexes, and an empty copy."""
        for statement in _INDEXES:
            await self._client.define(statement)
        space = json.dumps(copy.space)
        await self._client.run(query("begin"), copy=copy.id, workspace=copy.workspace, space=space)
        if copy.space and self.vector_kinds:
            _, dimensions, metric = copy.space
            if dimensions <= _DIMENSIONS:
                for kind in self.vector_kinds:
                    await self._client.define(_vector_index(copy.id, kind, dimensions, _FUNCTIONS[metric]))
        await self._client.run("CALL db.awaitIndexes(300)")

    async def position(self, copy: str) -> int | None:
        """The last change applied to a copy; -1 while it is being filled, None if there is no such copy."""
        rows = await self._client.rows(query("copy"), copy=copy)
        return rows[0]["position"] if rows else None

    async def write(self, copy: str, batch: ProjectedBatch, names: NameLookup, position: int) -> None:
        """Write a batch in one transaction, unless another projector has advanced the copy meanwhile."""
        async with self._client.transaction() as tx:
            rows = await tx.rows(query("lock"), copy=copy, position=position)
            if not rows:
                raise StoreError(f"the copy {copy} in Neo4j was updated by another projector in the meantime")
            write = _Write(tx, copy, NameVocabulary(rows[0]["labels"], ""), NameVocabulary(rows[0]["types"], RELATED))
            await write.all(batch, names)

    async def advance(self, copy: str, before: int, position: int) -> None:
        """Record that everything up to a position is written."""
        async with self._client.transaction() as tx:
            if not await tx.rows(query("advance"), copy=copy, before=before, position=position):
                raise StoreError(f"the copy {copy} in Neo4j was updated by another projector in the meantime")

    async def drop(self, copy: str) -> None:
        """Delete a copy."""
        for kind in ("chunk", "entity"):
            await self._client.run(f"DROP INDEX {_index_name(copy, kind)} IF EXISTS")
        for name in reversed(_ALL_NODES):
            await self._client.run(query("drop_copy", label=name), copy=copy)
        await self._client.run(query("forget_copy"), copy=copy)

    # --- comparing ----------------------------------------------------------------------------------------

    async def contents(self, copy: str, kind: ProjectedKind) -> AsyncIterator[dict[UUID, str]]:
        """The contents of a copy of one kind, page by page."""
        for found in await self._client.rows(query("copy"), copy=copy):
            self._labels, self._types = NameVocabulary(found["labels"], ""), NameVocabulary(found["types"], RELATED)
        after: str | None = ""
        while after is not None:
            plural = "communities" if kind == "community" else "entities" if kind == "entity" else f"{kind}s"
            rows = await self._client.rows(query(f"stored_{plural}"), copy=copy, after=after, limit=_PAGE)
            if rows:
                yield dict(pair for row in rows for pair in _stored(kind, row.data()))
            after = rows[-1]["id"] if len(rows) == _PAGE else None

    def expected(self, batch: ProjectedBatch, kind: ProjectedKind) -> dict[UUID, str]:
        """What a correct copy contains for these objects."""
        if kind == "document":
            return {one.id: _text(_document(one)) for one in batch.documents}
        if kind == "entity":
            return {one.entity.id: _text(_entity(one, self._labels)) for one in batch.entities}
        if kind == "relation":
            return {one.relation.id: _text(_relation(one, self._types)) for one in batch.relations}
        if kind == "community":
            return {one.id: _text(_community(one)) for one in batch.communities}
        return {one.id: _text(_chunk(one, batch)) for one in batch.chunks}


class _Write:
    """The statements that write one batch."""

    def __init__(self, tx: CypherTransaction, copy: str, labels: NameVocabulary, types: NameVocabulary) -> None:
        self._tx = tx
        self._copy = copy
        self._labels = labels
        self._types = types

    async def all(self, batch: ProjectedBatch, names: NameLookup) -> None:
        known = len(self._labels.known), len(self._types.known)
        await self._run("documents", rows=[_document(one) for one in batch.documents])
        await self._run("entities", rows=[_entity(one, self._labels) for one in batch.entities])
        members = [one for one in batch.entities if one.community]
        await self._run("memberships", rows=[{"id": str(m.entity.id), "community": str(m.community)} for m in members])
        await self._claim_names(batch.entity_of)
        await self._relations(batch.relations)
        await self._claim_pairs(batch)
        await self._chunks(batch)
        await self._run("communities", rows=[_community(one) for one in batch.communities])
        await self._vectors(batch)
        entities, relations = await self._with_sources(batch)
        await self._remove(batch, names)
        await self._run("sources_of_entities", ids=list(entities), most=_SOURCES)
        await self._run("sources_of_relations", ids=list(relations), most=_SOURCES)
        if known != (len(self._labels.known), len(self._types.known)):
            labels, types = list(self._labels.known), list(self._types.known)
            await self._tx.run(query("set_vocabulary"), copy=self._copy, labels=labels, types=types)

    async def _with_sources(self, batch: ProjectedBatch) -> tuple[set[str], set[str]]:
        """The entities and the relations whose chunks this batch changes, including those of chunks that it removes."""
        entities = {one.entity.id for one in batch.entities}
        entities |= {found for one in batch.chunks for name, _ in one.mentions if (found := batch.entity_of.get(name))}
        relations = {one.relation.id for one in batch.relations}
        relations |= {id_ for one in batch.chunks for s, t, _ in one.links if (id_ := batch.relation_of.get((s, t)))}
        gone = [str(id_) for id_ in batch.removed.get("chunk", ())]
        rows = await self._tx.rows(query("found_in_chunks"), copy=self._copy, ids=gone) if gone else []
        listed = {id_ for row in rows for id_ in row["entities"]}, {id_ for row in rows for id_ in row["relations"]}
        return {*map(str, entities), *listed[0]}, {*map(str, relations), *listed[1]}

    async def _run(self, name: str, /, **params: Any) -> None:
        """Run a statement over a list of rows or ids, unless the list is empty."""
        if next(iter(params.values())):
            await self._tx.run(query(name), copy=self._copy, **params)

    async def _claim_names(self, entity_of: Mapping[UUID, UUID]) -> None:
        await self._run("names", rows=[{"name": str(n), "entity": str(e)} for n, e in entity_of.items()])

    async def _relations(self, relations: Sequence[ProjectedRelation]) -> None:
        """Write relations, each under its type. Existing ones are replaced, because a type cannot be changed."""
        if not relations:
            return
        rows = [_relation(one, self._types) for one in relations]
        await self._run("ends", ids=list({end for row in rows for end in (row["source"], row["target"])}))
        ids = [row["id"] for row in rows]
        known = {row["id"] for row in await self._tx.rows(query("known_relations"), copy=self._copy, ids=ids)}
        await self._run("unlink_relations", rows=[row for row in rows if row["id"] in known])
        await self._run("relations", rows=rows)

    async def _claim_pairs(self, batch: ProjectedBatch) -> None:
        stated = {(source, target) for one in batch.chunks for source, target, _ in one.links}
        ends = {one.relation.id: one.relation for one in batch.relations}
        rows = []
        for pair in {*batch.relation_of, *stated}:
            relation = batch.relation_of.get(pair)
            rows.append(
                {
                    "pair": _pair(*pair),
                    "relation": relation and str(relation),
                    "source": relation and _end(ends.get(relation), "source", batch.entity_of.get(pair[0])),
                    "target": relation and _end(ends.get(relation), "target", batch.entity_of.get(pair[1])),
                }
            )
        await self._run("pairs", rows=rows)

    async def _chunks(self, batch: ProjectedBatch) -> None:
        texts = [{"id": str(c.id), "document": str(c.document), "n": c.n, "text": c.text} for c in batch.chunks]
        await self._run("chunks", rows=texts)
        mentions = [
            {"chunk": str(c.id), "name": str(name), "entity": str(batch.entity_of[name]), "emphasis": emphasis}
            for c in batch.chunks
            for name, emphasis in c.mentions
            if name in batch.entity_of
        ]
        await self._run("mentions", rows=mentions)
        links = [
            {"chunk": str(c.id), "pair": _pair(source, target), "strength": strength}
            for c in batch.chunks
            for source, target, strength in c.links
        ]
        await self._run("statements", rows=links)

    async def _vectors(self, batch: ProjectedBatch) -> None:
        for kind, statement in (("chunk", "vectors_of_chunks"), ("entity", "vectors_of_entities")):
            vectors = batch.vectors.get(kind, {})  # type: ignore[call-overload]  # kinds of this loop
            if vectors:
                text = query(statement, label=escaped(_vector_label(self._copy, kind)))
                rows = [{"id": str(id_), "vector": list(vector)} for id_, vector in vectors.items()]
                await self._tx.run(text, copy=self._copy, rows=rows)

    async def _remove(self, batch: ProjectedBatch, names: NameLookup) -> None:
        gone = {kind: [str(id_) for id_ in ids] for kind, ids in batch.removed.items()}
        for kind in ("document", "chunk", "community"):
            if gone.get(kind):
                await self._tx.run(query("drop_nodes", label=_NODES[kind]), copy=self._copy, ids=gone[kind])
        await self._run("drop_relations", ids=gone.get("relation", []))
        if entities := gone.get("entity"):
            # Their names may belong to other entities now, which a later change covers: mentions move with them.
            rows = await self._tx.rows(query("names_of_entities"), copy=self._copy, ids=entities)
            had = [UUID(row["name"]) for row in rows]
            now = await names.entities_of_names(had) if had else {}
            await self._claim_names(now)
            await self._run("drop_names", ids=[str(name) for name in had if name not in now])
            await self._tx.run(query("drop_nodes", label="Entity"), copy=self._copy, ids=entities)


def _end(relation: Relation | None, which: str, entity: UUID | None) -> str | None:
    found = getattr(relation, which) if relation else entity
    return str(found) if found else None


def _pair(source: UUID, target: UUID) -> str:
    """The id of a pair of names."""
    return f"{source}>{target}"


# --- what is stored -----------------------------------------------------------------------------------


def _document(one: ProjectedDocument) -> Row:
    metadata = json.dumps(one.metadata, ensure_ascii=False, sort_keys=True)
    return {"id": str(one.id), "uri": one.uri, "title": one.title, "metadata": metadata}


def _entity(one: ProjectedEntity, labels: NameVocabulary) -> Row:
    entity = one.entity
    properties = {
        "displayName": entity.name,
        "description": entity.description,
        "entity_type": entity.type,
        "aliases": list(entity.aliases),
        "summary": entity.summary,
        "mentions": entity.count,
        "degree": entity.degree,
        "emphasis": round(harmonic_emphasis(entity.emphasis), 6),
    }
    return {"id": str(entity.id), "label": labels.of(label(entity.type)), "properties": properties}


def _relation(one: ProjectedRelation, types: NameVocabulary) -> Row:
    relation = one.relation
    properties = {
        "source_name": relation.source_name,
        "target_name": relation.target_name,
        "relation_type": relation.type,
        "keywords": list(relation.keywords),
        "weight": relation.weight,
        "description": relation.description,
        "summary": relation.summary,
        "mentions": relation.count,
        "emphasis": round(harmonic_emphasis(relation.emphasis), 6),
    }
    return {
        "id": str(relation.id),
        "source": str(relation.source),
        "target": str(relation.target),
        "type": types.of(relation_type(_type_word(relation))),
        "properties": properties,
    }


def _type_word(relation: Relation) -> str:
    """The word for a relation: its type, or else its description if that is short, as in triples supplied by the
    user."""
    if relation.type:
        return relation.type
    said = relation.description
    return said if len(said) <= _SHORT and "\n" not in said else ""


def _community(one: ProjectedCommunity) -> Row:
    properties = {"level": one.level, "size": one.size, "title": one.title, "summary": one.summary}
    return {
        "id": str(one.id),
        "parent": str(one.parent) if one.parent else None,
        "members": sorted(map(str, one.members)),
        "properties": properties,
    }


def _chunk(one: ProjectedChunk, batch: ProjectedBatch) -> Row:
    mentions = [[str(n), str(batch.entity_of[n]), emphasis] for n, emphasis in one.mentions if n in batch.entity_of]
    relations = ((s, t, batch.relation_of.get((s, t)), strength) for s, t, strength in one.links)
    statements = [[_pair(s, t), relation and str(relation), strength] for s, t, relation, strength in relations]
    return {
        "text": one.text,
        "n": one.n,
        "document": str(one.document),
        "parents": [[str(one.document), one.n]],
        "mentions": sorted(mentions),
        "statements": sorted(statements),
    }


def _stored(kind: ProjectedKind, row: Row) -> Iterable[tuple[UUID, str]]:
    """The stored objects in a row of a comparison, in the same form as `expected`."""
    id_ = row.pop("id")
    if kind == "relation":
        for type_, target, properties in row["stored"]:
            if type_:
                own = properties.pop("id")
                properties.pop("source_id", None)
                whole = {"id": own, "source": id_, "target": target, "type": type_, "properties": properties}
                yield UUID(own), _text(whole)
        return
    if kind == "document":
        yield UUID(id_), _text({"id": id_, **row["stored"]})
    elif kind == "entity":
        stored = {k: v for k, v in row["stored"].items() if k not in ("id", "copy", "embedding", "source_id", "label")}
        given = sorted(name for name in row["labels"] if name != "Entity" and not name.startswith("Vectors_"))
        yield UUID(id_), _text({"id": id_, "label": "".join(given), "properties": stored})
    elif kind == "community":
        stored = {k: v for k, v in row["stored"].items() if k not in ("id", "copy")}
        parent = row["parents"][0] if row["parents"] else None
        yield UUID(id_), _text({"id": id_, "parent": parent, "members": sorted(row["members"]), "properties": stored})
    else:
        yield UUID(id_), _text({**row, "mentions": sorted(row["mentions"]), "statements": sorted(row["statements"])})


def _text(stored: Row) -> str:
    return json.dumps(stored, ensure_ascii=False, sort_keys=True)


# --- indexes of vectors -------------------------------------------------------------------------------


def _vector_label(copy: str, kind: str) -> str:
    """The label of the nodes in one copy's index: a vector index cannot be restricted to one copy in another way."""
    return f"Vectors_{kind}_{copy}"


def _index_name(copy: str, kind: str) -> str:
    return f"trueweave_{kind}_vectors_{copy}"


def _vector_index(copy: str, kind: str, dimensions: int, function: str) -> str:
    return (
        f"CREATE VECTOR INDEX {_index_name(copy, kind)} IF NOT EXISTS FOR (n:{escaped(_vector_label(copy, kind))}) "
        "ON (n.embedding) OPTIONS {indexConfig: {"
        f"`vector.dimensions`: {int(dimensions)}, `vector.similarity_function`: '{function}'}}}}"
    )
