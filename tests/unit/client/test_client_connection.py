"""Requests of a client: what is sent again and what is not, what errors become, and where a key may go."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from trueweave import Client, Entity, Filter, NameKey, Range, Trueweave, connect
from trueweave.client import connection as connecting
from trueweave.client.address import checked_address, found_key
from trueweave.client.connection import Repeats, ServerConnection
from trueweave.client.forms import entity_name, filter_body, method_body, read, verifier_names
from trueweave.client.problems import error_of
from trueweave.core import errors
from trueweave.methods import Cutoff, Fuse, Keyword, Naive
from trueweave.retrieval.methods.registry import make
from trueweave.testing import HashEmbedder

Reply = httpx2.Response | Exception
ALWAYS, REFUSED, UNBEGUN = Repeats.ALWAYS, Repeats.REFUSED, Repeats.UNBEGUN


def problem(status: int, code: str, **headers: str) -> httpx2.Response:
    body = {"status": status, "code": code, "detail": "It went wrong.", "next_step": "Do this.", "request_id": "r1"}
    content = json.dumps(body).encode()
    return httpx2.Response(status, content=content, headers={"content-type": "application/problem+json", **headers})


def plain(status: int, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, content=b"<html>", headers=headers)


def ok() -> httpx2.Response:
    return httpx2.Response(200, json={"done": True})


class Line:
    """A connection whose server gives these replies in turn, and notes what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.seen: list[httpx2.Request] = []
        self.connection = ServerConnection("https://example.org", "twk_secret")
        self.connection._http = httpx2.AsyncClient(
            transport=httpx2.MockTransport(self._answer), headers=self.connection._http.headers
        )

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        self.seen.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between tries, which takes no time here."""
    waited: list[float] = []

    async def at_once(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(connecting, "_sleep", at_once)
    return waited


@pytest.mark.parametrize(
    ("reply", "repeated"),
    [
        (lambda: httpx2.ConnectError("refused"), {ALWAYS, REFUSED, UNBEGUN}),
        (lambda: httpx2.ConnectTimeout("slow"), {ALWAYS, REFUSED, UNBEGUN}),
        (lambda: httpx2.ReadError("reset"), {ALWAYS}),
        (lambda: httpx2.RemoteProtocolError("cut off"), {ALWAYS}),
        (lambda: httpx2.ReadTimeout("slow"), {ALWAYS}),
        (lambda: problem(429, "too_many_requests"), {ALWAYS, REFUSED, UNBEGUN}),
        (lambda: problem(429, "daily_limit_reached"), set()),
        (lambda: problem(503, "database_unavailable"), {ALWAYS, REFUSED}),
        (lambda: problem(503, "copy_behind"), {ALWAYS, REFUSED}),
        (lambda: problem(503, "model_unavailable"), set()),
        (lambda: problem(502, "model_refused"), set()),
        (lambda: problem(503, "schema_mismatch"), set()),
        (lambda: problem(500, "internal"), set()),
        (lambda: problem(404, "unknown_document"), set()),
        (lambda: plain(502), {ALWAYS}),
        (lambda: plain(503), {ALWAYS}),
        (lambda: plain(504), {ALWAYS}),
        (lambda: plain(500), set()),
    ],
)
async def test_a_request_is_sent_again_where_that_is_safe(reply: Callable[[], Reply], repeated: set[Repeats]) -> None:
    for repeats in Repeats:
        line = Line(reply(), ok())
        sending = line.connection.send("POST", "/v1/x", body={"a": 1}, repeats=repeats, once=repeats is ALWAYS)
        if repeats in repeated:
            assert await sending == {"done": True}
            keys = [one.headers.get("idempotency-key") for one in line.seen]
            assert len(line.seen) == 2
            assert len(set(keys)) == 1, "it is the same request"
            assert all(json.loads(one.content) == {"a": 1} for one in line.seen)
        else:
            with pytest.raises(errors.TrueweaveError):
                await sending
            assert len(line.seen) == 1


async def test_tries_are_bounded_and_wait_longer_each_time(pauses: list[float]) -> None:
    line = Line(*(httpx2.ConnectError("refused") for _ in range(10)))
    with pytest.raises(
        errors.ServerUnavailable, match=r"https://example\.org cannot be reached: refused.*trueweave serve"
    ):
        await line.connection.get("/v1/x")
    assert len(line.seen) == 4
    for waited, most in zip(pauses, (0.5, 1.0, 2.0), strict=True):
        assert most / 2 <= waited <= most


async def test_what_the_server_asks_to_wait_is_waited(pauses: list[float]) -> None:
    line = Line(problem(429, "too_many_requests", **{"retry-after": "7"}), ok())
    await line.connection.get("/v1/x")
    assert 7 <= pauses[0] <= 7.25
    line = Line(problem(429, "too_many_requests", **{"retry-after": "600"}))
    with pytest.raises(errors.ServerUnavailable, match=r"It went wrong\. Do this\."):
        await line.connection.get("/v1/x")
    assert len(pauses) == 1, "so long is not worth waiting for"


async def test_a_write_that_is_being_carried_out_is_waited_for(pauses: list[float]) -> None:
    under_way = [problem(409, "under_way", **{"retry-after": "1"}) for _ in range(10)]
    line = Line(httpx2.ReadError("reset"), *under_way, ok())
    assert await line.connection.send("POST", "/v1/x", repeats=ALWAYS, once=True) == {"done": True}
    assert len(line.seen) == 12


async def test_errors_are_those_of_the_engine() -> None:
    told = {"detail": "there is no document 'a'.", "next_step": "List them.", "near": ["ab"], "request_id": "r7"}
    error = error_of({"status": 404, "code": "unknown_document", **told})
    assert isinstance(error, errors.UnknownDocument)
    assert (str(error), error.near) == ("there is no document 'a'. List them.", ("ab",))
    assert error.__notes__ == ["In the log of the server this is request r7."]
    assert isinstance(error_of({"status": 418, "code": "new"}), errors.RequestRefused)
    assert isinstance(error_of({"status": 599, "code": "new"}), errors.ServerError)
    waiting = error_of({"status": 503, "code": "model_unavailable"}, 5.0)
    assert isinstance(waiting, errors.ModelUnavailable)
    assert waiting.retry_after == 5.0


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (plain(403), errors.AccessDenied, "refuses access"),
        (plain(413), errors.RequestRefused, "as large as this"),
        (plain(404), errors.ServerError, "does not answer as a server of Trueweave does"),
        (
            plain(301, location="https://elsewhere.org/x?token=1"),
            errors.ServerError,
            r"redirects to https://elsewhere\.org/x\.",
        ),
        (httpx2.Response(200, content=b"<html>"), errors.ServerError, "not JSON"),
        (problem(401, "unauthorized"), errors.AccessDenied, r"It went wrong\. Do this\."),
        (problem(413, "too_large"), errors.RequestRefused, "It went wrong"),
    ],
)
async def test_what_is_not_answered_is_told(reply: Reply, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        await Line(reply).connection.get("/v1/x")
    assert type(raised.value) is kind


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(errors.ServerError, match="cannot be read as Entity"):
        read(Entity, {"id": "nonsense"})


async def test_what_json_cannot_hold_is_refused_here() -> None:
    for body in ({"a": float("nan")}, {"a": "\ud800"}, {"a": object()}):
        with pytest.raises(errors.RequestRefused, match="cannot be written as JSON"):
            await Line().connection.send("POST", "/v1/x", body=body, repeats=ALWAYS)


# --- streams ------------------------------------------------------------------------------------------


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, *pieces: bytes | Exception) -> None:
        self._pieces = pieces
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.is_closed = True


def events(*pieces: bytes | Exception) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces(*pieces))


async def heard(line: Line) -> list[tuple[str, Any]]:
    async with line.connection.events("POST", "/v1/x", body={}, repeats=REFUSED) as found:
        return [one async for one in found]


async def test_events_are_told_apart_however_they_are_cut() -> None:
    text = 'event: token\ndata: {"text": "a\u2028b\u0085c"}\n\n: \n\nevent: answer\ndata: 1\n\n'.encode()
    for size in (1, 2, 7, 1000):
        pieces = [text[n : n + size] for n in range(0, len(text), size)]
        assert await heard(Line(events(*pieces))) == [("token", {"text": "a\u2028b\u0085c"}), ("answer", 1)]


async def test_a_stream_that_has_begun_is_not_asked_for_again() -> None:
    line = Line(httpx2.ConnectError("refused"), events(b"event: token\ndata: 1\n\n", httpx2.ReadError("reset")), ok())
    with pytest.raises(errors.ServerUnavailable, match="broke the connection off: reset"):
        await heard(line)
    assert len(line.seen) == 2


async def test_leaving_a_stream_closes_it() -> None:
    stream = Pieces(b"event: token\ndata: 1\n\n", b"event: token\ndata: 2\n\n")
    line = Line(httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream))
    async with line.connection.events("POST", "/v1/x", body={}, repeats=REFUSED) as found:
        assert await anext(found) == ("token", 1)
    assert stream.is_closed


async def test_a_line_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_LONGEST_LINE", 1000)
    with pytest.raises(errors.ServerError, match="a line of more than"):
        await heard(Line(events(*(b"x" * 100 for _ in range(100)))))


# --- addresses and keys -------------------------------------------------------------------------------


def test_a_key_is_not_sent_unencrypted() -> None:
    for url in (
        "https://example.org",
        "http://127.0.0.1:8000/",
        "http://localhost:1",
        "http://[::1]:1",
        "https://a/b/",
    ):
        assert checked_address(url) == url.rstrip("/")
    with pytest.raises(errors.ConfigError, match=r"http://example\.org would send key and documents unencrypted"):
        checked_address("http://example.org")
    assert checked_address("http://example.org", insecure=True) == "http://example.org"
    for url in ("ftp://a", "https://", "https://u:p@a", "https://a?x=1", "https://a#x", "https://a:port", "nothing"):
        with pytest.raises(errors.ConfigError):
            checked_address(url)


def test_the_key_is_that_of_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUEWEAVE_KEY", raising=False)
    assert found_key(None) is None
    monkeypatch.setenv("TRUEWEAVE_KEY", "twk_env")
    assert (found_key(None), found_key("twk_given")) == ("twk_env", "twk_given")
    with pytest.raises(errors.ConfigError, match="no key has"):
        found_key("twk_a\nInjected: yes")


def test_the_address_decides_what_is_opened() -> None:
    assert isinstance(connect("https://example.org", "acme", key="twk_a"), Client)
    assert isinstance(connect("http://127.0.0.1:8000"), Client)
    assert isinstance(connect("postgresql://nobody@127.0.0.1:1/nothing"), Trueweave)
    with pytest.raises(errors.ConfigError, match="a key is for a server"):
        connect("postgresql://nobody@127.0.0.1:1/nothing", key="twk_a")
    with pytest.raises(errors.ConfigError, match=r"a server's address is for trueweave\.connect"):
        Trueweave("https://example.org", "acme").status()


# --- what is sent -------------------------------------------------------------------------------------


def test_entities_filters_and_methods_are_sent_as_they_are_meant() -> None:
    assert entity_name("Ada::Lovelace") == "Ada::Lovelace::"
    assert entity_name(NameKey("Ada", "ship")) == "Ada::ship"
    wanted = Filter(("a",), {"year": Range(1, 2, "[)"), "kind": ["x", True]})
    assert filter_body(wanted) == {
        "uris": ["a"],
        "metadata": {"year": {"low": 1, "high": 2, "bounds": "[)"}, "kind": ["x", True]},
    }
    fused = Fuse(parts=(Naive(), Keyword()), k=10.0)
    body = method_body(fused)
    assert make(body["method"], body["parameters"]) == fused
    assert method_body(Keyword()) == {"method": "keyword", "parameters": {}}
    for own in (Fuse(parts=(Naive(top_k=3),)), Cutoff(Naive())):
        with pytest.raises(errors.ConfigError, match="cannot be sent to a server"):
            method_body(own)
    assert verifier_names(["rules"]) == ["rules"]
    with pytest.raises(errors.ConfigError, match="HashEmbedder cannot be sent"):
        verifier_names([HashEmbedder()])  # type: ignore[list-item]
