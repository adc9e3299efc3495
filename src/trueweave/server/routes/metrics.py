"""The route for metrics of the server, for administrators of all workspaces."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from trueweave.server.access import AnyCaller, Shared
from trueweave.server.problems import RESPONSES, Refusal

router = APIRouter(tags=["health"], responses=RESPONSES)

_PAGE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", response_class=Response, responses=_PAGE)
async def get_metrics(request: Request, caller: AnyCaller, shared: Shared) -> Response:
    """Prometheus metrics. They cover all workspaces together, so the key must be for all of them."""
    # Not `Administrator`: that would put each scrape into the audit log, although nothing is written.
    if not (caller.may("admin") and caller.workspaces is None):
        raise Refusal(403, "forbidden", "Metrics need a key with scope admin for all workspaces.", "Use another key.")
    accepted = request.headers.get("accept", "")
    body, media_type = await asyncio.to_thread(shared.metrics.page, accepted)
    return Response(body, media_type=None, headers={"Content-Type": media_type})
