"""Communities in the database: reading the graph, writing the tree, and storing reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import NDArray

from trueweave.core.graph import (
    Community,
    CommunityReport,
    CommunityTree,
    Entity,
    Finding,
    Hierarchy,
    Level,
    RetiredCommunity,
)
from trueweave.graph import content_hash
from trueweave.graph.aggregate import report_text
from trueweave.graph.communities import NONE, LeidenSettings, Tree
from trueweave.graph.content_hash import Contents
from trueweave.graph.leiden import library
from trueweave.graph.louvain import Floats, Graph, Ints, merged
from trueweave.graph.map_layout import LeafLinks, MapLayout
from trueweave.graph.report_facts import EntityFact, RelationFact
from trueweave.store.postgres import binary_copy
from trueweave.store.postgres.binary_copy import Column, Kind
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.view.read import entity
from trueweave.text.names import key

LEAST_MEMBERS = 3  # members a community needs for a report: two entities and the link between them are just a relation

_NODES: Mapping[str, Kind] = {"entity": "uuid", "stable_id": "uuid", "hash": "uuid", "leaf": "int"}
_EDGES: Mapping[str, Kind] = {"source": "uuid", "target": "uuid", "weight": "float", "hash": "uuid"}
_MEMBERS: Mapping[str, Kind] = {"entity": "uuid", "leaf": "int", "x": "float", "y": "float"}
_COMMUNITIES: Mapping[str, Kind] = {
    "n": "int", "last": "int", "parent": "int", "level": "int", "id": "uuid", "stable_id": "uuid", "size": "int",
    "relations": "int", "hash": "uuid", "x": "float", "y": "float", "radius": "float", "around": "float",
    "best": "uuid",
}  # fmt: skip
_LINKS: Mapping[str, Kind] = {"a": "int", "b": "int", "relations": "int", "weight": "float"}


# --- the graph and the tree ---------------------------------------------------------------------------


class Network(NamedTuple):
    """The graph of a workspace at one moment: entities by number, in an order that depends only on the documents."""

    version: int
    entities: Column
    stable_ids: Column
    hashes: NDArray[np.uint64]
    leaves: Ints
    source: Ints
    target: Ints
    weight: Floats
    relations: NDArray[np.uint64]

    @property
    def graph(self) -> Graph:
        marks = np.ascontiguousarray(binary_copy.halves(self.stable_ids)[:, 1])
        return merged(len(self.entities), self.source, self.target, self.weight, marks)


class Known(NamedTuple):
    """The existing communities."""

    tree: Tree
    ids: list[UUID]
    sizes: Ints
    hashes: list[UUID]


async def is_laid_out(tx: Transaction) -> bool:
    """Whether the existing communities have places on the map. Those that older versions found have none."""
    return bool(await tx.value("community.is_laid_out"))


async def network(tx: Transaction) -> Network:
    """The graph as arrays, streamed from the database."""
    await tx.run("community.plan")
    version = int(await tx.value("community.graph"))
    nodes = await binary_copy.read(tx, "community.nodes", _NODES)
    edges = await binary_copy.read(tx, "community.edges", _EDGES)
    said, stable_ids = binary_copy.halves(nodes["hash"]), binary_copy.halves(nodes["stable_id"])
    source, target = binary_copy.places(nodes["entity"], edges["source"], edges["target"])
    stated = content_hash.of_relations(binary_copy.halves(edges["hash"]), stable_ids[source], stable_ids[target])
    named = nodes["entity"], nodes["stable_id"], said, nodes["leaf"]
    return Network(version, *named, source, target, edges["weight"], stated)


async def known(tx: Transaction, leaves: Ints) -> Known:
    """The existing communities, with the innermost one that each current entity was in."""
    rows = await tx.rows("community.known")
    columns = list(zip(*rows, strict=True)) if rows else [()] * 9
    _, last, parent, level = (np.array(column, np.int64) for column in columns[:4])
    return Known(Tree(parent, last, level, leaves), list(columns[4]), np.array(columns[5], np.int64), list(columns[6]))


class FoundTree(NamedTuple):
    """Communities that have been detected, and their places on the map."""

    tree: Tree
    said: Contents
    labels: Sequence[UUID]
    modularity: float
    places: MapLayout
    links: LeafLinks


async def write(tx: Transaction, graph: Network, found: FoundTree, how: LeidenSettings) -> list[UUID]:
    """Replace all communities by these; returns those that are gone or too small and had a report."""
    tree, said, labels, modularity, places, links = found
    await tx.run("community.stage")
    smallest = _smallest(tree, len(graph.entities))
    rows: dict[str, Column] = {
        "n": np.arange(tree.parent.size), "last": tree.last, "parent": tree.parent, "level": tree.level,
        "id": _packed(labels), "stable_id": graph.stable_ids[smallest], "size": said.members,
        "relations": said.relations, "hash": _packed(said.hashes), "x": places.x, "y": places.y,
        "radius": places.radius, "around": places.around, "best": graph.entities[places.best],
    }  # fmt: skip
    await binary_copy.write(tx, "stage_community", _COMMUNITIES, rows)
    inside = tree.leaf != NONE
    members: dict[str, Column] = {
        "entity": graph.entities[inside], "leaf": tree.leaf[inside], "x": places.node_x[inside],
        "y": places.node_y[inside],
    }  # fmt: skip
    await binary_copy.write(tx, "stage_member", _MEMBERS, members)
    await binary_copy.write(tx, "stage_community_link", _LINKS, links._asdict())
    await tx.run("community.retire")
    await tx.run("community.forget_retired")
    await tx.run("community.keep_dates")
    await tx.run("community.clear")
    await tx.run("community.write")
    await tx.run("community.write_members")
    await tx.run(
        "community.write_hierarchy", library=library(), seed=how.seed, resolution=how.resolution, most=how.most,
        graph=graph.version, entities=len(graph.entities), alone=int((~inside).sum()), levels=tree.depth,
        modularity=modularity,
    )  # fmt: skip
    orphans = [id_ for (id_,) in await tx.rows("community.orphans", least=LEAST_MEMBERS)]
    rows_changed = await tx.rows("community.changes")
    await outbox.add(
        tx,
        ("community", False, (id_ for id_, removed in rows_changed if not removed)),
        ("community", True, (id_ for id_, removed in rows_changed if removed)),
        ("report", True, orphans),
    )
    return orphans


def labels(follows: Ints, before: Sequence[UUID]) -> list[UUID]:
    """The id of each community: that of the community it continues, or a new one."""
    return [before[one] if one != NONE else uuid4() for one in follows.tolist()]


def contents(graph: Network, tree: Tree) -> Contents:
    """The contents of communities, as hashes."""
    return content_hash.contents(tree, graph.hashes, graph.source, graph.target, graph.relations)


def _smallest(tree: Tree, size: int) -> Ints:
    """The first member of each community."""
    found = np.full(tree.parent.size, size, np.int64)
    nodes = np.flatnonzero(tree.leaf != NONE)
    for level in range(tree.depth):
        np.minimum.at(found, tree.at(level)[nodes], nodes)
    return found


def _packed(ids: Sequence[UUID]) -> Column:
    return np.frombuffer(b"".join(id_.bytes for id_ in ids), "V16")


# --- reading ------------------------------------------------------------------------------------------


async def hierarchy(tx: Transaction) -> Hierarchy | None:
    """The community hierarchy as a whole; None if communities were never detected."""
    rows = await tx.rows("community.hierarchy")
    if not rows:
        return None
    levels = [Level(*row) for row in await tx.rows("community.levels", least=LEAST_MEMBERS)]
    return Hierarchy(*(*rows[0], tuple(levels)))


async def listed(
    tx: Transaction,
    *,
    level: int | None = None,
    within: UUID | None = None,
    id_: UUID | None = None,
    since: datetime | None = None,
    limit: int,
) -> list[Community]:
    """Communities of a level, within another, or changed since then; largest first."""
    wanted = {"level": level, "within": within, "ids": None if id_ is None else [id_], "since": since, "limit": limit}
    rows = await tx.rows("community.listed", **wanted, least=LEAST_MEMBERS)
    return [_community(row) for row in rows]


async def with_ids(tx: Transaction, ids: Sequence[UUID]) -> list[Community]:
    """The communities with these ids, largest first."""
    wanted = {"level": None, "within": None, "ids": list(ids), "since": None, "limit": len(ids)}
    return [_community(row) for row in await tx.rows("community.listed", **wanted, least=LEAST_MEMBERS)]


async def tree(tx: Transaction, *, within: UUID | None, depth: int, limit: int) -> CommunityTree | None:
    """The largest communities within another, or of all, of the outermost `depth` levels there; None if there is no
    such community."""
    path = [id_ for (id_,) in await tx.rows("community.path", id=within)] if within else []
    if within and not path:
        return None
    rows = await tx.rows("community.tree", within=within, depth=depth, limit=limit)
    found = {one.id: one for one in await with_ids(tx, [*path, *(id_ for id_, _ in rows)])}
    inside = tuple(found[id_] for id_, _ in rows)
    return CommunityTree(tuple(found[id_] for id_ in path), inside, rows[0][1] if rows else 0)


async def beginning(tx: Transaction, start: str) -> list[UUID]:
    """At most two communities whose ids start with this text."""
    return [id_ for (id_,) in await tx.rows("community.beginning", beginning=start)]


async def retired(tx: Transaction, since: datetime, limit: int) -> list[RetiredCommunity]:
    """Communities removed since then, latest first."""
    return [RetiredCommunity(*row) for row in await tx.rows("community.retired", since=since, limit=limit)]


async def members(
    tx: Transaction, community: UUID, limit: int, after: tuple[int, str, UUID] | None = None
) -> list[Entity]:
    """The entities in a community, those with the most relations first; with `after`, those after this number of
    relations, name and id."""
    degree, name, id_ = after or (None, None, None)
    rows = await tx.rows("community.members", id=community, limit=limit, degree=degree, name=name, after=id_)
    return [entity(*row) for row in rows]


async def report(tx: Transaction, community: UUID) -> CommunityReport | None:
    """The report on a community, or None."""
    rows = await tx.rows("community.report", id=community)
    return read_report(rows[0]) if rows else None


def read_report(row: Sequence[Any]) -> CommunityReport:
    """A report from the columns of a row: title, summary, rating, reason, findings, author, problem, stale, made."""
    title, summary, rating, reason, findings, author, problem, stale, made = row
    return CommunityReport(title, summary, rating, reason, read_findings(findings), author, problem, stale, made)


def read_findings(stored: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Findings from their stored form."""
    return tuple(
        Finding(
            one["summary"],
            one["text"],
            *(tuple(UUID(id_) for id_ in one[kind]) for kind in ("entities", "relations", "chunks")),
        )
        for one in stored
    )


