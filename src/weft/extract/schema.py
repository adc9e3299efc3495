"""The form of a model's findings: the schema it is asked to keep, and how its reply is read when it does not.

Lenient where that loses nothing (a number in quotes, prose around the JSON, null for nothing), strict where it would:
an item without its name is an error, which the model is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

import json_repair
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

CUT_OFF = "the reply was cut off; what was complete in it is kept"
MENDED = "the reply was not plain JSON and was mended"

_OPENING = re.compile(r"\{\s*[\"']")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[][{}]', re.DOTALL)  # a whole string, or a bracket outside of any
_CLOSING = {"{": "}", "[": "]"}


class Unusable(Exception):
    """What is wrong with a reply, in words that the model is shown too."""


class _Found(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_nothing(cls, found: Any) -> Any:
        return {k: v for k, v in found.items() if v is not None} if isinstance(found, dict) else found


Figure = Annotated[float, Field(allow_inf_nan=False)]
Words = Annotated[list[str], BeforeValidator(lambda v: re.split(r"[,;]", v) if isinstance(v, str) else v)]


class EntityFound(_Found):
    name: str
    type: str = ""
    description: str = ""
    emphasis: Figure | None = None


class RelationFound(_Found):
    source: str
    target: str
    description: str = ""
    keywords: Words = []
    strength: Figure | None = None
    emphasis: Figure | None = None


class Findings(_Found):
    """What one reply says. Figures are as the model gave them, in range or not."""

    entities: list[EntityFound] = []
    relations: list[RelationFound] = []

    @model_validator(mode="after")
    def _is_of_findings(self) -> Findings:
        if not self.model_fields_set:
            raise ValueError('it has neither "entities" nor "relations"')
        return self


def schema(types: Sequence[str]) -> str:
    """The JSON schema of a reply, as JSON. Every field is required, as some servers take no schema otherwise."""
    text, figure = {"type": "string"}, {"type": "integer"}
    entity = {"name": text, "type": {"type": "string", "enum": list(types)}, "description": text, "emphasis": figure}
    words = {"type": "array", "items": text}
    relation = {"source": text, "target": text, "description": text, "keywords": words}
    relation |= {"strength": figure, "emphasis": figure}
    lists = {"entities": entity, "relations": relation}
    return json.dumps(_object({name: {"type": "array", "items": _object(item)} for name, item in lists.items()}))


def read(text: str, *, cut_off: bool) -> tuple[Findings, tuple[str, ...]]:
    """What a reply says, and a note when it had to be mended. Raises Unusable when nothing can be made of it."""
    try:
        plain = from_json(text, allow_inf_nan=False)
    except ValueError:
        pass
    else:
        return _validated(plain), ()
    opening = _OPENING.search(text)
    if not opening:
        raise Unusable("it holds no JSON object" if text.strip() else "it is empty")
    body = text[opening.start() :]
    if cut_off:
        return _validated(_mended(_whole(body))), (CUT_OFF,)
    return _validated(_mended(body[: body.rfind("}") + 1] or body)), (MENDED,)


def _validated(found: object) -> Findings:
    try:
        return Findings.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(map(str, first["loc"]))
        problem = first["msg"].removeprefix("Value error, ")
        raise Unusable(f"{place}: {problem[:1].lower()}{problem[1:]}" if place else problem) from error


def _mended(body: str) -> object:
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        pass
    try:
        found = json_repair.loads(body, skip_json_loads=True)
    except ValueError as error:  # nested too deep
        raise Unusable(f"it is not JSON: {error}") from error
    if isinstance(found, list):  # several values one after the other
        found = next((part for part in found if isinstance(part, dict) and "entities" in part), found)
    return found


def _whole(body: str) -> str:
    """What is complete in JSON that was cut off: all up to the end of the last complete object, and then closed."""
    opened: list[str] = []
    end, closing = 0, ""
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if mark in _CLOSING:
            opened.append(_CLOSING[mark])
        elif opened and mark == opened[-1]:
            opened.pop()
            if mark == "}":
                end, closing = token.end(), "".join(reversed(opened))
    if not end:
        raise Unusable("it was cut off before anything in it was complete")
    return body[:end] + closing


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
