"""Routes for the budget of a workspace, and what it has spent on models."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from trueweave.core.money import Budget, Spent, SpentOn
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


@router.get("/spend")
async def get_spend(trueweave: Reading, since: Since = None) -> SpendBody:
    """Spending on models, by stage and model."""
    return SpendBody(currency=trueweave.settings.currency, receipt=await trueweave.budget.receipt(since))


@router.get("/spend/documents")
async def get_spend_by_document(trueweave: Reading, since: Since = None, limit: Limit = 20) -> SpendByDocument:
    """Spending on the most expensive documents, by model."""
    found = await trueweave.budget.receipt_by_document(since, limit)
    return SpendByDocument(currency=trueweave.settings.currency, documents=found)


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
