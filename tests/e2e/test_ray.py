"""Bulk loading on a Ray cluster of two nodes: the driver is killed once, and one node, in the middle."""

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, model_server
from trueweave import AsyncTrueweave
from trueweave.extend import Database
from trueweave.store.postgres.view.digest import differences
from trueweave.testing.model_server import Asked

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="bulk loading needs Ray: pip install trueweave[ray]")

FILES, LINES = 24, 3
LOOPBACK = {
    # Or Ray takes 127.0.0.1 for the machine's address in its network, where nothing listens.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
NODE: dict[str, Any] = {"node_ip_address": "127.0.0.1", "object_store_memory": 100 * 2**20}


def reply(asked: Asked) -> str:
    """The people who met, as a language model would tell them."""
    found = re.findall(r"(Person \d+) met (Person \d+)", asked.messages[-1].content)
    people = sorted({name for pair in found for name in pair})
    return json.dumps(
        {
            "entities": [{"name": one, "type": "person", "description": f"{one} is a person"} for one in people],
            "relations": [
                {"source": a, "target": b, "description": f"{a} met {b}", "keywords": ["met"], "strength": 5}
                for a, b in found
            ],
        }
    )


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """A cluster of two nodes on this machine, and its second node, which can be killed."""
    for name, value in LOOPBACK.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **NODE})
    yield cluster, cluster.add_node(num_cpus=1, **NODE)
    cluster.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for n in range(FILES):
        rows = (
            {"id": str(i), "text": f"Person {n % 7} met Person {(n + i) % 5 + 7} in the year {1800 + LINES * n + i}."}
            for i in range(LINES)
        )
        (folder / f"{n:02}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def calls(log: Path) -> int:
    """How many chats have been answered."""
    lines = log.read_text().splitlines() if log.exists() else []
    return sum(one["event"] == "end" and one["kind"] == "chat" for one in map(json.loads, lines))


def until(condition: Any, process: subprocess.Popen[str], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.nightly
def test_a_load_survives_the_death_of_its_driver_and_of_a_node_and_pays_for_nothing_twice(
    url: str, tmp_path: Path, environment: Mapping[str, str], nodes: tuple[Any, Any], corpus: Path, trueweave: Trueweave
) -> None:
    log = tmp_path / "calls.jsonl"
    with model_server("--script", f"{__name__}:reply", "--log", str(log), "--delay", "0.3") as server:
        settings = {
            "TRUEWEAVE_EXTRACTOR": "llm",
            "TRUEWEAVE_MODEL": "vllm/any",
            "TRUEWEAVE_MODEL_URL": server,
            "TRUEWEAVE_EMBEDDING_MODEL": "vllm/hash",
            "TRUEWEAVE_EMBEDDING_URL": server,
            "TRUEWEAVE_CALLS_AT_ONCE": "2",
        }
        env = {**environment, **LOOPBACK, **settings}
        for name in ("bulk", "online"):
            trueweave("init", "--workspace", name)
        command = [PROGRAM, "bulk", "corpus", "--ray-address", nodes[0].address, "--workspace", "bulk", "--json"]

        def driver() -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe, text=True)

        with driver() as killed:
            until(lambda: calls(log) >= 10, killed)
            killed.send_signal(signal.SIGKILL)
        with driver() as process:
            before = calls(log)
            until(lambda: calls(log) >= before + 10, process)
            os.kill(nodes[1].all_processes["raylet"][0].process.pid, signal.SIGKILL)
            out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        assert json.loads(out)["documents"] == FILES * LINES
        answered = calls(log)
        added = subprocess.run(
            [PROGRAM, "add", "corpus", "--workspace", "online", "--json", "--yes"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert added.returncode == 0, added.stderr
    asyncio.run(check(url, answered))


async def check(url: str, answered: int) -> None:
    """Both workspaces show the same, and no chat was asked for again that was paid for."""
    async with (
        Database(url) as database,
        aclosing(await AsyncTrueweave.enter(database, "online", make=False)) as online,
        aclosing(await AsyncTrueweave.enter(database, "bulk", make=False)) as bulk,
    ):
        assert await differences(online.workspace, bulk.workspace) == []
        assert await online.maintenance.digest() == await bulk.maintenance.digest()
        assert (await bulk.maintenance.verify()).exact
        [chats] = [one for one in await bulk.budget.receipt() if one.model == "vllm/any"]
        # A call that was under way in a process that was killed is lost: its reply may be kept, or asked for again.
        assert chats.calls - chats.lost <= FILES * LINES <= answered <= FILES * LINES + chats.lost
