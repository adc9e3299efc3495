"""How well communities part a graph, beside the library's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import graspologic_native
import numpy as np

from trueweave.graph import communities
from trueweave.graph.communities import LeidenSettings
from trueweave.graph.louvain import Graph, reached

Figures = dict[str, Any]
_PARTS = 3


def within_parts(graph: Graph, how: LeidenSettings, labels: Path) -> list[Figures]:
    """The modularity of the outermost communities in each of the largest parts that nothing leads out of.

    The library looks at all parts at once, which makes its communities the larger, the more there is elsewhere.
    """
    parts = reached(graph.size, graph.a, graph.b)
    ours, theirs = communities.communities(graph, how).at(0), np.load(labels)
    found = []
    for part in np.argsort(-np.bincount(parts), kind="stable")[:_PARTS]:
        nodes, edges = np.flatnonzero(parts == part), np.flatnonzero(parts[graph.a] == part)
        place = np.zeros(graph.size, np.int64)
        place[nodes] = np.arange(nodes.size)
        ends = place[graph.a[edges]], place[graph.b[edges]]
        alone = Graph(nodes.size, *ends, graph.weight[edges], graph.marks[nodes])
        found.append(
            {
                "entities": int(nodes.size),
                "edges": int(edges.size),
                "communities": len(np.unique(ours[nodes])),
                "modularity": round(communities.modularity(alone, ours[nodes], how.resolution), 4),
                "communities_by_library": len(np.unique(theirs[nodes])),
                "modularity_by_library": round(communities.modularity(alone, theirs[nodes], how.resolution), 4),
            }
        )
    return found


def without_levels(graph: Graph, how: LeidenSettings) -> Figures:
    """How well the library's Leiden parts the same edges, in one go and without levels."""
    columns = graph.a.tolist(), graph.b.tolist(), graph.weight.tolist()
    edges = [(str(a), str(b), weight) for a, b, weight in zip(*columns, strict=True)]
    _, found = graspologic_native.leiden(edges, resolution=how.resolution, seed=how.seed)
    labels = np.full(graph.size, max(found.values()) + 1)
    for node, label in found.items():
        labels[int(node)] = label
    score = communities.modularity(graph, labels, how.resolution)
    return {"communities": len(set(found.values())), "modularity": round(score, 4)}
