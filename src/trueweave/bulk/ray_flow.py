"""Steps of a bulk load on a Ray cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
import ray
from pyarrow import Table
from ray.exceptions import RayTaskError

from trueweave.bulk.flows import Shared, Step, unpacked
from trueweave.core.errors import TrueweaveError

T = TypeVar("T")
Refs = Sequence[Any]  # to tables in Ray's object store

# A task whose node died runs again, as do those that produced its inputs, so each may run twice.
_AGAIN = {"max_retries": -1}


class RayFlow:
    """Runs steps on the Ray cluster at an address, or on one started on this machine. It connects when there is data
    for it.

    Data is references to tables in Ray's object store. A step over them is one task per table, and a shuffle is one
    task per table and one per part.
    """

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._is_own = False

    def close(self) -> None:
        """Disconnect from the cluster, if this connected to it; a cluster started for this is stopped."""
        if self._is_own:
            ray.shutdown()

    @property
    def cpus(self) -> int:
        return max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]

    def source(self, tables: list[Table]) -> Refs:
        if not ray.is_initialized():
            has_address = self._address is not None
            ray.init(address=self._address, log_to_driver=False, include_dashboard=None if has_address else False)
            self._is_own = True
        return [ray.put(table) for table in tables]

    def map(self, data: Refs, step: Step, gpus: float = 0) -> Refs:
        task, shared = ray.remote(_applied).options(num_cpus=1, num_gpus=gpus or None, **_AGAIN), ray.put(step)
        return [task.remote(shared, table) for table in data]

    def group(self, data: Refs, step: Step, parts: int) -> Refs:
        split = ray.remote(_split).options(num_cpus=1, num_returns=parts, **_AGAIN)
        join, shared = ray.remote(_joined).options(num_cpus=1, **_AGAIN), ray.put(step)
        columns: Sequence[Any] = [split.remote(table, parts) for table in data]
        rows = [[column] for column in columns] if parts == 1 else columns
        return [join.remote(shared, *tables) for tables in zip(*rows, strict=True)]

    def union(self, data: Refs, other: Refs) -> Refs:
        return [*data, *other]

    def rows(self, data: Refs) -> Iterator[Any]:
        waiting = list(data)
        while waiting:
            done, waiting = ray.wait(waiting)
            for table in done:
                yield from unpacked(_found(table))

    def wait(self, data: Refs) -> Iterator[int]:
        waiting = list(data)
        while waiting:
            _, waiting = ray.wait(waiting, fetch_local=False)  # a failure is raised where the result is needed
            yield len(data) - len(waiting)

    def share(self, value: T) -> Shared[T]:
        return partial(_get, ray.put(value))


def _found(table: Any) -> Table:
    """A computed table. If an error of Trueweave prevented it, that error is raised, as if it had happened here."""
    try:
        return ray.get(table)
    except RayTaskError as error:
        if isinstance(error.cause, TrueweaveError):
            raise error.cause from error
        raise


def _applied(step: Step, table: Table) -> Table:
    return step(table)


def _split(table: Table, parts: int) -> list[Table] | Table:
    """The rows of each part of a table."""
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for at, part in enumerate(table["part"].to_pylist()):
        rows[part].append(at)
    split = [table.take(pa.array(rows[part], pa.int64())) for part in range(parts)]
    return split if parts > 1 else split[0]


def _joined(step: Step, *tables: Table) -> Table:
    joined = pa.concat_tables(tables)
    return step(joined) if joined.num_rows else joined


def _get(ref: Any) -> Any:
    return ray.get(ref)
