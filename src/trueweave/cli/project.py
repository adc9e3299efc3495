"""`trueweave project`: copies of the index in Neo4j and Chroma."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from trueweave.cli.options import DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.render.console import err, say
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.tables import table
from trueweave.cli.reply import INTERRUPTED, replying
from trueweave.cli.session import CommandSession, in_database, in_force, in_workspace, load_settings, workspace_command
from trueweave.cli.signals import Work, until_stopped
from trueweave.cli.status import projection_state
from trueweave.cli.worker_log import WorkerLog, live_line
from trueweave.core.projections import StoreName

if TYPE_CHECKING:
    from trueweave.core.events import Event, Listener
    from trueweave.core.projections import ProjectionDifference, ProjectionStatus
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.store.postgres.db import Database

app = typer.Typer(
    no_args_is_help=True,
    help="""Keep a copy of the index in Neo4j or Chroma, and answer questions from it.

    PostgreSQL stays the record. A projector follows what changes there and applies it to the copy; it may be stopped
    at any moment. Where neo4j_url or chroma_url in trueweave.toml say where the store is, graph = "neo4j" and
    vectors = "chroma" have questions answered from it.
    """,
)
Store = Annotated[StoreName, typer.Argument(help="neo4j or chroma.")]


@app.command()
def start(
    store: Store,
    once: Annotated[bool, typer.Option("--once", help="Exit when the copy is up to date.")] = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Copy this workspace, and keep the copy up to date until Ctrl-C or SIGTERM.

    This also updates all other workspaces that have a copy in this store; with --workspace, only that one. Any number
    of projectors may run, on any number of machines: each workspace is handled by one at a time.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        if once:
            with _counting(f"Copying to {store}") as counted:
                in_workspace(lambda trueweave: trueweave.projections.catch_up(store, counted), settings)
            reply({"store": store, "items": counted.items}, f"The copy in {store} is up to date.", *_then(store))
            return
        with live_line() as live:
            log = WorkerLog(live)
            what = f"workspace {settings.workspace}" if workspace else "all workspaces that have a copy"
            say(
                f"Keeping {store} up to date for {what}.",
                next_step("Ctrl-C", "finishes what it has started; twice: stops immediately", heading="To stop"),
            )
            if _run(settings, store, log, only=workspace is not None):
                raise SystemExit(INTERRUPTED)
        reply({"store": store}, "Stopped.")


@app.command()
@workspace_command
def status(session: CommandSession) -> None:
    """Show the progress of the copies of this workspace."""
    found = session(lambda trueweave: trueweave.projections.status())
    session.reply({"projections": found}, *_projection_lines(found))


@app.command()
@workspace_command
def rebuild(session: CommandSession, store: Store) -> None:
    """Rebuild the copy beside the one in use, then switch to it."""
    session = session.with_workspace_settings()
    with _counting(f"Copying to {store}") as counted:
        session(lambda trueweave: trueweave.projections.rebuild(store, counted))
    session.reply({"store": store, "items": counted.items}, f"The copy in {store} is rebuilt.", *_then(store))


@app.command()
@workspace_command
def verify(
    session: CommandSession,
    store: Store,
    limit: Annotated[int, typer.Option(min=1, help="How many differences to show.")] = 20,
) -> None:
    """Compare the whole copy with the record. Exits with 1 if they differ."""
    session = session.with_workspace_settings()
    with err.status(f"Comparing {store} with the record …"):
        found = session(lambda trueweave: trueweave.projections.verify(store, limit))
    session.reply({"store": store, "differences": found}, *_difference_lines(found, store, limit))
    if found:
        raise typer.Exit(1)


@app.command()
@workspace_command
def remove(
    session: CommandSession,
    store: Store,
    yes: Yes = False,
) -> None:
    """Drop the copy of this workspace. The record stays as it is."""
    session = session.with_workspace_settings()
    if not yes and not typer.confirm(f"Drop the copy of {session.settings.workspace} in {store}?", err=True):
        raise typer.Exit(1)
    removed = session(lambda trueweave: trueweave.projections.remove(store))
    said = f"The copy in {store} is dropped." if removed else f"There was no copy in {store}."
    session.reply({"store": store, "removed": removed}, said)


class _Count:
    """A listener that counts and shows what is copied."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.items = 0
        self._show = show

    def __call__(self, event: Event) -> None:
        from trueweave.core.events import Projected, Waiting

        if isinstance(event, Projected):
            self.items += event.items
            self._show(f"{count(self.items, 'item')} written")
        elif isinstance(event, Waiting):
            self._show(event.reason)


@contextmanager
def _counting(what: str) -> Iterator[_Count]:
    with err.status(f"{what} …") as live:
        yield _Count(lambda said: live.update(f"{what}: {said}"))


def _then(store: StoreName) -> list[Any]:
    setting = 'graph = "neo4j"' if store == "neo4j" else 'vectors = "chroma"'
    return [next_step(setting, "in trueweave.toml answers questions from it")]


def _run(settings: Settings, store: StoreName, log: WorkerLog, *, only: bool) -> bool:
    """Run a projector until a signal; returns whether there was a second signal."""

    async def for_one(trueweave: AsyncTrueweave) -> bool:
        return await until_stopped(lambda stop: trueweave.projections.start(store, stop, log), log.line)

    async def enable(trueweave: AsyncTrueweave) -> None:
        await trueweave.projections.enable(store)

    if only:
        return in_workspace(for_one, settings)
    in_workspace(enable, settings)
    return in_database(lambda opened: until_stopped(_for_all(opened, settings, store, log), log.line), settings)


def _for_all(opened: Database, settings: Settings, store: StoreName, log: Listener) -> Work:
    from trueweave.engine.worker import project_for_all

    return lambda stop: project_for_all(opened, settings, store, log, stop)


_SHOWN = 200  # characters of a difference


def _projection_lines(found: list[ProjectionStatus]) -> list[RenderableType]:
    """The copies, and what to do where one stands still."""
    if not found:
        return ["There is no copy in another store.", next_step("trueweave project start neo4j", "or chroma")]
    made = table("store", "state", ">position")
    for one in found:
        made.add_row(one.store, projection_state(one), f"{one.position:,}")
    waiting = [one for one in found if (one.behind or not one.live) and not one.running]
    return [made, *(next_step(f"trueweave project start {one.store}") for one in waiting[:1])]


def _difference_lines(found: list[ProjectionDifference], store: str, limit: int) -> list[RenderableType]:
    """What a comparison found."""
    if not found:
        return [f"The copy in {store} has all that the record has, and nothing else."]
    lines: list[RenderableType] = [
        warning(f"The copy in {store} differs from the record. The first {min(len(found), limit):,} differences:")
    ]
    for one in found:
        lines.append(f"{one.kind} {one.id}")
        lines.append(f"  record  {(one.record or 'nothing')[:_SHOWN]}")
        lines.append(f"  {store:<7} {(one.copy or 'nothing')[:_SHOWN]}")
    return [*lines, next_step(f"trueweave project rebuild {store}", "rebuilds it beside this one")]
