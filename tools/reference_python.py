"""The pages of the Python API, from the code itself: what is public, with the signatures as they are written there."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
import sys
import typing
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import trueweave
from trueweave import Client, Conversation, Trueweave, connect, connect_async, extend, types

_CALLS = """# Python

`Trueweave` is one workspace of an index in PostgreSQL, and `Client` is one workspace of a
[server](../how-to/server.md), with the same calls. Their asynchronous forms, `AsyncTrueweave` and `AsyncClient`, have
the same calls to `await`; where a call here returns an iterator, use `async for` there. Other pages list the
[values](python-types.md) that calls take and return, [errors](errors.md), [events](events.md), [methods](methods.md),
and what authors of [extensions](python-extend.md) implement. This page is written by `make reference`.
"""
_TYPES = """# Python: values

What calls take and return, in `trueweave.types`; those marked with *top* are in `trueweave` itself, too. All are
immutable. This page is written by `make reference`.
"""
_EXTEND = """# Python: extending

What authors of methods, loaders, connectors, extractors, chunkers, verifiers and stores need, in `trueweave.extend`. A
protocol is implemented by any class that has its calls. This page is written by `make reference`.
"""
# For the worker of all workspaces and for benchmarks, which are of the package itself.
_INTERNAL = frozenset({"worker_dependencies", "source_runs", "model_and_prompts", "varied", "estimate_varied"})


def python_pages() -> dict[str, str]:
    """The pages, by the names of their files."""
    return {"python.md": _calls_page(), "python-types.md": _types_page(), "python-extend.md": _extend_page()}


def _calls_page() -> str:
    parts = [_CALLS, "\n## Open\n", _call("connect", connect), _call("connect_async", connect_async)]
    parts += [
        _heading("Trueweave", Trueweave),
        *_calls("", Trueweave, without=[name for name, _ in _groups(Trueweave)]),
    ]
    for name, kind in _groups(Trueweave):
        parts += [f"\n## `trueweave.{name}`\n\n{_about(kind)}\n", *_calls(f"{name}.", kind)]
    parts += [f"\n## `Conversation`\n\n{_about(Conversation)}\n", *_calls("", Conversation)]
    parts += [_heading("Client", Client), _client_calls()]
    return "".join(parts)


def _client_calls() -> str:
    """The calls that only `Trueweave` has: a reader of the calls above has to know no more of `Client`."""
    own = ", ".join(f"`{name}`" for name in sorted(_names(Trueweave) - _names(Client)))
    return f"\nIt has the calls of `Trueweave` but for {own}.\n"


def _names(cls: type) -> set[str]:
    own = {name for name, _ in _members(cls)} - {name for name, _ in _groups(cls)}
    return own | {f"{group}.{name}" for group, kind in _groups(cls) for name, _ in _members(kind)}


def _groups(cls: type) -> list[tuple[str, type]]:
    """The objects under which further calls are grouped, such as `trueweave.graph`."""
    module, twin = sys.modules[cls.__module__], getattr(trueweave, f"Async{cls.__name__}")
    names = [name for name in typing.get_type_hints(twin) if not name.startswith("_")]
    return [(name, getattr(module, inspect.get_annotations(vars(cls)[name].fget)["return"])) for name in names]


def _types_page() -> str:
    top = frozenset(trueweave.__all__)
    return "".join([_TYPES, *(part for name in types.__all__ for part in _value(name, types, name in top))])


def _extend_page() -> str:
    return "".join([_EXTEND, *(part for name in extend.__all__ for part in _value(name, extend, False))])


def _value(name: str, module: ModuleType, is_at_top: bool) -> Iterator[str]:
    value = getattr(module, name)
    mark = " *(top)*" if is_at_top else ""
    if not inspect.isclass(value):
        yield f"\n## {name}\n\n```py\n{name} = {_alias(value)}\n```\n"
        return
    yield f"\n## {name}\n\n{_about(value)}{mark}\n"
    if issubclass(value, enum.Enum):
        yield "\n" + ", ".join(f"`{one.value}`" for one in value) + "\n"
    elif lines := [*_fields(value)]:
        yield "\n```py\n" + "".join(lines) + "```\n"
    yield from _calls("", value)


def _alias(value: object) -> str:
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", str(value)).replace("typing.", "")


def _fields(cls: type) -> Iterator[str]:
    """The fields of a value, as they are written in its class."""
    hints = _written_hints(cls)
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if not field.name.startswith("_") and field.init:
                kind, about = _annotated(hints[field.name])
                yield f"{about}{field.name}: {kind}{_default(field)}\n"
    elif hasattr(cls, "_fields"):
        defaults = getattr(cls, "_field_defaults", {})
        for name in cls._fields:
            yield f"{name}: {hints[name]}{f' = {defaults[name]!r}' if name in defaults else ''}\n"
    elif typing.is_typeddict(cls) or getattr(cls, "_is_protocol", False):
        yield from (f"{name}: {hint}\n" for name, hint in hints.items() if not name.startswith("_"))


def _annotated(hint: str) -> tuple[str, str]:
    """A type, and the description beside it as a comment, if it has one."""
    match ast.parse(hint, mode="eval").body:
        case ast.Subscript(ast.Name("Annotated"), ast.Tuple([kind, ast.Call(args=[ast.Constant(str(about)), *_])])):
            return ast.unparse(kind), f"# {about}\n"
    return hint, ""


def _written_hints(cls: type) -> dict[str, str]:
    """The annotations of a class and its bases, as they are written."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        if one.__module__.startswith("trueweave"):
            found |= {name: _hint(hint) for name, hint in inspect.get_annotations(one).items()}
    return found


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {_shown(field.default)}"
    if field.default_factory is not dataclasses.MISSING:
        made = field.default_factory()
        return f" = {made!r}" if made in ({}, (), [], frozenset()) else " = …"
    return ""


