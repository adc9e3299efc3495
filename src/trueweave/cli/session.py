"""The context of commands: the effective settings, and the database and workspace that they name."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, TypeVar

from trueweave.cli.options import AsGroups, AsOf, DatabaseUrl, Json, Workspace
from trueweave.cli.render.console import err
from trueweave.cli.reply import CommandReply, replying

if TYPE_CHECKING:
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.store.embedded import EmbeddedServer
    from trueweave.store.postgres.cluster.moving import OwnerAddress
    from trueweave.store.postgres.db import Database

T = TypeVar("T")


@dataclass(frozen=True)
class CommandSession:
    """The settings of a command that works in one workspace, and its reply. Called with a function, it gives what that
    function returns in the workspace."""

    reply: CommandReply
    load: Callable[..., Settings]
    groups: Sequence[str] | None = None
    as_of: str | None = None

    @cached_property
    def settings(self) -> Settings:
        return self.load()

    def __call__(self, act: Callable[[AsyncTrueweave], Awaitable[T]]) -> T:
        return in_workspace(act, self.settings, groups=self.groups, as_of=self.as_of)

    def with_workspace_settings(self, **given: str | bool | None) -> CommandSession:
        """The same with settings that are given on the command line, and those that the workspace overrides."""
        settings = in_force(self.load(**given))
        return replace(self, load=lambda: settings)


def workspace_command(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the options --workspace, --database-url and --json after its own. In their place the function gets
    a CommandSession."""

    @wraps(function)
    def command(*, workspace: str | None, database_url: str | None, json: bool, **options: object) -> None:
        with replying(json) as reply:
            function(CommandSession(reply, partial(load_settings, database_url, workspace)), **options)

    return _with_options(command, function, _SHARED)


def reading_command(function: Callable[..., None]) -> Callable[..., None]:
    """The same with the options --as-group and --as-of: the CommandSession then shows what these groups can read, and
    what was known then."""

    @wraps(function)
    def command(
        *,
        as_group: list[str] | None,
        as_of: str | None,
        workspace: str | None,
        database_url: str | None,
        json: bool,
        **options: object,
    ) -> None:
        with replying(json) as reply:
            function(CommandSession(reply, partial(load_settings, database_url, workspace), as_group, as_of), **options)

    return _with_options(command, function, _SHARED_BY_READERS)


