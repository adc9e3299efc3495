"""`trueweave add`: documents come in."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli import estimate as estimating
from trueweave.cli.amounts import Allowance, parse_allowance
from trueweave.cli.inputs import Inputs, sort_out
from trueweave.cli.money import receipt_table
from trueweave.cli.options import (
    All,
    Budget,
    DatabaseUrl,
    Extractor,
    FollowLinks,
    Json,
    Model,
    Paths,
    Refresh,
    Uri,
    Workspace,
    Yes,
)
from trueweave.cli.output import Reply, count, marked, next_step, progress, replying, say, spinning
from trueweave.cli.pricing import check_priced, is_paid, is_priced, of_documents
from trueweave.cli.progress_bar import watched
from trueweave.cli.run_summary import NAMED, Grouped, Tally, grouped, some
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.cli.stopping import end_if_stopped
from trueweave.errors import DatabaseError, TrueweaveError
from trueweave.types import Note

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.config import Settings
    from trueweave.engine import AsyncTrueweave
    from trueweave.types import Duplicate, Estimate, FailedDocument, Spent, SyncPlan

Prune = Annotated[
    bool, typer.Option("--prune", help="Remove documents whose files are gone from the folders that are added.")
]
Said = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="JSON lines with entities and triples, by the same ids."
    ),
]


def add(
    paths: Paths,
    uri: Uri = None,
    budget: Budget = None,
    extractor: Extractor = None,
    model: Model = None,
    said: Said = None,
    follow_links: FollowLinks = False,
    prune: Prune = False,
    show_all: All = False,
    refresh: Refresh = False,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Add documents: files, folders, patterns, or text on stdin.

    Each file is a document, each line of a .jsonl file and each row of a .csv file is one. A file is known by its path
    from the folder of trueweave.toml, and a row by that and its id: adding it again replaces it, and what has not
    changed costs nothing. So a run that was stopped is simply run again.

    Where a model has to be paid, what it will cost is shown first, and asked about on a terminal.

    Of JSON lines that say themselves what is in their text, that is taken, and no model is asked:

    \b
    {"id": "1", "text": "Ada Lovelace lived in London.",
     "entities": ["Ada Lovelace", {"name": "London", "type": "place"}],
     "triples": [["Ada Lovelace", "lived in", "London"]]}

    Exits with 0 when all that can be read has come in, with 1 when documents were refused or failed, the run was
    stopped, or nothing could be read.
    """
    with replying(json) as reply:
        settings = in_force(
            load_settings(database_url, workspace, extractor=extractor, model=model, follow_links=follow_links)
        )
        allowance = parse_allowance(budget) if budget else None
        inputs = sort_out(paths, uri, said)
        if inputs.files and allowance and allowance.price is not None:
            check_priced(settings, of_documents(settings))
        run = Run(settings, inputs, allowance, Tally(show_all=show_all), prune=prune, refresh=refresh)
        if inputs.files and is_paid(settings, of_documents(settings)) and not agreed(run, yes):
            raise typer.Exit(1)
        if inputs.given:
            run.add_given(said)
        if inputs.files:
            run.add_files()
        tell(reply, run, _again(paths, uri, budget, refresh=refresh))


@dataclass(frozen=True)
class _Outcome:
    """What there is to tell when a run is over, however it ended."""

    came_in: int
    waiting: int
    notes: Sequence[Note]
    failed: Sequence[FailedDocument]
    receipt: Sequence[Spent]
    duplicates: Sequence[Duplicate] = ()


class Run:
    """One call of `trueweave add`, or of `trueweave sync` with its plan."""

    def __init__(
        self,
        settings: Settings,
        inputs: Inputs,
        allowance: Allowance | None,
        tally: Tally,
        *,
        prune: bool = False,
        refresh: bool = False,
        plan: SyncPlan | None = None,
    ) -> None:
        self.settings = settings
        self.inputs = inputs
        self.allowance = allowance
        self.refresh = refresh
        self.tally = tally
        self.prune = prune
        self.plan = plan
        self.given_read = 0
        self.given_new = 0
        self.given_duplicates: Sequence[Duplicate] = ()
        self.error: TrueweaveError | None = None
        self.is_interrupted = False
        self.outcome = _Outcome(0, 0, (), (), ())
        self._since: datetime | None = None
        self._unsettled = 0

    @property
    def _currency(self) -> str | None:
        """What is spent is told in this currency; in tokens, if there is none."""
        return self.settings.currency if is_priced(self.settings, of_documents(self.settings)) else None

    @property
    def read(self) -> int:
        return self.given_read + self.tally.new + self.tally.unchanged

    @property
    def duplicates(self) -> list[Duplicate]:
        """The documents that came in with the very text of another."""
        return [*self.given_duplicates, *self.outcome.duplicates]

    @property
    def new(self) -> int:
        return self.given_new + self.tally.new

    def add_given(self, said: Path | None) -> None:
        """Add what comes with its entities."""
        from trueweave.extract import preannotated
        from trueweave.text.json_lines import lines
        from trueweave.text.uris import Naming

        self.given_read = sum(1 for path in self.inputs.given for _ in lines(path))

        naming = Naming(self.settings.project_folder)

        async def add_all(trueweave: AsyncTrueweave) -> int:
            with progress("Adding", self.given_read) as done:
                documents = (
                    preannotated.read(path, said, uri=naming.uri(path), refused=self.tally)
                    for path in self.inputs.given
                )
                since = await trueweave.clock()
                new = await trueweave.add_documents(chain.from_iterable(documents), done, self.tally)
                self.given_duplicates = await trueweave.duplicates(since)
                return new

        self.given_new = in_workspace(add_all, self.settings)
        self.given_read -= len(self.tally.refused)

    def add_files(self) -> None:
        """Add what has to be worked. What stops it is kept to be told."""
        try:
            self.outcome = in_workspace(self._work, self.settings)
        except KeyboardInterrupt:
            self.is_interrupted = True
            if self._since:
                self.outcome = in_workspace(self._look, self.settings)

    async def _work(self, trueweave: AsyncTrueweave) -> _Outcome:
        if self.allowance:
            await trueweave.allow(price=self.allowance.price, tokens=self.allowance.tokens)
        self._since = await trueweave.clock()
        self._unsettled = (await trueweave.ingest_progress()).unsettled
        async with watched(trueweave, self._since, self._currency, self.tally) as watch:
            try:
                if self.plan:
                    await trueweave.sync(*map(str, self.inputs.files), plan=self.plan, listener=self.tally)
                else:
                    await trueweave.add(*self.inputs.files, listener=self.tally, prune=self.prune, refresh=self.refresh)
            except DatabaseError:  # what the run has come to cannot be looked up
                raise
            except TrueweaveError as error:
                self.error = error
        return await self._look(trueweave, watch.failed)

    async def _look(self, trueweave: AsyncTrueweave, failed: int = 0) -> _Outcome:
        assert self._since is not None
        now = await trueweave.ingest_progress(self._since)
        from_before = max(self._unsettled - now.unsettled, 0)  # in the record, and settled in this run
        return _Outcome(
            now.came_in + from_before,
            now.waiting + now.unsettled,
            _without_counts(await trueweave.notes(self._since)),
            await trueweave.failed_documents(limit=1000) if failed else [],
            await trueweave.receipt(self._since),
            await trueweave.duplicates(self._since),
        )