def _heading(name: str, cls: Any) -> str:
    made = _signature(name, cls.__init__).removeprefix("def ").removesuffix(" -> None")
    return f"\n## `{name}`\n\n```py\n{made}\n```\n\n{_about(cls)}\n"


def _calls(prefix: str, cls: type, without: Sequence[str] = ()) -> Iterator[str]:
    for name, member in _members(cls):
        if name in without:
            continue
        if isinstance(member, property):
            hint = _hint(inspect.get_annotations(member.fget).get("return", "")) if member.fget else ""
            yield f"\n### `{prefix}{name}`\n\n```py\n{name}: {hint}\n```\n\n{_about(member)}\n"
        else:
            yield _call(f"{prefix}{name}", member)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public calls and properties, in the order in which the classes define them."""
    seen = set(_INTERNAL)
    for one in cls.__mro__:
        if not one.__module__.startswith("trueweave"):
            continue
        for name, member in vars(one).items():
            is_call = inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod)
            if not is_call or name.startswith("_") or name in seen:
                continue
            if not inspect.getdoc(member):
                sys.exit(f"{one.__module__}.{one.__name__}.{name} is public and has no docstring: write one")
            seen.add(name)
            yield name, member


def _call(name: str, member: Any) -> str:
    function = inspect.unwrap(getattr(member, "__func__", member))
    return f"\n### `{name}`\n\n```py\n{_signature(name.rpartition('.')[2], function)}\n```\n\n{_about(member)}\n"


def _signature(name: str, function: Any) -> str:
    """The signature as it is written, on one line or with one parameter on each."""
    signature = inspect.signature(function)
    shown: list[str] = []
    is_keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            if not any(one.startswith("*") for one in shown):
                shown.append("*")
        is_keyword_only |= parameter.kind is parameter.VAR_POSITIONAL
        shown.append(_parameter(parameter))
    kind = "async def" if inspect.iscoroutinefunction(function) else "def"
    returned = f" -> {_hint(signature.return_annotation)}" if signature.return_annotation is not signature.empty else ""
    line = f"{kind} {name}({', '.join(shown)}){returned}"
    return line if len(line) <= 88 else f"{kind} {name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){returned}"


def _parameter(parameter: inspect.Parameter) -> str:
    many = parameter.kind is parameter.VAR_POSITIONAL
    star = "*" if many else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    hint = f": {_hint(parameter.annotation)}" if parameter.annotation is not parameter.empty else ""
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}{hint}"
    return f"{parameter.name}{hint}{' = ' if hint else '='}{_shown(parameter.default)}"


def _shown(default: object) -> str:
    """A default value, without the address of a function or the parts of a long one."""
    text = getattr(default, "__name__", None) or repr(default)
    return "…" if len(text) > 40 or " at 0x" in text else text


def _hint(hint: object) -> str:
    written = hint.__forward_arg__ if isinstance(hint, typing.ForwardRef) else hint
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _about(value: Any) -> str:
    """A docstring as Markdown."""
    return inspect.cleandoc(inspect.getdoc(value) or "").replace("*args", "\\*args")
