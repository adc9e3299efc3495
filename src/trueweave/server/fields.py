"""Fields of requests, each with its maximum length. They are declared only here.

Lengths are in characters. A test reads the OpenAPI document and fails if a string or a list has no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from typing import Annotated, Any, TypeVar, get_type_hints
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, create_model
from pydantic.json_schema import WithJsonSchema

from trueweave.core.parameters import PlainField, plain_fields
from trueweave.core.record import NameKey, is_storable
from trueweave.store.postgres.record.resolution import LONGEST_LABEL

B = TypeVar("B", bound=BaseModel)

LONGEST_LINE = 2000
LONGEST_MESSAGE = 200_000  # a message too long for the prompt is refused or cut once its tokens are counted
LONGEST_TEXT = 16 * 2**20
LONGEST_PRICE = 40
MOST_PLACES = 20_000
MOST_METADATA = 1000


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("it holds a NUL or an unpaired surrogate; remove it")
    return text


storable_text = AfterValidator(_storable)

DocumentText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT), storable_text]
MessageText = Annotated[str, StringConstraints(max_length=LONGEST_MESSAGE), storable_text]
Label = Annotated[str, StringConstraints(max_length=LONGEST_LABEL), storable_text]
Line = Annotated[str, StringConstraints(max_length=LONGEST_LINE), storable_text]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LINE), storable_text]
Groups = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=200), storable_text]], Field(max_length=1000)
]
Uri = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LINE), storable_text]
WorkspaceSlug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", max_length=100)]
Price = Annotated[
    Decimal,
    Field(ge=0, le=1_000_000_000, max_digits=20),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 1_000_000_000},
                {"type": "string", "maxLength": LONGEST_PRICE},
            ]
        },
        mode="validation",
    ),
]
Question = Annotated[str, StringConstraints(min_length=1, max_length=20_000), storable_text]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str, Query(max_length=8000, description="Where the page begins: `next` of the one before.")]
FilterJson = Annotated[
    str, StringConstraints(max_length=8000), storable_text, Query(description="A filter, as `ask` takes it, in JSON.")
]
EntityName = Annotated[Name, Query(description="A name of the entity, NAME::TYPE where several have it, or its id.")]


def name_or_id(text: str) -> UUID | NameKey:
    """An entity, given as an id, NAME or NAME::TYPE."""
    try:
        return UUID(text)
    except ValueError:
        return NameKey.from_typed(text)


def with_parameters(options: type) -> Callable[[type[B]], type[B]]:
    """Add the plain parameters of a question to the body of a request, with their defaults and bounds."""

    def decorated(body: type[B]) -> type[B]:
        known: dict[str, Any] = {
            one.name: _body_field(one) for one in plain_fields(options) if one.name not in body.model_fields
        }
        return _extended(body, known)

    return decorated


def _body_field(one: PlainField) -> tuple[Any, Any]:
    mark = one.parameter
    bounds = Field(ge=mark.least, le=mark.most, max_length=mark.longest, description=mark.help)
    return (Annotated[one.type, bounds, storable_text] if one.type is str else Annotated[one.type, bounds]), one.default


def with_fields(value: type, without: Sequence[str] = ()) -> Callable[[type[B]], type[B]]:
    """Add the fields of a dataclass to the body of a response, except those that the body already has."""

    def decorated(body: type[B]) -> type[B]:
        left_out = {*without, *body.model_fields}
        hints = {name: hint for name, hint in get_type_hints(value).items() if name not in left_out}
        return _extended(
            body, {one.name: (hints[one.name], ...) for one in dataclass_fields(value) if one.name in hints}
        )

    return decorated


def with_optional_fields(other: type[BaseModel], without: Sequence[str] = ()) -> Callable[[type[B]], type[B]]:
    """Add the fields of another body as optional ones, except those that the body already has."""

    def decorated(body: type[B]) -> type[B]:
        left_out = {*without, *body.model_fields}
        known: dict[str, Any] = {name: field.annotation for name, field in other.model_fields.items()}
        return _extended(body, {name: (kind | None, None) for name, kind in known.items() if name not in left_out})

    return decorated


def _extended(body: type[B], known: dict[str, Any]) -> type[B]:
    return create_model(body.__name__, __base__=body, __doc__=body.__doc__, __module__=body.__module__, **known)
