"""`trueweave methods`: list the methods and their parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step, warning
from trueweave.cli.render.methods import method_example, method_lines, method_table
from trueweave.cli.reply import replying


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this one, with its parameters.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the parameters of all.")] = False,
    json: Json = False,
) -> None:
    """List the methods that find what answers a question.

    No database is needed. A method of your own is one more entry point, in the group trueweave.methods.
    """
    from trueweave.retrieval.methods import registry

    with replying(json) as reply:
        found = [registry.describe(one) for one in ([name] if name else registry.names())]
        if name or verbose:
            text = [part for one in found for part in method_lines(one)]
        else:
            text = [method_table(found), "", next_step("trueweave methods NAME", "shows its parameters")]
        broken = [] if name else registry.broken()
        text += [warning(one.problem) for one in broken]
        reply({"methods": found, "broken": broken}, *text, *(method_example(found[0]) if name else ()))
