"""Loaders by file extension: built-in and custom, all found by entry point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.core.plugins import Broken, entry_points, is_own, load
from trueweave.core.protocols import Loader
from trueweave.core.record import Source

GROUP = "trueweave.loaders"


def loaders() -> dict[str, Loader]:
    """The installed loader for each file extension. A loader of another distribution takes precedence over the built-in
    one.

    An entry point names a class or function that returns the loader when called without arguments. Loaders that cannot
    be loaded are left out: see `broken_loaders`.
    """
    return _installed()[0]


def broken_loaders() -> list[Broken]:
    """The installed loaders that cannot be used, with the reasons."""
    found, unloaded = _installed()
    return [*unloaded, *(one.broken for one in found.values() if isinstance(one, _Contested))]


def unloaded_loaders() -> list[Broken]:
    """Those that could not be loaded, so it is unknown which files they read."""
    return _installed()[1]


def _installed() -> tuple[dict[str, Loader], list[Broken]]:
    chosen: dict[str, tuple[EntryPoint, Loader]] = {}
    unloaded: list[Broken] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (not is_own(entry), entry.name)):
        try:
            loader, suffixes = load(entry, "loader", _made)
        except ConfigError as error:
            unloaded.append(Broken(entry.name, str(error)))
            continue
        for suffix in suffixes:
            other = chosen.get(suffix)
            contested = other and not is_own(other[0])
            chosen[suffix] = entry, _Contested(suffix, other[0], entry) if other and contested else loader
    return {suffix: loader for suffix, (_, loader) in chosen.items()}, unloaded


def _made(kind: Any) -> tuple[Loader, frozenset[str]]:
    loader: Loader = kind()
    return loader, frozenset(loader.suffixes)


@dataclass(frozen=True)
class _Contested:
    """Replaces two loaders for one extension: it reads none of these files, and reports why."""

    suffix: str
    first: EntryPoint
    second: EntryPoint

    @property
    def suffixes(self) -> frozenset[str]:
        return frozenset({self.suffix})

    @property
    def broken(self) -> Broken:
        both = f"{self.first.value} and {self.second.value} both read {self.suffix} files. Uninstall one of them."
        return Broken(self.second.name, both)

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        raise UnreadableFile(f"{uri} cannot be read: {self.broken.problem}")
