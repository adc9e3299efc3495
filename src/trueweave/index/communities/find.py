"""Detects communities: the graph is read in one snapshot, and the result replaces the earlier communities."""

from __future__ import annotations

import asyncio
from uuid import UUID

import numpy as np

from trueweave.core.graph import CommunityChanges, Hierarchy
from trueweave.graph import communities
from trueweave.graph.communities import LeidenSettings
from trueweave.graph.community_ids import successors
from trueweave.graph.leiden import library
from trueweave.graph.map_layout import leaf_links, map_layout
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import one_grouper, share_view
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.view import communities as store
from trueweave.store.postgres.view.communities import FoundTree, Known, Network


async def regroup(workspace: Workspace, how: LeidenSettings) -> CommunityChanges:
    """Detect the communities of the graph, unless that was done since its last change.

    Each label and report passes to the community that has most in common with its earlier owner. Raises ConfigError if
    the library that detects them is not installed.
    """
    library()  # or it would be missed only after the graph was read
    while True:
        async with workspace.database.long_work, workspace.transaction(snapshot=True, unhurried=True) as moment:
            known = await store.hierarchy(moment)
            if known and _is_up_to_date(known, how) and await store.is_laid_out(moment):
                return CommunityChanges(0, 0, sum(level.communities for level in known.levels), 0)
            graph = await store.network(moment)
            before = await store.known(moment, graph.leaves)
        found = await asyncio.to_thread(_find, graph, before, how)
        async with workspace.transaction() as tx:
            await one_grouper(tx)
            now = await store.hierarchy(tx)
            if (now and now.found) != (known and known.found):
                continue  # another process has detected communities in the meantime
            gone = await store.write(tx, graph, found, how)
            await _forget(tx, gone)
            return _counted(before, found)


async def regroup_as(workspace: Workspace, found: Hierarchy | None) -> None:
    """Detect communities as those of another workspace were detected, if it has any."""
    if found:
        await regroup(workspace, LeidenSettings(found.most, found.resolution, found.seed))


def _find(graph: Network, before: Known, how: LeidenSettings) -> FoundTree:
    whole = graph.graph
    tree = communities.communities(whole, how)
    said = store.contents(graph, tree)
    follows = successors(tree, said.members, before.tree, before.sizes)
    score = communities.modularity(whole, tree.at(0), how.resolution)
    degree = np.bincount(np.concatenate((graph.source, graph.target)), minlength=len(graph.entities))
    links = leaf_links(tree, graph.source, graph.target, graph.weight)
    return FoundTree(tree, said, store.labels(follows, before.ids), score, map_layout(tree, degree), links)


def _is_up_to_date(known: Hierarchy, how: LeidenSettings) -> bool:
    found_by = known.library, known.most, known.resolution, known.seed
    return not known.behind and found_by == (library(), how.most, how.resolution, how.seed)


async def _forget(tx: Transaction, gone: list[UUID]) -> None:
    """Delete the vectors of removed reports."""
    if gone and (space := await vectors.space(tx)):
        await share_view(tx)
        await vectors.write(tx, space, (), [("community", id_) for id_ in gone])


def _counted(before: Known, found: FoundTree) -> CommunityChanges:
    had = dict(zip(before.ids, before.hashes, strict=True))
    has = dict(zip(found.labels, found.said.hashes, strict=True))
    stayed = had.keys() & has.keys()
    same = sum(had[id_] == has[id_] for id_ in stayed)
    return CommunityChanges(len(has) - len(stayed), len(stayed) - same, same, len(had) - len(stayed))
