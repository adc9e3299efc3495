"""A bulk load on a Ray cluster of two nodes, both on this machine and only on loopback.

    python bulk_ray/load.py

On a real cluster, leave `two_nodes` out, and pass `ray_address="auto"` and a spool folder that all nodes share.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Before Ray is imported: it would look for an address in the network, and send usage data.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}

from ray.cluster_utils import Cluster

from trueweave import Trueweave
from trueweave.demo import DOCUMENTS

NODE: dict[str, Any] = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 100 * 2**20}


@contextmanager
def two_nodes() -> Iterator[str]:
    """The address of a cluster with two nodes."""
    cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **NODE})
    try:
        cluster.add_node(**NODE)
        yield cluster.address
    finally:
        cluster.shutdown()


def show(stage: str, done: int, total: int) -> None:
    if done == total:
        print(stage)


def main() -> None:
    with tempfile.TemporaryDirectory() as spool, two_nodes() as address:
        began = time.monotonic()
        with Trueweave(workspace="examples-bulk", make=True) as trueweave:
            report = trueweave.maintenance.bulk_load([str(DOCUMENTS)], Path(spool), ray_address=address, progress=show)
        print(f"loaded in {time.monotonic() - began:.0f} s")
    with Trueweave(workspace="examples-bulk") as trueweave:
        status = trueweave.status()
        print(f"{report.documents} documents, {status.entities} entities, {status.relations} relations")


main()
