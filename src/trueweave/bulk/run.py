"""Bulk loading, from sources to a workspace that is switched at once from what it was to what was built."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID, uuid4

from trueweave.bulk.flows import Flow
from trueweave.bulk.pipeline import Pipeline, Told
from trueweave.bulk.process import Load
from trueweave.bulk.shards import RecordShard, Shard, shards_of
from trueweave.bulk.spool import Worked
from trueweave.communities.find import regroup
from trueweave.config import Settings
from trueweave.errors import ConfigError
from trueweave.events import Skipped, Unreadable
from trueweave.graph.communities import LeidenSettings
from trueweave.ingest.own import Given
from trueweave.ingest.recipe import Recipe
from trueweave.protocols import Embedder
from trueweave.store.postgres import bulk, communities, outbox, record, resolution, vectors
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.temporary_workspaces import temporary_workspace
from trueweave.store.postgres.vectors import Space
from trueweave.text.loading import Files
from trueweave.text.names import key
from trueweave.types import BulkReport, VectorKind
from trueweave.view.linking import link
from trueweave.view.settle import settle

_DOCUMENTS_IN_A_SHARD = 500
_INDEXED: tuple[VectorKind, ...] = ("chunk", "entity", "relation")


def untold(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody of progress."""


async def bulk_load(
    target: Workspace,
    paths: Sequence[str],
    spool: Path,
    flow: Flow,
    *,
    settings: Settings,
    recipe: Recipe,
    embedder: Embedder | None,
    given: Given = Given(),  # noqa: B008 (immutable)
    told: Told = untold,
    gpus: float = 0,
) -> BulkReport:
    """Load files, folders and addresses into a workspace.

    The index is built beside the workspace, together with the documents that are there, and takes its place at the end
    in one transaction; until then nothing is seen of it. What was made of each shard is kept in the folder `spool`,
    which all nodes share: a load that was stopped goes on from there. Documents that come to the workspace meanwhile
    are in it afterwards. The rows of the former index are deleted by whoever cleans up after five minutes.
    """
    return await _BulkLoad(target, spool, flow, settings, recipe, embedder, given, told, gpus).run(paths)


