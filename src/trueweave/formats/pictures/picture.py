"""A part of the graph to be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from uuid import UUID

from trueweave.core.errors import ConfigError
from trueweave.core.evidence import Passage
from trueweave.core.graph import Entity, Relation

MOST = 500  # entities of a picture

_EXCERPT = 360  # characters of a passage
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)]*\s+")


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A part of the graph, with passages that say it. In a notebook it shows itself.

    `marked` are the entities that it is about, and the relations of a path. `note` says what was left out.
    """

    title: str
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    marked: frozenset[UUID] = frozenset()
    passages: Mapping[UUID, tuple[Passage, ...]] = field(default_factory=dict)
    note: str = ""

    def html(self) -> str:
        """One page that needs nothing else: to be searched, moved about in and clicked on."""
        from trueweave.formats.pictures.page import page

        return page(self)

    def svg(self, width: float = 85, height: float | None = None) -> str:
        """A drawing for a paper, so many millimetres wide. Names that would cover others are left out."""
        from trueweave.formats.pictures.svg import drawing

        return drawing(self, width, height)

    def save(self, path: str | Path) -> None:
        """Write it to a file, as its name ends: .html or .svg."""
        file = Path(path)
        writers = {".html": self.html, ".htm": self.html, ".svg": self.svg}
        if (write := writers.get(file.suffix.lower())) is None:
            raise ConfigError(f"{file} ends in neither .html nor .svg. Choose a name that does.")
        try:
            file.write_text(write(), "utf-8")
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}. Choose another name.") from error

    def _repr_html_(self) -> str:
        """The page in a frame of its own, as notebooks show it."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts" title="{escape(self.title)}" '
            'style="width:100%;height:560px;border:1px solid #8888"></iframe>'
        )

    def _repr_svg_(self) -> str:
        return self.svg(160)


def types_in_order(entities: Iterable[Entity]) -> list[str]:
    """The types of entities, the most frequent first, then by name; without what has none."""
    number: dict[str, int] = {}
    for one in entities:
        number[one.type] = number.get(one.type, 0) + 1
    return sorted((type_ for type_ in number if type_), key=lambda type_: (-number[type_], type_))


def excerpt(text: str, names: Iterable[str]) -> str:
    """As much of a passage as is read at a glance: from the sentence on in which the first of these names stands."""
    folded = text.casefold()
    places = [place for name in names if (place := folded.find(name.casefold())) >= 0]
    at = min(places, default=0)
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(text))]
    start = max((one for one in starts if at - _EXCERPT // 2 <= one <= at), default=0)
    if at - start > _EXCERPT // 2:
        start = at - _EXCERPT // 2
    part = " ".join(text[start : start + _EXCERPT].split())
    return f"{'… ' if start else ''}{part}{' …' if start + _EXCERPT < len(text) else ''}"
