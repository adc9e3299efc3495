"""Everything Trueweave raises on purpose, as one tree.

TrueweaveError
├── ConfigError              a setting is missing or invalid
│   ├── InvalidArgument      an argument of a call is invalid
│   ├── PriceUnknown         there is a budget in money for a model whose price is not known
│   ├── NoVectors            the workspace has no vectors to search
│   ├── NoGraphVectors       the workspace has no vectors of entities and relations
│   ├── NoReports            the workspace has no community reports
│   └── UnknownMethod        there is no method of that name, or it has no such parameter
├── InvalidDocument          a document cannot be stored
│   └── UnreadableFile       a file cannot be read in its format
│       └── NotText          it does not contain text
├── SourceUnavailable        the documents at an address could not be listed
├── ItemGone                 a document no longer exists at its address
├── RemovalNotConfirmed      a large part of the documents of an address would be removed
├── SourceBusy               another process is synchronising or removing the source
├── SourceNotAllowed         the administrator does not allow its connector or its environment variable
├── WebhookNotAllowed        the administrator does not allow this host for webhooks
├── AlertNotSent             a webhook did not accept an alert
├── PluginFailed             a custom extractor or chunker raised an error
├── ModelError               a model call failed
│   ├── ModelUnavailable     it did not answer in time
│   ├── ModelFilesMissing    its files are not on this machine, and cannot be downloaded
│   ├── ModelRefused         key, name or settings are wrong: no call will succeed
│   └── BadReply             its reply was unusable, twice
├── QuestionTooLong          the prompt for a question exceeds the maximum number of tokens
├── BudgetReached            the next call could cost more than is left
├── KeyLimitReached          a caller of the server has used up its daily limit
├── StorageFull              the workspace has reached its maximum size
├── NotForRestricted         it is not available to callers who may not read all documents
├── DatabaseError            a database operation failed
│   ├── DatabaseUnavailable  it did not answer in time
│   │   └── WorkspaceMoving  the workspace is being moved to another server, and takes no writes for now
│   ├── WorkspaceLoading     a bulk load is running, and this is not possible during the load
│   ├── EmbeddedServerError  the bundled PostgreSQL did not start, stop or answer
│   │   └── EmbeddedServerMissing
│   ├── DiskFull             the disk of the bundled PostgreSQL is full, so it stopped
│   ├── SchemaMismatch       this version of Trueweave does not support the schema
│   │   ├── SchemaOutdated   it is missing or older: `trueweave migrate`
│   │   └── SchemaNewer      a newer Trueweave changed it: upgrade this one
│   └── NotIsolated          the connection would see more than one workspace
├── UnknownWorkspace
│   └── WorkspaceReplaced    a bulk load has replaced its index: try again
├── UnknownCommunity
├── UnknownDocument
├── UnknownJob
├── UnknownEntity
│   └── AmbiguousName        several entities have the name
├── UnknownRelation
├── UnknownRun
├── UnknownQuestion
├── UnknownSource
├── UnknownWatch
├── UnknownAccessRule
├── SpaceMismatch            vectors of one model were about to meet those of another
├── ChangesGone              changes that a projection needs are no longer kept
├── CertificateRefused       something is left of the erased documents, or the index is not exact
├── SignatureInvalid         a signed file was changed, or is not one
├── StoreError               an operation of Neo4j or Chroma failed
│   ├── StoreUnavailable     it did not answer
│   ├── ProjectionMissing    it has no complete copy of the workspace
│   └── ProjectionBehind     its copy did not catch up while a question waited
├── ServerError              a request to a Trueweave server failed
│   ├── ServerUnavailable    it did not answer in time
│   ├── AccessDenied         the key is missing, unknown or lacks permission
│   └── RequestRefused       it refused the request
├── RuleError                a rule cannot be applied
└── Defect                   work failed because of a bug in Trueweave, and is marked as failed

A message says what happened, to what, and what to do next.
"""

from collections.abc import Mapping


