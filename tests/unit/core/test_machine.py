"""Sizes that nobody has set follow the machine, and a container counts as the machine."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trueweave import Settings
from trueweave.core import machine
from trueweave.ingest.jobs import WorkerSettings

GB = 2**30


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    for known in (machine.cores, machine.memory):
        known.cache_clear()
    yield
    for known in (machine.cores, machine.memory):
        known.cache_clear()


@pytest.fixture
def cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GB // 4096}.__getitem__)
    return tmp_path


@pytest.mark.parametrize(
    ("cpu", "memory", "found"),
    [
        (None, None, (16, 64 * GB)),
        ("max 100000", "max", (16, 64 * GB)),
        ("150000 100000", str(2 * GB), (2, 2 * GB)),
        ("6400000 100000", str(99 * GB), (16, 64 * GB)),
    ],
)
def test_a_container_has_what_its_limits_allow(
    cgroup: Path, cpu: str | None, memory: str | None, found: tuple[int, int]
) -> None:
    for name, text in (("cpu.max", cpu), ("memory.max", memory)):
        if text is not None:
            (cgroup / name).write_text(f"{text}\n")
    assert (machine.cores(), machine.memory()) == found


@pytest.mark.parametrize(
    ("cores", "gigabytes", "connections", "jobs", "megabytes"),
    [(1, 1, 10, 12, 64), (2, 4, 10, 24, 256), (8, 16, 32, 96, 1024), (64, 512, 40, 96, 1024)],
)
def test_defaults_follow_the_machine(
    monkeypatch: pytest.MonkeyPatch, cores: int, gigabytes: int, connections: int, jobs: int, megabytes: int
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: cores)
    monkeypatch.setattr(machine, "memory", lambda: gigabytes * GB)
    settings = Settings()
    assert (settings.pool_size, settings.jobs_of_a_worker) == (connections, jobs)
    assert settings.index_memory(bundled=True) == megabytes * 2**20
    assert settings.index_memory(bundled=False) == GB, "the memory of another machine is not known"


def test_what_is_set_counts() -> None:
    settings = Settings(connections=3, worker_jobs=5, index_memory_bytes=100 * 2**20)
    assert (settings.pool_size, settings.jobs_of_a_worker) == (3, 5)
    assert {settings.index_memory(bundled=one) for one in (True, False)} == {100 * 2**20}
    assert WorkerSettings.of(settings).jobs_at_once == 5


def test_many_jobs_get_more_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cores", lambda: 2)
    assert Settings(worker_jobs=80).pool_size == 20
