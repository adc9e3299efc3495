"""Where the readers of documents come from: the call, the document itself, its connector, and the rules of a workspace.
No document ends with the readers of a former rule, whatever happens at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.ingest.test_web import settings as web_settings
from tests.web_site import Site, web_site
from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Source
from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.errors import ConfigError, InvalidArgument, UnknownAccessRule
from trueweave.events import Found, Unreadable
from trueweave.extend import Database, Workspace
from trueweave.formats import importing
from trueweave.ingest.connectors import reading
from trueweave.store.postgres.record import access_rules, record
from trueweave.testing import HashEmbedder
from trueweave.types import AccessRule


def said(uri: str, text: str = "Ada met Babbage.", **more: Any) -> Document:
    return Document(uri, (Chunk(text, mentions=(Mention("Ada"),)),), **more)


async def readers(index: AsyncTrueweave) -> dict[str, list[str]]:
    """The readers of the current version of each document."""
    async with index.workspace.transaction() as tx:
        rows = await (await tx.execute("SELECT uri, readers FROM document WHERE current ORDER BY uri")).fetchall()
    return dict(rows)


@pytest.fixture
async def index(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.chdir(tmp_path)
    settings = Settings(extractor="capitals", embedding_model=None, project_folder=tmp_path)
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as opened:
        yield opened


async def test_a_document_may_state_its_readers_and_the_others_have_those_of_the_call(
    index: AsyncTrueweave, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("---\nreaders: hr, board\n---\nAda met Babbage.")
    (tmp_path / "b.md").write_text("---\nreaders: [hr]\ntopic: pay\n---\nAda met Babbage.")
    (tmp_path / "c.jsonl").write_text(
        '{"id": "1", "text": "Ada met Babbage.", "readers": ["hr"]}\n{"id": "2", "text": "Ada met Babbage."}\n'
    )
    (tmp_path / "d.txt").write_text("Ada met Babbage.")
    await index.add("a.md", "b.md", "c.jsonl", "d.txt", Source("e", "Ada", readers=()), readers=["legal", "it"])
    expected = {"a.md": ["board", "hr"], "b.md": ["hr"], "c.jsonl#1": ["hr"], "c.jsonl#2": ["it", "legal"]}
    assert await readers(index) == {**expected, "d.txt": ["it", "legal"], "e": []}
    assert (await index.document("b.md")).metadata == {"topic": "pay"}


async def test_a_file_whose_readers_cannot_be_read_is_not_added(index: AsyncTrueweave, tmp_path: Path) -> None:
    heard: list[str] = []
    for n, written in enumerate(("5", "'*'", "{a: b}", "[[hr]]")):
        (tmp_path / f"{n}.md").write_text(f"---\nreaders: {written}\n---\nAda met Babbage.")
    await index.add(
        str(tmp_path), listener=lambda event: heard.append(event.reason) if isinstance(event, Unreadable) else None
    )
    assert len(heard) == 4
    assert await readers(index) == {}
    with pytest.raises(InvalidArgument, match="means all documents"):
        await index.add(Source("a", "Ada"), readers=["*"])


async def test_other_readers_of_unchanged_documents_apply_at_once_and_process_nothing(index: AsyncTrueweave) -> None:
    text = Source("a", "Ada met Babbage.")
    await index.add(text, readers=["hr"])
    [before] = [one.id for one in await index.search("Ada")]
    found: list[Found] = []
    added = await index.add(
        text, readers=["legal"], listener=lambda event: found.append(event) if isinstance(event, Found) else None
    )
    assert (added.new, added.unchanged, [(one.new, one.unchanged) for one in found if one.unchanged]) == (
        0,
        1,
        [(0, 1)],
    )
    assert await readers(index) == {"a": ["legal"]}
    await index.add(text)
    assert await readers(index) == {"a": ["legal"]}, "without readers, it keeps those that it has"
    await index.add(Source("a", "Ada met Byron."))
    assert await readers(index) == {"a": ["legal"]}
    await index.add(text, readers=[])
    assert await readers(index) == {"a": []}
    assert [one.id for one in await index.search("Babbage")] == [before]


async def test_sync_finds_documents_whose_front_matter_has_other_readers(index: AsyncTrueweave, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\nreaders: hr\n---\nAda met Babbage.")
    await index.sync("notes")
    assert (await index.plan_sync("notes")).readers == 0
    (folder / "a.md").write_text("---\nreaders: it\n---\nAda met Babbage.")
    plan = await index.plan_sync("notes")
    assert (plan.new, plan.changed, plan.unchanged, plan.readers) == (0, 0, 1, 1)
    await index.sync("notes", plan=plan)
    assert await readers(index) == {"notes/a.md": ["it"]}


async def test_the_rule_with_the_longest_prefix_applies_to_what_is_there_and_what_comes(index: AsyncTrueweave) -> None:
    await index.add_documents([said("hr/pay"), said("hr/open/menu"), said("wiki"), said("hr/own", readers=("board",))])
    assert await index.access.set("hr/**", ["hr"]) == 2
    assert await index.access.set("hr/open/", []) == 1
    assert await index.access.set("", ["staff"]) == 1
    await index.add_documents([said("hr/new"), said("hr/open/new"), said("new")])
    own = {"hr/own": ["board"], "hr/open/menu": [], "hr/open/new": []}
    assert await readers(index) == {"hr/pay": ["hr"], "hr/new": ["hr"], "wiki": ["staff"], "new": ["staff"], **own}
    assert await index.access.all() == [
        AccessRule("", ("staff",)),
        AccessRule("hr/", ("hr",)),
        AccessRule("hr/open/", ()),
    ]
    assert await index.access.set("hr/", ["hr", "board"]) == 2
    assert await index.access.remove("") == 2
    assert await index.access.remove("hr/**") == 2
    assert await readers(index) == {name: [] for name in ("hr/pay", "hr/new", "wiki", "new")} | own
    with pytest.raises(UnknownAccessRule, match="no access rule for 'hr/'"):
        await index.access.remove("hr/")


@pytest.mark.parametrize(("prefix", "groups"), [("hr/*", ["hr"]), ("*/hr", ["hr"]), ("a\x00", ["hr"]), ("hr/", ["*"])])
async def test_what_cannot_be_a_rule_is_refused(index: AsyncTrueweave, prefix: str, groups: list[str]) -> None:
    with pytest.raises(InvalidArgument):
        await index.access.set(prefix, groups)
    with pytest.raises(InvalidArgument, match="one text"):
        await index.access.set("hr/", "hr")
    assert await index.access.all() == []


async def test_a_workspace_with_fuzzy_resolution_takes_no_rule_with_readers(database: Database) -> None:
    fuzzy = Settings(resolution="fuzzy", embedding_model=None)
    index = await AsyncTrueweave.enter(database, "fuzzy", settings=fuzzy)
    with pytest.raises(ConfigError, match="fuzzy"):
        await index.access.set("hr/", ["hr"])
    assert await index.access.set("hr/", []) == 0


async def lock_is_awaited(workspace: Workspace) -> None:
    """Return once somebody waits for an advisory lock."""
    async with asyncio.timeout(30):
        while True:
            async with workspace.transaction() as tx:
                rows = await tx.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                if await rows.fetchone():
                    return
            await asyncio.sleep(0.01)


class Paused:
    """A function that stops, when first called, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()
        self._call: Callable[..., Any] = getattr(module, name)
        monkeypatch.setattr(module, name, self)

    async def __call__(self, *arguments: Any) -> Any:
        if not self.reached.is_set():
            self.reached.set()
            await self.go_on.wait()
        return await self._call(*arguments)