def _with_options(
    command: Callable[..., None], function: Callable[..., None], shared: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    own = inspect.signature(function, eval_str=True)
    parameters = [*list(own.parameters.values())[1:], *shared]
    command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _shared(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """The options of all commands that work in one workspace."""


def _read(as_group: AsGroups = None, as_of: AsOf = None) -> None:
    """The options of all commands that only read in one workspace."""


_SHARED = tuple(inspect.signature(_shared, eval_str=True).parameters.values())
_SHARED_BY_READERS = (*inspect.signature(_read, eval_str=True).parameters.values(), *_SHARED)


def load_settings(
    database_url: str | None = None,
    workspace: str | None = None,
    *,
    extractor: str | None = None,
    model: str | None = None,
    follow_links: bool = False,
    no_ignore: bool = False,
) -> Settings:
    """The effective settings. None leaves a setting to the environment and trueweave.toml."""
    from trueweave.core.settings import Settings

    return Settings.load(
        database_url=database_url,
        workspace=workspace,
        extractor=extractor,
        model=model,
        follow_links=follow_links or None,
        no_ignore=no_ignore or None,
    )


def in_workspace(
    act: Callable[[AsyncTrueweave], Awaitable[T]],
    settings: Settings,
    *,
    make: bool = False,
    groups: Sequence[str] | None = None,
    as_of: str | None = None,
) -> T:
    """The result of `act` in the workspace of these settings, as far as these `groups` can read it, if there are some,
    and as it was at a time, if one is given. A missing workspace is an error, or is created with `make`."""
    from trueweave.engine.trueweave import AsyncTrueweave

    async def enter_and_act(opened: Database) -> T:
        trueweave = await AsyncTrueweave.enter(opened, settings.workspace, settings=settings, make=make)
        async with aclosing(trueweave), AsyncExitStack() as stack:
            shown = trueweave if as_of is None else await stack.enter_async_context(_past(trueweave, as_of))
            return await act(shown if groups is None else shown.acting_as(groups))

    return in_database(enter_and_act, settings)


@asynccontextmanager
async def _past(trueweave: AsyncTrueweave, as_of: str) -> AsyncIterator[AsyncTrueweave]:
    """The index as it was, with a progress bar while it is built."""
    from trueweave.cli.render.dates import local_time, parse_as_of
    from trueweave.cli.render.progress_bar import progress

    at = parse_as_of(as_of)
    with ExitStack() as building:
        done = building.enter_context(progress(f"Building the index of {local_time(at)}", None))
        async with trueweave.as_of(at, done) as past:
            building.close()
            yield past


def in_database(act: Callable[[Database], Awaitable[T]], settings: Settings) -> T:
    """The result of `act` in the database of these settings."""
    from psycopg import OperationalError

    from trueweave.engine.database import opened_database
    from trueweave.store.postgres.connections import unusable

    url = database(settings)

    async def open_and_act() -> T:
        async with opened_database(settings) as opened:
            gc.freeze()  # keeps the garbage collector from scanning the loaded modules again and again
            return await act(opened)

    try:
        return asyncio.run(open_and_act())
    except OperationalError as error:
        raise unusable(url, error) from error


def in_force(settings: Settings) -> Settings:
    """These settings, overridden by those of the workspace, if it exists."""

    async def look(opened: Database) -> Settings:
        found = await opened.open_workspace(settings.workspace, make=False)
        return settings.over(found.settings) if found else settings

    return in_database(look, settings)


def has_vectors(settings: Settings) -> bool:
    """Whether the workspace of these settings has an embedding space."""

    async def look(opened: Database) -> bool:
        found = await opened.open_workspace(settings.workspace, make=False)
        return found is not None and found.has_space

    return in_database(look, settings)


def make_workspace(settings: Settings, name: str) -> str:
    """Create a new workspace with this name, or with a suffix if it is taken; returns its name."""
    return in_database(lambda opened: opened.make_workspace(name), settings)


def database(settings: Settings) -> str:
    """The address of the database. The bundled one is started, and must exist."""
    return settings.database_url or start(bundled(settings))


def owner(settings: Settings, url: str | None = None) -> tuple[str, bool]:
    """The address of PostgreSQL itself with the user who owns the schema, and whether the settings rule out a pooler.
    The bundled server is started."""
    url = url or settings.owner_address or database(settings)
    return url, url == settings.direct_database_url


def owners(settings: Settings, url: str | None = None) -> dict[str, OwnerAddress]:
    """The same for all servers of these settings, by name."""
    from trueweave.engine.database import owner_addresses
    from trueweave.store.postgres.cluster.moving import OwnerAddress
    from trueweave.store.postgres.cluster.servers import HOME

    return {HOME: OwnerAddress(*owner(settings, url)), **owner_addresses(settings)}


def bundled(settings: Settings) -> EmbeddedServer:
    """The bundled PostgreSQL, running or not."""
    from trueweave.store.embedded import EmbeddedServer, default_directory

    return EmbeddedServer(settings.data_directory or default_directory())


def start(server: EmbeddedServer, *, make: bool = False) -> str:
    """The address of the server, which is started. It is created only with `make`."""
    if server.running():
        return server.url
    with err.status("Starting the bundled PostgreSQL …"):
        return server.start(make=make)


def place(settings: Settings) -> str:
    """A description of the location of the database."""
    from trueweave.store.postgres.connections import location

    if settings.database_url:
        return location(settings.database_url)
    return f"the bundled PostgreSQL ({bundled(settings).directory})"
