"""The graph as readers see it: entities, relations, the rules about their names, and communities. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from trueweave.core.errors import NoGraphVectors
from trueweave.core.record import NameKey

RuleKind = Literal["merge", "split", "rename", "retype", "describe", "suppress", "add"]
Metric = Literal["cosine", "l2", "inner"]
VectorKind = Literal["chunk", "entity", "relation", "community"]
Written = Literal["written", "stale", "unwritten", "small"]
VECTOR_KINDS: tuple[VectorKind, ...] = ("chunk", "entity", "relation", "community")
GRAPH_KINDS: tuple[VectorKind, ...] = ("entity", "relation")
GraphVectors = Literal["kept", "none", "making"]
"""Whether a workspace has vectors of entities and relations; `making`: some are missing yet."""


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity, as all current mentions of its names describe it; a long description is summarised, if a model did
    so."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    emphasis: tuple[int, ...]
    degree: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """The combination of all current links from one entity to another. `weight` is the sum of their strengths.

    Both ends have the names that those links use most often. `type` is the most common first keyword, in lower case;
    empty if none has a keyword.
    """

    id: UUID
    source: UUID
    target: UUID
    source_name: str
    target_name: str
    description: str
    keywords: tuple[str, ...]
    weight: float
    count: int
    emphasis: tuple[int, ...]
    summary: str = ""
    type: str = ""

    @property
    def directed(self) -> bool:
        """Whether it has a direction. A relation without a statement, such as sharing a sentence, has none."""
        return bool(self.type or self.keywords or self.description or self.summary)


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity in a drawing of the graph, without its description. `count` is the number of its mentions, `degree`
    that of its relations."""

    id: UUID
    name: str
    type: str
    count: int
    degree: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation in a drawing of the graph, without its description."""

    id: UUID
    source: UUID
    target: UUID
    type: str
    weight: float


@dataclass(frozen=True, slots=True)
class GraphPart:
    """A part of the graph to draw: some entities, and the heaviest relations between them. `entities` is the number of
    entities that there are, and `relations` that of the relations between those in `nodes`."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    entities: int
    relations: int


