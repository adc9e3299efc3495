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
from trueweave.core.answers import Answer, Comparison
from trueweave.core.events import Added, Listener, Progress, Refused, Reported, ignore, unseen
from trueweave.core.evidence import DocumentDetails, EntityDetails, EntityPath, Evidence, Filter, Hits, Passage
from trueweave.core.graph import (
    Community,
    CommunityChanges,
    CommunityReport,
    Entity,
    Hierarchy,
    Hit,
    Relation,
    RetiredCommunity,
    Rule,
    Suggestion,
    VectorKind,
    Verdict,
)
from trueweave.core.jobs import (
    BulkReport,
    DocumentInfo,
    DocumentState,
    Duplicate,
    FailedDocument,
    FailedWork,
    IngestJob,
    IngestProgress,
    Note,
    OutOfDate,
    Status,
    Swept,
    SyncPlan,
)
from trueweave.core.model_calls import ExtractionTrial, Message
from trueweave.core.money import Budget, EmbeddingEstimate, Estimate, ReportEstimate, Spent, SpentOn
from trueweave.core.parameters import takes, values
from trueweave.core.projections import Change, ProjectionDifference, ProjectionStatus, StoreName
from trueweave.core.protocols import ChangeReaders, Chunker, Embedder, Extractor, StreamingLLM, Vectors
from trueweave.core.record import Document, Link, Mention, NamedFile, NameKey, ResolutionSettings, Source
from trueweave.core.settings import Settings
from trueweave.core.waiting import WaitingCalls, WaitingGroup, awaited, wait_for
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
    """The graph of a workspace: `trueweave.graph`."""

    def entities(self, limit: int = 50, *, type: str = "") -> list[Entity]:
        """The most mentioned entities; of one type, if that is wanted."""
        return self._wait_for(lambda trueweave: trueweave.graph.entities(limit, type=type))

    def entity(self, entity: UUID | str | NameKey, *, relations: int = 10, passages: int = 5) -> EntityDetails:
        """An entity by its id or by one of its names: what is said of it, its heaviest relations, and passages that
        mention it.

        A name need not have the case, accents or article that documents write it with. UnknownEntity where no entity
        has it, with names like it; AmbiguousName where several have it, with these: NameKey says of which type.
        """
        return self._wait_for(lambda trueweave: trueweave.graph.entity(entity, relations=relations, passages=passages))

    def search_entities(
        self, text: str, limit: int = 10, *, type: str = "", filter: Filter | None = None
    ) -> Hits[Entity]:
        """The entities that fit a text best: by meaning and by the words of their names, or by words alone where
        nothing is embedded, which `by` says."""
        return self._wait_for(lambda trueweave: trueweave.graph.search_entities(text, limit, type=type, filter=filter))

    def search_relations(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> Hits[Relation]:
        """The relations that fit a text best: by meaning and by the words of their names, keywords and descriptions, or
        by words alone where nothing is embedded, which `by` says."""
        return self._wait_for(lambda trueweave: trueweave.graph.search_relations(text, limit, filter=filter))

    def relations(self, *entities: UUID | str | NameKey, limit: int = 50) -> list[Relation]:
        """The relations from and to these entities, given by id or name; of all entities, if none are given. The
        heaviest come first."""
        return self._wait_for(lambda trueweave: trueweave.graph.relations(*entities, limit=limit))

    def neighbours(self, *entities: UUID | str | NameKey, hops: int = 1, limit: int = 50) -> list[Entity]:
        """The entities around these, given by id or name, over so many relations: nearer ones first, then those more
        heavily related."""
        return self._wait_for(lambda trueweave: trueweave.graph.neighbours(*entities, hops=hops, limit=limit))

    def path(
        self, start: UUID | str | NameKey, end: UUID | str | NameKey, *, longest: int = 6, passages: int = 2
    ) -> EntityPath | None:
        """A shortest path from one entity to another over relations in either direction, with passages that state each;
        of paths of the same length the one whose weakest relation is heaviest.

        The search is bounded: of each entity the heaviest relations are followed. None where no path of at most
        `longest` relations is found.
        """
        return self._wait_for(lambda trueweave: trueweave.graph.path(start, end, longest=longest, passages=passages))

    def picture(
        self,
        entity: UUID | str | NameKey | None = None,
        *,
        to: UUID | str | NameKey | None = None,
        community: UUID | str | None = None,
        hops: int = 1,
        longest: int = 6,
        limit: int = 100,
    ) -> GraphPicture:
        """A picture of an entity with what is around it, of the path from it `to` another, or of a community. It shows
        itself in a notebook, and `save` writes it as a page or as a drawing.

        It has `limit` entities at most, 500 at the very most; its `note` says what was left out.
        """
        return self._wait_for(
            lambda trueweave: trueweave.graph.picture(
                entity, to=to, community=community, hops=hops, longest=longest, limit=limit
            )
        )

    def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return self._wait_for(lambda trueweave: trueweave.graph.nearest(kind, vector, limit))

    def export(self, path: str | Path) -> None:
        """Write the workspace to a file, as its name ends: the graph with its communities in .json, .graphml, .parquet
        (a folder), .nt, .ttl or .cypher; and in .jsonl the documents with all that is said in them, to be imported."""
        self._wait_for(lambda trueweave: trueweave.graph.export(path))

    def to_networkx(self) -> Any:
        """The whole graph in memory, as a `networkx.DiGraph`: entities by their ids, and the relations between them."""
        return self._wait_for(lambda trueweave: trueweave.graph.to_networkx())

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """What changed after a position of the outbox, in order, for a projection to follow."""
        return self._wait_for(lambda trueweave: trueweave.graph.changes(after, limit))


class CommunitiesGroup(_Group):
    """The communities of a workspace: `trueweave.communities`."""

    def find(self) -> CommunityChanges:
        """Find the communities of the graph as it is settled now; what that changed.

        Nothing is done where the graph is as it was. No model is asked: `write_reports` does that.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.find())

    def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        return self._wait_for(lambda trueweave: trueweave.communities.estimate_reports())

    def write_reports(self, listener: Listener = ignore) -> Reported:
        """Write about all communities that have no report, or a stale one; how many that were.

        Without a language model, names and sentences are picked out of the documents. Like `add` it may be stopped at
        any moment and run again, and other workers of this workspace go on with it.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.write_reports(listener))

    def request_reports(self) -> None:
        """Have workers write about all communities that have no report, or a stale one, and do not wait for them."""
        self._wait_for(lambda trueweave: trueweave.communities.request_reports())

    def hierarchy(self) -> Hierarchy | None:
        """The communities as a whole, level by level; None where none were looked for yet."""
        return self._wait_for(lambda trueweave: trueweave.communities.hierarchy())

    def select(
        self, level: int | None = None, *, within: UUID | None = None, since: datetime | None = None, limit: int = 50
    ) -> list[Community]:
        """Communities, the largest first: of a level, right within another, or changed since then."""
        return self._wait_for(
            lambda trueweave: trueweave.communities.select(level, within=within, since=since, limit=limit)
        )

    def retired(self, since: datetime, limit: int = 50) -> list[RetiredCommunity]:
        """Communities that are no more since then, the latest first."""
        return self._wait_for(lambda trueweave: trueweave.communities.retired(since, limit))

    def get(self, id: UUID | str) -> Community:
        """The community of this id, or of the one id that begins like this."""
        return self._wait_for(lambda trueweave: trueweave.communities.get(id))

    def report(self, community: UUID) -> CommunityReport | None:
        """What is written about a community, if anything is."""
        return self._wait_for(lambda trueweave: trueweave.communities.report(community))

    def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        return self._wait_for(lambda trueweave: trueweave.communities.members(community, limit))


