"""Metrics of a real server and a real worker, as Prometheus itself reads them."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.serving import ANSWER, Served, fill, serving
from tests.servers import free_port
from trueweave.core import supervising
from trueweave.core.supervising import running
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.server.metrics import Metrics
from trueweave.server.metrics_port import metrics_at
from trueweave.store.postgres.queue import queue
from trueweave.testing.model_server import ModelServer

QUESTION = {"question": "Whom did Ada work with?", "method": "keyword"}
PROGRAM = Path(sys.executable).with_name("trueweave")

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Prometheus is not installed; on Debian: apt-get install prometheus",
)


@asynccontextmanager
async def asked(url: str) -> AsyncIterator[tuple[Served, httpx2.AsyncClient]]:
    """A server with a model that was asked, and a client that may do everything."""
    async with (
        ModelServer(lambda _: ANSWER) as model,
        serving(
            url, model="vllm/any", model_url=model.url, prices={"vllm/any": (1, 2)}, extractor="capitals"
        ) as server,
    ):
        await fill(server.database, "secret-tenant", "Grace Hopper wrote a compiler.")
        async with server.client(await server.key("admin")) as client:
            for _ in range(2):
                (await client.post("/v1/workspaces/secret-tenant/ask", json=QUESTION)).raise_for_status()
            yield server, client


def samples(page: str) -> dict[str, float]:
    """The samples of a page, by name and labels as they are written."""
    found = {}
    for family in text_string_to_metric_families(page):
        for one in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(one.labels.items()))
            found[f"{one.name}{{{labels}}}"] = one.value
    return found


async def test_a_server_tells_what_was_asked_and_names_no_tenant(url: str) -> None:
    async with asked(url) as (_, client):
        answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=")
        found = samples(answer.text)
    route = "method=POST,route=/v1/workspaces/{workspace}/ask,status=200"
    assert found[f"trueweave_http_request_duration_seconds_count{{{route}}}"] == 2
    assert found["trueweave_retrieve_duration_seconds_count{method=keyword}"] == 2
    assert found["trueweave_retrieve_step_duration_seconds_count{method=keyword,step=chunks matching}"] == 2
    assert found["trueweave_ask_duration_seconds_count{method=keyword}"] == 2
    assert found["trueweave_model_call_duration_seconds_count{model=vllm/any,operation=chat}"] == 1
    assert found["trueweave_cache_lookups_total{operation=chat,result=miss}"] == 1
    assert found["trueweave_cache_lookups_total{operation=chat,result=hit}"] == 1
    assert found["trueweave_tokens_total{direction=output,model=vllm/any,stage=answer}"] > 0
    assert found["trueweave_spend_total{currency=USD,model=vllm/any,stage=answer}"] > 0
    assert found["trueweave_db_pool_requests_total{}"] > 2
    assert found["trueweave_db_pool_max_connections{}"] >= found["trueweave_db_pool_connections{}"] > 0
    assert found["trueweave_queue_known{}"] == 1
    assert found["trueweave_queue_jobs{kind=document,state=waiting}"] == 0
    assert found["process_resident_memory_bytes{}"] > 0
    assert "secret-tenant" not in answer.text
    assert "Ada" not in answer.text


async def test_metrics_take_a_key_for_all_workspaces(url: str) -> None:
    async with serving(url) as server:
        keys = {"": 401, await server.key("read"): 403, await server.key("admin", "mine"): 403}
        for key, status in keys.items():
            async with server.client(key) as client:
                assert (await client.get("/metrics")).status_code == status


async def test_what_waits_in_all_workspaces_is_counted_with_its_age(database: Database) -> None:
    for name in ("a", "b"):
        workspace = await database.find_workspace(name, make=True)
        assert workspace
        async with workspace.transaction() as tx:
            await queue.enqueue(tx, "document", [b"[]", b"[]"])
            await queue.enqueue(tx, "report", [b""], after=1000)
    await asyncio.sleep(0.05)
    metrics = Metrics()
    metrics.watch(database, asyncio.get_running_loop())
    found = samples((await asyncio.to_thread(metrics.page))[0].decode())
    assert found["trueweave_queue_jobs{kind=document,state=waiting}"] == 4
    assert found["trueweave_queue_jobs{kind=report,state=delayed}"] == 2
    assert found["trueweave_queue_jobs{kind=settle,state=waiting}"] == 0
    assert 0.04 < found["trueweave_queue_oldest_job_age_seconds{kind=document}"] < 60
    assert found["trueweave_queue_oldest_job_age_seconds{kind=report}"] == 0


async def test_without_the_database_the_rest_is_told(url: str) -> None:
    database = await Database(url).open()
    await database.close()
    metrics = Metrics()
    metrics.watch(database, asyncio.get_running_loop())
    found = samples((await asyncio.to_thread(metrics.page))[0].decode())
    assert found["trueweave_queue_known{}"] == 0
    assert not any(name.startswith("trueweave_queue_jobs") for name in found)
    assert found["trueweave_db_pool_waiting{}"] == 0


async def _fail() -> None:
    raise KeyError("a bug")


async def test_a_port_of_its_own_tells_metrics_and_whether_the_event_loop_lives_and_all_tasks_run() -> None:
    loop, dead = asyncio.get_running_loop(), asyncio.new_event_loop()
    dead.close()
    with metrics_at(Metrics(), "127.0.0.1", 0, loop) as port, metrics_at(Metrics(), "127.0.0.1", 0, dead) as other:
        async with httpx2.AsyncClient(timeout=60) as client:
            base = f"http://127.0.0.1:{port}"
            assert "trueweave_build_info" in (await client.get(f"{base}/metrics")).text
            assert (await client.get(f"{base}/healthz")).status_code == 200
            assert (await client.get(f"{base}/readyz")).status_code == 200
            async with running("worker", _fail):
                while not supervising.down():  # noqa: ASYNC110 (the task acts)
                    await asyncio.sleep(0)
                answer = await client.get(f"{base}/readyz")
            assert (answer.status_code, answer.text) == (503, "failed background tasks: worker\n")
            assert (await client.get(f"{base}/v1/workspaces")).status_code == 404
            assert (await client.get(f"http://127.0.0.1:{other}/healthz")).status_code == 503
        with (
            pytest.raises(ConfigError, match=f"cannot listen for metrics at 127.0.0.1:{port}: "),
            metrics_at(Metrics(), "127.0.0.1", port, loop),
        ):
            pass


@contextmanager
def prometheus(folder: Path, jobs: dict[str, Any]) -> Iterator[str]:
    """Prometheus, scraping these every second; its address."""
    port = free_port()
    config = folder / "prometheus.yml"
    scraped = [{"job_name": name, **job} for name, job in jobs.items()]
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": scraped}))
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    with (
        (folder / "prometheus.log").open("wb") as log,
        subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)


@contextmanager
def working(url: str, folder: Path, port: int) -> Iterator[None]:
    """A worker that tells its metrics at this port."""
    environment = {**os.environ, "TRUEWEAVE_DATABASE_URL": url, "TRUEWEAVE_EXTRACTOR": "capitals"}
    command = [str(PROGRAM), "worker", "--metrics-port", str(port)]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def complaints(page: bytes) -> bytes:
    """What promtool finds wrong with metrics."""
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True)
    return done.stdout + done.stderr


def query(address: str, what: str, within: float = 60) -> float:
    """The value of an expression, once Prometheus has one."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/api/v1/query?query={quote(what)}") as answer:
                if found := json.load(answer)["data"]["result"]:
                    return float(found[0]["value"][1])
        except OSError:
            pass  # it is starting
        time.sleep(0.2)
    raise TimeoutError(f"Prometheus has no {what}")


