"""AsyncClient: one workspace of a server, with the calls and types of AsyncTrueweave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime
from typing import Any, Self

from trueweave.client.access import AsyncClientAccess
from trueweave.client.address import checked_address, found_key
from trueweave.client.bench import AsyncClientBench
from trueweave.client.budget import AsyncClientBudget
from trueweave.client.communities import AsyncClientCommunities
from trueweave.client.connection import Repeats, ServerConnection
from trueweave.client.documents import ClientDocumentCalls
from trueweave.client.forms import part, read
from trueweave.client.graph import AsyncClientGraph
from trueweave.client.history import AsyncClientHistory
from trueweave.client.jobs import AsyncClientJobs
from trueweave.client.maintenance import AsyncClientMaintenance
from trueweave.client.memory import ClientMemoryCalls
from trueweave.client.questions import ClientQuestionCalls
from trueweave.client.requests import WorkspaceRequests
from trueweave.client.rules import AsyncClientRules
from trueweave.client.sources import AsyncClientSources
from trueweave.client.watches import AsyncClientWatches
from trueweave.core.errors import AccessDenied, RequestRefused, UnknownWorkspace
from trueweave.core.events import Progress, unseen
from trueweave.core.history import require_zone
from trueweave.core.jobs import Status
from trueweave.core.settings import Settings
from trueweave.ingest.loading import Files


class AsyncClient(ClientDocumentCalls, ClientQuestionCalls, ClientMemoryCalls):
    """One workspace of a server that `trueweave serve` runs. Open it with `AsyncClient.open`.

    It has the calls of AsyncTrueweave, with the same parameters, types and errors, except those that need direct access
    to the database. Further calls are grouped in `graph`, `communities`, `rules`, `access`, `history`, `bench`,
    `sources`, `watches`, `jobs`, `budget` and `maintenance`.
    """

    graph: AsyncClientGraph
    communities: AsyncClientCommunities
    rules: AsyncClientRules
    access: AsyncClientAccess
    history: AsyncClientHistory
    bench: AsyncClientBench
    sources: AsyncClientSources
    watches: AsyncClientWatches
    jobs: AsyncClientJobs
    budget: AsyncClientBudget
    maintenance: AsyncClientMaintenance

    def __init__(self, requests: WorkspaceRequests, details: Any) -> None:
        self._requests = requests
        requests.max_upload = part(details, "max_upload_bytes")
        self._method: str = part(details, "method")
        self._has_model: bool = part(details, "has_model")
        self.graph = AsyncClientGraph(requests)
        self.communities = AsyncClientCommunities(requests)
        self.rules = AsyncClientRules(requests)
        self.access = AsyncClientAccess(requests)
        self.history = AsyncClientHistory(requests)
        self.bench = AsyncClientBench(requests)
        self.sources = AsyncClientSources(requests)
        self.watches = AsyncClientWatches(requests)
        self.jobs = AsyncClientJobs(requests)
        self.budget = AsyncClientBudget(requests)
        self.maintenance = AsyncClientMaintenance(requests)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        workspace: str | None = None,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        timeout: float = 300.0,  # noqa: ASYNC109 (of each request, not of this call)
        insecure: bool = False,
    ) -> AsyncIterator[Self]:
        """Open a workspace of the server at this address: the named one, or else that of the settings. The workspace of
        the settings is created if it does not exist and the key allows it. A workspace named here must exist, so that a
        mistyped name raises UnknownWorkspace. `make` overrides this: True creates either, False creates none.

        Without a `key`, the environment variable TRUEWEAVE_KEY is used; a server on this machine may need none. An
        address that begins with http:// must be of this machine, unless `insecure` says that the network is trusted.
        `timeout` is the time limit for each request in seconds. The settings, by default those of trueweave.toml and
        the environment, give the name of the workspace if none is given, and the names under which files are sent.
        """
        settings = settings or Settings.load()
        address, name = checked_address(url, insecure=insecure), workspace or settings.workspace
        files = Files.of(settings)
        async with aclosing(ServerConnection(address, found_key(key), timeout=timeout)) as connection:
            requests = WorkspaceRequests(connection, name, files)
            client = cls(requests, await _details(requests, make=workspace is None if make is None else make))
            async with aclosing(client):
                yield client

    async def aclose(self) -> None:
        """End all streams, and close the connections."""
        await self._requests.connection.aclose()

    @asynccontextmanager
    async def as_of(self, at: datetime, progress: Progress = unseen) -> AsyncIterator[AsyncClient]:
        """The index as it was at this time, with today's settings, rules and rights, for all calls that read. The
        workspace must have kept history since then (`history.keep`).

        It is built from the stored versions of documents, in a temporary workspace that is dropped at the end, so it
        is as exact as today's: with its own weights, communities and order of passages. `progress` is called with the
        number of documents just built in. Nothing is extracted again; passages that are no longer in the index are
        embedded again.
        """
        require_zone(at)
        requests = self._requests.at(at)
        past = AsyncClient(requests, await requests.get(""))
        progress((await past.status()).documents)
        yield past

    async def status(self) -> Status:
        """The size of the workspace, and what still waits to be indexed."""
        return read(Status, await self._requests.get("/status"))


async def _details(requests: WorkspaceRequests, *, make: bool) -> Any:
    """The details of a workspace. With `make`, it is created if it does not exist."""
    try:
        return await requests.get("")
    except UnknownWorkspace:
        if not make:
            raise
        body, unbegun = {"name": requests.workspace}, Repeats.UNBEGUN
        try:
            await requests.connection.send("POST", "/v1/workspaces", body=body, repeats=unbegun)
        except AccessDenied as error:
            raise UnknownWorkspace(
                f"there is no workspace {requests.workspace!r} for this key, and it cannot make one. Check the name, "
                "or use a key with the scope admin for all workspaces."
            ) from error
        except RequestRefused:
            with suppress(UnknownWorkspace):
                return await requests.get("")  # another client has created it in the meantime
            raise
        return await requests.get("")
