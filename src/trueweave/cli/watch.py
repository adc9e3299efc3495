"""`trueweave watch`: questions that are asked again when the index has changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import AsGroups
from trueweave.cli.questions import Documents, FilterText, Where, read_filter, read_question
from trueweave.cli.render.dates import local_time
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.render.watches import alert_lines
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.watches import TOKENS_PER_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trueweave.cli.reply import CommandReply
    from trueweave.core.watches import Watch
    from trueweave.engine.trueweave import AsyncTrueweave

app = typer.Typer(
    no_args_is_help=True,
    help="""Be alerted when the evidence for a question changes.

    A watch is a question that `trueweave worker` and `trueweave serve` ask again whenever the index has changed. If
    its first passages are others than before, there is an alert, which can be sent to a webhook.
    """,
)

_LOOK_AGAIN = 2.0  # seconds

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the watch.")]


@app.command()
@workspace_command
def add(
    session: CommandSession,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")],
    name: Annotated[str, typer.Option(help="The name of the watch. Default: made from the question.")] = "",
    method: Annotated[str, typer.Option(help="The method. Default: that of the settings.")] = "",
    passages: Annotated[int, typer.Option(min=1, max=50, help="How many of the first passages to compare.")] = 5,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    as_group: AsGroups = None,
    answer: Annotated[bool, typer.Option("--answer", help="Let the language model answer when they change.")] = False,
    tokens_per_day: Annotated[int, typer.Option(min=0, help="Tokens for these answers on one day.")] = TOKENS_PER_DAY,
    webhook: Annotated[str, typer.Option(metavar="URL", help="Where alerts are sent to.")] = "",
) -> None:
    """Ask a question now, and again whenever the index has changed.

    Alerts to a webhook are signed with the key of the setting signing_key_file.
    """
    passing, text = read_filter(document, where, filter, session.settings.project_folder), read_question(question)
    made = session(
        lambda trueweave: trueweave.watches.add(
            text,
            name=name,
            method=method,
            filter=passing,
            groups=as_group,
            passages=passages,
            answers=answer,
            tokens_per_day=tokens_per_day,
            webhook=webhook,
        )
    )
    said = f"{made.name} is asked whenever the index has changed, by workers and `trueweave watch check`."
    session.reply({"watch": made}, said, next_step(f"trueweave watch alerts {made.name}", "shows what it finds"))


@app.command("list")
@workspace_command
def list_(session: CommandSession) -> None:
    """List the watches, with the number of their alerts."""
    found = session(lambda trueweave: trueweave.watches.all())
    if not found:
        session.reply({"watches": []}, next_step("trueweave watch add QUESTION", "there is none yet"))
        return
    problems = [warning(f"{one.name}: {one.problem}") for one in found if one.problem]
    session.reply({"watches": found}, _table(found), *problems)


@app.command()
@workspace_command
def alerts(
    session: CommandSession,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only alerts of this watch.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show, of the latest.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with new alerts, until Ctrl-C.")] = False,
) -> None:
    """Show alerts with their passages, the latest last.

    The first of each watch has what it found when it was added. Removed passages have a text if history is kept.
    """
    found = session(lambda trueweave: trueweave.watches.alerts(name, limit=limit))
    session.reply({"alerts": found}, *alert_lines(found))
    if follow:
        session(lambda trueweave: _follow(trueweave, session.reply, name, found[-1].id if found else 0))


@app.command()
@workspace_command
def check(session: CommandSession) -> None:
    """Ask all watches now whose index has changed, and send the alerts that wait."""

    async def act(trueweave: AsyncTrueweave) -> tuple[int, list[Watch], int]:
        before = await trueweave.watches.alerts(limit=1)
        asked = await trueweave.watches.check()
        new = await trueweave.watches.alerts(after=before[-1].id if before else 0, limit=1000)
        return asked, await trueweave.watches.all(), len(new)

    asked, found, new = session(act)
    problems = [warning(f"{one.name}: {one.problem}") for one in found if one.problem]
    said = f"Asked {count(asked, 'watch')}: {count(new, 'alert')}." if asked else "The index has not changed."
    then = [next_step("trueweave watch alerts", "shows them")] if new else []
    session.reply({"asked": asked, "alerts": new}, said, *problems, *then)


@app.command()
@workspace_command
def remove(session: CommandSession, name: Name) -> None:
    """Remove a watch and its alerts."""
    session(lambda trueweave: trueweave.watches.remove(name))
    session.reply({"removed": name}, f"Removed {name} and its alerts.")


async def _follow(trueweave: AsyncTrueweave, reply: CommandReply, name: str | None, after: int) -> None:
    while True:
        await asyncio.sleep(_LOOK_AGAIN)
        if found := await trueweave.watches.alerts(name, after=after):
            after = found[-1].id
            reply({"alerts": found}, "", *alert_lines(found))


def _table(found: Sequence[Watch]) -> TextTable:
    """Watches, one a line."""
    made = table("name", ">alerts", "last asked", "~question", styles=("cyan",))
    for one in found:
        made.add_row(one.name, f"{one.alerts:,}", local_time(one.asked), one.question)
    return made
