"""Copies of the view in other stores, and the changes that they follow. All are immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from trueweave.core.graph import Entity, Metric, Relation, VectorKind

StoreName = Literal["neo4j", "chroma"]
ProjectedKind = Literal["document", "chunk", "entity", "relation", "community"]
ChangeKind = Literal["document", "chunk", "entity", "relation", "community", "report", "space"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the outbox: these items were written or removed by one transaction. A report has the id of its
    community. `space` has no ids: all vectors have changed."""

    position: int
    kind: ChangeKind
    removed: bool
    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer of the outbox: the last position that it has applied, when that was, and how many entries are left."""

    name: str
    position: int
    seen: datetime
    behind: int


@dataclass(frozen=True, slots=True)
class ProjectedDocument:
    """A document as other stores copy it."""

    id: UUID
    uri: str
    title: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProjectedChunk:
    """A chunk as other stores copy it: each (name, emphasis) that it mentions, and each (source, target, strength) that
    it links. These are names, because a name may move to another entity without a change to the chunk."""

    id: UUID
    document: UUID
    n: int
    text: str
    mentions: tuple[tuple[UUID, int], ...]
    links: tuple[tuple[UUID, UUID, float], ...]


@dataclass(frozen=True, slots=True)
class ProjectedEntity:
    """An entity as other stores copy it, with the names that it has and the smallest community that it is in."""

    entity: Entity
    names: tuple[UUID, ...]
    community: UUID | None = None


@dataclass(frozen=True, slots=True)
class ProjectedRelation:
    """A relation as other stores copy it, with the pairs of names that it is made of."""

    relation: Relation
    pairs: tuple[tuple[UUID, UUID], ...]


@dataclass(frozen=True, slots=True)
class ProjectedCommunity:
    """A community as other stores copy it. `members` are those that are in no smaller one."""

    id: UUID
    level: int
    parent: UUID | None
    size: int
    title: str
    summary: str
    members: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ProjectedBatch:
    """What a projection writes in one batch: the current items, and those to remove.

    `entity_of` has the entity of each name, and `relation_of` the relation of each pair of names, for the names in this
    batch. A name or pair that belongs to nothing is missing from them.
    """

    documents: Sequence[ProjectedDocument] = ()
    chunks: Sequence[ProjectedChunk] = ()
    entities: Sequence[ProjectedEntity] = ()
    relations: Sequence[ProjectedRelation] = ()
    communities: Sequence[ProjectedCommunity] = ()
    entity_of: Mapping[UUID, UUID] = field(default_factory=dict)
    relation_of: Mapping[tuple[UUID, UUID], UUID] = field(default_factory=dict)
    vectors: Mapping[VectorKind, Mapping[UUID, Sequence[float]]] = field(default_factory=dict)
    removed: Mapping[ProjectedKind, Sequence[UUID]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of items written or removed."""
        written = self.documents, self.chunks, self.entities, self.relations, self.communities
        return sum(map(len, (*written, *self.removed.values())))


@dataclass(frozen=True, slots=True)
class ProjectionCopy:
    """One copy of a workspace in another store: its id, the workspace, and the embedding space of its vectors (the
    model, its dimensions and the metric), if there are any."""

    id: str
    workspace: int
    space: tuple[str, int, Metric] | None = None


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """The state of the copy of a workspace in another store.

    `behind` changes are not applied yet, the oldest from `oldest`. `live`: a copy can answer questions; `building`: one
    is being built. `running`: a projector is working on it. `problem` is the reason if it cannot continue.
    """

    store: StoreName
    live: bool
    building: bool
    running: bool
    position: int
    behind: int
    oldest: datetime | None
    applied: datetime | None
    switched: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class ProjectionDifference:
    """One difference between a copy and the record; None if the item is missing from one of them."""

    kind: ProjectedKind
    id: UUID
    record: str | None
    copy: str | None
