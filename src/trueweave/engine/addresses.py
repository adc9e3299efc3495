"""Addresses among what is added or synchronised: opening them, and removing what is no longer there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from trueweave.core.connectors import ConnectorContext
from trueweave.core.errors import ConfigError, RemovalNotConfirmed
from trueweave.core.events import Listener
from trueweave.core.jobs import SyncPlan
from trueweave.core.record import NamedFile, Source
from trueweave.core.settings import Settings, secret
from trueweave.engine.core import OpenWorkspace
from trueweave.ingest.connectors import AddressRun
from trueweave.ingest.intake import Input
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.seen import Seen
from trueweave.text.uris import is_address


def connector_context(settings: Settings, secrets: Mapping[str, str], *, restricted: bool) -> ConnectorContext:
    """The limits of the settings for connectors, with credentials from these environment variables, and if it is
    `restricted`, from no others. ConfigError if one of them is not set."""
    found: dict[str, str] = {}
    for name, variable in secrets.items():
        value = secret(variable)
        if value is None:
            raise ConfigError(f"the environment variable {variable}, for the secret {name!r}, is not set. Set it.")
        found[name] = value
    return ConnectorContext(
        found,
        settings.source_networks,
        settings.source_max_bytes,
        settings.source_max_items,
        settings.source_seconds,
        settings.source_pause,
        ambient_credentials=not restricted,
    )


@asynccontextmanager
async def at_addresses(
    core: OpenWorkspace,
    what: Iterable[str | Path | Source | NamedFile],
    recipe: Recipe,
    listener: Listener,
    *,
    again: bool = False,
    secrets: Mapping[str, str] | None = None,
    restricted: bool = False,
    readers: tuple[str, ...] | None = None,
) -> AsyncIterator[tuple[list[Input], list[AddressRun]]]:
    """The same inputs with a run in place of each address, which knows what has changed there; and these runs. With
    `again`, everything may have changed. If `restricted`, connectors use no credentials but these. `readers` are those
    of documents that do not state theirs."""
    async with AsyncExitStack() as stack:
        inputs: list[Input] = []
        for one in what:
            if not (isinstance(one, str) and is_address(one)):
                inputs.append(one)
                continue
            context = connector_context(core.settings, secrets or {}, restricted=restricted)
            run = await stack.enter_async_context(AddressRun.open(one, context))
            await run.compare(core.workspace, recipe.packed(), listener, again=again, readers=readers)
            inputs.append(run)
        yield inputs, [one for one in inputs if isinstance(one, AddressRun)]


class AddressRemoval:
    """The removal of documents that are no longer at their addresses: those of a plan, or all of them if they are few
    or the caller has confirmed it."""

    def __init__(
        self, core: OpenWorkspace, runs: Sequence[AddressRun], seen: Seen, plan: SyncPlan | None, *, confirmed: bool
    ) -> None:
        self._core = core
        self._runs = runs
        self._seen = seen
        self._plan = plan
        self._confirmed = confirmed

    async def agreed(self) -> list[str]:
        """The uris of the documents to remove. RemovalNotConfirmed if they are too many of an address."""
        found: list[str] = []
        for run in self._runs:
            gone = await run.gone(self._core.workspace, self._seen)
            if self._plan is not None:
                found += {*gone.uris} & {*self._plan.removed}
                continue
            if gone.is_large and not self._confirmed:
                raise RemovalNotConfirmed(
                    f"{len(gone.uris):,} of the {gone.documents:,} documents of {run.address} are no longer there. "
                    "Nothing was removed, because that is more than a fifth of them.",
                    len(gone.uris),
                    gone.documents,
                    hint="Check the address; to remove them, confirm it (--yes, or confirmed=True).",
                )
            found += gone.uris
        return sorted(found)

    async def forget(self, uris: Sequence[str]) -> None:
        """Forget the versions of documents that were removed."""
        for run in self._runs:
            await run.forget(self._core.workspace, uris)
