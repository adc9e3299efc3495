"""`trueweave serve` and `trueweave keys`, as a user has them."""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import PROGRAM, Trueweave, answer
from tests.servers import free_port
from trueweave.errors import ConfigError
from trueweave.server import run


def test_keys_are_made_listed_and_revoked(trueweave: Trueweave) -> None:
    trueweave("init", "--workspace", "acme")
    assert "there is none yet" in trueweave("keys", "list").stdout
    made = answer(trueweave("keys", "create", "web shop", "--scope", "write", "-w", "acme", "--days", "9", "--json"))
    assert made["key"].startswith(f"twk_{made['prefix']}_")
    listed = trueweave("keys", "list").stdout
    assert made["prefix"] in listed
    assert "acme" in listed
    assert made["key"] not in listed
    [key] = answer(trueweave("keys", "list", "--json"))["keys"]
    assert (key["name"], key["scope"], key["workspaces"], key["revoked"]) == ("web shop", "write", ["acme"], None)
    assert (key["max_tokens_per_day"], key["max_spend_per_day"]) == (None, None)
    trueweave("keys", "create", "small", "--max-tokens-per-day", "5000", "--max-spend-per-day", "2.50")
    listed = " ".join(trueweave("keys", "list").stdout.split())
    assert "0 of 5,000 tokens, 0 of 2.5 in money" in listed
    wrong = trueweave("keys", "create", "x", "--max-spend-per-day", "much", code=1)
    assert "much is no amount of money" in wrong.stderr
    shown = trueweave("keys", "create", "all").stdout
    assert "shown only now" in shown
    assert "valid no longer" in trueweave("keys", "revoke", made["prefix"]).stdout
    assert "revoked" in trueweave("keys", "list").stdout
    assert "there is no key nothing" in trueweave("keys", "revoke", "nothing", code=1).stderr
    assert "there is no workspace 'nowhere'" in trueweave("keys", "create", "x", "-w", "nowhere", code=1).stderr


def test_an_address_that_others_reach_needs_a_key(trueweave: Trueweave) -> None:
    trueweave("init")
    for more in ((), ("--no-auth",)):
        told = trueweave("serve", "--host", "0.0.0.0", *more, code=1).stderr
        assert "at 0.0.0.0 others could reach the server" in told
        assert "trueweave keys create" in told


def test_without_its_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "find_spec", lambda name: None if name == "uvicorn" else find_spec(name))
    with pytest.raises(ConfigError, match=r'the server needs uvicorn: pip install "trueweave\[server\]"'):
        run.check_installed()


def test_it_serves_until_it_is_told_to_stop(trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]) -> None:
    trueweave("init", "--workspace", "acme")
    port = free_port()
    with subprocess.Popen(
        [PROGRAM, "serve", "--port", str(port)],
        cwd=tmp_path,
        env={**environment, "TRUEWEAVE_EXTRACTOR": "capitals"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}/v1/workspaces/acme", timeout=20) as client:
                _wait_for(f"http://127.0.0.1:{port}/readyz")
                body = {"documents": [{"uri": "a", "text": "Ada Lovelace met Charles Babbage."}]}
                job = client.post("/documents", json=body, headers={"X-Request-Id": "my-request"}).json()
                with client.stream("GET", f"/jobs/{job['id']}/events") as events:
                    *_, last = [line for line in events.iter_lines() if line.startswith("data: ")]
                assert json.loads(last.removeprefix("data: "))["indexed"] == 1
                found = client.post("/retrieve", json={"question": "Ada", "method": "keyword"}).json()
                assert found["evidence"]["passages"][0]["uri"] == "a"
        finally:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=30)
    assert "Everybody on this machine may do everything: there is no key yet." in told
    [logged] = [line for line in told.splitlines() if "POST /v1/workspaces/{workspace}/documents 202 in" in line]
    assert "INFO my-request trueweave.server.requests: POST" in logged, "each request is logged once"
    assert "Traceback" not in told
    assert process.returncode in (0, -signal.SIGTERM)


def _wait_for(url: str) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.05)
    sys.exit(f"{url} does not answer")
