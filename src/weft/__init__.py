"""Weft: a knowledge graph woven with a vector index, in PostgreSQL, exact under change."""

import importlib
import typing

from weft.errors import WeftError
from weft.evidence import Answer, Citation, Evidence, Filter, Passage
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
    "Answer",
    "AsyncWeft",
    "Chunk",
    "Citation",
    "Document",
    "Entity",
    "Evidence",
    "Filter",
    "Link",
    "Mention",
    "NameKey",
    "Passage",
    "Relation",
    "ResolutionSettings",
    "Rule",
    "Status",
    "Verdict",
    "Weft",
    "WeftError",
]

if typing.TYPE_CHECKING:
    from weft.engine import AsyncWeft
    from weft.sync import Weft
else:
    _LATER = {"AsyncWeft": "weft.engine", "Weft": "weft.sync"}

    def __getattr__(name: str) -> object:
        """AsyncWeft and Weft, once somebody asks for them: what they bring along takes half a second to load."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
        return found