def _community(row: Row) -> Community:
    id_, level, parent, names, *rest = row
    return Community(id_, level, parent, tuple(names), *rest)


# --- writing about them -------------------------------------------------------------------------------


class DueReport(NamedTuple):
    """A community that needs a report: its place in the tree, and the hash of its contents."""

    n: int
    last: int
    level: int
    id: UUID
    hash: UUID
    size: int
    relations: int


async def any_report_due(tx: Transaction, *, by_model: bool) -> bool:
    """Whether some reports are missing or out of date."""
    return bool(await tx.value("community.any_report_due", least=LEAST_MEMBERS, by_model=by_model))


async def count_queued(tx: Transaction, *, by_model: bool) -> int:
    """How many reports are missing or out of date, if workers are to write them."""
    return int(await tx.value("community.count_queued", least=LEAST_MEMBERS, by_model=by_model))


class ReportOf(NamedTuple):
    """One community to write a report on. `has_report`: its report is up to date, and by the given model."""

    due: DueReport
    has_report: bool


async def report_of(tx: Transaction, community: UUID, model: str) -> ReportOf | None:
    """A community for its report by a model, or by none if that is empty; None if there is no such community."""
    rows = await tx.rows("community.report_of", id=community, model=model)
    return ReportOf(DueReport(*rows[0][:-1]), rows[0][-1]) if rows else None