def agreed(run: Run, yes: bool) -> bool:
    """Show what it will cost; whether to go on."""
    with spinning("Counting …"):
        found = in_workspace(lambda trueweave: trueweave.estimate(*run.inputs.files, refresh=run.refresh), run.settings)
    if not found.documents:
        return True
    say(*estimating.shown(found, run.settings.currency))
    if run.allowance and _is_short(run.allowance, found):
        say(marked("The budget is less than expected: the run will stop on the way."))
    return yes or not sys.stdin.isatty() or typer.confirm("Go on?", err=True)


def _is_short(allowance: Allowance, found: Estimate) -> bool:
    """Whether more will be needed, as far as anybody can tell."""
    if allowance.price is not None:
        return allowance.price < (found.price or 0) + (found.embedding_price or 0)
    return allowance.tokens is not None and allowance.tokens < found.tokens_in + found.tokens_out


def tell(reply: Reply, run: Run, again: str) -> None:
    found, tally = run.outcome, run.tally
    answer = {
        "documents": run.read,
        "new": run.new,
        "unchanged": run.read - run.new,
        "came_in": found.came_in + run.given_new,
        "removed": tally.removed,
        "waiting": found.waiting,
        **tally.answer(),
        "notes": found.notes,
        "failed_documents": found.failed,
        "receipt": found.receipt,
        "duplicates": run.duplicates,
    }
    removed = [f"{count(len(tally.removed), 'document')} removed, as their files are gone."] if tally.removed else []
    text = [*_counts(run), *removed, *tally.lines(), *_oddities(found), *_duplicates(run)]
    if found.receipt:
        text.append(receipt_table(found.receipt, run.settings.currency))
    end_if_stopped(reply, run, answer, text, again)
    reply(answer, *text, _next(run, again))
    if found.failed or tally.refused or (tally.unreadable and not run.read):
        raise typer.Exit(1)


def _counts(run: Run) -> list[RenderableType]:
    found = run.outcome
    if run.is_interrupted or run.error:
        return [f"{count(found.came_in, 'document')} came in, {found.waiting:,} wait."]
    told = f"{count(run.read, 'document')} read, {run.new:,} new or changed"
    came_in = found.came_in + run.given_new
    return [f"{told}." if came_in == run.new else f"{told}; {came_in:,} came in."]


def _oddities(found: _Outcome) -> list[RenderableType]:
    notes = [Grouped(note.text, note.documents, note.uris) for note in found.notes]
    text = grouped(notes, "document", "with a note", "trueweave documents --notes shows them")
    if found.failed:
        told = [f"{one.uri}: {one.error}" for one in found.failed]
        text += some(told, "document", "failed", "trueweave status --failed shows them")
    return text


def _duplicates(run: Run) -> list[RenderableType]:
    told = [f"{one.uri} equals {one.equals}" for one in run.duplicates]
    return some(told, "document", "with the text of another", "--json shows them") if told else []


def _next(run: Run, again: str) -> RenderableType:
    if run.outcome.failed:
        return next_step(again, "once that is fixed; it tries them again")
    if not run.read and not run.tally.removed:
        return next_step("trueweave add --help", "shows what can be added")
    return next_step("trueweave entities", "shows what they speak of most")


def _again(paths: Sequence[str], uri: str | None, budget: str | None, *, refresh: bool) -> str:
    """The command that goes on, with as much to spend again."""
    words = ["trueweave", "add", *paths, *(("--uri", uri) if uri else ()), *(("--refresh",) if refresh else ())]
    return f"{shlex.join(words)}{f' --budget {shlex.quote(budget)}' if budget else ''}"


def _without_counts(notes: Iterable[Note]) -> list[Note]:
    """Notes of documents, without the number of chunks that each is about."""
    found: dict[str, Note] = {}
    for note in notes:
        text = re.sub(r" \([\d,]+ chunks\)$", "", note.text)
        before = found.get(text, Note(text, 0, ()))
        uris = tuple(sorted({*before.uris, *note.uris})[:NAMED])
        found[text] = Note(text, before.documents + note.documents, uris)
    return list(found.values())
