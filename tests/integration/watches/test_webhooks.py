"""Alerts sent to webhooks: signed, in order, repeated until they are accepted, and only where that is allowed."""

import asyncio
import base64
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.watches.conftest import CHIEF, NEW_CHIEF, OTHER, QUESTION
from trueweave import AsyncTrueweave, Settings
from trueweave.core.errors import AlertNotSent
from trueweave.core.signing import read_key
from trueweave.core.watches import Alert, WatchOptions
from trueweave.engine.watches import add_watch
from trueweave.engine.webhooks import Webhook
from trueweave.errors import InvalidArgument, WebhookNotAllowed
from trueweave.extend import Database
from trueweave.methods import Keyword
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.record import watches
from trueweave.testing import HashEmbedder

LOOPBACK = (ip_network("127.0.0.0/8"),)


@dataclass
class Receiver:
    """A server for webhooks on loopback, which answers with these statuses in turn, then with 204."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def alerts(self) -> list[dict[str, Any]]:
        return [json.loads(body)["data"] for _, body in self.got]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(made.statuses.pop(0) if made.statuses else 204)
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}/alerts"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(signing_key: Path) -> Settings:
    return Settings(signing_key_file=signing_key, source_networks=LOOPBACK)


@pytest.fixture
async def index(database: Database, settings: Settings) -> AsyncIterator[AsyncTrueweave]:
    opened = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
    async with aclosing(opened) as trueweave:
        await trueweave.add_documents([CHIEF, OTHER])
        yield trueweave


async def watched(index: AsyncTrueweave, url: str) -> None:
    await index.watches.add(QUESTION, name="chief", method="keyword", passages=1, webhook=url)


async def deliveries(index: AsyncTrueweave) -> list[str]:
    return [one.delivery for one in await index.watches.alerts()]


async def later(index: AsyncTrueweave) -> None:
    """The next time at which alerts are sent has come."""
    async with index.workspace.transaction() as tx:
        await tx.execute("UPDATE watch SET next_try = now()")


async def test_an_alert_is_sent_with_a_signature_that_its_receiver_can_check(
    index: AsyncTrueweave, receiver: Receiver, signing_key: Path
) -> None:
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    await index.watches.check()
    [(headers, body)] = receiver.got
    key = read_key(signing_key)
    version, _, signature = headers["webhook-signature"].partition(",")
    said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key.public_key().verify(base64.b64decode(signature), said)
    [_, alert] = await index.watches.alerts()
    assert (version, headers["webhook-id"]) == ("v1a", f"test-{alert.id}")
    [sent] = receiver.alerts
    assert (sent["question"], sent["added"], sent["removed"]) == (QUESTION, 1, 1)
    assert sent["passages"][0]["text"] == NEW_CHIEF.chunks[0].text
    assert await deliveries(index) == ["none", "delivered"]
    assert await index.watches.check() == 0


async def test_alerts_are_sent_again_and_in_their_order(index: AsyncTrueweave, receiver: Receiver) -> None:
    receiver.statuses = [500, 302]
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    await index.watches.check()
    assert (await index.watches.get("chief")).problem.endswith("answered with status 500.")
    await index.add_documents([CHIEF])
    await index.watches.check()
    assert len(receiver.got) == 1, "nothing is sent before it is due"
    assert await deliveries(index) == ["none", "waiting", "waiting"]
    await later(index)
    await index.watches.check()
    assert (await index.watches.get("chief")).problem.endswith("redirects more than 0 times.")
    await later(index)
    await index.watches.check()
    ids = [one["id"] for one in receiver.alerts]
    assert ids[0] == ids[1] == ids[2] < ids[3]
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 2
    assert await deliveries(index) == ["none", "delivered", "delivered"]
    assert (await index.watches.get("chief")).problem == ""


async def test_an_alert_is_sent_while_the_index_is_not_complete(index: AsyncTrueweave, receiver: Receiver) -> None:
    receiver.statuses = [500]
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    await index.watches.check()
    await index.add_documents([CHIEF])
    async with index.workspace.transaction() as tx:
        await tx.execute("INSERT INTO pending_link (chunk) SELECT id FROM chunk LIMIT 1")
    await later(index)
    runs = index.watch_runs(index.database)
    [held] = await runs.claim(uuid4())
    await runs.run(held)
    assert not held.asks
    assert await deliveries(index) == ["none", "delivered"]


async def test_an_alert_that_is_never_accepted_is_given_up(index: AsyncTrueweave, receiver: Receiver) -> None:
    receiver.statuses = [500] * 6
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    for _ in range(8):
        await later(index)
        await index.watches.check()
    assert len(receiver.got) == 6
    assert await deliveries(index) == ["none", "failed"]
    await index.add_documents([CHIEF])
    await index.watches.check()
    assert await deliveries(index) == ["none", "failed", "delivered"]


async def test_a_process_that_dies_after_sending_sends_again_under_the_same_id(
    index: AsyncTrueweave, receiver: Receiver, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    sending, sent = asyncio.Event(), watches.sent

    async def dying(*_: Any) -> None:
        sending.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(watches, "sent", dying)
    dead = asyncio.create_task(index.watches.check())
    await sending.wait()
    async with database.transaction(None) as tx:  # its lease expires, as if its machine had lost power
        await tx.execute("DELETE FROM process")
    monkeypatch.setattr(watches, "sent", sent)
    other = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=index.settings)
    async with aclosing(other):
        await other.watches.check()
        dead.cancel()
        await asyncio.gather(dead, return_exceptions=True)
        assert [headers["webhook-id"] for headers, _ in receiver.got] == [receiver.got[0][0]["webhook-id"]] * 2
        assert await deliveries(other) == ["none", "delivered"]


async def test_what_was_erased_before_it_is_sent_is_not_sent(index: AsyncTrueweave, receiver: Receiver) -> None:
    receiver.statuses = [500]
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    await index.watches.check()
    await index.remove(["acme.md"])
    await later(index)
    await index.watches.check()
    assert b"Bo Lind" in receiver.got[0][1]
    assert {(one["uri"], one["text"]) for one in receiver.alerts[1]["passages"]} == {("", "")}


async def test_a_certificate_finds_nothing_of_a_document_in_alerts(
    index: AsyncTrueweave, receiver: Receiver, tmp_path: Path
) -> None:
    await watched(index, receiver.url)
    await index.add_documents([NEW_CHIEF])
    await index.watches.check()
    assert await index.certificates.erase("acme.md", file=tmp_path / "erasure.json")
    assert b"acme.md" in receiver.got[0][1]


async def test_a_revoked_key_stops_its_watches(index: AsyncTrueweave, receiver: Receiver, database: Database) -> None:
    key = await api_keys.make(database, "mine", "write", None, None)
    asked = WatchOptions(QUESTION, name="chief", method="keyword", passages=1)
    await add_watch(index.watch_runs(database), asked, key=key.prefix)
    async with index.workspace.transaction() as tx:
        await tx.execute("UPDATE watch SET webhook = %(url)s", {"url": receiver.url})
    await index.add_documents([NEW_CHIEF])
    await api_keys.revoke(database, key.prefix)
    await index.watches.check()
    assert receiver.got == []
    assert await deliveries(index) == ["none"]
    assert (await index.watches.get("chief")).problem == "the key that it was added with is no longer valid"


async def test_a_key_that_is_revoked_during_the_question_sends_nothing(
    index: AsyncTrueweave, receiver: Receiver, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await api_keys.make(database, "mine", "write", None, None)
    await add_watch(index.watch_runs(database), WatchOptions(QUESTION, method="keyword", passages=1), key=key.prefix)
    async with index.workspace.transaction() as tx:
        await tx.execute("UPDATE watch SET webhook = %(url)s", {"url": receiver.url})
    await index.add_documents([NEW_CHIEF])
    retrieve = Keyword.retrieve

    async def revoked(self: Keyword, *asked: Any) -> Any:
        await api_keys.revoke(database, key.prefix)
        return await retrieve(self, *asked)

    monkeypatch.setattr(Keyword, "retrieve", revoked)
    await index.watches.check()
    assert receiver.got == []
    assert await deliveries(index) == ["none", "waiting"]


# --- where alerts may be sent --------------------------------------------------------------------------


@pytest.fixture
def alert() -> Any:
    return Alert(1, "w", QUESTION, datetime.now(UTC), False, 1, 0, (), "", "", "waiting")


def sending(signing_key: Path, url: str, *networks: Any) -> Webhook:
    return Webhook.of(Settings(signing_key_file=signing_key, source_networks=networks), "test", url, is_caller=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.8", "169.254.169.254", "[::1]"])
def test_private_addresses_are_refused_unless_they_are_allowed(signing_key: Path, host: str, alert: Any) -> None:
    with pytest.raises(AlertNotSent, match="private or reserved"):
        sending(signing_key, f"https://{host}:9/").send("test", alert)


def test_without_encryption_only_allowed_networks_are_reached(signing_key: Path, alert: Any) -> None:
    with pytest.raises(AlertNotSent, match="is not encrypted"):
        sending(signing_key, "http://8.8.8.8:9/", *LOOPBACK).send("test", alert)


def test_a_receiver_that_does_not_answer_in_time(
    signing_key: Path, alert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueweave.engine.webhooks._SECONDS", 0.3)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:  # which accepts, and says nothing
        hook = sending(signing_key, f"http://127.0.0.1:{silent.server_port}/", *LOOPBACK)
        with pytest.raises(AlertNotSent, match=r"not complete after 0\.3 s"):
            hook.send("test", alert)


async def test_callers_of_a_server_reach_only_hosts_that_the_settings_allow(signing_key: Path) -> None:
    allowing = Settings(signing_key_file=signing_key, webhook_hosts={"*": ["all.example"], "test": ["one.example"]})
    for host in ("all.example", "one.example"):
        Webhook.of(allowing, "test", f"https://{host}/", is_caller=True)
    for workspace, host in (("other", "one.example"), ("test", "all.example.org"), ("test", "x.all.example")):
        with pytest.raises(WebhookNotAllowed, match="webhook_hosts"):
            Webhook.of(allowing, workspace, f"https://{host}/", is_caller=True)
    with pytest.raises(InvalidArgument):
        Webhook.of(allowing, "test", "https://all.example:x/", is_caller=True)
