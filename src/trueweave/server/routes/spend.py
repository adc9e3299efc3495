"""Routes for the budget of a workspace, and what it has spent on models."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from trueweave.core.money import Budget, SpendBy, Spent, SpentOn, SpentOnDay
from trueweave.server.access import Administering, Reading
from trueweave.server.bodies import BudgetRequest
from trueweave.server.fields import Limit
from trueweave.server.idempotency import Idempotent
from trueweave.server.problems import RESPONSES

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["spend"], responses=RESPONSES)

Since = Annotated[AwareDatetime | None, Query(description="Only what was spent since then.")]


class SpendBody(BaseModel):
    """Spending by stage and model, and the currency of the prices."""

    currency: str
    receipt: list[Spent]


class SpendByDocument(BaseModel):
    """Spending on the most expensive documents, by model."""

    currency: str
    documents: list[SpentOn]


class SpendByDay(BaseModel):
    """Spending on each day, by stage or by model, the earliest day first."""

    currency: str
    days: list[SpentOnDay]


@router.get("/spend")
async def get_spend(trueweave: Reading, since: Since = None) -> SpendBody:
    """Spending on models, by stage and model."""
    return SpendBody(currency=trueweave.settings.currency, receipt=await trueweave.budget.receipt(since))


@router.get("/spend/documents")
async def get_spend_by_document(trueweave: Reading, since: Since = None, limit: Limit = 20) -> SpendByDocument:
    """Spending on the most expensive documents, by model."""
    found = await trueweave.budget.receipt_by_document(since, limit)
    return SpendByDocument(currency=trueweave.settings.currency, documents=found)


@router.get("/spend/daily")
async def get_spend_by_day(
    trueweave: Reading,
    since: Since = None,
    by: Annotated[SpendBy, Query(description="Whether to list stages or models.")] = "stage",
) -> SpendByDay:
    """Spending on models on each day (in UTC), by stage or by model; at most for a year."""
    found = await trueweave.budget.receipt_by_day(since, by)
    return SpendByDay(currency=trueweave.settings.currency, days=found)


@router.get("/budget")
async def get_budget(trueweave: Reading) -> Budget:
    """The total budget of the workspace for models, what it has spent, and what is reserved for calls in progress."""
    return await trueweave.budget.get()


@router.put("/budget")
async def set_budget(body: BudgetRequest, trueweave: Administering, once: Idempotent) -> Budget:
    """Let the workspace spend this much more, in money or in tokens; without either, there is no limit."""

    async def act() -> Budget:
        return await trueweave.budget.allow(price=body.price, tokens=body.tokens)

    found: Budget = await once(trueweave, body, act)
    return found
