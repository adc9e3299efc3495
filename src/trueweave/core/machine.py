"""The machine that a process runs on: how many cores and how much memory it may use, in a container too."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")  # cgroups version 2, with the limits of the container
_UNKNOWN_MEMORY = 4 * 2**30


@cache
def cores() -> int:
    """The cores that this process may use, at least 1."""
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(count, _quota() or count))


@cache
def memory() -> int:
    """The bytes of memory that this process may use."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on this system
        physical = _UNKNOWN_MEMORY
    limit = _words("memory.max")
    return min(physical, int(limit[0])) if limit and limit[0].isdigit() else physical


def _quota() -> int | None:
    """The cores that a container may use, rounded up."""
    match _words("cpu.max"):
        case [quota, period] if quota.isdigit() and period.isdigit():
            return -(-int(quota) // int(period))
    return None


def _words(file: str) -> list[str]:
    try:
        return (_CGROUP / file).read_text("ascii").split()
    except (OSError, UnicodeDecodeError):  # no container, or another system
        return []
