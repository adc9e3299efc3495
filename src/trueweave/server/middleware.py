"""The middleware: gives each request an id, identifies its caller, limits its size, logs it, and audits it if needed.

It comes before everything else, so that no body is processed for an unknown caller.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trueweave.core.errors import TrueweaveError
from trueweave.core.settings import Settings
from trueweave.core.telemetry.measurements import measured_by
from trueweave.server.access import EVERYBODY, Caller
from trueweave.server.json_values import JsonValues
from trueweave.server.logs import begin_request
from trueweave.server.metrics import Metrics
from trueweave.server.no_auth import NoAuth, check_local
from trueweave.server.problems import Refusal, response_of
from trueweave.server.routes import session, ui, web
from trueweave.server.services import Services
from trueweave.server.streaming import while_connected
from trueweave.server.throttle import Throttle
from trueweave.server.tracing import end_request, request_span
from trueweave.store.postgres.access.api_keys import KEY_START
from trueweave.store.postgres.access.audit import AuditEntry

UPLOADS = re.compile(r"/(documents|estimate)/(files|annotated)/?$")
TEXTS = re.compile(r"/(documents|estimate)/?$")
LOGIN = session.router.prefix
OPEN = frozenset({"/healthz", "/readyz", "/v1/openapi.json", "/ui", *session.OPEN, *web.OPEN})

_log = logging.getLogger("trueweave.server.requests")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_REFUSED = (401, 403)
_LINGER, _LINGER_SECONDS = 8 * 2**20, 2.0
_HANG_UP = {"Connection": "close"}  # so that the server does not have to receive an endless body
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache"}


@dataclass(frozen=True)
class Limits:
    """Maximum bytes in a body (`login` for logging in, `body` for JSON, `texts` for JSON with texts of documents,
    `upload` for files), maximum values in JSON (members of objects and lists), and maximum requests of a key at once
    and per minute."""

    login: int = 4 * 2**10
    body: int = 4 * 2**20
    texts: int = 16 * 2**20
    values: int = 200_000
    upload: int = 100 * 2**20
    at_once: int = 256
    per_minute: int | None = None

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """The limits in the settings."""
        return cls(
            upload=settings.max_upload_bytes,
            at_once=settings.key_requests_at_once,
            per_minute=settings.key_requests_per_minute,
        )


class AccessMiddleware:
    """Wraps an application. Without `authenticated`, requests from this machine need no key until a key is created."""

    def __init__(
        self,
        app: ASGIApp,
        services: Callable[[], Services],
        metrics: Metrics,
        *,
        authenticated: bool,
        limits: Limits,
    ) -> None:
        self._app = app
        self._services = services
        self._metrics = metrics
        self._no_auth = None if authenticated else NoAuth()
        self._limits = limits
        self._throttle = Throttle(limits.at_once, limits.per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        begin_request(request_id, state)
        began, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = MutableHeaders(scope=message)
                sent["X-Request-Id"] = request_id
                if status == 500:  # uvicorn closes the connection after a bug, so clients must not reuse it
                    sent["Connection"] = "close"
                for name, value in _HEADERS.items():
                    sent.setdefault(name, value)
            await send(message)

        with ExitStack() as counted:
            state["span"] = counted.enter_context(request_span(scope["method"], request_id, headers))
            counted.callback(lambda: self._told(scope, status, time.perf_counter() - began))
            counted.enter_context(self._metrics.requests_under_way.track_inprogress())
            counted.enter_context(measured_by(self._metrics.measured))
            try:
                state["caller"] = caller = await self._caller(scope, headers)
                if caller:
                    counted.enter_context(self._throttle.request(caller.account))
                self._check_length(scope, headers)
            except (Refusal, TrueweaveError) as error:
                response = response_of(error, request_id, path=scope["path"])
                if _has_body(headers):
                    await _drain(receive)
                    response.headers["Connection"] = "close"
                await response(scope, receive, answer)
                return
            async with self._metered(caller):
                bounded = self._bounded(scope, receive)
                if scope["method"] == "GET" and not _has_body(headers):  # a write is not cancelled half-way
                    await while_connected(self._app, scope, bounded, answer)
                else:
                    await self._app(scope, bounded, answer)

    def _metered(self, caller: Caller | None) -> AbstractAsyncContextManager[None]:
        return self._services().daily.request(caller.counted) if caller and caller.id else nullcontext()

    async def _caller(self, scope: Scope, headers: Headers) -> Caller | None:
        if _is_open(scope):
            return None
        services = self._services()
        if self._no_auth and await self._no_auth.is_in_force(services.database):
            check_local(scope, headers)
            return EVERYBODY
        if "authorization" not in headers and (known := await self._session(services, scope, headers)):
            return known
        kind, _, shown = headers.get("authorization", "").partition(" ")
        shown = shown.strip() if kind.lower() == "bearer" else ""
        if services.tokens and shown and not shown.startswith(KEY_START):
            if token := await services.tokens.find(shown):
                return Caller(*token)
            raise Refusal(
                401,
                "unauthorized",
                "The token is not valid here: it has another issuer or audience, or is expired or forged.",
                "Get a new one from the identity provider. The reason is in the log of the server.",
                {"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        if found := await services.keys.find(shown):
            return Caller(*found)
        raise Refusal(
            401,
            "unauthorized",
            "There is no valid key: it is missing, unknown, revoked or expired.",
            "Send one as `Authorization: Bearer twk_…`. `trueweave keys create` creates one.",
            {"WWW-Authenticate": "Bearer"},
        )

    async def _session(self, services: Services, scope: Scope, headers: Headers) -> Caller | None:
        """The caller of the session in the cookie; None if there is none. Raises Refusal if it has ended, or if a page
        of another origin sent the request."""
        cookie = services.origins.cookie(scope, headers)
        secret = cookie_parser("; ".join(headers.getlist("cookie"))).get(cookie) if cookie else None
        if not secret:
            return None
        session = await services.sessions.find(secret)
        if session is None:
            raise Refusal(
                401, "session_ended", "The session has ended.", "Log in again.", {"WWW-Authenticate": "Bearer"}
            )
        services.origins.check(scope, headers)
        scope["state"]["session"] = secret, session
        return Caller(*session.caller)

    def _most(self, scope: Scope) -> int:
        if scope["path"] == LOGIN:
            return self._limits.login
        if UPLOADS.search(scope["path"]):
            return self._limits.upload
        return self._limits.texts if TEXTS.search(scope["path"]) else self._limits.body

    def _check_length(self, scope: Scope, headers: Headers) -> None:
        said = headers.get("content-length", "")
        if said.isdigit() and int(said) > self._most(scope):
            raise _too_large(self._most(scope))

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        most, seen = self._most(scope), 0
        values = None if UPLOADS.search(scope["path"]) else JsonValues()

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                block = message.get("body", b"")
                seen += len(block)
                is_large = seen > most
                if is_large or (values and values.count(block) > self._limits.values):
                    if message.get("more_body"):
                        await _drain(receive)
                    raise _too_large(most) if is_large else _too_many_values(self._limits.values)
            return message

        return bounded

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        state, caller = scope["state"], scope["state"].get("caller")
        route = getattr(scope.get("route"), "path", "") or "(none)"
        workspace = state.get("workspace")
        self._metrics.request(scope["method"], route, status, seconds)
        end_request(state["span"], scope["method"], route, status, workspace)
        fields = {"request": state["request_id"], "method": scope["method"], "route": route, "status": status}
        more = {"seconds": round(seconds, 4), "workspace": workspace, "caller": caller.id if caller else ""}
        _log.info(
            "%s %s %d in %.0f ms",
            scope["method"],
            route,
            status,
            1000 * seconds,
            extra={"event": "request", **fields, **more},
        )
        if state.get("writes") or state.get("refused") or status in _REFUSED:
            who = caller.id if caller else ""
            entry = AuditEntry(datetime.now(UTC), state["request_id"], who, scope["method"], route, workspace, status)
            if status == 401:
                self._services().audit.add_unauthorized(entry, (scope.get("client") or ("",))[0])
            else:
                self._services().audit.add(entry)


def _is_open(scope: Scope) -> bool:
    """Whether a request needs no key."""
    path = scope["path"]
    return path in OPEN or path.startswith(ui.PATH) or (path == LOGIN and scope["method"] == "POST")


def _has_body(headers: Headers) -> bool:
    return not {"content-length", "transfer-encoding"}.isdisjoint(headers.keys())


async def _drain(receive: Receive) -> None:
    """Discard some of an unwanted body: a client that is still sending would not read why it was refused."""
    seen = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            while seen < _LINGER:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body"):
                    return


def _too_large(most: int) -> Refusal:
    return Refusal(413, "too_large", f"The body has more than {most:,} bytes.", "Send less at once.", _HANG_UP)


def _too_many_values(most: int) -> Refusal:
    return Refusal(413, "too_large", f"The JSON has more than {most:,} values.", "Send less at once.", _HANG_UP)