async def due_reports(tx: Transaction, after: tuple[int, int], limit: int, *, by_model: bool) -> list[DueReport]:
    """The next communities of one level that need a report, after a level and a place in it."""
    level, n = after
    rows = await tx.rows(
        "community.due_reports", least=LEAST_MEMBERS, by_model=by_model, level=level, after=n, limit=limit
    )
    found = [DueReport(*row) for row in rows]
    return [one for one in found if one.level == found[0].level]


async def count_current(tx: Transaction, *, by_model: bool) -> int:
    """How many reports are up to date."""
    return int(await tx.value("community.count_current", by_model=by_model))


async def entities(tx: Transaction, of: Sequence[DueReport], most: int) -> dict[int, list[EntityFact]]:
    """The members of each community, at most `most` per community."""
    rows = await tx.rows("community.facts_entities", **_places(of), most=most)
    return _by_place(of, rows, EntityFact)


async def relations(
    tx: Transaction, of: Sequence[DueReport], most: int, *, between: bool
) -> dict[int, list[RelationFact]]:
    """The relations within each community, or between its parts, at most `most` per community."""
    rows = await tx.rows("community.facts_relations", **_places(of), most=most, between=between)
    return _by_place(of, rows, RelationFact)


async def parts(tx: Transaction, of: Sequence[DueReport]) -> dict[int, list[CommunityReport]]:
    """The reports on the parts of each community."""
    found: dict[int, list[CommunityReport]] = {one.n: [] for one in of}
    for n, *row in await tx.rows("community.facts_parts", ns=Numbers(one.n for one in of)):
        found[n].append(read_report(row))
    return found


