"""Everything Trueweave raises on purpose, as one tree.

TrueweaveError
├── ConfigError              a setting is missing or makes no sense
│   ├── InvalidArgument      an argument of a call makes no sense
│   ├── PriceUnknown         there is a budget in money for a model whose price nobody has told
│   ├── NoVectors            the workspace has no vectors to be searched
│   ├── NoReports            nothing is written about communities of the workspace
│   └── UnknownMethod        there is no method of that name, or none with such a parameter
├── InvalidDocument          a document cannot be stored as it is
│   └── UnreadableFile       a file cannot be read as what it is said to be
│       └── NotText          it holds something other than text
├── PluginFailed             an extractor or chunker of a user's own raised an error
├── ModelError               a model cannot do what was asked
│   ├── ModelUnavailable     it did not answer, for as long as was worth trying
│   ├── ModelFilesMissing    its files are not on this machine, and cannot be downloaded
│   ├── ModelRefused         key, name or settings are wrong: no call will succeed
│   └── BadReply             it answered, and the answer is unusable, twice
├── QuestionTooLong          a model would be given more tokens for a question than are allowed
├── BudgetReached            the next call could cost more than is left
├── KeyLimitReached          a caller of the server has used what it may in a day
├── StorageFull              the workspace may hold no more text
├── DatabaseError            the database cannot do what was asked
│   ├── DatabaseUnavailable  it did not answer, for as long as was worth trying
│   │   └── WorkspaceMoving  the workspace is being moved to another server, and takes no writes for now
│   ├── WorkspaceLoading     a bulk load of the workspace runs, and this is not possible meanwhile
│   ├── EmbeddedServerError  the bundled PostgreSQL did not start, stop or answer
│   │   └── EmbeddedServerMissing
│   ├── DiskFull             the disk of the bundled PostgreSQL is full, so that it stopped
│   ├── SchemaMismatch       the schema is not one that this version of Trueweave works with
│   │   ├── SchemaOutdated   it is missing or older: `trueweave migrate`
│   │   └── SchemaNewer      a newer Trueweave changed it: upgrade this one
│   └── NotIsolated          the connection would see more than one workspace
├── UnknownWorkspace
│   └── WorkspaceReplaced    a bulk load has put another index in its place: try again
├── UnknownCommunity
├── UnknownDocument
├── UnknownJob
├── UnknownEntity
│   └── AmbiguousName        several entities have the name
├── SpaceMismatch            vectors of one model were about to meet those of another
├── ChangesGone              changes that a projection asks for are kept no longer
├── StoreError               Neo4j or Chroma cannot do what was asked
│   ├── StoreUnavailable     it did not answer
│   ├── ProjectionMissing    it has no complete copy of the workspace
│   └── ProjectionBehind     its copy did not catch up in the time that a question may wait
├── ServerError              a server of Trueweave cannot do what a client asked
│   ├── ServerUnavailable    it did not answer, for as long as was worth trying
│   ├── AccessDenied         the key is missing, unknown or not for this
│   └── RequestRefused       it does not take such a request
├── RuleError                a merge, split or rename that cannot be carried out
└── Defect                   work failed by a bug of Trueweave, and is marked so

A message says what happened, to what, and what to do next.
"""


class TrueweaveError(Exception):
    """The root: catch this to catch everything that Trueweave raises on purpose."""


class ConfigError(TrueweaveError):
    """A setting is missing or makes no sense."""


class InvalidArgument(ConfigError):
    """An argument of a call makes no sense. The message is about that argument alone: callers of a server see it."""


class PriceUnknown(ConfigError):
    """There is a budget in money for a model whose price nobody has told."""


class NoVectors(ConfigError):
    """The workspace has no vectors to be searched."""


class NoReports(ConfigError):
    """Nothing is written about communities of the workspace."""


class UnknownMethod(ConfigError):
    """There is no method of that name, or it has no such parameter."""


class InvalidDocument(TrueweaveError):
    """A document cannot be stored as it is."""


class PluginFailed(TrueweaveError):
    """An extractor or chunker of a user's own raised an error, or gave what cannot be used."""


class UnreadableFile(InvalidDocument):
    """A file cannot be read as what it is said to be."""


class NotText(UnreadableFile):
    """A file that should be text holds something else, or is in an encoding that nothing tells."""


class ModelError(TrueweaveError):
    """A model cannot do what was asked. `charged`: it may have cost something all the same."""

    charged: bool = False


class ModelUnavailable(ModelError):
    """The model did not answer, for as long as was worth trying. Later it may.

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
    """The next call could cost more than is left of the budget: that `of_run`, or that of the workspace."""

    def __init__(self, message: str, *, of_run: bool = False) -> None:
        super().__init__(message)
        self.of_run = of_run


class KeyLimitReached(TrueweaveError):
    """A caller of the server has used what it may in a day. `retry_after` is in how many seconds the day ends."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(TrueweaveError):
    """The workspace may hold no more text."""


class DatabaseError(TrueweaveError):
    """The database cannot do what was asked."""


class DatabaseUnavailable(DatabaseError):
    """The database did not answer, for as long as was worth trying. Later it may."""


class WorkspaceMoving(DatabaseUnavailable):
    """The workspace is being moved to another PostgreSQL server. It is read meanwhile, and takes writes again after
    it."""


class WorkspaceLoading(DatabaseError):
    """A bulk load of the workspace runs, and this is not possible meanwhile. Adding and removing documents is."""


class EmbeddedServerError(DatabaseError):
    """The bundled PostgreSQL did not start, stop or answer."""


class EmbeddedServerMissing(EmbeddedServerError):
    """The bundled PostgreSQL is not installed."""


class DiskFull(EmbeddedServerError):
    """The disk of the bundled PostgreSQL is full, so that it stopped."""


class SchemaMismatch(DatabaseError):
    """The schema is not one that this version of Trueweave works with."""


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
    """There is no document of that uri. `near` are uris like it."""

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


class UnknownJob(TrueweaveError):
    """There is no job of that id."""


class UnknownEntity(TrueweaveError):
    """There is no entity of that name or id. `near` are names like it, as NAME::TYPE where they have a type."""

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


class AmbiguousName(UnknownEntity):
    """Several entities have the name: `near` are these."""


class SpaceMismatch(TrueweaveError):
    """Vectors of one model were about to meet those of another."""


class ChangesGone(TrueweaveError):
    """Changes that a projection asks for are kept no longer."""


class StoreError(TrueweaveError):
    """Neo4j or Chroma cannot do what was asked."""


class StoreUnavailable(StoreError):
    """Neo4j or Chroma did not answer. Later it may."""


class ProjectionMissing(StoreError):
    """The store that questions are to be answered from has no complete copy of this workspace."""


class ProjectionBehind(StoreError):
    """The copy in another store did not catch up with the record in the time that a question may wait for it."""


class ServerError(TrueweaveError):
    """A server of Trueweave cannot do what a client asked."""


class ServerUnavailable(ServerError):
    """The server did not answer, for as long as was worth trying. Later it may. What a write asked for may have been
    done all the same."""


class AccessDenied(ServerError):
    """The server does not know the key, or it is not for what was asked."""


class RequestRefused(ServerError):
    """The server does not take such a request: it is not valid, of another version, or `too_large`."""

    too_large: bool = False


class RuleError(TrueweaveError):
    """A merge, split or rename that cannot be carried out."""


class Defect(TrueweaveError):
    """Work failed by a bug of Trueweave. It is marked so, shown by `status`, and left out until it is tried again."""
