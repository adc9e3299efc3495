"""Reads and writes rows of fixed width as arrays: millions of rows without a Python object for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queries import QUERIES

Kind = Literal["int", "float", "uuid"]
Column = NDArray[Any]

_KINDS: Mapping[Kind, str] = {"int": ">i4", "float": ">f8", "uuid": "V16"}
_NATIVE: Mapping[Kind, type[np.generic] | None] = {"int": np.int64, "float": np.float64, "uuid": None}
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"
_BLOCK = 16 * 2**20  # bytes


async def read(tx: Transaction, query: str, columns: Mapping[str, Kind]) -> dict[str, Column]:
    """The rows of a named query, as one array per column. The columns must have these types (int4, float8, uuid) and no
    nulls."""
    layout = _layout(columns)
    parts: list[NDArray[Any]] = []
    waiting = bytearray()
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(sql.SQL(QUERIES[query]))
    async with tx.connection.cursor() as cursor, cursor.copy(statement) as copy:
        async for data in copy:
            waiting += data
            if len(waiting) >= _BLOCK + len(_HEADER):
                parts.append(_taken(waiting, layout, is_first=not parts))
    parts.append(_taken(waiting, layout, is_first=not parts))
    return {name: np.concatenate([_native(part[name], kind) for part in parts]) for name, kind in columns.items()}


async def write(tx: Transaction, table: str, columns: Mapping[str, Kind], values: Mapping[str, Column]) -> None:
    """Stream columns into a temporary table that has exactly these columns."""
    layout = _layout(columns)
    size = len(next(iter(values.values())))
    each = max(1, _BLOCK // layout.itemsize)
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table))
    async with tx.connection.cursor() as cursor, cursor.copy(statement) as copy:
        await copy.write(_HEADER)
        for at in range(0, size, each):
            rows = np.zeros(min(each, size - at), layout)
            rows["fields"] = len(columns)
            for name in columns:
                rows[f"{name} size"] = layout[name].itemsize
                rows[name] = values[name][at : at + each]
            await copy.write(rows.tobytes())
        await copy.write(_TRAILER)


def halves(ids: Column) -> NDArray[np.uint64]:
    """Ids or hashes of 16 bytes, each as two numbers."""
    return np.frombuffer(ids.tobytes(), ">u8").reshape(-1, 2).astype(np.uint64)


def places(ids: Column, *wanted: Column) -> list[NDArray[np.int64]]:
    """The position of each wanted id in `ids`, which must be distinct."""
    known = halves(ids)
    order = np.argsort(known[:, 0], kind="stable")
    return [_place(known[order], order, halves(each)) for each in wanted]


def _place(known: NDArray[np.uint64], order: NDArray[np.int64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Look up by the first half, then step forward if several ids share it, which practically never happens."""
    at = np.searchsorted(known[:, 0], wanted[:, 0])
    while (wrong := np.flatnonzero(known[at, 1] != wanted[:, 1])).size:
        at[wrong] += 1
    return order[at]


def _layout(columns: Mapping[str, Kind]) -> np.dtype[Any]:
    """The binary layout of a row: the number of fields, then the size and value of each."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in columns.items():
        fields += [(f"{name} size", ">i4"), (name, _KINDS[kind])]
    return np.dtype(fields)


def _taken(waiting: bytearray, layout: np.dtype[Any], *, is_first: bool) -> NDArray[Any]:
    """Remove and return the complete rows received so far. The trailer is shorter than a row, so it is left over."""
    start = len(_HEADER) if is_first else 0
    rows = (len(waiting) - start) // layout.itemsize
    end = start + rows * layout.itemsize
    taken = np.frombuffer(bytes(waiting[start:end]), layout)
    del waiting[:end]
    return taken


def _native(values: NDArray[Any], kind: Kind) -> Column:
    """Numbers in this machine's byte order, copied out of the row buffer."""
    native = _NATIVE[kind]
    return values.astype(native) if native else np.ascontiguousarray(values)
