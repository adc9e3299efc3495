"""Idempotency-Key: a write that is sent again with the same key is executed once, and gets the first response again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.encoders import jsonable_encoder

from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import caller_of, services_of
from trueweave.server.problems import Refusal
from trueweave.store.postgres.access import kept_responses
from trueweave.store.postgres.access.kept_responses import KeptResponse
from trueweave.store.postgres.public_errors import translated

_REPLAYED = "Idempotent-Replayed"


class Once:
    """Executes a request once for each caller, workspace and idempotency key. Responses are kept for a day."""

    def __init__(self, key: str | None, request: Request, response: Response) -> None:
        self._key = key
        self._request = request
        self._response = response

    async def __call__(self, trueweave: AsyncTrueweave, body: object, act: Callable[[], Awaitable[Any]]) -> Any:
        """The result of `act`, or its stored result if the same request was sent before."""
        if self._key is None:
            return await act()
        workspace, caller = trueweave.workspace, caller_of(self._request).id
        key = hashlib.sha256(self._key.encode()).digest()
        request = await asyncio.to_thread(self._fingerprint, body)  # a body may have megabytes
        with translated():
            owner = await services_of(self._request).workspaces.owner()
            begun = await kept_responses.begin(workspace, caller, key, request, owner)
        if isinstance(begun, KeptResponse):
            return self._answered(begun)
        try:
            made = jsonable_encoder(await act())
        except BaseException:
            with translated():
                await kept_responses.forget(workspace, begun)
            raise
        with translated():
            await kept_responses.keep(workspace, begun, made)
        return made

    def _fingerprint(self, body: object) -> bytes:
        route = self._request.scope["route"].path
        asked = [self._request.method, route, sorted(self._request.query_params.multi_items())]
        asked += [self._request.path_params]
        return hashlib.sha256(json.dumps([asked, jsonable_encoder(body)], sort_keys=True).encode()).digest()

    def _answered(self, known: KeptResponse) -> Any:
        if not known.is_same:
            raise Refusal(
                422,
                "idempotency_key_reused",
                "A different request was sent with this Idempotency-Key.",
                "Use a new key for each request.",
            )
        if known.body is None:
            raise Refusal(
                409, "under_way", "The same request is in progress.", "Send it again later.", {"Retry-After": "1"}
            )
        self._response.headers[_REPLAYED] = "true"
        return known.body


def _once(
    request: Request,
    response: Response,
    idempotency_key: Annotated[
        str | None,
        Header(min_length=1, max_length=255, description="Makes it safe to send the request again, for a day."),
    ] = None,
) -> Once:
    return Once(idempotency_key, request, response)


Idempotent = Annotated[Once, Depends(_once)]
