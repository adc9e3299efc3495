"""Responses that are kept for a day, so that a request which is sent again is carried out once."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from trueweave.store.postgres.db import Workspace


class OpenRequest(NamedTuple):
    """A request that its caller sent with a key, and that is being carried out since then."""

    caller: str
    key: bytes
    made: datetime


class KeptResponse(NamedTuple):
    """What is known of a request with the same key: whether it is the same request, and its answer, if it has one."""

    is_same: bool
    body: Any | None


async def begin(
    workspace: Workspace, caller: str, key: bytes, request: bytes, owner: int
) -> OpenRequest | KeptResponse:
    """Note that the process `owner` carries a request out; or what is known of another request with the same key.

    The key of a request that has no answer is free again when the lease of its process has ended.
    """
    async with workspace.transaction() as tx:
        made = await tx.value("kept_response.begin", caller=caller, key=key, request=request, owner=owner)
        if made:
            return OpenRequest(caller, key, made)
        rows = await tx.rows("kept_response.find", caller=caller, key=key, request=request)
    return KeptResponse(*rows[0]) if rows else KeptResponse(True, None)


async def keep(workspace: Workspace, begun: OpenRequest, body: Any) -> None:
    """Keep the answer to a request, unless another process has taken its key over."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.keep", **begun._asdict(), body=Jsonb(body))


async def forget(workspace: Workspace, begun: OpenRequest) -> None:
    """A request failed, and may be sent again."""
    async with workspace.transaction() as tx:
        await tx.run("kept_response.forget", **begun._asdict())
