"""Trueweave: a knowledge graph woven with a vector index, in PostgreSQL, exact under change.

Here is what most programs use. All values that calls take and return are in `trueweave.types`, all errors in
`trueweave.errors`, what listeners receive in `trueweave.events`, the methods with their parameters in
`trueweave.methods`, and what authors of methods, loaders, extractors and stores need in `trueweave.extend`.
"""

import importlib
import logging
import typing

__all__ = [
    "Answer",
    "AnswerOptions",
    "AsyncClient",
    "AsyncConversation",
    "AsyncTrueweave",
    "Budget",
    "Check",
    "Chunk",
    "Citation",
    "Client",
    "Community",
    "CommunityReport",
    "Compared",
    "Comparison",
    "Conversation",
    "Document",
    "DocumentDetails",
    "DocumentInfo",
    "DocumentState",
    "Entity",
    "EntityDetails",
    "EntityPath",
    "Estimate",
    "Event",
    "Evidence",
    "FailedDocument",
    "Filter",
    "GraphPicture",
    "IngestJob",
    "Link",
    "Listener",
    "Mention",
    "Message",
    "NameKey",
    "NamedFile",
    "Passage",
    "Place",
    "Range",
    "Relation",
    "ResolutionSettings",
    "Rule",
    "Sentence",
    "Settings",
    "Source",
    "Spent",
    "Status",
    "Stream",
    "Suggestion",
    "SyncPlan",
    "Trueweave",
    "TrueweaveError",
    "Usage",
    "connect",
    "connect_async",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program that sets logging up gets our lines

if typing.TYPE_CHECKING:
    from trueweave.answering.conversations import AsyncConversation, Conversation
    from trueweave.client.client import AsyncClient
    from trueweave.client.sync import Client
    from trueweave.core.settings import Settings
    from trueweave.engine.opening import connect, connect_async
    from trueweave.engine.sync import Trueweave
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.errors import TrueweaveError
    from trueweave.events import Event, Listener
    from trueweave.types import (
        Answer,
        AnswerOptions,
        Budget,
        Check,
        Chunk,
        Citation,
        Community,
        CommunityReport,
        Compared,
        Comparison,
        Document,
        DocumentDetails,
        DocumentInfo,
        DocumentState,
        Entity,
        EntityDetails,
        EntityPath,
        Estimate,
        Evidence,
        FailedDocument,
        Filter,
        GraphPicture,
        IngestJob,
        Link,
        Mention,
        Message,
        NamedFile,
        NameKey,
        Passage,
        Place,
        Range,
        Relation,
        ResolutionSettings,
        Rule,
        Sentence,
        Source,
        Spent,
        Status,
        Stream,
        Suggestion,
        SyncPlan,
        Usage,
    )
else:
    _PLACES = {
        "AsyncClient": "client.client",
        "AsyncConversation": "answering.conversations",
        "AsyncTrueweave": "engine.trueweave",
        "Client": "client.sync",
        "Conversation": "answering.conversations",
        "Event": "events",
        "Listener": "events",
        "Settings": "core.settings",
        "Trueweave": "engine.sync",
        "TrueweaveError": "errors",
        "connect": "engine.opening",
        "connect_async": "engine.opening",
    }

    def __getattr__(name: str) -> object:
        """A public name, loaded when it is first used: AsyncTrueweave takes half a second to load."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module(f"{__name__}.{_PLACES.get(name, 'types')}")
        found = globals()[name] = getattr(module, name)
        return found
