"""What a caller who may not read all documents can call. A new call fails here until it is listed."""

import inspect
import re
import typing
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import trueweave.engine.trueweave as engine
from trueweave import AsyncTrueweave, Chunk, Document, Mention, NameKey
from trueweave.core.streams import Stream
from trueweave.engine.core import _SeenWorkspace
from trueweave.errors import NotForRestricted
from trueweave.extend import Database
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.testing import HashEmbedder
from trueweave.types import ResolutionSettings

# What they return is the same in a workspace with the visible documents only.
EXACT = {
    "": "ask stream retrieve search recall compare methods conversation list_documents count_documents document "
    "document_mentions document_outline passages status",
    "graph": "entities entity mentions mention_counts search_entities complete search_relations relations relation "
    "statements relation_passages neighbours path subgraph around types picture conflicts",
}
# They write, or return what is made from all documents.
REFUSED = {
    "": "add add_documents sync plan_sync remove switch_off switch_on forget remember estimate try_extract matching "
    "estimate_varied varied rebuilt as_of documents work worker_dependencies",
    "graph": "map nearest export to_networkx changes projection",
    "communities": "find estimate_reports estimate_report write_report write_reports request_reports hierarchy select "
    "tree retired get report members",
    "rules": "merge split rename retype describe suppress add undo all preview suggestions decide suggest_again accept "
    "accept_above reject mentioned resolution change_resolution",
    "access": "set all remove",
    "history": "keep end status versions diff diff_from",
    "bench": "runs run save remove_run outcome compare questions add_question change_question remove_question",
    "sources": "add all get sync request_sync remove",
    "watches": "add all get remove alerts check",
    "jobs": "submit get latest documents state",
    "budget": "get allow for_run receipt receipt_by_document receipt_by_day",
    "projections": "status start catch_up rebuild verify remove enable",
    "certificates": "erase",
    "records": "check write replay",
    "vectors": "estimate make drop",
    "maintenance": "settle digest state verify sweep clean_up drop estimate_reembed reembed change_space "
    "change_settings ingest_progress activity checks duplicates notes out_of_date failed_documents failed_work retry "
    "request_retry bulk_load",
}
# They concern the process, its models and its settings, not the documents.
OF_PROCESS = {
    "": "acting_as open enter migrate aclose workspace database settings source_runs watch_runs method has_model "
    "model_and_prompts",
    "maintenance": "models clock own_settings",
}
# What the database refuses when the check is left out: arguments of calls that have some.
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "add_documents": ([Document("new", (Chunk("Ada", mentions=(Mention("Ada"),)),))],),
    "remove": (["open"],),
    "switch_off": (["open"],),
    "switch_on": (["open"],),
    "rules.merge": (NameKey("Ada"), NameKey("Babbage")),
    "rules.suppress": (NameKey("Ada"),),
    "rules.suggest_again": (NameKey("Ada"), NameKey("Babbage")),
    "rules.change_resolution": (ResolutionSettings("fuzzy"),),
    "rules.undo": (UUID(int=1),),
    "access.set": ("", ["hr"]),
    "access.remove": ("x",),
    "history.versions": ("open",),
    "history.diff": (datetime.now(UTC),),
    "history.diff_from": ("test",),
    "as_of": (datetime.now(UTC),),
    "bench.run": (UUID(int=1),),
    "communities.members": (UUID(int=1),),
    "communities.report": (UUID(int=1),),
    "jobs.get": (UUID(int=1),),
    "jobs.state": ("legal",),
    "sources.get": ("x",),
    "watches.get": ("x",),
    "watches.add": ("Who?",),
    "maintenance.change_settings": ({"repair": True},),
    "rebuilt": (),
    "documents": (),
}
WITHOUT_ARGUMENTS = [
    "graph.changes",
    "communities.find",
    "communities.hierarchy",
    "communities.select",
    "communities.tree",
    "rules.all",
    "rules.suggestions",
    "rules.resolution",
    "access.all",
    "history.keep",
    "history.end",
    "history.status",
    "bench.runs",
    "bench.questions",
    "sources.all",
    "watches.all",
    "watches.alerts",
    "watches.check",
    "jobs.latest",
    "budget.get",
    "budget.allow",
    "budget.receipt",
    "projections.status",
    "vectors.make",
    "vectors.drop",
    "maintenance.settle",
    "maintenance.digest",
    "maintenance.state",
    "maintenance.verify",
    "maintenance.sweep",
    "maintenance.clean_up",
    "maintenance.drop",
    "maintenance.ingest_progress",
    "maintenance.activity",
    "maintenance.failed_documents",
    "maintenance.failed_work",
    "maintenance.request_retry",
]


