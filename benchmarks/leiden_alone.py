"""The library's own hierarchical Leiden on edges that are in memory already, in a process that does nothing else.

Reads a JSON object with the file of the edges and the settings, and prints one with what it took and what came of it.
The outermost community of each node goes to a file.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from typing import Any

import graspologic_native
import numpy as np
from peak import peak_mb


def run(edges: str, labels: str, most: int, seed: int) -> dict[str, Any]:
    with np.load(edges) as held:
        columns = [held[name].tolist() for name in ("a", "b", "weight")]
    listed = [(str(a), str(b), weight) for a, b, weight in zip(*columns, strict=True)]
    del columns
    began = time.perf_counter()
    found = graspologic_native.hierarchical_leiden(listed, max_cluster_size=most, seed=seed)
    seconds = time.perf_counter() - began
    peak = peak_mb()
    outermost = {one.node: one.cluster for one in found if one.level == 0}
    np.save(labels, [outermost.get(str(node), -1) for node in range(1 + max(map(int, outermost)))])
    levels = Counter(level for level, _ in {(one.level, one.cluster) for one in found})
    return {
        "seconds": seconds,
        "peak_mb": peak,
        "levels": [levels[level] for level in range(len(levels))],
        "modularity": graspologic_native.modularity(listed, outermost),
    }


if __name__ == "__main__":
    print(json.dumps(run(**json.load(sys.stdin))))
