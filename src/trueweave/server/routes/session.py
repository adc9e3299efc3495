"""Routes for sessions of browsers. A session is in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from trueweave.server.access import Caller, Shared
from trueweave.server.bodies import EndedSessionBody, LoginWaysBody, SessionBody, SessionRequest
from trueweave.server.origins import COOKIE, LOCAL_COOKIE
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.services import Services
from trueweave.store.postgres.access import sessions
from trueweave.store.postgres.access.api_keys import ValidKey
from trueweave.store.postgres.access.sessions import OpenedSession, ValidSession
from trueweave.store.postgres.public_errors import translated

router = APIRouter(prefix="/v1/session", tags=["session"], responses=RESPONSES)

_NOT_STORED = {"Cache-Control": "no-store"}


@router.get("/ways")
async def list_login_ways(request: Request, response: Response, shared: Shared) -> LoginWaysBody:
    """How a browser can log in at the address that it used. This needs no key."""
    response.headers.update(_NOT_STORED)
    cookie = shared.origins.cookie(request.scope, request.headers)
    return LoginWaysBody(key=cookie is not None, code=cookie == LOCAL_COOKIE)


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
            shared.database, caller.prefix, caller.name, caller.scope, caller.workspaces
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
        raise Refusal(
            409,
            "https_needed",
            "Browsers log in over https only.",
            "Use an https address and set public_url to it, or run `trueweave ui` on this machine.",
        )
    shared.origins.check(request.scope, request.headers)
    return cookie


def _address(request: Request, shared: Services) -> str:
    """The address that logs in. Behind the proxy of public_url, it is the last one that the proxy names."""
    named = request.headers.getlist("x-forwarded-for")
    if shared.origins.public and named:
        return named[-1].rpartition(",")[2].strip()[:100]
    return request.client.host if request.client else ""
