"""`trueweave sources`: addresses that the workspace follows."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.ingest_run import IngestRun, tell
from trueweave.cli.inputs import Inputs, named_groups, named_secrets
from trueweave.cli.options import All, Budget, Readers, Secrets, Yes
from trueweave.cli.pricing import is_paid, of_documents, read_budget
from trueweave.cli.render.dates import interval, parse_interval
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.cli.sync import sync_addresses
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.text import Text

    from trueweave.core.sources import DocumentSource

app = typer.Typer(
    no_args_is_help=True,
    help="""Follow addresses: web pages, feeds, repositories, buckets.

    A source is an address with a name and a schedule. `trueweave worker` and `trueweave serve` synchronise it when it
    is due.
    """,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the source.")]


@app.command()
@workspace_command
def add(
    session: CommandSession,
    name: Name,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The address, as for `trueweave sync`.")],
    every: Annotated[
        str | None, typer.Option(metavar="INTERVAL", help="How often workers synchronise it: 30m, 1h, 1d, 1w.")
    ] = None,
    secret: Secrets = [],  # noqa: B006 (read by Typer)
    readers: Readers = None,
) -> None:
    """Add a source, or change its schedule, secrets and readers.

    Without --every, it is synchronised only by `trueweave sources sync`. The values of secrets are not stored: the
    environment variables have to be set wherever the source is synchronised.
    """
    seconds, secrets = _seconds(every), named_secrets(secret)
    groups = named_groups(readers)
    source = session(
        lambda trueweave: trueweave.sources.add(name, address, every_seconds=seconds, secrets=secrets, readers=groups)
    )
    if source.every_seconds:
        said = f"Workers synchronise {name} every {interval(source.every_seconds)}."
        then = next_step("trueweave worker", "runs one; `trueweave serve` also does")
    else:
        said = f"{name} is synchronised on request."
        then = next_step(f"trueweave sources sync {name}", "does that")
    session.reply({"source": source}, said, then)


@app.command("list")
@workspace_command
def list_(session: CommandSession) -> None:
    """List the sources with their schedules and last runs."""
    found = session(lambda trueweave: trueweave.sources.all())
    if not found:
        session.reply({"sources": []}, next_step("trueweave sources add NAME ADDRESS", "there is none yet"))
        return
    session.reply({"sources": found}, _table(found), *_problems(found))


@app.command()
@workspace_command
def sync(
    session: CommandSession,
    name: Name,
    budget: Budget = None,
    show_all: All = False,
    yes: Yes = False,
) -> None:
    """Synchronise a source now: add, update and remove documents, as `trueweave sync` does.

    If more than a fifth of its documents would be removed, you are asked first, or --yes is required. A run on schedule
    stops in that case, and `trueweave sources list` says so.
    """
    session = session.with_workspace_settings()
    models = of_documents(session.settings)
    allowance = read_budget(budget, session.settings, models)
    source = session(lambda trueweave: trueweave.sources.get(name))
    inputs, tally = Inputs((), (source.address,)), IngestTally(show_all=show_all)
    run = IngestRun(session.settings, inputs, allowance, tally, secrets=source.secrets, is_sync=True, source=name)
    sync_addresses(run, is_paid=is_paid(session.settings, models), yes=yes)
    tell(
        session.reply,
        run,
        shlex.join(["trueweave", "sources", "sync", name, *(("--budget", budget) if budget else ())]),
    )


@app.command()
@workspace_command
def remove(
    session: CommandSession,
    name: Name,
    documents: Annotated[
        bool, typer.Option("--documents", help="Also remove its documents, except those that another address has.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Remove a source. Its documents stay in the workspace, unless --documents is given.

    A run of the source is stopped first.
    """
    if documents and not yes:
        if not sys.stdin.isatty():
            raise ConfigError(f"the documents of {name} would be removed. Confirm with --yes.")
        typer.confirm(f"Remove {name} and its documents?", abort=True, err=True)
    removed = session(lambda trueweave: trueweave.sources.remove(name, documents=documents))
    said = f"Removed {name} and {count(removed, 'document')}." if documents else f"Removed {name}. Its documents stay."
    session.reply({"removed": name, "documents": removed}, said)


def _seconds(every: str | None) -> int | None:
    if every is None:
        return None
    if (seconds := parse_interval(every)) is None:
        raise ConfigError(f"{every!r} is not an interval. Write --every as a number of m, h, d or w, as in 30m or 1d.")
    return seconds


def _table(found: Sequence[DocumentSource]) -> TextTable:
    """Sources, one a line."""
    made = table("name", "every", "last run", "result", "next", "~address", styles=("cyan",))
    for one in found:
        ended = _short(one.last_run.ended) if one.last_run else "never"
        every = interval(one.every_seconds) if one.every_seconds else "-"
        made.add_row(one.name, every, ended, _result(one), _next(one), one.address)
    return made


def _result(one: DocumentSource) -> str:
    if one.last_run is None:
        return "-"
    if one.last_run.outcome != "done":
        return one.last_run.outcome
    changes = {"new": one.last_run.new, "removed": one.last_run.removed, "unreadable": one.last_run.unreadable}
    told = [f"{number:,} {what}" for what, number in changes.items() if number]
    return ", ".join([f"{one.last_run.documents:,} read", *told])


def _next(one: DocumentSource) -> str:
    if one.is_being_removed:
        return "being removed"
    if one.is_running:
        return "running"
    if one.due is None:
        return "on request"
    return "due now" if one.due <= datetime.now(UTC) else _short(one.due)


def _short(moment: datetime) -> str:
    """A point in time in local time, without the year: the address has to fit beside it."""
    return f"{moment.astimezone():%d %b %H:%M}"


def _problems(found: Sequence[DocumentSource]) -> list[Text]:
    return [warning(f"{one.name}: {one.last_run.problem}") for one in found if one.last_run and one.last_run.problem]
