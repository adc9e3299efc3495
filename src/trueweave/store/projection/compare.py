"""Compares a copy in another store with the record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from trueweave.core.projections import ProjectedKind, ProjectionDifference
from trueweave.core.protocols import ProjectionTarget
from trueweave.store.postgres.projection.projecting import ProjectionSource


async def differences(
    source: ProjectionSource, target: ProjectionTarget, copy: str
) -> AsyncIterator[ProjectionDifference]:
    """What differs or is superfluous in a copy, page by page; then what it lacks. Neither should change meanwhile.

    The ids of one kind in the copy are held in memory: 16 bytes each, plus overhead.
    """
    for kind in target.kinds:
        there: set[bytes] = set()
        async for page in target.contents(copy, kind):
            there |= {id_.bytes for id_ in page}
            expected = await _expected(source, target, kind, list(page))
            for id_, stored in page.items():
                if expected.get(id_) != stored:
                    yield ProjectionDifference(kind, id_, expected.get(id_), stored)
        async for ids in source.pages(kind):
            if lacking := [id_ for id_ in ids if id_.bytes not in there]:
                for id_, wanted in (await _expected(source, target, kind, lacking)).items():
                    yield ProjectionDifference(kind, id_, wanted, None)


async def _expected(
    source: ProjectionSource, target: ProjectionTarget, kind: ProjectedKind, ids: list[UUID]
) -> dict[UUID, str]:
    return target.expected(await source.read_page(kind, ids, target.vector_kinds), kind)
