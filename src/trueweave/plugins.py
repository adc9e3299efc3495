"""What packages bring along by entry point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, TypeVar

from trueweave.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that a package brings along and that cannot be used: what it is called, and why."""

    name: str
    problem: str


def load(entry: EntryPoint, kind: str, make: Callable[[Any], T]) -> T:
    """What is made of that which an entry point names; a ConfigError where it cannot be imported or made."""
    try:
        return make(entry.load())
    except Exception as error:  # a module of another package may raise anything
        package = f" of the package {entry.dist.name}" if entry.dist else ""
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"the {kind} {entry.name}{package} cannot be loaded: {entry.value} raises {type(error).__name__}: "
            f"{reason.removesuffix('.')}. Install it anew, or uninstall it."
        ) from error
