"""Shards: the units in which a bulk load processes its sources. Each has its own key, so that it is processed once."""

from __future__ import annotations

import hashlib
import itertools
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pyarrow.parquet as pq
from pyarrow import fs

from trueweave.core.errors import ConfigError, InvalidDocument
from trueweave.core.events import Refused, Skipped, Unreadable
from trueweave.core.record import Document, NamedFile, Source
from trueweave.ingest.extract import preannotated
from trueweave.ingest.json_lines import broken, parsed, place, row_uri
from trueweave.ingest.loading import Files
from trueweave.ingest.loading.rows import row_source

LINES_AT_ONCE = 500
BYTES_AT_ONCE = 4 * 2**20
FILES_AT_ONCE = 64

_LINES, _PARQUET = (".jsonl", ".ndjson"), ".parquet"
_USER = re.compile(r"//[^/@]*@")
_SAID = frozenset({"entities", "triples", "relations", "chunks"})  # a row with one of these needs no extractor

Read = Source | Document | Refused | Unreadable


@dataclass(frozen=True)
class InputFile:
    """A source file: its path, or an address such as s3://bucket/key, and its uri."""

    where: str
    uri: str
    size: int
    modified: int  # nanoseconds

    @property
    def shown(self) -> str:
        """Its name in messages: the path, or the address without possible secrets."""
        return self.uri if _is_address(self.where) else self.where


@dataclass(frozen=True)
class Shard:
    """Documents that are processed together: those of several files, or the rows of one file from `first` to before
    `last`.

    For JSON lines, `first` and `last` are bytes, and `line` is the number of the first line; for Parquet they are rows.
    """

    files: tuple[InputFile, ...]
    first: int = 0
    last: int | None = None
    line: int = 1

    @property
    def key(self) -> str:
        """The key of the shard, which changes if its files do."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class RecordShard:
    """Versions of documents that are already in the workspace."""

    workspace: int
    ids: tuple[UUID, ...]

    @property
    def key(self) -> str:
        """The key of the shard, which differs for other documents."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


def shards_of(paths: Sequence[str], files: Files, skipped: list[Skipped | Unreadable]) -> Iterator[Shard]:
    """The shards of these files, folders and addresses. Files that are not documents are added to `skipped`."""
    waiting: list[InputFile] = []
    for file in _input_files(paths, files, skipped):
        if file.uri.endswith(_LINES):
            yield from _of_lines(file)
        elif file.uri.endswith(_PARQUET):
            yield from _of_rows(file)
        else:
            waiting.append(file)
            if len(waiting) == FILES_AT_ONCE or sum(one.size for one in waiting) >= BYTES_AT_ONCE:
                yield Shard(tuple(waiting))
                waiting = []
    if waiting:
        yield Shard(tuple(waiting))


def read(shard: Shard, files: Files) -> Iterator[Read]:
    """The documents of a shard: a Document if its entities are given, otherwise a Source."""
    first = shard.files[0]
    if first.uri.endswith(_LINES):
        yield from _read_lines(shard, first)
    elif first.uri.endswith(_PARQUET):
        yield from _read_rows(shard, first)
    else:
        for file in shard.files:
            with _local(file.where) as path:
                for loaded in files.named(NamedFile(path, file.uri)):
                    if isinstance(loaded, Skipped):
                        yield Unreadable(file.uri, loaded.reason)
                    else:
                        yield loaded


# --- listing files ----------------------------------------------------------------------------------


def _input_files(paths: Sequence[str], files: Files, skipped: list[Skipped | Unreadable]) -> Iterator[InputFile]:
    for path in paths:
        if _is_address(path):
            yield from _remote_files(path)
        elif path.endswith(_PARQUET):
            yield _local_file(NamedFile(Path(path), files.naming.uri(path)))
        else:
            for one in files.files([path], also=(_PARQUET,)):
                if isinstance(one, NamedFile):
                    yield _local_file(one)
                else:
                    skipped.append(one)


def _local_file(file: NamedFile) -> InputFile:
    try:
        told = file.path.stat()
    except OSError as error:
        raise ConfigError(f"{file.path} cannot be read: {error.strerror}. Check the path.") from error
    return InputFile(str(file.path.absolute()), file.uri, told.st_size, told.st_mtime_ns)


