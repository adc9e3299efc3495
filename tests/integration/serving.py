"""The real server over HTTP on loopback, and clients with keys of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI

from tests.certificates import Certificate
from tests.servers import free_port
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings
from trueweave.extend import Database
from trueweave.server.app import create_app
from trueweave.server.connections import protocol_for
from trueweave.server.local_login import LocalLogin
from trueweave.server.middleware import Limits
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import KeyScope

TEXT = "Ada Lovelace worked with Charles Babbage in London."
ANSWER = 'Ada worked with Charles Babbage [1 "worked with Charles Babbage"].'


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    url: str
    app: FastAPI
    database: Database
    certificate: Certificate | None = None

    async def key(self, scope: KeyScope, *workspaces: str, groups: Sequence[str] = ()) -> str:
        """A new key, which reads as these groups."""
        found = [await self.database.find_workspace(name, make=True) for name in workspaces]
        ids = [one.id for one in found if one]
        of = ids if workspaces else None
        return (await api_keys.make(self.database, f"test {scope}", scope, of, groups=groups)).token

    def client(self, key: str = "", **headers: str) -> httpx2.AsyncClient:
        """A client that shows this key."""
        shown = {"Authorization": f"Bearer {key}"} if key else {}
        trusted = ssl.create_default_context(cafile=self.certificate.chain) if self.certificate else True
        return httpx2.AsyncClient(base_url=self.url, headers={**shown, **headers}, timeout=30, verify=trusted)

    def browser(self, **headers: str) -> httpx2.AsyncClient:
        """A client with a jar of cookies, which sends what a page of this server has a browser send."""
        return self.client(**{"Origin": self.url, "Sec-Fetch-Site": "same-origin", **headers})


@asynccontextmanager
async def serving(
    url: str,
    *,
    authenticated: bool = True,
    works: bool = False,
    limits: Limits | None = None,
    certificate: Certificate | None = None,
    local: LocalLogin | None = None,
    port: int | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """The server for a database, on a port of its own if none is given; with a certificate, over TLS."""
    found, port = Settings(database_url=url, **settings), port or free_port()
    app = create_app(found, authenticated=authenticated, works=works, limits=limits, local=local)
    config = uvicorn.Config(
        app,
        "127.0.0.1",
        port,
        http=protocol_for(found),
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=5,
        ssl_certfile=certificate.chain if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
        if running.done():
            await running
            raise RuntimeError("the server did not start")
    try:
        async with Database(url, direct_url=settings.get("direct_database_url")) as database:
            yield Served(f"{'https' if certificate else 'http'}://127.0.0.1:{port}", app, database, certificate)
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running


async def fill(database: Database, name: str, *more: str) -> AsyncTrueweave:
    """A workspace with some documents that tell of Ada, and of what else is said."""
    trueweave = await AsyncTrueweave.enter(database, name)
    said = Chunk(
        TEXT,
        mentions=(Mention("Ada Lovelace", "person", "a mathematician"), Mention("London", "place")),
        links=(Link("Ada Lovelace", "Charles Babbage", "worked with", ("work",)), Link("Ada Lovelace", "London")),
    )
    chunks = [Chunk(text, mentions=(Mention(text.split()[0]),)) for text in more]
    texts = [Document(f"{name}/{n}", (chunk,)) for n, chunk in enumerate(chunks)]
    await trueweave.add_documents([Document(f"{name}/ada", (said,), "Ada", {"year": 1843}), *texts])
    return trueweave
