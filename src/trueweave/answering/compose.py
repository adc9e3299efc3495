"""The context: the part of the evidence that a model is shown, within a number of tokens.

Facts come first (entities and relations, as tables), then paths, reports, and passages with the numbers by which they
are cited. Space is divided by the weights below among the kinds present, and what one kind does not need goes to the
others, passages first. So passages get at least two thirds, or a half if there are reports, if they can use it. Facts
get at most a third alongside passages or reports, even if more is free: they point to passages, and each token costs
money.

Of several paths the best stands last, beside the passages: PathRAG found that models use it better there.

All text from documents, including titles and names, is fenced by delimiters that do not occur in it; each report and
each passage has its own fence, so that none can pass for another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TypeVar

from trueweave.core.evidence import Evidence, Passage, Path, Report
from trueweave.core.graph import Entity, Relation
from trueweave.models import prompts
from trueweave.text import tokens
from trueweave.text.rows import LONGEST_CELL, line, row
from trueweave.text.sentences import cut

T = TypeVar("T")

WEIGHTS: Mapping[str, int] = {"facts": 1, "reports": 1, "passages": 2}
FACTS: Mapping[str, int] = {"entities": 1, "relations": 1, "paths": 1}

FACTS_SHARE = 3  # facts get at most a third of the space

_LETTERS_A_TOKEN = 8  # more than any table has on average
_LONGEST_NAME = 200
_LONGEST_TITLE, _MOST_TITLES = 80, 2  # of reports, in the head of a passage
_SHORTEST_CUT = 24  # tokens; a shorter part of a passage is not worth showing, unless there is nothing else
_ROOM_FOR_MARKS = 32  # tokens, at most, of the two fence lines around a text


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many of each were found but not shown for lack of space, and how many passages and reports were cut."""

    entities: int = 0
    relations: int = 0
    paths: int = 0
    reports: int = 0
    passages: int = 0
    cut: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is shown: the text, its number of tokens, and the passages as shown, in the order of their numbers.

    A passage that was cut has its shortened text here.
    """

    text: str
    tokens: int
    passages: tuple[Passage, ...]
    left_out: LeftOut


def compose(evidence: Evidence, budget: int) -> Context:
    """The evidence as a model is shown it, in at most `budget` tokens."""
    alone = not (evidence.passages or evidence.reports)
    sections = _sections(evidence, budget if alone else budget // FACTS_SHARE)
    room = budget
    while True:
        context = _fill(sections, room)
        if context.tokens <= budget:
            return context
        room -= context.tokens - budget  # the whole can have a few more tokens than its parts


@dataclass(frozen=True, slots=True)
class _Filled:
    """The text of a section, and an upper bound of its tokens."""

    text: str = ""
    tokens: int = 0
    shown: int = 0
    cut: int = 0
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """One kind of evidence: how many items there are, how many tokens all of them take, and how to fill a given
    space."""

    kind: str
    size: int
    wanted: int
    fill: Callable[[int], _Filled]


def _fill(sections: Sequence[_Section], budget: int) -> Context:
    rooms = _rooms(budget, {section.kind: section.wanted for section in sections})
    filled: dict[str, _Filled] = {}
    for section in sections:
        filled[section.kind] = done = section.fill(rooms[section.kind])
        rooms["passages"] += rooms[section.kind] - done.tokens  # rows and reports seldom fill their space completely
    text = "\n\n".join(one.text for one in filled.values() if one.text)
    left = {section.kind: section.size - filled[section.kind].shown for section in sections}
    left_out = LeftOut(**left, cut=sum(one.cut for one in filled.values()))
    passages = tuple(passage for one in filled.values() for passage in one.passages)
    return Context(text, tokens.count(text), passages, left_out)


def _rooms(budget: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """How many tokens each section may have."""
    facts = {kind: wanted[kind] for kind in FACTS}
    others = {kind: wanted[kind] for kind in WEIGHTS if kind != "facts"}
    most = budget // FACTS_SHARE if any(others.values()) else budget
    rooms = _divided(budget, {"facts": min(sum(facts.values()), most), **others}, WEIGHTS)
    return _divided(rooms.pop("facts"), facts, FACTS) | rooms


def _divided(budget: int, wanted: Mapping[str, int], weights: Mapping[str, int]) -> dict[str, int]:
    """Tokens for each kind: what it wants, if that is within its share; the rest is divided again."""
    rooms: dict[str, int] = {}
    left, waiting = max(budget, 0), dict(wanted)
    while waiting:
        weight = sum(weights[kind] for kind in waiting)
        shares = {kind: left * weights[kind] // weight for kind in waiting}
        modest = [kind for kind, share in shares.items() if waiting[kind] <= share]
        if not modest:
            return rooms | shares
        for kind in modest:
            rooms[kind] = waiting.pop(kind)
            left -= rooms[kind]
    return rooms


def _sections(evidence: Evidence, most: int) -> list[_Section]:
    """All evidence, with at most `most` tokens for each table of facts."""
    passages = [_Text(_head(passage, evidence.reports), passage.text) for passage in evidence.passages]
    return [
        _table("entities", "Entities: name | type | description", evidence.entities, _entity, most),
        _table("relations", "Relations: source | target | description | keywords", evidence.relations, _relation, most),
        _table("paths", "Paths", evidence.paths, _chain, most, best_last=True),
        _texts("reports", "Reports", [_Text(line(one.title, _LONGEST_NAME), one.text) for one in evidence.reports]),
        _texts("passages", "Passages", passages, evidence.passages),
    ]


def _head(passage: Passage, reports: Sequence[Report]) -> str:
    """The source and the date of a passage, and the reports based on it, so that what they say can be cited by its
    number."""
    named = [line(report.title, _LONGEST_TITLE) for report in reports if passage.id in report.passages]
    source = ", ".join((line(passage.source, _LONGEST_NAME), *([passage.day] if passage.date else [])))
    return f"{source} (behind the report: {'; '.join(named[:_MOST_TITLES])})" if named else source


# --- tables -------------------------------------------------------------------------------------------


def _table(
    kind: str, title: str, things: Sequence[T], written: Callable[[T], str], most: int, *, best_last: bool = False
) -> _Section:
    """A row for each item, stopping when no more can fit."""
    rows: list[str] = []
    letters = _LETTERS_A_TOKEN * most
    for thing in things:
        rows.append(written(thing))
        letters -= len(rows[-1])
        if letters < 0:
            break
    overhead = tokens.count(f"{title}\n\n\n") + _ROOM_FOR_MARKS
    whole = tokens.count("\n".join(rows)) + overhead if rows else 0

    def fill(room: int) -> _Filled:
        shown, taken = (len(rows), whole - overhead) if whole <= room else _first(rows, room - overhead)
        if not shown:
            return _Filled()
        listed = rows[:shown][::-1] if best_last else rows[:shown]
        return _Filled(f"{title}\n{prompts.fence(chr(10).join(listed))}", taken + overhead, shown)

    return _Section(kind, len(things), whole, fill)


def _first(rows: Sequence[str], room: int) -> tuple[int, int]:
    """How many of the first rows fit, and how many tokens they take."""
    taken = 0
    for shown, one in enumerate(rows):
        size = tokens.count(f"{one}\n")
        if taken + size > room:
            return shown, taken
        taken += size
    return len(rows), taken


def _entity(one: Entity) -> str:
    return row(one.name, one.type, one.summary or one.description)


def _relation(one: Relation) -> str:
    return row(one.source_name, one.target_name, one.summary or one.description, ", ".join(one.keywords))


def _chain(path: Path) -> str:
    """A path as text: `A -[description]-> B <-[description]- C`."""
    parts = [line(path.names[0], _LONGEST_NAME)] if path.names else []
    for before, after, relation in zip(path.names, path.names[1:], path.relations, strict=False):
        what = line(relation.summary or relation.description, LONGEST_CELL)
        forward, backward = f"-[{what}]->", f"<-[{what}]-"
        parts += [backward if _runs_back(relation, before, after) else forward, line(after, _LONGEST_NAME)]
    return " ".join(parts)


def _runs_back(relation: Relation, before: str, after: str) -> bool:
    return relation.source_name != before and (relation.source_name == after or relation.target_name == before)


# --- texts --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with its source, on one line."""

    head: str
    body: str

    def block(self, number: int, body: str) -> str:
        label = f"[{number}] " if number else ""
        ending = "" if body == self.body else " …"
        return prompts.fence(f"{label}{self.head}\n{body}{ending}")


