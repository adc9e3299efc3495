"""An interactive page: a single file that loads nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from math import log1p
from string import Template
from uuid import UUID

from trueweave.core.graph import Entity, Relation
from trueweave.formats.pictures.colours import OTHER, colours, legend, rest_name
from trueweave.formats.pictures.contents import PictureContents
from trueweave.formats.pictures.layout import placed

_WIDE, _TALL = 1000, 680
_LONGEST = 2000  # characters of a description
_EXCERPT = 360  # characters of a passage
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)]*\s+")
# Characters that would end the element with the data, or a line of it, are escaped as in JSON.
_ESCAPED = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def page(picture: PictureContents) -> str:
    """The picture as HTML."""
    data = json.dumps(_data(picture), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)
    title = escape(picture.title)
    return Template(_file("page.html")).substitute(title=title, data=data, script=_file("page.js"))


@cache
def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _data(picture: PictureContents) -> dict[str, object]:
    colour = colours(picture.entities)
    numbers = {one.id: n for n, one in enumerate(picture.entities)}
    edges = [(numbers[one.source], numbers[one.target], float(one.weight)) for one in picture.relations]
    at = placed(len(picture.entities), edges, _WIDE, _TALL)
    rest = rest_name({one.type for one in picture.entities if one.type not in colour})
    return {
        "title": picture.title,
        "note": picture.note,
        "legend": legend(picture.entities),
        "nodes": [
            {
                **_node(one, picture),
                "x": round(float(x), 1),
                "y": round(float(y), 1),
                "legend": one.type if one.type in colour else rest,
                "colour": colour.get(one.type, OTHER),
            }
            for one, (x, y) in zip(picture.entities, at, strict=True)
        ],
        "edges": [_edge(one, picture, numbers) for one in picture.relations],
    }


def _node(one: Entity, picture: PictureContents) -> dict[str, object]:
    return {
        "name": one.name,
        "type": one.type,
        "aliases": [alias for alias in one.aliases if alias != one.name][:20],
        "text": (one.summary or one.description)[:_LONGEST],
        "count": one.count,
        "degree": one.degree,
        "r": round(min(5 + 1.6 * log1p(one.count), 16), 1),
        "marked": one.id in picture.marked,
        "passages": _passages(picture, one, [one.name, *one.aliases]),
    }


def _edge(one: Relation, picture: PictureContents, numbers: dict[UUID, int]) -> dict[str, object]:
    return {
        "a": numbers[one.source],
        "b": numbers[one.target],
        "weight": one.weight,
        "type": one.type,
        "keywords": ", ".join(one.keywords[:10]),
        "text": (one.summary or one.description)[:_LONGEST],
        "marked": one.id in picture.marked,
        "directed": one.directed,
        "passages": _passages(picture, one, [one.source_name, one.target_name]),
    }


def _passages(picture: PictureContents, of: Entity | Relation, names: list[str]) -> list[list[str]]:
    return [[one.source, excerpt(one.text, names)] for one in picture.passages.get(of.id, ())]


def excerpt(text: str, names: Iterable[str]) -> str:
    """A short excerpt of a passage, from the sentence with the first of these names."""
    folded = text.casefold()
    places = [place for name in names if (place := folded.find(name.casefold())) >= 0]
    at = min(places, default=0)
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(text))]
    start = max((one for one in starts if at - _EXCERPT // 2 <= one <= at), default=0)
    if at - start > _EXCERPT // 2:
        start = at - _EXCERPT // 2
    part = " ".join(text[start : start + _EXCERPT].split())
    return f"{'… ' if start else ''}{part}{' …' if start + _EXCERPT < len(text) else ''}"
