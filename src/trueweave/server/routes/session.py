"""Routes for sessions of browsers. A session is in a cookie that scripts cannot read."""

from __future__ import annotations

import hmac
import logging
import re
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.responses import RedirectResponse

from trueweave.server.access import Caller, Shared
from trueweave.server.bodies import EndedSessionBody, LoginWaysBody, SessionBody, SessionRequest
from trueweave.server.origins import COOKIE, LOCAL_COOKIE
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.provider_login import LoginFailed, ProviderLogin, StartedLogin
from trueweave.server.routes.ui import PATH
from trueweave.server.services import Services
from trueweave.server.signing_keys import ProviderUnavailable
from trueweave.store.postgres.access import sessions
from trueweave.store.postgres.access.api_keys import ValidKey
from trueweave.store.postgres.access.sessions import OpenedSession, ValidSession
from trueweave.store.postgres.public_errors import translated

router = APIRouter(prefix="/v1/session", tags=["session"], responses=RESPONSES)

# Paths that need no key. Logging in itself, POST /v1/session, needs none either.
OPEN = frozenset(f"{router.prefix}/{name}" for name in ("ways", "login", "callback"))

_log = logging.getLogger(__name__)
_STARTED = "__Host-tw-login"
_STARTED_SECONDS = 600
_VIEW = re.compile(r"/ui/[^\\\x00-\x20\x7f]{0,2000}")
_NOT_STORED = {"Cache-Control": "no-store"}


@router.get("/ways")
async def list_login_ways(request: Request, response: Response, shared: Shared) -> LoginWaysBody:
    """How a browser can log in at the address that it used. This needs no key."""
    response.headers.update(_NOT_STORED)
    cookie = shared.origins.cookie(request.scope, request.headers)
    has_provider = cookie == COOKIE and shared.login is not None
    return LoginWaysBody(key=cookie is not None, code=cookie == LOCAL_COOKIE, provider=has_provider)


@router.post("", status_code=201)
async def open_session(body: SessionRequest, request: Request, response: Response, shared: Shared) -> SessionBody:
    """Log in with a key or a one-time code. The response sets a cookie that scripts cannot read."""
    cookie = _cookie(request, shared)
    if body.code is not None:
        found, opened = await _open_with_code(body.code, shared)
    else:
        found, opened = await _open_with_key(body.key or "", _address(request, shared), shared)
    request.state.caller, request.state.writes = Caller(*found), True
    send_session(response, cookie, opened)
    return SessionBody(caller=found.prefix, name=found.name, scope=found.scope, ends=opened.ends)


async def _open_with_key(key: str, address: str, shared: Services) -> tuple[ValidKey, OpenedSession]:
    shared.attempts.check(address)
    found = await shared.keys.find(key)
    with translated():
        opened = await sessions.open_for_key(shared.database, found.prefix) if found else None
    if found is None or opened is None:
        shared.attempts.fail(address)
        raise Refusal(
            401,
            "unauthorized",
            "There is no such key: it is unknown, revoked or expired.",
            "Check it, or create one with `trueweave keys create`.",
        )
    return found, opened


async def _open_with_code(code: str, shared: Services) -> tuple[ValidKey, OpenedSession]:
    """Failed attempts are not counted: all users of this machine have the same address."""
    if shared.local is None or not shared.local.take(code):
        raise Refusal(
            401,
            "unauthorized",
            "The code is not valid: it works once, within ten minutes.",
            "Start `trueweave ui` again to get a new one.",
        )
    caller = shared.local.caller
    with translated():
        opened = await sessions.open_for_caller(
            shared.database, caller.prefix, caller.name, caller.scope, caller.workspaces, caller.groups
        )
    return caller, opened


def _current(request: Request) -> tuple[str, ValidSession]:
    found: tuple[str, ValidSession] | None = getattr(request.state, "session", None)
    if found is None:
        raise Refusal(404, "no_session", "This request has no session.", "Log in with POST /v1/session.")
    return found


Current = Annotated[tuple[str, ValidSession], Depends(_current)]


@router.get("")
async def get_session(session: Current, response: Response) -> SessionBody:
    """The session of this browser."""
    _, found = session
    response.headers.update(_NOT_STORED)
    return SessionBody(caller=found.caller.prefix, name=found.caller.name, scope=found.caller.scope, ends=found.ends)


@router.delete("")
async def end_session(session: Current, request: Request, response: Response, shared: Shared) -> EndedSessionBody:
    """Log out. Other processes follow within seconds."""
    secret, found = session
    request.state.writes = True
    with translated():
        await sessions.close(shared.database, secret)
    shared.sessions.forget(secret)
    name = _cookie(request, shared)
    response.delete_cookie(name, path="/", secure=name == COOKIE, httponly=True, samesite="strict")
    response.headers.update(_NOT_STORED)
    return EndedSessionBody(ended=found.caller.prefix)


