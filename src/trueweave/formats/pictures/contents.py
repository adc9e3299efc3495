"""The contents of a picture of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from trueweave.core.evidence import Passage
from trueweave.core.graph import Entity, Relation


@dataclass(frozen=True, slots=True)
class PictureContents:
    """A part of the graph with its passages, for the page and the drawing. `GraphPicture` explains the fields."""

    title: str
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    marked: frozenset[UUID] = frozenset()
    passages: Mapping[UUID, tuple[Passage, ...]] = field(default_factory=dict)
    note: str = ""
