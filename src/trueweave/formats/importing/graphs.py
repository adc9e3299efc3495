"""Graphs without texts: nodes and edges, with values under the usual names, stated in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trueweave.core.events import Listener
from trueweave.core.record import Document, Link, Mention
from trueweave.formats.importing.annotations import is_no_weight, strengths
from trueweave.formats.importing.statements import Statement, documents, of_entity, of_relation
from trueweave.formats.importing.telling import counted, note
from trueweave.text.names import tidy

Elements = Iterable[tuple[Sequence[Any], Mapping[str, Any]]]

_NAME = ("name", "label", "title", "entity_id", "entity_name")
_TYPE = ("type", "entity_type", "kind")
_DESCRIPTION = ("description", "summary", "comment")
_PREDICATE = ("predicate", "relation", "relationship", "label", "type", "name")
_KEYWORDS = ("keywords", "tags")
_WEIGHT = ("weight", "strength")
_SOURCE_TYPE = ("source_type", "subject_type", "head_type")
_TARGET_TYPE = ("target_type", "object_type", "tail_type")
_BETWEEN_KEYWORDS = re.compile(r"[,;]|<SEP>")


def stated(elements: Elements, uri: str, title: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state nodes, given as ((id,), values), and edges, given as ((source, target), values).

    The name of a node is its name, label or title, or else its id; values of both are found by their usual names
    (`type`, `description`, `predicate`, `keywords`, `weight` …). The names and types of nodes are kept in memory.
    """
    seen = _Seen()
    yield from documents(seen.statements(elements), uri, title)
    if seen.nameless:
        told = counted(seen.nameless, "node or edge", "nodes or edges")
        note(listener, f"{told} without a name were left out.")
    if seen.without_weight:
        told = counted(seen.without_weight, "edge")
        note(listener, f"{told} had a weight that is no number above 0, up to a million, and has the usual one.")


class _Seen:
    def __init__(self) -> None:
        self.nameless = self.without_weight = 0
        self._known: dict[Any, tuple[str, str]] = {}

    def statements(self, elements: Elements) -> Iterator[Statement]:
        for ends, values in elements:
            statement = self._entity(ends[0], values) if len(ends) == 1 else self._relation(ends, values)
            if statement is None:
                self.nameless += 1
            else:
                yield statement

    def _entity(self, id_: Any, values: Mapping[str, Any]) -> Statement | None:
        name, type_ = tidy(_text(values, _NAME)) or tidy(str(id_)), _text(values, _TYPE)
        self._known[id_] = name, type_
        return of_entity(Mention(name, type_, _text(values, _DESCRIPTION))) if name else None

    def _relation(self, ends: Sequence[Any], values: Mapping[str, Any]) -> Statement | None:
        (name, type_), (other, other_type) = (self._known.get(end, (tidy(str(end)), "")) for end in ends)
        type_, other_type = _text(values, _SOURCE_TYPE) or type_, _text(values, _TARGET_TYPE) or other_type
        if not (name and other):
            return None
        predicate, description = _text(values, _PREDICATE), _text(values, _DESCRIPTION)
        keywords = dict.fromkeys((*([predicate] if predicate else []), *keywords_in(values)))
        weight = number(next((values[key] for key in _WEIGHT if key in values), None))
        self.without_weight += is_no_weight(weight)
        said = description or predicate, tuple(keywords), strengths(weight, 1)[0]
        return of_relation(Link(name, other, *said, source_type=type_, target_type=other_type), predicate)


def keywords_in(values: Mapping[str, Any]) -> list[str]:
    """The keywords among these values: a list, or a text separated by commas."""
    given = next((values[key] for key in _KEYWORDS if values.get(key)), ())
    words = _BETWEEN_KEYWORDS.split(given) if isinstance(given, str) else map(str, given)
    return [word.strip() for word in words if word.strip()]


def number(value: Any) -> float | None:
    """The value as a number, also from text; None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _text(values: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these values that is a non-empty text or a number."""
    texts = (str(value).strip() for name in names if isinstance(value := values.get(name), str | int | float))
    return next(filter(None, texts), "")
