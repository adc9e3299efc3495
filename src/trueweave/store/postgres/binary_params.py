"""Sends long arrays to PostgreSQL in binary form, many times faster than as text."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.postgres import types
from psycopg.pq import Format

from trueweave.store.postgres.connections import PostgresConnection


class Ids(list[UUID | None]):
    """Sent as uuid[]."""


class Texts(list[str]):
    """Sent as text[]."""


class Numbers:
    """Sent as int8[]."""

    def __init__(self, values: Iterable[int] | NDArray[np.int64]) -> None:
        self.values = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=np.int64)


class Halves:
    """Vectors, one per row. Sent as halfvec[]."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.rows = rows


class PackedIds(bytes):
    """A uuid[] in its binary form."""


class PackedTexts(bytes):
    """A text[] in its binary form."""


def packed(value: Any) -> Any:
    """Ids and texts encoded in advance, for callers that do not want to encode them when sending."""
    if isinstance(value, Ids):
        return PackedIds(_packed_ids(value))
    return PackedTexts(_packed_texts(value)) if isinstance(value, Texts) else value


def array(values: Sequence[Any]) -> Any:
    """A column of ids, texts or numbers wrapped in the type that is fastest to send; other values as a list."""
    sample = next((value for value in values if value is not None), None)
    if isinstance(sample, UUID):
        return Ids(values)
    if isinstance(sample, str):
        return Texts(values)
    if isinstance(sample, int) and not isinstance(sample, bool):
        return Numbers(values)
    return list(values)


def register(connection: PostgresConnection) -> None:
    """Register these types on a connection, which must already know pgvector's types."""
    halfvec = connection.adapters.types["halfvec"]
    halves = type("_HalvesDumperHere", (_HalvesDumper,), {"oid": halfvec.array_oid, "element": halfvec.oid})
    connection.adapters.register_dumper(Halves, halves)
    dumpers: tuple[tuple[type, type[Dumper]], ...] = (
        (PackedIds, _PackedIdsDumper), (PackedTexts, _PackedTextsDumper),
        # These come last because COPY uses the dumper that was registered last for a type.
        (Ids, _IdsDumper), (Texts, _TextsDumper), (Numbers, _NumbersDumper),
    )  # fmt: skip
    for kind, dumper in dumpers:
        connection.adapters.register_dumper(kind, dumper)


def _packed_ids(ids: Ids) -> bytes:
    null, size = struct.pack(">i", -1), struct.pack(">i", 16)
    items = b"".join([null if id_ is None else size + id_.bytes for id_ in ids])
    return _head(types["uuid"].oid, len(ids), nulls=len(items) < 20 * len(ids)) + items


def _packed_texts(texts: Texts) -> bytes:
    encoded = [text.encode() for text in texts]
    return _head(types["text"].oid, len(encoded)) + b"".join([struct.pack(">i", len(t)) + t for t in encoded])


class _IdsDumper(Dumper):
    format = Format.BINARY
    oid = types["uuid"].array_oid

    def dump(self, obj: Ids) -> Buffer:
        return _packed_ids(obj)


class _PackedIdsDumper(Dumper):
    format = Format.BINARY
    oid = types["uuid"].array_oid

    def dump(self, obj: PackedIds) -> Buffer:
        return bytes(obj)


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = types["text"].array_oid

    def dump(self, obj: Texts) -> Buffer:
        return _packed_texts(obj)


class _PackedTextsDumper(Dumper):
    format = Format.BINARY
    oid = types["text"].array_oid

    def dump(self, obj: PackedTexts) -> Buffer:
        return bytes(obj)


class _NumbersDumper(Dumper):
    format = Format.BINARY
    oid = types["int8"].array_oid

    def dump(self, obj: Numbers) -> Buffer:
        items = np.empty(len(obj.values), dtype=[("size", ">i4"), ("value", ">i8")])
        items["size"] = 8
        items["value"] = obj.values
        return _head(types["int8"].oid, len(items)) + items.tobytes()


class _HalvesDumper(Dumper):
    """For one database: the oids of pgvector's types differ between databases."""

    format = Format.BINARY
    element: int

    def dump(self, obj: Halves) -> Buffer:
        count, dimensions = obj.rows.shape
        items = np.empty(count, dtype=[("size", ">i4"), ("of", ">i2"), ("unused", ">i2"), ("v", ">f2", (dimensions,))])
        items["size"], items["of"], items["unused"] = 4 + 2 * dimensions, dimensions, 0
        items["v"] = obj.rows
        return _head(self.element, count) + items.tobytes()


def _head(oid: int, length: int, *, nulls: bool = False) -> bytes:
    """The header of a binary array: dimensions, null flag and element type; then length and lower bound of the
    dimension."""
    return struct.pack(">iiIii", 1, nulls, oid, length, 1) if length else struct.pack(">iiI", 0, 0, oid)
