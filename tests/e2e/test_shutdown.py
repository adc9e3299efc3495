"""SIGTERM: not ready first, then no new connections; an answer comes to its end, and the process ends in time."""

import asyncio
import json
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import httpx2
import psycopg
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, model_server
from tests.integration.proxies import Proxy
from tests.servers import free_port, status_of, wait_for_url

DRAIN = 2.0
QUESTION = {"question": "Whom did Ada meet?", "method": "keyword"}


def test_a_stream_ends_with_its_answer_while_nobody_new_is_let_in(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "acme")
    (tmp_path / "a.txt").write_text("Ada Lovelace met Charles Babbage.")
    trueweave("add", "a.txt", "--workspace", "acme", "--extractor", "capitals")
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    heard: list[str] = []
    begun = threading.Event()

    def ask() -> None:
        with httpx2.stream(
            "POST",
            f"{base}/v1/workspaces/acme/ask",
            json=QUESTION,
            headers={"Accept": "text/event-stream"},
            timeout=60,
        ) as answer:
            for line in answer.iter_lines():
                heard.append(line)
                if line == "event: evidence":
                    begun.set()

    with model_server("--delay", str(DRAIN + 3)) as model:
        settings = {"TRUEWEAVE_MODEL": "vllm/any", "TRUEWEAVE_MODEL_URL": model, "TRUEWEAVE_DRAIN_SECONDS": str(DRAIN)}
        command = [str(PROGRAM), "serve", "--no-auth", "--no-worker", "--port", str(port)]
        with subprocess.Popen(
            command, cwd=tmp_path, env={**environment, **settings}, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                wait_for_url(f"{base}/readyz")
                asking = threading.Thread(target=ask)
                asking.start()
                assert begun.wait(30)
                process.send_signal(signal.SIGTERM)
                stopped = time.monotonic()
                seen = []
                while asking.is_alive():
                    seen.append(status_of(f"{base}/readyz"))
                    time.sleep(0.1)
                    assert time.monotonic() < stopped + 40
            finally:
                process.send_signal(signal.SIGTERM)
                _, told = process.communicate(timeout=60)
    events = [line.removeprefix("event: ") for line in heard if line.startswith("event: ")]
    assert (events[0], events[-1]) == ("evidence", "answer")
    assert json.loads([line for line in heard if line.startswith("data: ")][-1].removeprefix("data: "))["answer"]
    waiting = [one for one in seen if one not in (200, 503)]
    assert 503 in seen, "it is not ready"
    assert 0 in waiting, "after a while it takes no connection"
    assert seen == sorted(seen, key=[200, 503, 0].index), "in this order"
    assert "Traceback" not in told
    assert process.returncode in DONE


SHUTDOWN = 6  # seconds; a process that is not done by then ends itself with code 1, and logs that
DONE = (0, -signal.SIGTERM)


class Server:
    """`trueweave serve` in a process of its own, with a worker and a short time to stop."""

    def __init__(self, folder: Path, environment: Mapping[str, str], **settings: str) -> None:
        self.base = f"http://127.0.0.1:{(port := free_port())}"
        self.log = folder / "serve.log"
        named = {f"TRUEWEAVE_{name.upper()}": value for name, value in settings.items()}
        command = [str(PROGRAM), "serve", "--no-auth", "--port", str(port), "--log-format", "json"]
        env = {**environment, "TRUEWEAVE_SHUTDOWN_SECONDS": str(SHUTDOWN), **named}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=env, stderr=log, stdout=subprocess.DEVNULL)

    def __enter__(self) -> Self:
        wait_for_url(f"{self.base}/readyz")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def logged(self, event: str) -> None:
        """Wait until it has logged this event."""
        end = time.monotonic() + 60
        while f'"event": "{event}"' not in self.log.read_text():
            assert time.monotonic() < end, self.log.read_text()[-3000:]
            time.sleep(0.05)

    def stop(self) -> bool:
        """Send SIGTERM, and wait until it has ended; whether it ended itself because its time was up."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it did not end within 60 s\n{self.log.read_text()[-3000:]}")
        forced = '"event": "server.forced_end"' in self.log.read_text()
        assert forced or self.process.returncode in DONE, self.log.read_text()[-3000:]
        return forced


def test_a_server_whose_worker_retries_an_unreachable_model_stops_in_time_and_leaves_the_document_to_others(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "acme")
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    with Server(tmp_path, environment, model="vllm/any", model_url=nowhere) as server:
        document = {"uri": "a", "text": "Ada Lovelace met Charles Babbage."}
        answer = httpx2.post(f"{server.base}/v1/workspaces/acme/documents", json={"documents": [document]}, timeout=30)
        assert answer.status_code == 202, answer.text
        server.logged("model.retry")
        assert not server.stop(), server.log.read_text()[-3000:]
    with psycopg.connect(environment["TRUEWEAVE_DATABASE_URL"]) as connection:
        rows = connection.execute("SELECT owner FROM trueweave.job WHERE kind = 'document'").fetchall()
    assert rows == [(None,)], "the job is back in the queue"


def test_a_server_with_an_open_stream_stops_in_time(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "acme")
    (tmp_path / "a.txt").write_text("Ada Lovelace met Charles Babbage.")
    trueweave("add", "a.txt", "--workspace", "acme", "--extractor", "capitals")
    with (
        model_server("--delay", "120") as model,
        Server(tmp_path, environment, model="vllm/any", model_url=model) as server,
        httpx2.stream(
            "POST",
            f"{server.base}/v1/workspaces/acme/ask",
            json=QUESTION,
            headers={"Accept": "text/event-stream"},
            timeout=60,
        ) as answer,
    ):
        assert "event: evidence" in answer.iter_lines()
        assert not server.stop(), server.log.read_text()[-3000:]


async def test_a_server_whose_database_does_not_answer_stops_in_time(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    async with Proxy(environment["TRUEWEAVE_DATABASE_URL"]).serve() as proxy:
        server = Server(tmp_path, environment, database_url=proxy.url)
        try:
            await asyncio.to_thread(wait_for_url, f"{server.base}/readyz")
            proxy.freeze()
            assert await asyncio.to_thread(status_of, f"{server.base}/readyz") == 503
            await asyncio.to_thread(server.stop)  # in good order, or by itself when its time is up
        finally:
            proxy.thaw()
            server.__exit__()
