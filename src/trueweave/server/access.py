"""Authorisation. A workspace that a caller may not see is answered exactly like one that does not exist."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Header, Path, Request
from pydantic.json_schema import WithJsonSchema

from trueweave.core.errors import UnknownWorkspace
from trueweave.core.history import AS_OF
from trueweave.core.record import EVERY_GROUP, is_storable
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.fields import storable_text
from trueweave.server.problems import Refusal
from trueweave.server.services import Services
from trueweave.store.postgres.access.api_keys import NO_LIMITS, SCOPES, KeyLimits, KeyScope
from trueweave.store.postgres.public_errors import translated


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: a key (its prefix and name) or a token (its issuer and subject). `workspaces` of None
    means all workspaces. It reads as `groups`."""

    id: str
    name: str
    scope: KeyScope
    workspaces: frozenset[int] | None
    groups: tuple[str, ...] = ()
    limits: KeyLimits = NO_LIMITS
    makers: tuple[tuple[str, KeyLimits], ...] = ()

    @property
    def counted(self) -> dict[str, KeyLimits]:
        """The callers whose daily limits its requests count against: itself, and those that created its key."""
        return {self.id: self.limits, **dict(self.makers)}

    @property
    def account(self) -> str:
        """The id that its requests are counted under: that of the first creator of its key, or else its own."""
        return self.makers[0][0] if self.makers else self.id

    def may(self, scope: KeyScope) -> bool:
        """Whether the scope of the caller includes this one: admin includes write; write includes read."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)

    def author(self, given: str = "") -> str:
        """Who writes something: the name of the key, which cannot pose as another, and what the caller says."""
        return ": ".join(one for one in (self.name, given) if one)

    def sees(self, workspace: int) -> bool:
        """Whether the caller may know of this workspace."""
        return self.workspaces is None or workspace in self.workspaces


EVERYBODY = Caller("", "", "admin", None, (EVERY_GROUP,))


def services_of(request: Request) -> Services:
    """The services shared by all requests."""
    services: Services = request.app.state.services
    return services


def caller_of(request: Request) -> Caller:
    """The caller of the request."""
    caller: Caller = request.state.caller
    return caller


def require(request: Request, scope: KeyScope) -> Caller:
    """The caller, who must have this scope; Refusal if not. A request that needs more than `read` is audited."""
    caller = caller_of(request)
    if scope != "read":
        request.state.writes = True
    if not caller.may(scope):
        raise Refusal(
            403, "forbidden", f"This needs the scope {scope}; the key has {caller.scope}.", "Use another key."
        )
    return caller


def require_operator(caller: Caller) -> None:
    """Raise Refusal if the caller administers only some workspaces: it may not act on the server as a whole."""
    if caller.workspaces is not None:
        raise Refusal(
            403, "forbidden", "This needs a key for all workspaces; this key is limited to some.", "Use another key."
        )


_LONGEST_NAME = 200
WorkspaceName = Annotated[
    str, Path(min_length=1, max_length=_LONGEST_NAME, description="The workspace."), storable_text
]


_AsOf = Annotated[
    str | None,
    Header(
        alias=AS_OF,
        description="Answer from the index as it was at this time, if the workspace keeps history since then.",
    ),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


async def _named_time(as_of: _AsOf = None) -> datetime | None:
    """A dependency: the time of the past that the header of a request names; None for the present."""
    return _parsed(as_of)


def _parsed(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Refusal(
            400,
            "invalid_time",
            f"{AS_OF} is not a time with a time zone.",
            "Write it like 2026-05-01T00:00:00Z, in UTC or with an offset.",
        )
    return at


NamedTime = Annotated[datetime | None, Depends(_named_time)]


def reading(*, asks: bool = False) -> Callable[..., AsyncIterator[AsyncTrueweave]]:
    """A dependency that opens the workspace of the path for a request that reads, at the time that the request names;
    with `asks`, for a question."""

    async def entered(request: Request, workspace: WorkspaceName, at: NamedTime) -> AsyncIterator[AsyncTrueweave]:
        async with entered_at(request, workspace, at, asks=asks) as trueweave:
            yield trueweave

    return entered


def changing(scope: KeyScope, *, asks: bool = False) -> Callable[..., AsyncIterator[AsyncTrueweave]]:
    """A dependency that opens the workspace of the path for a caller with this scope, who may change something; with
    `asks`, for questions."""

    async def entered(request: Request, workspace: WorkspaceName) -> AsyncIterator[AsyncTrueweave]:
        async with entered_workspace(request, workspace, scope, asks=asks) as trueweave:
            yield trueweave

    return entered


async def _entered_present(request: Request, workspace: WorkspaceName) -> AsyncIterator[AsyncTrueweave]:
    """A dependency that opens the workspace of the path for a request that reads what only the present has."""
    if AS_OF in request.headers:
        raise Refusal(
            400,
            "not_of_the_past",
            "This request reads the history of the workspace, which an index of the past does not have.",
            f"Send the request without {AS_OF}. `since` and `until` name the times of a diff.",
        )
    async with entered_at(request, workspace, None) as trueweave:
        yield trueweave


@asynccontextmanager
async def entered_workspace(
    request: Request, name: str, scope: KeyScope, *, asks: bool = False
) -> AsyncIterator[AsyncTrueweave]:
    """Open a workspace as `entered_at` does, at the time that the header Trueweave-As-Of of the request names."""
    async with entered_at(request, name, _asked_time(request, scope), scope, asks=asks) as trueweave:
        yield trueweave


@asynccontextmanager
async def entered_at(
    request: Request, name: str, at: datetime | None, scope: KeyScope = "read", *, asks: bool = False
) -> AsyncIterator[AsyncTrueweave]:
    """Open a workspace by name, as far as the groups of the caller see it, if the caller may enter it with this scope.
    Who does not see all its documents may only read. With a time it is the index as it was then. With `asks` it counts
    as a question: concurrent questions are limited for each caller and each workspace."""
    if not is_storable(name) or len(name) > _LONGEST_NAME:
        raise Refusal(400, "invalid_workspace", "No workspace can have this name.", "Check the name in the address.")
    services, caller = services_of(request), caller_of(request)
    try:
        async with services.workspaces.lend(name, caller.sees, (EVERY_GROUP,) if at else caller.groups) as trueweave:
            request.state.workspace = trueweave.workspace.id
            require(request, scope)
            if scope != "read":
                with translated():
                    await trueweave.workspace.check_unrestricted()
            with services.asking.one(caller.account, trueweave) if asks else nullcontext():
                if at is None:
                    yield trueweave
                    return
                async with services.pasts.lend(trueweave, at) as past:
                    yield past.acting_as(caller.groups)
    except UnknownWorkspace:
        request.state.refused = True
        raise


def _asked_time(request: Request, scope: KeyScope) -> datetime | None:
    """The time of the past that a request asks about, from its header; None for the present."""
    given = request.headers.get(AS_OF)
    if given is not None and scope != "read":
        raise Refusal(400, "past_is_read_only", "The past cannot be changed.", f"Send the request without {AS_OF}.")
    return _parsed(given)


Reading = Annotated[AsyncTrueweave, Depends(reading())]
Present = Annotated[AsyncTrueweave, Depends(_entered_present)]
Asking = Annotated[AsyncTrueweave, Depends(reading(asks=True))]
Writing = Annotated[AsyncTrueweave, Depends(changing("write"))]
Measuring = Annotated[AsyncTrueweave, Depends(changing("write", asks=True))]
Administering = Annotated[AsyncTrueweave, Depends(changing("admin"))]
AnyCaller = Annotated[Caller, Depends(caller_of)]


def _administrator(request: Request) -> Caller:
    return require(request, "admin")


Administrator = Annotated[Caller, Depends(_administrator)]
Shared = Annotated[Services, Depends(services_of)]
