"""`trueweave serve` and `trueweave keys`, as a user has them."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, answer
from tests.servers import free_port, wait_for_url
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
    made_for_groups = answer(trueweave("keys", "create", "staff", "--groups", "legal, hr", "--json"))
    assert made_for_groups["groups"] == ["hr", "legal"]
    assert answer(trueweave("keys", "list", "--json"))["keys"][-1]["groups"] == ["hr", "legal"]
    assert "hr, legal" in " ".join(trueweave("keys", "list").stdout.split())
    too_long = trueweave("keys", "create", "x", "--groups", "g" * 201, code=1)
    assert "cannot be the name of a group" in too_long.stderr
    trueweave("keys", "create", "small", "--max-tokens-per-day", "5000", "--max-spend-per-day", "2.50")
    listed = " ".join(trueweave("keys", "list").stdout.split())
    assert "0 of 5,000 tokens, 0 of 2.5 in money" in listed
    wrong = trueweave("keys", "create", "x", "--max-spend-per-day", "much", code=1)
    assert "much is not an amount of money" in wrong.stderr
    shown = trueweave("keys", "create", "all").stdout
    assert "shown only once" in shown
    assert trueweave("keys", "revoke", made["prefix"]).stdout == f"The key {made['prefix']} is revoked.\n"
    assert "revoked" in trueweave("keys", "list").stdout
    assert "there is no key nothing" in trueweave("keys", "revoke", "nothing", code=1).stderr
    assert "there is no workspace 'nowhere'" in trueweave("keys", "create", "x", "-w", "nowhere", code=1).stderr


def test_no_auth_is_for_loopback_and_for_a_database_without_keys(trueweave: Trueweave) -> None:
    trueweave("init")
    told = trueweave("serve", "--host", "0.0.0.0", "--no-auth", code=1).stderr
    assert "--no-auth gives everybody who reaches 0.0.0.0 full access" in told
    assert "trueweave keys create NAME --scope admin" in told
    trueweave("keys", "create", "first")
    assert "--no-auth is only for a database without keys" in trueweave("serve", "--no-auth", code=1).stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_without_a_key_it_answers_401_until_one_is_made(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str], host: str
) -> None:
    trueweave("init", "--workspace", "acme")
    revoked = answer(trueweave("keys", "create", "former", "--scope", "admin", "--json"))
    trueweave("keys", "revoke", revoked["prefix"])
    with served(tmp_path, environment, "--host", host) as server:
        assert server.client.get("/v1/workspaces").status_code == 401
        key = answer(trueweave("keys", "create", "first", "--json"))["key"]
        shown = {"Authorization": f"Bearer {key}"}
        assert server.client.get("/v1/workspaces", headers=shown).status_code == 200
    assert "There is no valid key: every request gets 401." in server.printed
    assert "trueweave keys create NAME --scope admin" in server.printed


def test_no_auth_ends_when_a_key_is_made(trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]) -> None:
    trueweave("init", "--workspace", "acme")
    with served(tmp_path, environment, "--no-auth") as server:
        assert server.client.get("/v1/workspaces").status_code == 200
        trueweave("keys", "create", "first")
        assert server.client.get("/v1/workspaces").status_code == 401
    assert "Every program on this machine has full access without a key (--no-auth)." in server.printed
    assert "--no-auth ended: there is a key now" in server.printed


def test_a_port_that_is_in_use_is_one_line_with_what_to_do(trueweave: Trueweave) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = trueweave("serve", "--port", str(port), code=1).stderr
    other = port + 1 if port < 65535 else port - 1
    assert told == f"error: port {port} of 127.0.0.1 is in use. Choose another, as in `--port {other}`.\n"


def test_an_address_of_another_machine_is_refused(trueweave: Trueweave) -> None:
    told = trueweave("serve", "--host", "192.0.2.1", "--port", str(free_port()), code=1).stderr
    assert told.startswith("error: cannot listen on port ")
    assert "Serving" not in told


def test_without_its_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "find_spec", lambda name: None if name == "uvicorn" else find_spec(name))
    with pytest.raises(ConfigError, match=r'the server needs uvicorn: pip install "trueweave\[server\]"'):
        run.check_installed()


def test_it_serves_until_it_is_told_to_stop(trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]) -> None:
    trueweave("init", "--workspace", "acme")
    extracting = {**environment, "TRUEWEAVE_EXTRACTOR": "capitals"}
    workspace = "/v1/workspaces/acme"
    with served(tmp_path, extracting, "--no-auth") as server:
        client = server.client
        body = {"documents": [{"uri": "a", "text": "Ada Lovelace met Charles Babbage."}]}
        job = client.post(f"{workspace}/documents", json=body, headers={"X-Request-Id": "my-request"}).json()
        with client.stream("GET", f"{workspace}/jobs/{job['id']}/events") as events:
            *_, last = [line for line in events.iter_lines() if line.startswith("data: ")]
        assert json.loads(last.removeprefix("data: "))["indexed"] == 1
        found = client.post(f"{workspace}/retrieve", json={"question": "Ada", "method": "keyword"}).json()
        assert found["evidence"]["passages"][0]["uri"] == "a"
    [logged] = [
        line for line in server.printed.splitlines() if "POST /v1/workspaces/{workspace}/documents 202 in" in line
    ]
    assert "INFO my-request trueweave.server.requests: POST" in logged, "each request is logged once"
    assert "Traceback" not in server.printed
    assert server.returncode in (0, -signal.SIGTERM)


@dataclass
class RunningServer:
    """`trueweave serve` as a process of its own; what it printed and how it ended are known at the end."""

    client: httpx2.Client
    printed: str = ""
    returncode: int | None = None


@contextmanager
def served(folder: Path, environment: dict[str, str], *options: str) -> Iterator[RunningServer]:
    port = free_port()
    command = [str(PROGRAM), "serve", "--port", str(port), *options]
    with (
        subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client,
    ):
        server = RunningServer(client)
        try:
            wait_for_url(f"http://127.0.0.1:{port}/readyz")
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            _, server.printed = process.communicate(timeout=30)
            server.returncode = process.returncode