async def test_a_document_that_is_being_stored_while_a_rule_is_made_has_its_readers(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = Paused(monkeypatch, record, "_register")  # its row is inserted, with the readers of the rules until then
    adding = asyncio.create_task(index.add_documents([said("hr/pay")]))
    await paused.reached.wait()
    setting = asyncio.create_task(index.access.set("hr/", ["hr"]))
    await lock_is_awaited(index.workspace)
    paused.go_on.set()
    await asyncio.gather(adding, setting)
    assert await readers(index) == {"hr/pay": ["hr"]}


async def test_a_document_that_comes_while_a_rule_is_being_made_has_its_readers(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.add_documents([said("hr/old")])
    paused = Paused(monkeypatch, access_rules, "_keep")  # the rule is there, and documents have their former readers
    setting = asyncio.create_task(index.access.set("hr/", ["hr"]))
    await paused.reached.wait()
    adding = asyncio.create_task(index.add_documents([said("hr/pay")]))
    await lock_is_awaited(index.workspace)
    assert await readers(index) == {"hr/old": []}, "nothing of the change shows before it is complete"
    paused.go_on.set()
    await asyncio.gather(adding, setting)
    assert await readers(index) == {"hr/old": ["hr"], "hr/pay": ["hr"]}


async def test_documents_that_wait_in_the_queue_have_the_readers_of_the_rules_by_then(index: AsyncTrueweave) -> None:
    await index.jobs.submit(Source("hr/pay", "Ada met Babbage."), Source("hr/own", "Ada"), readers=None)
    await index.jobs.submit(Source("hr/own", "Ada"), readers=["board"])
    await index.access.set("hr/", ["hr"])
    await index.add(Source("other", "Ada met Byron."))
    assert await readers(index) == {"hr/pay": ["hr"], "hr/own": ["board"], "other": []}


async def test_what_is_remembered_has_readers(index: AsyncTrueweave) -> None:
    uri = await index.remember("Ada prefers trains.", by="Ada", readers=["travel"])
    await index.add(Source("other", "Byron"))
    assert (await readers(index))[uri] == ["travel"]


async def test_an_export_carries_readers_to_a_workspace_without_the_rules(
    index: AsyncTrueweave, database: Database, tmp_path: Path
) -> None:
    await index.access.set("hr/", ["hr"])
    await index.access.set("hr/open/", [])
    given = [said("hr/pay"), said("hr/open/menu"), said("own", readers=("board",)), said("open")]
    await index.add_documents(given)
    await index.graph.export(tmp_path / "all.jsonl")
    async with aclosing(await AsyncTrueweave.enter(database, "copy", settings=index.settings)) as copy:
        await copy.add_documents(importing.read(tmp_path / "all.jsonl"))
        assert await readers(copy) == await readers(index)
        await copy.add_documents(importing.read(tmp_path / "all.jsonl"), readers=["none of these"])
        assert (await readers(copy))["hr/pay"] == ["hr"]


async def test_a_temporary_copy_of_a_workspace_has_its_readers(index: AsyncTrueweave) -> None:
    await index.access.set("hr/", ["hr"])
    await index.add_documents([said("hr/pay"), said("own", readers=("board",)), said("open")])
    async with index.rebuilt() as beside:
        assert await readers(beside) == {"hr/pay": ["hr"], "own": ["board"], "open": []}


# --- addresses --------------------------------------------------------------------------------------


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        yield found


async def test_documents_of_a_source_have_its_readers_and_are_read_again_when_those_change(
    database: Database, site: Site
) -> None:
    site.page("/a", "Ada met Babbage.")
    address = site.sitemap("/sitemap.xml", "/a", modified="2026-01-02")
    async with aclosing(await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=web_settings())) as index:
        made = await index.sources.add("site", address, readers=["legal"])
        assert (made.readers, (await index.sources.all())[0].readers) == (("legal",), ("legal",))
        assert (await index.sources.sync("site")).new == 1
        assert [*(await readers(index)).values()] == [["legal"]]
        await index.sources.add("site", address, readers=["hr"])
        await index.sources.sync("site")
        assert [*(await readers(index)).values()] == [["hr"]]
        taken = len(site.taken())
        await index.sources.sync("site")
        assert [path for path, _ in site.taken()[taken:] if path == "/a"] == []
        assert (await index.sources.add("site", address)).readers is None
        await index.sources.sync("site")
        assert [*(await readers(index)).values()] == [["hr"]]


class Shared:
    """A connector that knows the readers of its items."""

    readers: dict[str, tuple[str, ...] | None] = {}  # noqa: RUF012 (of one test)
    is_complete = True

    def items(self) -> Iterator[Item]:
        return (Item(f"shared:{name}", "1", readers=groups) for name, groups in self.readers.items())

    def fetch(self, item: Item, folder: Path, _: str) -> Fetched:
        path = folder / "page.md"
        path.write_text("---\nreaders: file\n---\nAda met Babbage.")
        return Fetched(path)

    def close(self) -> None:
        pass


async def test_a_connector_gives_the_readers_of_its_items(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(_: str, __: ConnectorContext) -> Shared:
        return Shared()

    monkeypatch.setattr(reading, "open_connector", opened)
    monkeypatch.setattr(Shared, "readers", {"a": ("hr",), "b": (), "c": None})
    await index.sync("https://shared.example/", readers=["call"])
    assert await readers(index) == {"shared:a": ["hr"], "shared:b": [], "shared:c": ["file"]}
    monkeypatch.setattr(Shared, "readers", {"a": ("it",), "b": ("hr",), "c": None})
    assert (await index.plan_sync("https://shared.example/", readers=["call"])).changed == 2
    await index.sync("https://shared.example/", readers=["call"])
    assert await readers(index) == {"shared:a": ["it"], "shared:b": ["hr"], "shared:c": ["file"]}
