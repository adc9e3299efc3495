"""`trueweave mcp`: tools for agents over stdin and stdout, and the client configuration."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trueweave.cli.model_files import fetch_model_if_possible
from trueweave.cli.options import AsGroups, DatabaseUrl, Json, Workspace
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import warning
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.errors import ConfigError
from trueweave.core.record import groups_of
from trueweave.mcp.clients import ClientName

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

app = typer.Typer(invoke_without_command=True)
Write = Annotated[bool, typer.Option("--write", help="Let the agent remember and forget; index what it remembers.")]


@app.callback()
def mcp(
    context: typer.Context,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    write: Write = False,
    as_group: AsGroups = None,
) -> None:
    """Serve the workspace to an agent with the Model Context Protocol, over stdin and stdout, until stdin is closed.

    The agent can search, read, look up entities and paths, and ask, if a language model is set. With --write, it can
    also remember statements and conversations, and forget them; otherwise it cannot change anything. Clients start this
    command themselves: `trueweave mcp config` prints their configuration.
    """
    if command := context.invoked_subcommand:
        if (workspace, database_url, write, as_group) != (None, None, False, None):
            context.fail(f"Write the options after the command: trueweave mcp {command} [OPTIONS]")
        return
    from trueweave.mcp import require_package

    with replying(as_json=False):
        require_package()
        groups = _groups(as_group, write=write)
        settings = in_force(load_settings(database_url, workspace))
        fetch_model_if_possible(settings)
        if sys.stdin.isatty():
            say("Waiting for an agent on stdin: its client starts this command. Ctrl-C ends it.")
        in_workspace(partial(_serve, write=write), settings, groups=groups)


def _groups(given: Sequence[str] | None, *, write: bool) -> Sequence[str] | None:
    """The groups that an agent reads as; None if it reads all documents."""
    if given is None:
        return None
    if write:
        raise ConfigError("--write lets the agent change the workspace, so it takes no --as-group. Leave one out.")
    try:
        return groups_of(given)
    except ValueError as error:
        raise ConfigError(str(error)) from error


async def _serve(trueweave: AsyncTrueweave, *, write: bool) -> None:
    from trueweave.mcp import serve_stdio

    # The thread that reads stdin cannot be interrupted, and there is nothing to finish.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    await serve_stdio(trueweave, write=write)


@app.command()
def config(
    client: Annotated[ClientName, typer.Option(help="The client.")] = "generic",
    workspace: Workspace = None,
    write: Write = False,
    as_group: AsGroups = None,
    json: Json = False,
) -> None:
    """Print the configuration with which a client starts `trueweave mcp`, and where to put it.

    With --as-group, the agent reads only what somebody in these groups can read. The configuration names the
    trueweave.toml that applies here, and contains no key and no password.
    """
    from trueweave.core.settings import find_file
    from trueweave.mcp.clients import ServerLaunch, snippet

    with replying(json) as reply:
        file, groups = find_file(), _groups(as_group, write=write)
        launch = ServerLaunch.of(sys.executable, file, workspace, write=write, groups=groups or ())
        made = snippet(client, launch)
        if not json:
            say(Text(f"Add this to {made.where}", style="dim"))
            if file is None:
                say(warning("There is no trueweave.toml here: add the TRUEWEAVE_… variables that you need under env."))
        answer = {"client": made.client, "where": made.where, "settings": made.settings}
        reply(answer, Text(made.text, no_wrap=True))
