"""Responses stored for a day, so that a request that is sent twice is executed once."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from trueweave.store.postgres.db import Workspace


class OpenRequest(NamedTuple):
    """A request that was sent with an idempotency key, and that has been running since `made`."""

    caller: str
    key: bytes
    made: datetime


class KeptResponse(NamedTuple):
    """A request with the same key: whether it is the same request, and its response, if there is one."""

    is_same: bool
    body: Any | None


async def begin(
    workspace: Workspace, caller: str, key: bytes, request: bytes, owner: int
) -> OpenRequest | KeptResponse:
    """Record that the process `owner` is executing a request; or return what is known about another request with the
    same key.

    The key of a request without a response is free again when the lease of its process has ended.
    """
    async with workspace.transaction() as tx:
        made = await tx.value("kept_response.begin", caller=caller, key=key, request=request, owner=owner)
        if made:
            return OpenRequest(caller, key, made)
        rows = await tx.rows("kept_response.find", caller=caller, key=key, request=request)
    return KeptResponse(*rows[0]) if rows else KeptResponse(True, None)


async def keep(workspace: Workspace, begun: OpenRequest, body: Any) -> None:
    """Store the response to a request, unless another process has taken over its key."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.keep", **begun._asdict(), body=Jsonb(body))


async def forget(workspace: Workspace, begun: OpenRequest) -> None:
    """Delete a request that failed, so that it may be sent again."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.forget", **begun._asdict())
