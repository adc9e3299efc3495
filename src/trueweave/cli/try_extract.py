"""`trueweave try-extract`: what an extractor makes of one chunk."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Extractor, Json, Model, Workspace
from trueweave.cli.render.console import spinner
from trueweave.cli.render.trial import trial_answer, trial_lines
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings


def try_extract(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file. Of several documents in it, the first.")],
    chunk: Annotated[int, typer.Option(min=1, metavar="N", help="Which of its chunks.")] = 1,
    extractor: Extractor = None,
    model: Model = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Try extraction on one chunk, and show what happens.

    It shows the prompt, the reply, what is kept of it, what is left out and why, and what it cost. Nothing is added to
    the index. Replies are cached as always, so that adding the document afterwards costs nothing for this chunk.

    Exits with 1 when the model's reply cannot be used.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace, extractor=extractor, model=model))
        with spinner("Asking …"):
            found = in_workspace(lambda trueweave: trueweave.try_extract(file, chunk=chunk), settings)
        reply(trial_answer(found), *trial_lines(found, settings.currency))
        if found.problem:
            raise typer.Exit(1)
