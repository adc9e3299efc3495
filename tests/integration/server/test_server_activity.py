"""The activity of a workspace, once and as a stream of events."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.integration.serving import TEXT, fill, serving
from trueweave import Chunk, Document
from trueweave.core.jobs import Activity
from trueweave.engine.maintenance import AsyncMaintenanceGroup
from trueweave.server import activity

ROOM = "/v1/workspaces/mine"
ONE = {"documents": [{"uri": "a", "text": TEXT}]}


async def events(answer: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    """The activities that a stream sends."""
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            assert line == "event: activity"
        elif line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def test_activity_says_what_waits_and_for_what(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin")) as client:
        trueweave = await fill(server.database, "mine")

        async def now() -> dict[str, Any]:
            found: dict[str, Any] = (await client.get(f"{ROOM}/activity")).json()
            return found

        still = await now()
        assert (still["waiting"], still["indexing"], still["failed"], still["waits_for"]) == (0, 0, 0, "")
        assert (still["per_minute"], still["seconds_left"], still["price_cap"]) == (1, 0, None)
        await client.post(f"{ROOM}/documents", json=ONE)
        queued = await now()
        assert (queued["waiting"], queued["seconds_left"], queued["waits_for"]) == (1, 60, "worker")
        async with trueweave.workspace.transaction() as tx:
            await tx.execute("UPDATE job SET due = now() + interval '1 minute'")
        assert (await now())["waits_for"] == "retry"
        await client.put(f"{ROOM}/budget", json={"tokens": 0})
        spent = await now()
        assert (spent["waits_for"], spent["tokens"], spent["token_cap"]) == ("budget", 0, 0)
        async with trueweave.workspace.transaction() as tx:
            await tx.execute("UPDATE source SET failed = true")
        failed = await now()
        assert (failed["waiting"], failed["failed"], failed["waits_for"]) == (0, 1, "")
        await trueweave.add_documents([Document("more", (Chunk("Byron met Ada."),))])
        async with asyncio.timeout(30):  # a position is readable once all earlier transactions have ended
            after = await now()
            while after["position"] <= still["position"]:
                await asyncio.sleep(0.1)
                after = await now()


async def test_events_are_sent_when_something_changes_and_end_after_a_while(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "LONGEST", 15)
    async with serving(url) as server, server.client(await server.key("write", "mine")) as client:
        await fill(server.database, "mine")
        async with client.stream("GET", f"{ROOM}/events") as answer:
            assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
            seen = events(answer)
            assert await anext(seen) == (await client.get(f"{ROOM}/activity")).json()
            await client.post(f"{ROOM}/documents", json=ONE)
            assert (await anext(seen))["waiting"] == 1
            assert [one async for one in seen if one["waiting"] != 1] == [], "the stream ends"
        assert not server.app.state.services.activity._watched


async def test_listeners_of_a_workspace_share_its_queries(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "LONGEST", 2)
    asked = 0
    query = AsyncMaintenanceGroup.activity

    async def counted(self: AsyncMaintenanceGroup) -> Activity:
        nonlocal asked
        asked += 1
        return await query(self)

    monkeypatch.setattr(AsyncMaintenanceGroup, "activity", counted)
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        await fill(server.database, "mine")
        await asyncio.gather(*(client.get(f"{ROOM}/events") for _ in range(10)))
    assert asked < 10, "each alone would ask three times"
