"""Filters documents: a filter as SQL conditions.

A filter that few documents pass is resolved to their ids, and everything in them is compared exactly, because a vector
index would skip most of it. A filter that many pass remains a condition on what the index finds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

from trueweave.core.evidence import Filter
from trueweave.core.ranges import Range
from trueweave.store.limits import FEW
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.queries import QUERIES

Read = Callable[[bytes, Mapping[str, Any] | None], Awaitable[list[Row]]]  # returns the rows of a statement
GroupKind = Literal["all", "any", "none"]

_READ = 10_000  # documents read to find those that pass, where no index has them
_UNINDEXED = 1_000_000


class ConditionShape(NamedTuple):
    """The part of a condition on metadata that affects the statement: whether it has values, and the number of
    ranges."""

    has_values: bool
    ranges: int


class UriShape(NamedTuple):
    """A condition on the uri of a document: it begins with a prefix, or is one of some uris."""

    by_prefix: bool


class GroupShape(NamedTuple):
    """Conditions of which a document must meet all, at least one, or none."""

    kind: GroupKind
    parts: tuple[Shape, ...]


Shape = ConditionShape | UriShape | GroupShape


class FilterShape(NamedTuple):
    """The part of a scope that affects the statement: whether it is a list of ids, its conditions, and whether it is
    asked for a caller who does not see all documents."""

    by_ids: bool
    conditions: tuple[Shape, ...]
    seen: bool = False

    @property
    def is_all(self) -> bool:
        return not self.by_ids and not self.conditions and not self.seen

    def visible(self, document: str) -> str:
        """A condition on a column that holds a document: the document is visible and passes the filter."""
        if self.by_ids:
            return f"{document} = ANY(%(scope)s)"
        return " AND ".join((is_visible(document), *_passes(document, self.conditions)))


@dataclass(frozen=True)
class Condition:
    """A metadata key for which a document must have one of these values, or a value in one of these ranges."""

    key: str
    values: tuple[Any, ...]
    ranges: tuple[Range, ...]

    @property
    def shape(self) -> ConditionShape:
        return ConditionShape(bool(self.values) or not self.ranges, len(self.ranges))

    def params(self, n: str) -> Iterator[tuple[str, Any]]:
        """The parameters of a statement for this condition, which has number `n`."""
        if self.shape.has_values:
            yield f"facet_{n}", json.dumps({self.key: self.values})
        for m, one in enumerate(self.ranges):
            kind, low, high, excluded = one.limits()
            yield f"key_{n}_{m}", _key(self.key, kind)
            yield from ((f"low_{n}_{m}", low), (f"high_{n}_{m}", high), (f"excluded_{n}_{m}", list(excluded)))


@dataclass(frozen=True)
class UriCondition:
    """A document must have one of these uris."""

    uris: tuple[str, ...]

    @property
    def shape(self) -> UriShape:
        return UriShape(by_prefix=False)

    def params(self, n: str) -> Iterator[tuple[str, Any]]:
        yield f"uris_{n}", Texts(self.uris)


@dataclass(frozen=True)
class PrefixCondition:
    """The uri of a document must begin with this text."""

    prefix: str

    @property
    def shape(self) -> UriShape:
        return UriShape(by_prefix=True)

    def params(self, n: str) -> Iterator[tuple[str, Any]]:
        yield f"prefix_{n}", self.prefix


@dataclass(frozen=True)
class Group:
    """A document must meet all of these conditions, at least one of them, or none. The parts of part `n` of group `m`
    have numbers that begin with `m_n`."""

    kind: GroupKind
    parts: tuple[AnyCondition, ...]

    @property
    def shape(self) -> GroupShape:
        return GroupShape(self.kind, tuple(one.shape for one in self.parts))

    def params(self, n: str) -> Iterator[tuple[str, Any]]:
        for m, one in enumerate(self.parts):
            yield from one.params(f"{n}_{m}")


AnyCondition = Condition | UriCondition | PrefixCondition | Group


@dataclass(frozen=True)
class Scope:
    """A resolved filter: all documents, a few by their ids, or those that meet all conditions. If it is `seen`, rights
    and conditions are checked by row-level security and the functions of callers."""

    few: Ids | None = None
    conditions: tuple[AnyCondition, ...] = ()
    seen: bool = False

    @property
    def shape(self) -> FilterShape:
        return FilterShape(self.few is not None, tuple(one.shape for one in self.conditions), self.seen)

    @property
    def is_empty(self) -> bool:
        return self.few is not None and not self.few

    @property
    def params(self) -> dict[str, Any]:
        if self.few is not None:
            return {"scope": self.few}
        return dict(pair for n, one in enumerate(self.conditions) for pair in one.params(str(n)))


ALL = Scope()


async def scope(read: Read, given: Filter) -> Scope:
    """Resolve a filter, in one statement."""
    # The condition that is looked up is one by which documents can be found, and that few meet.
    wanted = Scope(conditions=tuple(sorted(_conditions(given), key=lambda one: _cost(one.shape))))
    first, *others = _passes("d.id", wanted.shape.conditions)
    passes, shape = " AND ".join((first, *others)), wanted.shape.conditions[0]
    by_uri = shape == UriShape(by_prefix=False)
    if by_uri:
        query = _query("scope_by_uri", passes=" AND ".join(others) or "true")
    elif _cost(shape) < _UNINDEXED:
        found, visible = " UNION ALL ".join(_found(shape, "0", FEW + 1)), is_visible("d.id")
        query = _query("scope_by_condition", found=found, few=FEW, passes=passes, visible=visible)
    else:
        query = _query("scope_by_reading", read=_READ, few=FEW, passes=passes)
    rows = await read(query.encode(), wanted.params)
    if rows and not by_uri and rows[0][1] > FEW:
        return wanted
    return Scope(few=Ids(id_ for id_, _, fits in rows if fits))


async def seen_scope(read: Read, given: Filter) -> Scope | None:
    """The scope of a caller who does not see all documents; None for one who does.

    `read` works with the sight of the caller without a filter.
    """
    [(sees_all,)] = await read(QUERIES["read.sees_all"].encode(), None)
    if sees_all:
        return None
    return replace(await scope(read, given), conditions=(), seen=True) if given else Scope(seen=True)


def compiled(given: Filter) -> str:
    """A filter for the setting trueweave.filter; empty if it has no conditions. See `meets` in 0025_rights.sql."""
    return json.dumps(_compiled(_together(given))) if given else ""


def _compiled(condition: AnyCondition) -> dict[str, Any]:
    match condition:
        case UriCondition(uris):
            return {"uris": list(uris)}
        case PrefixCondition(prefix):
            return {"prefix": prefix}
        case Condition(key, values, ranges):
            either = [{"facets": [str(_facet(key, value)) for value in values]}, *(_range(key, one) for one in ranges)]
            return {"any": either}
        case Group(kind, parts):
            each = list(map(_compiled, parts))
            return {"not": {"any": each}} if kind == "none" else {kind: each}


def _range(key: str, wanted: Range) -> dict[str, Any]:
    kind, low, high, excluded = wanted.limits()
    limits = {"low": str(low), "high": str(high), "excluded": list(map(str, excluded))}
    return {"range": {"key": str(_key(key, kind)), **limits}}


def _conditions(given: Filter) -> Iterator[AnyCondition]:
    """The conditions of a filter, all of which a document must meet."""
    if given.uris:
        yield UriCondition(given.uris)
    if given.prefix:
        yield PrefixCondition(given.prefix)
    for key, wanted in given.metadata.items():
        each = (wanted,) if isinstance(wanted, str | int | float | Range) else tuple(wanted)
        ranges = tuple(one for one in each if isinstance(one, Range))
        yield Condition(key, tuple(one for one in each if not isinstance(one, Range)), ranges)
    for one in given.all_of:
        yield from _conditions(one)
    if given.any_of:
        yield Group("any", tuple(map(_together, given.any_of)))
    if given.none_of:
        yield Group("none", tuple(map(_together, given.none_of)))


def _together(given: Filter) -> AnyCondition:
    """A filter as one condition."""
    conditions = tuple(_conditions(given))
    return conditions[0] if len(conditions) == 1 else Group("all", conditions)


def _cost(shape: Shape) -> int:
    """How costly it is to find the documents that meet a condition: those with a uri are the fewest, and fewer have a
    value than a value in a range, usually. Where no index has them, all documents are read."""
    match shape:
        case UriShape(by_prefix):
            return _UNINDEXED if by_prefix else 0
        case ConditionShape(_, ranges):
            return 1 + ranges
        case GroupShape("any", parts):
            return min(sum(map(_cost, parts)), _UNINDEXED)
        case GroupShape("all", parts):
            return min(map(_cost, parts), default=_UNINDEXED)
        case _:
            return _UNINDEXED


def _key(path: str, kind: str) -> UUID:
    """The key as computed by the SQL function `ordered_facets`."""
    return UUID(bytes=hashlib.md5(f"{path}\x01{kind}".encode(), usedforsecurity=False).digest())


def _facet(path: str, value: object) -> UUID:
    """The key as computed by the SQL function `facets`."""
    match value:
        case bool():
            kind, written = "boolean", str(value).lower()
        case int() | float():
            kind, written = "number", _trimmed(Decimal(repr(value)))
        case _:
            kind, written = "string", str(value)
    return UUID(bytes=hashlib.md5(f"{path}\x01{kind}\x01{written}".encode(), usedforsecurity=False).digest())


def _trimmed(value: Decimal) -> str:
    """A number without exponent and without zeros at the end, as PostgreSQL writes it."""
    written = f"{value:f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def is_visible(document: str) -> str:
    """A condition on a column that holds a document: the document is visible."""
    return _query("is_visible", document=document)


def _passes(document: str, conditions: tuple[Shape, ...]) -> list[str]:
    return [_meets(document, str(n), one) for n, one in enumerate(conditions)]


def _meets(document: str, n: str, shape: Shape) -> str:
    """Whether a document meets the condition with number `n`."""
    match shape:
        case ConditionShape():
            return f"({' OR '.join(_either(document, n, shape))})"
        case UriShape(by_prefix):
            return _query("has_prefix" if by_prefix else "has_uri", document=document, of=n)
        case GroupShape(kind, parts):
            each = [_meets(document, f"{n}_{m}", one) for m, one in enumerate(parts)]
            if kind == "all":
                return f"({' AND '.join(each) or 'true'})"
            return f"{'NOT ' if kind == 'none' else ''}({' OR '.join(each)})"


def _either(document: str, n: str, condition: ConditionShape) -> Iterator[str]:
    if condition.has_values:
        yield _query("has_facet", document=document, facet=f"facet_{n}")
    for m in range(condition.ranges):
        yield _query("has_in_range", document=document, of=f"{n}_{m}")


def _found(shape: Shape, n: str, most: int) -> Iterator[str]:
    """Subqueries for the first documents that meet the condition with number `n`, which an index has; maybe also for
    others."""
    match shape:
        case ConditionShape(has_values, ranges):
            if has_values:
                yield _query("documents_with_facet", facet=f"facet_{n}", most=most)
            for m in range(ranges):
                yield _query("documents_in_range", of=f"{n}_{m}", most=most)
        case UriShape():
            yield _query("documents_with_uri", of=n)
        case GroupShape("any", parts):
            for m, one in enumerate(parts):
                yield from _found(one, f"{n}_{m}", most)
        case GroupShape(_, parts):
            m, cheapest = min(enumerate(parts), key=lambda part: _cost(part[1]))
            yield from _found(cheapest, f"{n}_{m}", most)


def _query(name: str, /, **parts: object) -> str:
    return QUERIES[f"search.{name}"].format(**parts)
