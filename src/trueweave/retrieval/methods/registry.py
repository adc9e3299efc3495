"""Methods by name: Trueweave's own and users', all found by entry point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint
from inspect import formatannotation
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import core_schema

from trueweave.core.errors import ConfigError, UnknownMethod
from trueweave.core.plugins import Broken, entry_points, is_own, load
from trueweave.retrieval.context import Method

GROUP = "trueweave.methods"


@dataclass(frozen=True, slots=True)
class MethodParameter:
    """One parameter of a method: its name, its type as written, its default, and one line of help."""

    name: str
    type: str
    default: str
    help: str


@dataclass(frozen=True, slots=True)
class Description:
    """A method as shown in lists: its name, what it does, and its parameters."""

    name: str
    summary: str
    parameters: tuple[MethodParameter, ...]


def names() -> list[str]:
    """The names of all methods that can be used: Trueweave's own, then users'."""
    return [name for name, found in _methods().items() if not isinstance(found, ConfigError)]


def make(name: str, parameters: Mapping[str, object] | None = None) -> Method:
    """The method of that name. Parameters may be values or text: {"alpha": "0.5"}, {"part": "local"}."""
    kind = _class(name)
    known = {parameter.name: parameter.type for parameter in describe(name).parameters} if parameters else {}
    given = {key: _value(value, known.get(key, "")) for key, value in (parameters or {}).items()}
    if unknown := [key for key in given if key not in known]:
        has = f"It has {', '.join(sorted(known))}." if known else "It has none."
        raise UnknownMethod(f"the method {name} has no parameter {', '.join(unknown)}. {has}")
    try:
        made: Method = kind(**given)
    except ValidationError as error:
        problems = "; ".join(f"{e['loc'][0] if e['loc'] else name}: {e['msg']}" for e in error.errors())
        raise UnknownMethod(f"the method {name} has invalid parameters: {problems}") from error
    return made


def describe(name: str) -> Description:
    """The description of the method of that name."""
    kind = _class(name)
    listed = [
        MethodParameter(field.name, _type(field.type), _default(field.default), _help(field.default))
        for field in (fields(kind) if is_dataclass(kind) else ())
    ]
    return Description(name, (kind.__doc__ or "").strip().partition("\n")[0], tuple(listed))


def schema(name: str) -> dict[str, Any]:
    """The parameters of a method as a JSON schema. A parameter that is a method is given by its name."""
    kind = _class(name)
    if not is_dataclass(kind):
        return {"type": "object", "properties": {}}
    return TypeAdapter(kind).json_schema(schema_generator=_ParameterSchema)


class _ParameterSchema(GenerateJsonSchema):
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"non-serializable-default", "skipped-choice"}  # noqa: RUF012 (as its base has it)

    def encode_default(self, dft: Any) -> Any:
        """A default in the form a user would write it: methods by their names."""
        if isinstance(dft, tuple | list):
            return [self.encode_default(one) for one in dft]
        return name_of(dft) if isinstance(dft, Method) else super().encode_default(dft)

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> dict[str, Any]:
        """The schema of a parameter that is a method."""
        return {"type": "string", "description": "the name of a method"}


def broken() -> list[Broken]:
    """The methods that are installed but cannot be used, and why."""
    return [Broken(name, str(found)) for name, found in _methods().items() if isinstance(found, ConfigError)]


def name_of(method: Method) -> str:
    """The name of a method, or that of its class in lower case if it has none."""
    return next((name for name, kind in _methods().items() if type(method) is kind), type(method).__name__.lower())


def parameters_of(method: Method) -> dict[str, Any]:
    """The parameters with which `make` recreates this method, without those that have their default. Raises TypeError
    if there are none: the method has no name, or a parameter that JSON cannot hold, such as a method with its own
    parameters."""
    if (name := name_of(method)) not in names():
        raise TypeError("it has no name, because it is not an installed method")
    given: Any = method
    found: dict[str, Any] = {}
    for field in fields(given) if is_dataclass(given) else ():
        value = getattr(method, field.name)
        if value != (field.default.default if isinstance(field.default, FieldInfo) else field.default):
            found[field.name] = _written(field.name, value)
    if make(name, found) != method:
        raise TypeError("its parameters do not describe it completely")
    return found


def _written(parameter: str, value: object) -> Any:
    """A parameter as a JSON value: methods by their names."""
    if isinstance(value, tuple | list):
        return [_written(parameter, one) for one in value]
    if not isinstance(value, Method):
        if value is not None and not isinstance(value, str | int | float | bool):
            raise TypeError(f"its parameter {parameter} cannot be represented in JSON")
        return value
    if (name := name_of(value)) not in names() or make(name) != value:
        raise TypeError(f"its parameter {parameter} is a method with its own parameters, which has no name")
    return name


def _class(name: str) -> type[Any]:
    found = _methods().get(name)
    if found is None:
        near = get_close_matches(name, names(), n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise UnknownMethod(f"there is no method {name!r}.{meant} There are {', '.join(names())}.")
    if isinstance(found, ConfigError):
        raise ConfigError(str(found)) from found.__cause__
    return found


@cache
def _methods() -> dict[str, type[Any] | ConfigError]:
    """The class of each method, or the error from loading it, which does not affect the other methods."""
    named: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: not is_own(entry)):
        named.setdefault(entry.name, []).append(entry)
    return {name: _loaded(entries) for name, entries in named.items()}


def _loaded(entries: Sequence[EntryPoint]) -> type[Any] | ConfigError:
    """The class for the entry points of one name. Another package takes precedence over Trueweave."""
    others = [entry for entry in entries if not is_own(entry)]
    if len(others) > 1:
        values = " and ".join(entry.value for entry in others)
        return ConfigError(f"{values} are both methods called {others[0].name}. Uninstall one of them.")
    try:
        return load(entries[-1], "method", lambda kind: cast("type[Any]", kind))
    except ConfigError as error:
        return error


def _value(given: object, type_: str) -> object:
    """The value of a parameter given as text: methods by their names, and anything else as JSON, so that null and lists
    can be written as well."""
    if isinstance(given, list) and "tuple[Method" in type_ and all(isinstance(one, str) for one in given):
        return tuple(make(one) for one in given)
    if not isinstance(given, str):
        return given
    if "Method" in type_:
        parts = tuple(make(name.strip()) for name in given.split(","))
        return parts if "tuple" in type_ else parts[0]
    try:
        return json.loads(given)
    except ValueError:
        return given


def _type(declared: object) -> str:
    """The type as written, also for modules whose annotations are evaluated."""
    return declared if isinstance(declared, str) else formatannotation(declared)


def _default(declared: object) -> str:
    value = declared.default if isinstance(declared, FieldInfo) else declared
    if value is MISSING:
        return ""
    if isinstance(value, tuple) and value and all(isinstance(part, Method) for part in value):
        return " + ".join(name_of(part) for part in value)
    return name_of(value) if isinstance(value, Method) else json.dumps(value, default=str)


def _help(declared: object) -> str:
    return (declared.description or "") if isinstance(declared, FieldInfo) else ""
