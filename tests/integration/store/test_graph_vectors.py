"""Vectors of entities and relations on demand: whatever happens while they are made, they end complete and exact."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tests.integration.bulk.test_bulk import load, rows, written
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Settings
from trueweave.core.model_calls import TextRole
from trueweave.errors import DatabaseError, NoGraphVectors, NoVectors, WorkspaceLoading
from trueweave.extend import Database, Vectors
from trueweave.ingest.own import Given
from trueweave.store.postgres import bulk
from trueweave.store.postgres.vectors import making, vectors
from trueweave.testing import HashEmbedder, ModelServer

NEEDING = ("local", "global", "hybrid", "mix", "subgraph", "hipporag", "linearrag", "pathrag", "graphrag")
NAMES = ("Ada", "Ben", "Cas", "Dan", "Eve", "Fay", "Gus", "Hal")


def document(n: int, *names: str, version: int = 0) -> Document:
    links = tuple(Link(a, b, f"{a} met {b} in {n}", ("met",)) for a, b in pairwise(names))
    mentions = tuple(Mention(name, "person", f"{name} of {n} and {version}") for name in names)
    return Document(f"d{n}", (Chunk(f"text {version} of {n}: {', '.join(names)}", mentions=mentions, links=links),))


def documents(count: int, first: int = 0) -> list[Document]:
    return [document(n, *(NAMES[(n + i) % 8] for i in range(3)), f"Only {n}") for n in range(first, first + count)]


@dataclass(frozen=True)
class Gated(HashEmbedder):
    """An embedder that stops at a call with a text that contains `at`, until it may go on."""

    at: str = "\0"
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    texts: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if any(self.at in text for text in texts) and not self.reached.is_set():
            self.reached.set()
            await self.go.wait()
        self.texts.extend(texts)
        return await super().embed(texts, role)


@asynccontextmanager
async def opened(database: Database, *, graph: bool = False, name: str = "test") -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(graph_vectors=graph, extractor="capitals")
    entered = await AsyncTrueweave.enter(database, name, HashEmbedder(), settings=settings)
    async with aclosing(entered) as trueweave:
        yield trueweave


@pytest.fixture
async def without(database: Database) -> AsyncIterator[AsyncTrueweave]:
    """A workspace without vectors of entities and relations."""
    async with opened(database) as trueweave:
        yield trueweave


def beside(trueweave: AsyncTrueweave, embedder: HashEmbedder) -> AsyncTrueweave:
    """The same workspace in another process."""
    return AsyncTrueweave(trueweave.workspace, embedder, trueweave.settings)


def counts(url: str, space: int = 1) -> tuple[int, int, int]:
    """The vectors of chunks, entities and relations in the common tables."""
    with psycopg.connect(url) as connection:
        found = [
            connection.execute(f"SELECT count(*) FROM trueweave.vector_{space}_{kind}").fetchone()
            for kind in ("chunk", "entity", "relation")
        ]
    a, b, c = (row[0] for row in found if row)
    return a, b, c


async def state(trueweave: AsyncTrueweave) -> str:
    return (await trueweave.status()).graph_vectors


async def is_complete(trueweave: AsyncTrueweave) -> bool:
    """Whether all vectors are there, none is left over, and methods find something with them."""
    assert await state(trueweave) == "kept"
    verdict = await trueweave.maintenance.verify()
    assert verdict.exact, verdict.differences
    assert (await trueweave.retrieve("Ada", "local")).passages
    return True


async def test_adding_embeds_chunks_only_and_methods_that_need_more_say_the_command(
    without: AsyncTrueweave, url: str
) -> None:
    await without.add_documents(documents(5))
    assert counts(url) == (5, 0, 0)
    assert await state(without) == "none"
    for method in NEEDING:
        with pytest.raises(NoGraphVectors, match="Run `trueweave vectors make`"):
            await without.retrieve("Who met Ada?", method)
    for method in ("naive", "keyword", "fuse", "walk", "weave", "auto"):
        assert (await without.retrieve("Who met Ada?", method)).passages
    assert (await without.maintenance.verify()).exact


async def test_a_workspace_of_before_keeps_its_vectors_whatever_the_setting(database: Database, url: str) -> None:
    async with opened(database, graph=True) as first:
        await first.add_documents(documents(3))
    async with opened(database, graph=False) as later:
        await later.add_documents(documents(3, 3))
        assert all(counts(url))
        assert await is_complete(later)


async def test_the_setting_decides_nothing_for_a_workspace_without(without: AsyncTrueweave, database: Database) -> None:
    await without.add_documents(documents(3))
    async with opened(database, graph=True) as later:
        assert await state(later) == "none"


async def test_methods_are_listed_with_what_they_lack(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(3))
    problems = {one.name: one.problem for one in await without.methods()}
    assert {name for name in NEEDING if "`trueweave vectors make`" in problems[name]} == set(NEEDING)
    assert not any(problems[name] for name in ("naive", "keyword", "fuse", "walk", "weave", "auto"))
    await without.vectors.make()
    problems = {one.name: one.problem for one in await without.methods()}
    assert not any(problems[name] for name in NEEDING)


async def test_no_language_model_is_called_by_a_method_that_cannot_be_used(database: Database) -> None:
    async with ModelServer() as server:
        settings = Settings(graph_vectors=False, extractor="capitals", model="vllm/any", model_url=server.url)
        entered = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        async with aclosing(entered) as trueweave:
            await trueweave.add_documents(documents(3))
            for method in ("local", "guess", "mix"):
                with pytest.raises(NoGraphVectors):
                    await trueweave.retrieve("Who met Ada?", method)
            compared = await trueweave.compare("Who met Ada?", ["naive", "local"])
            assert [bool(row.problem) for row in compared.rows] == [False, True]
            assert await trueweave.budget.receipt() == []


async def test_lookups_are_by_words_until_vectors_are_made(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(3))
    assert (await without.graph.search_entities("Ada")).by == ("words",)
    assert (await without.graph.search_relations("Ada met Ben")).by == ("words",)
    [vector] = await HashEmbedder().embed(["Ada"], "query")
    with pytest.raises(NoGraphVectors):
        await without.graph.nearest("entity", vector)
    assert await without.graph.nearest("chunk", vector)
    await without.vectors.make()
    assert (await without.graph.search_entities("Ada")).by == ("vectors", "words")
    assert await without.graph.nearest("entity", vector)


async def test_vectors_that_are_made_are_those_of_a_workspace_that_always_had_them(
    without: AsyncTrueweave, database: Database
) -> None:
    await without.add_documents(documents(12))
    done: list[int] = []
    wanted = await without.vectors.estimate()
    await without.vectors.make(done.append)
    status = await without.status()
    assert wanted.texts == sum(done) == status.entities + status.relations
    assert (await without.vectors.estimate()).texts == 0
    async with opened(database, graph=True, name="always") as always:
        await always.add_documents(documents(12))
        assert await always.maintenance.digest() == await without.maintenance.digest()
    await without.add_documents(documents(3, 12))
    assert await is_complete(without)


async def test_vectors_that_are_dropped_are_deleted_and_not_made_again(without: AsyncTrueweave, url: str) -> None:
    await without.add_documents(documents(5))
    await without.vectors.make()
    await without.vectors.drop()
    assert counts(url) == (5, 0, 0)
    await without.add_documents(documents(3, 5))
    assert counts(url) == (8, 0, 0)
    assert (await without.maintenance.verify()).exact
    await without.vectors.make()
    assert await is_complete(without)


async def test_documents_come_change_and_go_while_vectors_are_made(without: AsyncTrueweave, url: str) -> None:
    await without.add_documents(documents(12))
    maker = Gated(at="Only 5")
    making_ = asyncio.create_task(beside(without, maker).vectors.make())
    await maker.reached.wait()
    assert await state(without) == "making"
    await without.add_documents(documents(2, 12))
    await without.add_documents([document(5, "Ada", "Only 5", version=1)])  # its text is being embedded
    await without.remove(["d7"])
    await without.rules.merge(NameKey("Ada", "person"), NameKey("Ben", "person"))
    await without.rules.rename(NameKey("Cas", "person"), "Cassandra")
    await without.maintenance.settle()
    with pytest.raises(NoGraphVectors, match="not complete"):
        await without.retrieve("Ada", "local")
    assert (await without.maintenance.verify()).exact, "vectors that are not complete are not compared"
    maker.go.set()
    await making_
    assert await is_complete(without)


async def test_a_batch_that_was_planned_before_vectors_are_made_gets_them_too(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(3))
    settler = Gated(at="text 0 of 3")
    adding = asyncio.create_task(beside(without, settler).add_documents(documents(1, 3)))
    await settler.reached.wait()
    await without.vectors.make()
    settler.go.set()
    await adding
    assert await is_complete(without)


async def test_who_is_stopped_while_making_leaves_the_rest_to_the_next(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(12))
    maker = Gated(at="met")  # all entities have a vector then, and no relation has
    stopped = asyncio.create_task(beside(without, maker).vectors.make())
    await maker.reached.wait()
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    assert await state(without) == "making"
    await without.add_documents(documents(2, 12))
    done: list[int] = []
    before = await without.status()
    await without.vectors.make(done.append)
    assert sum(done) < before.relations, "what was added meanwhile has vectors, as have entities"
    assert await is_complete(without)


async def test_two_who_make_at_once_embed_everything_once(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(12))
    first, second = Gated(at="Only 5"), Gated()
    makers = [asyncio.create_task(beside(without, first).vectors.make())]
    await first.reached.wait()
    makers.append(asyncio.create_task(beside(without, second).vectors.make()))
    first.go.set()
    await asyncio.gather(*makers)
    assert second.texts == []
    assert await is_complete(without)


async def test_another_takes_over_from_a_maker_that_was_stopped(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(12))
    first = Gated(at="Only 5")
    stopped = asyncio.create_task(beside(without, first).vectors.make())
    await first.reached.wait()
    second = asyncio.create_task(beside(without, HashEmbedder()).vectors.make())
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    await second
    assert await is_complete(without)


async def test_dropping_ends_making(without: AsyncTrueweave, url: str) -> None:
    await without.add_documents(documents(12))
    maker = Gated(at="met")
    making_ = asyncio.create_task(beside(without, maker).vectors.make())
    await maker.reached.wait()
    await without.vectors.drop()
    maker.go.set()
    with pytest.raises(NoGraphVectors, match="dropped while they were being made"):
        await making_
    assert counts(url) == (12, 0, 0)
    assert (await without.maintenance.verify()).exact


async def test_what_an_interrupted_drop_left_is_deleted_by_the_next_cleaning(
    without: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await without.add_documents(documents(12))
    await without.vectors.make()

    async def killed(_: object) -> None:
        raise DatabaseError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(making, "remove_left", killed)
        with pytest.raises(DatabaseError):
            await without.vectors.drop()
    assert all(counts(url))
    with pytest.raises(NoGraphVectors):
        await without.retrieve("Ada", "local")
    await without.remove(["d3"])
    assert (await without.maintenance.verify()).exact, "what has to be deleted is not compared"
    monkeypatch.setattr(making, "_REMOVED_AT_ONCE", 2)
    await without.maintenance.sweep()
    assert counts(url) == (11, 0, 0)


async def test_vectors_made_again_replace_what_an_interrupted_drop_left(
    without: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await without.add_documents(documents(6))
    await without.vectors.make()

    async def killed(_: object) -> None:
        raise DatabaseError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(making, "remove_left", killed)
        with pytest.raises(DatabaseError):
            await without.vectors.drop()
    await without.add_documents([document(2, "Ada", "Zoe", version=1)])
    await without.remove(["d3"])
    await without.vectors.make()
    assert await is_complete(without)


async def test_tables_of_its_own_are_made_and_dropped(
    without: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 20)

    def own() -> list[tuple[str, str]]:
        with psycopg.connect(url) as connection:
            return connection.execute("SELECT kind, state FROM trueweave.own_table ORDER BY kind, state").fetchall()

    await without.add_documents(documents(24))
    assert own() == [("chunk", "current")]
    await without.vectors.make()
    assert own() == [("chunk", "current"), ("entity", "current"), ("relation", "current")]
    assert await is_complete(without)
    await without.vectors.drop()
    assert own() == [("chunk", "current"), ("entity", "left"), ("relation", "left")]
    assert counts(url) == (0, 0, 0)
    monkeypatch.setattr("trueweave.store.postgres.vectors.own_tables.KEPT", "0 s")
    await without.maintenance.sweep()
    assert own() == [("chunk", "current")]
    await without.vectors.make()
    assert await is_complete(without)


async def test_questions_in_another_process_see_each_change(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(6))
    other = beside(without, HashEmbedder())
    await other.retrieve("Ada", "naive")  # it knows from now on where vectors are
    for _ in range(2):
        with pytest.raises(NoGraphVectors):
            await other.retrieve("Ada", "local")
        await without.vectors.make()
        assert (await other.retrieve("Ada", "local")).passages
        assert (await other.retrieve("Ada", "hybrid")).passages
        await without.vectors.drop()


async def test_another_model_embeds_what_the_workspace_has_vectors_of(without: AsyncTrueweave, url: str) -> None:
    await without.add_documents(documents(6))
    await without.maintenance.change_space(HashEmbedder(32))
    assert counts(url, 2) == (6, 0, 0)
    assert await state(without) == "none"
    await without.vectors.make()
    assert await is_complete(without)
    await without.maintenance.change_space(HashEmbedder(16))
    assert all(counts(url, 3))
    assert await is_complete(without)


async def test_another_model_takes_over_while_vectors_are_made(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(6))
    maker = Gated(at="met")
    stopped = asyncio.create_task(beside(without, maker).vectors.make())
    await maker.reached.wait()
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    await without.maintenance.change_space(HashEmbedder(32))
    assert await state(without) == "making"
    done: list[int] = []
    await without.vectors.make(done.append)
    assert done == [], "the change of model embedded everything"
    assert await is_complete(without)


async def test_vectors_that_are_made_during_a_change_of_model_are_in_both_spaces(without: AsyncTrueweave) -> None:
    await without.add_documents(documents(6))
    changing = Gated(32, "other", at="text 0 of 3")
    change = asyncio.create_task(without.maintenance.change_space(changing))
    await changing.reached.wait()
    await beside(without, HashEmbedder()).vectors.make()
    changing.go.set()
    await change
    assert await is_complete(without)


async def test_a_workspace_without_an_embedding_model_says_so(database: Database) -> None:
    async with aclosing(await AsyncTrueweave.enter(database, "bare", settings=Settings(extractor="capitals"))) as bare:
        await bare.add_documents(documents(2))
        with pytest.raises(NoVectors):
            await making.make(bare.workspace, HashEmbedder())


# --- bulk loads ---------------------------------------------------------------------------------------


async def test_a_bulk_load_makes_the_vectors_that_the_workspace_has(
    without: AsyncTrueweave, database: Database, tmp_path: Path, url: str
) -> None:
    await without.add_documents(documents(3))
    file = written(tmp_path / "a.jsonl", rows(12))
    await load(without, tmp_path, str(file), given=Given(HashEmbedder()))
    async with opened(database) as loaded:
        assert await state(loaded) == "none"
        assert (await loaded.maintenance.verify()).exact
        with psycopg.connect(url) as connection:
            kinds = connection.execute(
                "SELECT kind FROM trueweave.own_table WHERE workspace = %s", (loaded.workspace.id,)
            ).fetchall()
        assert kinds == [("chunk",)]
        await loaded.vectors.make()
        assert await is_complete(loaded)


async def test_vectors_are_not_made_or_dropped_during_a_bulk_load_nor_loaded_while_they_are_made(
    without: AsyncTrueweave, tmp_path: Path
) -> None:
    await without.add_documents(documents(3))
    async with bulk.only_load(without.workspace):
        with pytest.raises(WorkspaceLoading):
            await without.vectors.make()
        with pytest.raises(WorkspaceLoading):
            await without.vectors.drop()
    maker = Gated(at="met")
    making_ = asyncio.create_task(beside(without, maker).vectors.make())
    await maker.reached.wait()
    file = written(tmp_path / "a.jsonl", rows(3))
    with pytest.raises(WorkspaceLoading, match="trueweave vectors make"):
        await load(without, tmp_path, str(file), given=Given(HashEmbedder()))
    maker.go.set()
    await making_
    assert await is_complete(without)


async def test_a_load_whose_workspace_got_vectors_nevertheless_does_not_replace_it(
    without: AsyncTrueweave, url: str, tmp_path: Path
) -> None:
    await without.add_documents(documents(3))

    def told(stage: str, done: int, total: int) -> None:
        if stage == "Catching up":
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("UPDATE trueweave.workspace SET graph_vectors = 'kept' WHERE expires IS NULL")

    file = written(tmp_path / "a.jsonl", rows(3))
    with pytest.raises(DatabaseError, match="made or dropped during the bulk load"):
        await load(without, tmp_path, str(file), given=Given(HashEmbedder()), told=told)
    assert (await without.status()).documents == 3
