"""Client: the synchronous client of a server, derived from AsyncClient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from trueweave.answering.conversations import Conversation
from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.client.client import AsyncClient
from trueweave.core.answers import Answer, Comparison
from trueweave.core.events import Added, Listener, Progress, Refused, ignore, unseen
from trueweave.core.evidence import DocumentDetails, EntityDetails, EntityPath, Evidence, Filter, Hits, Passage
from trueweave.core.graph import (
    Community,
    CommunityChanges,
    CommunityReport,
    Entity,
    Hierarchy,
    Relation,
    RetiredCommunity,
    Rule,
    Suggestion,
)
from trueweave.core.jobs import DocumentInfo, DocumentState, FailedDocument, IngestJob, Status
from trueweave.core.model_calls import Message
from trueweave.core.money import Budget, Estimate, ReportEstimate, Spent, SpentOn
from trueweave.core.parameters import takes, values
from trueweave.core.record import Document, Link, Mention, NamedFile, NameKey, ResolutionSettings, Source
from trueweave.core.settings import Settings
from trueweave.core.waiting import WaitingCalls, WaitingGroup
from trueweave.formats.pictures import GraphPicture
from trueweave.retrieval.context import Method


class _Waiting(WaitingCalls[AsyncClient]):
    pass


class _Group(WaitingGroup[AsyncClient]):
    pass


# --- written by `make sync` from trueweave/client: what is below is changed there ---


class ClientGraph(_Group):
    """The graph of a workspace of a server: `client.graph`."""

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


class ClientCommunities(_Group):
    """The communities of a workspace of a server: `client.communities`."""

    def get(self, id: UUID | str) -> Community:
        """The community of this id, or of the one id that begins like this."""
        return self._wait_for(lambda trueweave: trueweave.communities.get(id))

    def report(self, community: UUID) -> CommunityReport | None:
        """What is written about a community, if anything is."""
        return self._wait_for(lambda trueweave: trueweave.communities.report(community))

    def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        return self._wait_for(lambda trueweave: trueweave.communities.members(community, limit))

    def find(self) -> CommunityChanges:
        """Find the communities of the graph as it is settled now; what that changed.

        Nothing is done where the graph is as it was. No model is asked: `write_reports` does that.
        """
        return self._wait_for(lambda trueweave: trueweave.communities.find())

    def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        return self._wait_for(lambda trueweave: trueweave.communities.estimate_reports())

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


class ClientRules(_Group):
    """The rules of a workspace of a server: `client.rules`."""

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

    def change_resolution(self, to: ResolutionSettings) -> None:
        """Resolve all names by other settings."""
        self._wait_for(lambda trueweave: trueweave.rules.change_resolution(to))

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

    def resolution(self) -> ResolutionSettings:
        """What makes two names one entity here."""
        return self._wait_for(lambda trueweave: trueweave.rules.resolution())


class ClientJobs(_Group):
    """Documents that workers of a server bring in: `client.jobs`."""

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

    def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, the latest first. The next page begins before the last one of this: its `made` and its `id`."""
        return self._wait_for(lambda trueweave: trueweave.jobs.latest(limit, before=before))

    def get(self, id: UUID) -> IngestJob:
        """The documents that were handed in as this job, and how far they are. UnknownJob where there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.get(id))

    def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and how far each is. The next page begins after the last uri of this one."""
        return self._wait_for(lambda trueweave: trueweave.jobs.documents(job, limit, after=after))

    def state(self, uri: str) -> DocumentState:
        """How far one document is, however it was added. UnknownDocument where there is none."""
        return self._wait_for(lambda trueweave: trueweave.jobs.state(uri))


class ClientBudget(_Group):
    """The budget of a workspace of a server: `client.budget`."""

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