class TrueweaveError(Exception):
    """The root: catch this to catch everything that Trueweave raises on purpose. `fact` is the message without the
    hint, which is for the command line."""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}" if hint else message)
        self.fact = message


class ConfigError(TrueweaveError):
    """A setting is missing or invalid."""


class InvalidArgument(ConfigError):
    """An argument of a call is invalid. The message is only about that argument: callers of a server see it."""


class PriceUnknown(ConfigError):
    """There is a budget in money for a model whose price is not known."""


class NoVectors(ConfigError):
    """The workspace has no vectors to search."""


class NoGraphVectors(ConfigError):
    """The workspace has no vectors of entities and relations, or not all of them yet."""


class NoReports(ConfigError):
    """The workspace has no community reports."""


class UnknownMethod(ConfigError):
    """There is no method of that name, or it has no such parameter."""


class InvalidDocument(TrueweaveError):
    """A document cannot be stored."""


class PluginFailed(TrueweaveError):
    """A custom extractor or chunker raised an error, or returned something unusable."""


class UnreadableFile(InvalidDocument):
    """A file cannot be read in its format."""


class NotText(UnreadableFile):
    """A file that should be text is not, or its encoding is unknown."""


class SourceUnavailable(TrueweaveError):
    """The documents at an address could not be listed. Nothing was changed; a later run may succeed."""


class ItemGone(TrueweaveError):
    """A document that was listed no longer exists at its address."""


