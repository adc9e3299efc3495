"""Labels and types of relationships, made of what documents say.

They are made of letters, digits and underscores alone, whatever a document holds: where entities are followed along all
types of relations, these are part of a statement's text. Such a statement grows with the types, and Neo4j never forgets
one that it has seen: so a copy has no more than `MOST` of each, and what comes after them has none of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

RELATED = "RELATED_TO"
MOST = 250  # labels, and types, in one copy

_LONGEST = 60
_WORD = re.compile(r"[^\W_]+")
# Of the copy itself: an entity of a type of that name is labelled otherwise.
_LABELS = frozenset({"Entity", "Chunk", "Document", "Community", "EntityName", "NamePair", "TrueweaveCopy"})
_TYPES = frozenset({"MENTIONS", "STATES", "HAS_CHUNK", "IN_COMMUNITY", "PART_OF"})


def label(entity_type: str) -> str:
    """The label of entities of a type, such as `SoftwareCompany`; empty where nothing of the type can be kept."""
    made = "".join(word[:1].upper() + word[1:].lower() for word in _words(entity_type))[:_LONGEST]
    return _apart(made, _LABELS)


def relation_type(keyword: str) -> str:
    """The type of relations with this first keyword, such as `WORKS_FOR`."""
    made = "_".join(word.upper() for word in _words(keyword))[:_LONGEST].rstrip("_")
    return _apart(made, _TYPES) or RELATED


def escaped(name: str) -> str:
    """A label or type as the text of a statement has it."""
    if not re.fullmatch(r"\w+", name):
        raise ValueError(f"{name!r} is not a label or type of this vocabulary")
    return f"`{name}`"


class NameVocabulary:
    """The labels or types of one copy. They only grow in number, up to `MOST`, so that a word has the same one for as
    long as the copy lasts."""

    def __init__(self, known: Iterable[str], instead: str) -> None:
        self.known = dict.fromkeys(known)
        self._instead = instead

    def of(self, name: str) -> str:
        """This one, taken up if there is room; or what stands for all that have none."""
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
