"""Front matter: YAML between two lines of dashes at the start of a text, as metadata."""

from __future__ import annotations

import re
from datetime import date
from math import isfinite
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

from trueweave.core.record import Json
from trueweave.text.names import storable

_FRONT = re.compile(r"---[ \t]*\r?\n((?:[^\r\n]*+\r?\n){0,200}?)---[ \t]*(?:\r?\n|\Z)")
_DEEPEST = 5  # levels of lists and mappings


class FrontMatter(NamedTuple):
    """The number of characters that it takes, what it says, and perhaps a note on why it was left in the text."""

    length: int
    metadata: dict[str, Json]
    problem: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """The front matter of a text. What is not YAML of names and values is a part of the text, with a note."""
    found = _FRONT.match(text)
    if not found or not found[1].strip():
        return FrontMatter(0, {})
    try:
        said = yaml.load(found[1], _Loader)
        if not isinstance(said, dict):  # a line of dashes may just be a line
            return FrontMatter(0, {})
        return FrontMatter(found.end(), {storable(str(name)): _json(value, _DEEPEST) for name, value in said.items()})
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(getattr(error, "problem", None) or error).split())[:100]
        return FrontMatter(0, {}, (f"the front matter is not valid YAML ({why}), and was read as text",))


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Builds plain values, and no aliases: a few lines of those can stand for billions of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias")
        return super().compose_node(parent, index)


def _json(value: object, deepest: int) -> Json:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, date):  # or a date and time
        return value.isoformat()
    if not deepest:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict):
        return {storable(str(name)): _json(one, deepest - 1) for name, one in value.items()}
    if isinstance(value, list | set):
        return [_json(one, deepest - 1) for one in value]
    return storable(str(value))
