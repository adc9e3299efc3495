"""The index as it was at a time in the past. See docs/adr/0061-history.md."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

import numpy as np

from trueweave.core.errors import DatabaseError
from trueweave.core.events import Progress
from trueweave.core.graph import Metric
from trueweave.core.history import require_zone
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Embedder, Vectors
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.storing import store
from trueweave.graph.contribution import Contribution
from trueweave.index.communities.find import regroup_as
from trueweave.index.settle import SettleResult, settle
from trueweave.store.postgres import bulk
from trueweave.store.postgres.cluster.temporary_workspaces import drop_expired, past_name, temporary_workspace
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.locks import share_view
from trueweave.store.postgres.record import history, resolution
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.view import communities

_DOCUMENTS_AT_ONCE = 256


@asynccontextmanager
async def past(core: OpenWorkspace, at: datetime | None, progress: Progress) -> AsyncIterator[OpenWorkspace]:
    """A temporary workspace with the versions of documents that were in the index at this time, or at the oldest that
    is known, and with today's settings, rules and rights. It is built from the record: nothing is extracted again, and
    only passages that are no longer in the index are embedded. It is dropped at the end."""
    if at:
        require_zone(at)
    database = await core.workspace.placed()
    await drop_expired(database)
    async with temporary_workspace(database, past_name(core.workspace)) as made:
        async with core.workspace.transaction() as tx:
            await share_view(tx)  # what is being settled counts before `at` or after it
            then = await history.known_time(tx, at)
            how, rules = await resolution.settings(tx), await resolution.rules(tx)
            found, graph = await communities.hierarchy(tx), await vectors.graph_vectors(tx)
            has_vectors = await vectors.space(tx) is not None
        async with made.transaction() as tx:
            await resolution.follow(tx, rules, how)
        async with core.beside(made, {}) as beside:
            known: KnownVectors | None = None
            if has_vectors and (embedder := await beside.embedder()):
                known = KnownVectors(embedder)
                await vectors.change_space(made, embedder, graph="kept" if graph == "kept" else "none")
            await _build(core.workspace, beside, then, known, progress)
            await regroup_as(made, found)
            yield beside


async def _build(
    whole: Workspace, beside: OpenWorkspace, at: datetime, known: KnownVectors | None, progress: Progress
) -> None:
    total = SettleResult()
    async for page in history.versions_at(whole, at):
        for first in range(0, len(page), _DOCUMENTS_AT_ONCE):
            ids = page[first : first + _DOCUMENTS_AT_ONCE]
            rows, added = await _versions(whole, ids, known)
            await store(beside, rows)
            async with beside.workspace.transaction() as tx:
                await history.set_added(tx, added)
            total = total.plus(await settle(beside.workspace, known))
            progress(len(ids))
    await beside.finish_settling(total)


async def _versions(
    whole: Workspace, ids: Sequence[UUID], known: KnownVectors | None
) -> tuple[list[Contribution], dict[UUID, datetime]]:
    """These versions as rows to store, with the readers that they have now, and when they were added. The vectors of
    their chunks are noted."""
    async with whole.transaction(snapshot=True, unhurried=True) as tx:
        rows = await bulk.rows_of(tx, ids)
        kept = await history.readers(tx, ids)
        chunks = {chunk.id: chunk.text for one in rows for chunk in one.chunks}
        found = await vectors.of_ids(tx, "chunk", list(chunks)) if known else {}
    if len(rows) < len(ids):
        raise DatabaseError(
            "documents of that time were erased while the index was built. Ask again: the answer will be without them."
        )
    if known:
        known.vectors = {chunks[id_]: vector.to_numpy().astype(np.float32) for id_, vector in found.items()}
    given = {id_: readers or None for id_, (readers, _) in kept.items()}
    stored = [
        one._replace(document=one.document._replace(source=None, given_readers=given[one.document.id])) for one in rows
    ]
    return stored, {id_: added for id_, (_, added) in kept.items()}


class KnownVectors:
    """An embedder of documents that embeds only texts whose vectors are not known."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.vectors: dict[str, Vectors] = {}
        """Of texts, by text."""

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def metric(self) -> Metric:
        return self._embedder.metric

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        missing = [text for text in texts if text not in self.vectors]
        new = dict(zip(missing, await self._embedder.embed(missing, role), strict=True)) if missing else {}
        return np.stack([new[text] if text in new else self.vectors[text] for text in texts])