def _texts(kind: str, title: str, texts: Sequence[_Text], passages: Sequence[Passage] = ()) -> _Section:
    """Texts one after the other, numbered if they are passages."""
    overhead = tokens.count(f"{title}\n\n\n")
    sizes = [_size(text.block(number if passages else 0, text.body)) for number, text in enumerate(texts, 1)]

    def fill(room: int) -> _Filled:
        blocks: list[str] = []
        bodies: list[str | None] = []
        left = room - overhead
        for text in texts:
            number = len(blocks) + 1 if passages else 0
            body = _fitting(text, number, left, alone=not blocks)
            bodies.append(body)
            if body is not None:
                blocks.append(text.block(number, body))
                left -= _size(blocks[-1])
        were_cut = sum(body not in (None, text.body) for text, body in zip(texts, bodies, strict=True))
        shown = tuple(
            replace(passage, text=body)
            for passage, body in zip(passages, bodies, strict=bool(passages))
            if body is not None
        )
        joined = "\n\n".join((f"{title}\n{blocks[0]}", *blocks[1:])) if blocks else ""
        return _Filled(joined, room - left if blocks else 0, len(blocks), were_cut, shown)

    return _Section(kind, len(texts), sum(sizes) + overhead if texts else 0, fill)


def _fitting(text: _Text, number: int, room: int, *, alone: bool) -> str | None:
    """The text, or as much of it as fits; None if that is too little to be useful."""
    if _size(text.block(number, text.body)) <= room:
        return text.body
    left = room - _size(text.block(number, ""))
    while left >= (1 if alone else _SHORTEST_CUT):
        body = cut(text.body, left)
        over = _size(text.block(number, body)) - room
        if over <= 0:
            return body if body.strip() else None
        left -= over
    return None


@lru_cache(maxsize=64)  # a block is measured in full, then again as fitted
def _size(block: str) -> int:
    return tokens.count(f"{block}\n\n")
