"""Routes for the models of a workspace: their names, checks of them, and a trial of extraction."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from trueweave.core.checks import HealthCheck
from trueweave.core.model_calls import ExtractionTrial, ModelNames
from trueweave.core.record import DroppedFinding, Source
from trueweave.server.access import Administering, Administrator, Reading, Writing, require_operator
from trueweave.server.fields import DocumentText
from trueweave.server.problems import RESPONSES
from trueweave.server.routes.settings import TenantSettings

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["settings"], responses=RESPONSES)

_MOST_CHARACTERS = 20_000
_TRIED = "try-extract"  # the uri of a text that is tried


class ChecksBody(BaseModel):
    """Checks of the database and of the models. `ok` is null if a result is not known; `fix` says what to do."""

    checks: list[HealthCheck]


class TrialRequest(BaseModel):
    """A text whose first chunk is tried, and settings of the workspace that are changed for this trial alone."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[DocumentText, Field(min_length=1, max_length=_MOST_CHARACTERS)]
    settings: TenantSettings = TenantSettings()


class FoundName(BaseModel):
    """An entity that was found."""

    name: str
    type: str
    description: str


class FoundLink(BaseModel):
    """A relation that was found."""

    source: str
    target: str
    description: str
    keywords: list[str]


class TrialBody(BaseModel):
    """What an extractor found in the first chunk of a text that has `chunks`, what was left out and why, and its cost.
    `problem` is the reason if the model's reply was unusable."""

    extractor: str
    chunks: int
    text: str
    entities: list[FoundName]
    relations: list[FoundLink]
    left_out: list[DroppedFinding]
    notes: list[str]
    problem: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None
    currency: str


@router.get("/models")
async def get_models(trueweave: Reading) -> ModelNames:
    """The models that the workspace uses."""
    return await trueweave.maintenance.models()


@router.get("/checks")
async def run_checks(trueweave: Administering, caller: Administrator, response: Response) -> ChecksBody:
    """Check the database and the models of the workspace. The language model answers one short question, and the
    embedding model embeds two words. This needs an admin key for all workspaces, as errors name addresses of the
    server."""
    require_operator(caller)
    response.headers["Cache-Control"] = "no-store"
    return ChecksBody(checks=await trueweave.maintenance.checks())


@router.post("/try-extract")
async def try_extract(body: TrialRequest, trueweave: Writing) -> TrialBody:
    """Extract entities and relations from the first chunk of a text, and store nothing. The model's reply is cached as
    usual, and paid for from the budget of the workspace."""
    given = body.settings.model_dump(mode="json", exclude_none=True)
    found = await trueweave.try_extract(Source(_TRIED, body.text), changes=given)
    return _body(found, trueweave.settings.currency)


def _body(found: ExtractionTrial, currency: str) -> TrialBody:
    names = [FoundName(name=one.name, type=one.type, description=one.description) for one in found.found.mentions]
    links = [
        FoundLink(source=one.source, target=one.target, description=one.description, keywords=list(one.keywords))
        for one in found.found.links
    ]
    return TrialBody(
        extractor=found.extractor,
        chunks=found.chunks,
        text=found.chunk.text,
        entities=names,
        relations=links,
        left_out=list(found.left_out),
        notes=list(found.found.notes),
        problem=found.problem,
        calls=sum(not call.reply.kept for call in found.calls),
        tokens_in=found.tokens_in,
        tokens_out=found.tokens_out,
        price=found.price,
        currency=currency,
    )
