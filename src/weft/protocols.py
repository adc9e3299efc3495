"""The seams: what a part must do to take its place in Weft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from pathlib import Path
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from weft.types import Call, Chunk, Extraction, Metric, Prompt, Purpose, Reply, Source

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. (model, dimensions, metric) name its embedding space."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def metric(self) -> Metric: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order."""
        ...


class LLM(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """`provider/model`: the name under which it is priced, limited and cached."""
        ...

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's whole reply."""
        ...


class Replies(Protocol):
    """Keeps what a model replied, by a key of all that it was asked."""

    async def ask(self, key: UUID) -> bytes | None:
        """The reply that is kept; None when the caller is to ask the model, and then to call `keep` or `forget`."""
        ...

    async def keep(self, key: UUID, payload: bytes) -> bytes:
        """Keep a reply; the one that is kept, if another came first."""
        ...

    async def forget(self, key: UUID) -> None:
        """There is no reply after all."""
        ...

    async def drop(self, key: UUID) -> None:
        """Keep the reply no longer."""
        ...


class Ledger(Protocol):
    """Holds back what a call may cost before it is made, and books what it did cost."""

    async def reserve(self, call: Call) -> UUID:
        """Hold back the most that this call may cost; BudgetReached when that is more than is left."""
        ...

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
        """The call is made, and this is what it cost."""
        ...

    async def release(self, id: UUID, *, charged: bool) -> None:
        """The call brought nothing. Where it may have been `charged`, the most that it may have cost stays booked."""
        ...


class Pace(Protocol):
    """Lets calls to a model go ahead no faster than was agreed, over all processes."""

    def turn(self, tokens: int) -> AbstractAsyncContextManager[None]:
        """Entered when a call of so many tokens may be made, left when it is over."""
        ...


class Extractor(Protocol):
    """Finds entities and relations in chunks."""

    @property
    def fingerprint(self) -> str:
        """All that its findings depend on besides the text: another fingerprint, other findings."""
        ...

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """What is in each of these chunks of the source, in order."""
        ...


class Loader(Protocol):
    """Reads files of some formats. Found by entry point, in the group `weft.loaders`."""

    @property
    def suffixes(self) -> frozenset[str]:
        """The endings of the files that it reads, as in `.md`."""
        ...

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        """The documents in a file, one at a time."""
        ...
