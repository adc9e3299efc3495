"""For authors of methods, loaders, connectors, extractors, chunkers, verifiers and stores: the protocols and their
arguments.

The values that these take and return are in `trueweave.types`.
"""

import importlib
import typing

from trueweave.core.answers import Basis, Claim, Judgement
from trueweave.core.connectors import Connector, ConnectorContext, Fetched, Item
from trueweave.core.evidence import Hits, Query
from trueweave.core.graph import Hit, VectorKind
from trueweave.core.model_calls import Prompt, Reply
from trueweave.core.projections import (
    Change,
    ProjectedBatch,
    ProjectedChunk,
    ProjectedCommunity,
    ProjectedDocument,
    ProjectedEntity,
    ProjectedRelation,
)
from trueweave.core.protocols import (
    ChangeReaders,
    Chunker,
    ChunkMention,
    Embedder,
    Extractor,
    GraphReader,
    LangChainChatModel,
    LangChainEmbeddings,
    Loader,
    Neighbourhood,
    Readers,
    RecordReader,
    StreamingLLM,
    TextSearch,
    Vectors,
    VectorSearch,
    Verified,
    Verifier,
    WalkReader,
)
from trueweave.core.record import ChunkSizes, DroppedFinding, Extraction
from trueweave.ingest.own import IngestContext, MakeChunker, MakeExtractor
from trueweave.retrieval.context import Method, Need, QueryContext

if typing.TYPE_CHECKING:
    from trueweave.engine.factory import ModelFactory
    from trueweave.ingest.connectors.http import HttpFetcher, HttpResponse
    from trueweave.store.postgres.db import Database, Workspace
    from trueweave.store.postgres.projection.projecting import ProjectionSource
    from trueweave.store.postgres.sight import Sight

__all__ = [
    "Basis",
    "Change",
    "ChangeReaders",
    "ChunkMention",
    "ChunkSizes",
    "Chunker",
    "Claim",
    "Connector",
    "ConnectorContext",
    "Database",
    "DroppedFinding",
    "Embedder",
    "Extraction",
    "Extractor",
    "Fetched",
    "GraphReader",
    "Hit",
    "Hits",
    "HttpFetcher",
    "HttpResponse",
    "IngestContext",
    "Item",
    "Judgement",
    "LangChainChatModel",
    "LangChainEmbeddings",
    "Loader",
    "MakeChunker",
    "MakeExtractor",
    "Method",
    "ModelFactory",
    "Need",
    "Neighbourhood",
    "ProjectedBatch",
    "ProjectedChunk",
    "ProjectedCommunity",
    "ProjectedDocument",
    "ProjectedEntity",
    "ProjectedRelation",
    "ProjectionSource",
    "Prompt",
    "Query",
    "QueryContext",
    "Readers",
    "RecordReader",
    "Reply",
    "Sight",
    "StreamingLLM",
    "TextSearch",
    "VectorKind",
    "VectorSearch",
    "Vectors",
    "Verified",
    "Verifier",
    "WalkReader",
    "Workspace",
]

_LAZY = {
    "Database": "trueweave.store.postgres.db",
    "HttpFetcher": "trueweave.ingest.connectors.http",
    "HttpResponse": "trueweave.ingest.connectors.http",
    "ModelFactory": "trueweave.engine.factory",
    "Sight": "trueweave.store.postgres.sight",
    "ProjectionSource": "trueweave.store.postgres.projection.projecting",
    "Workspace": "trueweave.store.postgres.db",
}  # each loads the database driver, which methods and loaders do not need


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
    return found
