"""The stores besides PostgreSQL: opening their clients, and answering questions from them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import get_args

from trueweave.core.errors import ConfigError, ProjectionBehind, ProjectionMissing
from trueweave.core.projections import StoreName
from trueweave.core.protocols import FindCopy, ProjectionTarget, Readers
from trueweave.core.settings import Settings, secret
from trueweave.store.chroma.client import ChromaClient
from trueweave.store.chroma.target import ChromaTarget
from trueweave.store.chroma.vectors import ChromaVectors
from trueweave.store.neo4j.client import EXAMPLE_URL, Neo4jClient
from trueweave.store.neo4j.graph import Neo4jGraph
from trueweave.store.neo4j.target import Neo4jTarget
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.projection import projections

STORES: tuple[StoreName, ...] = get_args(StoreName)

_PAUSE = 0.05  # seconds between checks of a copy's position


class StoreClients:
    """The process's clients of other stores, shared by all workspaces and opened on first use."""

    def __init__(self) -> None:
        self._neo4j: dict[str, Neo4jClient] = {}
        self._chroma: dict[tuple[str, str | None], ChromaClient] = {}

    async def aclose(self) -> None:
        """Close all connections."""
        for neo4j in self._neo4j.values():
            await neo4j.aclose()
        for chroma in self._chroma.values():
            await chroma.aclose()
        self._neo4j.clear()
        self._chroma.clear()

    def neo4j(self, settings: Settings) -> Neo4jClient:
        """The client for the Neo4j server in the settings."""
        url = settings.neo4j_url
        if not url:
            raise ConfigError(f'Neo4j needs an address. Set it in trueweave.toml, as in neo4j_url = "{EXAMPLE_URL}".')
        if url not in self._neo4j:
            self._neo4j[url] = Neo4jClient(url)
        return self._neo4j[url]

    def chroma(self, settings: Settings) -> ChromaClient:
        """The client for the Chroma server in the settings."""
        if not settings.chroma_url:
            raise ConfigError(
                'Chroma needs an address. Set it in trueweave.toml, as in chroma_url = "http://127.0.0.1:8000"; or a '
                'folder for Chroma inside the process, as in chroma_url = "chroma".'
            )
        variable = settings.chroma_key_variable
        key = settings.chroma_url, secret(variable) if variable else None
        if key not in self._chroma:
            self._chroma[key] = ChromaClient(*key)
        return self._chroma[key]

    def target(self, settings: Settings, store: str) -> ProjectionTarget:
        """The projection target for a store."""
        if store == "neo4j":
            return Neo4jTarget(self.neo4j(settings))
        if store == "chroma":
            return ChromaTarget(self.chroma(settings))
        raise ConfigError(f"there is no store {store}. Available: {', '.join(STORES)}.")

    def readers(self, settings: Settings, workspace: Workspace, readers: Readers) -> Readers:
        """PostgreSQL's readers for one question, with graph and vectors replaced as the settings say."""
        if settings.graph == "neo4j":
            copy = self._live_copy(settings, workspace, "neo4j")
            readers = replace(readers, graph=Neo4jGraph(self.neo4j(settings), copy, readers.record))
        if settings.vectors == "chroma":
            copy = self._live_copy(settings, workspace, "chroma")
            client = self.chroma(settings)
            readers = replace(readers, vectors=ChromaVectors(client, copy, readers.record, readers.vectors))
        return readers

    def _live_copy(self, settings: Settings, workspace: Workspace, store: str) -> FindCopy:
        """A function that finds the copy to answer a question from, called on first use."""

        async def find() -> str:
            copy, newest = await projections.live(workspace, store)
            if copy is None:
                raise ProjectionMissing(
                    f"{store} has no complete copy of this workspace yet. Run `trueweave project start {store}`; "
                    "`trueweave project status` shows its progress."
                )
            if settings.projection_wait:
                target = self.target(settings, store)
                await _reach(target, copy, newest, settings.projection_wait)
            return copy

        return find


async def _reach(target: ProjectionTarget, copy: str, position: int, seconds: float) -> None:
    """Wait until a copy has reached a position. Raises ProjectionBehind after `seconds`."""
    end = time.monotonic() + seconds
    while (at := await target.position(copy)) is None or at < position:
        if time.monotonic() > end:
            raise ProjectionBehind(
                f"the copy in {target.name} did not catch up with the latest writes within {seconds:g} s. Check "
                "that a projector is running (`trueweave project status`), or raise projection_wait."
            )
        await asyncio.sleep(_PAUSE)