class ClientMaintenance(_Group):
    """The upkeep of a workspace of a server, as far as it is done from outside: `client.maintenance`."""

    def drop(self) -> int:
        """Take the workspace away, with all that is in it; how many documents there were.

        Whoever is adding documents is waited for where a transaction is under way, and gets UnknownWorkspace after it.
        """
        return self._wait_for(lambda trueweave: trueweave.maintenance.drop())

    def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. Adding one again tries it again."""
        return self._wait_for(lambda trueweave: trueweave.maintenance.failed_documents(limit))


class Client(_Waiting):
    """One workspace of a server: all that AsyncClient does, in calls that wait until it is done.

    It is opened by `with`, or else by the first call, and let go at the end of `with`, by `close`, or with the program.
    Requests are made in a thread of its own, where listeners are called too: so it also works inside a running event
    loop, as in a notebook. Several threads may call at the same time, and Ctrl-C stops what the call began.
    """

    def __init__(
        self,
        url: str,
        workspace: str | None = None,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        timeout: float = 300.0,
        insecure: bool = False,
    ) -> None:
        """The workspace of that name, or of the settings, at the server of this address. The one of the settings is
        made when it is new, if the key allows it. One that is named here must be there, so that a mistyped name is
        UnknownWorkspace. `make` says otherwise: True makes either, False makes nothing.

        Without a `key` it is that of the variable TRUEWEAVE_KEY; a server on this machine may need none. An address
        that begins with http:// must be of this machine, unless `insecure` says that the network is trusted. The server
        has `timeout` seconds to answer a request. The settings, which are those of trueweave.toml and the environment
        unless given, say the name of the workspace where none is given, and what files are called that are sent.
        """
        super().__init__(
            lambda: AsyncClient.open(
                url, workspace, key=key, settings=settings, make=make, timeout=timeout, insecure=insecure
            )
        )

    def status(self) -> Status:
        """How large the workspace is, and what still waits to be settled."""
        return self._wait_for(lambda trueweave: trueweave.status())

    # --- documents ---------------------------------------------------------------------------------

    def add(
        self, *what: str | Path | Source, listener: Listener = ignore, prune: bool = False, refresh: bool = False
    ) -> Added:
        """Add files, whole folders and texts: they are sent to the server, where each becomes a document, worked by its
        workers as the settings there say, and settled. This waits for that; `jobs.submit` does not.

        What is there unchanged is left alone, so a run that was interrupted is simply run again. The listener hears
        what was found and could not be read, how many documents are settled, and at the end of each what came of it.
        With `refresh`, unchanged documents are worked again where an earlier version of the extractor or of its prompts
        made them. `prune` is for who is beside the database, and an error here.
        """
        return self._wait_for(lambda trueweave: trueweave.add(*what, listener=listener, prune=prune, refresh=refresh))

    def estimate(
        self, *what: str | Path | Source | NamedFile, listener: Listener = ignore, refresh: bool = False
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist is UnreadableFile."""
        return self._wait_for(lambda trueweave: trueweave.estimate(*what, listener=listener, refresh=refresh))

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

    def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document of this uri: its title and metadata, so many of its chunks from the `first` on, with their
        places, and the entities that it mentions most. With a `start`, chunks are counted from the one that this
        character of the document is in. UnknownDocument where there is none, with uris like it."""
        return self._wait_for(
            lambda trueweave: trueweave.document(uri, first=first, chunks=chunks, entities=entities, start=start)
        )

    def list_documents(
        self, limit: int = 50, *, noted: bool = False, after: str = "", prefix: str = "", filter: Filter | None = None
    ) -> list[DocumentInfo]:
        """The documents that are there and pass a filter, by uri; only those with a note, or whose uri begins with a
        `prefix`, if that is wanted. The next page begins after the last uri of this one."""
        return self._wait_for(
            lambda trueweave: trueweave.list_documents(limit, noted=noted, after=after, prefix=prefix, filter=filter)
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
    def graph(self) -> ClientGraph:
        """What is about graph."""
        return ClientGraph(self)

    @property
    def communities(self) -> ClientCommunities:
        """What is about communities."""
        return ClientCommunities(self)

    @property
    def rules(self) -> ClientRules:
        """What is about rules."""
        return ClientRules(self)

    @property
    def jobs(self) -> ClientJobs:
        """What is about jobs."""
        return ClientJobs(self)

    @property
    def budget(self) -> ClientBudget:
        """What is about budget."""
        return ClientBudget(self)

    @property
    def maintenance(self) -> ClientMaintenance:
        """What is about maintenance."""
        return ClientMaintenance(self)
