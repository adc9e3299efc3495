"""Windows of the map: communities as circles, and the entities in those that are large enough to be opened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from trueweave.core.graph import GraphMap, MapCircles, MapEntities, MapLinks, MapRelations
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.store.postgres.binary_params import Ids, Numbers
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction

_CLOSED = 40.0  # pixels of the radius below which a community is drawn as a circle
_LINKS = 1000  # between circles, at most: more of them hide each other
_DIGITS = 6  # of coordinates
_LINKED = np.dtype([("n", ">i4"), ("relations", ">i4"), ("weight", ">i8")])  # of community.linked


class MapWindow(NamedTuple):
    """A part of the map, between two corners, with `zoom` pixels for each unit of length."""

    x0: float
    y0: float
    x1: float
    y1: float
    zoom: float


class MapLimits(NamedTuple):
    """How much to draw: circles and entities, and relations between them."""

    shown: int
    relations: int


async def window(tx: Transaction, of: MapWindow, limits: MapLimits) -> GraphMap | None:
    """What to draw in a window; None if there is no map. All statements of the transaction must see one snapshot."""
    whole = await tx.rows("map.whole")
    if not whole:
        return None
    [(found, behind, total)] = whole
    removed = await _removed(tx) if behind else []
    place = {"x0": of.x0, "y0": of.y0, "x1": of.x1, "y1": of.y1, "closed": _CLOSED / of.zoom}
    circles = await tx.rows(
        "map.circles",
        **place,
        removed=Numbers(leaf for leaf, _ in removed),
        removed_sums=Numbers(accumulate(number for _, number in removed)),
        limit=limits.shown,
    )
    left = limits.shown - len(circles)
    entities = await tx.rows("map.entities", **place, limit=max(1, left))  # one, to learn how many there are
    opened, entities = entities[0][-1] if entities else 0, entities[:left]
    relations = await _relations(tx, entities, limits.relations)
    links = await _links(tx, circles, min(_LINKS, limits.relations - len(relations)))
    return GraphMap(
        found,
        behind,
        total - sum(number for _, number in removed),
        (circles[0][-1] if circles else 0) + opened,
        circles[0][-2] if circles else 0,
        relations[0][-1] if relations else 0,
        MapCircles(*_columns(circles, 2, 3, 4), *_places(circles, 5, 6, 7)),
        MapEntities(*_columns(entities, 0, 1, 2, 3), *_places(entities, 4, 5)),
        _edges(relations),
        links,
    )


async def _removed(tx: Transaction) -> list[Row]:
    await tx.run("map.plan", nested="off")
    removed = await tx.rows("map.removed")
    await tx.run("map.plan", nested="on")
    return removed


async def _relations(tx: Transaction, entities: Sequence[Row], limit: int) -> list[Row]:
    return await tx.rows("map.relations", ids=Ids(row[0] for row in entities), limit=limit) if entities else []


def _edges(relations: Sequence[Row]) -> MapRelations:
    source, target = _columns(relations, 0, 1)
    return MapRelations(source, target, tuple(row[2] / THOUSANDTHS for row in relations))


async def _links(tx: Transaction, circles: Sequence[Row], limit: int) -> MapLinks:
    """The heaviest relations between circles."""
    if not circles:
        return MapLinks((), (), (), ())
    order = sorted(range(len(circles)), key=lambda at: circles[at][0])
    n, last = (np.array([circles[at][column] for at in order], np.int64) for column in (0, 1))
    rows = await tx.rows("map.links", n=Numbers(n), last=Numbers(last))
    linked = np.frombuffer(b"".join(packed for _, packed in rows), _LINKED)
    sizes = [len(packed) // _LINKED.itemsize for _, packed in rows]
    from_ = np.repeat(np.array([circle for circle, _ in rows], np.int64), np.array(sizes, np.int64))
    to = np.searchsorted(n, linked["n"], "right") - 1  # numbers of communities within a circle follow its own
    between = (to > from_) & (linked["n"] <= last[to])
    pairs, which = np.unique(from_[between] * len(n) + to[between], return_inverse=True)
    relations, weight = (np.bincount(which, linked[column][between]) for column in ("relations", "weight"))
    heaviest = np.lexsort((pairs, -weight))[:limit]
    a, b = np.divmod(pairs[heaviest], len(n))
    return MapLinks(
        tuple(order[circle] for circle in a),
        tuple(order[circle] for circle in b),
        tuple(relations[heaviest].astype(int).tolist()),
        tuple((weight[heaviest] / THOUSANDTHS).tolist()),
    )


def _columns(rows: Sequence[Row], *columns: int) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for row in rows) for column in columns]


def _places(rows: Sequence[Row], *columns: int) -> list[tuple[float, ...]]:
    return [tuple(round(row[column], _DIGITS) for row in rows) for column in columns]
