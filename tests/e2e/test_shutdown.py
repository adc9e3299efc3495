"""SIGTERM while an answer is written: not ready first, then no new connections, and the answer comes to its end."""

import json
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import PROGRAM, Trueweave, model_server
from tests.e2e.test_cli_logs import wait_for
from tests.servers import free_port

DRAIN = 2.0
QUESTION = {"question": "Whom did Ada meet?", "method": "keyword"}


def status(url: str) -> int:
    """The status of an answer on a connection of its own; 0 where none was taken."""
    try:
        return httpx2.get(url, timeout=5).status_code
    except httpx2.TransportError:
        return 0


@pytest.mark.serial
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
                wait_for(f"{base}/readyz")
                asking = threading.Thread(target=ask)
                asking.start()
                assert begun.wait(30)
                process.send_signal(signal.SIGTERM)
                stopped = time.monotonic()
                seen = []
                while asking.is_alive():
                    seen.append(status(f"{base}/readyz"))
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
    assert process.returncode in (0, -signal.SIGTERM)
