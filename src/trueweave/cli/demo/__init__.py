"""`trueweave demo`: what Trueweave does, on documents that come with it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.options import Json
from trueweave.cli.render.console import say, spinner
from trueweave.cli.reply import CommandReply, replying
from trueweave.cli.session import in_database, start
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trueweave.cli.demo.folder import DemoFolder
    from trueweave.core.settings import Settings
    from trueweave.store.postgres.db import Database


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The folder of the demo. Default: trueweave-demo in the user's data folder."),
    ] = None,
    ui: Annotated[
        bool | None,
        typer.Option("--ui/--no-ui", help="Whether to start the web UI afterwards. Default: only on a terminal."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the browser.")] = True,
    remove: Annotated[bool, typer.Option("--remove", help="Delete the demo and its database.")] = False,
    json: Json = False,
) -> None:
    """Show what Trueweave does, on 41 documents that come with it.

    Needs no API key, no language model and no network. The bundled PostgreSQL runs in a folder of its own, which is
    also an ordinary project: the commands that are shown work there.

    Exits with 1 if a result is not what it should be.
    """
    from trueweave.cli.demo.folder import DemoFolder, default_folder

    here = DemoFolder((folder or default_folder()).absolute())
    with replying(json, runs_until_stopped=False) as reply:
        if remove:
            _remove(here, reply)
            return
        holds, settings = _play(here, reply, is_shown=not json)
        if not holds:
            raise typer.Exit(1)
    if not json and (sys.stdout.isatty() and _has_ui() if ui is None else ui):
        _serve(here, settings, browser=browser)


def _has_ui() -> bool:
    """Whether the server is installed, and the web UI built."""
    from trueweave.server.run import check_installed

    try:
        check_installed()
    except ConfigError:
        return False
    from trueweave.server.routes.ui import is_built

    return is_built()


def _play(here: DemoFolder, reply: CommandReply, *, is_shown: bool) -> tuple[bool, Settings]:
    """Run the acts, one after the other, and print each; whether all results are as they should be."""
    with ExitStack() as held:
        try:
            held.enter_context(here.locked("acts", wait=False))
        except BlockingIOError:
            say("Another `trueweave demo` is running in this folder. Waiting for it to finish …")
            held.enter_context(here.locked("acts"))
        settings = here.make()
        start(here.server, make=True)
        acts = in_database(lambda database: _acts(database, here, settings, is_shown=is_shown), settings)
    from trueweave.cli.demo import show

    holds = all(act["holds"] for act in acts.values())
    reply({"holds": holds, "folder": here.path, "seconds": _total(acts), **acts}, *show.closing(here.path))
    if not holds:
        failed = ", ".join(name for name, act in acts.items() if not act["holds"])
        say(f"Not as it should be: {failed}. If the documents were changed, run `trueweave demo --remove` first.")
    return holds, settings


async def _acts(database: Database, here: DemoFolder, settings: Settings, *, is_shown: bool) -> dict[str, Any]:
    from contextlib import aclosing

    from trueweave.cli.demo import acts, script, show
    from trueweave.cli.render.console import out
    from trueweave.engine.trueweave import AsyncTrueweave

    asked = script.questions()
    trueweave = await AsyncTrueweave.enter(
        database, settings.workspace, llm=script.ScriptedModel(), settings=settings, make=True
    )
    async with aclosing(trueweave):
        steps: dict[str, tuple[str, Callable[[], Awaitable[Any]], Callable[[Any, float], RenderableType]]] = {
            "built": ("Building", lambda: acts.build(trueweave, here.documents, asked), show.built),
            "searched": ("Searching", lambda: acts.search(trueweave, asked[0]), show.searched),
            "checked": ("Checking", lambda: acts.check(trueweave, asked[0]), show.checked),
            "removed": ("Removing", lambda: acts.remove(trueweave, here.path, asked[0]), show.removed),
        }
        done: dict[str, Any] = {}
        for line in show.opening() if is_shown else ():
            out.print(line)
        for name, (title, act, shown) in steps.items():
            with spinner(f"{title} …"):
                result, seconds = await acts.timed(act)
            if is_shown:
                out.print(shown(result, seconds))  # lines are broken in a file, too: the acts are indented
            done[name] = {"holds": result.holds, "seconds": round(seconds, 2), **asdict(result)}
    return done


def _total(acts: dict[str, Any]) -> float:
    return round(sum(float(act["seconds"]) for act in acts.values()), 2)


def _serve(here: DemoFolder, settings: Settings, *, browser: bool) -> None:
    from urllib.parse import quote

    from trueweave.cli.demo.script import questions
    from trueweave.cli.ui import serve_ui

    page = f"/{settings.workspace}/ask?q={quote(questions()[0].question)}"
    with replying(False, runs_until_stopped=True), here.locked("ui", shared=True):
        serve_ui(settings, browser=browser, page=page)


def _remove(here: DemoFolder, reply: CommandReply) -> None:
    if not here.exists:
        reply({"removed": False, "folder": here.path}, f"There is no demo in {here.path}.")
        return
    with ExitStack() as held:
        try:
            held.enter_context(here.locked("acts", wait=False))
            held.enter_context(here.locked("ui", wait=False))
        except BlockingIOError as error:
            raise ConfigError(f"the demo in {here.path} is running. Stop it with Ctrl-C first.") from error
        is_empty = here.remove()
    rest = "" if is_empty else " Files that are not of the demo are left there."
    reply({"removed": True, "folder": here.path}, f"Removed the demo in {here.path}.{rest}")