class RemovalNotConfirmed(TrueweaveError):
    """More than a fifth of the documents of an address are no longer there, and nobody has confirmed their removal:
    `missing` of `documents` would be removed."""

    def __init__(self, message: str, missing: int = 0, documents: int = 0, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.missing = missing
        self.documents = documents


class SourceBusy(TrueweaveError):
    """Another process is synchronising the source, or removing it."""


class SourceNotAllowed(TrueweaveError):
    """The administrator of the server does not allow this connector or this environment variable in the workspace."""


class ModelError(TrueweaveError):
    """A model call failed. `charged`: it may have cost something anyway."""

    charged: bool = False


class ModelUnavailable(ModelError):
    """The model did not answer in time. A later call may succeed.

    `retry_after` is how many seconds the server asked to wait. It may have done the work all the same (`charged`) when
    a connection broke before the reply was whole. One that is `unreachable` took no connection at all.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, charged: bool = False, unreachable: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.charged = charged
        self.unreachable = unreachable


class ModelFilesMissing(ModelError):
    """The files of a model are not on this machine, and cannot be downloaded, or are not what they should be."""


class ModelRefused(ModelError):
    """The server refuses every call: a key, a model's name or a setting is wrong."""


class BadReply(ModelError):
    """The model answered, and the answer is unusable for this document. `again`: another try may go better."""

    again: bool = False


class QuestionTooLong(TrueweaveError):
    """A model would be given more tokens for a question than are allowed."""


class BudgetReached(TrueweaveError):
    """The next call could cost more than is left of the budget of the run (`of_run`) or of the workspace."""

    def __init__(self, message: str, *, of_run: bool = False) -> None:
        super().__init__(message)
        self.of_run = of_run


class KeyLimitReached(TrueweaveError):
    """A caller of the server has used up its daily limit. `retry_after` is the number of seconds until the day ends."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(TrueweaveError):
    """The workspace has reached its maximum size."""


class NotForRestricted(TrueweaveError):
    """The operation is not available to callers who may not read all documents of the workspace, because it shows or
    changes what is made from all of them."""


class DatabaseError(TrueweaveError):
    """A database operation failed."""


class DatabaseUnavailable(DatabaseError):
    """The database did not answer in time. A later call may succeed."""


class WorkspaceMoving(DatabaseUnavailable):
    """The workspace is being moved to another PostgreSQL server. Until that is done it can be read but not written."""


class WorkspaceLoading(DatabaseError):
    """A bulk load of the workspace is running, and this is not possible during it. Adding and removing documents is."""


class EmbeddedServerError(DatabaseError):
    """The bundled PostgreSQL did not start, stop or answer."""


class EmbeddedServerMissing(EmbeddedServerError):
    """The bundled PostgreSQL is not installed."""


class DiskFull(EmbeddedServerError):
    """The disk of the bundled PostgreSQL is full, so it stopped."""


class SchemaMismatch(DatabaseError):
    """This version of Trueweave does not support the schema."""


class SchemaOutdated(SchemaMismatch):
    """The schema is missing, or older than this version of Trueweave. `trueweave migrate` brings it up to date."""


class SchemaNewer(SchemaMismatch):
    """A newer Trueweave changed the schema in a way that this version cannot work with."""


class NotIsolated(DatabaseError):
    """The connection would see more than one workspace."""


class UnknownWorkspace(TrueweaveError):
    """There is no workspace of that name."""


class WorkspaceReplaced(UnknownWorkspace):
    """A bulk load has replaced the index of the workspace since it was opened. Nothing was written. The next call uses
    the new index."""


class UnknownCommunity(TrueweaveError):
    """There is no community of that id."""


class UnknownDocument(TrueweaveError):
    """There is no document of that uri. `near` are similar uris."""

    def __init__(self, message: str, near: tuple[str, ...] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.near = near


class UnknownJob(TrueweaveError):
    """There is no job of that id."""


class UnknownEntity(TrueweaveError):
    """There is no entity of that name or id. `near` are similar names, as NAME::TYPE if they have a type."""

    def __init__(self, message: str, near: tuple[str, ...] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.near = near


class AmbiguousName(UnknownEntity):
    """Several entities have the name: they are listed in `near`."""


class UnknownRelation(TrueweaveError):
    """There is no relation of that id."""


class UnknownRun(TrueweaveError):
    """There is no benchmark run of that id, or it has no such method, measure or question."""


class UnknownQuestion(TrueweaveError):
    """There is no benchmark question of that id."""


class UnknownSource(TrueweaveError):
    """There is no source of that name."""


class WebhookNotAllowed(TrueweaveError):
    """The settings do not allow callers of a server to send alerts to this host."""


class AlertNotSent(TrueweaveError):
    """A webhook did not accept an alert."""


class UnknownWatch(TrueweaveError):
    """There is no watch of that name."""


class UnknownAccessRule(TrueweaveError):
    """There is no access rule of that prefix."""


class SpaceMismatch(TrueweaveError):
    """Vectors of one model were about to meet those of another."""


class ChangesGone(TrueweaveError):
    """Changes that a projection needs are no longer kept."""


class CertificateRefused(TrueweaveError):
    """A certificate of erasure was not issued. `found` are the rows with text, uris or ids of the erased documents, by
    column."""

    def __init__(self, message: str, found: Mapping[str, int] | None = None, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.found = dict(found or {})


class SignatureInvalid(TrueweaveError):
    """A signed file was changed after it was signed, or is not a signed file."""


class StoreError(TrueweaveError):
    """An operation of Neo4j or Chroma failed."""


class StoreUnavailable(StoreError):
    """Neo4j or Chroma did not answer. A later call may succeed."""


class ProjectionMissing(StoreError):
    """The store that answers questions has no complete copy of this workspace."""


class ProjectionBehind(StoreError):
    """The copy in another store did not catch up with the record while a question waited for it."""


class ServerError(TrueweaveError):
    """A request to a Trueweave server failed."""


class ServerUnavailable(ServerError):
    """The server did not answer in time. A later call may succeed. A write may have been carried out anyway."""


class AccessDenied(ServerError):
    """The key is unknown to the server, or does not allow this request."""


class RequestRefused(ServerError):
    """The server refused the request: it is invalid, of another version, or `too_large`."""

    too_large: bool = False


class RuleError(TrueweaveError):
    """A merge, split or rename cannot be applied."""


class Defect(TrueweaveError):
    """Work failed because of a bug in Trueweave. It is marked as failed, and skipped until it is retried."""