@router.get("/login", include_in_schema=False)
async def start_provider_login(
    request: Request, shared: Shared, next_path: Annotated[str, Query(alias="next", max_length=2500)] = PATH
) -> RedirectResponse:
    """Send the browser to the identity provider. The login in progress is in a cookie, so that only this browser can
    finish it; the provider leads back from another site, which SameSite=Strict would not allow."""
    login, callback = _provider(request, shared)
    try:
        address, started = await login.start(callback, _view(next_path))
    except ProviderUnavailable:
        return _not_logged_in("provider_unavailable")
    response = RedirectResponse(address, 303, _NOT_STORED)
    response.set_cookie(
        _STARTED, started.packed(), _STARTED_SECONDS, path="/", secure=True, httponly=True, samesite="lax"
    )
    return response


@router.get("/callback", include_in_schema=False)
async def finish_provider_login(
    request: Request,
    shared: Shared,
    code: Annotated[str, Query(max_length=4000)] = "",
    state: Annotated[str, Query(max_length=200)] = "",
) -> RedirectResponse:
    """Open a session for the user whom the identity provider logged in."""
    login, callback = _provider(request, shared)
    started = StartedLogin.unpacked(request.cookies.get(_STARTED, ""))
    if started is None or not hmac.compare_digest(started.state.encode(), state.encode()):
        return _not_logged_in("login_expired")
    if not code:
        return _not_logged_in("login_refused")
    try:
        found = await login.finish(started, code, callback)
    except LoginFailed as error:
        _log.warning("a login at the identity provider failed: %s", error, extra={"event": "oidc.login_failed"})
        return _not_logged_in("login_refused")
    except ProviderUnavailable:
        return _not_logged_in("provider_unavailable")
    except Refusal as error:
        return _not_logged_in("provider_unavailable" if error.status_code == 503 else error.code)
    with translated():
        opened = await sessions.open_for_caller(
            shared.database, found.id, found.name, found.scope, found.workspaces, found.groups
        )
    request.state.caller, request.state.writes = Caller(*found), True
    response = RedirectResponse(_view(started.next), 303)
    send_session(response, COOKIE, opened)
    response.delete_cookie(_STARTED, path="/", secure=True, httponly=True, samesite="lax")
    return response


def _provider(request: Request, shared: Services) -> tuple[ProviderLogin, str]:
    """The login at the identity provider, and the address that it leads back to."""
    own = shared.origins.own(request.scope, request.headers)
    if shared.login is None:
        raise Refusal(
            404,
            "no_provider",
            "Browsers cannot log in at an identity provider here.",
            "Log in with a key, or ask the server's administrator to set oidc_client_id.",
        )
    if own is None or shared.origins.cookie(request.scope, request.headers) != COOKIE:
        raise _https_needed()
    return shared.login, f"{own}/v1/session/callback"


def _view(path: str) -> str:
    """The view to show after a login: a path of the web UI, and nothing else."""
    return path if _VIEW.fullmatch(path) else PATH


def _not_logged_in(code: str) -> RedirectResponse:
    return RedirectResponse(f"{PATH}login?error={code}", 303, _NOT_STORED)


def send_session(response: Response, cookie: str, opened: OpenedSession) -> None:
    """Set the cookie of a session."""
    response.set_cookie(
        cookie,
        opened.secret,
        max_age=round(sessions.LONGEST.total_seconds()),
        path="/",
        secure=cookie == COOKIE,
        httponly=True,
        samesite="strict",
    )
    response.headers.update(_NOT_STORED)


def _cookie(request: Request, shared: Services) -> str:
    """The name of the cookie. Raises Refusal if this address gets none, or if another page sent the request."""
    cookie = shared.origins.cookie(request.scope, request.headers)
    if cookie is None:
        raise _https_needed()
    shared.origins.check(request.scope, request.headers)
    return cookie


def _https_needed() -> Refusal:
    return Refusal(
        409,
        "https_needed",
        "Browsers log in over https only.",
        "Use an https address and set public_url to it, or run `trueweave ui` on this machine.",
    )


def _address(request: Request, shared: Services) -> str:
    """The address that logs in. Behind the proxy of public_url, it is the last one that the proxy names."""
    named = request.headers.getlist("x-forwarded-for")
    if shared.origins.public and named:
        return named[-1].rpartition(",")[2].strip()[:100]
    return request.client.host if request.client else ""
