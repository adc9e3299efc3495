"""Trueweave: the synchronous API, derived from AsyncTrueweave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.answering.conversations import Conversation
from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.core.access import AccessRule
from trueweave.core.answers import Answer, Comparison
from trueweave.core.bench import BenchComparison, BenchOutcome, BenchPassage, BenchQuestion, BenchRun, FoundBy
from trueweave.core.checks import HealthCheck
from trueweave.core.conflicts import Conflict
from trueweave.core.diff import IndexDiff
from trueweave.core.events import Added, Listener, Progress, Refused, Reported, StepListener, ignore, unheard, unseen
from trueweave.core.evidence import (
    DocumentDetails,
    DocumentOutline,
    EntityDetails,
    EntityMention,
    EntityPath,
    EntitySpan,
    Evidence,
    Filter,
    Hits,
    MentionCounts,
    MethodInfo,
    Passage,
    RelationStatement,
)
from trueweave.core.graph import (
    Community,
    CommunityChanges,
    CommunityReport,
    CommunityTree,
    Entity,
    GraphMap,
    GraphNode,
    GraphPart,
    GraphTypes,
    Hierarchy,
    Hit,
    Relation,
    RetiredCommunity,
    Rule,
    RuleKind,
    RulePreview,
    Suggestion,
    VectorKind,
    Verdict,
)
from trueweave.core.history import DocumentVersion, HistoryStatus
from trueweave.core.jobs import (
    Activity,
    BulkReport,
    DocumentInfo,
    DocumentOrder,
    DocumentState,
    Duplicate,
    FailedDocument,
    FailedWork,
    IngestJob,
    IngestProgress,
    ListedState,
    Note,
    OutOfDate,
    Status,
    Swept,
    SyncPlan,
)
from trueweave.core.model_calls import ExtractionTrial, Message, ModelNames
from trueweave.core.money import (
    Budget,
    EmbeddingEstimate,
    Estimate,
    ReportEstimate,
    SpendBy,
    Spent,
    SpentOn,
    SpentOnDay,
)
from trueweave.core.parameters import takes, values
from trueweave.core.projections import Change, ProjectionDifference, ProjectionStatus, StoreName
from trueweave.core.protocols import (
    ChangeReaders,
    Chunker,
    Embedder,
    Extractor,
    LangChainChatModel,
    LangChainEmbeddings,
    StreamingLLM,
    Vectors,
)
from trueweave.core.record import Document, Link, Mention, NamedFile, NameKey, ResolutionSettings, Source
from trueweave.core.records import Replay
from trueweave.core.settings import Settings
from trueweave.core.sources import DocumentSource
from trueweave.core.waiting import WaitingCalls, WaitingGroup, awaited, wait_for
from trueweave.core.watches import Alert, Watch, WatchOptions
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.formats.pictures import GraphPicture
from trueweave.ingest.own import MakeChunker, MakeExtractor
from trueweave.retrieval.context import Method


class _Waiting(WaitingCalls[AsyncTrueweave]):
    @property
    def workspace(self) -> int:
        """The number of the workspace."""
        return self._trueweave.workspace.id


class _Group(WaitingGroup[AsyncTrueweave]):
    def _beside(self, trueweave: AsyncTrueweave) -> Trueweave:
        made = self._waiting._beside(trueweave)  # noqa: SLF001 (a part of it)
        assert isinstance(made, Trueweave), "a group is of a Trueweave"
        return made


# --- written by `make sync` from trueweave/engine: what is below is changed there ---


class GraphGroup(_Group):
    """The graph of a workspace: `trueweave.graph`.

    With a `filter`, what is shown is computed from the documents that pass it, as in a workspace that has only these:
    names, types, descriptions, counts, degrees and weights. Only the order of what `search_entities` and
    `search_relations` find, and so what is first if more match than the limit, may depend on all documents, because
    vectors are made from all. Lists of all entities or relations, and searches by words, then read all names or
    relations in these documents; if there are more than 200,000, NotForRestricted is raised."""

    def entities(self, limit: int = 50, *, type: str = "", filter: Filter | None = None) -> list[Entity]:
        """The most mentioned entities, optionally of one type."""
        return self._wait_for(lambda trueweave: trueweave.graph.entities(limit, type=type, filter=filter))

    def entity(
        self, entity: UUID | str | NameKey, *, relations: int = 10, passages: int = 5, filter: Filter | None = None
    ) -> EntityDetails:
        """An entity by its id or one of its names: its description, its heaviest relations, and passages that mention
        it.

        A name matches whatever its case, accents or article. Raises UnknownEntity, with similar names, if no entity has
        the name, and AmbiguousName, listing the entities, if several do: pass a NameKey to say which type is meant.
        """
        return self._wait_for(
            lambda trueweave: trueweave.graph.entity(entity, relations=relations, passages=passages, filter=filter)
        )

    def mentions(
        self, entity: UUID | str | NameKey, *, document: str = "", limit: int = 50, filter: Filter | None = None
    ) -> list[EntityMention]:
        """The mentions of an entity, given by id or name, each in its sentence: by the uri of the document, then in
        order; optionally only those in one `document`. A mention that several chunks contain is listed once for each of
        them. Raises UnknownEntity if there is no such entity."""
        return self._wait_for(
            lambda trueweave: trueweave.graph.mentions(entity, document=document, limit=limit, filter=filter)
        )

    def mention_counts(
        self, entity: UUID | str | NameKey, *, limit: int = 100, filter: Filter | None = None
    ) -> MentionCounts:
        """How often documents mention an entity, given by id or name: in all, and in each of the `limit` documents that
        mention it most. Raises UnknownEntity if there is no such entity."""
        return self._wait_for(lambda trueweave: trueweave.graph.mention_counts(entity, limit=limit, filter=filter))

    def search_entities(
        self, text: str, limit: int = 10, *, type: str = "", filter: Filter | None = None
    ) -> Hits[Entity]:
        """The entities that match a text best: by meaning and by the words of their names, or by words alone if they
        have no vectors; `by` says which."""
        return self._wait_for(lambda trueweave: trueweave.graph.search_entities(text, limit, type=type, filter=filter))

    def complete(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[GraphNode]:
        """The entities with a name that begins with a text, then those with a name whose last word does, each most
        mentioned first. Case, accents and a leading article make no difference.

        Meant for suggestions while somebody types: it uses an index, and examines at most 2,000 names of each kind."""
        return self._wait_for(lambda trueweave: trueweave.graph.complete(text, limit, filter=filter))

    def search_relations(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> Hits[Relation]:
        """The relations that match a text best: by meaning and by the words of their names, keywords and descriptions,
        or by words alone if they have no vectors; `by` says which."""
        return self._wait_for(lambda trueweave: trueweave.graph.search_relations(text, limit, filter=filter))

    def relations(
        self, *entities: UUID | str | NameKey, limit: int = 50, filter: Filter | None = None
    ) -> list[Relation]:
        """The relations of these entities, given by id or name, heaviest first; of all entities if none are given."""
        return self._wait_for(lambda trueweave: trueweave.graph.relations(*entities, limit=limit, filter=filter))

    def relation(self, id: UUID, *, filter: Filter | None = None) -> Relation:
        """The relation with this id. Raises UnknownRelation if there is none: merging or splitting an entity gives its
        relations other ids."""
        return self._wait_for(lambda trueweave: trueweave.graph.relation(id, filter=filter))

    def statements(self, relation: UUID, *, limit: int = 50, filter: Filter | None = None) -> list[RelationStatement]:
        """The statements of the relation with this id, each in its sentence: by the uri of the document, then in order.
        Raises UnknownRelation if there is no such relation."""
        return self._wait_for(lambda trueweave: trueweave.graph.statements(relation, limit=limit, filter=filter))

    def conflicts(self, limit: int = 50, *, statements: int = 3, filter: Filter | None = None) -> list[Conflict]:
        """Where documents contradict each other: entities of which they state several values of a relation that has
        only one, according to the setting `functional_relations`. Each value has statements of up to `statements`
        documents, the latest first. Conflicts are sorted by the name of the entity; without the setting there are none.

        Everything that documents state is read, so this costs more the larger the workspace is.
        """
        return self._wait_for(lambda trueweave: trueweave.graph.conflicts(limit, statements=statements, filter=filter))

    def relation_passages(
        self, *relations: UUID, each: int = 1, filter: Filter | None = None
    ) -> dict[UUID, tuple[Passage, ...]]:
        """For each of these relations, given by their ids, up to `each` passages that state it most clearly. Relations
        that do not exist are left out."""
        return self._wait_for(lambda trueweave: trueweave.graph.relation_passages(*relations, each=each, filter=filter))

    def neighbours(
        self, *entities: UUID | str | NameKey, hops: int = 1, limit: int = 50, filter: Filter | None = None
    ) -> list[Entity]:
        """The entities within `hops` relations of these, which are given by id or name: nearer ones first, then those
        more heavily related."""
        return self._wait_for(
            lambda trueweave: trueweave.graph.neighbours(*entities, hops=hops, limit=limit, filter=filter)
        )

    def path(
        self,
        start: UUID | str | NameKey,
        end: UUID | str | NameKey,
        *,
        longest: int = 6,
        passages: int = 2,
        filter: Filter | None = None,
    ) -> EntityPath | None:
        """A shortest path from one entity to another over relations in either direction, with passages that state each.
        Of several paths of the same length, it is the one whose weakest relation is heaviest.

        The search is bounded: it follows only the heaviest relations of each entity. Returns None if it finds no path
        of at most `longest` relations.
        """
        return self._wait_for(
            lambda trueweave: trueweave.graph.path(start, end, longest=longest, passages=passages, filter=filter)
        )

    def subgraph(
        self,
        entities: Sequence[UUID] = (),
        *,
        chunks: Sequence[UUID] = (),
        limit: int = 100,
        filter: Filter | None = None,
    ) -> GraphPart:
        """A part of the graph to draw: these entities and those that these chunks mention, given by their ids, and the
        heaviest relations between them. It has up to `limit` entities: the given ones first, then those with the most
        relations. Ids that do not exist are left out."""
        return self._wait_for(
            lambda trueweave: trueweave.graph.subgraph(entities, chunks=chunks, limit=limit, filter=filter)
        )

    def around(
        self,
        *entities: UUID | str | NameKey,
        hops: int = 1,
        exclude: Sequence[UUID] = (),
        types: Sequence[str] = (),
        min_weight: float = 0.0,
        document: str = "",
        limit: int = 20,
        filter: Filter | None = None,
    ) -> GraphPart:
        """A part of the graph to draw: these entities, given by id or name, the neighbours of each with the heaviest
        relations, and the relations between them. With `hops`, the neighbours of these neighbours as well, and so on.
        It has up to `limit` neighbours of each entity, and up to 500 entities; `entities` says how many there are.

        Optionally only neighbours of some `types`, with a relation of at least `min_weight`, or with a relation that
        the document with a uri states. Neighbours to `exclude`, such as those already drawn, are given by their
        ids."""
        return self._wait_for(
            lambda trueweave: trueweave.graph.around(
                *entities,
                hops=hops,
                exclude=exclude,
                types=types,
                min_weight=min_weight,
                document=document,
                limit=limit,
                filter=filter,
            )
        )

    def map(
        self,
        x0: float = -1.0,
        y0: float = -1.0,
        x1: float = 1.0,
        y1: float = 1.0,
        *,
        zoom: float = 400.0,
        limit: int = 2000,
        relations: int = 4000,
    ) -> GraphMap | None:
        """A window of the map of the graph, between two corners, with `zoom` pixels for each unit of length:
        communities that are small at this zoom as circles, and the entities of others. It has up to `limit` circles and
        entities, at most 50,000, and up to `relations` between them, at most 200,000.

        The map is laid out when communities are detected. Returns None if that has not been done.
        """
        return self._wait_for(
            lambda trueweave: trueweave.graph.map(x0, y0, x1, y1, zoom=zoom, limit=limit, relations=relations)
        )

    def types(self, limit: int = 100, *, filter: Filter | None = None) -> GraphTypes:
        """The types of the entities and of the relations, each with their number, the most frequent first."""
        return self._wait_for(lambda trueweave: trueweave.graph.types(limit, filter=filter))

    def picture(
        self,
        entity: UUID | str | NameKey | None = None,
        *,
        to: UUID | str | NameKey | None = None,
        community: UUID | str | None = None,
        hops: int = 1,
        longest: int = 6,
        limit: int = 100,
        filter: Filter | None = None,
    ) -> GraphPicture:
        """A picture of an entity and its neighbours, of the path from it `to` another, or of a community. It is
        displayed inline in a notebook; `save` writes it as an HTML page or an SVG drawing.

        It shows up to `limit` entities, at most 500; its `note` says what was left out.
        """
        return self._wait_for(
            lambda trueweave: trueweave.graph.picture(
                entity, to=to, community=community, hops=hops, longest=longest, limit=limit, filter=filter
            )
        )

    def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return self._wait_for(lambda trueweave: trueweave.graph.nearest(kind, vector, limit))

    def export(self, path: str | Path) -> None:
        """Export the workspace; the file extension selects the format. .json, .graphml, .parquet (a folder), .nt, .ttl
        and .cypher get the graph with its communities; .jsonl gets the annotated documents, to be imported again."""
        self._wait_for(lambda trueweave: trueweave.graph.export(path))

    def to_networkx(self) -> Any:
        """The whole graph in memory as a `networkx.DiGraph`: entities by id, and the relations between them."""
        return self._wait_for(lambda trueweave: trueweave.graph.to_networkx())

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """The changes after a position in the outbox, in order, for a projection to follow."""
        return self._wait_for(lambda trueweave: trueweave.graph.changes(after, limit))


class CommunitiesGroup(_Group):
    """The communities of a workspace: `trueweave.communities`."""

    def find(self) -> CommunityChanges:
        """Find the communities of the graph as currently indexed. Returns what changed.

        Nothing is done if the graph has not changed. No model is called: `write_reports` does that.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.find())

    def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        return self._wait_for(lambda trueweave: trueweave.communities.estimate_reports())

    def estimate_report(self, community: UUID) -> ReportEstimate:
        """What `write_report` would take. Nothing is sent to any model."""
        return self._wait_for(lambda trueweave: trueweave.communities.estimate_report(community))

    def write_report(self, community: UUID) -> CommunityReport:
        """Write the report on one community again, whether or not it is stale. If the model fails, the report that was
        there stays.

        Raises UnknownCommunity if the community does not exist, or was replaced while the report was written.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.write_report(community))

    def write_reports(self, listener: Listener = ignore) -> Reported:
        """Write reports on all communities that have none, or a stale one. Returns how many were written.

        Without a language model, names and sentences are picked out of the documents. Like `add`, you can stop it at
        any time and run it again, and other workers of this workspace continue it.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.write_reports(listener))

    def request_reports(self) -> None:
        """Queue reports for all communities that have none, or a stale one, and return at once: workers write them."""
        self._wait_for(lambda trueweave: trueweave.communities.request_reports())

    def hierarchy(self) -> Hierarchy | None:
        """An overview of the communities, level by level; None if none have been looked for yet."""
        return self._wait_for(lambda trueweave: trueweave.communities.hierarchy())

    def select(
        self, level: int | None = None, *, within: UUID | None = None, since: datetime | None = None, limit: int = 50
    ) -> list[Community]:
        """Communities, largest first: of a level, directly within another, or changed since a time."""
        return self._wait_for(
            lambda trueweave: trueweave.communities.select(level, within=within, since=since, limit=limit)
        )

    def tree(self, within: UUID | None = None, *, depth: int = 2, limit: int = 500) -> CommunityTree:
        """The largest communities within another, or of all, of the outermost `depth` levels there."""
        return self._wait_for(lambda trueweave: trueweave.communities.tree(within, depth=depth, limit=limit))

    def retired(self, since: datetime, limit: int = 50) -> list[RetiredCommunity]:
        """Communities that have ceased to exist since a time, latest first."""
        return self._wait_for(lambda trueweave: trueweave.communities.retired(since, limit))

    def get(self, id: UUID | str) -> Community:
        """The community with this id, or the only one whose id begins with it."""
        return self._wait_for(lambda trueweave: trueweave.communities.get(id))

    def report(self, community: UUID) -> CommunityReport | None:
        """The report on a community; None if there is none."""
        return self._wait_for(lambda trueweave: trueweave.communities.report(community))

    def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        return self._wait_for(lambda trueweave: trueweave.communities.members(community, limit))


