"""Requests about the past, by the header Trueweave-As-Of."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.integration.index.test_history import ADA, BOB, NEW_BOB, age
from tests.integration.serving import Served, serving
from trueweave import AsyncClient, AsyncTrueweave
from trueweave.errors import InvalidArgument, ServerError
from trueweave.server import pasts as pasts_module
from trueweave.server.pasts import PastIndexes
from trueweave.server.services import Services

ROOM = "/v1/workspaces/mine"


@asynccontextmanager
async def served(url: str) -> AsyncIterator[tuple[Served, AsyncTrueweave, datetime]]:
    """A server with a workspace whose documents have changed, and a time before that."""
    async with serving(url, extractor="capitals", embedding_model=None) as server:
        mine = await AsyncTrueweave.enter(server.database, "mine")
        await mine.add_documents([ADA, BOB])
        await mine.history.keep()
        then = datetime.now(UTC)
        await mine.add_documents([NEW_BOB])
        await mine.remove(["ada"])
        yield server, mine, then


async def found(client: httpx2.AsyncClient, at: datetime | None = None) -> set[str]:
    headers = {"Trueweave-As-Of": at.isoformat()} if at else {}
    answer = await client.post(f"{ROOM}/search", json={"text": "Ada met"}, headers=headers)
    assert answer.status_code == 200, answer.text
    return {one["text"] for one in answer.json()["passages"]}


def pasts(server: Served) -> PastIndexes:
    services: Services = server.app.state.services
    return services.pasts


async def test_reading_requests_show_what_was_known_and_build_it_once(url: str) -> None:
    async with served(url) as (server, _, then), server.client(await server.key("read", groups=["*"])) as client:
        told = await asyncio.gather(
            *(found(client, then) for _ in range(4)), found(client, then - timedelta(microseconds=1))
        )
        assert told == [{ADA.chunks[0].text, BOB.chunks[0].text}] * 5
        assert await found(client) == {NEW_BOB.chunks[0].text}
        assert len(pasts(server)) == 1
        entities = await client.get(f"{ROOM}/entities", headers={"Trueweave-As-Of": then.isoformat()})
        assert "Zürich" in {one["name"] for one in entities.json()["items"]}


async def test_only_reading_requests_may_ask_for_a_time_that_is_known(url: str) -> None:
    async with served(url) as (server, _, then), server.client(await server.key("admin", groups=["*"])) as client:
        for at, status, code in (
            ("soon", 400, "invalid_time"),
            ("2026-05-01T00:00:00", 400, "invalid_time"),
            ((then - timedelta(days=1)).isoformat(), 422, "invalid_argument"),
            ((then + timedelta(days=1)).isoformat(), 422, "invalid_argument"),
        ):
            answer = await client.get(f"{ROOM}/status", headers={"Trueweave-As-Of": at})
            assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        body = {"uris": ["bob"]}
        headers = {"Trueweave-As-Of": then.isoformat()}
        refused = await client.post(f"{ROOM}/documents/delete", json=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "past_is_read_only")


async def test_the_description_names_the_header_where_it_is_taken(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("admin", "mine")) as client:
        described = (await client.get("/v1/openapi.json")).json()["paths"]
        taken, named = set[str](), set[str]()
        for path, operations in described.items():
            if not path.startswith("/v1/workspaces/{workspace}"):
                continue
            for method, operation in operations.items():
                answer = await client.request(
                    method, path.replace("{workspace}", "mine"), headers={"Trueweave-As-Of": "soon"}
                )
                if answer.headers["content-type"] == "application/problem+json":
                    taken |= {f"{method} {path}"} if answer.json()["code"] == "invalid_time" else set()
                parameters = {one["name"]: one["schema"] for one in operation["parameters"]}
                if "Trueweave-As-Of" in parameters:
                    assert parameters["Trueweave-As-Of"]["format"] == "date-time"
                    named.add(f"{method} {path}")
        assert named == taken
        for chat in ("/v1/chat/completions", "/api/chat"):
            assert "Trueweave-As-Of" in {one["name"] for one in described[chat]["post"]["parameters"]}
        assert f"get {ROOM.replace('mine', '{workspace}')}/entities" in named


async def test_who_may_not_read_a_document_now_may_not_read_what_it_said(url: str) -> None:
    async with served(url) as (server, mine, then), server.client(await server.key("read")) as client:
        assert await found(client, then) == {ADA.chunks[0].text, BOB.chunks[0].text}
        await mine.access.set("", ["staff"])
        assert await found(client, then) == set()
        async with server.client(await server.key("read", groups=["staff"])) as staff:
            assert await found(staff, then) == {ADA.chunks[0].text, BOB.chunks[0].text}


async def test_what_is_erased_is_no_longer_found_in_an_open_past(url: str) -> None:
    async with served(url) as (server, mine, then), server.client(await server.key("read", groups=["*"])) as client:
        assert ADA.chunks[0].text in await found(client, then)
        await mine.remove(["ada"], erase=True)
        assert await found(client, then) == {BOB.chunks[0].text}


async def test_a_past_stays_open_while_documents_come_and_change(url: str) -> None:
    async with served(url) as (server, mine, then), server.client(await server.key("read", groups=["*"])) as client:
        told = await found(client, then)
        [key] = pasts(server)._open
        await mine.add_documents([ADA, BOB])
        await mine.remove(["bob"])
        assert await found(client, then) == told
        assert list(pasts(server)._open) == [key]


async def test_one_is_forgotten_while_another_is_being_closed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(url) as (_, mine, then):
        kept, closing, go_on = PastIndexes(2, idle=0), asyncio.Event(), asyncio.Event()
        close, closed = pasts_module._close, list[object]()

        async def slowly(past: pasts_module._Past) -> None:
            closing.set()
            await go_on.wait()
            await close(past)
            closed.append(past)

        for at in (then, datetime.now(UTC)):
            async with kept.lend(mine, at) as past:
                await past.status()
        monkeypatch.setattr(pasts_module, "_close", slowly)
        monkeypatch.setattr(pasts_module, "_LOOK_AGAIN", 0.01)
        running = asyncio.create_task(kept.run())
        await closing.wait()
        kept._open.clear()  # as a request does that finds that it was dropped
        go_on.set()
        while len(closed) < 2:
            assert not running.done(), running.exception()
            await asyncio.sleep(0.01)
        assert len(kept) == 0
        running.cancel()


async def test_no_more_are_kept_open_than_are_allowed(url: str) -> None:
    async with served(url) as (server, mine, then):
        few = PastIndexes(1, idle=0)
        async with few.lend(mine, then) as past:
            assert (await past.status()).documents == 2
            with pytest.raises(Exception, match="keeps 1 indexes of past times open, and all are in use"):
                async with few.lend(mine, datetime.now(UTC)):
                    pass
        async with few.lend(mine, datetime.now(UTC)) as present:  # in place of the one that is idle
            assert (await present.status()).documents == 1
        assert len(few) == 1
        await few.aclose()
        assert server.url


async def test_the_last_change_may_be_older_than_what_is_kept(url: str) -> None:
    async with served(url) as (_, mine, _):
        await mine.history.keep(days=2)
        await age(mine, days=10)
        pasts = PastIndexes(1)
        async with pasts.lend(mine, datetime.now(UTC) - timedelta(days=1)) as past:
            assert (await past.status()).documents == 1
        await pasts.aclose()


async def test_a_client_sees_the_past(url: str) -> None:
    async with served(url) as (server, _, then):
        key = await server.key("read", groups=["*"])
        async with AsyncClient.open(server.url, "mine", key=key) as client:
            async with client.as_of(then) as past:
                assert {one.uri for one in await past.list_documents()} == {"ada", "bob"}
                assert "Bob" in {one.name for one in await past.graph.entities(10)}
            assert {one.uri for one in await client.list_documents()} == {"bob"}
            with pytest.raises(InvalidArgument, match="time zone"):
                async with client.as_of(datetime(2026, 5, 1)):  # noqa: DTZ001 (the error)
                    pass
            with pytest.raises((InvalidArgument, ServerError), match="history is kept since"):
                async with client.as_of(then - timedelta(days=1)):
                    pass


async def diff(client: httpx2.AsyncClient, query: Mapping[str, str], **headers: str) -> httpx2.Response:
    return await client.get(f"{ROOM}/history/diff", params=dict(query), headers=headers)


async def test_a_diff_borrows_the_indexes_of_its_times(url: str) -> None:
    async with served(url) as (server, mine, then), server.client(await server.key("read", groups=["*"])) as client:
        documents = {"added": 0, "removed": 1, "changed": 1}
        queries: list[dict[str, str]] = [{}, {"since": then.isoformat()}]
        for query in queries:
            told = (await diff(client, query)).json()
            assert told["counts"]["document"] == documents
            assert {one["uri"] for one in told["changes"][0]["passages_before"]} == {"ada"}
        await mine.remove(["bob"])
        at = datetime.now(UTC)
        await mine.add_documents([ADA])
        assert len(pasts(server)) == 1
        told = (await diff(client, {"since": then.isoformat(), "until": at.isoformat()})).json()
        assert told["counts"]["document"] == {"added": 0, "removed": 2, "changed": 0}
        assert len(pasts(server)) == 2


async def test_a_diff_says_which_times_cannot_be_compared(url: str) -> None:
    async with served(url) as (server, mine, then), server.client(await server.key("read", groups=["*"])) as client:
        for query, status, code in (
            ({"since": "soon"}, 422, "invalid_request"),
            ({"since": "2026-05-01T00:00:00"}, 422, "invalid_request"),
            ({"since": (then - timedelta(days=1)).isoformat()}, 422, "invalid_argument"),
            ({"since": then.isoformat(), "from": "mine"}, 422, "invalid_argument"),
            ({"limit": "201"}, 422, "invalid_request"),
        ):
            answer = await diff(client, query)
            assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        past = await diff(client, {}, **{"Trueweave-As-Of": then.isoformat()})
        assert (past.status_code, past.json()["code"]) == (400, "not_of_the_past")
        assert "since" in past.json()["next_step"]
        assert len(pasts(server)) == 0
        await mine.history.end()
        assert "keeps no history" in (await diff(client, {})).json()["detail"]


async def test_a_diff_of_days_begins_where_versions_are_kept_while_it_is_built(url: str) -> None:
    async with served(url) as (server, mine, _), server.client(await server.key("read", groups=["*"])) as client:
        await mine.history.keep(days=2)
        await age(mine, days=10)
        answer = await diff(client, {})
        assert answer.status_code == 200, answer.text
        assert answer.json()["counts"]["document"] == {"added": 0, "removed": 0, "changed": 0}


async def test_a_diff_is_for_callers_who_read_all_documents_of_both(url: str) -> None:
    async with served(url) as (server, mine, _):
        hidden = await AsyncTrueweave.enter(server.database, "hidden")
        await hidden.add_documents([ADA])
        await hidden.access.set("", ["staff"])
        async with server.client(await server.key("read", groups=["legal"])) as client:
            assert (await diff(client, {})).status_code == 200  # until documents have readers
            refused = await diff(client, {"from": "hidden"})
            assert (refused.status_code, refused.json()["code"]) == (403, "not_for_restricted")
            await mine.access.set("", ["staff"])
            refused = await diff(client, {})
            assert (refused.status_code, refused.json()["code"]) == (403, "not_for_restricted")
        async with server.client(await server.key("read", "mine", groups=["*"])) as client:
            theirs, nobodys = [await diff(client, {"from": name}) for name in ("hidden", "nowhere")]
            assert theirs.status_code == nobodys.status_code == 404
            assert theirs.json()["detail"] == nobodys.json()["detail"]
        async with server.client(await server.key("read", groups=["*"])) as client:
            told = (await diff(client, {"from": "hidden"})).json()
            assert told["counts"]["document"] == {"added": 1, "removed": 1, "changed": 0}
