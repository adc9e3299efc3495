"""Filters documents: a filter as SQL conditions.

A filter that few documents pass is resolved to their ids, and everything in them is compared exactly, because a vector
index would skip most of it. A filter that many pass remains a condition on what the index finds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.evidence import Filter
from trueweave.core.ranges import Range
from trueweave.store.limits import FEW
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.queries import QUERIES

Read = Callable[[bytes, Mapping[str, Any] | None], Awaitable[list[Row]]]  # returns the rows of a statement


class ConditionShape(NamedTuple):
    """The part of a condition that affects the statement: whether it has values, and the number of ranges."""

    has_values: bool
    ranges: int


class FilterShape(NamedTuple):
    """The part of a scope that affects the statement: whether it is a list of ids, and its conditions."""

    by_ids: bool
    conditions: tuple[ConditionShape, ...]

    @property
    def is_all(self) -> bool:
        return not self.by_ids and not self.conditions

    def visible(self, document: str) -> str:
        """A condition on a column that holds a document: the document is visible and passes the filter."""
        if self.by_ids:
            return f"{document} = ANY(%(scope)s)"
        return " AND ".join((_is_visible(document), *_passes(document, self.conditions)))


@dataclass(frozen=True)
class Condition:
    """A metadata key for which a document must have one of these values, or a value in one of these ranges."""

    key: str
    values: tuple[Any, ...]
    ranges: tuple[Range, ...]

    @property
    def shape(self) -> ConditionShape:
        return ConditionShape(bool(self.values) or not self.ranges, len(self.ranges))

    def params(self, n: int) -> Iterator[tuple[str, Any]]:
        """The parameters of a statement for this condition, which has number `n`."""
        if self.shape.has_values:
            yield f"facet_{n}", json.dumps({self.key: self.values})
        for m, one in enumerate(self.ranges):
            kind, low, high, excluded = one.limits()
            yield f"key_{n}_{m}", _key(self.key, kind)
            yield from ((f"low_{n}_{m}", low), (f"high_{n}_{m}", high), (f"excluded_{n}_{m}", list(excluded)))


@dataclass(frozen=True)
class Scope:
    """A resolved filter: all documents, a few by their ids, or those that meet all conditions."""

    few: Ids | None = None
    conditions: tuple[Condition, ...] = ()

    @property
    def shape(self) -> FilterShape:
        return FilterShape(self.few is not None, tuple(one.shape for one in self.conditions))

    @property
    def is_empty(self) -> bool:
        return self.few is not None and not self.few

    @property
    def params(self) -> dict[str, Any]:
        if self.few is not None:
            return {"scope": self.few}
        return dict(pair for n, one in enumerate(self.conditions) for pair in one.params(n))


ALL = Scope()


async def scope(read: Read, given: Filter) -> Scope:
    """Resolve a filter, in one statement."""
    # Fewer documents have a given value than a value in a range, usually. The first condition is the one looked up.
    conditions = tuple(sorted(_conditions(given), key=lambda one: len(one.ranges)))
    wanted = Scope(conditions=conditions)
    passes = " AND ".join(_passes("d.id", wanted.shape.conditions)) or "true"
    params = wanted.params
    if given.uris:
        query = QUERIES["search.scope_by_uri"].format(passes=passes)
        params["uris"] = Texts(given.uris)
    else:
        found = " UNION ALL ".join(_found(wanted.shape.conditions[0], FEW + 1))
        visible = _is_visible("d.id")
        query = QUERIES["search.scope_by_condition"].format(found=found, few=FEW, passes=passes, visible=visible)
    rows = await read(query.encode(), params)
    if rows and not given.uris and rows[0][1] > FEW:
        return wanted
    return Scope(few=Ids(id_ for id_, _, fits in rows if fits))


def _conditions(given: Filter) -> Iterator[Condition]:
    for key, wanted in given.metadata.items():
        each = (wanted,) if isinstance(wanted, str | int | float | Range) else tuple(wanted)
        ranges = tuple(one for one in each if isinstance(one, Range))
        yield Condition(key, tuple(one for one in each if not isinstance(one, Range)), ranges)


def _key(path: str, kind: str) -> UUID:
    """The key as computed by the SQL function `ordered_facets`."""
    return UUID(bytes=hashlib.md5(f"{path}\x01{kind}".encode(), usedforsecurity=False).digest())


def _is_visible(document: str) -> str:
    return QUERIES["search.is_visible"].format(document=document)


def _passes(document: str, conditions: tuple[ConditionShape, ...]) -> list[str]:
    return [f"({' OR '.join(_either(document, n, one))})" for n, one in enumerate(conditions)]


def _either(document: str, n: int, condition: ConditionShape) -> Iterator[str]:
    if condition.has_values:
        yield QUERIES["search.has_facet"].format(document=document, facet=f"facet_{n}")
    for m in range(condition.ranges):
        yield QUERIES["search.has_in_range"].format(document=document, of=f"{n}_{m}")


def _found(condition: ConditionShape, most: int) -> Iterator[str]:
    """Subqueries for the first documents that meet the first condition."""
    if condition.has_values:
        yield QUERIES["search.documents_with_facet"].format(facet="facet_0", most=most)
    for m in range(condition.ranges):
        yield QUERIES["search.documents_in_range"].format(of=f"0_{m}", most=most)
