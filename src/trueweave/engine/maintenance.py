"""What keeps a workspace in order, and shows how it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError
from trueweave.core.events import Listener, Progress, ignore, in_run, unseen
from trueweave.core.graph import Verdict
from trueweave.core.jobs import (
    BulkReport,
    Duplicate,
    FailedDocument,
    FailedWork,
    IngestProgress,
    Note,
    OutOfDate,
    Swept,
)
from trueweave.core.money import EmbeddingEstimate
from trueweave.core.protocols import Embedder
from trueweave.core.settings import Settings
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.rebuilding import rebuilt
from trueweave.index.verify import compare_with, moment
from trueweave.store.postgres.cluster import temporary_workspaces
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.queue import failed_work, ingest_progress
from trueweave.store.postgres.queue.queue import ask_for
from trueweave.store.postgres.record import erasing, record, resolution, sources
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.store.postgres.view import digest, read


@own_errors
class AsyncMaintenanceGroup:
    """The upkeep of a workspace: `trueweave.maintenance`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def settle(self) -> int:
        """Bring the view up to date with all that is stored; how many versions of documents were settled."""
        return await self._core.settle()

    async def digest(self) -> str:
        """A hash of all that readers can see: equal digests, equal indexes, whatever the ids inside."""
        return await digest.digest(self._core.workspace)

    async def state(self) -> str:
        """A key that changes whenever documents, rules or vectors do. Unlike a digest it is quick, and says nothing of
        another database."""
        async with self._core.workspace.transaction() as tx:
            return str(await tx.value("read.state"))

    async def verify(self, progress: Progress = unseen) -> Verdict:
        """Build the index anew beside this one, from the documents that it shows, and compare.

        Nothing in this workspace is changed, and no model is asked: what the vectors stand for is compared by the
        hashes of their texts. What waits to be settled is counted, not settled.
        """
        await temporary_workspaces.drop_expired(await self._core.workspace.placed())
        before = await moment(self._core.workspace)
        async with rebuilt(self._core, progress) as beside:
            return await compare_with(self._core.workspace, beside.workspace, before)

    async def sweep(self) -> Swept:
        """Take away what nobody needs any longer: names that no document mentions, what has been kept for as long as
        the settings say, and what removed documents and killed processes left. Workers do all but the names."""
        names = await resolution.sweep(self._core.workspace)
        return replace(await self.clean_up(), names=names)

    async def clean_up(self) -> Swept:
        """What workers do every hour: all that `sweep` does, but for the names. A database that is away is waited
        for."""
        return await self._core.workspace.retry_while_down(self._clean_up)

    async def _clean_up(self) -> Swept:
        days = self._core.settings.reply_days, self._core.settings.log_days, self._core.settings.spend_days
        kept = erasing.Retention(*(timedelta(days=number) for number in days))
        documents = await erasing.erase(self._core.workspace)
        forgotten = await erasing.forget_old(self._core.workspace, kept)
        spaces = await vectors.clear_other_spaces(self._core.workspace)
        await own_tables.drop_left(self._core.workspace)
        return Swept(
            0,
            *forgotten,
            documents,
            spaces,
            await temporary_workspaces.drop_expired(await self._core.workspace.placed()),
        )

    async def drop(self) -> int:
        """Take the workspace away, with all that is in it; how many documents there were.

        Whoever is adding documents is waited for where a transaction is under way, and gets UnknownWorkspace after it.
        """
        return await read.drop_workspace(self._core.workspace)

    async def estimate_reembed(self, model: str) -> EmbeddingEstimate:
        """What `reembed` would take. The model is asked for its dimensions, and no text is sent to it."""
        from trueweave.engine import model_settings
        from trueweave.ingest.estimate import estimate_embedding

        embedder = await self._opened(model)
        price = model_settings.price(self._core.settings, model)
        return await estimate_embedding(self._core.workspace, embedder, price)

    async def reembed(self, model: str, progress: Progress = unseen) -> None:
        """Embed everything with the model of that name, paid from the budget, then switch to it at once.

        Like `add` it may be stopped at any moment and run again: what is embedded is kept. Questions are answered by
        the old vectors until then, and those are dropped afterwards. `progress` is told how many more texts are done.
        """
        embedder = await self._opened(model)
        await self._core.change_space(embedder, progress)
        self._core.settings = self._core.settings.model_copy(update={"embedding_model": model})
        if "embedding_model" in self._core.own:
            await self._core.change_settings({"embedding_model": model})

    async def _opened(self, model: str) -> Embedder:
        """The embedding model of that name. Its caller watches, so one that cannot be reached is an error at once."""
        with in_run(ignore, is_watched=True):
            return await (await self._core.models()).embedder(model)

    async def change_space(self, embedder: Embedder, progress: Progress = unseen) -> None:
        """Embed everything with another model beside the old vectors, then switch to it at once."""
        await self._core.change_space(embedder, progress)

    @property
    def own_settings(self) -> dict[str, Any]:
        """The settings that this workspace has of its own, as they were when it was opened or last changed here."""
        return dict(self._core.own)

    async def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Give this workspace settings of its own, for all who work in it, and take others back; those in force here
        now. Other processes see them when they next open the workspace."""
        return await self._core.change_settings(changes, unset)

    async def clock(self) -> datetime:
        """The time by the database's clock, by which `ingest_progress` and receipts count."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.clock(tx)

    async def ingest_progress(self, since: datetime | None = None) -> IngestProgress:
        """How many documents came in since then, whoever worked them, and how many wait. A database that is away is
        waited for."""

        async def look() -> IngestProgress:
            async with self._core.workspace.transaction() as tx:
                return await ingest_progress.ingest_progress(tx, since)

        return await self._core.workspace.retry_while_down(look)

    async def duplicates(self, since: datetime) -> list[Duplicate]:
        """The documents that came in since then and have the very text of one that was there before."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.duplicates(tx, since)

    async def notes(self, since: datetime, named: int = 3) -> list[Note]:
        """What was odd about the documents that came in since then, with the names of the first so many."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.notes(tx, since, named)

    async def out_of_date(self) -> list[OutOfDate]:
        """Documents that were worked by other settings than those of now, or by another version of the extractor; none
        where the settings name no extractor that could be used here."""
        from trueweave.ingest.outdated import outdated

        async with self._core.workspace.transaction() as tx:
            made = await record.made_by(tx)
        if not made:
            return []
        try:
            models = await self._core.models()
            now = models.made(models.recipe())
        except ConfigError:  # there is nothing to compare with; whoever adds is told what is missing
            return []
        return outdated(made, now)

    async def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. Adding one again tries it again."""
        async with self._core.workspace.transaction() as tx:
            return await sources.failed_documents(tx, limit)

    async def failed_work(self, limit: int = 20) -> list[FailedWork]:
        """Work that failed by a bug of Trueweave, the latest first. `retry` tries it again."""
        async with self._core.workspace.transaction() as tx:
            return await failed_work.listed(tx, limit)

    async def retry(self, listener: Listener = ignore) -> int:
        """Try again what failed: failed documents, and work that failed by a bug; how much that was."""
        async with self._core.workspace.transaction() as tx:
            failed = await failed_work.forget(tx) + await sources.retry(tx)
            await ask_for(tx, "settle")
        await self._core.work_off(listener)
        return failed

    async def bulk_load(
        self,
        paths: Sequence[str],
        spool: Path,
        *,
        ray_address: str | None = None,
        told: Callable[[str, int, int], None] | None = None,
        gpus: float = 0,
    ) -> BulkReport:
        """Load files, folders and addresses such as s3://bucket/folder on a Ray cluster; on one of this machine where
        no address is given. Afterwards the workspace has another number: open it again.

        The index is built beside this workspace, together with the documents that are here, and takes its place at the
        end in one transaction; until then nothing is seen of it. `spool` is a folder that all nodes share, in which
        what was made is kept, so that a load that was stopped goes on from there when it is started again. `told` is
        called with the name of a stage, and how many of how many units are done. `gpus` is how many each process that
        extracts and embeds takes. An embedder, extractor or chunker that this was opened with is sent to the processes
        by pickle.
        """
        from trueweave.bulk.ray_flow import RayFlow
        from trueweave.bulk.run import bulk_load, untold
        from trueweave.engine.workspace_models import models_of_load

        models = await self._core.models()
        flow = RayFlow(ray_address)
        try:
            report, made = await bulk_load(
                self._core.workspace,
                paths,
                spool,
                flow,
                settings=self._core.settings,
                recipe=models.recipe(),
                embedder=await self._core.embedder(),
                open_models=models_of_load,
                given=models.given,
                told=told or untold,
                gpus=gpus,
            )
        finally:
            await asyncio.to_thread(flow.close)
        await self._core.settle_in(made)
        return report
