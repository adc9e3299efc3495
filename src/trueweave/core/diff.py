"""What is different between two indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from trueweave.core.evidence import Passage

ChangedKind = Literal["document", "entity", "relation"]
Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class IndexChange:
    """A document, entity or relation that was added, removed or changed: what is said of it before and after (of a
    document, its title), and passages that say so on both sides."""

    kind: ChangedKind
    change: Change
    name: str
    before: str
    after: str
    passages_before: tuple[Passage, ...] = ()
    passages_after: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexDiff:
    """What was added, removed or changed from one index to another: how many documents, entities and relations, and the
    first of each kind. An entity is the same if the smallest of its names is; it has changed if its name, type,
    description or aliases have, and a relation, if its type, description or keywords have."""

    counts: Mapping[ChangedKind, Mapping[Change, int]]
    changes: tuple[IndexChange, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is no difference."""
        return not any(number for each in self.counts.values() for number in each.values())
