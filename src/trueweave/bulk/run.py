"""Bulk loading, from sources to the built workspace, which replaces the old one in a single step."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

from trueweave.bulk.flows import Flow
from trueweave.bulk.pipeline import Pipeline, Told
from trueweave.bulk.process import Load, OpenModels
from trueweave.bulk.shards import RecordShard, Shard, shards_of
from trueweave.bulk.spool import Worked
from trueweave.core.errors import ConfigError, DatabaseError, UnknownWorkspace, WorkspaceLoading
from trueweave.core.events import Skipped, Unreadable
from trueweave.core.graph import GraphVectors, VectorKind
from trueweave.core.jobs import BulkReport
from trueweave.core.protocols import Embedder
from trueweave.core.settings import Settings
from trueweave.graph.contribution import Contribution
from trueweave.index.communities.find import regroup_as
from trueweave.index.linking import link
from trueweave.index.settle import settle
from trueweave.ingest.loading import Files
from trueweave.ingest.own import Given
from trueweave.ingest.recipe import Recipe
from trueweave.store.postgres import bulk
from trueweave.store.postgres.cluster.servers import HOME
from trueweave.store.postgres.cluster.temporary_workspaces import release_replaced_by, temporary_workspace
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queue.queue import ask_for
from trueweave.store.postgres.record import history, record, resolution
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.view import communities
from trueweave.text.names import key

_DOCUMENTS_IN_A_SHARD = 500
_ROUNDS = 5  # of catching up while others write; in the last one they wait
_STOOD_STILL = (
    "this process stood still for so long that the index it was building was dropped as left behind. The workspace is "
    "as it was. Run the same command again: what was extracted is kept."
)

_SWITCHED_OFF = (
    "documents were switched off again and again while the load was about to end. The workspace is as it was. Run the "
    "same command again: what was extracted is kept."
)


def untold(_stage: str, _done: int, _total: int) -> None:
    """Report progress to no one."""


class Loaded(NamedTuple):
    """The report on a load, and the workspace that now has the name of the target. Writes that arrived at the very end
    may still wait to be settled in it."""

    report: BulkReport
    workspace: Workspace


async def bulk_load(
    target: Workspace,
    paths: Sequence[str],
    spool: Path,
    flow: Flow,
    *,
    settings: Settings,
    recipe: Recipe,
    embedder: Embedder | None,
    open_models: OpenModels,
    given: Given = Given(),  # noqa: B008 (immutable)
    told: Told = untold,
    gpus: float = 0,
    readers: tuple[str, ...] | None = None,
) -> Loaded:
    """Load files, folders and addresses into a workspace.

    The index is built alongside the workspace, including the documents already in it, and replaces it at the end in one
    transaction; until then none of it is visible. The result for each shard is kept in the folder `spool`, which all
    nodes share: a load that was stopped resumes from there. Anything written to the workspace in the meantime is either
    in the new index afterwards or refused: see docs/adr/0038-bulk-loading.md. Raises WorkspaceLoading if another load
    is running. The former index is deleted five minutes after the new one was first read. `told` is called in a thread.
    `readers` are those of documents that do not state theirs.
    """
    load = _BulkLoad(target, spool, flow, settings, recipe, embedder, open_models, given, told, gpus, readers)
    return await load.run(paths)


@dataclass(frozen=True)
class _BulkLoad:
    """One bulk load."""

    target: Workspace
    spool: Path
    flow: Flow
    settings: Settings
    recipe: Recipe
    embedder: Embedder | None
    open_models: OpenModels
    given: Given
    told: Told
    gpus: float
    readers: tuple[str, ...] | None

    async def run(self, paths: Sequence[str]) -> Loaded:
        self._check_given()
        async with bulk.only_load(self.target):
            await self._check()
            skipped: list[Skipped | Unreadable] = []
            files = Files.of(self.settings, self.spool)
            incoming = await asyncio.to_thread(lambda: list(shards_of(paths, files, skipped)))
            if not incoming:
                raise ConfigError(f"there is nothing to load in {', '.join(paths)}. Check the paths.")
            async with temporary_workspace(self.target.database, f"bulk-{uuid4()}") as made:
                try:
                    report = await self._load(made, incoming)
                except UnknownWorkspace as error:
                    if (await bulk.place(self.target)).is_dropped:
                        raise
                    raise DatabaseError(_STOOD_STILL) from error
            await made.retry_while_down(lambda: release_replaced_by(made))
        return Loaded(replace(report, skipped=tuple((one.path, one.reason) for one in skipped)), made)

    async def _load(self, made: Workspace, incoming: Sequence[Shard]) -> BulkReport:
        await self._tell("Reading documents", 0, 1)
        async with self.target.transaction(snapshot=True, unhurried=True) as tx:
            there, off = await bulk.document_ids(tx), await bulk.off(tx)
        await self._tell("Reading documents", 1, 1)
        load = await self._prepared(made)
        visible = [id_ for id_, uri in there.items() if uri not in off]
        shards: list[Shard | RecordShard] = [
            *(RecordShard(self.target.id, tuple(ids)) for ids in _batches(sorted(visible))),
            *incoming,
        ]
        pipeline = Pipeline(self.flow, load, self.told)
        worked = await asyncio.to_thread(pipeline.work, shards, self.gpus)
        report = await self._built(pipeline, made, shards, worked)
        await self._switch(made, await _arrived(made, there))
        return report

    def _check_given(self) -> None:
        try:
            pickle.dumps(self.given)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"a custom embedder, extractor or chunker cannot be sent to other processes: {error}. Define its "
                "class in a module, and open files and connections on first use."
            ) from error

    async def _check(self) -> None:
        place = await bulk.place(self.target)
        if place.is_dropped:
            raise UnknownWorkspace("this workspace was dropped, or a bulk load replaced it. Open it again.")
        if place.server != HOME:
            raise ConfigError(
                f"this workspace is on the server {place.server}, and only workspaces on the home server can be "
                "loaded in bulk. Move it there (`trueweave workspace move NAME --to home`), load, and move it back."
            )
        if place.is_reembedded:
            raise WorkspaceLoading(
                "this workspace is being embedded with another model. Wait until that is done, or run `trueweave "
                "reembed MODEL` again if it was interrupted; then load."
            )
        if place.is_embedded:
            raise WorkspaceLoading(
                "vectors of entities and relations are being made in this workspace. Wait until that is done, or run "
                "`trueweave vectors make` again if it was interrupted; then load."
            )
        async with self.target.transaction() as tx:
            copies = [name for (name,) in await tx.rows("bulk.copied_to")]
            keeps_history = await history.settings(tx) is not None
            if space := await vectors.space(tx):
                space.check(self.embedder)
        if keeps_history:
            raise ConfigError(
                "this workspace keeps history, which a bulk load would lose: it builds a new index. Add the documents "
                "with `trueweave add`, or erase the former versions with `trueweave history end`."
            )
        if copies:
            raise ConfigError(
                f"this workspace is copied to {', '.join(copies)}, and copies cannot follow a bulk load. Remove them "
                "(`trueweave project remove`), load, and project again."
            )

    async def _prepared(self, made: Workspace) -> Load:
        """Prepare the new workspace, with the resolution and embedding space of the target, and what processes need to
        know."""
        async with self.target.transaction() as tx:
            how = await resolution.settings(tx)
            recipes = {one for one, _ in await record.made_by(tx)}
            chosen: GraphVectors = "kept" if self.settings.graph_vectors else "none"
            graph = await vectors.graph_vectors(tx) if await vectors.space(tx) else chosen
        await resolution.change_settings(made, how)
        async with made.transaction() as tx:
            await record.note_recipes(tx, recipes)
        space: Space | None = None
        kinds: tuple[VectorKind, ...] = ()
        if self.embedder:
            await vectors.change_space(made, self.embedder, graph=graph)
            async with made.transaction() as tx:
                space, kinds = await vectors.wanted(tx)
            assert space, "it was just made"
        recipe = self.recipe.packed()
        given = [] if self.readers is None else ["readers", *self.readers]
        dimensions = str(space and space.dimensions)
        folder = self.spool / key("load", "2", recipe, space.model if space else "", dimensions, *given).hex
        return Load(
            self.settings,
            self.given,
            self.target.database.url,
            self.target.id,
            made.id,
            recipe,
            folder,
            space,
            self.open_models,
            self.readers,
            tuple(kind for kind in kinds if kind != "community"),
        )

    async def _built(
        self, pipeline: Pipeline, made: Workspace, shards: Sequence[Shard | RecordShard], worked: dict[str, Worked]
    ) -> BulkReport:
        """Load the results of these shards into the new workspace."""
        async with made.transaction() as tx:
            how = await resolution.settings(tx)
        former = {name: (entity, count) async for name, entity, count in bulk.live_names(self.target)}
        mentions = sum(one.mentions for one in worked.values())
        keys = [shard.key for shard in shards]
        chunks = sum(one.chunks for one in worked.values())
        if pipeline.load.space:
            await bulk.make_own_tables(made, pipeline.load.space, pipeline.load.kinds, chunks)
        loaded = await asyncio.to_thread(pipeline.load_documents, keys, mentions, how)
        names, entities = await asyncio.to_thread(pipeline.load_graph, loaded, former)
        linked = await asyncio.to_thread(pipeline.link, loaded, chunks)
        await self._tell("Counting words", 0, 1)
        await bulk.count(made)
        await self._tell("Counting words", 1, 1)
        if space := pipeline.load.space:
            await self._tell("Indexing vectors", 0, 1)
            await vectors.index_own_tables(made, space, pipeline.load.kinds)
            await self._tell("Indexing vectors", 1, 1)
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

    async def _tell(self, stage: str, done: int, total: int) -> None:
        await asyncio.to_thread(self.told, stage, done, total)

    async def _switch(self, made: Workspace, before: dict[UUID, str]) -> None:
        """Replace the target by the new workspace, including everything written to the target in the meantime."""
        for left in reversed(range(_ROUNDS)):
            state = await self._state()  # read first: anything written from now on changes it
            before = await self._catch_up(made, before)
            await self._tell("Catching up", 1, 1)
            async with bulk.alone(self.target) as tx:
                await self._tell("Switching", 0, 1)
                is_other = await tx.value("bulk.state") != state
                if is_other and left:
                    continue
                if is_other or await tx.value("bulk.any_unsettled"):
                    await self._catch_up_alone(tx, made.id, before)
                found = await communities.hierarchy(tx)
                await bulk.replace_by(tx, made.id)
            break
        await self._tell("Switching", 1, 1)
        await regroup_as(made, found)

    async def _state(self) -> str:
        async with self.target.transaction(snapshot=True) as tx:
            return str(await tx.value("bulk.state"))

    async def _catch_up(self, made: Workspace, before: dict[UUID, str]) -> dict[UUID, str]:
        """Copy what was written to the target into the new workspace, while others continue to write. Returns the
        versions of documents of the target that the new workspace now has."""
        async with self.target.transaction(snapshot=True, unhurried=True) as tx:
            now, off = await bulk.document_ids(tx), await bulk.off(tx)
            rules, how = await resolution.rules(tx), await resolution.settings(tx)
            found = await communities.hierarchy(tx)
        await self._tell("Catching up", 0, 1)
        new, gone = _difference(before, now)
        arrived = {id_: uri for id_, uri in now.items() if id_ in before}
        for ids in _batches(new):
            async with self.target.transaction(snapshot=True, unhurried=True) as tx:
                rows = await bulk.rows_of(tx, ids)  # documents removed just now are no longer there
            await record.store(made, _without_sources(rows), off=off)
            arrived |= {one.document.id: one.document.uri for one in rows}
        if gone:
            await record.withdraw(made, gone)
        async with made.transaction() as tx:
            await bulk.switch(tx, off)
            await resolution.follow(tx, rules, how)
        settled = await settle(made, self.embedder)
        await link(made)
        if settled.defect:
            raise settled.defect
        await regroup_as(made, found)
        return arrived

    async def _catch_up_alone(self, tx: Transaction, made: int, before: dict[UUID, str]) -> None:
        """The same in the transaction of the switch, while others wait to write. Documents stored here are settled
        after the switch: no model is called while others wait."""
        now, off = await bulk.document_ids(tx, failed=True), await bulk.off(tx)
        rules, how = await resolution.rules(tx), await resolution.settings(tx)
        new, gone = _difference(before, now)
        for ids in _batches(new):
            rows = await bulk.rows_of(tx, ids)
            async with bulk.inside(tx, made) as there:
                await record.store_in(there, _without_sources(rows), off=off)
                await there.run("record.stage")
                await there.run("record.clear_stage")
        async with bulk.inside(tx, made) as there:
            if gone:
                await record.withdraw_in(there, gone)
            await bulk.switch(there, off)
            if await there.value("bulk.any_to_hide"):
                raise DatabaseError(_SWITCHED_OFF)
            await resolution.follow(there, rules, how)
            await ask_for(there, "settle")


async def _arrived(made: Workspace, there: dict[UUID, str]) -> dict[UUID, str]:
    """The versions of documents among these that are in the new workspace, or were replaced there by the load. The
    others were removed before they were read, and may have been added again since."""
    async with made.transaction(snapshot=True, unhurried=True) as tx:
        now = await bulk.document_ids(tx)
    uris = set(now.values())
    return {id_: uri for id_, uri in there.items() if id_ in now or uri in uris}


def _difference(before: dict[UUID, str], now: dict[UUID, str]) -> tuple[list[UUID], list[str]]:
    """The new versions of documents, and the uris of removed documents."""
    uris = set(now.values())
    gone = [uri for id_, uri in before.items() if id_ not in now and uri not in uris]
    return [id_ for id_ in now if id_ not in before], gone


def _without_sources(rows: Sequence[Contribution]) -> list[Contribution]:
    """Documents to store in a workspace that has no sources; the switch adds the sources."""
    return [one._replace(document=one.document._replace(source=None)) for one in rows]


def _batches(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    return (ids[at : at + _DOCUMENTS_IN_A_SHARD] for at in range(0, len(ids), _DOCUMENTS_IN_A_SHARD))