class RulesGroup(_Group):
    """The rules of a workspace: `trueweave.rules`."""

    def merge(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as one entity from now on, whatever documents are added."""
        return self._wait_for(lambda trueweave: trueweave.rules.merge(*names, by=by, id=id))

    def split(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as an entity of their own, apart from all similar names."""
        return self._wait_for(lambda trueweave: trueweave.rules.split(*names, by=by, id=id))

    def rename(self, name: NameKey, label: str, *, by: str = "", id: UUID | None = None) -> Rule:
        """Call the entity with this name `label`."""
        return self._wait_for(lambda trueweave: trueweave.rules.rename(name, label, by=by, id=id))

    def retype(
        self, name: NameKey, type: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Set the type of the entity with this name; with a `target`, of the relation from it to the target."""
        return self._wait_for(lambda trueweave: trueweave.rules.retype(name, type, target=target, by=by, id=id))

    def describe(
        self, name: NameKey, text: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Replace the description of the entity with this name, which otherwise comes from documents; with a `target`,
        that of the relation from it to the target."""
        return self._wait_for(lambda trueweave: trueweave.rules.describe(name, text, target=target, by=by, id=id))

    def suppress(self, name: NameKey, *, target: NameKey | None = None, by: str = "", id: UUID | None = None) -> Rule:
        """Remove the entity with this name and all its relations; with a `target`, only the relation from it to the
        target. No fact about it reaches an answer, a report or a copy in another store. The text of documents is
        unchanged."""
        return self._wait_for(lambda trueweave: trueweave.rules.suppress(name, target=target, by=by, id=id))

    def add(self, fact: Mention | Link, *, by: str = "", id: UUID | None = None) -> Rule:
        """Add an entity or a relation that no document mentions. It is stated in a document of its own, which answers
        can cite."""
        return self._wait_for(lambda trueweave: trueweave.rules.add(fact, by=by, id=id))

    def undo(self, rule: UUID) -> None:
        """Undo a rule, as if it had never been made."""
        self._wait_for(lambda trueweave: trueweave.rules.undo(rule))

    def all(self) -> list[Rule]:
        """All rules, in the order in which they were made, followed by the facts that were added."""
        return self._wait_for(lambda trueweave: trueweave.rules.all())

    def preview(
        self, kind: RuleKind, *names: NameKey, label: str = "", target: NameKey | None = None, limit: int = 20
    ) -> RulePreview:
        """What a rule would change if it were made now, with up to `limit` entities and relations. Nothing is changed.
        A fact that would be added cannot be previewed. Raises RuleError if the rule cannot be made."""
        return self._wait_for(
            lambda trueweave: trueweave.rules.preview(kind, *names, label=label, target=target, limit=limit)
        )

    def suggestions(
        self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False, type: str = ""
    ) -> list[Suggestion]:
        """Names that may be one entity, with passages on both: pairs whose similarity is above the threshold (by
        default that of the resolution settings), that are two entities now and that nobody has decided on, most similar
        first; optionally only those with a name of one type. With `rejected`, the pairs that were rejected instead."""
        return self._wait_for(
            lambda trueweave: trueweave.rules.suggestions(threshold, limit=limit, rejected=rejected, type=type)
        )

    def decide(self, one: NameKey, other: NameKey, *, same: bool, by: str = "", id: UUID | None = None) -> Rule | None:
        """Decide on two names that were suggested: merge them if they are the `same` entity, by a rule that is
        returned; or else reject them, so that they are not suggested again. Raises RuleError if somebody has decided on
        them already, or no document mentions both any more."""
        return self._wait_for(lambda trueweave: trueweave.rules.decide(one, other, same=same, by=by, id=id))

    def suggest_again(self, one: NameKey, other: NameKey) -> bool:
        """Take back that two names were rejected; returns whether they were."""
        return self._wait_for(lambda trueweave: trueweave.rules.suggest_again(one, other))

    def accept(self, *which: UUID | str | int, by: str = "") -> list[Rule]:
        """Merge the names of these suggestions, given by id (or its first characters) or by number in the last list."""
        return self._wait_for(lambda trueweave: trueweave.rules.accept(*which, by=by))

    def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all suggested names with a similarity above this threshold."""
        return self._wait_for(lambda trueweave: trueweave.rules.accept_above(threshold))

    def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Reject these suggestions: these pairs of names are not suggested again."""
        return self._wait_for(lambda trueweave: trueweave.rules.reject(*which))

    def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each name, the exactly matching names that documents mention now; without a type, of any type."""
        return self._wait_for(lambda trueweave: trueweave.rules.mentioned(names))

    def resolution(self) -> ResolutionSettings:
        """The settings that decide which names are one entity."""
        return self._wait_for(lambda trueweave: trueweave.rules.resolution())

    def change_resolution(self, to: ResolutionSettings) -> None:
        """Change the resolution settings, and resolve all names again."""
        self._wait_for(lambda trueweave: trueweave.rules.change_resolution(to))


class AccessGroup(_Group):
    """The access rules of a workspace: `trueweave.access`."""

    def set(self, prefix: str, readers: Sequence[str]) -> int:
        """Let only these groups read the documents whose uris begin with `prefix`, now and later, unless readers were
        given with them; with no groups, everybody. `hr/**` means the same as `hr/`. The rule with the longest prefix
        applies. Returns how many documents have other readers now. No model is called.

        Groups are those of the keys and tokens of a server's callers, and of `acting_as`.
        """
        return self._wait_for(lambda trueweave: trueweave.access.set(prefix, readers))

    def all(self, limit: int = 1000) -> list[AccessRule]:
        """The access rules in the order of their prefixes."""
        return self._wait_for(lambda trueweave: trueweave.access.all(limit))

    def remove(self, prefix: str) -> int:
        """Remove the access rule of this prefix. Returns how many documents have other readers now. Raises
        UnknownAccessRule if there is none."""
        return self._wait_for(lambda trueweave: trueweave.access.remove(prefix))


class HistoryGroup(_Group):
    """What the workspace keeps of its past: `trueweave.history`. `as_of` shows it as it was."""

    def keep(self, *, days: int | None = None) -> HistoryStatus:
        """Keep the versions of documents that are replaced or removed from now on, for so many days; without `days`,
        until they are erased. If history is kept already, this changes for how long."""
        return self._wait_for(lambda trueweave: trueweave.history.keep(days=days))

    def end(self) -> HistoryStatus:
        """Keep no history any more, and erase all former versions, as removing a document does without history."""
        return self._wait_for(lambda trueweave: trueweave.history.end())

    def status(self) -> HistoryStatus:
        """Since when the workspace keeps history, for how long, and how much there is."""
        return self._wait_for(lambda trueweave: trueweave.history.status())

    def diff(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        limit: int = 100,
        progress: Progress = unseen,
    ) -> IndexDiff:
        """What was added, removed or changed from one time to another, by default since history is kept and until now:
        how many documents, entities and relations, and up to `limit` of each, with passages on both sides. The index of
        each time is built as for `as_of`; `progress` is called with the number of documents just built in."""
        return self._wait_for(lambda trueweave: trueweave.history.diff(since, until, limit=limit, progress=progress))

    def diff_from(self, workspace: str, *, limit: int = 100) -> IndexDiff:
        """The same from another workspace of this database to this one. Raises UnknownWorkspace if there is none of
        this name."""
        return self._wait_for(lambda trueweave: trueweave.history.diff_from(workspace, limit=limit))

    def versions(self, uri: str, limit: int = 100) -> list[DocumentVersion]:
        """When which versions of a document were in the index, the latest first. Raises UnknownDocument if there is
        none."""
        return self._wait_for(lambda trueweave: trueweave.history.versions(uri, limit))


class BenchGroup(_Group):
    """The benchmarks of a workspace: `trueweave.bench`."""

    def runs(self, limit: int = 50) -> list[BenchRun]:
        """The stored runs, the latest first."""
        return self._wait_for(lambda trueweave: trueweave.bench.runs(limit))

    def run(self, run: UUID) -> BenchRun:
        """The run with this id. Raises UnknownRun if there is none."""
        return self._wait_for(lambda trueweave: trueweave.bench.run(run))

    def save(self, run: BenchRun, outcomes: Sequence[BenchOutcome]) -> BenchRun:
        """Store a finished run with the outcome of each question, and return it as it is stored. Passages are stored by
        uri and span, without their texts."""
        return self._wait_for(lambda trueweave: trueweave.bench.save(run, outcomes))

    def remove_run(self, run: UUID) -> None:
        """Remove a run. Raises UnknownRun if there is none with this id."""
        self._wait_for(lambda trueweave: trueweave.bench.remove_run(run))

    def outcome(self, run: UUID, n: int) -> BenchOutcome:
        """The question with this number in a run: the passages that its answer rests on, and what each method found,
        with the passages as they are now. Raises UnknownRun if there is no such run or question."""
        return self._wait_for(lambda trueweave: trueweave.bench.outcome(run, n))

    def compare(
        self,
        run_a: UUID,
        method_a: str,
        run_b: UUID,
        method_b: str,
        *,
        measure: str = "",
        found_by: FoundBy | None = None,
        after: int = -1,
        limit: int = 50,
    ) -> BenchComparison:
        """Compare two methods of one run, or of two, question by question. The measure is by default the one that the
        first run is ordered by.

        The first `limit` questions after the number `after` are listed, optionally only those found by one side, by
        both or by neither. Raises UnknownRun if a run does not exist, or does not have the method or the measure.
        """
        return self._wait_for(
            lambda trueweave: trueweave.bench.compare(
                run_a, method_a, run_b, method_b, measure=measure, found_by=found_by, after=after, limit=limit
            )
        )

    def questions(self, limit: int = 50) -> list[BenchQuestion]:
        """People's own questions with their right passages as they are now, the latest first."""
        return self._wait_for(lambda trueweave: trueweave.bench.questions(limit))

    def add_question(
        self,
        question: str,
        passages: Sequence[BenchPassage],
        *,
        answers: Sequence[str] = (),
        kind: str = "",
        by: str = "",
    ) -> BenchQuestion:
        """Add a question with the passages that its answer rests on; `by` says who adds it. A question with the same
        text is kept, and gets these passages as well. A passage is a chunk of a document, or a whole document."""
        return self._wait_for(
            lambda trueweave: trueweave.bench.add_question(question, passages, answers=answers, kind=kind, by=by)
        )

    def change_question(
        self, id: UUID, question: str, passages: Sequence[BenchPassage], *, answers: Sequence[str] = (), kind: str = ""
    ) -> BenchQuestion:
        """Replace a question, its passages and its answers. Runs that it was measured in stay as they are. Raises
        UnknownQuestion if there is none with this id."""
        return self._wait_for(
            lambda trueweave: trueweave.bench.change_question(id, question, passages, answers=answers, kind=kind)
        )

    def remove_question(self, id: UUID) -> None:
        """Remove a question. Runs that it was measured in stay as they are. Raises UnknownQuestion if there is no
        question with this id."""
        self._wait_for(lambda trueweave: trueweave.bench.remove_question(id))


class SourcesGroup(_Group):
    """The sources of a workspace: `trueweave.sources`."""

    def add(
        self,
        name: str,
        address: str,
        *,
        every_seconds: int | None = None,
        secrets: Mapping[str, str] | None = None,
        by: str = "",
        readers: Sequence[str] | None = None,
    ) -> DocumentSource:
        """Keep an address in the workspace under a name; `by` says who adds it. With `every_seconds`, workers
        synchronise it that often, beginning now. `secrets` are its credentials: for each, the environment variable that
        holds it where workers run. `readers` are the groups that can read its documents, except those that state their
        own; without it, they keep those that they have.

        If there is a source with this name and this address, its schedule, secrets and readers are replaced.
        """
        return self._wait_for(
            lambda trueweave: trueweave.sources.add(
                name, address, every_seconds=every_seconds, secrets=secrets, by=by, readers=readers
            )
        )

    def all(self, limit: int = 1000) -> list[DocumentSource]:
        """The sources in the order of their names."""
        return self._wait_for(lambda trueweave: trueweave.sources.all(limit))

    def get(self, name: str) -> DocumentSource:
        """The source of that name. Raises UnknownSource if there is none."""
        return self._wait_for(lambda trueweave: trueweave.sources.get(name))

    def sync(self, name: str, *, confirmed: bool = False, listener: Listener = ignore) -> Added:
        """Synchronise a source now, as `sync` does with an address, and record the result with the source. SourceBusy
        if another process is synchronising it."""
        return self._wait_for(lambda trueweave: trueweave.sources.sync(name, confirmed=confirmed, listener=listener))

    def request_sync(self, name: str, *, confirmed: bool = False) -> DocumentSource:
        """Have a worker synchronise a source as soon as possible. With `confirmed`, that run may remove more than a
        fifth of its documents."""
        return self._wait_for(lambda trueweave: trueweave.sources.request_sync(name, confirmed=confirmed))

    def remove(self, name: str, *, documents: bool = False) -> int:
        """Remove a source; with `documents`, also its documents, except those that another address has. Returns how
        many were removed.

        A run of the source is stopped first. SourceBusy if it does not stop in time; call this again then.
        """
        return self._wait_for(lambda trueweave: trueweave.sources.remove(name, documents=documents))


class WatchesGroup(_Group):
    """The standing questions of a workspace: `trueweave.watches`."""

    @takes(WatchOptions)
    def add(self, asked: WatchOptions) -> Watch:
        """Ask a question now, and again whenever the index has changed, which workers do. There is an alert when its
        first `passages` passages are others than before, whatever their order.

        The name is made from the question, unless it is given. `method` defaults to the settings, and reads what
        `groups` may read, by default what the caller may. With `answers`, each alert has an answer by the language
        model, for up to `tokens_per_day` tokens a day, and within the budget of the workspace. Alerts are sent to
        `webhook`, an address, signed with the key in signing_key_file. Through a server, a watch is asked as long as
        the key is valid that it was added with, and its webhook must be on a host that the settings allow. `by` says
        who adds it.
        """
        return self._wait_for(lambda trueweave: trueweave.watches.add(**values(asked)))

    def all(self, limit: int = 1000, *, after: str = "") -> list[Watch]:
        """The watches in the order of their names, after this name."""
        return self._wait_for(lambda trueweave: trueweave.watches.all(limit, after=after))

    def get(self, name: str) -> Watch:
        """The watch of that name. Raises UnknownWatch if there is none."""
        return self._wait_for(lambda trueweave: trueweave.watches.get(name))

    def remove(self, name: str) -> None:
        """Remove a watch with its alerts. Raises UnknownWatch if there is none of that name."""
        self._wait_for(lambda trueweave: trueweave.watches.remove(name))

    def alerts(self, watch: str | None = None, *, after: int | None = None, limit: int = 100) -> list[Alert]:
        """Alerts of a watch, or of all, in the order of time: the latest, or with `after`, the next after the one with
        this id. The first of each watch has what it found when it was added. Raises UnknownWatch if there is none of
        that name."""
        return self._wait_for(lambda trueweave: trueweave.watches.alerts(watch, after=after, limit=limit))

    def check(self) -> int:
        """Ask all watches again whose index has changed, and send the alerts that wait, except those that another
        process is at. Returns how many watches that were."""
        return self._wait_for(lambda trueweave: trueweave.watches.check())


class JobsGroup(_Group):
    """Documents that workers process: `trueweave.jobs`."""

    def submit(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        job: UUID | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> IngestJob:
        """Submit files, whole folders and texts to workers, without waiting for them. The files are read now; the
        documents become part of the index once `trueweave worker`, or any process that adds documents, has processed
        them.

        Unchanged documents are skipped; with `refresh`, they are processed again if an earlier version of the extractor
        or of its prompts made them. With a `job`, these documents are added to it. `get` returns the progress.
        `readers` are the groups that can read them, and `date` is their date, as for `add`.
        """
        return self._wait_for(
            lambda trueweave: trueweave.jobs.submit(
                *what, listener=listener, refresh=refresh, job=job, readers=readers, date=date
            )
        )

    def get(self, id: UUID) -> IngestJob:
        """The job with this id, and the progress of its documents. Raises UnknownJob if there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.get(id))

    def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, latest first. For the next page, pass `made` and `id` of the last one as `before`."""
        return self._wait_for(lambda trueweave: trueweave.jobs.latest(limit, before=before))

    def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and the progress of each. For the next page, pass the last uri as `after`."""
        return self._wait_for(lambda trueweave: trueweave.jobs.documents(job, limit, after=after))

    def state(self, uri: str) -> DocumentState:
        """The progress of one document, however it was added. Raises UnknownDocument if there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.state(uri))


class BudgetGroup(_Group):
    """The budget of a workspace: `trueweave.budget`."""

    def get(self) -> Budget:
        """How much this workspace may spend on models, and how much it has spent."""
        return self._wait_for(lambda trueweave: trueweave.budget.get())

    def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend this much more, in money or tokens, over all workers; with neither, no cap."""
        return self._wait_for(lambda trueweave: trueweave.budget.allow(price=price, tokens=tokens))

    def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since a time, by stage and model."""
        return self._wait_for(lambda trueweave: trueweave.budget.receipt(since))

    def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since a time on the most expensive documents, by model."""
        return self._wait_for(lambda trueweave: trueweave.budget.receipt_by_document(since, limit))

    def receipt_by_day(self, since: datetime | None = None, by: SpendBy = "stage") -> list[SpentOnDay]:
        """What was spent on each day (in UTC) since a time, by stage or by model; at most for a year."""
        return self._wait_for(lambda trueweave: trueweave.budget.receipt_by_day(since, by))


class ProjectionsGroup(_Group):
    """Copies of a workspace in Neo4j and Chroma: `trueweave.projections`."""

    def status(self) -> list[ProjectionStatus]:
        """The stores that have a copy of this workspace, or are to have one, and the progress of each."""
        return self._wait_for(lambda trueweave: trueweave.projections.status())

    def start(self, store: StoreName, stop: threading.Event | None = None, listener: Listener = ignore) -> None:
        """Enable a copy of this workspace in a store, and keep it up to date until `stop` is set."""
        self._wait_for(lambda trueweave: trueweave.projections.start(store, awaited(stop), listener))

    def catch_up(self, store: StoreName, listener: Listener = ignore) -> None:
        """Enable a copy of this workspace in a store, and bring it up to date, whichever projector does the work."""
        self._wait_for(lambda trueweave: trueweave.projections.catch_up(store, listener))

    def rebuild(self, store: StoreName, listener: Listener = ignore) -> None:
        """Build a new copy alongside the one that answers questions, and switch to it when it is complete."""
        self._wait_for(lambda trueweave: trueweave.projections.rebuild(store, listener))

    def verify(self, store: StoreName, limit: int = 20) -> list[ProjectionDifference]:
        """Compare the whole copy in a store with the record. Returns the first differences. Nothing is changed; the
        workspace should not change while this runs."""
        return self._wait_for(lambda trueweave: trueweave.projections.verify(store, limit))

    def remove(self, store: StoreName) -> bool:
        """Drop the copy of this workspace in a store. Returns whether there was one."""
        return self._wait_for(lambda trueweave: trueweave.projections.remove(store))

    def enable(self, store: StoreName) -> None:
        """Enable a copy of this workspace in a store; a projector builds it."""
        self._wait_for(lambda trueweave: trueweave.projections.enable(store))


class CertificatesGroup(_Group):
    """Certificates of erasure: `trueweave.certificates`."""

    def erase(self, *what: str | Path, file: Path, told: StepListener = unheard) -> dict[str, Any]:
        """Remove documents as `remove` with `erase` does, and write a signed certificate to `file` that nothing of them
        is left. Returns the certificate's statement. `what` are files, folders, patterns or uris, as for `matching`.

        The whole workspace and its copies in other stores are searched, and the index is compared with a rebuild, so
        this takes longer than `verify`. It waits for work on the documents that is still under way, and calls `told`
        with what it does. If the process is killed, the same call continues; there is no certificate before all is
        done. Raises CertificateRefused if something is left, or if a document was added again meanwhile.
        """
        return self._wait_for(lambda trueweave: trueweave.certificates.erase(*what, file=file, told=told))


class RecordsGroup(_Group):
    """Signed records of answers: `trueweave.records`."""

    def check(self, asked: AskOptions, file: Path) -> None:
        """Raise an error if the answer to this question could not be recorded in `file`: there is no key, the file
        exists, the question belongs to a conversation, or its method has no name. Call it before asking."""
        self._wait_for(lambda trueweave: trueweave.records.check(asked, file))

    def write(self, answer: Answer, asked: AskOptions, file: Path) -> dict[str, Any]:
        """Write a signed record of an answer to a new file: question, method, passages, models, prompts, citations, the
        result of the check, and cost. Returns the record's statement. `asked` is what was asked."""
        return self._wait_for(lambda trueweave: trueweave.records.write(answer, asked, file))

    def replay(self, file: Path) -> Replay:
        """Check the signature of a record, search for its question again as it was searched for then, and say for each
        citation what has become of it. If the workspace keeps history since then, the index of that time is searched,
        too. The question is not answered again. Raises SignatureInvalid if the record was changed."""
        return self._wait_for(lambda trueweave: trueweave.records.replay(file))


class VectorsGroup(_Group):
    """The vectors of entities and relations: `trueweave.vectors`. The setting graph_vectors decides whether a new
    workspace has them, and the status of a workspace says whether it does."""

    def estimate(self) -> EmbeddingEstimate:
        """What `make` would take. No text is sent to the model."""
        return self._wait_for(lambda trueweave: trueweave.vectors.estimate())

    def make(self, progress: Progress = unseen) -> None:
        """Embed all entities and relations, paid from the budget, and from now on those of documents that are added.

        You can stop it at any time and run it again: finished embeddings are kept. Documents can be added and removed
        meanwhile. If another process makes them, this waits for it. `progress` is called with the number of texts just
        embedded.
        """
        self._wait_for(lambda trueweave: trueweave.vectors.make(progress))

    def drop(self) -> None:
        """Delete the vectors of entities and relations, and embed no more of them until `make` is called. Methods that
        need them raise NoGraphVectors."""
        self._wait_for(lambda trueweave: trueweave.vectors.drop())


class MaintenanceGroup(_Group):
    """The maintenance of a workspace: `trueweave.maintenance`."""

    def settle(self) -> int:
        """Bring the view up to date with the record. Returns the number of document versions that were indexed."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.settle())

    def digest(self) -> str:
        """A hash of everything readers can see: equal for indexes with equal contents, whatever their internal ids."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.digest())

    def state(self) -> str:
        """A key that changes whenever documents, rules or vectors do. Unlike a digest it is quick to compute, and
        cannot be compared between databases."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.state())

    def verify(self, progress: Progress = unseen) -> Verdict:
        """Rebuild the index alongside this one from the documents visible in it, and compare the two.

        Nothing in this workspace is changed, and no model is called: vectors are compared by the hashes of the texts
        they embed. Changes waiting to be indexed are counted, but not indexed.
        """
        return self._wait_for(lambda trueweave: trueweave.maintenance.verify(progress))

    def sweep(self) -> Swept:
        """Delete what is no longer needed: names that no document mentions, data past the retention times in the
        settings, and what removed documents and killed processes left behind. Workers do all of this except the
        names."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.sweep())

    def drop(self) -> int:
        """Drop the workspace with everything in it. Returns the number of documents it had.

        Waits for transactions that are under way. A process that is adding documents gets UnknownWorkspace afterwards.
        """
        return self._wait_for(lambda trueweave: trueweave.maintenance.drop())

    def estimate_reembed(self, model: str) -> EmbeddingEstimate:
        """What `reembed` would take. The model is asked for its dimensions, but no text is sent to it."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.estimate_reembed(model))

    def reembed(self, model: str, progress: Progress = unseen) -> None:
        """Embed everything with the model of that name, paid from the budget, then switch to it in one step.

        Like `add`, you can stop it at any time and run it again: finished embeddings are kept. Questions use the old
        vectors until the switch; after it, these are dropped. `progress` is called with the number of texts just
        embedded.
        """
        self._wait_for(lambda trueweave: trueweave.maintenance.reembed(model, progress))

    def change_space(self, embedder: Embedder | LangChainEmbeddings, progress: Progress = unseen) -> None:
        """Embed everything with another model alongside the old vectors, then switch in one step."""
        self._wait_for(lambda trueweave: trueweave.maintenance.change_space(embedder, progress))

    @property
    def own_settings(self) -> dict[str, Any]:
        """The workspace's own settings, as of when it was opened or they were last changed here."""
        return self._trueweave.maintenance.own_settings

    def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Set settings of this workspace for everyone who uses it, and unset others. Returns the settings now in effect
        here. Other processes see the change when they next open the workspace."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.change_settings(changes, unset))

    def clock(self) -> datetime:
        """The time by the database's clock, which `ingest_progress` and receipts use."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.clock())

    def ingest_progress(self, since: datetime | None = None) -> IngestProgress:
        """How many documents have been added since a time, by any process, and how many are waiting. Waits if the
        database is unavailable."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.ingest_progress(since))

    def activity(self) -> Activity:
        """The activity of this workspace: documents that wait, how fast they are processed and what they wait for, the
        spending, and the position of the latest change."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.activity())

    def models(self) -> ModelNames:
        """The models that this workspace uses."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.models())

    def checks(self) -> list[HealthCheck]:
        """Check the database and the models of this workspace: the language model answers one short question, and the
        embedding model embeds two words."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.checks())

    def duplicates(self, since: datetime) -> list[Duplicate]:
        """The documents added since a time whose text is identical to that of an earlier document."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.duplicates(since))

    def notes(self, since: datetime, named: int = 3) -> list[Note]:
        """Notes on the documents added since a time, each with the names of the first `named` documents."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.notes(since, named))

    def out_of_date(self) -> list[OutOfDate]:
        """Documents that were processed with settings other than the current ones, or by another version of the
        extractor; none if the settings name no extractor that can be used here."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.out_of_date())

    def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. `request_retry` and `retry` try them again."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.failed_documents(limit))

    def failed_work(self, limit: int = 20) -> list[FailedWork]:
        """Work that failed because of a bug in Trueweave, latest first. `retry` tries it again."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.failed_work(limit))

    def retry(self, listener: Listener = ignore) -> int:
        """Try failed documents again, and work that failed because of a bug. Returns how many there were."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.retry(listener))

    def request_retry(self, uris: Sequence[str] = ()) -> int:
        """Have workers try failed documents again: those with these uris, or all, and then also work that failed
        because of a bug. Returns how many there were."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.request_retry(uris))

    def bulk_load(
        self,
        paths: Sequence[str],
        spool: Path,
        *,
        ray_address: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        gpus: float = 0,
        readers: Sequence[str] | None = None,
    ) -> BulkReport:
        """Load files, folders and addresses such as s3://bucket/folder on a Ray cluster; without an address, on a
        cluster on this machine. Afterwards the workspace has a new internal number: open it again.

        The index is built alongside this workspace, including the documents already in it, and replaces it at the end
        in one transaction; until then none of it is visible. `spool` is a folder shared by all nodes, in which finished
        work is kept, so that a load that was stopped resumes when it is started again. `progress` is called with the
        name of a stage, the number of units done, and their total. `gpus` is the number of GPUs for each process that
        extracts and embeds. An embedder, extractor or chunker that this workspace was opened with is pickled and sent
        to the processes. `readers` are the groups that can read what is loaded, except documents that state their own
        and those that were given readers before.
        """
        return self._wait_for(
            lambda trueweave: trueweave.maintenance.bulk_load(
                paths, spool, ray_address=ray_address, progress=progress, gpus=gpus, readers=readers
            )
        )


class Trueweave(_Waiting):
    """One workspace: the blocking form of AsyncTrueweave.

    `with` or the first call opens it; the end of `with`, `close` or the end of the program closes it. The work is done
    in a separate thread, which also calls the listeners, so it works inside a running event loop, for example in a
    notebook. Several threads may use it at the same time, and Ctrl-C stops the current call.
    """

    def __init__(
        self,
        url: str | None = None,
        workspace: str | None = None,
        embedder: Embedder | LangChainEmbeddings | None = None,
        *,
        llm: StreamingLLM | LangChainChatModel | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> None:
        """Open the workspace of that name, or the one named in the settings. By default, a workspace named in the
        settings is created if it is missing, while one named here must exist, so that a mistyped name raises
        UnknownWorkspace. `make=True` creates either one; `make=False` creates nothing.

        Anything not passed here comes from the settings; settings not passed here are loaded from trueweave.toml and
        the environment. If there is no `url` in either, the bundled PostgreSQL is used: it is created unless `make` is
        False, started and migrated if necessary, and left running. Any other database must already be migrated; if it
        is not, SchemaMismatch names the command to run.

        A chat model of LangChain as `llm` is used for all roles but vision, and its calls, like those of an embedding
        model of LangChain as `embedder`, are paid from the budget, rate-limited and cached.

        `readers` is called with the PostgreSQL readers and the filter of a question, and returns the readers to answer
        it from. `extractor` and `chunker` replace those of the settings: pass an instance, or a class or function that
        makes one from an IngestContext. Other processes do not have them: a document added with one fails there, with
        an error that says so.
        """
        super().__init__(
            lambda: AsyncTrueweave.open(
                url,
                workspace,
                embedder,
                llm=llm,
                settings=settings,
                make=make,
                readers=readers,
                extractor=extractor,
                chunker=chunker,
            )
        )

    def acting_as(self, groups: Sequence[str]) -> Trueweave:
        """This workspace as a caller in these groups sees it: documents without readers, and those that one of the
        groups reads. The group `*` reads all documents.

        Everything else about it is as in a workspace that has only these documents, but that passages have no scores,
        and their order may depend on all documents. What cannot be answered like that raises NotForRestricted, such as
        community reports, and everything that writes, unless there are no other documents. It is closed with this one.
        """
        return self._beside(self._trueweave.acting_as(groups))

    @staticmethod
    def migrate(url: str | None = None, *, settings: Settings | None = None) -> list[str]:
        """Create Trueweave's schema in a database, or bring it up to date. Returns the names of the migrations applied.

        `url` is the direct address of PostgreSQL, with the user who owns the schema or is to own it. It defaults to
        owner_database_url in the settings, then direct_database_url, then database_url, then the bundled PostgreSQL. If
        another process is migrating the same database, this call waits for it. Without a `url`, all servers in the
        settings are migrated, and new ones are joined.
        """
        return wait_for(lambda: AsyncTrueweave.migrate(url, settings=settings))

    @contextmanager
    def rebuilt(self, progress: Progress = unseen) -> Iterator[Trueweave]:
        """A temporary workspace rebuilt from scratch from the visible documents of this one, with its settings and
        rules. It has no models, and is dropped at the end."""
        with self._entered(lambda trueweave: trueweave.rebuilt(progress)) as entered:
            yield self._beside(entered)

    @contextmanager
    def as_of(self, at: datetime, progress: Progress = unseen) -> Iterator[Trueweave]:
        """The index as it was at this time, with today's settings, rules and rights, for all calls that read. The
        workspace must have kept history since then (`history.keep`).

        It is built from the stored versions of documents, in a temporary workspace that is dropped at the end, so it
        is as exact as today's: with its own weights, communities and order of passages. `progress` is called with the
        number of documents just built in. Nothing is extracted again; passages that are no longer in the index are
        embedded again.
        """
        with self._entered(lambda trueweave: trueweave.as_of(at, progress)) as entered:
            yield self._beside(entered)

    @property
    def settings(self) -> Settings:
        """The settings in effect here: those of the process, overridden by those of the workspace."""
        return self._trueweave.settings

    def status(self) -> Status:
        """The size of the workspace, and what still waits to be indexed."""
        return self._wait_for(lambda trueweave: trueweave.status())

    # --- documents ---------------------------------------------------------------------------------

    def add(
        self,
        *what: str | Path | Source,
        listener: Listener = ignore,
        prune: bool = False,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> Added:
        """Add files, whole folders, texts, and what is at addresses such as `https://example.org/`. Each becomes a
        document, which is processed according to the settings and indexed. A path that does not exist raises
        UnreadableFile before anything is added.

        Unchanged documents are skipped, so a run that was interrupted, or stopped by an error such as BudgetReached,
        can simply be run again. Other workers of this workspace help, and the result counts what they did with these
        documents. If a setting or a refusal by the model stops the run, documents that no worker has begun are taken
        out of the queue again. With `prune`, documents whose files no longer exist in these folders are removed at the
        end. With `refresh`, unchanged documents are processed again if an earlier version of the extractor or of its
        prompts made them. `secrets` are the credentials of addresses: for each, the environment variable that holds it.

        `readers` are the groups that can read these documents, except those that state their own, in their front matter
        for example; an empty list means everybody. Without it, documents keep the readers that they have. Readers of
        unchanged documents are changed at once, without a call of a model.

        `date` is the date of these documents in ISO 8601, except of those that state their own; it is `date` of their
        metadata. If they are added again without it, they have none.
        """
        return self._wait_for(
            lambda trueweave: trueweave.add(
                *what, listener=listener, prune=prune, refresh=refresh, secrets=secrets, readers=readers, date=date
            )
        )

    def plan_sync(
        self,
        *what: str | Path,
        listener: Listener = ignore,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
    ) -> SyncPlan:
        """What `sync` would do. Nothing is changed, no model is called, and nothing is fetched from addresses: what is
        there in another version counts as one changed document."""
        return self._wait_for(
            lambda trueweave: trueweave.plan_sync(*what, listener=listener, secrets=secrets, readers=readers)
        )

    def sync(
        self,
        *what: str | Path,
        plan: SyncPlan | None = None,
        confirmed: bool = False,
        listener: Listener = ignore,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
    ) -> Added:
        """Bring the index up to date with folders and addresses: add what is new or changed, remove documents that no
        longer exist there.

        With a `plan`, only documents named in it are removed. If more than a fifth of the documents of an address would
        be removed, RemovalNotConfirmed is raised, unless they are in the plan or `confirmed` is true. If the list of an
        address is incomplete, nothing is removed. `secrets` are the credentials of addresses: for each, the environment
        variable that holds it. `readers` are those of documents that do not state theirs, as for `add`.
        """
        return self._wait_for(
            lambda trueweave: trueweave.sync(
                *what, plan=plan, confirmed=confirmed, listener=listener, secrets=secrets, readers=readers
            )
        )

    def matching(self, *what: str | Path, former: bool = False) -> dict[str, list[str]]:
        """For each file (with its rows), folder, pattern or uri, the uris of the documents it matches; with `former`,
        also of those of which only former versions are kept."""
        return self._wait_for(lambda trueweave: trueweave.matching(*what, former=former))

    def estimate(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist raises UnreadableFile. What has changed at an address is fetched."""
        return self._wait_for(
            lambda trueweave: trueweave.estimate(*what, listener=listener, refresh=refresh, secrets=secrets)
        )

    def try_extract(
        self,
        what: str | Path | Source,
        *,
        chunk: int = 1,
        changes: Mapping[str, Any] | None = None,
        listener: Listener = ignore,
    ) -> ExtractionTrial:
        """Run the extractor on one chunk (counted from 1) of a text, or of the first document in a file. The result has
        the prompts, the replies, what is kept, what is left out and why, and what it cost.

        Nothing is added to the index. Replies are cached as usual. With `changes`, the settings of the workspace are
        changed for this trial alone.
        """
        return self._wait_for(
            lambda trueweave: trueweave.try_extract(what, chunk=chunk, changes=changes, listener=listener)
        )

    def work(self, listener: Listener = ignore, stop: threading.Event | None = None) -> None:
        """Process jobs of this workspace from the queue until `stop` is set, then finish those already begun."""
        self._wait_for(lambda trueweave: trueweave.work(listener, awaited(stop)))

    def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = unseen,
        refused: Callable[[Refused], None] | None = None,
        *,
        readers: Sequence[str] | None = None,
    ) -> int:
        """Store and index documents whose entities and relations are given. Returns how many were new or changed.

        A document replaces any earlier one with the same uri. Documents are read as they are stored, so there may be
        more of them than fit in memory. `progress` is called with the number of documents just done. A document that
        cannot be stored raises an error that names it; if `refused` is given, it is called instead, and the rest are
        still added. `readers` are those of documents that do not state theirs.
        """
        return self._wait_for(lambda trueweave: trueweave.add_documents(documents, progress, refused, readers=readers))

    def remove(self, uris: Sequence[str], *, erase: bool = False) -> int:
        """Remove these documents in one pass, and update the index. Returns how many of them existed.

        Their text is erased everywhere, including from cached model replies and from community reports that may quote
        it; those reports are marked to be written again. If the workspace keeps history, former versions and what was
        made from them stay, unless `erase` is set: then no version of these documents is kept.
        """
        return self._wait_for(lambda trueweave: trueweave.remove(uris, erase=erase))

    def switch_off(self, uris: Sequence[str]) -> int:
        """Switch these documents off, and update the index. Returns how many of them were switched on.

        They leave the index as removed documents do, but what was extracted from them stays stored. New versions of
        them are stored and stay switched off. Community reports that may quote them are erased.
        """
        return self._wait_for(lambda trueweave: trueweave.switch_off(uris))

    def switch_on(self, uris: Sequence[str]) -> int:
        """Switch these documents on again, and update the index. Returns how many of them were switched off. Their
        passages are embedded again; nothing is extracted again."""
        return self._wait_for(lambda trueweave: trueweave.switch_on(uris))

    def documents(self) -> Iterator[Document]:
        """All documents as they were stored, in no particular order; without those that are switched off."""
        return self._iterate(lambda trueweave: trueweave.documents())

    def list_documents(
        self,
        limit: int = 50,
        *,
        noted: bool = False,
        after: str | tuple[datetime, str] = "",
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        order: DocumentOrder = "uri",
        since: datetime | None = None,
    ) -> list[DocumentInfo]:
        """The documents that pass a filter, sorted by uri or, with the order "added", the latest first; optionally only
        those with a note, whose uri begins with `prefix`, or that were added `since` a time. By default these are the
        documents in the index; with a `state`, those in this state, and with "any", also those in the queue and those
        that are switched off. For the next page, pass as `after` the last uri of this one, or a pair of its time and
        uri if the latest come first."""
        return self._wait_for(
            lambda trueweave: trueweave.list_documents(
                limit, noted=noted, after=after, prefix=prefix, filter=filter, state=state, order=order, since=since
            )
        )

    def count_documents(
        self,
        *,
        noted: bool = False,
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        since: datetime | None = None,
    ) -> int:
        """The number of documents that `list_documents` lists with these arguments."""
        return self._wait_for(
            lambda trueweave: trueweave.count_documents(
                noted=noted, prefix=prefix, filter=filter, state=state, since=since
            )
        )

    def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document with this uri: its title and metadata, up to `chunks` of its chunks from number `first` on, with
        their positions, and the entities it mentions most. With `start`, chunks are counted from the one that contains
        this character of the document. Raises UnknownDocument, with similar uris, if there is none."""
        return self._wait_for(
            lambda trueweave: trueweave.document(uri, first=first, chunks=chunks, entities=entities, start=start)
        )

    def document_outline(self, uri: str, *, first: int = 0, limit: int = 5000) -> DocumentOutline:
        """The structure of the document with this uri: its length, and up to `limit` of its pages and sections from
        number `first` on. Raises UnknownDocument, with similar uris, if there is none."""
        return self._wait_for(lambda trueweave: trueweave.document_outline(uri, first=first, limit=limit))

    def document_mentions(
        self, uri: str, *, start: int = 0, end: int | None = None, limit: int = 1000
    ) -> list[EntitySpan]:
        """The spans of the document with this uri that mention entities, in order; optionally only those between the
        characters `start` and `end`. A span that several chunks contain is listed once for each of them. Raises
        UnknownDocument, with similar uris, if there is none."""
        return self._wait_for(lambda trueweave: trueweave.document_mentions(uri, start=start, end=end, limit=limit))

    def passages(self, *ids: UUID) -> list[Passage]:
        """The passages with these ids, such as those that a report cites, in that order. Passages of documents that
        were removed are left out."""
        return self._wait_for(lambda trueweave: trueweave.passages(*ids))

    # --- questions ---------------------------------------------------------------------------------

    @takes(AskOptions)
    def ask(self, asked: AskOptions) -> Answer:
        """Answer a question from what a method finds, with every citation checked.

        `method` is a name, or a method with its own parameters; `filter` selects documents, and `history` is the
        conversation so far. With `use_cot` the model reasons first, and its reasoning is kept apart; with
        `numerical_answer` it gives only a number and its unit, with `extractive` only quotes; with `context_only` it is
        not called. `verifiers` check the answer in their order, by name ("rules", "llm", "onnx/FOLDER") or as objects,
        and `repair` gives the model one chance to fix the sentences they do not confirm; both default to the settings.
        `options` sets further instructions, language, length and temperature for this answer. The listener receives
        events about what the question is waiting for.
        """
        return self._wait_for(lambda trueweave: trueweave.ask(**values(asked)))

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Iterator[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the complete, checked answer: see `ask`.

        You can close the stream early, or drop it: either cancels generation.
        """
        return self._iterate(lambda trueweave: trueweave.stream(**values(asked)))

    @takes(RetrieveOptions)
    def retrieve(self, asked: RetrieveOptions) -> Evidence:
        """What a method finds for a question, with a trace of how, but without an answer."""
        return self._wait_for(lambda trueweave: trueweave.retrieve(**values(asked)))

    def search(self, text: str | Sequence[str], limit: int = 10, *, filter: Filter | None = None) -> list[Passage]:
        """The passages that match a text best: by meaning and by words, or by words alone if nothing is embedded. Of
        several texts, the passages that most of them have near the top."""
        return self._wait_for(lambda trueweave: trueweave.search(text, limit, filter=filter))

    def compare(
        self,
        question: str,
        methods: Sequence[str | Method] = (),
        *,
        filter: Filter | None = None,
        answers: bool = False,
        listener: Listener = ignore,
    ) -> Comparison:
        """What these methods find for a question, side by side; by default, all methods.

        A method that cannot be used here is listed with the reason.
        """
        return self._wait_for(
            lambda trueweave: trueweave.compare(question, methods, filter=filter, answers=answers, listener=listener)
        )

    def methods(self) -> list[MethodInfo]:
        """All methods, each with its parameters as a JSON schema. `problem` says why a method cannot be used in this
        workspace, such as without vectors or reports; it is empty if the method can be used."""
        return self._wait_for(lambda trueweave: trueweave.methods())

    @property
    def method(self) -> str:
        """The method used when none is named: that of the settings, or auto."""
        return self._trueweave.method

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""
        return self._trueweave.has_model

    def conversation(
        self, method: str | Method | None = None, *, filter: Filter | None = None, history: Sequence[Message] = ()
    ) -> Conversation:
        """A conversation: a series of questions, each understood in the light of what was said before. It may begin
        with a `history`."""
        return Conversation(self, method, filter=filter, history=history)

    # --- memory ------------------------------------------------------------------------------------

    def remember(
        self,
        said: str | Sequence[Message],
        *,
        by: str = "",
        source: str = "",
        date: datetime | None = None,
        conversation: str = "",
        readers: Sequence[str] | None = None,
    ) -> str:
        """Store a text, or the messages of a conversation, as a document that says who told it (`by`), where it comes
        from (`source`) and when it was said (now, if there is no `date`). Returns the uri of the document, which
        workers index: `jobs.state` says when that is done.

        The same text from the same source by the same person is stored once, with the latest date. With the id of a
        `conversation`, it replaces what was stored of that conversation, so pass all of it; only new parts are
        processed. `readers` are the groups that can read it, as for `add`.
        """
        return self._wait_for(
            lambda trueweave: trueweave.remember(
                said, by=by, source=source, date=date, conversation=conversation, readers=readers
            )
        )

    def recall(self, text: str, limit: int = 10, *, by: str = "", since: datetime | None = None) -> list[Passage]:
        """The passages of memories that match a text best; optionally only what one person told, or what was said since
        a time. The title of each says who told it and when."""
        return self._wait_for(lambda trueweave: trueweave.recall(text, limit, by=by, since=since))

    def forget(self, *uris: str) -> int:
        """Remove memories by their uris, and erase their text everywhere. Returns how many of them existed. Raises
        InvalidArgument, and removes nothing, if one is the uri of another document."""
        return self._wait_for(lambda trueweave: trueweave.forget(*uris))

    @property
    def graph(self) -> GraphGroup:
        """What is about graph."""
        return GraphGroup(self)

    @property
    def communities(self) -> CommunitiesGroup:
        """What is about communities."""
        return CommunitiesGroup(self)

    @property
    def rules(self) -> RulesGroup:
        """What is about rules."""
        return RulesGroup(self)

    @property
    def access(self) -> AccessGroup:
        """What is about access."""
        return AccessGroup(self)

    @property
    def history(self) -> HistoryGroup:
        """What is about history."""
        return HistoryGroup(self)

    @property
    def bench(self) -> BenchGroup:
        """What is about bench."""
        return BenchGroup(self)

    @property
    def sources(self) -> SourcesGroup:
        """What is about sources."""
        return SourcesGroup(self)

    @property
    def watches(self) -> WatchesGroup:
        """What is about watches."""
        return WatchesGroup(self)

    @property
    def jobs(self) -> JobsGroup:
        """What is about jobs."""
        return JobsGroup(self)

    @property
    def budget(self) -> BudgetGroup:
        """What is about budget."""
        return BudgetGroup(self)

    @property
    def projections(self) -> ProjectionsGroup:
        """What is about projections."""
        return ProjectionsGroup(self)

    @property
    def certificates(self) -> CertificatesGroup:
        """What is about certificates."""
        return CertificatesGroup(self)

    @property
    def records(self) -> RecordsGroup:
        """What is about records."""
        return RecordsGroup(self)

    @property
    def vectors(self) -> VectorsGroup:
        """What is about vectors."""
        return VectorsGroup(self)

    @property
    def maintenance(self) -> MaintenanceGroup:
        """What is about maintenance."""
        return MaintenanceGroup(self)
