"""The public names: everything that the API takes, gives and raises, and nothing else."""

import dataclasses
import inspect
import itertools
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import ModuleType

import pytest

import trueweave
from trueweave import (
    AsyncClient,
    AsyncConversation,
    AsyncTrueweave,
    Client,
    Conversation,
    Trueweave,
    errors,
    events,
    extend,
    methods,
    types,
)
from trueweave.client import sync as sync_client
from trueweave.core import errors as core_errors
from trueweave.core import events as core_events
from trueweave.engine import sync
from trueweave.extend import (
    Chunker,
    Connector,
    ConnectorContext,
    Extractor,
    GraphReader,
    HttpFetcher,
    Loader,
    Method,
    ModelFactory,
    ProjectionSource,
    TextSearch,
    VectorSearch,
    Verifier,
)
from trueweave.retrieval.methods import registry

MODULES: list[ModuleType] = [trueweave, errors, events, extend, methods, types]
EVERYWHERE = {name for module in (trueweave, errors, events, extend, types) for name in module.__all__}
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
    *(
        Method,
        Loader,
        Connector,
        ConnectorContext,
        HttpFetcher,
        Extractor,
        Chunker,
        GraphReader,
        VectorSearch,
        TextSearch,
        Verifier,
    ),  # what other packages implement
]
ALIASES = {
    "ChangeReaders",
    "Event",
    "Listener",
    "MakeChunker",
    "MakeExtractor",
    "Need",
    "Resolution",
    "RuleKind",
    "VectorKind",
    "Vectors",
}
FUNCTIONS = {"connect", "connect_async"}
ONLY_AT_THE_TOP = FUNCTIONS | {
    "Settings",
    "AsyncTrueweave",
    "Trueweave",
    "AsyncClient",
    "Client",
    "AsyncConversation",
    "Conversation",
}
# For the worker of all workspaces and for benchmarks, which are of this package.
INTERNAL = {"worker_dependencies", "source_runs", "watch_runs", "model_and_prompts", "varied", "estimate_varied"}


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
    return {one.__name__ for one in known if not is_group(one)}


def is_group(cls: type) -> bool:
    """Whether it is the class of `trueweave.graph` and its like, which is reached by that name."""
    return (
        cls in GROUPS
        or cls in CLIENT_GROUPS
        or f"Async{cls.__name__}" in {kind.__name__ for kind in (*GROUPS, *CLIENT_GROUPS)}
    )


def defined(module: ModuleType) -> set[str]:
    return {
        name for name, value in vars(module).items() if inspect.isclass(value) and value.__module__ == module.__name__
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.__name__))
def test_a_public_module_has_its_names_and_no_others(module: ModuleType) -> None:
    public = list(module.__all__)
    assert public == sorted(public)
    assert all(hasattr(module, name) for name in public)  # some are loaded when they are first used
    visible = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    assert {name for name, value in visible.items() if not isinstance(value, ModuleType)} == set(public)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = module.Nothing


def test_a_name_is_in_one_module_and_most_programs_need_only_the_top() -> None:
    assert len(trueweave.__all__) <= 80
    for one, other in itertools.combinations([errors, events, extend, types], 2):
        assert set(one.__all__) & set(other.__all__) == set()
    for name in set(trueweave.__all__) - ONLY_AT_THE_TOP:
        [module] = [module for module in (errors, events, types) if name in module.__all__]
        assert getattr(trueweave, name) is getattr(module, name)


def test_whatever_the_api_takes_and_gives_is_public() -> None:
    assert len(types_of_api()) > 50
    assert types_of_api() - EVERYWHERE == set()


def test_whatever_the_api_raises_is_public() -> None:
    assert set(errors.__all__) == defined(core_errors)
    tree = set(re.findall(r"[├└]── (\w+)", str(core_errors.__doc__)))
    assert tree | {"TrueweaveError"} == set(errors.__all__)


def test_whatever_a_listener_receives_is_public() -> None:
    assert set(events.__all__) == {one.__name__ for one in typing.get_args(core_events.Event)} | {
        "Added",
        "Event",
        "Listener",
    }


def test_no_other_name_is_public() -> None:
    known = types_of_api() | set(errors.__all__) | set(events.__all__) | ALIASES | FUNCTIONS
    assert known == EVERYWHERE


def test_every_method_is_public() -> None:
    built_in = {
        entry.name for entry in entry_points(group="trueweave.methods") if entry.module.startswith("trueweave.")
    }
    assert {type(registry.make(name)).__name__ for name in built_in} <= set(methods.__all__)


@pytest.mark.parametrize(
    "program",
    [
        "import trueweave; trueweave.TrueweaveError",
        "import trueweave; trueweave.Answer",
        "import trueweave.errors, trueweave.events, trueweave.types",
    ],
)
def test_importing_the_package_loads_no_driver_and_no_client_of_models(program: str) -> None:
    assert not {"psycopg", "numpy", "openai", "pydantic"} & loaded_by(program)


def test_a_method_or_a_loader_of_another_package_loads_no_driver() -> None:
    program = "from trueweave.extend import Loader, Method, QueryContext; from trueweave.methods import Local"
    assert not {"psycopg", "openai", "fastapi"} & loaded_by(program)


def loaded_by(program: str) -> set[str]:
    program = f"import sys; {program}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())
