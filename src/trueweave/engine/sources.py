"""The sources of a workspace: addresses that it follows, by hand or on a schedule."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from trueweave.core.access import checked_readers
from trueweave.core.errors import ConfigError, InvalidArgument, SourceBusy
from trueweave.core.events import Added, Listener, ignore
from trueweave.core.settings import Settings
from trueweave.core.sources import DocumentSource
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.engine.source_permissions import check_allowed
from trueweave.engine.source_runs import SourceRuns
from trueweave.ingest.connectors import check_address
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import connector_documents, connector_sources
from trueweave.store.postgres.record.connector_sources import SourceClaim
from trueweave.text.names import key

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_SHORTEST = 60  # seconds
_LONGEST = 366 * 24 * 3600
_LOOK_AGAIN = 0.2  # seconds
_PATIENCE = 30.0  # seconds for a run to stop


async def add_source(
    workspace: Workspace,
    name: str,
    address: str,
    every_seconds: int | None,
    secrets: Mapping[str, str],
    by: str,
    *,
    allowed_by: Settings | None,
    readers: Sequence[str] | None = None,
) -> DocumentSource:
    """Store a source. Those of callers of a server have to be `allowed_by` its settings, now and in each run."""
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"{name[:100]!r} cannot be the name of a source. Use up to 100 letters, digits, dots, - and _."
        )
    if every_seconds is not None and not _SHORTEST <= every_seconds <= _LONGEST:
        raise InvalidArgument("a source is synchronised at most once a minute, and at least once a year.")
    if not all(map(_VARIABLE.fullmatch, secrets.values())):
        raise InvalidArgument("secrets are given as names of environment variables, not as values.")
    groups = None if readers is None else checked_readers(readers)
    try:
        check_address(address)
    except ConfigError as error:
        raise InvalidArgument(str(error)) from error
    async with workspace.transaction() as tx:
        if allowed_by:
            check_allowed(allowed_by, await tx.value("read.name"), address, secrets)
        given = name, address, secrets, every_seconds, by
        return await connector_sources.add(tx, *given, restricted=allowed_by is not None, readers=groups)


@own_errors
@refuse_restricted("sources")
class AsyncSourcesGroup:
    """The sources of a workspace: `trueweave.sources`."""

    def __init__(
        self, core: OpenWorkspace, runs: SourceRuns, remove: Callable[[Sequence[str]], Awaitable[int]]
    ) -> None:
        self._core = core
        self._runs = runs
        self._remove = remove

    async def add(
        self,
        name: str,
        address: str,
        *,
        every_seconds: int | None = None,
        secrets: Mapping[str, str] | None = None,
        by: str = "",
        readers: Sequence[str] | None = None,
    ) -> DocumentSource:
        """Keep an address in the workspace under a name; `by` says who adds it. With `every_seconds`, workers
        synchronise it that often, beginning now. `secrets` are its credentials: for each, the environment variable that
        holds it where workers run. `readers` are the groups that can read its documents, except those that state their
        own; without it, they keep those that they have.

        If there is a source with this name and this address, its schedule, secrets and readers are replaced.
        """
        given = name, address, every_seconds, secrets or {}, by
        return await add_source(self._core.workspace, *given, allowed_by=None, readers=readers)

    async def all(self, limit: int = 1000) -> list[DocumentSource]:
        """The sources in the order of their names."""
        async with self._core.workspace.transaction() as tx:
            return await connector_sources.page(tx, limit)

    async def get(self, name: str) -> DocumentSource:
        """The source of that name. Raises UnknownSource if there is none."""
        async with self._core.workspace.transaction() as tx:
            return await connector_sources.get(tx, name)

    async def sync(self, name: str, *, confirmed: bool = False, listener: Listener = ignore) -> Added:
        """Synchronise a source now, as `sync` does with an address, and record the result with the source. SourceBusy
        if another process is synchronising it."""
        held = await self._runs.claim(name)
        return await self._runs.run(held, listener, confirmed=confirmed, queue_only=False)

    async def request_sync(self, name: str, *, confirmed: bool = False) -> DocumentSource:
        """Have a worker synchronise a source as soon as possible. With `confirmed`, that run may remove more than a
        fifth of its documents."""
        async with self._core.workspace.transaction() as tx:
            await connector_sources.request(tx, name, confirmed=confirmed)
            return await connector_sources.get(tx, name)

    async def remove(self, name: str, *, documents: bool = False) -> int:
        """Remove a source; with `documents`, also its documents, except those that another address has. Returns how
        many were removed.

        A run of the source is stopped first. SourceBusy if it does not stop in time; call this again then.
        """
        held = await self._stopped(name)
        try:
            async with self._core.workspace.transaction() as tx:
                source = await connector_sources.get(tx, name)
            removed = await self._remove_documents(source.address) if documents else 0
            async with self._core.workspace.transaction() as tx:
                await connector_sources.remove(tx, held)
        except BaseException:
            async with self._core.workspace.transaction() as tx:
                await connector_sources.release(tx, held)
            raise
        return removed

    async def _stopped(self, name: str) -> SourceClaim:
        owner = (await self._core.liveness()).owner
        end = asyncio.get_running_loop().time() + _PATIENCE
        while True:
            async with self._core.workspace.transaction() as tx:
                held = await connector_sources.claim_for_removal(tx, name, owner)
            if held:
                return held
            if asyncio.get_running_loop().time() > end:
                raise SourceBusy(
                    f"the source {name} is still being synchronised. Its run stops when what it fetches now has "
                    "arrived; then remove the source again."
                )
            await asyncio.sleep(_LOOK_AGAIN)

    async def _remove_documents(self, address: str) -> int:
        origin, removed = key("address", address), 0
        while True:
            async with self._core.workspace.transaction() as tx:
                page = await connector_documents.page(tx, origin, "")
            if not page:
                return removed
            removed += await self._remove([one.uri for one in page if not one.is_elsewhere])
            async with self._core.workspace.transaction() as tx:
                await connector_documents.forget(tx, origin, [one.uri for one in page])
