"""Routes for liveness, readiness and the version."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from trueweave.core import supervising
from trueweave.server.access import AnyCaller, Shared
from trueweave.server.problems import RESPONSES, Refusal

_PATIENCE = 2.0  # seconds to wait for the database

_OPEN: dict[str, Any] = {"security": []}

router = APIRouter(tags=["health"], responses=RESPONSES)


class HealthBody(BaseModel):
    """The server is alive, or ready."""

    status: str


class VersionBody(BaseModel):
    """The version of Trueweave."""

    version: str


@router.get("/healthz", openapi_extra=_OPEN)
async def healthz() -> HealthBody:
    """Whether the server is alive. The database is not queried."""
    return HealthBody(status="ok")


@router.get("/readyz", openapi_extra=_OPEN)
async def readyz(shared: Shared) -> HealthBody:
    """Whether the server is ready: the database is available and has the right version, all background tasks are
    running, and the server is not shutting down."""
    if shared.stopping.is_set():
        raise Refusal(503, "stopping", "The server is shutting down.", "Use another server.")
    if down := supervising.down():
        failed = f"Failed background tasks: {', '.join(down)}."
        raise Refusal(503, "task-down", failed, "They are restarted automatically. The log says what happened.")
    await shared.readiness.check(_PATIENCE)
    return HealthBody(status="ready")


@router.get("/v1/version")
async def get_version(_: AnyCaller) -> VersionBody:
    """The version of Trueweave."""
    return VersionBody(version=version("trueweave"))
