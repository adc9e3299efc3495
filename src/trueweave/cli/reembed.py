"""`trueweave reembed`: embed everything again with another model."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.embedding_run import EmbeddingRun, EstimateOnly, agreed
from trueweave.cli.model_files import fetch_model
from trueweave.cli.options import Budget, DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.pricing import read_budget
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.money import embedding_estimate, receipt_table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.cli.stopping import end_if_stopped

NewModel = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="The embedding model: local/ and a name, provider/model, or onnx/ and a folder."
    ),
]
EmbeddingUrl = Annotated[
    str | None,
    typer.Option("--embedding-url", metavar="URL", help="The address of its server. Default: the one in the settings."),
]


def reembed(
    model: NewModel,
    embedding_url: EmbeddingUrl = None,
    estimate: EstimateOnly = False,
    budget: Budget = None,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Embed everything with another model, and switch to it.

    Questions use the old vectors until everything is embedded; then the old vectors are dropped. You can resume an
    interrupted run by running it again; nothing is paid for twice. The new model is written to the settings file.

    If the model costs money, an estimate is shown first, and on a terminal you are asked to confirm it.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        changes = {"embedding_model": model, **({"embedding_url": embedding_url} if embedding_url else {})}
        settings = settings.given(changes)
        fetch_model(settings)
        allowance = read_budget(budget, settings, [model])
        with spinner("Counting …"):
            wanted = in_workspace(lambda trueweave: trueweave.maintenance.estimate_reembed(model), settings)
        again = _again(model, embedding_url, budget)
        if estimate:
            reply(asdict(wanted), *embedding_estimate(wanted, settings.currency), next_step(again, "does it"))
            return
        if not agreed(wanted, settings, yes):
            raise typer.Exit(1)
        run = EmbeddingRun(
            settings, wanted, allowance, lambda trueweave, more: trueweave.maintenance.reembed(model, more)
        )
        run.work(run.embed)
        answer = {"model": model, "texts": run.done, "present": wanted.present, "receipt": run.receipt}
        text: list[RenderableType] = [f"{count(run.done, 'text')} embedded by {model}, {wanted.present:,} before."]
        if run.receipt:
            text.append(receipt_table(run.receipt, settings.currency))
        end_if_stopped(reply, run, answer, text, again)
        reply(answer, *text, *_kept_in_settings(changes), next_step("trueweave ask QUESTION"))


def _kept_in_settings(changes: dict[str, str]) -> list[RenderableType]:
    """Write the new model to the settings file, or say what to change if that is impossible."""
    from trueweave.core.settings import FILE, change_file, find_file, line, overriding_variable

    said: list[RenderableType] = []
    file = find_file()
    for name, value in changes.items():
        if variable := overriding_variable(name):
            said.append(warning(f"The environment variable {variable} overrides the settings file: set it to {value}."))
        elif file is None:
            how = f"Create one with `trueweave init`, and add this line: {line(name, value)}"
            said.append(warning(f"There is no {FILE} here. {how}"))
        else:
            change_file(file, name, value)
            said.append(f"{file.name} now has {line(name, value)}.")
    return said


def _again(model: str, embedding_url: str | None, budget: str | None) -> str:
    words = ["trueweave", "reembed", model, *(("--embedding-url", embedding_url) if embedding_url else ())]
    return f"{shlex.join(words)}{f' --budget {shlex.quote(budget)}' if budget else ''}"
