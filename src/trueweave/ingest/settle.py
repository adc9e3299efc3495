"""Settling: what was stored becomes part of the view.

A batch is planned on a snapshot, without locks; what it changed is embedded, still without locks; then the shards of
all names that it affects are locked, and if none of them changed since, the plan is written in one transaction. If one
did, the plan is made again under the locks. So several settlers on several machines work at once, the model is never
waited for with a lock held (but for texts that keep changing), and a reader sees a document before or after, never
between.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from pgvector import HalfVector

from trueweave.graph.plan import Batch, Plan
from trueweave.ingest.plan import Planner, Uncovered
from trueweave.protocols import Embedder
from trueweave.store.postgres import vectors, view
from trueweave.store.postgres.db import Database, Transaction
from trueweave.store.postgres.locks import WHOLE, bump, lock, versions
from trueweave.store.postgres.resolution import find_alike
from trueweave.store.postgres.vectors import Space, Vector, half
from trueweave.types import VectorKind

DOCUMENTS_AT_ONCE = 256
ROWS_AT_ONCE = 20_000
NAMES_AT_ONCE = 1000
_TEXTS_AT_ONCE = 1024
_TRIES = 4


class _Unlinked(Exception):
    """Names of the batch have not looked for others alike yet."""

    def __init__(self, names: list[UUID]) -> None:
        self.names = names


class Settled(NamedTuple):
    """How many versions of documents were settled, and how many vectors that brought."""

    documents: int
    vectors: int


async def settle(database: Database, workspace: int, embedder: Embedder | None) -> Settled:
    """Settle until nothing is left that no other settler is at."""
    documents = vectors = 0
    while (settled := await settle_some(database, workspace, embedder)) is not None:
        documents += settled.documents
        vectors += settled.vectors
    return Settled(documents, vectors)


async def settle_some(database: Database, workspace: int, embedder: Embedder | None) -> Settled | None:
    """Settle one batch; None when there was nothing to do."""
    while True:
        try:
            async with database.transaction(workspace) as tx:
                batch = await _claim(tx)
                if not batch:
                    return None
                await _check_linked(tx, batch)
                return Settled(len(batch.documents), await _Settling(database, tx, batch, embedder).run())
        except _Unlinked as unlinked:
            # In transactions of its own, with no claim held: others wait for neither, and see the result at once.
            await find_alike(database, workspace, unlinked.names)


async def _claim(tx: Transaction) -> Batch:
    """Take some work that no other settler has. All waiting versions of a document go together."""
    uris = [uri for (uri,) in await tx.rows("settle.claim", limit=DOCUMENTS_AT_ONCE)]
    if not uris:
        touched = await tx.rows("settle.claim_touched", limit=NAMES_AT_ONCE)
        return Batch({}, tuple(name for (name,) in touched))
    claimed: dict[str, list[tuple[UUID, int, int]]] = {}
    for id_, uri, wanted, size in await tx.rows("settle.claim_versions", uris=uris):
        claimed.setdefault(uri, []).append((id_, 1 if wanted else -1, size))
    due: dict[str, int] = dict(await tx.rows("settle.due_versions", uris=uris))
    documents: dict[UUID, int] = {}
    rows = 0
    for uri, found in claimed.items():
        if len(found) == due[uri] and rows < ROWS_AT_ONCE:
            documents |= {id_: sign for id_, sign, _ in found}
            rows += sum(size for *_, size in found)
    return Batch(documents)


async def _check_linked(tx: Transaction, batch: Batch) -> None:
    rows = await tx.rows("settle.unlinked", documents=batch.coming, touched=list(batch.touched))
    if rows:
        raise _Unlinked([name for (name,) in rows])


class _Settling:
    """One batch on its way into the view."""

    def __init__(self, database: Database, tx: Transaction, batch: Batch, embedder: Embedder | None) -> None:
        self._database = database
        self._tx = tx
        self._batch = batch
        self._embedder = embedder
        self._space: Space | None = None
        self._embedded: dict[UUID, HalfVector] = {}

    async def run(self) -> int:
        """Write the batch; how many vectors were written."""
        seen: dict[int, int] | None
        plan, seen = await self._plan_ahead()
        shards = plan.shards
        for last in (*(False,) * _TRIES, True):
            held = shards if not last else frozenset((WHOLE,))
            await self._tx.execute("SAVEPOINT unlocked")
            await lock(self._tx, held)
            now = await versions(self._tx)
            if _moved(held, seen, now):
                await _check_linked(self._tx, self._batch)
                try:
                    plan = await Planner(self._tx, self._batch, held).plan()
                except Uncovered as more:
                    shards, seen = more.shards, None
                    await self._tx.execute("ROLLBACK TO unlocked")
                    continue
                seen = now
            missing = await self._missing(self._tx, plan)
            if missing and not last:  # let others go on meanwhile; the plan holds if they leave these shards alone
                await self._tx.execute("ROLLBACK TO unlocked")
                await self._embed(missing)
                continue
            await self._embed(missing)
            await self._write(plan)
            return len(plan.texts) if self._space else 0
        raise AssertionError("the last try ends")

    async def _plan_ahead(self) -> tuple[Plan, dict[int, int]]:
        """A plan made without locks, its texts embedded, and the versions of the shards that it rests on."""
        async with self._database.transaction(self._tx.workspace, snapshot=True) as snapshot:
            seen = await versions(snapshot)
            plan = await Planner(snapshot, self._batch).plan()
            missing = await self._missing(snapshot, plan)
        await self._embed(missing)
        return plan, seen

    async def _missing(self, tx: Transaction, plan: Plan) -> dict[UUID, str]:
        """The texts of the plan that have no vector yet, by their hash."""
        space = await vectors.space(tx)
        if space != self._space:
            self._embedded.clear()
            self._space = space
        if space is None:
            return {}
        space.check(self._embedder)
        return {t.hash: t.text for t in plan.texts if t.hash not in self._embedded}

    async def _embed(self, texts: dict[UUID, str]) -> None:
        pending = list(texts.items())
        for at in range(0, len(pending), _TEXTS_AT_ONCE):
            assert self._embedder, "texts are missing only where there is an embedder"
            some = pending[at : at + _TEXTS_AT_ONCE]
            embedded = await self._embedder.embed([text for _, text in some])
            self._embedded |= {hash_: half(v) for (hash_, _), v in zip(some, embedded, strict=True)}

    async def _write(self, plan: Plan) -> None:
        await view.write(self._tx, plan)
        if self._space:
            new = [Vector(t.kind, t.id, t.hash, self._embedded[t.hash]) for t in plan.texts]
            gone: list[tuple[VectorKind, UUID]] = [
                *(("chunk", id_) for id_ in plan.gone_chunks),
                *(("entity", id_) for id_ in plan.gone_entities),
                *(("relation", id_) for id_ in plan.gone_relations),
            ]
            await vectors.write(self._tx, self._space, new, gone)
        await bump(self._tx, plan.shards)


def _moved(shards: frozenset[int], seen: dict[int, int] | None, now: dict[int, int]) -> bool:
    """Whether anything that these shards guard has changed since it was seen, if it was."""
    if seen is None or WHOLE in shards:
        return now != seen
    return any(now.get(shard) != seen.get(shard) for shard in (*shards, WHOLE))
