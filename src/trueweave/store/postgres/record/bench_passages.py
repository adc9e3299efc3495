"""The passages that questions and runs of benchmarks refer to. Their texts are only read from the documents."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from trueweave.core.bench import BenchPassage
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.locks import share_view

_LONGEST = 600  # characters of a passage that are shown


async def add(tx: Transaction, owner: UUID, passages: Sequence[BenchPassage]) -> None:
    """Add passages to a question or a run, which has locked itself. A passage that it has already is not added twice.

    While the transaction lasts, no removal of a document is settled: so the uri of a document that is removed meanwhile
    is erased after this.
    """
    await share_view(tx)
    await tx.run(
        "bench.add_passages",
        owner=owner,
        uris=Texts(one.uri for one in passages),
        chunks=Ids(one.chunk for one in passages),
        firsts=[one.start for one in passages],
        behinds=[one.end for one in passages],
    )


async def missing(tx: Transaction, passages: Sequence[BenchPassage]) -> list[tuple[str, bool]]:
    """The uris of the passages that are not in the workspace, and whether their document is."""
    given = {"uris": Texts(one.uri for one in passages), "chunks": Ids(one.chunk for one in passages)}
    return [(uri, is_there) for uri, is_there in await tx.rows("bench.missing", **given)]


async def of_owners(
    tx: Transaction, owners: Sequence[UUID], numbers: Sequence[int] | None = None
) -> dict[UUID, dict[int, BenchPassage]]:
    """The passages of these questions or runs by their numbers, as they are now; optionally only some numbers."""
    found: dict[UUID, dict[int, BenchPassage]] = {owner: {} for owner in owners}
    given = None if numbers is None else list(numbers)
    for owner, n, *values in await tx.rows("bench.passages", owners=Ids(owners), numbers=given, longest=_LONGEST):
        found[owner][n] = BenchPassage(*values)
    return found
