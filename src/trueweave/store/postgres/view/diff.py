"""The differences between two indexes, in what they say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import NamedTuple, get_args
from uuid import UUID

from psycopg import sql

from trueweave.core.diff import Change, ChangedKind, IndexChange, IndexDiff
from trueweave.core.evidence import Passage
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.view import lookup

_PASSAGES_EACH = 2


class _Row(NamedTuple):
    key: str
    id: UUID
    name: str
    line: str
    shown: str


class _Found(NamedTuple):
    kind: ChangedKind
    change: Change
    before: _Row | None
    after: _Row | None


async def diff(before: Workspace, after: Workspace, limit: int) -> IndexDiff:
    """What was added, removed or changed from one index to another, with up to `limit` of each kind. Both are read as
    they are at one time."""
    counts: dict[ChangedKind, Counter[Change]] = {}
    found: list[_Found] = []
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(before.database.long_work)  # which takes two connections of the pool
        left = await stack.enter_async_context(before.transaction(snapshot=True, unhurried=True))
        right = await stack.enter_async_context(after.transaction(snapshot=True, unhurried=True))
        for kind in get_args(ChangedKind):
            counts[kind] = Counter(dict.fromkeys(get_args(Change), 0))
            async with aclosing(_rows(left, kind)) as a, aclosing(_rows(right, kind)) as b:
                async for one in _merged(kind, a, b):
                    counts[kind][one.change] += 1
                    if counts[kind].total() <= limit:
                        found.append(one)
        said = [
            await _passages(tx, [(one.kind, row.id) for one in found if (row := (one.before, one.after)[side])])
            for side, tx in enumerate((left, right))
        ]
    return IndexDiff({kind: dict(number) for kind, number in counts.items()}, tuple(_told(one, *said) for one in found))


async def _merged(kind: ChangedKind, left: AsyncIterator[_Row], right: AsyncIterator[_Row]) -> AsyncIterator[_Found]:
    """Merge two streams in the order of their keys, and yield what does not match."""
    a, b = await anext(left, None), await anext(right, None)
    while a or b:
        if b is None or (a is not None and a.key.encode() < b.key.encode()):
            yield _Found(kind, "removed", a, None)
            a = await anext(left, None)
        elif a is None or b.key.encode() < a.key.encode():
            yield _Found(kind, "added", None, b)
            b = await anext(right, None)
        else:
            if a.line != b.line:
                yield _Found(kind, "changed", a, b)
            a, b = await anext(left, None), await anext(right, None)


async def _rows(tx: Transaction, kind: ChangedKind) -> AsyncGenerator[_Row, None]:
    async with tx.connection.cursor(name=f"trueweave_diff_{kind}") as cursor:
        cursor.itersize = 2000
        await cursor.execute(sql.SQL(QUERIES[f"diff.{kind}"]))
        async for row in cursor:
            yield _Row(*row)


async def _passages(tx: Transaction, of: Sequence[tuple[ChangedKind, UUID]]) -> dict[UUID, tuple[Passage, ...]]:
    """Passages of each of these, by id."""
    chunks: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for kind in get_args(ChangedKind):
        ids = Ids(id_ for one, id_ in of if one == kind)
        for owner, chunk in await tx.rows(f"diff.{kind}_chunks", ids=ids, each=_PASSAGES_EACH) if ids else ():
            chunks[owner].append(chunk)
    wanted = list(dict.fromkeys(chunk for each in chunks.values() for chunk in each))
    found = {passage.id: passage for passage in await lookup.passages(tx, wanted)} if wanted else {}
    return {owner: tuple(found[chunk] for chunk in each if chunk in found) for owner, each in chunks.items()}


def _told(one: _Found, before: dict[UUID, tuple[Passage, ...]], after: dict[UUID, tuple[Passage, ...]]) -> IndexChange:
    row = one.after or one.before
    assert row, "it is on one side at least"
    return IndexChange(
        one.kind,
        one.change,
        row.name,
        one.before.shown if one.before else "",
        one.after.shown if one.after else "",
        before.get(one.before.id, ()) if one.before else (),
        after.get(one.after.id, ()) if one.after else (),
    )
