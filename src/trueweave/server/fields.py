"""Fields that requests share: texts that can be stored, and how many things a page has."""

from __future__ import annotations

import re
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, StringConstraints

from trueweave.types import NameKey

_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text."""
    return not _UNSTORABLE.search(text)


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("it holds a NUL or half a character; take it out")
    return text


storable_text = AfterValidator(_storable)

Text = Annotated[str, storable_text]
Line = Annotated[str, StringConstraints(max_length=2000), storable_text]
Name = Annotated[str, StringConstraints(min_length=1, max_length=2000), storable_text]
Uri = Annotated[str, StringConstraints(min_length=1, max_length=2000), storable_text]
Question = Annotated[str, StringConstraints(min_length=1, max_length=20_000), storable_text]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str, Query(max_length=8000, description="Where the page begins: `next` of the one before.")]
FilterJson = Annotated[
    str, StringConstraints(max_length=8000), storable_text, Query(description="A filter, as `ask` takes it, in JSON.")
]
EntityName = Annotated[Name, Query(description="A name of the entity, NAME::TYPE where several have it, or its id.")]


def name_or_id(text: str) -> UUID | NameKey:
    """The entity that is meant by an id, a NAME or NAME::TYPE."""
    try:
        return UUID(text)
    except ValueError:
        return NameKey.from_typed(text)
