"""Routes for rules, which merge, split and rename entities and correct facts."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, Suggestion
from trueweave.core.record import Link, Mention, NameKey, Resolution, ResolutionSettings, Sameness
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import Administering, AnyCaller, Reading, Writing
from trueweave.server.bodies import NameBody, RuleBody, RuleRequest
from trueweave.server.fields import Cursor, Limit
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import resolution
from trueweave.store.postgres.record.resolution import RulePlace

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/rules", tags=["rules"], responses=RESPONSES, route_class=TaggedRoute
)


Which = Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f-]{1,36}$", max_length=36)]


class UndoneBody(BaseModel):
    """A rule that was undone."""

    undone: UUID


class SuggestionsBody(BaseModel):
    """Names that may refer to the same entity."""

    suggestions: list[Suggestion]


class SuggestionIds(BaseModel):
    """Suggestions by id, by the start of an id, or by number in the last list."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[Which], Field(min_length=1, max_length=200)]


class AcceptedBody(BaseModel):
    """The rules created from suggestions."""

    rules: list[RuleBody]


class RejectedBody(BaseModel):
    """The pairs of names that will not be suggested again."""

    rejected: list[tuple[NameKey, NameKey]]


class NamesBody(BaseModel):
    """Names as documents write them."""

    model_config = ConfigDict(extra="forbid")
    names: Annotated[list[NameBody], Field(min_length=1, max_length=1000)]


class MentionedNames(BaseModel):
    """For each requested name, in order, the matching names that documents mention now."""

    mentioned: list[tuple[NameKey, ...]]


class ResolutionBody(BaseModel):
    """When two names are the same entity: how they are compared, how similar they must be in per cent, and whether
    their types must match."""

    model_config = ConfigDict(extra="forbid")
    mode: Resolution
    threshold: Annotated[int, Field(ge=70, le=100)] = 90
    same: Sameness = "name_and_type"


@router.get("")
async def list_rules(trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> ListPage[RuleBody]:
    """All rules in the order in which they were made, followed by added facts."""
    pager: Pager[RulePlace] = Pager(RulePlace, "rules", trueweave.workspace.id)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await resolution.rule_page(tx, limit + 1, pager.position(cursor))
    page = pager.page(found, limit, lambda one: one[0])
    return ListPage(items=[RuleBody.of(rule) for _, rule in page["items"]], next=page["next"])


@router.post("", status_code=201)
async def make_rule(body: RuleRequest, caller: AnyCaller, trueweave: Writing, once: Idempotent) -> RuleBody:
    """Make a rule. It applies from now on, also to documents added later, and can be undone."""

    async def act() -> RuleBody:
        by = ": ".join(one for one in (caller.name, body.by) if one)  # no key can pose as another
        return RuleBody.of(await _made(body, trueweave, by))

    return RuleBody.model_validate(await once(trueweave, body, act))


@router.get("/suggestions")
async def list_suggestions(
    trueweave: Writing,
    limit: Limit = 20,
    threshold: Annotated[int | None, Query(ge=70, le=100, description="How alike, in per cent.")] = None,
    rejected: Annotated[bool, Query(description="Those that were rejected.")] = False,
) -> SuggestionsBody:
    """Pairs of names that may be the same entity and are not decided on yet, with passages of both, the most similar
    first.

    This needs the scope write, because it is for those who decide."""
    found = await trueweave.rules.suggestions(threshold, limit=limit, rejected=rejected)
    return SuggestionsBody(suggestions=found)


@router.post("/suggestions/accept")
async def accept_suggestions(body: SuggestionIds, trueweave: Writing, once: Idempotent) -> AcceptedBody:
    """Merge the names of these suggestions of the last list."""

    async def act() -> AcceptedBody:
        return AcceptedBody(rules=[RuleBody.of(rule) for rule in await trueweave.rules.accept(*body.ids)])

    return AcceptedBody.model_validate(await once(trueweave, body, act))


@router.post("/suggestions/reject")
async def reject_suggestions(body: SuggestionIds, trueweave: Writing, once: Idempotent) -> RejectedBody:
    """Never suggest these pairs of names again."""

    async def act() -> RejectedBody:
        return RejectedBody(rejected=await trueweave.rules.reject(*body.ids))

    return RejectedBody.model_validate(await once(trueweave, body, act))


@router.post("/mentioned")
async def find_mentioned(body: NamesBody, trueweave: Reading) -> MentionedNames:
    """Which of these names documents mention in exactly this spelling; a name without a type matches any type."""
    keys = [one.key() for one in body.names]
    found = await trueweave.rules.mentioned(keys)
    return MentionedNames(mentioned=[found[key] for key in keys])


@router.get("/resolution")
async def get_resolution(trueweave: Reading) -> ResolutionBody:
    """The settings that decide when two names are one entity."""
    return ResolutionBody.model_validate(await trueweave.rules.resolution(), from_attributes=True)


@router.put("/resolution")
async def change_resolution(body: ResolutionBody, trueweave: Administering, once: Idempotent) -> ResolutionBody:
    """Resolve all names again with other settings."""

    async def act() -> ResolutionBody:
        await trueweave.rules.change_resolution(ResolutionSettings(body.mode, body.threshold, body.same))
        return body

    return ResolutionBody.model_validate(await once(trueweave, body, act))


@router.delete("/{rule}")
async def undo_rule(rule: UUID, trueweave: Writing) -> UndoneBody:
    """Undo a rule, as if it had never been made."""
    try:
        await trueweave.rules.undo(rule)
    except RuleError as error:
        raise Refusal(404, "unknown_rule", f"There is no rule {rule} in this workspace.", "List the rules.") from error
    return UndoneBody(undone=rule)


async def _made(body: RuleRequest, trueweave: AsyncTrueweave, by: str) -> Rule:
    rules, names = trueweave.rules, [one.key() for one in body.names]
    target = body.target.key() if body.target else None
    whose: dict[str, Any] = {"by": by, "id": body.id}
    if body.kind == "merge":
        return await rules.merge(*names, **whose)
    if body.kind == "split":
        return await rules.split(*names, **whose)
    if len(names) > 1:
        raise Refusal(422, "invalid_rule", f"A rule to {body.kind} is about one name.", "Make a rule for each name.")
    more: dict[str, Any] = {"target": target, **whose}
    match body.kind:
        case "rename":
            return await rules.rename(names[0], body.label, **whose)
        case "retype":
            return await rules.retype(names[0], body.label, **more)
        case "describe":
            return await rules.describe(names[0], body.label, **more)
        case "suppress":
            return await rules.suppress(names[0], **more)
        case "add":
            return await rules.add(_fact(body), **whose)


def _fact(body: RuleRequest) -> Mention | Link:
    [name], to = body.names, body.target
    if to is None:
        return Mention(name.name, name.type, body.label, body.emphasis)
    words = (*((body.type,) if body.type else ()), *body.keywords)
    how = (words, body.strength, body.emphasis)
    return Link(name.name, to.name, body.label, *how, source_type=name.type, target_type=to.type)