def _remote_files(address: str) -> Iterator[InputFile]:
    system, path = _system(address)
    path = path.rstrip("/")
    place, mark, options = address.partition("?")
    start = place.rstrip("/").removesuffix(path)
    named = _USER.sub("//", start)  # a uri is shown, and must not reveal a secret
    found = system.get_file_info(path)
    if found.type == fs.FileType.NotFound:
        raise ConfigError(f"{named}{path} does not exist. Check the address, and the variables with its credentials.")
    inside = system.get_file_info(fs.FileSelector(path, recursive=True)) if not found.is_file else [found]
    for one in sorted(inside, key=lambda info: info.path):
        if one.is_file and not PurePosixPath(one.path).name.startswith((".", "_")):
            yield InputFile(f"{start}{one.path}{mark}{options}", named + one.path, one.size, one.mtime_ns or 0)


def _is_address(path: str) -> bool:
    return len(urlsplit(path).scheme) > 1  # C: is a drive


def _system(where: str) -> tuple[fs.FileSystem, str]:
    if not _is_address(where):
        return fs.LocalFileSystem(), where
    try:
        return fs.FileSystem.from_uri(where)  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        raise ConfigError(f"{_USER.sub('//', where)} cannot be reached: {error}. Check the address.") from error


class _local:  # noqa: N801 (used as a function)
    """A file as a path on this machine: its own, or that of a temporary copy."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._folder: str | None = None

    def __enter__(self) -> Path:
        if not _is_address(self._where):
            return Path(self._where)
        system, path = _system(self._where)
        self._folder = tempfile.mkdtemp()
        copy = Path(self._folder, PurePosixPath(path).name)
        with system.open_input_stream(path) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        return copy

    def __exit__(self, *_: object) -> None:
        if self._folder:
            shutil.rmtree(self._folder)


# --- rows -------------------------------------------------------------------------------------------


def _of_lines(file: InputFile) -> Iterator[Shard]:
    system, path = _system(file.where)
    first = line = at = lines = 0
    line = 1
    with system.open_input_stream(path, buffer_size=2**20) as stream:
        while block := stream.read(2**20):
            begin = 0
            while (end := block.find(b"\n", begin)) >= 0:
                lines += 1
                begin = end + 1
                if lines == LINES_AT_ONCE or at + begin - first >= BYTES_AT_ONCE:
                    yield Shard((file,), first, at + begin, line)
                    first, line, lines = at + begin, line + lines, 0
            at += len(block)
    if at > first:
        yield Shard((file,), first, at, line)


def _read_lines(shard: Shard, file: InputFile) -> Iterator[Read]:
    system, path = _system(file.where)
    assert shard.last is not None, "a shard of lines has an end"
    with system.open_input_file(path) as stream:
        stream.seek(shard.first)
        data = stream.read(shard.last - shard.first)
    for number, line in enumerate(data.splitlines(), shard.line):
        if line.strip():
            named = Path(file.shown)
            try:
                yield _document(parsed(line), file.uri, place(named, number))
            except InvalidDocument as error:
                yield Refused(place(named, number), str(broken(named, number, str(error))))


def _of_rows(file: InputFile) -> Iterator[Shard]:
    system, path = _system(file.where)
    with system.open_input_file(path) as stream:
        total = pq.ParquetFile(stream).metadata.num_rows
    for first in range(0, total, LINES_AT_ONCE):
        yield Shard((file,), first, min(first + LINES_AT_ONCE, total), first + 1)


def _read_rows(shard: Shard, file: InputFile) -> Iterator[Read]:
    system, path = _system(file.where)
    with system.open_input_file(path) as stream:
        rows = itertools.islice(_rows(pq.ParquetFile(stream), shard.first), (shard.last or 0) - shard.first)
        for number, row in enumerate(rows, shard.line):
            origin = f"{file.shown}, row {number}"
            try:
                yield _document(row, file.uri, origin)
            except InvalidDocument as error:
                yield Refused(origin, f"{origin}: {error}. Fix that row and load the file again.")


def _rows(parquet: pq.ParquetFile, first: int) -> Iterator[Mapping[str, Any]]:
    """The rows of a file from `first` on, without reading the row groups before it."""
    for group in range(parquet.metadata.num_row_groups):
        size = parquet.metadata.row_group(group).num_rows
        if first >= size:
            first -= size
            continue
        for batch in parquet.iter_batches(batch_size=LINES_AT_ONCE, row_groups=[group]):
            rows: Iterable[Mapping[str, Any]] = batch.slice(min(first, batch.num_rows)).to_pylist()
            first = max(0, first - batch.num_rows)
            yield from rows


def _document(row: Mapping[str, Any], file: str, origin: str) -> Source | Document:
    told = {name: value for name, value in row.items() if value is not None}
    if _SAID & told.keys():
        return preannotated.document(told, row_uri(told, file), origin)
    return row_source(told, file, origin)
