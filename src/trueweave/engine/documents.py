"""Adding, removing and listing documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.core.access import checked_readers
from trueweave.core.dates import checked_date
from trueweave.core.errors import ConfigError, InvalidArgument, ModelRefused, SpaceMismatch, UnreadableFile
from trueweave.core.events import (
    Added,
    CountingListener,
    Event,
    Found,
    Listener,
    Progress,
    Refused,
    Removed,
    ignore,
    in_run,
    unseen,
)
from trueweave.core.evidence import DocumentDetails, DocumentOutline, EntitySpan, Filter, Passage
from trueweave.core.jobs import DocumentInfo, DocumentOrder, ListedState, SyncPlan
from trueweave.core.model_calls import ExtractionTrial
from trueweave.core.money import Estimate
from trueweave.core.record import Document, NamedFile, Source
from trueweave.core.sources import DocumentSource
from trueweave.core.streams import Stream
from trueweave.core.supervising import running
from trueweave.engine import storing
from trueweave.engine.addresses import AddressRemoval, at_addresses
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.lookup import document_details, found_document
from trueweave.engine.maintenance import AsyncMaintenanceGroup
from trueweave.engine.restricted import refuse_restricted
from trueweave.engine.scheduling import SourceScheduler
from trueweave.engine.source_runs import SourceRuns
from trueweave.engine.watch_runs import WatchRuns
from trueweave.engine.watch_scheduling import WatchScheduler
from trueweave.ingest.connectors import AddressRun
from trueweave.ingest.folders import Folder, gone, matching
from trueweave.ingest.intake import count, incoming, take_back, take_in
from trueweave.ingest.loading import check_present, is_folder
from trueweave.ingest.seen import Seen
from trueweave.ingest.submitted import Submitted, report_others
from trueweave.ingest.worker import Worker, run_until
from trueweave.store.postgres.cluster.temporary_workspaces import drop_past
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.store.postgres.record import erasing, record
from trueweave.store.postgres.search.document_filter import ALL, scope
from trueweave.store.postgres.view import lookup, read
from trueweave.store.postgres.view.seen import lookups
from trueweave.text.uris import Naming, is_address

_LOOKS, _LOOK_AGAIN = 50, 0.2  # seconds between looks
_SWEPT_EVERY = 3600.0  # seconds, by each worker


@own_errors
@refuse_restricted(
    but=(
        "list_documents",
        "count_documents",
        "document",
        "document_mentions",
        "document_outline",
        "passages",
    )
)
class DocumentCalls:
    """The calls of `AsyncTrueweave` about documents."""

    _core: OpenWorkspace
    maintenance: AsyncMaintenanceGroup
    _source_runs: SourceRuns
    _watch_runs: WatchRuns

    async def add(
        self,
        *what: str | Path | Source,
        listener: Listener = ignore,
        prune: bool = False,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> Added:
        """Add files, whole folders, texts, and what is at addresses such as `https://example.org/`. Each becomes a
        document, which is processed according to the settings and indexed. A path that does not exist raises
        UnreadableFile before anything is added.

        Unchanged documents are skipped, so a run that was interrupted, or stopped by an error such as BudgetReached,
        can simply be run again. Other workers of this workspace help, and the result counts what they did with these
        documents. If a setting or a refusal by the model stops the run, documents that no worker has begun are taken
        out of the queue again. With `prune`, documents whose files no longer exist in these folders are removed at the
        end. With `refresh`, unchanged documents are processed again if an earlier version of the extractor or of its
        prompts made them. `secrets` are the credentials of addresses: for each, the environment variable that holds it.

        `readers` are the groups that can read these documents, except those that state their own, in their front matter
        for example; an empty list means everybody. Without it, documents keep the readers that they have. Readers of
        unchanged documents are changed at once, without a call of a model.

        `date` is the date of these documents in ISO 8601, except of those that state their own; it is `date` of their
        metadata. If they are added again without it, they have none.
        """
        return await self._add(
            what, listener, prune=prune, refresh=refresh, secrets=secrets, readers=readers, date=date
        )

    async def plan_sync(
        self,
        *what: str | Path,
        listener: Listener = ignore,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
    ) -> SyncPlan:
        """What `sync` would do. Nothing is changed, no model is called, and nothing is fetched from addresses: what is
        there in another version counts as one changed document."""
        given = None if readers is None else checked_readers(readers)
        folders, recipe = self._folders(what), (await self._core.models()).recipe()
        counted = CountingListener(listener, Added())
        with Seen() as seen:
            files = self._core.files(seen)
            at = at_addresses(self._core, what, recipe, counted, secrets=secrets, readers=given)
            async with at as (inputs, runs):
                local = [one for one in inputs if not isinstance(one, AddressRun)]
                coming = incoming(local, files, seen, given)
                counts = await count(self._core.workspace, coming, recipe, counted)
                left = await gone(self._core.workspace, folders, files.naming, seen)
                for run in runs:
                    left += (await run.gone(self._core.workspace, seen)).uris
                return SyncPlan(
                    counts.new + sum(run.new for run in runs),
                    counts.changed + sum(run.changed for run in runs),
                    counts.unchanged + sum(run.unchanged for run in runs),
                    counted.total.unreadable + counted.total.refused,
                    tuple(left),
                    counts.readers,
                )

    async def sync(
        self,
        *what: str | Path,
        plan: SyncPlan | None = None,
        confirmed: bool = False,
        listener: Listener = ignore,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
    ) -> Added:
        """Bring the index up to date with folders and addresses: add what is new or changed, remove documents that no
        longer exist there.

        With a `plan`, only documents named in it are removed. If more than a fifth of the documents of an address would
        be removed, RemovalNotConfirmed is raised, unless they are in the plan or `confirmed` is true. If the list of an
        address is incomplete, nothing is removed. `secrets` are the credentials of addresses: for each, the environment
        variable that holds it. `readers` are those of documents that do not state theirs, as for `add`.
        """
        return await self._add(
            what, listener, prune=True, plan=plan, confirmed=confirmed, secrets=secrets, readers=readers
        )

    async def matching(self, *what: str | Path, former: bool = False) -> dict[str, list[str]]:
        """For each file (with its rows), folder, pattern or uri, the uris of the documents it matches; with `former`,
        also of those of which only former versions are kept."""
        naming = Naming(self._core.settings.project_folder)
        return await matching(self._core.workspace, [str(one) for one in what], naming, former=former)

    def _folders(self, what: Sequence[str | Path | Source]) -> list[Folder]:
        """The folders among these. Raise an error if there are neither folders nor addresses: without either, nothing
        can be missing."""
        naming = Naming(self._core.settings.project_folder)
        paths = [one for one in what if not isinstance(one, Source) and is_folder(one)]
        if not paths and not any(map(is_address, what)):
            raise ConfigError(
                f"there is no folder {', '.join(map(str, what))}, so removed files cannot be detected. Name a "
                "folder; `trueweave remove` removes documents by name."
            )
        return [Folder(naming.within(naming.uri(path))) for path in paths]

    async def _add(
        self,
        what: Sequence[str | Path | Source],
        listener: Listener,
        *,
        prune: bool,
        plan: SyncPlan | None = None,
        confirmed: bool = False,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
        queue_only: bool = False,
        restricted: bool = False,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> Added:
        """Add documents, and process them here; with `queue_only`, leave that to workers."""
        given, of_date = None if readers is None else checked_readers(readers), checked_date(date)
        folders = self._folders(what) if prune else []
        check_present(one for one in what if not is_address(one))
        counted = CountingListener(listener, Added())
        models = await self._core.models()
        recipe = models.recipe()
        with in_run(counted, is_watched=True), Seen() as seen, closing(Submitted()) as submitted:

            def heard(event: Event) -> None:
                submitted.reported(event)
                counted(event)

            kit = None if queue_only else await self._core.worker_dependencies()
            made = models.made(recipe)  # if anything it needs is missing, it fails here, before anything is added
            worker = await self._core.worker(kit, heard) if kit else None
            files = self._core.files(seen)
            again, room = made.id if refresh else None, self._core.settings.max_storage_bytes
            how: dict[str, Any] = {"again": refresh, "secrets": secrets, "restricted": restricted, "readers": given}
            async with at_addresses(self._core, what, recipe, counted, **how) as (inputs, runs):

                async def record() -> None:
                    for run in runs:
                        await run.record(self._core.workspace)

                removal = AddressRemoval(self._core, runs, seen, plan, confirmed=confirmed)
                if prune:
                    await removal.agreed()  # fails before anything is fetched if it will fail at the end
                counted(Found(0, sum(run.unchanged for run in runs)))
                coming = incoming(inputs, files, seen, given, of_date)
                taking = take_in(self._core.workspace, coming, recipe, counted, submitted, again, room, record)
                try:
                    await (self._work_while(worker, taking) if worker else taking)
                except (ConfigError, ModelRefused, SpaceMismatch):
                    await take_back(self._core.workspace, submitted)
                    raise
                if worker:
                    await report_others(self._core.workspace, submitted, counted)
                if prune:
                    left = await gone(self._core.workspace, folders, files.naming, seen)
                    agreed = left if plan is None else sorted({*left} & {*plan.removed})
                    agreed += await removal.agreed()
                    await self.remove(agreed)
                    await removal.forget(agreed)
                    counted(Removed(tuple(agreed)))
        return counted.total

    async def _sync_source(
        self, source: DocumentSource, listener: Listener, *, confirmed: bool, queue_only: bool
    ) -> Added:
        how: dict[str, Any] = {"prune": True, "secrets": source.secrets, "confirmed": confirmed}
        how |= {"queue_only": queue_only, "restricted": source.restricted, "readers": source.readers}
        return await self._add([source.address], listener, **how)

    async def _work_while(self, worker: Worker, coming: Coroutine[None, None, None]) -> None:
        """Work until everything incoming has been taken in and the queue is empty."""
        no_more = asyncio.Event()
        working = asyncio.create_task(worker.run_until_done(no_more))
        taking = asyncio.create_task(coming)
        try:
            await asyncio.wait((taking, working), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await taking
            no_more.set()
            await working
        finally:
            worker.abandon()
            taking.cancel()
            await asyncio.gather(taking, working, return_exceptions=True)

    async def estimate(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        secrets: Mapping[str, str] | None = None,
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model, and no
        key is needed. A path that does not exist raises UnreadableFile. What has changed at an address is fetched."""
        from trueweave.ingest.estimate import estimate

        check_present(one for one in what if not is_address(one))
        models = (await self._core.models()).unasked()
        recipe = models.recipe()
        made = models.made(recipe).id if refresh else None
        at = at_addresses(self._core, what, recipe, listener, again=refresh, secrets=secrets)
        async with at as (inputs, _):
            with Seen() as seen:
                coming = incoming(inputs, self._core.files(seen).counting_scans(), seen)
                prices = models.prices(recipe)
                return await estimate(self._core.workspace, coming, recipe, prices, listener, made)

    async def try_extract(
        self,
        what: str | Path | Source,
        *,
        chunk: int = 1,
        changes: Mapping[str, Any] | None = None,
        listener: Listener = ignore,
    ) -> ExtractionTrial:
        """Run the extractor on one chunk (counted from 1) of a text, or of the first document in a file. The result has
        the prompts, the replies, what is kept, what is left out and why, and what it cost.

        Nothing is added to the index. Replies are cached as usual. With `changes`, the settings of the workspace are
        changed for this trial alone.
        """
        from trueweave.ingest.trial import TrialLog, try_extract

        source = what if isinstance(what, Source) else await asyncio.to_thread(self._first_document, what)
        async with self._core.with_settings(changes or {}) as core:
            models = await core.models()
            recipe, log = models.recipe(), TrialLog()
            extractor, chunker = models.trial_extractor(recipe, log), models.chunker(recipe)
            with in_run(listener, is_watched=True):
                return await try_extract(source, chunk, recipe, extractor, chunker, log)

    def _first_document(self, path: str | Path) -> Source:
        """The first document in a file; UnreadableFile if it has none."""
        with Seen() as seen:
            problem = "it holds no document"
            for loaded in self._core.files(seen).sources([path]):
                if isinstance(loaded, Source):
                    return loaded
                problem = loaded.reason
        raise UnreadableFile(f"{path} cannot be tried: {problem}. Name another file.")

    async def work(self, listener: Listener = ignore, stop: asyncio.Event | None = None) -> None:
        """Process jobs of this workspace from the queue until `stop` is set, then finish those already begun."""
        with in_run(listener):
            needed = await self._core.workspace.retry_while_down(self._core.worker_dependencies)
            worker = await self._core.worker(needed, listener, patient=True)
            here, liveness = self._core.workspace, await self._core.liveness()
            scheduler = SourceScheduler(
                here.database, lambda _: nullcontext(self._source_runs), listener, liveness, here
            )
            watching = WatchScheduler(here.database, lambda _: nullcontext(self._watch_runs), listener, liveness, here)
            async with (
                running("cleanup", self._sweep_again_and_again),
                scheduler.running(),
                watching.running(),
            ):
                await run_until(worker, stop)

    async def _sweep_again_and_again(self) -> None:
        while True:
            await self.maintenance.clean_up()
            await asyncio.sleep(_SWEPT_EVERY)

    async def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = unseen,
        refused: Callable[[Refused], None] | None = None,
        *,
        readers: Sequence[str] | None = None,
    ) -> int:
        """Store and index documents whose entities and relations are given. Returns how many were new or changed.

        A document replaces any earlier one with the same uri. Documents are read as they are stored, so there may be
        more of them than fit in memory. `progress` is called with the number of documents just done. A document that
        cannot be stored raises an error that names it; if `refused` is given, it is called instead, and the rest are
        still added. `readers` are those of documents that do not state theirs.
        """
        if readers is not None:
            groups = checked_readers(readers)
            documents = (one if one.readers is not None else replace(one, readers=groups) for one in documents)
        return await storing.add_documents(self._core, documents, progress, refused)

    async def remove(self, uris: Sequence[str], *, erase: bool = False) -> int:
        """Remove these documents in one pass, and update the index. Returns how many of them existed.

        Their text is erased everywhere, including from cached model replies and from community reports that may quote
        it; those reports are marked to be written again. If the workspace keeps history, former versions and what was
        made from them stay, unless `erase` is set: then no version of these documents is kept.
        """
        removed = await record.withdraw(self._core.workspace, uris, erase=erase)
        if erase:
            await drop_past(self._core.workspace)
        await self._core.settle()
        await self._erase()
        return removed

    async def switch_off(self, uris: Sequence[str]) -> int:
        """Switch these documents off, and update the index. Returns how many of them were switched on.

        They leave the index as removed documents do, but what was extracted from them stays stored. New versions of
        them are stored and stay switched off. Community reports that may quote them are erased.
        """
        switched = await record.switch(self._core.workspace, uris, off=True)
        await self._core.settle()
        await self._erase()
        return switched

    async def switch_on(self, uris: Sequence[str]) -> int:
        """Switch these documents on again, and update the index. Returns how many of them were switched off. Their
        passages are embedded again; nothing is extracted again."""
        switched = await record.switch(self._core.workspace, uris, off=False)
        await self._core.settle()
        return switched

    async def _erase(self) -> None:
        """Erase what is left of removed documents. If another process is still settling some of it, wait; if that takes
        long, leave it to workers and to `sweep`."""
        for _ in range(_LOOKS):
            await erasing.erase(self._core.workspace)
            async with self._core.workspace.transaction() as tx:
                if not await erasing.any_left(tx):
                    return
            await asyncio.sleep(_LOOK_AGAIN)
            await self._core.settle()

    def documents(self) -> Stream[Document]:
        """All documents as they were stored, in no particular order; without those that are switched off."""
        return self._core.streams.hand_out(self._documents())

    async def _documents(self) -> AsyncGenerator[Document, None]:
        with translated():
            await self._core.check_unrestricted("documents")
            async for page in record.read(self._core.workspace):
                for document in page:
                    yield document

    async def list_documents(
        self,
        limit: int = 50,
        *,
        noted: bool = False,
        after: str | tuple[datetime, str] = "",
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        order: DocumentOrder = "uri",
        since: datetime | None = None,
    ) -> list[DocumentInfo]:
        """The documents that pass a filter, sorted by uri or, with the order "added", the latest first; optionally only
        those with a note, whose uri begins with `prefix`, or that were added `since` a time. By default these are the
        documents in the index; with a `state`, those in this state, and with "any", also those in the queue and those
        that are switched off. For the next page, pass as `after` the last uri of this one, or a pair of its time and
        uri if the latest come first."""
        if after and isinstance(after, str) != (order == "uri"):
            raise InvalidArgument(
                "the next page by uri begins after a uri, and that of the latest documents after a time and a uri. "
                "Pass `after` in the form that the order takes."
            )
        position = (None, after) if isinstance(after, str) else after
        selection = await self._selection(filter, state, prefix, since, noted=noted)
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await read.documents(tx, limit, selection, order, position)

    async def count_documents(
        self,
        *,
        noted: bool = False,
        prefix: str = "",
        filter: Filter | None = None,
        state: ListedState = "",
        since: datetime | None = None,
    ) -> int:
        """The number of documents that `list_documents` lists with these arguments."""
        selection = await self._selection(filter, state, prefix, since, noted=noted)
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await read.count_documents(tx, selection)

    async def _selection(
        self, filter: Filter | None, state: ListedState, prefix: str, since: datetime | None, *, noted: bool
    ) -> read.DocumentSelection:
        if filter and state == "off":
            raise InvalidArgument(
                "documents that are switched off cannot be filtered, as they are not in the index. List those whose "
                "uris begin with a `prefix`."
            )
        passing = await scope(self._core.workspace.read, filter) if filter else ALL
        return read.DocumentSelection(passing.shape, passing.params, state, prefix, since, noted)

    async def document(
        self, uri: str, *, first: int = 0, chunks: int = 50, entities: int = 20, start: int = 0
    ) -> DocumentDetails:
        """The document with this uri: its title and metadata, up to `chunks` of its chunks from number `first` on, with
        their positions, and the entities it mentions most. With `start`, chunks are counted from the one that contains
        this character of the document. Raises UnknownDocument, with similar uris, if there is none."""
        return await document_details(self._core, uri, first, chunks, entities, start)

    async def document_outline(self, uri: str, *, first: int = 0, limit: int = 5000) -> DocumentOutline:
        """The structure of the document with this uri: its length, and up to `limit` of its pages and sections from
        number `first` on. Raises UnknownDocument, with similar uris, if there is none."""
        async with self._core.workspace.transaction() as tx:
            return await lookup.outline(tx, await found_document(tx, uri), first, limit)

    async def document_mentions(
        self, uri: str, *, start: int = 0, end: int | None = None, limit: int = 1000
    ) -> list[EntitySpan]:
        """The spans of the document with this uri that mention entities, in order; optionally only those between the
        characters `start` and `end`. A span that several chunks contain is listed once for each of them. Raises
        UnknownDocument, with similar uris, if there is none."""
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).spans(await found_document(tx, uri), start, end, limit)

    async def passages(self, *ids: UUID) -> list[Passage]:
        """The passages with these ids, such as those that a report cites, in that order. Passages of documents that
        were removed are left out."""
        async with self._core.workspace.transaction() as tx:
            return await lookup.passages(tx, ids)
