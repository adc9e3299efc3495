"""Pages of the view by key: each starts after the last row of the previous page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from trueweave.core.graph import Community, Entity, Relation
from trueweave.core.jobs import FailedDocument
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import communities as tree
from trueweave.store.postgres.view.read import entity, relation


async def entities(
    tx: Transaction, limit: int, *, type_: str = "", after: tuple[int, str, UUID] | None = None
) -> list[Entity]:
    """The most mentioned entities, optionally of one type; with `after`, those after this count, name and id."""
    count, name, id_ = after or (None, None, None)
    return [
        entity(*row)
        for row in await tx.rows("view_page.entities", limit=limit, type=type_, count=count, name=name, id=id_)
    ]


async def relations(
    tx: Transaction, limit: int, *, of: Sequence[UUID] = (), after: tuple[float, UUID] | None = None
) -> list[Relation]:
    """The heaviest relations, optionally of some entities; with `after`, those after this weight and id."""
    weight, id_ = (round(after[0] * THOUSANDTHS), after[1]) if after else (None, None)
    rows = await tx.rows("view_page.relations", limit=limit, entities=list(of) or None, weight=weight, id=id_)
    return [relation(*row) for row in rows]


async def communities(
    tx: Transaction,
    limit: int,
    *,
    level: int | None = None,
    within: UUID | None = None,
    since: datetime | None = None,
    after: tuple[int, UUID] | None = None,
) -> list[Community]:
    """The largest communities, optionally of a level, directly within another, or changed since then; with `after`,
    those after this size and id."""
    size, id_ = after or (None, None)
    wanted = {"level": level, "within": within, "since": since}
    rows = await tx.rows("view_page.communities", limit=limit, **wanted, size=size, id=id_)
    found = {one.id: one for one in await tree.with_ids(tx, [id_ for id_, _ in rows])}
    return [found[id_] for id_, _ in rows]


async def failed(tx: Transaction, limit: int, after: str = "") -> list[FailedDocument]:
    """Documents that failed for good, by uri, after this one."""
    return [FailedDocument(*row) for row in await tx.rows("view_page.failed", limit=limit, after=after)]
