"""Pages of lists, each with a cursor to the next. A cursor is only valid for the same list of the same workspace."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field, TypeAdapter

from trueweave.core.record import is_storable
from trueweave.server.problems import Refusal

T = TypeVar("T")
P = TypeVar("P")

_MOST, _MOST_EXACT = 2**63, 2**53  # limits of a bigint, and of integers that a float holds exactly
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)  # of times that Trueweave writes


class ListPage(BaseModel, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")


class ListPageWithTotal(ListPage[T], Generic[T]):
    """A page of a list, and the number of items of the whole list, if that was asked for."""

    total: int | None = None


class Pager(Generic[P]):
    """Makes and reads the cursors of one list. `what` identifies the list: its name, workspace and filters. A position
    is of type `kind`.

    A cursor is not signed: it only gives a position in a list that its caller may read anyway.
    """

    def __init__(self, kind: Any, *what: object) -> None:
        self._positions: TypeAdapter[P] = TypeAdapter(kind)
        self._tag = hashlib.sha256(json.dumps([str(one) for one in what]).encode()).hexdigest()[:16]

    def position(self, cursor: str) -> P | None:
        """The position before a page; None for the first page. Raises Refusal for a cursor of another list."""
        if not cursor:
            return None
        try:
            tag, given = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
            if tag == self._tag:
                position = self._positions.validate_python(given)
                if _is_storable(position) and self._cursor(position) == cursor:
                    return position
        except (ValueError, TypeError, OverflowError, RecursionError):  # a ValidationError is a ValueError
            pass  # not one of our cursors
        raise Refusal(
            400,
            "invalid_cursor",
            "The cursor does not belong to this list.",
            "Start with the first page, without a cursor.",
        )

    def page(self, found: Sequence[Any], limit: int, position: Callable[[Any], P]) -> dict[str, Any]:
        """A page of at most `limit` items. There is another page if `found` has one item more than that."""
        items = list(found[:limit])
        return {"items": items, "next": self._cursor(position(items[-1])) if len(found) > limit else None}

    def _cursor(self, position: P) -> str:
        packed = json.dumps([self._tag, position], default=_plain)
        return base64.urlsafe_b64encode(packed.encode()).decode()


def _is_storable(position: object) -> bool:
    """Whether PostgreSQL can compare every part of a position with a column."""
    match position:
        case tuple():
            return all(map(_is_storable, position))
        case str():
            return is_storable(position)
        case int():
            return abs(position) < _MOST
        case float():
            return abs(position) < _MOST_EXACT  # neither NaN nor infinity
        case datetime():
            return position.tzinfo is not None and _FIRST <= position <= _LAST
        case _:
            return True


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else repr(value)