@needs_prometheus
async def test_prometheus_scrapes_a_server_by_a_key_and_a_worker_by_its_port(url: str, tmp_path: Path) -> None:
    port = free_port()
    async with asked(url) as (server, client):
        with working(url, tmp_path, port):
            texts = {"documents": [{"uri": "a", "text": "Ada Lovelace met Charles Babbage."}]}
            (await client.post("/v1/workspaces/secret-tenant/documents", json=texts)).raise_for_status()
            page = await client.get("/metrics")
            assert await asyncio.to_thread(complaints, page.content) == b""
            key = re.sub("Bearer ", "", client.headers["authorization"])
            served = {"static_configs": [{"targets": [server.url.removeprefix("http://")]}]}
            worked = {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
            jobs = {"server": {**served, "authorization": {"credentials": key}}, "worker": worked}
            with prometheus(tmp_path, jobs) as address:
                asks = 'trueweave_http_request_duration_seconds_count{route="/v1/workspaces/{workspace}/ask"}'
                assert await asyncio.to_thread(query, address, asks) == 2
                assert await asyncio.to_thread(query, address, 'trueweave_documents_total{outcome="processed"}') == 1
                oldest = 'max(trueweave_queue_oldest_job_age_seconds{kind="document"})'
                assert await asyncio.to_thread(query, address, oldest) >= 0
                assert await asyncio.to_thread(query, address, "sum(up)") == 2
