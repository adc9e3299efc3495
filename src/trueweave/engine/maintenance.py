"""Maintenance of a workspace, and reports on its state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from trueweave.core.access import checked_readers
from trueweave.core.checks import HealthCheck
from trueweave.core.errors import ConfigError
from trueweave.core.events import Listener, Progress, ignore, in_run, unseen
from trueweave.core.graph import Verdict
from trueweave.core.jobs import (
    Activity,
    BulkReport,
    Duplicate,
    FailedDocument,
    FailedWork,
    IngestProgress,
    Note,
    OutOfDate,
    Swept,
)
from trueweave.core.model_calls import ModelNames
from trueweave.core.money import EmbeddingEstimate
from trueweave.core.protocols import Embedder, LangChainEmbeddings
from trueweave.core.settings import Settings
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.rebuilding import rebuilt
from trueweave.engine.restricted import refuse_restricted
from trueweave.index.verify import compare_with, moment
from trueweave.store.postgres.cluster import temporary_workspaces
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.queue import failed_work, ingest_progress
from trueweave.store.postgres.queue.queue import ask_for
from trueweave.store.postgres.record import erasing, history, record, resolution, sources
from trueweave.store.postgres.vectors import making, own_tables, vectors
from trueweave.store.postgres.view import communities, digest, read


@own_errors
@refuse_restricted(
    "maintenance",
    but=(
        "models",
        "clock",
    ),
)
class AsyncMaintenanceGroup:
    """The maintenance of a workspace: `trueweave.maintenance`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def settle(self) -> int:
        """Bring the view up to date with the record. Returns the number of document versions that were indexed."""
        return await self._core.settle()

    async def digest(self) -> str:
        """A hash of everything readers can see: equal for indexes with equal contents, whatever their internal ids."""
        return await digest.digest(self._core.workspace)

    async def state(self) -> str:
        """A key that changes whenever documents, rules or vectors do. Unlike a digest it is quick to compute, and
        cannot be compared between databases."""
        async with self._core.workspace.transaction() as tx:
            return str(await tx.value("read.state"))

    async def verify(self, progress: Progress = unseen) -> Verdict:
        """Rebuild the index alongside this one from the documents visible in it, and compare the two.

        Nothing in this workspace is changed, and no model is called: vectors are compared by the hashes of the texts
        they embed. Changes waiting to be indexed are counted, but not indexed.
        """
        await temporary_workspaces.drop_expired(await self._core.workspace.placed())
        before = await moment(self._core.workspace)
        async with rebuilt(self._core, progress) as beside:
            return await compare_with(self._core.workspace, beside.workspace, before)

    async def sweep(self) -> Swept:
        """Delete what is no longer needed: names that no document mentions, data past the retention times in the
        settings, and what removed documents and killed processes left behind. Workers do all of this except the
        names."""
        names = await resolution.sweep(self._core.workspace)
        return replace(await self.clean_up(), names=names)

    async def clean_up(self) -> Swept:
        """Do what workers do every hour: all that `sweep` does except the names. Waits if the database is
        unavailable."""
        return await self._core.workspace.retry_while_down(self._clean_up)

    async def _clean_up(self) -> Swept:
        days = self._core.settings.reply_days, self._core.settings.log_days, self._core.settings.spend_days
        kept = erasing.Retention(*(timedelta(days=number) for number in days))
        await history.expire(self._core.workspace)
        documents = await erasing.erase(self._core.workspace)
        forgotten = await erasing.forget_old(self._core.workspace, kept)
        spaces = await vectors.clear_other_spaces(self._core.workspace)
        await making.remove_left(self._core.workspace)
        await own_tables.drop_left(self._core.workspace)
        return Swept(
            0,
            *forgotten,
            documents,
            spaces,
            await temporary_workspaces.drop_expired(await self._core.workspace.placed()),
        )

    async def drop(self) -> int:
        """Drop the workspace with everything in it. Returns the number of documents it had.

        Waits for transactions that are under way. A process that is adding documents gets UnknownWorkspace afterwards.
        """
        return await read.drop_workspace(self._core.workspace)

    async def estimate_reembed(self, model: str) -> EmbeddingEstimate:
        """What `reembed` would take. The model is asked for its dimensions, but no text is sent to it."""
        from trueweave.engine import model_settings
        from trueweave.ingest.estimate import estimate_embedding

        embedder = await self._opened(model)
        price = model_settings.price(self._core.settings, model)
        return await estimate_embedding(self._core.workspace, embedder, price)

    async def reembed(self, model: str, progress: Progress = unseen) -> None:
        """Embed everything with the model of that name, paid from the budget, then switch to it in one step.

        Like `add`, you can stop it at any time and run it again: finished embeddings are kept. Questions use the old
        vectors until the switch; after it, these are dropped. `progress` is called with the number of texts just
        embedded.
        """
        embedder = await self._opened(model)
        await self._core.change_space(embedder, progress)
        self._core.settings = self._core.settings.model_copy(update={"embedding_model": model})
        if "embedding_model" in self._core.own:
            await self._core.change_settings({"embedding_model": model})

    async def _opened(self, model: str) -> Embedder:
        """The embedding model of that name. The caller is watching, so one that cannot be reached is an error at
        once."""
        with in_run(ignore, is_watched=True):
            return await (await self._core.models()).embedder(model)

    async def change_space(self, embedder: Embedder | LangChainEmbeddings, progress: Progress = unseen) -> None:
        """Embed everything with another model alongside the old vectors, then switch in one step."""
        await self._core.change_space(embedder, progress)

    @property
    def own_settings(self) -> dict[str, Any]:
        """The workspace's own settings, as of when it was opened or they were last changed here."""
        return dict(self._core.own)

    async def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Set settings of this workspace for everyone who uses it, and unset others. Returns the settings now in effect
        here. Other processes see the change when they next open the workspace."""
        return await self._core.change_settings(changes, unset)

    async def clock(self) -> datetime:
        """The time by the database's clock, which `ingest_progress` and receipts use."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.clock(tx)

    async def ingest_progress(self, since: datetime | None = None) -> IngestProgress:
        """How many documents have been added since a time, by any process, and how many are waiting. Waits if the
        database is unavailable."""

        async def look() -> IngestProgress:
            async with self._core.workspace.transaction() as tx:
                return await ingest_progress.ingest_progress(tx, since)

        return await self._core.workspace.retry_while_down(look)

    async def activity(self) -> Activity:
        """The activity of this workspace: documents that wait, how fast they are processed and what they wait for, the
        spending, and the position of the latest change."""
        by_model = bool(self._core.llm or self._core.settings.model_for("report"))
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.activity(tx, await communities.count_queued(tx, by_model=by_model))

    async def models(self) -> ModelNames:
        """The models that this workspace uses."""
        settings = self._core.settings
        chat = {role: name for name, roles in settings.chat_models.items() for role in roles}
        return ModelNames(chat, settings.embedding_model or "", settings.extractor)

    async def checks(self) -> list[HealthCheck]:
        """Check the database and the models of this workspace: the language model answers one short question, and the
        embedding model embeds two words."""
        from trueweave.engine.checks import database_checks, model_checks
        from trueweave.store.postgres.schema.health import health

        database = self._core.workspace.database
        is_direct = database.direct_url != database.url
        found = database_checks(await health(database.direct_url, said_to_be_direct=is_direct))
        async with self._core.workspace.transaction() as tx:
            space = await vectors.space(tx)
        return [*found, *[check async for check in model_checks(self._core.settings, space)]]

    async def duplicates(self, since: datetime) -> list[Duplicate]:
        """The documents added since a time whose text is identical to that of an earlier document."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.duplicates(tx, since)

    async def notes(self, since: datetime, named: int = 3) -> list[Note]:
        """Notes on the documents added since a time, each with the names of the first `named` documents."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_progress.notes(tx, since, named)

    async def out_of_date(self) -> list[OutOfDate]:
        """Documents that were processed with settings other than the current ones, or by another version of the
        extractor; none if the settings name no extractor that can be used here."""
        from trueweave.ingest.outdated import outdated

        async with self._core.workspace.transaction() as tx:
            made = await record.made_by(tx)
        if not made:
            return []
        try:
            models = await self._core.models()
            now = models.made(models.recipe())
        except ConfigError:  # nothing to compare with; adding documents reports what is missing
            return []
        return outdated(made, now)

    async def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. `request_retry` and `retry` try them again."""
        async with self._core.workspace.transaction() as tx:
            return await sources.failed_documents(tx, limit)

    async def failed_work(self, limit: int = 20) -> list[FailedWork]:
        """Work that failed because of a bug in Trueweave, latest first. `retry` tries it again."""
        async with self._core.workspace.transaction() as tx:
            return await failed_work.listed(tx, limit)

    async def retry(self, listener: Listener = ignore) -> int:
        """Try failed documents again, and work that failed because of a bug. Returns how many there were."""
        failed = await self.request_retry()
        await self._core.work_off(listener)
        return failed

    async def request_retry(self, uris: Sequence[str] = ()) -> int:
        """Have workers try failed documents again: those with these uris, or all, and then also work that failed
        because of a bug. Returns how many there were."""
        async with self._core.workspace.transaction() as tx:
            failed = await sources.retry(tx, uris)
            if not uris:
                if reports := await failed_work.forget(tx, "report"):
                    await ask_for(tx, "report")
                failed += reports + await failed_work.forget(tx)
                await ask_for(tx, "settle")
        return failed

    async def bulk_load(
        self,
        paths: Sequence[str],
        spool: Path,
        *,
        ray_address: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        gpus: float = 0,
        readers: Sequence[str] | None = None,
    ) -> BulkReport:
        """Load files, folders and addresses such as s3://bucket/folder on a Ray cluster; without an address, on a
        cluster on this machine. Afterwards the workspace has a new internal number: open it again.

        The index is built alongside this workspace, including the documents already in it, and replaces it at the end
        in one transaction; until then none of it is visible. `spool` is a folder shared by all nodes, in which finished
        work is kept, so that a load that was stopped resumes when it is started again. `progress` is called with the
        name of a stage, the number of units done, and their total. `gpus` is the number of GPUs for each process that
        extracts and embeds. An embedder, extractor or chunker that this workspace was opened with is pickled and sent
        to the processes. `readers` are the groups that can read what is loaded, except documents that state their own
        and those that were given readers before.
        """
        given = None if readers is None else checked_readers(readers)
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
                told=progress or untold,
                gpus=gpus,
                readers=given,
            )
        finally:
            await asyncio.to_thread(flow.close)
        await self._core.settle_in(made)
        return report
