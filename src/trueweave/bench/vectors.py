"""Caches vectors of texts in a file, so that a second run of a benchmark does not embed again."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trueweave.core.errors import ConfigError
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Embedder, Vectors
from trueweave.models.embedder_wrapper import EmbedderWrapper
from trueweave.text.names import key

_AT_ONCE = 500  # keys per query


@dataclass(frozen=True)
class KeptEmbedder(EmbedderWrapper):
    """An embedder that caches vectors by model, role and text. It is meant for documents: with a cached vector, a
    question would seem to be answered faster than it is."""

    file: sqlite3.Connection
    turn: asyncio.Lock

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order: those in the cache, and the model's for the others."""
        keys = [key("vector", self.model, str(self.dimensions), role, text).bytes for text in texts]
        unique = dict(zip(keys, texts, strict=True))
        async with self.turn:
            kept = await asyncio.to_thread(self._look_up, list(unique))
        missing = [one for one in unique if one not in kept]
        if missing:
            made = await self.embedder.embed([unique[one] for one in missing], role)
            new = {one: row.astype(np.float32).tobytes() for one, row in zip(missing, made, strict=True)}
            async with self.turn:
                await asyncio.to_thread(self._keep, new)
            kept |= new
        rows = [np.frombuffer(kept[one], dtype=np.float32) for one in keys]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def _look_up(self, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for at in range(0, len(keys), _AT_ONCE):
            some = keys[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            found |= dict(self.file.execute(f"SELECT key, vector FROM vector WHERE key IN ({marks})", some))
        return found

    def _keep(self, new: dict[bytes, bytes]) -> None:
        with self.file:
            self.file.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", new.items())


@asynccontextmanager
async def kept(embedder: Embedder, path: Path) -> AsyncIterator[KeptEmbedder]:
    """This embedder with its vectors cached in a file, which is created if needed."""
    try:
        file = await asyncio.to_thread(_open, path)
    except sqlite3.Error as error:
        raise ConfigError(f"{path} is not a file of vectors: {error}. Remove it; it will be created again.") from error
    with closing(file):
        yield KeptEmbedder(embedder, file, asyncio.Lock())


def _open(path: Path) -> sqlite3.Connection:
    file = sqlite3.connect(path, check_same_thread=False)  # still used by one thread at a time: see `turn`
    try:
        file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
    except sqlite3.Error:
        file.close()
        raise
    return file
