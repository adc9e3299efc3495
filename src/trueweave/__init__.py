"""Trueweave: a knowledge graph woven with a vector index, in PostgreSQL, exact under change."""

import importlib
import logging
import typing

from trueweave.errors import TrueweaveError
from trueweave.evidence import Answer, Citation, Evidence, Filter, Passage
from trueweave.types import (
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
    "AsyncTrueweave",
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
    "Trueweave",
    "TrueweaveError",
    "Verdict",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program that sets logging up gets our lines

if typing.TYPE_CHECKING:
    from trueweave.engine import AsyncTrueweave
    from trueweave.sync import Trueweave
else:
    _LATER = {"AsyncTrueweave": "trueweave.engine", "Trueweave": "trueweave.sync"}

    def __getattr__(name: str) -> object:
        """AsyncTrueweave and Trueweave, once somebody asks for them: what they bring along takes half a second to
        load."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
        return found
