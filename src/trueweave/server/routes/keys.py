"""Routes for keys, for administrators. A key for some workspaces can only manage keys for these."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path

from trueweave.core.errors import UnknownWorkspace
from trueweave.core.record import EVERY_GROUP
from trueweave.server.access import Administrator, Caller, Shared
from trueweave.server.bodies import KeyBody, KeyRequest, NewKeyBody, RevokedBody
from trueweave.server.fields import Cursor, Limit
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.services import Services
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import NO_LIMITS, KeyLimits
from trueweave.store.postgres.public_errors import translated

router = APIRouter(prefix="/v1/keys", tags=["keys"], responses=RESPONSES)

_MOST_MAKERS = 8  # in a chain of keys that created each other: each request counts for all of them
_ASK = "Ask whoever runs the identity provider to name a workspace in the token."
Prefix = Annotated[str, Path(pattern="^[0-9a-f]{12}$", max_length=12, description="The public prefix of the key.")]


@router.get("")
async def list_keys(caller: Administrator, shared: Shared, limit: Limit = 50, cursor: Cursor = "") -> ListPage[KeyBody]:
    """Keys in the order in which they were created, without their secrets."""
    pager: Pager[tuple[datetime, str]] = Pager(tuple[datetime, str], "keys", caller.id)
    with translated():
        found = await api_keys.listed(
            shared.database, limit + 1, within=caller.workspaces, after=pager.position(cursor)
        )
    page = pager.page(found, limit, lambda one: (one.created, one.prefix))
    return ListPage(items=[_body(one) for one in page["items"]], next=page["next"])


@router.post("", status_code=201)
async def create_key(body: KeyRequest, caller: Administrator, shared: Shared) -> NewKeyBody:
    """Create a key. It is shown only in this response. It expires no later than the key that creates it, has no higher
    limits and, unless that is for all workspaces, no other groups, and its usage also counts against the limits of that
    key."""
    workspaces = await _workspaces(body.workspaces, caller, shared)
    _check_groups(body.groups, caller)
    expires = datetime.now(UTC) + timedelta(days=body.expires_in_days) if body.expires_in_days else None
    with translated():
        limits = KeyLimits(body.max_tokens_per_day, body.max_spend_per_day)
        made = await api_keys.derive(
            shared.database,
            caller.id,
            _makers(caller),
            body.name,
            body.scope,
            workspaces,
            expires,
            limits,
            body.groups,
        )
    if made is None:
        raise Refusal(401, "unauthorized", "The key that creates this one is no longer valid.", "Use another key.")
    return NewKeyBody(
        prefix=made.prefix,
        key=made.token,
        expires=made.expires,
        max_tokens_per_day=made.limits.tokens_per_day,
        max_spend_per_day=made.limits.spend_per_day,
    )


def _check_groups(groups: list[str], caller: Caller) -> None:
    """Raise Refusal if a key that the caller creates may not have these groups. An administrator of all workspaces may
    give any."""
    if caller.workspaces is None or EVERY_GROUP in caller.groups:
        return
    if others := sorted(set(groups) - set(caller.groups)):
        raise Refusal(
            403,
            "forbidden",
            f"This key cannot give the groups {', '.join(others)}, because it does not have them.",
            "Ask an administrator of all workspaces to create the key.",
        )


def _makers(caller: Caller) -> list[str]:
    """The callers whose limits also apply to a key that this one creates. There are none for an administrator of all
    workspaces without limits: like the command line, it creates keys for others."""
    if caller.workspaces is None and caller.limits == NO_LIMITS:
        return []
    makers = [*(maker for maker, _ in caller.makers), caller.id]
    if len(makers) > _MOST_MAKERS:
        raise Refusal(
            403, "forbidden", f"This key is the {_MOST_MAKERS}th in a row that made each other.", "Use an earlier key."
        )
    return makers


@router.delete("/{prefix}")
async def revoke_key(prefix: Prefix, caller: Administrator, shared: Shared) -> RevokedBody:
    """Revoke a key. It is refused from now on; other processes follow within seconds."""
    with translated():
        if not await api_keys.revoke(shared.database, prefix, within=caller.workspaces):
            raise Refusal(404, "unknown_key", "There is no such key.", "GET /v1/keys lists them.")
    shared.keys.forget(prefix)
    shared.sessions.forget_key(prefix)
    return RevokedBody(revoked=prefix)


async def _workspaces(names: list[str] | None, caller: Caller, shared: Services) -> list[int] | None:
    """The ids of the workspaces that a new key is for. The caller must have access to each of them."""
    if caller.workspaces is not None and not caller.workspaces:
        raise Refusal(403, "forbidden", "The caller has access to no workspace, so the key would have none.", _ASK)
    if names is None:
        return None if caller.workspaces is None else sorted(caller.workspaces)
    ids = []
    for name in dict.fromkeys(names):
        with translated():
            found = await shared.database.open_workspace(name, make=False)
        if found is None or not caller.sees(found.workspace.id):
            raise UnknownWorkspace(f"there is no workspace {name!r} for this caller")
        ids.append(found.workspace.id)
    return ids


def _body(one: Any) -> KeyBody:
    return KeyBody(
        prefix=one.prefix,
        name=one.name,
        scope=one.scope,
        workspaces=None if one.workspaces is None else list(one.workspaces),
        groups=list(one.groups),
        created=one.created,
        expires=one.expires,
        revoked=one.revoked,
        last_used=str(one.last_used) if one.last_used else None,
        max_tokens_per_day=one.max_tokens_per_day,
        max_spend_per_day=one.max_spend_per_day,
        tokens_today=one.tokens_today,
        spend_today=one.spend_today,
        sessions=one.sessions,
        sessions_last_used=one.sessions_last_used,
    )