@dataclass(frozen=True, slots=True)
class MapCircles:
    """Communities on the map that are drawn as circles, the largest first, as columns of equal length, which are half
    as large as rows. Titles are those of reports, or else the name of the member with the most relations."""

    ids: tuple[UUID, ...]
    titles: tuple[str, ...]
    sizes: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    radius: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MapEntities:
    """Entities on the map, those with the most relations first, as columns."""

    ids: tuple[UUID, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    degrees: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MapRelations:
    """Relations on the map, the heaviest first, as columns. Source and target are numbers of entities, from 0."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    weight: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MapLinks:
    """Relations between the members of two circles as one, the heaviest first, as columns: the numbers of both circles,
    from 0, and how many relations there are with which weight in all."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    relations: tuple[int, ...]
    weight: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class GraphMap:
    """A window of the map of the graph, which lies within the circle of radius 1 around 0, 0.

    `found` is when its communities were detected; `behind`: the graph has changed since. `total` entities are on the
    map, `entities` of them in the window, in circles or not. `circles_total` is the number of circles in the window,
    and `relations_total` that of the relations between the entities in `nodes`. Entities that have been removed are not
    counted; `links` has relations as they were when the communities were detected.
    """

    found: datetime
    behind: bool
    total: int
    entities: int
    circles_total: int
    relations_total: int
    circles: MapCircles
    nodes: MapEntities
    edges: MapRelations
    links: MapLinks


@dataclass(frozen=True, slots=True)
class TypeCount:
    """A type, and the number of entities or relations that have it. The type is empty for those without one."""

    type: str
    count: int


@dataclass(frozen=True, slots=True)
class GraphTypes:
    """The types of the entities and of the relations of a graph, the most frequent first."""

    entities: tuple[TypeCount, ...]
    relations: tuple[TypeCount, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A person's decision about names and facts. Part of the settings: it survives any rebuild and can be undone.

    With a `target` it is about the relation from the entity of its one name to that of the target. `by` is the author,
    if given.
    """

    id: UUID
    kind: RuleKind
    names: tuple[NameKey, ...]
    label: str = ""
    target: NameKey | None = None
    by: str = ""
    made: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NamePassage:
    """The text around a name in a document."""

    uri: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SuggestedName:
    """One of two names that may be one entity: its current entity, the number of mentions, and where they are."""

    name: NameKey
    entity: UUID
    mentions: int
    passages: tuple[NamePassage, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two names that may be one entity, for a person to decide, with their similarity in per cent.

    The id is stable; the number is the position in the last list.
    """

    id: UUID
    number: int
    score: float
    one: SuggestedName
    other: SuggestedName


@dataclass(frozen=True, slots=True)
class EntityChange:
    """An entity before and after a change. None before: it is new. None after: it is removed or merged."""

    before: Entity | None
    after: Entity | None


@dataclass(frozen=True, slots=True)
class RelationChange:
    """A relation before and after a change. None before: it is new. None after: it is removed."""

    before: Relation | None
    after: Relation | None


@dataclass(frozen=True, slots=True)
class RulePreview:
    """What a rule would change if it were made now: entities, those with the most mentions first, and relations, the
    heaviest first. Only some are listed; `entities_changed` and `relations_changed` count all of them. Entities that
    only lose or gain relations are not listed, and `neighbours_changed` counts them."""

    entities: tuple[EntityChange, ...]
    relations: tuple[RelationChange, ...]
    entities_changed: int
    relations_changed: int
    neighbours_changed: int


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found by its vector. A smaller distance is nearer."""

    id: UUID
    distance: float


@dataclass(frozen=True, slots=True)
class Level:
    """One level of communities, 0 being the outermost: their number, sizes and reports.

    `small` communities have too few members for a report.
    """

    level: int
    communities: int
    members: int
    largest: int
    written: int
    stale: int
    small: int


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The communities of a workspace as a whole: how and when they were detected, and how well they divide the graph.

    `alone` entities have no relation, and so are in no community. `modularity` is that of the outermost level.
    `behind`: the graph has changed since.
    """

    library: str
    seed: int
    resolution: float
    most: int
    entities: int
    alone: int
    modularity: float
    found: datetime
    behind: bool
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Community:
    """A group of closely related entities, named after the best connected of them.

    The id stays the same when its members change. `written` is the state of its report, `changed` the time when its
    members, their relations or descriptions last changed.
    """

    id: UUID
    level: int
    parent: UUID | None
    names: tuple[str, ...]
    size: int
    relations: int
    parts: int
    title: str
    rating: float | None
    written: Written
    since: datetime
    changed: datetime


@dataclass(frozen=True, slots=True)
class CommunityTree:
    """The largest communities within another, or of all, down to some level; the one around a community comes before
    it. `total` is how many there are, and `path` leads from the outermost community to the one that they are within."""

    path: tuple[Community, ...]
    communities: tuple[Community, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a report, with its support: entities, relations, and chunks that mention them."""

    summary: str
    text: str
    entities: tuple[UUID, ...] = ()
    relations: tuple[UUID, ...] = ()
    chunks: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """The report on a community.

    `rating` is its importance from 0 to 10, with the `reason`. `author` is the model that wrote it; without one the
    report is extractive, made of names and sentences of the documents, and `problem` is the reason if a model should
    have written it. `stale`: the community has changed since.
    """

    title: str
    summary: str
    rating: float
    reason: str
    findings: tuple[Finding, ...]
    author: str = ""
    problem: str = ""
    stale: bool = False
    made: datetime | None = None

    @property
    def text(self) -> str:
        """The whole report as text."""
        parts = (f"{one.summary}\n{one.text}".strip() for one in self.findings)
        return "\n\n".join((self.summary, *parts))


@dataclass(frozen=True, slots=True)
class RetiredCommunity:
    """A community that was removed, and when."""

    id: UUID
    level: int
    size: int
    title: str
    removed: datetime


@dataclass(frozen=True, slots=True)
class CommunityChanges:
    """The changes since communities were last detected: the number added, changed, unchanged, and removed."""

    added: int
    changed: int
    unchanged: int
    removed: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One line in which the index and its rebuild differ; None if it is missing from one of them."""

    section: str
    key: str
    index: str | None
    rebuilt: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of `verify`: the digests of both sides, and the first differences.

    Data that is not indexed yet was not compared: the number of documents, of names after a change of rules, and of
    texts to be searched for names. `left_out` are the sections that cannot be compared for that reason, or because
    communities were detected for an earlier graph. `changed`: the view changed during the comparison, so the two cannot
    be compared.
    """

    digest: str
    rebuilt: str
    differences: tuple[Difference, ...]
    waiting_documents: int = 0
    waiting_names: int = 0
    waiting_texts: int = 0
    left_out: tuple[str, ...] = ()
    changed: bool = False

    @property
    def exact(self) -> bool:
        """Whether the index is what a rebuild from the documents gives."""
        return self.digest == self.rebuilt and not self.differences and not self.changed


def check_kept(graph: GraphVectors) -> None:
    """Raise NoGraphVectors unless all entities and relations have a vector."""
    if graph == "none":
        raise NoGraphVectors(
            "this workspace has no vectors of entities and relations, which this needs. Run `trueweave vectors make` "
            "to make them, or use a method that needs none: `trueweave methods` lists them."
        )
    if graph == "making":
        raise NoGraphVectors(
            "the vectors of entities and relations are not complete, and this needs them. Run `trueweave vectors make` "
            "to make the missing ones, or use a method that needs none: `trueweave methods` lists them."
        )
