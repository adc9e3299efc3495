"""`trueweave bench`: measure methods on questions, generate questions, and list stored runs."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from trueweave.cli.bench.generate import generate
from trueweave.cli.bench.run import run
from trueweave.cli.bench.saved import saved

_DEFAULT = "run"


class _WithDefault(TyperGroup):
    """A group whose command `run` need not be named."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_WithDefault,
    no_args_is_help=True,
    help="""Measure methods on questions with known supporting passages.

    `trueweave bench questions.jsonl` is short for `trueweave bench run questions.jsonl`.
    """,
)
app.command()(run)
app.command()(generate)
app.command()(saved)
