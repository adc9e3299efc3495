"""Pages: lists in parts, each with a cursor to the next, which only the same list of the same workspace takes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from trueweave.server.problems import Refusal

T = TypeVar("T")
P = TypeVar("P")


class ListPage(BaseModel, Generic[T]):
    """Part of a list."""

    items: list[T]
    next: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")


class Pager(Generic[P]):
    """The cursors of one list: which it is, of which workspace, and narrowed by what. A position is of type `kind`.

    A cursor is not signed: it can say no more than where to go on in a list that its caller may read anyway.
    """

    def __init__(self, kind: Any, *what: object) -> None:
        self._positions: TypeAdapter[P] = TypeAdapter(kind)
        self._tag = hashlib.sha256(json.dumps([str(one) for one in what]).encode()).hexdigest()[:16]

    def position(self, cursor: str) -> P | None:
        """Where a page begins; None is at the first. A cursor of another list is refused."""
        if not cursor:
            return None
        try:
            tag, position = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
            if tag == self._tag:
                return self._positions.validate_python(position)
        except (ValueError, TypeError, RecursionError, ValidationError):
            pass  # it is none of ours
        raise Refusal(
            400, "invalid_cursor", "The cursor is not one of this list.", "Begin with the first page, without a cursor."
        )

    def page(self, found: Sequence[Any], limit: int, position: Callable[[Any], P]) -> dict[str, Any]:
        """A page of what was found, of which there is one more than the limit where there is another page."""
        items = list(found[:limit])
        return {"items": items, "next": self._cursor(position(items[-1])) if len(found) > limit else None}

    def _cursor(self, position: P) -> str:
        packed = json.dumps([self._tag, position], default=_plain)
        return base64.urlsafe_b64encode(packed.encode()).decode()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else repr(value)
