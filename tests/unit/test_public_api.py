"""The public names: everything that the API takes, gives and raises, and nothing else."""

import dataclasses
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from types import ModuleType

import pytest

import trueweave
from trueweave import (
    AsyncClient,
    AsyncConversation,
    AsyncTrueweave,
    Chunker,
    Client,
    Conversation,
    Extractor,
    GraphReader,
    Loader,
    Method,
    ProjectionSource,
    TextSearch,
    Trueweave,
    VectorSearch,
)
from trueweave.client import sync as sync_client
from trueweave.core import errors
from trueweave.engine import sync
from trueweave.engine.factory import ModelFactory

CLIENT_GROUPS = [kind for name, kind in typing.get_type_hints(AsyncClient).items() if not name.startswith("_")]
GROUPS = [kind for name, kind in typing.get_type_hints(AsyncTrueweave).items() if not name.startswith("_")]
API = [
    AsyncTrueweave,
    Trueweave,
    AsyncConversation,
    Conversation,
    *GROUPS,
    *(getattr(sync, kind.__name__.removeprefix("Async")) for kind in GROUPS),
    AsyncClient,
    Client,
    *CLIENT_GROUPS,
    *(getattr(sync_client, kind.__name__.removeprefix("Async")) for kind in CLIENT_GROUPS),
    ProjectionSource,
    *(Method, Loader, Extractor, Chunker, GraphReader, VectorSearch, TextSearch),  # what other packages implement
]
ALIASES = {
    "ChangeReaders",
    "Event",
    "Listener",
    "MakeChunker",
    "MakeExtractor",
    "Resolution",
    "RuleKind",
    "VectorKind",
    "Vectors",
}
FUNCTIONS = {"connect", "connect_async"}
# For the worker of all workspaces, which is of this package.
INTERNAL = {"worker_dependencies"}


def public_methods(cls: type) -> Iterator[typing.Callable[..., object]]:
    for name, member in inspect.getmembers(cls):
        # The others are made by these.
        is_called = name == "__init__" and cls in {AsyncTrueweave, Trueweave, Client}
        if (is_called or not name.startswith("_")) and name not in INTERNAL:
            found = member.fget if isinstance(member, property) else member
            if callable(found):
                yield inspect.unwrap(found)


def types_in(hint: object, known: set[type]) -> None:
    """Add the classes of this package that a type hint names, and those of their fields."""
    for part in typing.get_args(hint):
        for one in part if isinstance(part, list) else [part]:
            types_in(one, known)
    found = typing.get_origin(hint) or hint
    if isinstance(found, type) and found.__module__.startswith("trueweave") and found not in known:
        known.add(found)
        if dataclasses.is_dataclass(found) or hasattr(found, "_fields"):
            for field in typing.get_type_hints(found).values():
                types_in(field, known)


def types_of_api() -> set[str]:
    """The classes of the API, and those that their methods take and give."""
    known: set[type] = {*API}
    for cls in API:
        for method in public_methods(cls):
            names = {"ModelFactory": ModelFactory, "AsyncTrueweave": AsyncTrueweave}
            for hint in typing.get_type_hints(method, localns=names).values():
                types_in(hint, known)
    return {one.__name__ for one in known}


def test_whatever_the_api_takes_and_gives_is_public() -> None:
    assert len(types_of_api()) > 50
    assert types_of_api() - set(trueweave.__all__) == set()


def test_whatever_the_api_raises_is_public() -> None:
    raised = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert raised <= set(trueweave.__all__)
    tree = set(re.findall(r"[├└]── (\w+)", str(errors.__doc__)))
    assert tree | {"TrueweaveError"} == raised


def test_no_other_name_is_public() -> None:
    wanted = types_of_api() | {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert set(trueweave.__all__) == wanted | ALIASES | FUNCTIONS
    assert trueweave.__all__ == sorted(trueweave.__all__)
    assert all(hasattr(trueweave, name) for name in trueweave.__all__)  # each is loaded when it is asked for
    visible = {name: value for name, value in vars(trueweave).items() if not name.startswith("_")}
    assert {name for name, value in visible.items() if not isinstance(value, ModuleType)} == set(trueweave.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = trueweave.Nothing  # type: ignore[attr-defined]


def test_importing_the_package_loads_no_driver_and_no_client_of_models() -> None:
    program = "import sys, trueweave; trueweave.TrueweaveError; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"psycopg", "numpy", "openai", "pydantic"} & set(loaded)