def named(listed: dict[str, str]) -> list[str]:
    return [f"{group}.{name}".lstrip(".") for group, names in listed.items() for name in names.split()]


def groups() -> Iterator[tuple[str, type]]:
    """The class with the calls, and those of its groups."""
    yield "", AsyncTrueweave
    for name, group in typing.get_type_hints(AsyncTrueweave, vars(engine)).items():
        if not name.startswith("_"):
            yield name, group


def public() -> list[str]:
    return [f"{group}.{name}".lstrip(".") for group, made in groups() for name in dir(made) if not name.startswith("_")]


def said(uri: str, *names: str, readers: tuple[str, ...] = ()) -> Document:
    return Document(uri, (Chunk(f"{' and '.join(names)} met", mentions=tuple(map(Mention, names))),), readers=readers)


@pytest.fixture
async def acting(database: Database) -> AsyncTrueweave:
    """The index as somebody without groups reads it."""
    index = await AsyncTrueweave.enter(database, "test", HashEmbedder(8))
    await index.add_documents([said("open", "Ada", "Babbage"), said("legal", "Ada", "Byron", readers=("legal",))])
    return index.acting_as([])


async def call(acting: AsyncTrueweave, name: str, *arguments: object) -> None:
    """Make a call, and begin what it returns."""
    group, _, of_group = name.rpartition(".")
    member = getattr(getattr(acting, group) if group else acting, of_group)
    made = member(*arguments)
    if isinstance(made, AbstractAsyncContextManager):
        async with made:
            return
    if isinstance(made, Stream):
        async for _ in made:
            return
    if isinstance(made, ProjectionSource):
        await made.changes(0, 1)
    else:
        await made


def placeholders(acting: AsyncTrueweave, name: str) -> list[Any]:
    """Something for each argument that a call must have. The refusal comes before anything looks at them."""
    group, _, of_group = name.rpartition(".")
    signature = inspect.signature(getattr(getattr(acting, group) if group else acting, of_group))
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in signature.parameters.values() if one.kind in kinds]
    return ["copy" if one.name == "consumer" else None for one in needed if one.default is inspect.Parameter.empty]


def test_every_public_call_is_listed_once() -> None:
    assert sorted(named(EXACT) + named(REFUSED) + named(OF_PROCESS)) == sorted(public())


async def outcome(acting: AsyncTrueweave, name: str, *arguments: object) -> str:
    """The message of the refusal, or what happened instead."""
    try:
        await call(acting, name, *arguments)
    except NotForRestricted as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 (each is listed in the failure of the test)
        return repr(error)
    return "done"


async def test_what_is_not_exact_is_refused_before_anything_is_done(acting: AsyncTrueweave) -> None:
    told = {name: await outcome(acting, name, *placeholders(acting, name)) for name in named(REFUSED)}
    reason = "not available to callers who may not read all documents of the workspace"
    first = told.pop("graph.projection")  # it is refused when it first reads
    assert reason in first
    assert {name: what for name, what in told.items() if not what.startswith(f"`{name}` is {reason}")} == {}


async def test_the_database_refuses_it_where_the_check_is_left_out(
    acting: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unchecked(_self: _SeenWorkspace, _call: str) -> None:
        return

    monkeypatch.setattr(_SeenWorkspace, "check_unrestricted", unchecked)
    told = {name: await outcome(acting, name, *ARGUMENTS.get(name, ())) for name in [*ARGUMENTS, *WITHOUT_ARGUMENTS]}
    assert {name: what for name, what in told.items() if not what.startswith("this is not available")} == {}


async def test_nothing_is_refused_where_nothing_is_restricted(acting: AsyncTrueweave, database: Database) -> None:
    await (await AsyncTrueweave.enter(database, "test", HashEmbedder(8))).remove(["legal"])
    assert await acting.remove(["open"]) == 1
    assert (await acting.maintenance.verify()).differences == ()
    await acting.budget.allow(price=Decimal(1))
    assert [one async for one in acting.documents()] == []


async def test_the_page_lists_what_is_refused(acting: AsyncTrueweave) -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/access-rights.md").read_text("utf-8")
    section = page.partition("## What is refused\n")[2].partition("\n## ")[0]
    calls = {
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    }
    whole = {group for group in REFUSED if group in calls}
    assert calls == whole | {name for name in named(REFUSED) if name.partition(".")[0] not in whole}
    [refused, available] = re.findall(r"refused too: (.*?)\. Available are (.*?)\.", section.replace("\n", " "))[0]
    problems = {one.name: one.problem for one in await acting.methods()}
    found = {name for name, problem in problems.items() if "you may not read all" in problem}
    assert found == set(re.findall(r"`(.+?)`", refused))
    assert set(re.findall(r"`(.+?)`", available)) == {name for name, problem in problems.items() if not problem}
