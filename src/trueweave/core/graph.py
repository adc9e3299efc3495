"""The graph as readers see it: entities, relations, the rules about their names, and communities. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from trueweave.core.record import NameKey

RuleKind = Literal["merge", "split", "rename", "retype", "describe", "suppress", "add"]
Metric = Literal["cosine", "l2", "inner"]
VectorKind = Literal["chunk", "entity", "relation", "community"]
Written = Literal["written", "stale", "unwritten", "small"]
VECTOR_KINDS: tuple[VectorKind, ...] = ("chunk", "entity", "relation", "community")


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing, as all live mentions of its names describe it; a long description in short, where a model wrote it."""

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
    """What all live links from one entity to another say together. `weight` is the sum of their strengths.

    Both ends are named as those links most often write them. `type` is the keyword that most of them give first, in
    lower case; empty where none has a keyword.
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
        """Whether it leads from its source to its target. One that says nothing, such as sharing a sentence, does
        not."""
        return bool(self.type or self.keywords or self.description or self.summary)


@dataclass(frozen=True, slots=True)
class Rule:
    """A person's decision about names and facts. Part of the settings: it survives any rebuild and can be undone.

    With a `target` it is about the relation from the entity of its one name to that of the target. `by` is who made it,
    as far as that was said.
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
    """What stands around a name in a document."""

    uri: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SuggestedName:
    """One of two names that may be one thing: its entity now, how often it is mentioned, and where."""

    name: NameKey
    entity: UUID
    mentions: int
    passages: tuple[NamePassage, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two names that may be one thing, for a person to decide, and how alike they are in per cent.

    The id stays the same; the number is the place in the last list.
    """

    id: UUID
    number: int
    score: float
    one: SuggestedName
    other: SuggestedName


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found by its vector. A smaller distance is nearer."""

    id: UUID
    distance: float


@dataclass(frozen=True, slots=True)
class Level:
    """One level of communities, 0 being the outermost: how many there are, of which size, and what is written of them.

    `small` ones have too few members to be written about.
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
    """The communities of a workspace as a whole: how and when they were found, and how well they part the graph.

    `alone` entities have no relation, and so are in no community. `modularity` is of the outermost level. `behind`: the
    graph has changed since.
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
    """Entities that hang together, named by those that are related to most others.

    The id follows it through changes of its members. `written` says what there is of a report, `changed` when its
    members, their relations or what is said of them last did.
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
class Finding:
    """One thing that a report says, and what it rests on: entities, relations, and chunks that speak of them."""

    summary: str
    text: str
    entities: tuple[UUID, ...] = ()
    relations: tuple[UUID, ...] = ()
    chunks: tuple[UUID, ...] = ()

    @property
    def rests_on_something(self) -> bool:
        return bool(self.entities or self.relations)


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """What is written about a community.

    `rating` says from 0 to 10 how much it matters, `reason` why. `author` is the model that wrote it; without one it is
    extractive, made of names and sentences of the documents, and `problem` says why, where a model was to write it.
    `stale`: the community has changed since.
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
        """All that it says, for a reader."""
        parts = (f"{one.summary}\n{one.text}".strip() for one in self.findings)
        return "\n\n".join((self.summary, *parts))


@dataclass(frozen=True, slots=True)
class RetiredCommunity:
    """A community that is no more, and since when."""

    id: UUID
    level: int
    size: int
    title: str
    gone: datetime


@dataclass(frozen=True, slots=True)
class CommunityChanges:
    """What finding communities anew has changed: how many came, have other contents, are as they were, and went."""

    came: int
    changed: int
    same: int
    gone: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One line in which the index and its rebuild disagree; None where one of them has nothing."""

    section: str
    key: str
    index: str | None
    rebuilt: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found: the digests of what was compared, and the first differences.

    What waits to be settled is not in the view yet, and was not compared: so many documents, names after a change of
    rules, and texts that have to be searched for names. `left_out` are the sections that cannot be compared for that
    reason, or because communities were found for an earlier graph. `changed`: the view changed meanwhile, so that the
    two cannot be compared.
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
        return self.digest == self.rebuilt and not self.differences and not self.changed
