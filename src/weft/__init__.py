"""Weft: a knowledge graph woven with a vector index, in PostgreSQL, exact under change."""

import typing

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

if typing.TYPE_CHECKING:
    from weft.engine import AsyncWeft
else:

    def __getattr__(name: str) -> object:
        """AsyncWeft, once somebody asks for it: what it brings along takes half a second to load."""
        if name != "AsyncWeft":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from weft.engine import AsyncWeft

        globals()[name] = AsyncWeft
        return AsyncWeft
