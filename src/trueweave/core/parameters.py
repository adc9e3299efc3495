"""Parameters of a question as data, from which calls, request bodies, commands and tools are made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast, get_type_hints

O = TypeVar("O")  # noqa: E741 (options)
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Parameter:
    """The mark of a field that is a plain value, the same everywhere: its help text and its bounds.

    `longest` bounds the characters of a text in a request. Agents read the description of each argument with every
    request, so that only those parameters are offered to them that are marked `for_agents`. A field without this mark
    has a form of its own in each place, as a filter does.
    """

    help: str
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    longest: int | None = None
    for_agents: bool = True


class PlainField(NamedTuple):
    """A field with its mark; `type` is without it."""

    name: str
    type: Any
    default: Any
    parameter: Parameter


def plain_fields(options: type) -> list[PlainField]:
    """The fields of a dataclass that are marked as a Parameter."""
    hints = get_type_hints(options, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return [
        PlainField(one.name, hints[one.name].__origin__, one.default, mark)
        for one in fields(options)
        for mark in marks[one.name]
        if isinstance(mark, Parameter)
    ]


def plain_values(given: object, options: type | None = None) -> dict[str, Any]:
    """What an object has for the plain fields of these options, which are its own unless given."""
    return {one.name: getattr(given, one.name) for one in plain_fields(options or type(given))}


def values(given: Any) -> dict[str, Any]:
    """All fields of a dataclass by name, as they are."""
    return {one.name: getattr(given, one.name) for one in fields(given)}


def takes(options: Callable[P, O]) -> Callable[[Callable[[S, O], R]], Callable[Concatenate[S, P], R]]:
    """Let callers of a method give the fields of a dataclass as arguments; the method itself gets the dataclass."""
    plain = {one.name: one.type for one in plain_fields(cast("type", options))}
    taken = [
        one.replace(annotation=plain.get(one.name, one.annotation))
        for one in inspect.signature(options).parameters.values()
    ]

    def decorated(act: Callable[[S, O], R]) -> Callable[Concatenate[S, P], R]:
        if inspect.iscoroutinefunction(act):

            @wraps(act)
            async def call(self: S, *args: P.args, **kwargs: P.kwargs) -> Any:
                return await act(self, options(*args, **kwargs))
        else:

            @wraps(act)
            def call(self: S, *args: P.args, **kwargs: P.kwargs) -> Any:
                return act(self, options(*args, **kwargs))

        first = next(iter(inspect.signature(act).parameters.values()))
        returned = inspect.signature(act).return_annotation
        call.__signature__ = inspect.Signature([first, *taken], return_annotation=returned)  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorated
