"""Responses that are kept for a day, so that a request which is sent again is carried out once."""

from __future__ import annotations

from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from trueweave.store.postgres.db import Workspace


class KeptResponse(NamedTuple):
    """What is known of a request with the same key: whether it is the same request, and its answer, if it has one."""

    is_same: bool
    body: Any | None


async def begin(workspace: Workspace, caller: str, key: bytes, request: bytes) -> KeptResponse | None:
    """Note that a request is being carried out; or what is known of another that its caller sent with the same key."""
    async with workspace.transaction() as tx:
        if await tx.rows("kept_response.begin", caller=caller, key=key, request=request):
            return None
        rows = await tx.rows("kept_response.find", caller=caller, key=key, request=request)
    return KeptResponse(*rows[0]) if rows else KeptResponse(True, None)


async def keep(workspace: Workspace, caller: str, key: bytes, body: Any) -> None:
    """Keep what a request was answered."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.keep", caller=caller, key=key, body=Jsonb(body))


async def forget(workspace: Workspace, caller: str, key: bytes) -> None:
    """A request failed, and may be sent again."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.forget", caller=caller, key=key)
