"""Bodies of requests and responses. They have the same form as the `--json` output of the matching commands."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, StrictBool, StrictInt, model_validator

from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.core.answers import Answer, AnswerOptions, Citation, Sentence
from trueweave.core.errors import ConfigError
from trueweave.core.evidence import EntityPath, Evidence, Filter, Passage, Scalar, SearchedBy, Trace, Usage
from trueweave.core.graph import Community, CommunityReport, Entity, GraphMap, GraphNode, Relation, Rule, RuleKind
from trueweave.core.jobs import IngestJob, JobState, Status
from trueweave.core.model_calls import Message
from trueweave.core.parameters import plain_values
from trueweave.core.ranges import Range, RangeBounds
from trueweave.core.record import NameKey, Place, PlaceKind, Source
from trueweave.formats.pictures.contents import PictureContents
from trueweave.retrieval.context import Method
from trueweave.retrieval.methods import registry
from trueweave.server.fields import (
    MOST_METADATA,
    MOST_PLACES,
    DocumentText,
    Groups,
    Label,
    Line,
    MessageText,
    Name,
    Price,
    Question,
    Uri,
    WorkspaceSlug,
    with_fields,
    with_optional_fields,
    with_parameters,
)
from trueweave.server.problems import Refusal


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


# --- questions ----------------------------------------------------------------------------------------


class RangeBody(_Request):
    """All numbers, or all times in ISO 8601, from `low` to `high`; `bounds` says whether the ends are included."""

    low: StrictInt | FiniteFloat | Line | None = None
    high: StrictInt | FiniteFloat | Line | None = None
    bounds: RangeBounds = "[]"


_Value = StrictBool | StrictInt | FiniteFloat | Line | RangeBody


class FilterBody(_Request):
    """Filters documents by all of these conditions: by uri, if any are given; by how the uri begins; by metadata, where
    each key must have one of the given values or a value in one of the given ranges; and by filters of which a document
    must pass all, at least one, or none."""

    uris: Annotated[list[Uri], Field(max_length=1000)] = []
    metadata: Annotated[
        dict[Name, _Value | Annotated[list[_Value], Field(min_length=1, max_length=100)]], Field(max_length=20)
    ] = {}
    prefix: Line = ""
    all_of: Annotated[list[FilterBody], Field(max_length=50)] = []
    any_of: Annotated[list[FilterBody], Field(max_length=50)] = []
    none_of: Annotated[list[FilterBody], Field(max_length=50)] = []

    def filter(self) -> Filter:
        """The filter for the engine. Raises Refusal if it is not valid."""
        try:
            metadata = {
                key: [_value(one) for one in (value if isinstance(value, list) else [value])]
                for key, value in self.metadata.items()
            }
            groups = (self.all_of, self.any_of, self.none_of)
            return Filter(tuple(self.uris), metadata, self.prefix, *(tuple(x.filter() for x in one) for one in groups))
        except ConfigError as error:
            raise Refusal(422, "invalid_filter", str(error), "Change the filter.") from error


def _value(given: _Value) -> Scalar | Range:
    return Range(given.low, given.high, given.bounds) if isinstance(given, RangeBody) else given


class MessageBody(_Request):
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: MessageText


@with_parameters(AnswerOptions)
class OptionsBody(_Request):
    """How to answer a question."""

    def options(self) -> AnswerOptions:
        """The options for the engine."""
        return AnswerOptions(**plain_values(self, AnswerOptions))


@with_parameters(RetrieveOptions)
class RetrieveBody(_Request):
    """A question to find evidence for, the method with its parameters, and a filter on documents."""

    question: Question
    method: Line | None = Field(default=None, description="`GET /v1/methods` lists them; the workspace's own if none.")
    parameters: Annotated[dict[Line, JsonValue], Field(max_length=50)] = {}
    filter: FilterBody = FilterBody()

    def asked(self, default: str) -> RetrieveOptions:
        """The options for the engine, with the `default` method if none is named."""
        return RetrieveOptions(
            self.question, self.chosen(default), filter=self.filter.filter(), **plain_values(self, RetrieveOptions)
        )

    def chosen(self, default: str) -> Method:
        """The method with its parameters."""
        return registry.make(self.method or default, self.parameters)


@with_parameters(AskOptions)
class AskBody(RetrieveBody):
    """A question, and how to answer it."""

    history: Annotated[list[MessageBody], Field(max_length=200)] = []
    verifiers: Annotated[list[Literal["rules", "llm"]], Field(max_length=2)] | None = None
    options: OptionsBody = OptionsBody()

    def asked(self, default: str) -> AskOptions:
        """The options for the engine, with the `default` method if none is named."""
        return AskOptions(
            self.question,
            self.chosen(default),
            filter=self.filter.filter(),
            history=[Message(one.role, one.content) for one in self.history],
            verifiers=self.verifiers,
            options=self.options.options(),
            **plain_values(self, AskOptions),
        )


class MethodChoice(_Request):
    """A method by name, with its parameters."""

    method: Line
    parameters: Annotated[dict[Line, JsonValue], Field(max_length=50)] = {}


class SearchBody(_Request):
    """A text to find passages for, or several, how many passages, and a filter on documents."""

    text: Question | Annotated[list[Question], Field(min_length=1, max_length=20)]
    limit: Annotated[int, Field(ge=1, le=200)] = 10
    filter: FilterBody = FilterBody()


class CompareBody(_Request):
    """A question, and the methods to compare; all of them, if none are given."""

    question: Question
    methods: Annotated[list[Line | MethodChoice], Field(max_length=30)] = []
    filter: FilterBody = FilterBody()
    answers: bool = False


@with_fields(Evidence, without=("trace",))
class EvidenceBody(BaseModel):
    """What a method found, best first, with the keywords it searched for and the entities that led to passages. If
    nothing was found, `reason` says why, if the method knows."""


@with_fields(Trace)
class TraceBody(BaseModel):
    """How evidence was found, step by step, with the usage."""

    statements: int


class RetrievedBody(BaseModel):
    """Evidence, and how it was found."""

    question: str
    method: str
    evidence: EvidenceBody
    trace: TraceBody
    usage: Usage


class PassagesBody(BaseModel):
    """Passages, best first."""

    passages: list[Passage]


@with_fields(Citation)
class CitationBody(BaseModel):
    """A passage that an answer cites by number, and the words in it that support the answer. `start` and `end` are the
    position of these words in the document."""

    passage: UUID
    source: str
    uri: str
    title: str
    date: str
    page: str
    box: list[float] | None
    headings: list[str]
    also: list[str]


@with_fields(Sentence)
class SentenceBody(BaseModel):
    """A sentence of an answer, and the result of checking it."""

    confirmed: bool


@with_fields(Answer, without=("text",))
class AnswerBody(BaseModel):
    """An answer, sentence by sentence, with its citations and evidence. Without a model call, `answer` and `known` are
    null."""

    method: str
    answer: str | None
    known: bool | None
    citations: list[CitationBody]
    sentences: list[SentenceBody]
    evidence: EvidenceBody
    trace: TraceBody


@with_optional_fields(AnswerBody, without=("question",))
class ComparedBody(BaseModel):
    """What one method found, and its answer if requested. If the method cannot be used, `problem` says why."""

    method: str
    problem: str


class OverlapBody(BaseModel):
    """The share of the passages of two methods that both found."""

    methods: tuple[str, str]
    share: float


class ComparisonBody(BaseModel):
    """Methods side by side on one question."""

    question: str
    methods: list[ComparedBody]
    overlap: list[OverlapBody]


# --- documents ----------------------------------------------------------------------------------------


class PlaceBody(_Request):
    """Where a page or a section begins in a text, and in the file that it was read from."""

    start: Annotated[int, Field(ge=0, lt=2**31)]
    kind: PlaceKind
    label: Label
    level: Annotated[int, Field(ge=0, le=1000)] = 0
    offset: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class TextDocument(_Request):
    """A document as text, with its pages and sections if known, and notes on problems in reading it. It replaces an
    existing document with the same uri. `readers` are the groups that can read it; none: everybody. Without `readers`,
    it keeps those that it was given before, or else has those of the access rule for its uri."""

    uri: Uri
    text: DocumentText
    title: Label = ""
    metadata: Annotated[dict[Name, JsonValue], Field(max_length=MOST_METADATA)] = {}
    places: Annotated[list[PlaceBody], Field(max_length=MOST_PLACES)] = []
    notes: Annotated[list[Label], Field(max_length=100)] = []
    readers: Groups | None = None

    def source(self) -> Source:
        """The source for the engine."""
        places = tuple(Place(one.start, one.kind, one.label, one.level, one.offset) for one in self.places)
        readers = None if self.readers is None else tuple(self.readers)
        return Source(self.uri, self.text, self.title, self.metadata, places, tuple(self.notes), readers=readers)


class TextDocuments(_Request):
    """Documents to add together."""

    documents: Annotated[list[TextDocument], Field(max_length=1000)]


class UrisBody(_Request):
    """Documents by their uris."""

    uris: Annotated[list[Uri], Field(min_length=1, max_length=1000)]


class RemovalBody(UrisBody):
    """Documents to remove."""

    erase: Annotated[bool, Field(description="Erase former versions, too, if the workspace keeps history.")] = False


class RetryBody(_Request):
    """Documents that failed, by their uris; all that failed, if none are given."""

    uris: Annotated[list[Uri], Field(max_length=1000)] = []


class RetriedBody(BaseModel):
    """How many failed documents, and other failed work, were queued again."""

    retried: int


class RemovedBody(BaseModel):
    """How many documents were removed."""

    removed: int


class SwitchedBody(BaseModel):
    """How many documents were switched."""

    switched: int


class NotUsedBody(BaseModel):
    """A file that was not read, or a document that cannot be used, and why."""

    kind: Literal["unreadable", "refused", "skipped"]
    place: str
    reason: str


class AnnotatedBody(BaseModel):
    """How many documents were read, how many of them were new or changed, and why rows were refused (the first
    hundred). `not_used` has the same reasons with their places."""

    documents: int
    new: int
    refused: list[str]
    not_used: list[NotUsedBody]


@with_fields(IngestJob)
class JobBody(BaseModel):
    """Documents that were submitted together, and their progress."""

    state: JobState

    @classmethod
    def of(cls, job: IngestJob) -> JobBody:
        """The body for a job."""
        return cls.model_validate(job, from_attributes=True)


class TakenBody(BaseModel):
    """How many documents of a request are new or changed, and how many are unchanged; how many files and rows could not
    be used, and how many were skipped."""

    new: int
    unchanged: int
    unreadable: int
    refused: int
    skipped: int


class SubmittedBody(JobBody):
    """A job, what the request added to it, and the first hundred files and rows that were not used."""

    taken: TakenBody
    not_used: list[NotUsedBody]


class SpanBody(BaseModel):
    """A chunk of a document: an exact span of its text, and its position. `places` are the pages and sections around it
    and in it."""

    id: UUID
    text: str
    start: int
    end: int
    page: str
    headings: list[str]
    places: list[Place]


class MentionedBody(BaseModel):
    """An entity, and how often a document mentions it."""

    entity: Entity
    mentions: int


class DocumentBody(BaseModel):
    """A document: some of its chunks in order (`chunks` is the total), and the entities that it mentions most.
    `readers` are the groups that can read it; empty for everybody."""

    uri: str
    title: str
    metadata: dict[str, JsonValue]
    added: datetime
    notes: list[str]
    chunks: int
    spans: list[SpanBody]
    entities: list[MentionedBody]
    readers: list[str]


# --- the graph ----------------------------------------------------------------------------------------


class FoundEntities(BaseModel):
    """Entities that match a text, best first, with their scores, and how they were searched for."""

    entities: list[Entity]
    scores: list[float]
    by: list[SearchedBy]


class FoundRelations(BaseModel):
    """Relations that match a text, best first, with their scores, and how they were searched for."""

    relations: list[Relation]
    scores: list[float]
    by: list[SearchedBy]


@with_fields(PictureContents)
class PictureBody(BaseModel):
    """A part of the graph to draw, with the passages that state its parts, by the ids of these parts. `marked` are the
    entities that the picture is about, and the relations of a path; `note` says what was left out."""

    marked: list[UUID]


class SubgraphRequest(_Request):
    """The part of the graph to draw: entities, and chunks whose entities are drawn as well."""

    entities: Annotated[list[UUID], Field(max_length=500)] = []
    chunks: Annotated[list[UUID], Field(max_length=200)] = []
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    filter: FilterBody = FilterBody()


class CompletedBody(BaseModel):
    """Entities with a name that begins with a text."""

    entities: list[GraphNode]


class NeighboursBody(BaseModel):
    """Neighbours of entities, the nearest first."""

    entities: list[Entity]


class MapBody(BaseModel):
    """A window of the map; null if communities have not been found."""

    map: GraphMap | None


class PathBody(BaseModel):
    """A shortest path; null if none was found."""

    path: EntityPath | None


class CommunityBody(BaseModel):
    """A community with its report, if there is one, and its members, those with the most relations first."""

    community: Community
    report: CommunityReport | None
    members: list[Entity]


class NameBody(_Request):
    """A name as documents write it. Without a type, it stands for all names written like this."""

    name: Name
    type: Line = ""

    def key(self) -> NameKey:
        """The name for the engine."""
        return NameKey(self.name, self.type)


class RuleRequest(_Request):
    """A decision about names or facts.

    `merge` and `split` take several names, the other kinds one. `label` is the new name, type or description; for
    `add`, the description of the fact. With a `target`, the rule is about the relation from the name to the target, and
    `type` is the type of an added relation; `keywords`, `strength` and `emphasis` also describe what is added. If the
    caller gives an `id`, sending the same rule twice creates it once. `by` says who makes the rule, besides the key.
    """

    kind: RuleKind
    names: Annotated[list[NameBody], Field(min_length=1, max_length=100)]
    label: Label = ""
    target: NameBody | None = None
    type: Line = ""
    keywords: Annotated[list[Line], Field(max_length=100)] = []
    strength: Annotated[float, Field(ge=0.001, le=1_000_000)] = 5
    emphasis: Annotated[int, Field(ge=1, le=9)] = 5
    id: UUID | None = None
    by: Line = ""


@with_fields(Rule)
class RuleBody(BaseModel):
    """A rule: what it says, who made it, and when."""

    @classmethod
    def of(cls, rule: Rule) -> RuleBody:
        """The body for a rule."""
        return cls.model_validate(rule, from_attributes=True)


# --- workspaces, keys and money -----------------------------------------------------------------------


class WorkspaceRequest(_Request):
    """A workspace to create."""

    name: WorkspaceSlug


class WorkspaceBody(BaseModel):
    """A workspace by name, and when it was created."""

    name: str
    created: datetime


class WorkspaceDetails(BaseModel):
    """The size of a workspace and its queue, the default method for questions, whether there is a language model to
    answer with, and the maximum size of an upload in bytes."""

    name: str
    status: Status
    method: str
    has_model: bool
    max_upload_bytes: int


class DroppedBody(BaseModel):
    """A workspace that was dropped, and how many documents it had."""

    dropped: str
    documents: int


class LoginWaysBody(BaseModel):
    """The ways in which a browser can log in at the address that it used."""

    key: bool = Field(description="With a key. False where browsers get no cookie: over http.")
    code: bool = Field(description="With the one-time code of `trueweave ui`.")
    provider: bool = Field(description="At the identity provider: /v1/session/login?next=/ui/… leads there.")


class SessionRequest(_Request):
    """What a browser logs in with: a key, or the one-time code of `trueweave ui`."""

    key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    code: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.key is None) == (self.code is None):
            raise ValueError("send either a key or a code")
        return self


class SessionBody(BaseModel):
    """A session of a browser: its caller, and its end. It ends earlier after 12 hours without use."""

    caller: str = Field(description="The prefix of the key; `local`; or issuer and subject.")
    name: str
    scope: Literal["read", "write", "admin"]
    ends: datetime


class EndedSessionBody(BaseModel):
    """The caller whose session has ended."""

    ended: str


class MeBody(BaseModel):
    """The caller of a request, and how it was identified. `all_workspaces` says whether it may use all workspaces, and
    not only some. It reads the documents of its `groups`, besides those that everybody reads; the group `*` reads all.
    Limits are those of a day (UTC), null if there is none; usage is counted only if there is a limit."""

    caller: str
    name: str
    scope: Literal["read", "write", "admin"]
    identified_by: Literal["key", "token", "session", "nothing"]
    all_workspaces: bool
    groups: list[str]
    max_tokens_per_day: int | None
    max_spend_per_day: Decimal | None
    tokens_today: int
    spend_today: Decimal


class KeyRequest(_Request):
    """A key to create. Without `workspaces` it is for all that its creator may use. It reads the documents of its
    `groups`, besides those that everybody reads; the group `*` reads all."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    scope: Literal["read", "write", "admin"] = "read"
    workspaces: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = None
    groups: Groups = []
    expires_in_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    max_tokens_per_day: Annotated[int, Field(ge=0, le=10**15)] | None = None
    max_spend_per_day: Price | None = None


class KeyBody(BaseModel):
    """A key as listed. `workspaces` is null if it is for all. It reads the documents of its `groups` and those that
    everybody reads; the group `*` reads all. Usage of the day is counted only if there is a
    limit. `sessions` are those of browsers that are logged in with it."""

    prefix: str
    name: str
    scope: Literal["read", "write", "admin"]
    workspaces: list[str] | None
    groups: list[str]
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    last_used: str | None
    max_tokens_per_day: int | None
    max_spend_per_day: Decimal | None
    tokens_today: int
    spend_today: Decimal
    sessions: int
    sessions_last_used: datetime | None


class NewKeyBody(BaseModel):
    """A new key. It is shown only now: only a hash of it is stored. Expiry and limits may be lower than requested,
    because they cannot exceed those of the key that created it."""

    prefix: str
    key: str
    expires: datetime | None
    max_tokens_per_day: int | None
    max_spend_per_day: Decimal | None


class RevokedBody(BaseModel):
    """A key that was revoked."""

    revoked: str


class BudgetRequest(_Request):
    """How much may be spent from now on, in money or in tokens; without either, there is no limit."""

    price: Price | None = None
    tokens: Annotated[int, Field(ge=0, le=10**15)] | None = None
