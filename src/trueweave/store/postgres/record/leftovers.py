"""Searches a workspace for the text of erased documents, in every column that could hold some of it.

The columns are taken from the catalogue of PostgreSQL, so a new one is searched without being listed here. Texts are
compared by keyed hashes of runs of words, ids and uris by keyed hashes of whole values. What remaining documents also
say is no leftover: it is left out before the search, and counted.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.text.windows import Hashes, WindowHashes

_ROWS = 1000  # read at once
_IDS = {"document": "id", "source": "uri"}  # by which rows of these tables belong to a document

Found = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Fingerprints:
    """Erased documents as hashes: windows of these sizes (in words) of their texts, and whole values such as uris and
    ids, both sorted. `short` texts had too few words to be searched for."""

    secret: bytes
    sizes: tuple[int, ...]
    windows: Hashes
    named: Hashes
    short: int

    def merged(self, other: Fingerprints) -> Fingerprints:
        """Both; they must have the same secret."""
        return Fingerprints(
            self.secret,
            tuple(sorted({*self.sizes, *other.sizes})),
            np.union1d(self.windows, other.windows),
            np.union1d(self.named, other.named),
            self.short + other.short,
        )


@dataclass(frozen=True)
class Leftovers:
    """What a search found: the number of rows by column, how many rows and columns it read, the columns that it may not
    read, and how many windows were left out because remaining documents contain them."""

    found: Mapping[str, int]
    rows: int
    columns: int
    unreadable: tuple[str, ...]
    elsewhere: int


class _Column(NamedTuple):
    table: str
    name: str
    type: str
    is_array: bool
    is_readable: bool

    @property
    def place(self) -> str:
        return f"{self.table}.{self.name}"


class Lookup:
    """Which of some values hold text, uris or ids of erased documents."""

    def __init__(self, of: Fingerprints) -> None:
        self._hashes = WindowHashes(of.secret)
        self._of = of
        self._wanted = np.ones(of.windows.size, bool), np.ones(of.named.size, bool)

    @property
    def elsewhere(self) -> int:
        """How many windows are no longer looked for."""
        return int((~self._wanted[0]).sum())

    def is_erased(self, id_: object) -> bool:
        """Whether this is the id or uri of an erased document."""
        places, _ = _places(self._of.named, np.array([self._hashes.value(str(id_))], np.uint64))
        return bool(places.size)

    def leave_out(self, values: Sequence[object]) -> None:
        """Look for nothing that is in these values from now on."""
        for wanted, places, _ in self._found(values):
            wanted[places] = False

    def holding(self, values: Sequence[object]) -> int:
        """How many of these values hold something that is looked for."""
        found = [values_[wanted[places]] for wanted, places, values_ in self._found(values)]
        return int(np.unique(np.concatenate(found)).size)

    def _found(self, values: Sequence[object]) -> Iterator[tuple[Found, Places, Places]]:
        """For windows and for whole values: which are looked for, which of them are there, and in which value."""
        texts: list[str] = []
        text_of: list[int] = []
        for n, value in enumerate(values):
            if not isinstance(value, UUID):
                found = list(_texts(value))
                texts += found
                text_of += [n] * len(found)
        ids = [(n, str(value)) for n, value in enumerate(values) if isinstance(value, UUID)]  # most columns have ids
        windows, which = self._hashes.of_sizes(texts, self._of.sizes)
        hashed = map(self._hashes.value, chain(texts, (id_ for _, id_ in ids)))
        named = np.fromiter(hashed, np.uint64, len(texts) + len(ids))
        value_of = np.array([*text_of, *(n for n, _ in ids)], np.intp)
        looked_up = (self._of.windows, windows, value_of[which]), (self._of.named, named, value_of)
        for wanted, (among, hashes, where) in zip(self._wanted, looked_up, strict=True):
            places, there = _places(among, hashes)
            yield wanted, places, where[there]


def _places(among: Hashes, hashes: Hashes) -> tuple[Places, Places]:
    """Where those of these hashes that are among the sorted others are in them, and which these are."""
    if not among.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    places = np.minimum(np.searchsorted(among, hashes), among.size - 1)
    which = np.flatnonzero(among[places] == hashes)
    return places[which], which


def _texts(value: object) -> Iterator[str]:
    """All texts in a value as PostgreSQL returns it, those in JSON too."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "[", '"'):
            yield from _texts_of_json(value)
    elif isinstance(value, UUID):
        yield str(value)
    elif isinstance(value, bytes):
        try:
            yield from _texts(value.decode())
        except UnicodeDecodeError:  # numbers or a picture
            return
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield key
            yield from _texts(held)
    elif isinstance(value, Sequence):
        for held in value:
            yield from _texts(held)


def _texts_of_json(value: str) -> Iterator[str]:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return
    yield from _texts(parsed)


async def search(tx: Transaction, of: Fingerprints) -> tuple[Leftovers, Lookup]:
    """Search everything that is in the workspace at the time of this snapshot transaction. Memory is bounded by the
    fingerprints and the largest row. Also returns the lookup, for searching copies in other stores."""
    columns = [_Column(*row) for row in await tx.rows("certificate.columns")]
    tables: dict[str, list[_Column]] = {}
    for column in columns:
        if column.is_readable and column.name != "workspace":
            tables.setdefault(column.table, []).append(column)
    lookup, found, rows = Lookup(of), Counter[str](), 0
    for table, some in tables.items():
        if owner := _owner(table, some):
            async for page in _pages(tx, table, [owner, *some]):
                await asyncio.to_thread(_leave_out, lookup, page)
    for table, some in tables.items():
        async for page in _pages(tx, table, some):
            found += await asyncio.to_thread(_counted, lookup, some, page)
            rows += len(page)
    unreadable = tuple(column.place for column in columns if not column.is_readable)
    return Leftovers(dict(found), rows, len(columns) - len(unreadable), unreadable, lookup.elsewhere), lookup


def _owner(table: str, columns: Sequence[_Column]) -> _Column | None:
    """The column with the document that a row belongs to; None if rows belong to none."""
    name = _IDS.get(table, "document")
    return next((one for one in columns if one.name == name and (table in _IDS or one.type == "uuid")), None)


def _leave_out(lookup: Lookup, page: Sequence[Row]) -> None:
    erased: dict[object, bool] = {}
    kept: list[object] = []
    for owner, *values in page:
        if owner not in erased:
            erased[owner] = lookup.is_erased(owner)
        if not erased[owner]:
            kept += values
    lookup.leave_out(kept)


def _counted(lookup: Lookup, columns: Sequence[_Column], page: Sequence[Row]) -> Counter[str]:
    counts = {
        column.place: lookup.holding(values) for column, values in zip(columns, zip(*page, strict=True), strict=True)
    }
    return Counter({place: rows for place, rows in counts.items() if rows})


async def _pages(tx: Transaction, table: str, columns: Sequence[_Column]) -> AsyncIterator[list[Row]]:
    listed = sql.SQL(", ").join(map(_selected, columns))
    async with tx.connection.cursor(name="trueweave_search") as cursor:
        await cursor.execute(sql.SQL("SELECT {} FROM {}").format(listed, sql.Identifier("trueweave", table)))
        while page := await cursor.fetchmany(_ROWS):
            yield page


_AS_THEY_ARE = frozenset({"uuid", "bytea", "json", "jsonb", "_uuid", "_bytea", "_json", "_jsonb", "_text", "_varchar"})


def _selected(column: _Column) -> sql.Composable:
    """A column as its type, if what Python makes of it is known here; otherwise as text."""
    name = sql.Identifier(column.name)
    return name if column.type in _AS_THEY_ARE else sql.SQL("{}::text").format(name)


def fingerprints(secret: bytes, texts: Sequence[str], named: Sequence[object]) -> Fingerprints:
    """The fingerprints of documents with these texts, uris and ids."""
    hashes = WindowHashes(secret)
    found = [hashes.of_text(text) for text in texts]
    sizes = tuple(sorted({size for size, _ in found if size}))
    windows = np.unique(np.concatenate([windows for _, windows in found])) if found else np.zeros(0, np.uint64)
    values = np.unique(np.fromiter((hashes.value(str(one)) for one in named), np.uint64))
    return Fingerprints(secret, sizes, windows, values, sum(not size for size, _ in found))
