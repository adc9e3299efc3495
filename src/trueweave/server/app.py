"""The application: all routes behind the middleware that identifies callers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from trueweave.core.settings import Settings
from trueweave.server import problems
from trueweave.server.local_login import LocalLogin
from trueweave.server.mcp import AgentEndpoint
from trueweave.server.metrics import Metrics
from trueweave.server.middleware import AccessMiddleware, Limits
from trueweave.server.origins import SessionOrigins
from trueweave.server.provider_login import check_login
from trueweave.server.routes import (
    access,
    bench,
    communities,
    documents,
    graph,
    health,
    history,
    jobs,
    keys,
    me,
    memory,
    metrics,
    models,
    ollama,
    openai,
    questions,
    rules,
    session,
    sources,
    spend,
    ui,
    watches,
    web,
    workspaces,
)
from trueweave.server.routes import (
    settings as workspace_settings,
)
from trueweave.server.services import Services, opened_services
from trueweave.server.shutdown import Shutdown
from trueweave.server.tokens import check_provider

_ABOUT = (
    "A knowledge graph woven with a vector index from documents, that answers questions with checked citations. "
    "Errors are application/problem+json. Lists have cursors. Writes take an Idempotency-Key."
)

# FastAPI's own spans and log records contain paths, which name workspaces, and error messages, which quote texts. The
# middleware creates a span for each request instead. Older versions of FastAPI have no telemetry and ignore this.
_NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


class ServerApp(FastAPI):
    """FastAPI wrapped in the middleware, which therefore also sees errors of the application itself."""

    def __init__(self, *, authenticated: bool, limits: Limits, shutdown: Shutdown, **more: Any) -> None:
        super().__init__(**more)
        self.metrics = Metrics()
        self.shutdown = shutdown
        self._entered: Callable[[ASGIApp], ASGIApp] = lambda app: AccessMiddleware(
            app, self._services, self.metrics, authenticated=authenticated, limits=limits
        )

    def _services(self) -> Services:
        services: Services = self.state.services
        return services

    def build_middleware_stack(self) -> ASGIApp:
        """The middleware stack, with ours outermost."""
        return self._entered(super().build_middleware_stack())

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the server."""
        if not self.openapi_schema:
            made = super().openapi()
            problems.add_schemas(made)
            schemes = made["components"].setdefault("securitySchemes", {})
            schemes["key"] = {
                "type": "http",
                "scheme": "bearer",
                "description": "A key, `twk_…`, or a token of an identity provider.",
            }
            made["security"] = [{"key": []}]
        assert self.openapi_schema
        return self.openapi_schema


def create_app(
    settings: Settings | None = None,
    *,
    authenticated: bool = True,
    works: bool = False,
    limits: Limits | None = None,
    local: LocalLogin | None = None,
) -> ServerApp:
    """The server for the database of these settings.

    Without `authenticated`, requests from this machine need no key and may do everything, until a key is created. With
    `works` it also runs a worker. With `local`, browsers on this machine can log in with a one-time code.
    """
    settings = settings or Settings.load()
    check_provider(settings)
    check_login(settings)
    origins = SessionOrigins.of(settings.public_url, local.host if local else None)
    agents = AgentEndpoint.find()

    @asynccontextmanager
    async def lifespan(app: ServerApp) -> AsyncIterator[None]:
        async with (
            opened_services(settings, app.metrics, app.shutdown, origins, local, works=works) as services,
            AsyncExitStack() as stack,
        ):
            app.state.services = services
            if agents:
                await stack.enter_async_context(agents.running())
            yield

    app = ServerApp(
        authenticated=authenticated,
        limits=limits or Limits.of(settings),
        shutdown=Shutdown(settings.shutdown_seconds),
        title="Trueweave",
        description=_ABOUT,
        version=version("trueweave"),
        openapi_url="/v1/openapi.json",
        docs_url=None,  # FastAPI's page loads scripts from another host; the page in `web` does not
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    problems.install(app)
    if agents:
        app.router.routes.append(agents.route)
    for router in (  # searched in this order for each request, so the most used ones come first
        questions.router,
        health.router,
        metrics.router,
        workspaces.router,
        documents.router,
        questions.methods_router,
        graph.router,
        communities.router,
        rules.router,
        access.router,
        history.router,
        sources.router,
        watches.router,
        bench.router,
        memory.router,
        jobs.router,
        spend.router,
        workspace_settings.router,
        models.router,
        keys.router,
        me.router,
        session.router,
        openai.router,
        ollama.router,
        web.router,
        ui.router,
    ):
        _add(app, router)
    return app


def _add(app: FastAPI, router: APIRouter) -> None:
    """Add the routes of a router, each an operation that is named after its function. `include_router` would build each
    route a second time, in the first requests: a quarter of a second for all of them."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            route.operation_id = route.name
    app.router.routes.extend(router.routes)
