"""Benchmarks through the server: a run is sent as events, and a caller who disconnects stops it."""

import asyncio
from typing import Any

import pytest

from tests.integration.server.test_server_questions import events, until
from tests.integration.serving import fill, serving
from trueweave.bench.experiment import Experiment
from trueweave.core.bench import BenchPassage
from trueweave.testing.tables import holding

HERE = "/v1/workspaces/mine/bench"


async def test_a_run_is_sent_as_events_and_stored_under_the_name_of_the_key(url: str) -> None:
    async with serving(url) as server:
        trueweave = await fill(server.database, "mine")
        async with server.client(await server.key("read", "mine")) as reader:
            for method, path in (("POST", HERE), ("POST", f"{HERE}/questions")):
                assert (await reader.request(method, path, json={})).status_code in (403, 422)
            refused = await reader.post(HERE, json={"methods": ["keyword"]})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
            assert (await reader.get(HERE)).json() == {"items": [], "next": None}
        async with server.client(await server.key("write", "mine")) as client:
            [(name, problem)] = await events(client, HERE, json={"methods": ["keyword"]})
            assert (name, problem["code"]) == ("problem", "invalid_argument")
            [passage] = (await trueweave.document("mine/ada")).passages
            body = {"question": "Whom did Ada meet?", "passages": [{"uri": "mine/ada", "chunk": str(passage.id)}]}
            again = {"Idempotency-Key": "again"}
            for _ in range(2):
                assert (await client.post(f"{HERE}/questions", json=body, headers=again)).status_code == 201
            [question] = (await client.get(f"{HERE}/questions")).json()["items"]
            assert [one["text"] for one in question["passages"]] == [passage.text]
            assert holding(url, passage.text).keys() == {"trueweave.chunk"}, "no response is kept with the text"
            *progress, (last, run) = await events(client, HERE, json={"methods": ["keyword", "naive"]})
            assert {one for one, _ in progress} == {"progress"}
            assert progress[-1][1] == {"done": 2, "all": 2}
            assert (last, run["author"], run["questions"]) == ("run", "test write", 1)
            assert run["left_out"].keys() == {"naive"}, "nothing is embedded here"
            assert (await client.get(f"{HERE}/{run['id']}")).json() == run
            [(name, problem)] = await events(client, HERE, json={"methods": ["local"]})
            assert (name, problem["code"]) == ("problem", "invalid_argument")
            assert "trueweave bench mine --methods local" in problem["detail"]


async def test_a_run_stops_when_its_caller_disconnects(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()

    async def endless(*_: object) -> Any:
        here.call_soon_threadsafe(begun.set)
        try:
            await asyncio.Event().wait()
        finally:
            here.call_soon_threadsafe(ended.set)

    async with serving(url) as server:
        trueweave = await fill(server.database, "mine")
        await trueweave.bench.add_question("Whom did Ada meet?", [BenchPassage("mine/ada")])
        monkeypatch.setattr(Experiment, "_outcome", endless)
        async with server.client(await server.key("write", "mine")) as client:
            asking = asyncio.create_task(events(client, HERE, json={"methods": ["keyword"]}))
            async with asyncio.timeout(30):
                await begun.wait()
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
                await ended.wait()
            workspaces = server.app.state.services.workspaces
            await until(lambda: workspaces._open["mine"].users == 0)
            assert (await client.get(HERE)).json()["items"] == []
