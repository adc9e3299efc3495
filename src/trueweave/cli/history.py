"""`trueweave history`: keep former versions of documents, and list them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import Yes
from trueweave.cli.render.dates import local_time
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trueweave.core.history import DocumentVersion, HistoryStatus

app = typer.Typer(
    no_args_is_help=True,
    help="""Keep former versions of documents, to see the index as it was.

    While a workspace keeps history, documents that are replaced or removed stay stored. With --as-of, `ask`, `chat`,
    `compare`, `export` and all look-ups show what was known at a time since then.
    """,
)


@app.command()
@workspace_command
def keep(
    session: CommandSession,
    days: Annotated[
        int | None,
        typer.Option(min=1, help="Delete former versions so many days after they left the index. Default: never."),
    ] = None,
) -> None:
    """Keep what is replaced or removed from now on.

    Former versions count towards the size of the workspace. Run it again with other --days to change how long they are
    kept.
    """
    status = session(lambda trueweave: trueweave.history.keep(days=days))
    session.reply(
        asdict(status),
        *_lines(status),
        next_step("trueweave ask QUESTION --as-of 7d", "asks what was known a week ago"),
    )


@app.command()
@workspace_command
def end(session: CommandSession, yes: Yes = False) -> None:
    """Keep no history any more, and erase all former versions."""
    if not yes and sys.stdin.isatty():
        former = session(lambda trueweave: trueweave.history.status()).versions
        typer.confirm(f"Erase {count(former, 'former version')}?", abort=True, err=True)
    status = session(lambda trueweave: trueweave.history.end())
    session.reply(asdict(status), *_lines(status))


@app.command()
@workspace_command
def status(session: CommandSession) -> None:
    """Show since when history is kept, and how much there is."""
    found = session(lambda trueweave: trueweave.history.status())
    session.reply(asdict(found), *_lines(found))


@app.command()
@workspace_command
def versions(
    session: CommandSession,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="The uri of a document.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to list.")] = 20,
) -> None:
    """List when which versions of a document were in the index, the latest first."""
    found = session(lambda trueweave: trueweave.history.versions(document, limit))
    session.reply({"versions": found}, _table(found))


def _lines(status: HistoryStatus) -> list[RenderableType]:
    kept = status.settings
    if kept is None:
        return ["No history is kept.", next_step("trueweave history keep", "keeps it from now on")]
    how_long = f"for {count(kept.days, 'day')}" if kept.days else "until they are erased"
    return [
        f"History is kept since {local_time(kept.since)}, and former versions {how_long}.",
        f"{count(status.versions, 'former version')}, {status.bytes / 2**20:,.1f} MB of text.",
    ]


def _table(found: list[DocumentVersion]) -> TextTable:
    made = table("in the index since", "until", "~title", styles=("cyan",))
    for one in found:
        made.add_row(local_time(one.since), local_time(one.until) if one.until else "now", one.title)
    return made
