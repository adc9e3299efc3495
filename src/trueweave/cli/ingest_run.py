"""One run of `trueweave add` or `trueweave sync`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

from trueweave.cli.inputs import Inputs
from trueweave.cli.model_files import fetch_model
from trueweave.cli.pricing import confirmed, is_priced, of_documents
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.money import Allowance, document_estimate, receipt_table
from trueweave.cli.render.run_summary import (
    NAMED,
    IngestOutcome,
    IngestTally,
    count_line,
    duplicate_lines,
    empty_lines,
    note_lines,
    stopped_line,
)
from trueweave.cli.reply import CommandReply
from trueweave.cli.session import has_vectors, in_workspace
from trueweave.cli.stopping import budgeted, end_if_stopped
from trueweave.core.dates import checked_date, with_date
from trueweave.core.errors import DatabaseError, ModelFilesMissing, TrueweaveError
from trueweave.core.jobs import Note
from trueweave.text.uris import is_address

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.core.jobs import Duplicate, SyncPlan
    from trueweave.core.money import Estimate
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave


class IngestRun:
    """One call of `trueweave add`, or of `trueweave sync`: with its plan for folders, or for addresses, which are
    compared when they are read; or of `trueweave sources sync`, with the name of a source. Large removals have to be
    `confirmed`."""

    def __init__(
        self,
        settings: Settings,
        inputs: Inputs,
        allowance: Allowance | None,
        tally: IngestTally,
        *,
        prune: bool = False,
        refresh: bool = False,
        plan: SyncPlan | None = None,
        secrets: Mapping[str, str] | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
        is_sync: bool = False,
        source: str = "",
    ) -> None:
        self.settings = settings
        self.inputs = inputs
        self.allowance = allowance
        self.refresh = refresh
        self.tally = tally
        self.prune = prune
        self.plan = plan
        self.secrets = secrets
        self.readers = readers
        self.date = checked_date(date)
        self.is_sync = is_sync
        self.source = source
        self.confirmed = False
        self.given_read = 0
        self.given_new = 0
        self.given_duplicates: Sequence[Duplicate] = ()
        self.error: TrueweaveError | None = None
        self.is_interrupted = False
        self.outcome = IngestOutcome(0, 0, (), (), ())
        self.without_vectors = ""  # the reason, if there should be some
        self._since: datetime | None = None
        self._indexing = 0

    @property
    def _currency(self) -> str | None:
        """The currency in which spending is shown; None for tokens."""
        return self.settings.currency if is_priced(self.settings, of_documents(self.settings)) else None

    @property
    def read(self) -> int:
        return self.given_read + self.tally.new + self.tally.unchanged

    @property
    def duplicates(self) -> list[Duplicate]:
        """The documents with the same text as another."""
        return [*self.given_duplicates, *self.outcome.duplicates]

    @property
    def new(self) -> int:
        return self.given_new + self.tally.new

    def fetch_model(self) -> None:
        """Make sure that the embedding model is on this machine. If it cannot be downloaded, a workspace without
        vectors continues without them, and the reply says so; a workspace with vectors cannot continue."""
        try:
            fetch_model(self.settings)
        except ModelFilesMissing as error:
            if has_vectors(self.settings):
                raise
            name = self.settings.embedding_model
            self.without_vectors = (
                f"{error} There are no vectors, so documents are only found by words. The next `trueweave add`, or "
                f"`trueweave reembed {name}`, creates them when the model is available."
            )
            self.settings = self.settings.given({"embedding_model": None})

    def add_given(self, said: Path | None) -> None:
        """Add the documents that come with their entities."""
        from trueweave.cli.render.progress_bar import progress
        from trueweave.ingest.extract import preannotated
        from trueweave.ingest.json_lines import lines
        from trueweave.text.uris import Naming

        self.given_read = sum(1 for path in self.inputs.given for _ in lines(path))

        naming = Naming(self.settings.project_folder)

        async def add_all(trueweave: AsyncTrueweave) -> int:
            with progress("Adding", self.given_read) as done:
                documents = (
                    preannotated.read(path, said, uri=naming.uri(path), refused=self.tally)
                    for path in self.inputs.given
                )
                since = await trueweave.maintenance.clock()
                dated = (
                    replace(one, metadata=with_date(one.metadata, self.date)) for one in chain.from_iterable(documents)
                )
                new = await trueweave.add_documents(dated, done, self.tally, readers=self.readers)
                self.given_duplicates = await trueweave.maintenance.duplicates(since)
                return new

        self.given_new = in_workspace(add_all, self.settings)
        self.given_read -= len(self.tally.refused)

    def add_files(self) -> None:
        """Add the documents that have to be processed. An error that stops the run is kept for the reply."""
        try:
            self.outcome = in_workspace(self._work, self.settings)
        except KeyboardInterrupt:
            self.is_interrupted = True
            if self._since:
                self.outcome = in_workspace(self._look, self.settings)

    async def _work(self, trueweave: AsyncTrueweave) -> IngestOutcome:
        async with budgeted(trueweave, self.allowance):
            return await self._work_within_budget(trueweave)

    async def _work_within_budget(self, trueweave: AsyncTrueweave) -> IngestOutcome:
        from trueweave.cli.run_progress import watching_ingest

        self._since = await trueweave.maintenance.clock()
        self._indexing = (await trueweave.maintenance.ingest_progress()).indexing
        async with watching_ingest(trueweave, self._since, self._currency, self.tally) as watch:
            try:
                if self.source:
                    await trueweave.sources.sync(self.source, confirmed=self.confirmed, listener=self.tally)
                elif self.plan or self.is_sync:
                    await trueweave.sync(
                        *map(str, self.inputs.files),
                        plan=self.plan,
                        confirmed=self.confirmed,
                        listener=self.tally,
                        secrets=self.secrets,
                        readers=self.readers,
                    )
                else:
                    await trueweave.add(
                        *self.inputs.files,
                        listener=self.tally,
                        prune=self.prune,
                        refresh=self.refresh,
                        secrets=self.secrets,
                        readers=self.readers,
                        date=self.date,
                    )
            except DatabaseError:  # the outcome of the run cannot be read
                raise
            except TrueweaveError as error:
                self.error = error
        return await self._look(trueweave, watch.failed)

    async def _look(self, trueweave: AsyncTrueweave, failed: int = 0) -> IngestOutcome:
        assert self._since is not None
        now = await trueweave.maintenance.ingest_progress(self._since)
        from_before = max(self._indexing - now.indexing, 0)  # in the record, and indexed in this run
        return IngestOutcome(
            now.indexed + from_before,
            now.waiting + now.indexing,
            _without_counts(await trueweave.maintenance.notes(self._since)),
            await trueweave.maintenance.failed_documents(limit=1000) if failed else [],
            await trueweave.budget.receipt(self._since),
            await trueweave.maintenance.duplicates(self._since),
        )


def agreed(run: IngestRun, yes: bool) -> bool:
    """Show the cost; returns whether to continue."""
    with spinner("Counting …"):
        found = in_workspace(
            lambda trueweave: trueweave.estimate(*run.inputs.files, refresh=run.refresh, secrets=run.secrets),
            run.settings,
        )
    if not found.documents:
        return True
    say(*document_estimate(found, run.settings.currency))
    if run.allowance and _is_short(run.allowance, found):
        say(warning("The budget is less than the expected cost: the run will stop early."))
    return confirmed(yes)


def _is_short(allowance: Allowance, found: Estimate) -> bool:
    """Whether the expected cost exceeds the budget."""
    if allowance.price is not None:
        return allowance.price < (found.price or 0) + (found.embedding_price or 0) + (found.vision_price or 0)
    return allowance.tokens is not None and allowance.tokens < found.tokens_in + found.tokens_out


def tell(reply: CommandReply, run: IngestRun, again: str) -> None:
    """Reply with the result of a run, and exit with 1 if some input is not in the index."""
    found, tally = run.outcome, run.tally
    answer = {
        "documents": run.read,
        "new": run.new,
        "unchanged": run.read - run.new,
        "added": found.added + run.given_new,
        "removed": tally.removed,
        "waiting": found.waiting,
        **tally.answer(),
        "notes": found.notes,
        "failed_documents": found.failed,
        "receipt": found.receipt,
        "duplicates": run.duplicates,
        "without_vectors": run.without_vectors,
    }
    removed = [f"Removed {count(len(tally.removed), 'document')} no longer found there."] if tally.removed else []
    added = found.added + run.given_new
    is_stopped = run.is_interrupted or run.error is not None
    counted = stopped_line(found) if is_stopped else count_line(run.read, run.new, added)
    words_alone = [warning(run.without_vectors)] if run.without_vectors and run.read else []
    why = tally.lines() or empty_lines(run.inputs.paths) if not (run.read or is_stopped) else tally.lines()
    text = [counted, *removed, *words_alone, *why, *note_lines(found), *duplicate_lines(run.duplicates)]
    if found.receipt:
        text.append(receipt_table(found.receipt, run.settings.currency))
    end_if_stopped(reply, run, answer, text, again)
    reply(answer, *text, _next(run, again))
    if found.failed or tally.is_incomplete:
        raise typer.Exit(1)


def _next(run: IngestRun, again: str) -> RenderableType:
    if run.outcome.failed:
        return next_step(again, "after fixing that, retries them")
    if not run.read and not run.tally.removed:
        if run.tally.is_incomplete:
            return next_step(again, "after fixing that, tries again")
        if run.is_sync or any(map(is_address, run.inputs.files)):
            return next_step(again, "when there is something")
        return next_step("trueweave add --help", "shows what can be added")
    return next_step("trueweave ask QUESTION", "or trueweave ui, to ask in the browser")


def _without_counts(notes: Iterable[Note]) -> list[Note]:
    """Notes on documents, without the number of chunks concerned."""
    found: dict[str, Note] = {}
    for note in notes:
        text = re.sub(r" \([\d,]+ chunks\)$", "", note.text)
        before = found.get(text, Note(text, 0, ()))
        uris = tuple(sorted({*before.uris, *note.uris})[:NAMED])
        found[text] = Note(text, before.documents + note.documents, uris)
    return list(found.values())
