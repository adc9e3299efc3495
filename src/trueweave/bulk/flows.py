"""How data flows between the steps of a bulk load: on a Ray cluster, or in this process.

Rows flow grouped by part: each row of a table has the number of a part, and next to it many rows of that part, so that
a shuffle moves few large values instead of many small ones.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import pyarrow as pa
from pyarrow import Table

T = TypeVar("T")
Step = Callable[[Table], Table]
Shared = Callable[[], T]


def packed(rows: Iterable[tuple[int, Any]]) -> Table:
    """Rows, each with the number of its part, as a table."""
    parts: defaultdict[int, list[Any]] = defaultdict(list)
    for part, row in rows:
        parts[part].append(row)
    return pa.table(
        {
            "part": pa.array(parts, pa.int32()),
            "rows": pa.array([pickle.dumps(some) for some in parts.values()], pa.large_binary()),
        }
    )


def unpacked(table: Table, part: int | None = None) -> Iterator[Any]:
    """The rows of all parts in a table, or of one part, which another process of the same load has packed."""
    for number, some in zip(table["part"].to_pylist(), table["rows"], strict=True):
        if part is None or number == part:
            yield from pickle.loads(some.as_py())


class Flow(Protocol):
    """Runs steps over tables."""

    @property
    def cpus(self) -> int:
        """The number of processors."""

    def source(self, tables: list[Table]) -> Any:
        """Data that begins with these tables."""

    def map(self, data: Any, step: Step, gpus: float = 0) -> Any:
        """Apply a step, which takes this many GPUs, to each table of the data."""

    def group(self, data: Any, step: Step, parts: int) -> Any:
        """Apply a step to all tables of a part together, for each of the first `parts` parts."""

    def union(self, data: Any, other: Any) -> Any:
        """The tables of both."""

    def rows(self, data: Any) -> Iterator[Any]:
        """The rows of the data, as they are computed."""

    def wait(self, data: Any) -> Iterator[int]:
        """The number of tables computed so far, whenever there is one more."""

    def share(self, value: T) -> Shared[T]:
        """A value that every step can get."""


class LocalFlow:
    """Runs steps in this process, one after the other."""

    cpus = 1

    def source(self, tables: list[Table]) -> list[Table]:
        return tables

    def map(self, data: list[Table], step: Step, gpus: float = 0) -> list[Table]:
        assert not gpus, "this process takes what it needs"
        return [step(table) for table in data]

    def group(self, data: list[Table], step: Step, parts: int) -> list[Table]:
        grouped: defaultdict[int, list[Table]] = defaultdict(list)
        for table in data:
            for at, part in enumerate(table["part"].to_pylist()):
                if part < parts:
                    grouped[part].append(table.slice(at, 1))
        return [step(pa.concat_tables(tables)) for tables in grouped.values()]

    def union(self, data: list[Table], other: list[Table]) -> list[Table]:
        return [*data, *other]

    def rows(self, data: list[Table]) -> Iterator[Any]:
        for table in data:
            yield from unpacked(table)

    def wait(self, data: list[Table]) -> Iterator[int]:
        yield from range(1, len(data) + 1)

    def share(self, value: T) -> Shared[T]:
        return lambda: value
