"""The spool: the results of each shard, in a folder that all nodes share, so that nothing is processed twice.

The rows of a shard are Parquet files, and a small file, which is written last, marks them as complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pgvector import HalfVector

from trueweave.graph.contribution import ChunkRow, Contribution, DocumentRow, LinkRow, Made, MentionRow
from trueweave.store.postgres.vectors.vectors import Vector

_ID, _TEXT, _INT, _BIG = pa.binary(16), pa.large_string(), pa.int32(), pa.int64()
_SCHEMAS: dict[type, list[pa.DataType]] = {
    DocumentRow: [_ID, _TEXT, _TEXT, _ID, _TEXT, _TEXT, _ID, pa.list_(_TEXT), _INT, _ID, pa.list_(_TEXT)],
    ChunkRow: [_ID, _ID, _INT, _INT, _INT, _TEXT, _ID],
    MentionRow: [_ID, _ID, _INT, _ID, _TEXT, _TEXT, _TEXT, _ID, _INT, pa.list_(_INT)],
    LinkRow: [_ID, _ID, _INT, _ID, _ID, _TEXT, _ID, pa.list_(_TEXT), _BIG, _INT, pa.list_(_INT)],
}
_NAMES = {DocumentRow: "documents", ChunkRow: "chunks", MentionRow: "mentions", LinkRow: "links"}

R = TypeVar("R", bound=NamedTuple)


@dataclass(frozen=True)
class Worked:
    """What was made of a shard: how much, by which recipes, and what failed with the reasons."""

    documents: int
    chunks: int
    mentions: int
    links: int
    made: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Spool:
    """The spool of one load."""

    folder: Path

    def worked(self, key: str) -> Worked | None:
        """The result for the shard with this key; None while it is not complete."""
        try:
            told: dict[str, Any] = json.loads((self.folder / f"{key}.json").read_text())
        except FileNotFoundError:
            return None
        made, failed = (tuple(map(tuple, told.pop(name))) for name in ("made", "failed"))
        return Worked(**told, made=made, failed=failed)

    def write(
        self, key: str, rows: Sequence[Contribution], vectors: Sequence[Vector], failed: Iterable[tuple[str, str]]
    ) -> Worked:
        """Store the result for a shard."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(key, DocumentRow, [one.document for one in rows])
        chunks = [chunk for one in rows for chunk in one.chunks]
        mentions = [mention for one in rows for mention in one.mentions]
        links = [link for one in rows for link in one.links]
        for kind, found in ((ChunkRow, chunks), (MentionRow, mentions), (LinkRow, links)):
            self._write(key, kind, found)
        table = {
            "id": pa.array([v.id.bytes for v in vectors], _ID),
            "text_hash": pa.array([v.text_hash.bytes for v in vectors], _ID),
            "v": pa.array([v.values.to_binary() for v in vectors], pa.large_binary()),
        }
        self._replace(f"{key}.vectors.parquet", pa.table(table))
        made = tuple(sorted({(one.made.recipe, one.made.fingerprint) for one in rows if one.made}))
        worked = Worked(len(rows), len(chunks), len(mentions), len(links), made, tuple(failed))
        temporary = self.folder / f"{key}.{uuid4()}.tmp"
        temporary.write_text(json.dumps(asdict(worked)))
        temporary.replace(self.folder / f"{key}.json")
        return worked

    def rows(self, key: str, kind: type[R]) -> list[R]:
        """The rows of a kind that were made of a shard."""
        table = pq.read_table(self.folder / f"{key}.{_NAMES[kind]}.parquet")
        columns = [
            _ids(column) if type_ == _ID else column.to_pylist()
            for column, type_ in zip(table.columns, _SCHEMAS[kind], strict=False)  # an older spool has fewer columns
        ]
        return [kind(*row) for row in zip(*columns, strict=True)]

    def vectors(self, key: str) -> Iterator[Vector]:
        """The vectors of a shard's chunks."""
        table = pq.read_table(self.folder / f"{key}.vectors.parquet")
        ids, hashes, values = _ids(table["id"]), _ids(table["text_hash"]), table["v"].to_pylist()
        for id_, hash_, value in zip(ids, hashes, values, strict=True):
            assert id_, "a vector is of something"
            assert hash_, "a vector stands for a text"
            yield Vector("chunk", id_, hash_, HalfVector.from_binary(value))

    def made(self, key: str) -> list[Made]:
        """The recipes by which a shard was processed."""
        worked = self.worked(key)
        return [Made(*one) for one in worked.made] if worked else []

    def _write(self, key: str, kind: type[NamedTuple], rows: Sequence[NamedTuple]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(kind._fields)
        arrays = [
            pa.array([one and one.bytes for one in column] if type_ == _ID else column, type_)
            for column, type_ in zip(columns, _SCHEMAS[kind], strict=True)
        ]
        self._replace(f"{key}.{_NAMES[kind]}.parquet", pa.table(arrays, names=list(kind._fields)))

    def _replace(self, name: str, table: pa.Table) -> None:
        temporary = self.folder / f"{name}.{uuid4()}.tmp"
        pq.write_table(table, temporary, compression="zstd")
        temporary.replace(self.folder / name)


def _ids(column: pa.ChunkedArray) -> list[UUID | None]:
    return [None if value is None else UUID(bytes=value) for value in column.to_pylist()]
