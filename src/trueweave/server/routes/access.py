"""Routes for access rules, which say who can read the documents whose uris begin alike."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from trueweave.core.access import AccessRule
from trueweave.server.access import Administering
from trueweave.server.fields import Cursor, Groups, Limit, Line
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import access_rules

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/access", tags=["access"], responses=RESPONSES, route_class=TaggedRoute
)


class AccessRuleRequest(BaseModel):
    """The groups that can read the documents whose uris begin with `prefix`, unless readers were given with them. No
    groups: everybody."""

    model_config = ConfigDict(extra="forbid")
    prefix: Line
    readers: Groups


class AccessChangeBody(BaseModel):
    """What changing a rule has changed."""

    changed: int = Field(description="How many documents have other readers now.")


@router.get("", response_model=ListPage[AccessRule])
async def list_access_rules(trueweave: Administering, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The access rules of the workspace, in the order of their prefixes."""
    pager: Pager[str] = Pager(str, "access", trueweave.workspace.id)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await access_rules.page(tx, limit + 1, pager.position(cursor))
    return pager.page(found, limit, lambda one: one.prefix)


@router.put("")
async def set_access_rule(body: AccessRuleRequest, trueweave: Administering, once: Idempotent) -> AccessChangeBody:
    """Say who can read the documents whose uris begin with a prefix, now and later. The rule with the longest prefix
    applies. Readers change at once, and no model is called."""

    async def act() -> AccessChangeBody:
        return AccessChangeBody(changed=await trueweave.access.set(body.prefix, body.readers))

    return AccessChangeBody.model_validate(await once(trueweave, body, act))


@router.delete("")
async def remove_access_rule(
    trueweave: Administering, prefix: Annotated[Line, Query(description="That of the rule.")]
) -> AccessChangeBody:
    """Remove an access rule. Its documents have the readers of the rule with the next shorter prefix, if any."""
    return AccessChangeBody(changed=await trueweave.access.remove(prefix))
