"""Plugins that packages provide as entry points."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any, TypeVar

from trueweave.core.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Broken:
    """A plugin that cannot be used: its name, and the reason."""

    name: str
    problem: str


def entry_points(group: str) -> EntryPoints:
    """The installed entry points of a group. The metadata of all distributions is read once: with 300 of them, that
    takes 20 ms of processor time."""
    return _entry_points(group, tuple(sys.path))


def is_own(entry: EntryPoint) -> bool:
    """Whether an entry point is one of Trueweave's."""
    return entry.value.startswith("trueweave.")


@cache
def _entry_points(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return importlib.metadata.entry_points(group=group)


def load(entry: EntryPoint, kind: str, make: Callable[[Any], T]) -> T:
    """The object that an entry point creates. ConfigError if it cannot be imported or created."""
    try:
        return make(entry.load())
    except Exception as error:  # a module of another package may raise anything
        package = f" of the package {entry.dist.name}" if entry.dist else ""
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"the {kind} {entry.name}{package} cannot be loaded: {entry.value} raises {type(error).__name__}: "
            f"{reason.removesuffix('.')}. Reinstall it, or uninstall it."
        ) from error


def made(group: str, kind: str, name: str, built_in: Sequence[str], context: object) -> Any:
    """The object that the entry point of that name returns when called with the context. ConfigError if there is none,
    or two, or it cannot be created. The names in `built_in` are reserved for Trueweave's own."""
    found = [entry for entry in entry_points(group=group) if entry.name == name]
    if not found:
        known = ", ".join((*built_in, *sorted({entry.name for entry in entry_points(group=group)} - {*built_in})))
        raise ConfigError(
            f"there is no {kind} {name!r}. There are {known}; packages can add more with the entry point group {group}."
        )
    if len(found) > 1:
        values = " and ".join(entry.value for entry in found)
        raise ConfigError(f"{values} are both {kind}s called {name}. Uninstall one of them.")
    return load(found[0], kind, lambda make: make(context))


def broken(group: str, kind: str, built_in: Sequence[str]) -> list[Broken]:
    """The unusable plugins of a group, with the reasons. Usable plugins are imported but not created."""
    found: list[Broken] = []
    for entry in entry_points(group=group):
        if entry.name in built_in:
            found.append(Broken(entry.name, f"{entry.value} has the name of a built-in {kind}. Give it another."))
            continue
        try:
            load(entry, kind, lambda kept: kept)
        except ConfigError as error:
            found.append(Broken(entry.name, str(error)))
    return found
