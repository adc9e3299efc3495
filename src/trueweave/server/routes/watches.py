"""Routes for watches: questions that workers ask again when the index has changed, and their alerts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from trueweave.core.errors import TrueweaveError
from trueweave.core.json_forms import filter_json
from trueweave.core.parameters import values
from trueweave.core.watches import TOKENS_PER_DAY, Alert, Watch, WatchOptions
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.engine.watches import add_watch
from trueweave.server.access import AnyCaller, Caller, Reading, Shared, Writing
from trueweave.server.bodies import FilterBody
from trueweave.server.fields import Cursor, Groups, Limit, Line, Name, storable_text
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal, problem_of, request_id_of
from trueweave.server.services import Services
from trueweave.server.streaming import EVENT, MEDIA_TYPE, EventStream, event
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.access.api_keys import NO_LIMITS
from trueweave.store.postgres.public_errors import translated

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/watches", tags=["watches"], responses=RESPONSES, route_class=TaggedRoute
)

WatchName = Annotated[str, Path(min_length=1, max_length=100, description="Its name."), storable_text]
_LOOK_AGAIN = 1.0  # seconds
_SHARE = 10  # after each look, wait this many times as long as it took
_LONGEST = 60.0  # seconds of a stream, before its key is checked again
_PROBLEM = "The server's administrator finds the reason in `trueweave watch list`."
_ALERT: TypeAdapter[Alert] = TypeAdapter(Alert)
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `alert` for each new alert, for a minute; `problem` if they cannot be read.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
    }
}


class NewWatchBody(BaseModel):
    """A question to be asked again. The name is made from the question if it is empty, and `groups` default to those of
    the caller. `by` says who adds it, beside the name of the key."""

    model_config = ConfigDict(extra="forbid")
    question: Name
    name: Annotated[str, Field(max_length=100), storable_text] = ""
    method: Annotated[str, Field(max_length=200), storable_text] = ""
    filter: FilterBody = FilterBody()
    groups: Groups | None = None
    passages: Annotated[int, Field(ge=1, le=50)] = 5
    answers: bool = False
    tokens_per_day: Annotated[int, Field(ge=0, le=1_000_000_000)] = TOKENS_PER_DAY
    webhook: Line = ""
    by: Line = ""

    def asked(self, caller: Caller) -> WatchOptions:
        """What is to be added for a caller."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return WatchOptions(**{**given, "filter": self.filter.filter(), "by": caller.author(self.by)})


class WatchBody(BaseModel):
    """A question that is asked again when the index has changed. `filter` is as in its request."""

    name: str
    question: str
    method: str
    filter: dict[str, Any]
    groups: tuple[str, ...]
    passages: int
    answers: bool
    tokens_per_day: int
    webhook: str
    author: str
    made: datetime
    asked: datetime
    alerts: int
    problem: str

    @classmethod
    def of(cls, watch: Watch, caller: Caller) -> WatchBody:
        """A watch as a caller may see it: reasons of failures may name hosts and settings, which are for whoever runs
        the server."""
        is_operator = caller.scope == "admin" and caller.workspaces is None
        shown = watch if is_operator or not watch.problem else replace(watch, problem=_PROBLEM)
        return cls(**{**values(shown), "filter": filter_json(watch.filter)})


class AlertsBody(BaseModel):
    """Alerts in the order of time."""

    alerts: list[Alert]


class RemovedWatchBody(BaseModel):
    """A watch that was removed."""

    removed: str


@router.get("", response_model=ListPage[WatchBody])
async def list_watches(trueweave: Reading, caller: AnyCaller, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The watches of the workspace in the order of their names."""
    pager: Pager[str] = Pager(str, "watches", trueweave.workspace.id)
    found = await trueweave.watches.all(limit + 1, after=pager.position(cursor) or "")
    return pager.page([WatchBody.of(one, caller) for one in found], limit, lambda one: one.name)


@router.post("", status_code=201, response_model=WatchBody)
async def make_watch(
    body: NewWatchBody, trueweave: Writing, caller: AnyCaller, shared: Shared, once: Idempotent
) -> Any:
    """Ask a question now, and again whenever the index has changed, as long as the key of this request is valid. There
    is an alert when its first passages are others than before. The administrator decides to which hosts alerts may be
    sent."""
    if body.answers:
        _check_unlimited(caller, shared)

    async def act() -> WatchBody:
        with translated():
            made = await add_watch(trueweave.watch_runs(shared.database), body.asked(caller), key=caller.id)
        return WatchBody.of(made, caller)

    return await once(trueweave, body, act)


@router.get("/alerts")
async def list_alerts(
    trueweave: Reading,
    watch: Annotated[str, Query(max_length=100, description="Only those of this watch."), storable_text] = "",
    after: Annotated[
        int | None, Query(ge=0, le=2**53, description="Only those after this one, the next ones first.")
    ] = None,
    limit: Limit = 50,
) -> AlertsBody:
    """Alerts in the order of time: the latest, or the next after one. The first of each watch has what it found when it
    was added."""
    return AlertsBody(alerts=await trueweave.watches.alerts(watch or None, after=after, limit=limit))


@router.get("/events", status_code=200, response_class=EventStream, responses=_EVENTS)
async def follow_alerts(
    request: Request,
    trueweave: Reading,
    shared: Shared,
    after: Annotated[int | None, Query(ge=0, le=2**53, description="The id of the last alert seen.")] = None,
) -> EventStream:
    """New alerts of all watches, as they are made. The stream ends after a minute: connect again to go on, with the id
    of the last alert."""
    latest = await trueweave.watches.alerts(limit=1)
    begin = after if after is not None else latest[-1].id if latest else 0
    return EventStream(_events(trueweave, begin, shared.stopping, request_id_of(request)))


@router.get("/{watch}")
async def get_watch(watch: WatchName, trueweave: Reading, caller: AnyCaller) -> WatchBody:
    """A watch, and when it was last asked."""
    return WatchBody.of(await trueweave.watches.get(watch), caller)


@router.delete("/{watch}")
async def remove_watch(watch: WatchName, trueweave: Writing) -> RemovedWatchBody:
    """Remove a watch and its alerts."""
    await trueweave.watches.remove(watch)
    return RemovedWatchBody(removed=watch)


def _check_unlimited(caller: Caller, shared: Services) -> None:
    """Workers do not count answers of watches against the limits of a caller."""
    if any(shared.daily.of(limits) != NO_LIMITS for limits in caller.counted.values()):
        raise Refusal(
            403,
            "forbidden",
            "Callers with a daily limit cannot have watches that answer.",
            "Leave `answers` out, or ask a caller without a limit.",
        )


async def _events(
    trueweave: AsyncTrueweave, after: int, stopping: asyncio.Event, request_id: str
) -> AsyncGenerator[bytes, None]:
    ends = time.monotonic() + _LONGEST
    while not stopping.is_set() and time.monotonic() < ends:
        began = time.monotonic()
        try:
            found = await trueweave.watches.alerts(after=after)
        except TrueweaveError as error:
            yield event("problem", problem_of(error, request_id))
            return
        for one in found:
            yield event("alert", _ALERT.dump_python(one, mode="json"))
            after = one.id
        await asyncio.sleep(max(_LOOK_AGAIN, _SHARE * (time.monotonic() - began)))
