"""`trueweave vectors`: make and drop the vectors of entities and relations."""

from __future__ import annotations

import shlex
from dataclasses import asdict

import typer
from rich.console import RenderableType

from trueweave.cli.embedding_run import EmbeddingRun, EstimateOnly, agreed
from trueweave.cli.model_files import fetch_model
from trueweave.cli.options import Budget, DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.pricing import read_budget
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.money import embedding_estimate, receipt_table
from trueweave.cli.reply import replying
from trueweave.cli.session import CommandSession, in_force, in_workspace, load_settings, workspace_command
from trueweave.cli.stopping import end_if_stopped

app = typer.Typer(
    no_args_is_help=True,
    help="""Vectors of entities and relations, which some methods need.

    Adding documents embeds their chunks. Entities and relations are embedded too if the setting graph_vectors is true
    when the workspace gets its first vectors, or after `trueweave vectors make`. `trueweave methods` lists the methods
    that cannot be used without them.
    """,
)


@app.command()
def make(
    estimate: EstimateOnly = False,
    budget: Budget = None,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Embed all entities and relations, now and when documents are added.

    Documents can be added meanwhile. You can resume an interrupted run by running it again; nothing is paid for twice.

    If the model costs money, an estimate is shown first, and on a terminal you are asked to confirm it.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        fetch_model(settings)
        allowance = read_budget(budget, settings, [settings.embedding_model or ""])
        with spinner("Counting …"):
            wanted = in_workspace(lambda trueweave: trueweave.vectors.estimate(), settings)
        again = f"trueweave vectors make{f' --budget {shlex.quote(budget)}' if budget else ''}"
        if estimate:
            reply(asdict(wanted), *embedding_estimate(wanted, settings.currency), next_step(again, "does it"))
            return
        if not agreed(wanted, settings, yes):
            raise typer.Exit(1)
        run = EmbeddingRun(settings, wanted, allowance, lambda trueweave, more: trueweave.vectors.make(more))
        run.work(run.embed)
        answer = {"model": wanted.model, "texts": run.done, "present": wanted.present, "receipt": run.receipt}
        text: list[RenderableType] = [f"{count(run.done, 'text')} embedded by {wanted.model}."]
        if run.receipt:
            text.append(receipt_table(run.receipt, settings.currency))
        end_if_stopped(reply, run, answer, text, again)
        reply(answer, *text, next_step("trueweave methods", "lists the methods that can be used"))


@app.command()
@workspace_command
def drop(session: CommandSession) -> None:
    """Delete the vectors of entities and relations, and embed no more of them.

    Methods that need them cannot be used until `trueweave vectors make` makes them again.
    """
    session(lambda trueweave: trueweave.vectors.drop())
    session.reply(
        {"graph_vectors": "none"},
        "Deleted the vectors of entities and relations.",
        next_step("trueweave vectors make", "makes them again"),
    )
