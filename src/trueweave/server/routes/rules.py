"""Routes for rules, which merge, split and rename entities and correct facts."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, RuleKind, RulePreview, Suggestion
from trueweave.core.record import Link, Mention, NameKey, Resolution, ResolutionSettings, Sameness
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import Administering, AnyCaller, Reading, Writing
from trueweave.server.bodies import NameBody, RuleBody, RuleRequest
from trueweave.server.fields import Cursor, Label, Limit, Line
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import resolution, suggestions
from trueweave.store.postgres.record.resolution import RulePlace
from trueweave.store.postgres.record.suggestions import SuggestionPlace

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
    total: int = Field(description="The number of all suggestions, counted up to 10,000.")
    next: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")


class PairBody(BaseModel):
    """Two names that were suggested."""

    model_config = ConfigDict(extra="forbid")
    one: NameBody
    other: NameBody


class DecisionRequest(PairBody):
    """Whether two names that were suggested are the same entity. If the caller gives an `id`, it becomes that of the
    rule. `by` says who decides, besides the key."""

    same: bool
    id: UUID | None = None
    by: Line = ""


class DecisionBody(BaseModel):
    """The rule that merges the names; null if they were rejected."""

    rule: RuleBody | None


class AgainBody(BaseModel):
    """Whether a pair was rejected before, and is suggested again."""

    again: bool


class PreviewRequest(BaseModel):
    """A rule that is not made: see `POST …/rules`. `limit` is how many entities and relations are listed."""

    model_config = ConfigDict(extra="forbid")
    kind: RuleKind
    names: Annotated[list[NameBody], Field(min_length=1, max_length=100)]
    label: Label = ""
    target: NameBody | None = None
    limit: Annotated[int, Field(ge=0, le=200)] = 20


class SuggestionIds(BaseModel):
    """Suggestions by id, by the start of an id, or by number in the last list."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[Which], Field(min_length=1, max_length=200)]


class AcceptRequest(SuggestionIds):
    """Suggestions to accept. `by` says who accepts them, besides the key."""

    by: Line = ""


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
        return RuleBody.of(await _made(body, trueweave, caller.author(body.by)))

    return RuleBody.model_validate(await once(trueweave, body, act))


@router.get("/suggestions")
async def list_suggestions(
    trueweave: Writing,
    limit: Limit = 20,
    threshold: Annotated[int | None, Query(ge=70, le=100, description="How alike, in per cent.")] = None,
    rejected: Annotated[bool, Query(description="Those that were rejected.")] = False,
    type: Annotated[Line, Query(description="Only pairs with a name of this type.")] = "",
    cursor: Cursor = "",
) -> SuggestionsBody:
    """Pairs of names that may be the same entity and are not decided on yet, with passages of both, the most similar
    first.

    This needs the scope write, because it is for those who decide."""
    pager: Pager[SuggestionPlace] = Pager(
        SuggestionPlace, "suggestions", trueweave.workspace.id, threshold, rejected, type
    )
    after = pager.position(cursor)
    with translated():
        found = await suggestions.suggest(
            trueweave.workspace, threshold, limit + 1, rejected=rejected, type_=type, after=after
        )
    page = pager.page(found.items, limit, lambda one: one[0])
    return SuggestionsBody(suggestions=[one for _, one in page["items"]], total=found.total, next=page["next"])


@router.post("/suggestions/decide")
async def decide_suggestion(
    body: DecisionRequest, caller: AnyCaller, trueweave: Writing, once: Idempotent
) -> DecisionBody:
    """Merge two names that were suggested, or never suggest them again. Refused if somebody has decided on them
    already, or no document mentions both any more."""

    async def act() -> DecisionBody:
        pair = body.one.key(), body.other.key()
        try:
            rule = await trueweave.rules.decide(*pair, same=body.same, by=caller.author(body.by), id=body.id)
        except RuleError as error:
            next_step = "Go to the next suggestion."
            raise Refusal(409, "already_decided", error.fact, next_step) from error
        return DecisionBody(rule=RuleBody.of(rule) if rule else None)

    return DecisionBody.model_validate(await once(trueweave, body, act))


@router.post("/suggestions/again")
async def suggest_again(body: PairBody, trueweave: Writing) -> AgainBody:
    """Take back that two names were rejected."""
    return AgainBody(again=await trueweave.rules.suggest_again(body.one.key(), body.other.key()))


@router.post("/preview")
async def preview_rule(body: PreviewRequest, trueweave: Writing) -> RulePreview:
    """What a rule would change if it were made now. Nothing is changed."""
    target = body.target.key() if body.target else None
    names = [one.key() for one in body.names]
    return await trueweave.rules.preview(body.kind, *names, label=body.label, target=target, limit=body.limit)


@router.post("/suggestions/accept")
async def accept_suggestions(
    body: AcceptRequest, caller: AnyCaller, trueweave: Writing, once: Idempotent
) -> AcceptedBody:
    """Merge the names of these suggestions of the last list."""

    async def act() -> AcceptedBody:
        made = await trueweave.rules.accept(*body.ids, by=caller.author(body.by))
        return AcceptedBody(rules=[RuleBody.of(rule) for rule in made])

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
