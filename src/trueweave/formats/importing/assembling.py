"""Assembling documents from chunks that are read one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trueweave.core.record import Chunk
from trueweave.formats.importing.annotations import Annotations
from trueweave.text.names import storable

_LEAST_OVERLAP = 12  # characters; fewer may be equal by chance


class TextUnit(NamedTuple):
    """A chunk from another system: its document, its position there, its own id, and its text."""

    document: str
    order: int
    id: str
    text: str
    tokens: int


def assembled(units: Iterable[TextUnit], sizes: Mapping[str, int]) -> Iterator[tuple[str, list[TextUnit]]]:
    """The chunks of each document in order, as soon as all of them are read; `sizes` has the number of chunks per
    document.

    Only documents whose chunks have been read in part are in memory: one at a time, if the chunks are grouped by
    document.
    """
    begun: dict[str, list[TextUnit]] = {}
    for unit in units:
        found = begun.setdefault(unit.document, [])
        found.append(unit)
        if len(found) == sizes[unit.document]:
            yield unit.document, sorted(begun.pop(unit.document), key=lambda one: (one.order, one.id))


def chunks(units: Iterable[TextUnit], annotations: Annotations) -> tuple[Chunk, ...]:
    """The chunks of one document with their annotations.

    Their start positions are those in a text assembled from them, where an overlap of two chunks counts once.
    """
    made: list[Chunk] = []
    for unit in units:
        text = storable(unit.text)
        start = made[-1].end - _overlap(made[-1].text, text) if made else 0
        made.append(Chunk(text, start, max(unit.tokens, 0), *annotations.take(unit.id)))
    return tuple(made)


def _overlap(before: str, after: str) -> int:
    """The number of characters at the end of one text that are repeated at the beginning of the next."""
    beginning = after[:_LEAST_OVERLAP]
    if len(beginning) < _LEAST_OVERLAP:
        return 0
    place = before.find(beginning, max(len(before) - len(after), 0))
    while place >= 0:
        if after.startswith(before[place:]):
            return len(before) - place
        place = before.find(beginning, place + 1)
    return 0
