"""The server: connections, requests, and a log of the calls."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from trueweave.testing.embedder import HashEmbedder
from trueweave.testing.model_server.faults import Fault, Trouble
from trueweave.testing.model_server.http import refusal, send, whole
from trueweave.testing.model_server.replies import Model, ModelCall
from trueweave.testing.model_server.scripts import Ranker, Script, overlap, smallest

_MOST = 64 << 20  # maximum bytes of a request
_LOOKUPS = frozenset({"models", "show", "ps"})
_KINDS = {
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/embeddings"): "embed",
    ("POST", "/v1/rerank"): "rerank",
    ("GET", "/v1/models"): "models",
    ("POST", "/api/chat"): "ollama",
    ("POST", "/api/show"): "show",
    ("GET", "/api/ps"): "ps",
}


class ModelServer:
    """A model server for tests, running inside `async with`. `calls` are those that it received; `url` ends in /v1.

    Each reply takes `delay` seconds. Each call is written to the file `log` when it starts, with the port of the client
    and hashes of the texts to embed, and again when it ends, with whether all was sent. If the server or a client is
    killed, the log shows which calls were in progress.

    `context` is the context size of an Ollama model in tokens; with `ignores_context` it is loaded with 4,096, whatever
    is requested, and longer prompts are cut. `usage` is reported for each chat instead of the counted tokens.
    """

    def __init__(
        self,
        script: Script = smallest,
        *,
        trouble: Trouble | None = None,
        embedder: HashEmbedder | None = None,
        ranker: Ranker = overlap,
        delay: float = 0.0,
        log: Path | None = None,
        port: int = 0,
        context: int = 32_768,
        ignores_context: bool = False,
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        self.calls: list[ModelCall] = []
        self.trouble = trouble or Trouble()
        self._model = Model(script, embedder or HashEmbedder(), ranker, context, ignores_context, usage)
        self._delay = delay
        self._log_path = log
        self._port = port
        self._numbers = itertools.count()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._log = os.open(self._log_path, flags, 0o644) if self._log_path else None
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, limit=1 << 20)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        if self._log is not None:
            os.close(self._log)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def serve(self) -> None:
        """Serve until cancelled."""
        await self._server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._served(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client has disconnected.
        except asyncio.CancelledError:
            # The server is stopping. If this were raised again, the stream protocol would report it as an error.
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request, and return whether another may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        size = int(headers.get("content-length", 0))
        if size > _MOST:
            return False
        body = await reader.readexactly(size) if size else b""
        kind = _KINDS.get((method, path))
        if kind is None:
            return await send(writer, refusal(404, f"there is no {method} {path} here"))
        if kind in _LOOKUPS:
            return await send(writer, whole(200, self._model.look_up(kind)))
        try:
            asked = json.loads(body)
        except ValueError:
            return await send(writer, refusal(400, "the request is no JSON"))
        port: int = writer.get_extra_info("peername")[1]
        call = self._begin(kind, body, asked, headers, port)
        is_open = False
        try:
            await asyncio.sleep(self._delay)
            if call.fault is not Fault.DROP_FIRST:
                is_open = await send(writer, await self._model.answer(call, asked, self.trouble))
        finally:
            self._note(call, "end", sent=is_open)
        return is_open

    def _begin(
        self, kind: str, body: bytes, asked: Mapping[str, Any], headers: Mapping[str, str], port: int
    ) -> ModelCall:
        number, given = next(self._numbers), asked.get("input")
        texts = given if isinstance(given, list) else [given] if isinstance(given, str) else []
        fault = self.trouble.of(number)
        call = ModelCall(f"{os.getpid()}-{number}", kind, _hash(body), len(texts), fault, headers, asked)
        self.calls.append(call)
        self._note(call, "start", client=port, inputs=[_hash(str(text).encode()) for text in texts])
        return call

    def _note(self, call: ModelCall, event: str, **more: object) -> None:
        if self._log is None:
            return
        fault = call.fault.value if call.fault else None
        line = {"id": call.id, "event": event, "kind": call.kind, "key": call.key, "texts": call.texts, "fault": fault}
        os.write(self._log, json.dumps({**line, "at": time.time(), **more}).encode() + b"\n")


def _hash(what: bytes) -> str:
    return blake2b(what, digest_size=16).hexdigest()
