"""Reads JSON as models write it: leniently where nothing is lost (prose around it, null for nothing, a number in
quotes), and strictly otherwise: a missing part is an error, which the model is shown."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

from trueweave.models import json_repair

CUT_OFF = "the reply was cut off; what was complete in it is kept"
MENDED = "the reply was not plain JSON and was repaired"

_OPENING = re.compile(r"\{\s*[\"']")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[][{}]', re.DOTALL)  # a complete string, or a bracket outside strings
_CLOSING = {"{": "}", "[": "]"}


class Unusable(Exception):
    """What is wrong with a reply, in words that are also shown to the model."""


class Lenient(BaseModel):
    """A form by which replies are read."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_nothing(cls, found: Any) -> Any:
        return {k: v for k, v in found.items() if v is not None} if isinstance(found, dict) else found


Form = TypeVar("Form", bound=Lenient)
Figure = Annotated[float, Field(allow_inf_nan=False)]


def read(form: type[Form], text: str, *, cut_off: bool) -> tuple[Form, tuple[str, ...]]:
    """The contents of a reply, and a note if it had to be repaired. Raises Unusable if it cannot be read."""
    try:
        plain = from_json(text, allow_inf_nan=False)
    except ValueError:
        pass
    else:
        return _validated(form, plain), ()
    opening = _OPENING.search(text)
    if not opening:
        raise Unusable("it holds no JSON object" if text.strip() else "it is empty")
    body = text[opening.start() :]
    if cut_off:
        return _validated(form, _mended(form, _whole(body))), (CUT_OFF,)
    return _validated(form, _mended(form, body[: body.rfind("}") + 1] or body)), (MENDED,)


def _validated(form: type[Form], found: object) -> Form:
    try:
        return form.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(map(str, first["loc"]))
        problem = first["msg"].removeprefix("Value error, ")
        raise Unusable(f"{place}: {problem[:1].lower()}{problem[1:]}" if place else problem) from error


def _mended(form: type[Lenient], body: str) -> object:
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        pass
    try:
        found = json_repair.loads(body)
    except ValueError as error:  # nested too deeply
        raise Unusable(f"it is not JSON: {error}") from error
    if isinstance(found, list):  # several values in a row
        found = next(
            (part for part in found if isinstance(part, dict) and part.keys() & form.model_fields.keys()), found
        )
    return found


def _whole(body: str) -> str:
    """The complete part of JSON that was cut off: everything up to the end of the last complete object, then closed."""
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
