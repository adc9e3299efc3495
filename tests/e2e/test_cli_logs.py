"""JSON logs of a server and a worker that run."""

import json
import re
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, answer
from tests.servers import free_port, wait_for_url

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def records(stderr: str) -> list[dict[str, Any]]:
    """Every line of stderr, each of which must be an object."""
    found = [json.loads(line) for line in stderr.splitlines()]
    for one in found:
        at = datetime.fromisoformat(one["time"])
        assert one["time"].endswith("Z")
        assert abs(datetime.now(UTC) - at) < timedelta(minutes=5)
        assert {"level", "logger", "message"} <= one.keys()
    return found


def test_all_that_server_and_worker_log_is_json(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "acme")
    key = answer(trueweave("keys", "create", "me", "--scope", "write", "--json"))["key"]
    port, metrics = free_port(), free_port()
    settings = {**environment, "TRUEWEAVE_EXTRACTOR": "capitals", "TRUEWEAVE_LOG_FORMAT": "json"}
    serve = [str(PROGRAM), "serve", "--no-worker", "--port", str(port), "--log-format", "json"]
    work = [str(PROGRAM), "worker", "--metrics-port", str(metrics)]
    with (
        subprocess.Popen(serve, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server,
        subprocess.Popen(
            work, cwd=tmp_path, env=settings, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as worker,
    ):
        try:
            wait_for_url(f"http://127.0.0.1:{port}/readyz")
            wait_for_url(f"http://127.0.0.1:{metrics}/healthz")
            headers = {
                "Authorization": f"Bearer {key}",
                "X-Request-Id": "mine",
                "traceparent": f"00-{TRACE}-{'1' * 16}-01",
            }
            base = f"http://127.0.0.1:{port}/v1/workspaces/acme"
            with httpx2.Client(base_url=base, headers=headers, timeout=60) as client:
                texts = {"documents": [{"uri": "a\nb", "text": "Ada met Babbage."}]}
                job = client.post("/documents", json=texts).json()
                end = time.monotonic() + 60
                while client.get(f"/jobs/{job['id']}").json()["state"] == "under way":
                    assert time.monotonic() < end
        finally:
            for process in (server, worker):
                process.send_signal(signal.SIGTERM)
            said = [process.communicate(timeout=60)[1] for process in (server, worker)]
    requests = [one for one in records(said[0]) if one.get("event") == "request"]
    [posted] = [one for one in requests if one["method"] == "POST"]
    assert posted["request"] == "mine"
    assert posted["route"] == "/v1/workspaces/{workspace}/documents"
    assert (posted["status"], posted["level"]) == (202, "INFO")
    assert isinstance(posted["workspace"], int)
    assert posted["trace_id"] == TRACE
    assert posted["caller"] == re.findall("twk_([0-9a-f]+)_", key)[0]
    done = [one for one in records(said[1]) if one.get("event") == "job.finished"]
    assert "document" in {one["kind"] for one in done}
    assert {one["workspace"] for one in done} == {posted["workspace"]}
    assert key not in "".join(said)
    assert "Babbage" not in "".join(said)


def test_what_ends_the_command_is_a_record_too(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init")
    # In a process of its own, as it changes how the whole process logs.
    command = [str(PROGRAM), "serve", "--host", "0.0.0.0", "--no-auth", "--log-format", "json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    [record] = records(done.stderr)
    assert (record["level"], record["event"]) == ("ERROR", "command.failed")
    assert "--no-auth gives everybody who reaches 0.0.0.0 full access" in record["message"]