class RulesGroup(_Group):
    """The rules of a workspace: `trueweave.rules`."""

    def merge(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Let these names be one entity from now on, whatever documents come."""
        return self._wait_for(lambda trueweave: trueweave.rules.merge(*names, by=by, id=id))

    def split(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Let these names be an entity of their own, apart from all that they are alike to."""
        return self._wait_for(lambda trueweave: trueweave.rules.split(*names, by=by, id=id))

    def rename(self, name: NameKey, label: str, *, by: str = "", id: UUID | None = None) -> Rule:
        """Let the entity of this name be called `label`."""
        return self._wait_for(lambda trueweave: trueweave.rules.rename(name, label, by=by, id=id))

    def retype(
        self, name: NameKey, type: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Let the entity of this name be of this type; or with a `target`, the relation from it to that one."""
        return self._wait_for(lambda trueweave: trueweave.rules.retype(name, type, target=target, by=by, id=id))

    def describe(
        self, name: NameKey, text: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Let this be the description of the entity of this name, in place of what documents say; or with a `target`,
        of the relation from it to that one."""
        return self._wait_for(lambda trueweave: trueweave.rules.describe(name, text, target=target, by=by, id=id))

    def suppress(self, name: NameKey, *, target: NameKey | None = None, by: str = "", id: UUID | None = None) -> Rule:
        """Let there be no entity of this name, and no relation from or to it; or with a `target`, no relation from it
        to that one. No fact about it reaches an answer, a report or a copy in another store. Texts keep its words."""
        return self._wait_for(lambda trueweave: trueweave.rules.suppress(name, target=target, by=by, id=id))

    def add(self, fact: Mention | Link, *, by: str = "", id: UUID | None = None) -> Rule:
        """Add an entity or a relation that no document tells of. It is stated in a document of its own, which answers
        can cite."""
        return self._wait_for(lambda trueweave: trueweave.rules.add(fact, by=by, id=id))

    def undo(self, rule: UUID) -> None:
        """Take a rule back, as if it had never been made."""
        self._wait_for(lambda trueweave: trueweave.rules.undo(rule))

    def all(self) -> list[Rule]:
        """All rules, in the order in which they were made, and facts that were added after them."""
        return self._wait_for(lambda trueweave: trueweave.rules.all())

    def suggestions(self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False) -> list[Suggestion]:
        """Names that may be one thing, with passages of both: pairs more alike than the threshold (that of the
        resolution, if none is given) which are two entities and on which nobody has decided, the most alike first; or
        else those that were `rejected`."""
        return self._wait_for(lambda trueweave: trueweave.rules.suggestions(threshold, limit=limit, rejected=rejected))

    def accept(self, *which: UUID | str | int) -> list[Rule]:
        """Merge the names of these suggestions, given by id (or how it begins) or by number in the last list."""
        return self._wait_for(lambda trueweave: trueweave.rules.accept(*which))

    def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all names that are more alike than this and would be suggested."""
        return self._wait_for(lambda trueweave: trueweave.rules.accept_above(threshold))

    def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Suggest none of these pairs of names again."""
        return self._wait_for(lambda trueweave: trueweave.rules.reject(*which))

    def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each of these names those that some document mentions now, written just so; without a type, of any."""
        return self._wait_for(lambda trueweave: trueweave.rules.mentioned(names))

    def resolution(self) -> ResolutionSettings:
        """What makes two names one entity here."""
        return self._wait_for(lambda trueweave: trueweave.rules.resolution())

    def change_resolution(self, to: ResolutionSettings) -> None:
        """Resolve all names by other settings."""
        self._wait_for(lambda trueweave: trueweave.rules.change_resolution(to))


class JobsGroup(_Group):
    """Documents that workers bring in: `trueweave.jobs`."""

    def submit(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        job: UUID | None = None,
    ) -> IngestJob:
        """Hand in files, whole folders and texts for workers, and wait for none of them: they are read, and are part of
        the index once `trueweave worker`, or anybody who adds documents, has worked them.

        What is there unchanged is left alone, unless `refresh` has it worked again where an earlier version of the
        extractor or of its prompts made it. With a `job`, these documents are added to it. `get` tells how far they
        are.
        """
        return self._wait_for(
            lambda trueweave: trueweave.jobs.submit(*what, listener=listener, refresh=refresh, job=job)
        )

    def get(self, id: UUID) -> IngestJob:
        """The documents that were handed in as this job, and how far they are. UnknownJob where there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.get(id))

    def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, the latest first. The next page begins before the last one of this: its `made` and its `id`."""
        return self._wait_for(lambda trueweave: trueweave.jobs.latest(limit, before=before))

    def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and how far each is. The next page begins after the last uri of this one."""
        return self._wait_for(lambda trueweave: trueweave.jobs.documents(job, limit, after=after))

    def state(self, uri: str) -> DocumentState:
        """How far one document is, however it was added. UnknownDocument where there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.state(uri))


class BudgetGroup(_Group):
    """The budget of a workspace: `trueweave.budget`."""

    def get(self) -> Budget:
        """What this workspace may spend on models, and has spent."""
        return self._wait_for(lambda trueweave: trueweave.budget.get())

    def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend so much more, in money or in tokens, over all workers; without either, no cap."""
        return self._wait_for(lambda trueweave: trueweave.budget.allow(price=price, tokens=tokens))

    def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since then, by stage and model."""
        return self._wait_for(lambda trueweave: trueweave.budget.receipt(since))

    def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since then on the costliest documents, by model."""
        return self._wait_for(lambda trueweave: trueweave.budget.receipt_by_document(since, limit))


class ProjectionsGroup(_Group):
    """Copies of a workspace in Neo4j and Chroma: `trueweave.projections`."""

    def status(self) -> list[ProjectionStatus]:
        """The stores that have a copy of this workspace, or are to have one, and how far each is."""
        return self._wait_for(lambda trueweave: trueweave.projections.status())

    def start(self, store: StoreName, stop: threading.Event | None = None, listener: Listener = ignore) -> None:
        """Let this workspace have a copy in a store, and keep it up to date until `stop` is set."""
        self._wait_for(lambda trueweave: trueweave.projections.start(store, awaited(stop), listener))

    def catch_up(self, store: StoreName, listener: Listener = ignore) -> None:
        """Let this workspace have a copy in a store, and bring it up to date, by whichever projector."""
        self._wait_for(lambda trueweave: trueweave.projections.catch_up(store, listener))

    def rebuild(self, store: StoreName, listener: Listener = ignore) -> None:
        """Build another copy beside the one that answers questions, and switch to it when it is complete."""
        self._wait_for(lambda trueweave: trueweave.projections.rebuild(store, listener))

    def verify(self, store: StoreName, limit: int = 20) -> list[ProjectionDifference]:
        """Compare all that the copy in a store has with the record; the first differences. Nothing is changed, and
        nothing should change meanwhile."""
        return self._wait_for(lambda trueweave: trueweave.projections.verify(store, limit))

    def remove(self, store: StoreName) -> bool:
        """Drop the copy of this workspace in a store; whether there was one."""
        return self._wait_for(lambda trueweave: trueweave.projections.remove(store))

    def enable(self, store: StoreName) -> None:
        """Let this workspace have a copy in a store; a projector builds it."""
        self._wait_for(lambda trueweave: trueweave.projections.enable(store))


class MaintenanceGroup(_Group):
    """The upkeep of a workspace: `trueweave.maintenance`."""

    def settle(self) -> int:
        """Bring the view up to date with all that is stored; how many versions of documents were settled."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.settle())

    def digest(self) -> str:
        """A hash of all that readers can see: equal digests, equal indexes, whatever the ids inside."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.digest())

    def state(self) -> str:
        """A key that changes whenever documents, rules or vectors do. Unlike a digest it is quick, and says nothing of
        another database."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.state())

    def verify(self, progress: Progress = unseen) -> Verdict:
        """Build the index anew beside this one, from the documents that it shows, and compare.

        Nothing in this workspace is changed, and no model is asked: what the vectors stand for is compared by the
        hashes of their texts. What waits to be settled is counted, not settled.
        """
        return self._wait_for(lambda trueweave: trueweave.maintenance.verify(progress))

    def sweep(self) -> Swept:
        """Take away what nobody needs any longer: names that no document mentions, what has been kept for as long as
        the settings say, and what removed documents and killed processes left. Workers do all but the names."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.sweep())

    def drop(self) -> int:
        """Take the workspace away, with all that is in it; how many documents there were.

        Whoever is adding documents is waited for where a transaction is under way, and gets UnknownWorkspace after it.
        """
        return self._wait_for(lambda trueweave: trueweave.maintenance.drop())

    def estimate_reembed(self, model: str) -> EmbeddingEstimate:
        """What `reembed` would take. The model is asked for its dimensions, and no text is sent to it."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.estimate_reembed(model))

    def reembed(self, model: str, progress: Progress = unseen) -> None:
        """Embed everything with the model of that name, paid from the budget, then switch to it at once.

        Like `add` it may be stopped at any moment and run again: what is embedded is kept. Questions are answered by
        the old vectors until then, and those are dropped afterwards. `progress` is told how many more texts are done.
        """
        self._wait_for(lambda trueweave: trueweave.maintenance.reembed(model, progress))

    def change_space(self, embedder: Embedder, progress: Progress = unseen) -> None:
        """Embed everything with another model beside the old vectors, then switch to it at once."""
        self._wait_for(lambda trueweave: trueweave.maintenance.change_space(embedder, progress))

    @property
    def own_settings(self) -> dict[str, Any]:
        """The settings that this workspace has of its own, as they were when it was opened or last changed here."""
        return self._trueweave.maintenance.own_settings

    def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Give this workspace settings of its own, for all who work in it, and take others back; those in force here
        now. Other processes see them when they next open the workspace."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.change_settings(changes, unset))

    def clock(self) -> datetime:
        """The time by the database's clock, by which `ingest_progress` and receipts count."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.clock())

    def ingest_progress(self, since: datetime | None = None) -> IngestProgress:
        """How many documents came in since then, whoever worked them, and how many wait. A database that is away is
        waited for."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.ingest_progress(since))

    def duplicates(self, since: datetime) -> list[Duplicate]:
        """The documents that came in since then and have the very text of one that was there before."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.duplicates(since))

    def notes(self, since: datetime, named: int = 3) -> list[Note]:
        """What was odd about the documents that came in since then, with the names of the first so many."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.notes(since, named))

    def out_of_date(self) -> list[OutOfDate]:
        """Documents that were worked by other settings than those of now, or by another version of the extractor; none
        where the settings name no extractor that could be used here."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.out_of_date())

    def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. Adding one again tries it again."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.failed_documents(limit))

    def failed_work(self, limit: int = 20) -> list[FailedWork]:
        """Work that failed by a bug of Trueweave, the latest first. `retry` tries it again."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.failed_work(limit))

    def retry(self, listener: Listener = ignore) -> int:
        """Try again what failed: failed documents, and work that failed by a bug; how much that was."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.retry(listener))

    def bulk_load(
        self,
        paths: Sequence[str],
        spool: Path,
        *,
        ray_address: str | None = None,
        told: Callable[[str, int, int], None] | None = None,
        gpus: float = 0,
    ) -> BulkReport:
        """Load files, folders and addresses such as s3://bucket/folder on a Ray cluster; on one of this machine where
        no address is given. Afterwards the workspace has another number: open it again.

        The index is built beside this workspace, together with the documents that are here, and takes its place at the
        end in one transaction; until then nothing is seen of it. `spool` is a folder that all nodes share, in which
        what was made is kept, so that a load that was stopped goes on from there when it is started again. `told` is
        called with the name of a stage, and how many of how many units are done. `gpus` is how many each process that
        extracts and embeds takes. An embedder, extractor or chunker that this was opened with is sent to the processes
        by pickle.
        """
        return self._wait_for(
            lambda trueweave: trueweave.maintenance.bulk_load(
                paths, spool, ray_address=ray_address, told=told, gpus=gpus
            )
        )


class Trueweave(_Waiting):
    """One workspace: all that AsyncTrueweave does, in calls that wait until it is done.

    It is opened by `with`, or else by the first call, and let go at the end of `with`, by `close`, or with the program.
    The work is done in a thread of its own, where listeners are called too: so it also goes on inside a running event
    loop, as in a notebook. Several threads may call at the same time, and Ctrl-C stops what the call began.
    """

    def __init__(
        self,
        url: str | None = None,
        workspace: str | None = None,
        embedder: Embedder | None = None,
        *,
        llm: StreamingLLM | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> None:
        """The workspace of that name, or of the settings. The one of the settings is made when it is new. One that is
        named here must be there, so that a mistyped name is UnknownWorkspace. `make` says otherwise: True makes either,
        False makes nothing.

        What is not given here is as the settings say, which are those of trueweave.toml and the environment unless
        given too. Without a `url` anywhere it is in the bundled PostgreSQL, which is made unless `make` is False,
        started and migrated if need be, and left running. Any other database must have been migrated: SchemaMismatch
        says what to run.
        `readers` takes PostgreSQL's readers and the filter of a question, and gives those to answer it from.
        `extractor` and `chunker` take the place of those of the settings: as they are, or a class or function that
        makes one from an IngestContext. Other processes do not have them: a document that was added with one fails
        there, with an error that says so.
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

    @staticmethod
    def migrate(url: str | None = None, *, settings: Settings | None = None) -> list[str]:
        """Make Trueweave's schema in a database, or bring it up to date; the names of the migrations that were applied.

        `url` is the address of PostgreSQL itself with the user who owns the schema, or is to own it. Without it, it is
        that of owner_database_url in the settings, else direct_database_url, else database_url, else the bundled
        PostgreSQL. If another process migrates the same database, it is waited for. Without a `url` all servers of the
        settings are migrated, and new ones are joined.
        """
        return wait_for(lambda: AsyncTrueweave.migrate(url, settings=settings))

    @contextmanager
    def rebuilt(self, progress: Progress = unseen) -> Iterator[Trueweave]:
        """A temporary workspace built from scratch from the documents that this one shows, with its settings and rules.
        It has no models, and is dropped at the end."""
        with self._entered(lambda trueweave: trueweave.rebuilt(progress)) as entered:
            yield self._beside(entered)

    @property
    def settings(self) -> Settings:
        """The settings in force here: those of the workspace over those of the process."""
        return self._trueweave.settings

    def status(self) -> Status:
        """How large the workspace is, and what still waits to be settled."""
        return self._wait_for(lambda trueweave: trueweave.status())

    # --- documents ---------------------------------------------------------------------------------

    def add(
        self, *what: str | Path | Source, listener: Listener = ignore, prune: bool = False, refresh: bool = False
    ) -> Added:
        """Add files, whole folders and texts: each becomes a document, worked as the settings say, and settled. A path
        that does not exist is UnreadableFile, before anything is added.

        What is there unchanged is left alone, so a run that was interrupted, or stopped by an error such as
        BudgetReached, is simply run again. Other workers of this workspace help. Where a setting or a model's refusal
        stops it, what nobody has begun is taken out of the queue again. With `prune`, documents whose files are gone
        from these folders are removed at the end. With `refresh`, unchanged documents are worked again where an earlier
        version of the extractor or of its prompts made them.
        """
        return self._wait_for(lambda trueweave: trueweave.add(*what, listener=listener, prune=prune, refresh=refresh))

    def plan_sync(self, *folders: str | Path, listener: Listener = ignore) -> SyncPlan:
        """What `sync` would do. Nothing is changed, and no model is asked."""
        return self._wait_for(lambda trueweave: trueweave.plan_sync(*folders, listener=listener))

    def sync(self, *folders: str | Path, plan: SyncPlan | None = None, listener: Listener = ignore) -> Added:
        """Bring the index up to date with folders: add what is new or changed, remove what is gone from them.

        With a `plan`, nothing is removed that it does not name.
        """
        return self._wait_for(lambda trueweave: trueweave.sync(*folders, plan=plan, listener=listener))

    def matching(self, *what: str | Path) -> dict[str, list[str]]:
        """The uris of the documents that each of these stands for: a file with its rows, a folder, a pattern or a
        uri."""
        return self._wait_for(lambda trueweave: trueweave.matching(*what))

    def estimate(
        self, *what: str | Path | Source | NamedFile, listener: Listener = ignore, refresh: bool = False
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist is UnreadableFile."""
        return self._wait_for(lambda trueweave: trueweave.estimate(*what, listener=listener, refresh=refresh))

    def try_extract(self, what: str | Path | Source, *, chunk: int = 1, listener: Listener = ignore) -> ExtractionTrial:
        """What the extractor makes of one chunk, counted from 1, of a text or of the first document in a file: the
        prompts, the replies, what is kept, what is left out and why, and what it cost.

        Nothing is added to the index. Replies are cached as always.
        """
        return self._wait_for(lambda trueweave: trueweave.try_extract(what, chunk=chunk, listener=listener))

    def work(self, listener: Listener = ignore, stop: threading.Event | None = None) -> None:
        """Take jobs of this workspace from the queue until `stop` is set; then end what is begun."""
        self._wait_for(lambda trueweave: trueweave.work(listener, awaited(stop)))

    def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = unseen,
        refused: Callable[[Refused], None] | None = None,
    ) -> int:
        """Store documents whose entities and relations are given, and settle them; how many were new or changed.

        A document whose uri is already there replaces the one of that uri. Documents are read as they are stored, so
        there may be more of them than fit in memory. `progress` is told how many more are done. One that cannot be
        stored is an error that names it, or `refused` is told of it and the others go on.
        """
        return self._wait_for(lambda trueweave: trueweave.add_documents(documents, progress, refused))

    def remove(self, uris: Sequence[str]) -> int:
        """Remove these documents, all in one pass, and settle; how many there were.

        Their text is erased everywhere: also from what models replied about it, and from reports that may quote it,
        which are to be written again.
        """
        return self._wait_for(lambda trueweave: trueweave.remove(uris))

    def documents(self) -> Iterator[Document]:
        """All documents as they were stored, in no particular order."""
        return self._iterate(lambda trueweave: trueweave.documents())

    def list_documents(
        self, limit: int = 50, *, noted: bool = False, after: str = "", prefix: str = "", filter: Filter | None = None
    ) -> list[DocumentInfo]:
        """The documents that are there and pass a filter, by uri; only those with a note, or whose uri begins with a
        `prefix`, if that is wanted. The next page begins after the last uri of this one."""
        return self._wait_for(
            lambda trueweave: trueweave.list_documents(limit, noted=noted, after=after, prefix=prefix, filter=filter)
        )

    def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document of this uri: its title and metadata, so many of its chunks from the `first` on, with their
        places, and the entities that it mentions most. With a `start`, chunks are counted from the one that this
        character of the document is in. UnknownDocument where there is none, with uris like it."""
        return self._wait_for(
            lambda trueweave: trueweave.document(uri, first=first, chunks=chunks, entities=entities, start=start)
        )

    # --- questions ---------------------------------------------------------------------------------

    @takes(AskOptions)
    def ask(self, asked: AskOptions) -> Answer:
        """The answer to a question from what a method finds, every citation checked.

        `method` is a name, or a method with parameters of its own; `filter` selects documents, and `history` is the
        conversation so far. With `use_cot` the model thinks first, and its reasoning is kept apart; with
        `numerical_answer` it gives a number and its unit alone, with `extractive` quotes alone; with `context_only` it
        is not asked. `verifiers` check the answer in their order, by name ("rules", "llm", "onnx/FOLDER") or as
        objects, and `repair` gives the model the sentences that they do not confirm once more; both are as in the
        settings unless given. `options` has further instructions, language, length and temperature of this answer. The
        listener receives what the question waits for.
        """
        return self._wait_for(lambda trueweave: trueweave.ask(**values(asked)))

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Iterator[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the whole of it, checked: see `ask`.

        You can close the stream early, or drop it: either cancels generation.
        """
        return self._iterate(lambda trueweave: trueweave.stream(**values(asked)))

    @takes(RetrieveOptions)
    def retrieve(self, asked: RetrieveOptions) -> Evidence:
        """What a method finds for a question, and how, without an answer."""
        return self._wait_for(lambda trueweave: trueweave.retrieve(**values(asked)))

    def search(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[Passage]:
        """The passages that fit a text best: by meaning and by words, or by words alone where nothing is embedded."""
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
        """What these methods find for a question, side by side; all methods there are, when none are given.

        A method that cannot be used here is listed with the reason.
        """
        return self._wait_for(
            lambda trueweave: trueweave.compare(question, methods, filter=filter, answers=answers, listener=listener)
        )

    @property
    def method(self) -> str:
        """The method that answers where none is named: that of the settings, or auto."""
        return self._trueweave.method

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""
        return self._trueweave.has_model

    def conversation(
        self, method: str | Method | None = None, *, filter: Filter | None = None, history: Sequence[Message] = ()
    ) -> Conversation:
        """A conversation: questions one after the other, each understood from what was said before, which may begin
        with a `history`."""
        return Conversation(self, method, filter=filter, history=history)

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
    def maintenance(self) -> MaintenanceGroup:
        """What is about maintenance."""
        return MaintenanceGroup(self)
