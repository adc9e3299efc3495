"""What has become of passages that an answer cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction


class CitedPassage(NamedTuple):
    """A passage as it was cited: its document, its id, the SHA-256 of its text, and the quoted words."""

    uri: str
    id: UUID
    text_sha256: str
    quote: str


class CitedNow(NamedTuple):
    """Whether the document is in the index, whether it has the passage as it was, and whether it has the quoted
    words."""

    document: bool
    passage: bool
    quote: bool


async def cited_now(tx: Transaction, cited: Sequence[CitedPassage]) -> list[CitedNow]:
    """What is there of these passages now, in the same order."""
    rows = await tx.rows(
        "cited.now",
        uris=Texts(one.uri for one in cited),
        chunks=Ids(one.id for one in cited),
        hashes=Texts(one.text_sha256 for one in cited),
        quotes=Texts(one.quote for one in cited),
    )
    return [CitedNow(*row) for row in rows]
