"""Rebuilding the index from scratch, to compare it with the one in use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from trueweave.core.events import Progress
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.storing import add_documents
from trueweave.index.communities.find import regroup_as
from trueweave.store.postgres.cluster.temporary_workspaces import temporary_workspace
from trueweave.store.postgres.record import record, resolution
from trueweave.store.postgres.view import communities


@asynccontextmanager
async def rebuilt(core: OpenWorkspace, progress: Progress) -> AsyncIterator[OpenWorkspace]:
    """A temporary workspace rebuilt from scratch from the visible documents of this one, with its settings and rules.
    It has no models."""
    without = core.settings.model_copy(update={"model": None, "embedding_model": None, "reranker": None})
    async with temporary_workspace(await core.workspace.placed(), f"rebuild-{uuid4()}") as made:
        async with core.workspace.transaction() as tx:
            how, rules = await resolution.settings(tx), await resolution.rules(tx)
            found = await communities.hierarchy(tx)
        beside = OpenWorkspace(made, settings=without)
        async with made.transaction() as tx:
            await resolution.follow(tx, rules, how)
        async for documents in record.read(core.workspace, visible=True):
            await add_documents(beside, documents, progress)
        await regroup_as(made, found)
        yield beside