@dataclass(frozen=True)
class _BulkLoad:
    """One bulk load."""

    target: Workspace
    spool: Path
    flow: Flow
    settings: Settings
    recipe: Recipe
    embedder: Embedder | None
    given: Given
    told: Told
    gpus: float

    async def run(self, paths: Sequence[str]) -> BulkReport:
        await self._check()
        skipped: list[Skipped | Unreadable] = []
        files = Files.of(self.settings, self.spool)
        incoming = await asyncio.to_thread(lambda: list(shards_of(paths, files, skipped)))
        if not incoming:
            raise ConfigError(f"there is nothing to load in {', '.join(paths)}. Check the paths.")
        async with temporary_workspace(self.target.database, f"bulk-{uuid4()}") as made:
            there = await self._there()
            before = await bulk.document_ids(self.target)
            load = await self._prepared(made)
            shards: list[Shard | RecordShard] = [*there, *incoming]
            pipeline = Pipeline(self.flow, load, self.told)
            worked = await asyncio.to_thread(pipeline.work, shards, self.gpus)
            report = await self._built(pipeline, made, shards, worked)
            await self._follow_rules(made)
            await self._switch(made, before)
        return replace(report, skipped=tuple((one.path, one.reason) for one in skipped))

    async def _check(self) -> None:
        try:
            pickle.dumps(self.given)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"an embedder, extractor or chunker that the program was given cannot be sent to other processes: "
                f"{error}. Define its class in a module, and open files and connections when they are first needed."
            ) from error
        async with self.target.transaction() as tx:
            consumers, server = await outbox.consumers(tx), await tx.value("bulk.server")
        if server:
            raise ConfigError(
                f"this workspace is on the server {server}, and only those on the home server are loaded in bulk. Move "
                "it there (`trueweave workspace move NAME --to home`), load, and move it back."
            )
        if consumers:
            raise ConfigError(
                f"this workspace is copied to {', '.join(one.name for one in consumers)}, and copies cannot "
                "follow a bulk load. Remove them (`trueweave project remove`), load, and project again."
            )

    async def _there(self) -> list[RecordShard]:
        """The documents that the workspace has, as shards."""
        state = await self._state()
        pages = await bulk.document_pages(self.target, _DOCUMENTS_IN_A_SHARD)
        return [RecordShard(f"{self.target.id} {state}", *page) for page in pages]

    async def _prepared(self, made: Workspace) -> Load:
        """The new workspace, with the resolution and the space of the target, and what processes are to know."""
        async with self.target.transaction() as tx:
            how = await resolution.settings(tx)
            recipes = {one for one, _ in await record.made_by(tx)}
        await resolution.change_settings(made, how)
        async with made.transaction() as tx:
            await record.note_recipes(tx, recipes)
        space: Space | None = None
        if self.embedder:
            await vectors.change_space(made, self.embedder)
            async with made.transaction() as tx:
                space = await vectors.space(tx)
            assert space, "it was just made"
        recipe = self.recipe.packed()
        folder = self.spool / key("load", recipe, space.model if space else "", str(space and space.dimensions)).hex
        return Load(self.settings, self.given, self.target.database.url, self.target.id, made.id, recipe, folder, space)

    async def _built(
        self, pipeline: Pipeline, made: Workspace, shards: Sequence[Shard | RecordShard], worked: dict[str, Worked]
    ) -> BulkReport:
        """Load what was made of these shards into the new workspace."""
        async with made.transaction() as tx:
            how = await resolution.settings(tx)
        former = {name: (entity, count) async for name, entity, count in bulk.live_names(self.target)}
        mentions = sum(one.mentions for one in worked.values())
        keys = [shard.key for shard in shards]
        chunks = sum(one.chunks for one in worked.values())
        if pipeline.load.space:
            await bulk.make_own_tables(made, pipeline.load.space, chunks)
        loaded = await asyncio.to_thread(pipeline.load_documents, keys, mentions, how)
        names, entities = await asyncio.to_thread(pipeline.load_graph, loaded, former)
        linked = await asyncio.to_thread(pipeline.link, loaded, chunks)
        self.told("Counting words", 0, 1)
        await bulk.count(made)
        self.told("Counting words", 1, 1)
        if space := pipeline.load.space:
            self.told("Indexing vectors", 0, 1)
            await vectors.index_own_tables(made, space, _INDEXED)
            self.told("Indexing vectors", 1, 1)
        left_out = loaded.steps.left_out
        documents = {shard: worked[shard.key].documents - len(left_out.get(shard.key, ())) for shard in shards}
        return BulkReport(
            sum(documents.values()),
            linked,
            names,
            entities,
            sum(number for shard, number in documents.items() if isinstance(shard, RecordShard)),
            tuple(problem for one in worked.values() for problem in one.failed),
        )

    async def _state(self) -> str:
        async with self.target.transaction() as tx:
            return str(await tx.value("read.state"))

    async def _settle(self, workspace: Workspace) -> None:
        settled = await settle(workspace, self.embedder)
        await link(workspace)
        if settled.defect:
            raise settled.defect

    async def _follow_rules(self, made: Workspace) -> None:
        """Let the rules of the target hold in the new workspace, and find communities where the target has some."""
        async with self.target.transaction() as tx:
            rules, found = await resolution.rules(tx), await communities.hierarchy(tx)
        for rule in rules:
            await resolution.add_rule(made, rule)
        await self._settle(made)
        if found:
            await regroup(made, LeidenSettings(found.most, found.resolution, found.seed))

    async def _switch(self, made: Workspace, before: dict[UUID, str]) -> None:
        """Let the new workspace take the place of the target, once it has all that came there meanwhile."""
        while True:
            now = await bulk.document_ids(self.target)
            await self._catch_up(made, before, now)
            before = now
            state = await self._state()
            async with bulk.alone(self.target) as tx:
                if await tx.value("read.state") == state and not await tx.value("settle.any_due"):
                    await bulk.replace_by(tx, made.id)
                    return
            await self._settle(self.target)

    async def _catch_up(self, made: Workspace, before: dict[UUID, str], now: dict[UUID, str]) -> None:
        """Change the new workspace as the target was changed meanwhile."""
        new = [id_ for id_ in now if id_ not in before]
        uris = set(now.values())
        gone = [uri for id_, uri in before.items() if id_ not in now and uri not in uris]
        for at in range(0, len(new), _DOCUMENTS_IN_A_SHARD):
            rows = await bulk.rows_of(self.target, new[at : at + _DOCUMENTS_IN_A_SHARD])
            stored = [one._replace(document=one.document._replace(source=None)) for one in rows]
            await record.store(made, stored)
        if gone:
            await record.withdraw(made, gone)
        if new or gone:
            await self._settle(made)
