"""A client has the calls of AsyncTrueweave, but for those that are done beside the database, which are listed here."""

import inspect
import re
import subprocess
import sys
from typing import Any, get_type_hints

import pytest

from trueweave import AsyncClient, AsyncTrueweave, Client, TrueweaveError
from trueweave.client import sync as sync_client
from trueweave.client.problems import CLASSES
from trueweave.errors import Defect, SchemaMismatch
from trueweave.server.problems import KINDS

# What a client does not have, and why. A new call of AsyncTrueweave is either a call of AsyncClient, or is added here
# and to the table in docs/how-to/client.md.
BESIDE = "it is done beside the database"
OBJECTS = "it hands out objects that are of the database"
FILES = "it compares files with the index, which a server cannot see"
ABSENT = {
    "acting_as": "a client reads as the groups of its key",
    "enter": OBJECTS,
    "database": OBJECTS,
    "workspace": OBJECTS,
    "worker_dependencies": BESIDE,
    "source_runs": BESIDE,
    "model_and_prompts": OBJECTS,
    "varied": BESIDE,
    "estimate_varied": BESIDE,
    "sources.sync": "workers of the server synchronise: request_sync asks them to",
    "watch_runs": BESIDE,
    "watches.check": "workers of the server ask watches",
    "migrate": BESIDE,
    "rebuilt": BESIDE,
    "work": BESIDE,
    "settings": BESIDE,
    "try_extract": BESIDE,
    "sync": FILES,
    "plan_sync": FILES,
    "matching": FILES,
    "projections": BESIDE,
    "certificates": BESIDE,
    "records": BESIDE,
    "vectors": BESIDE,
    "bench.save": BESIDE,
    "budget.for_run": "a client's documents are worked by the server, after its call has ended",
    "graph.nearest": "it takes a vector of the embedding model, which is with the server",
    "graph.relation_passages": "graph.statements has them for one relation",
    "graph.export": BESIDE,
    "graph.to_networkx": BESIDE,
    "graph.changes": BESIDE,
    "graph.projection": OBJECTS,
    "communities.write_reports": "workers of the server write: request_reports asks them to",
    **{
        f"maintenance.{name}": BESIDE
        for name in (
            "settle", "digest", "state", "verify", "sweep", "clean_up", "estimate_reembed", "reembed",
            "bulk_load", "change_space", "own_settings", "change_settings", "clock", "ingest_progress", "duplicates",
            "notes", "out_of_date", "failed_work", "retry",
        )
    },
}  # fmt: skip
# What a client says otherwise, as it is otherwise: `add` and `estimate` send the files.
OWN_WORDS = {"add", "estimate", "open", "aclose"}


def groups(kind: type) -> dict[str, type]:
    return {name: found for name, found in get_type_hints(kind).items() if not name.startswith("_")}


def surface(kind: type) -> dict[str, object]:
    found = {name: value for name, value in inspect.getmembers_static(kind) if not name.startswith("_")}
    for group, of in groups(kind).items():
        members = inspect.getmembers_static(of)
        found |= {f"{group}.{name}": value for name, value in members if not name.startswith("_")}
        found.pop(group, None)
    return found


ENGINE, CLIENT = surface(AsyncTrueweave), surface(AsyncClient)


def plain(member: object) -> object:
    if isinstance(member, property):
        return member.fget
    function: Any = getattr(member, "__func__", member)
    return inspect.unwrap(function)


def test_a_client_has_every_call_that_is_not_said_to_be_absent() -> None:
    absent = {name for name in ENGINE if name in ABSENT or name.partition(".")[0] in ABSENT}
    assert sorted(set(ENGINE) - absent - set(CLIENT)) == [], "calls without a counterpart"
    assert sorted(set(CLIENT) - set(ENGINE)) == [], "calls that only a client has"
    assert sorted(absent & set(CLIENT)) == [], "said to be absent, and there"
    assert sorted(set(ABSENT) - set(ENGINE) - set(groups(AsyncTrueweave))) == [], "said to be absent of nothing"


@pytest.mark.parametrize("name", sorted(set(CLIENT) - {"open"}))
def test_a_call_takes_and_gives_the_same(name: str) -> None:
    mine, other = plain(CLIENT[name]), plain(ENGINE[name])
    assert callable(mine)
    assert callable(other)
    assert str(inspect.signature(mine)).replace("AsyncClient", "AsyncTrueweave") == str(inspect.signature(other))
    assert type(CLIENT[name]) is type(ENGINE[name])
    assert inspect.iscoroutinefunction(mine) == inspect.iscoroutinefunction(other)
    if name not in OWN_WORDS:
        assert inspect.getdoc(mine) == inspect.getdoc(other)


def test_opening_begins_alike() -> None:
    mine, other = (
        list(inspect.signature(inspect.unwrap(one.open)).parameters) for one in (AsyncClient, AsyncTrueweave)
    )
    assert mine[1:3] == other[1:3] == ["url", "workspace"]
    assert {"settings", "make"} <= set(mine) & set(other)


def test_the_synchronous_client_is_the_same() -> None:
    async_groups = groups(AsyncClient)
    pairs: list[tuple[type, type]] = [(Client, AsyncClient)]
    pairs += [(getattr(sync_client, kind.__name__.removeprefix("Async")), kind) for kind in async_groups.values()]
    for mine, other in pairs:
        of_mine, of_other = (
            {name: value for name, value in inspect.getmembers_static(kind) if not name.startswith("_")}
            for kind in (mine, other)
        )
        assert set(of_mine) - {"close", *async_groups} == set(of_other) - {"open", "aclose"}
        for name in set(of_other) - {"open", "aclose"}:
            signatures = [str(inspect.signature(plain(one))) for one in (of_mine[name], of_other[name])]  # type: ignore[arg-type]
            expected = re.sub(r"AsyncConversation\b", "Conversation", re.sub(r"Stream\b", "Iterator", signatures[1]))
            expected = expected.replace("AsyncIterator[AsyncClient]", "Iterator[Client]")
            assert signatures[0] == expected
            assert not inspect.iscoroutinefunction(of_mine[name])
    opening = inspect.signature(inspect.unwrap(AsyncClient.open)).parameters
    assert list(inspect.signature(Client.__init__).parameters.values())[1:] == list(opening.values())[1:]


def test_every_problem_of_the_server_is_an_error_again() -> None:
    shared: dict[type[TrueweaveError], type[TrueweaveError]] = {TrueweaveError: Defect}
    for kind, told in KINDS.items():
        found = CLASSES[told.code]
        assert found is shared.get(kind, kind) or issubclass(kind, found) or told.code == "database_unavailable", kind
    assert CLASSES["schema_mismatch"] is SchemaMismatch
    assert {told.code for told in KINDS.values()} <= set(CLASSES)


def test_a_client_loads_no_driver_no_server_and_no_client_of_models() -> None:
    program = "import sys, trueweave; trueweave.Client, trueweave.AsyncClient, trueweave.connect; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "httpx2" in loaded
    assert not {"psycopg", "fastapi", "starlette", "openai", "uvicorn"} & set(loaded)
