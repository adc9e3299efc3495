"""Leiden, from graspologic-native. It depends on SciPy, which is large, so it is in the extra `communities`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from trueweave.core.errors import ConfigError
from trueweave.graph.louvain import Graph, Ints, rows

_LOUVAIN = "Louvain 1"  # raised when louvain.py finds other communities


@cache
def library() -> str:
    """What detects communities, with versions. Raises ConfigError if graspologic-native is not installed."""
    try:
        return f"graspologic-native {version('graspologic-native')}, {_LOUVAIN}"
    except PackageNotFoundError as error:
        raise _not_installed() from error


def leiden(part: Graph, resolution: float, seed: int) -> Ints:
    """The community of each node. Raises ConfigError if graspologic-native is not installed."""
    starts, others, weights = rows(part)
    _, found = _native().leiden_csr(
        starts, others.astype(np.int32), weights, part.size, resolution=resolution, seed=seed
    )
    return np.fromiter(map(found.__getitem__, range(part.size)), np.int64, part.size)


def _native() -> Any:
    try:
        import graspologic_native
    except ModuleNotFoundError as error:
        raise _not_installed() from error
    return graspologic_native


def _not_installed() -> ConfigError:
    return ConfigError(
        "detecting communities needs graspologic-native, which is not installed. Run: "
        'pip install "trueweave[communities]".'
    )
