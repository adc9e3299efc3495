"""Prompts: Markdown files with `{name}` where a value goes, each with a version that its text decides."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with places for values. Another text is another version."""

    name: str
    text: str

    @property
    def version(self) -> str:
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()

    def render(self, **values: str) -> str:
        """The prompt with each value in its place. A value is never searched for places itself."""
        places = set(_PLACE.findall(self.text))
        if wrong := places.symmetric_difference(values):
            raise ValueError(f"prompt {self.name!r} has places for {sorted(places)}; wrong about {sorted(wrong)}")
        return _PLACE.sub(lambda place: values[place[1]], self.text)


@cache
def load(name: str) -> Template:
    """The prompt of this name."""
    return Template(name, (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip())


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object, every field of which is required, as some servers take no schema otherwise."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def fence(text: str) -> str:
    """The text between two lines with one mark that does not occur in it, so that nothing in it can end it.

    Equal texts are fenced alike.
    """
    turn = 0
    while (mark := _mark(text, turn)) in text:
        turn += 1
    return f"<<<{mark}\n{text}\n{mark}>>>"


def _mark(text: str, turn: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6, salt=turn.to_bytes(8, "big")).hexdigest()
