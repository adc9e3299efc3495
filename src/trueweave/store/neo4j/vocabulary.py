"""Node labels and relationship types, derived from document text.

They consist only of letters, digits and underscores, whatever a document contains, because statements that follow
relations of all types include the types in their text. Such a statement grows with the number of types, and Neo4j never
forgets a type that it has seen. So a copy has at most `MOST` labels and `MOST` types; anything beyond that gets a
default.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

RELATED = "RELATED_TO"
MOST = 250  # labels, and types, in one copy

_LONGEST = 60
_WORD = re.compile(r"[^\W_]+")
# Used by the copy itself. If a type from a document has one of these names, its label gets a suffix.
_LABELS = frozenset({"Entity", "Chunk", "Document", "Community", "EntityName", "NamePair", "TrueweaveCopy"})
_TYPES = frozenset({"MENTIONS", "STATES", "HAS_CHUNK", "IN_COMMUNITY", "PART_OF"})


def label(entity_type: str) -> str:
    """The label of entities of a type, such as `SoftwareCompany`; empty if the type has no usable characters."""
    made = "".join(word[:1].upper() + word[1:].lower() for word in _words(entity_type))[:_LONGEST]
    return _apart(made, _LABELS)


def relation_type(keyword: str) -> str:
    """The relationship type for a relation type, such as `WORKS_FOR`."""
    made = "_".join(word.upper() for word in _words(keyword))[:_LONGEST].rstrip("_")
    return _apart(made, _TYPES) or RELATED


def escaped(name: str) -> str:
    """A label or type quoted for use in a statement."""
    if not re.fullmatch(r"\w+", name):
        raise ValueError(f"{name!r} is not a label or type of this vocabulary")
    return f"`{name}`"


class NameVocabulary:
    """The labels or types of one copy. Their number only grows, up to `MOST`, so a word keeps its label or type for the
    life of the copy."""

    def __init__(self, known: Iterable[str], instead: str) -> None:
        self.known = dict.fromkeys(known)
        self._instead = instead

    def of(self, name: str) -> str:
        """This name, added if there is room; otherwise the default."""
        if not name or name == self._instead:
            return self._instead
        if name not in self.known and len(self.known) < MOST:
            self.known[name] = None
        return name if name in self.known else self._instead


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _apart(made: str, taken: frozenset[str]) -> str:
    if made[:1].isdigit():
        made = f"_{made}"
    return f"{made}_" if made in taken else made
