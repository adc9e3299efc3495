"""Settling: stored documents become part of the view.

A batch is planned on a snapshot, without a lock, and the changed texts are embedded outside a transaction. Then the
view of the workspace is locked, and if it has not changed since the snapshot, the plan is written in one transaction.
If it has, the plan is made again under the lock; if that has texts without a vector, the lock is released while they
are embedded. So no transaction waits for a model, settlers on several machines wait only for each other's writes, and a
reader sees a document either before or after, never in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID, uuid4

from pgvector import HalfVector

from trueweave.core.errors import Defect, TrueweaveError
from trueweave.core.graph import VectorKind
from trueweave.core.jobs import WorkKind
from trueweave.core.protocols import Embedder, Vectors
from trueweave.graph.plan import Batch, ChangedText, Plan
from trueweave.index.planning import Planner
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS
from trueweave.store.postgres.locks import count_change, lock_view, version
from trueweave.store.postgres.offloop import MUCH, off_loop
from trueweave.store.postgres.queue import failed_work, leases
from trueweave.store.postgres.record.resolution import find_alike
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.vectors.vectors import Vector, half
from trueweave.store.postgres.view import view

DOCUMENTS_AT_ONCE = 256
ROWS_AT_ONCE = 20_000  # mentions and links; a document with more of them is large, and gets its own batch
NAMES_AT_ONCE = 1000
_TEXTS_AT_ONCE = 1024
_TURN_AFTER = 3  # attempts, after which other settlers are asked to hold back
_PAUSE = 0.05  # seconds


Texts = dict[UUID, str]  # by their hash


class _Unmatched(Exception):
    """Names of the batch have not been matched with similar names yet."""

    def __init__(self, names: list[UUID]) -> None:
        self.names = names


class _Changed(Exception):
    """Documents of the batch were replaced, removed or settled since it was claimed."""


class SettleResult(NamedTuple):
    """The number of settled versions of documents, the number of new vectors, and the first failure because of a
    bug."""

    documents: int = 0
    vectors: int = 0
    defect: Defect | None = None

    def plus(self, other: SettleResult) -> SettleResult:
        """Both together."""
        return SettleResult(self.documents + other.documents, self.vectors + other.vectors, self.defect or other.defect)


@dataclass(frozen=True)
class _Claim:
    """A batch that is leased to this settler."""

    owner: UUID
    batch: Batch
    uris: tuple[str, ...] = ()
    rows: int = 0  # mentions and links, or names


async def _at_once() -> None:
    """Do not wait for more."""


async def settle(
    workspace: Workspace,
    embedder: Embedder | None,
    *,
    large: bool | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
    gather: Callable[[], Awaitable[None]] = _at_once,
) -> SettleResult:
    """Settle until everything left is leased to other settlers, or it should stop. `large` restricts it to large or to
    small documents. `gather` is awaited after a partial batch of small documents, to collect more.

    Documents that fail because of a bug are marked and skipped.
    """
    settler = _Settler(workspace, embedder)
    total = SettleResult()
    for size in (False, True) if large is None else (large,):
        while not is_stopping() and (settled := await settler.settle_some(large=size)) is not None:
            total = total.plus(settled)
            if not size and settled.documents < DOCUMENTS_AT_ONCE:
                await gather()
    return total


class _Settler:
    """Settles batches of one workspace."""

    def __init__(self, workspace: Workspace, embedder: Embedder | None) -> None:
        self._workspace = workspace
        self._embedder = embedder

    async def settle_some(self, *, large: bool = False) -> SettleResult | None:
        """Settle one batch; None when there was nothing to do."""
        owner = uuid4()
        async with leases.kept(self._workspace, owner):  # even if the result of the claim was lost
            claim = await self._claim(owner, large=large)
            return await self._settle(claim) if claim else None

    async def _settle(self, claim: _Claim) -> SettleResult:
        try:
            return await _Settling(self._workspace, claim, self._embedder).run()
        except _Changed:
            return SettleResult()
        except (TrueweaveError, *DRIVER_ERRORS):
            raise
        except Exception as error:  # noqa: BLE001 (a bug with one document must not block others)
            if len(claim.uris) > 1:
                return await self._one_by_one(claim)
            return SettleResult(defect=await self._mark(claim, error))

    async def _one_by_one(self, claim: _Claim) -> SettleResult:
        """Isolate the document that cannot be settled, and settle the others."""
        total = SettleResult()
        for uri in claim.uris:
            async with self._workspace.transaction() as tx:
                rows = await tx.rows("settle.due_versions", uris=[uri])
            total = total.plus(await self._settle(_Claim(claim.owner, _batch(rows), (uri,), claim.rows)))
        return total

    async def _mark(self, claim: _Claim, error: Exception) -> Defect:
        kind: WorkKind = "settle" if claim.uris else "names"
        uri = next(iter(claim.uris), "")
        words = await failed_work.mark(self._workspace, kind, error, uri, uri)
        return Defect(f"{uri or 'names to be resolved again'}: cannot be settled: {words}")

    async def _claim(self, owner: UUID, *, large: bool) -> _Claim | None:
        """Claim work that no other settler has. All pending versions of a document belong together."""
        while True:
            async with self._workspace.transaction() as tx:
                if not await leases.is_turn_of_another(tx, owner):
                    return await _claimed(tx, owner, large=large)
            await asyncio.sleep(_PAUSE)


async def _claimed(tx: Transaction, owner: UUID, *, large: bool) -> _Claim | None:
    most = 1 if large else DOCUMENTS_AT_ONCE
    due = [uri for (uri,) in await tx.rows("settle.due", limit=most, small=ROWS_AT_ONCE, large=large)]
    if due:
        rows = _first(await tx.rows("settle.due_versions", uris=due))
        mine = await leases.take(tx, owner, "document", {uri for _, uri, *_ in rows})
        if mine:
            rows = [row for row in rows if row[1] in mine]
            return _Claim(owner, _batch(rows), tuple(sorted(mine)), sum(size for *_, size in rows))
    if not large:
        names = [name for (name,) in await tx.rows("settle.due_names", limit=NAMES_AT_ONCE)]
        pairs = [] if names else [tuple(row) for row in await tx.rows("settle.due_pairs", limit=NAMES_AT_ONCE)]
        if (names or pairs) and await leases.take(tx, owner, "names"):
            return _Claim(owner, Batch({}, tuple(names), tuple(pairs)), rows=len(names) + len(pairs))
    return None


def _first(rows: list[Row]) -> list[Row]:
    """As many documents as fit into a batch, at least one, with their versions."""
    total = 0
    taken: list[Row] = []
    for row in rows:
        if taken and row[1] != taken[-1][1] and total >= ROWS_AT_ONCE:
            break
        taken.append(row)
        total += row[3]
    return taken


def _batch(rows: Iterable[Row]) -> Batch:
    return Batch({id_: 1 if wanted else -1 for id_, _, wanted, _ in rows})


class _Settling:
    """One batch being settled."""

    def __init__(self, workspace: Workspace, claim: _Claim, embedder: Embedder | None) -> None:
        self._workspace = workspace
        self._claim = claim
        self._batch = claim.batch
        self._embedder = embedder
        self._space: Space | None = None
        self._kinds: tuple[VectorKind, ...] = ()
        self._embedded: dict[UUID, HalfVector] = {}
        self._plan: Plan | None = None
        self._planned_at = 0  # the version of the view that the plan was made for

    async def run(self) -> SettleResult:
        """Write the batch."""
        missing = await self._try(self._plan_ahead)
        tries = 0
        while missing is not None:
            if missing:
                await self._embed(missing)
            if tries == _TURN_AFTER:
                await self._take_turn()
            missing = await self._try(self._write)
            tries += 1
        assert self._plan, "it was written"
        return SettleResult(len(self._batch.documents), len(self._texts(self._plan)) if self._space else 0)

    async def _try(self, act: Callable[[], Awaitable[Texts | None]]) -> Texts | None:
        """The result of a step; names that must first be matched with similar names are matched in separate
        transactions."""
        while True:
            try:
                return await act()
            except _Unmatched as unmatched:
                await find_alike(self._workspace, unmatched.names)

    async def _plan_ahead(self) -> Texts | None:
        """Plan without the lock; returns the texts to embed."""
        large = self._claim.rows > ROWS_AT_ONCE
        async with self._workspace.transaction(snapshot=True, unhurried=large) as snapshot:
            await self._check_linked(snapshot)
            return await self._missing(snapshot, await self._planned(snapshot))

    async def _write(self) -> Texts | None:
        """Write the plan under the lock, after planning again if necessary, and return None; or the texts to embed
        first."""
        large = self._claim.rows > ROWS_AT_ONCE
        async with self._workspace.transaction(unhurried=large) as tx:
            await lock_view(tx)
            await self._check_due(tx)
            plan = self._plan
            if plan is None or self._planned_at != await version(tx):
                await self._check_linked(tx)
                plan = await self._planned(tx)
            missing = await self._missing(tx, plan)
            if not missing:
                await self._carry_out(tx, plan)
                return None
            return missing

    async def _planned(self, tx: Transaction) -> Plan:
        self._planned_at = await version(tx)
        if self._claim.rows < MUCH:
            self._plan = await Planner(tx, self._batch).plan()
        else:
            self._plan = await off_loop(tx, lambda tx: Planner(tx, self._batch).plan())
        return self._plan

    async def _check_due(self, tx: Transaction) -> None:
        """Lock the documents of the batch; _Changed unless they are still pending in the same versions."""
        if self._claim.uris:
            await tx.rows("record.lock_versions", uris=list(self._claim.uris))
            rows = await tx.rows("settle.due_versions", uris=list(self._claim.uris))
            if _batch(rows) != self._batch:
                raise _Changed

    async def _check_linked(self, tx: Transaction) -> None:
        rows = await tx.rows(
            "settle.pending_matches", documents=self._batch.coming, dirty_names=list(self._batch.dirty_names)
        )
        if rows:
            raise _Unmatched([name for (name,) in rows])

    async def _take_turn(self) -> None:
        """Ask others to hold back: they changed the basis of this plan repeatedly while its texts were embedded."""
        async with self._workspace.transaction() as tx:
            await leases.take(tx, self._claim.owner, "turn")

    async def _missing(self, tx: Transaction, plan: Plan) -> Texts:
        """The texts of the plan that have no vector yet, by their hash."""
        space, self._kinds = await vectors.wanted(tx)
        if space != self._space:
            self._embedded.clear()
            self._space = space
        if space is None:
            return {}
        space.check(self._embedder)
        return {t.hash: t.text for t in self._texts(plan) if t.hash not in self._embedded}

    def _texts(self, plan: Plan) -> list[ChangedText]:
        """The texts of the plan that are embedded in this workspace."""
        return [t for t in plan.texts if t.kind in self._kinds]

    async def _embed(self, texts: Texts) -> None:
        pending = list(texts.items())
        for at in range(0, len(pending), _TEXTS_AT_ONCE):
            some = pending[at : at + _TEXTS_AT_ONCE]
            embedded = await self._ask([text for _, text in some])
            halves = await asyncio.to_thread(lambda vectors: [half(v) for v in vectors], embedded)
            self._embedded |= {hash_: v for (hash_, _), v in zip(some, halves, strict=True)}

    async def _ask(self, texts: list[str]) -> Vectors:
        """Their vectors. A bug there is not specific to a document: it ends the run, and all documents stay pending."""
        assert self._embedder, "texts are only missing if there is an embedder"
        try:
            return await self._embedder.embed(texts, "document")
        except (TrueweaveError, *DRIVER_ERRORS):
            raise
        except Exception as error:
            raise Defect(
                f"the embedding model {self._embedder.model} failed: unexpected {type(error).__name__}: {error}. "
                "The texts to embed stay queued: fix this, then run the same command again."
            ) from error

    async def _carry_out(self, tx: Transaction, plan: Plan) -> None:
        if self._claim.rows < MUCH:
            await view.write(tx, plan)
        else:
            await off_loop(tx, lambda tx: view.write(tx, plan))
        if self._space:
            await vectors.write(tx, self._space, *await asyncio.to_thread(self._vectors, plan))
        await count_change(tx)
        await leases.release(tx, self._claim.owner)  # here, so that a lost one does not block the next version

    def _vectors(self, plan: Plan) -> tuple[list[Vector], list[tuple[VectorKind, UUID]]]:
        """The vectors to write, and the owners whose vectors to remove."""
        new = [Vector(t.kind, t.id, t.hash, self._embedded[t.hash]) for t in self._texts(plan)]
        gone: list[tuple[VectorKind, UUID]] = [
            *(("chunk", id_) for id_ in plan.gone_chunks),
            *(("entity", id_) for id_ in plan.gone_entities),
            *(("relation", id_) for id_ in plan.gone_relations),
        ]
        return new, gone
