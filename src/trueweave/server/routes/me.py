"""The route that tells callers who they are."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response

from trueweave.server.access import EVERYBODY, AnyCaller, Shared
from trueweave.server.bodies import MeBody
from trueweave.server.problems import RESPONSES
from trueweave.store.postgres.access.api_keys import is_key
from trueweave.store.postgres.money import caller_usage
from trueweave.store.postgres.public_errors import translated

router = APIRouter(prefix="/v1/me", tags=["keys"], responses=RESPONSES)


@router.get("")
async def get_me(request: Request, response: Response, caller: AnyCaller, shared: Shared) -> MeBody:
    """The caller: its scope, how it was identified, and its limits. `GET /v1/workspaces` lists its workspaces."""
    limits = shared.daily.of(caller.limits)
    with translated():
        used = (await caller_usage.today(shared.database, [caller.id]))[caller.id]
    response.headers["Cache-Control"] = "no-store"
    return MeBody(
        caller=caller.id,
        name=caller.name,
        scope=caller.scope,
        identified_by=_identified_by(request),
        all_workspaces=caller.workspaces is None,
        groups=list(caller.groups),
        max_tokens_per_day=limits.tokens_per_day,
        max_spend_per_day=limits.spend_per_day,
        tokens_today=used.tokens,
        spend_today=used.price,
    )


def _identified_by(request: Request) -> Literal["key", "token", "session", "nothing"]:
    if request.state.caller == EVERYBODY:
        return "nothing"
    if getattr(request.state, "session", None) is not None:
        return "session"
    return "key" if is_key(request.headers.get("authorization", "").partition(" ")[2].strip()) else "token"