async def texts(tx: Transaction, chunks: Iterable[UUID]) -> dict[UUID, str]:
    """The texts of those of these chunks that exist."""
    return dict(await tx.rows("community.texts", chunks=Ids(chunks)))


class StoredReport(NamedTuple):
    """A report that was stored, with its text and hash, for its vector."""

    community: UUID
    text_hash: UUID
    text: str


async def keep(tx: Transaction, written: Sequence[tuple[DueReport, CommunityReport]]) -> list[StoredReport]:
    """Store these reports; returns those whose communities still exist."""
    told = {one.id: report_text(made.title, made.summary) for one, made in written}
    hashes = {id_: key("report", text) for id_, text in told.items()}
    made = [report for _, report in written]
    rows = await tx.rows(
        "community.keep",
        communities=Ids(one.id for one, _ in written),
        hashes=Ids(one.hash for one, _ in written),
        titles=Texts(one.title for one in made),
        summaries=Texts(one.summary for one in made),
        ratings=[one.rating for one in made],
        reasons=Texts(one.reason for one in made),
        findings=Texts(json.dumps([_stored(finding) for finding in one.findings]) for one in made),
        authors=Texts(one.author for one in made),
        problems=Texts(one.problem for one in made),
        text_hashes=Ids(hashes[one.id] for one, _ in written),
    )
    await outbox.add(tx, ("report", False, (id_ for (id_,) in rows)))
    return [StoredReport(id_, hashes[id_], told[id_]) for (id_,) in rows]


def _stored(finding: Finding) -> dict[str, Any]:
    return {
        name: list(map(str, value)) if isinstance(value, tuple) else value for name, value in asdict(finding).items()
    }


def _places(of: Sequence[DueReport]) -> dict[str, Numbers]:
    return {"ns": Numbers(one.n for one in of), "lasts": Numbers(one.last for one in of)}


def _by_place(of: Sequence[DueReport], rows: Iterable[Row], kind: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {one.n: [] for one in of}
    for n, *row in rows:
        found[n].append(kind(*row))
    return found
