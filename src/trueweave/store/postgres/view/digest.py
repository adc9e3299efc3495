"""The canonical digest of the view, and the differences between two views."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

from psycopg import sql

from trueweave.core.graph import VECTOR_KINDS, Difference, VectorKind
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.vectors import vectors

SECTIONS = (
    "documents",
    "chunks",
    "names",
    "entities",
    "relations",
    "phrase_counts",
    "words",
    "texts",
    "phrases",
    "occurrences",
    "communities",
    "vectors",
)
_HEADINGS = {"phrase_counts": "tallies"}  # headings are hashed too: changing one would change every digest
_MOST_DIFFERENCES = 20


async def digest(
    workspace: Workspace, sections: Sequence[str] = SECTIONS, of_kinds: Sequence[VectorKind] | None = None
) -> str:
    """A hash of everything readers can see of the workspace: equal digests mean equal indexes.

    It depends on the documents, the settings and the rules, not on the order in which anything happened. `of_kinds` are
    the kinds of vectors that are compared; by default, those that the workspace has of each object.
    """
    total = hashlib.sha256()
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        await vectors.hold(tx)
        for section in sections:
            total.update(f"== {_HEADINGS.get(section, section)}\n".encode())
            async for key, line in _lines(tx, section, of_kinds):
                total.update(f"{key}\t{line}\n".encode())
    return total.hexdigest()


async def differences(
    index: Workspace,
    rebuilt: Workspace,
    sections: Sequence[str] = SECTIONS,
    of_kinds: Sequence[VectorKind] | None = None,
) -> list[Difference]:
    """The first differing lines of two workspaces."""
    found: list[Difference] = []
    async with AsyncExitStack() as stack:
        left = await stack.enter_async_context(index.transaction(snapshot=True, unhurried=True))
        right = await stack.enter_async_context(rebuilt.transaction(snapshot=True, unhurried=True))
        for tx in (left, right):
            await vectors.hold(tx)
        for section in sections:
            async for difference in _compare(
                section, _lines(left, section, of_kinds), _lines(right, section, of_kinds)
            ):
                found.append(difference)
                if len(found) == _MOST_DIFFERENCES:
                    return found
    return found


async def _compare(section: str, left: AsyncIterator[Row], right: AsyncIterator[Row]) -> AsyncIterator[Difference]:
    """Merge two ordered streams, and yield what does not match."""
    a, b = await anext(left, None), await anext(right, None)
    while a or b:
        if a == b:
            a, b = await anext(left, None), await anext(right, None)
        elif b is None or (a is not None and (a[0] or "") < (b[0] or "")):
            assert a is not None
            yield Difference(section, a[0], a[1], None)
            a = await anext(left, None)
        elif a is None or (b[0] or "") < (a[0] or ""):
            yield Difference(section, b[0], None, b[1])
            b = await anext(right, None)
        else:
            yield Difference(section, a[0], a[1], b[1])
            a, b = await anext(left, None), await anext(right, None)


async def _lines(tx: Transaction, section: str, of_kinds: Sequence[VectorKind] | None) -> AsyncIterator[Row]:
    query: sql.SQL | sql.Composed
    query = sql.SQL(QUERIES[f"digest.{section}"])
    if section == "vectors":
        tables = await vectors.everything(tx)
        compared = VECTOR_KINDS if of_kinds is None else of_kinds
        expected = sql.SQL(QUERIES["digest.vectors_expected"]).format(graph=sql.Literal("entity" in compared))
        query = query.format(**tables) if tables else expected
    async with tx.connection.cursor(name=f"trueweave_{section}") as cursor:
        cursor.itersize = 2000
        await cursor.execute(query)
        async for row in cursor:
            yield row
