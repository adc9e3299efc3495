"""Weft: a knowledge graph woven with a vector index, in PostgreSQL, exact under change."""

from weft.engine import AsyncWeft
from weft.errors import WeftError
from weft.types import (
    Chunk,
    Document,
    Entity,
    Link,
    Mention,
    NameKey,
    Relation,
    ResolutionSettings,
    Rule,
    Status,
    Verdict,
)

__all__ = [
    "AsyncWeft",
    "Chunk",
    "Document",
    "Entity",
    "Link",
    "Mention",
    "NameKey",
    "Relation",
    "ResolutionSettings",
    "Rule",
    "Status",
    "Verdict",
    "WeftError",
]
