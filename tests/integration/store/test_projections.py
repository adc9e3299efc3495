"""Copies in Neo4j and Chroma: whatever happens, they end as the record is."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Settings
from trueweave.core.projections import StoreName
from trueweave.errors import ConfigError, NoGraphVectors, ProjectionBehind, ProjectionMissing, StoreUnavailable
from trueweave.extend import Database
from trueweave.store.others import StoreClients
from trueweave.store.postgres.projection import projections
from trueweave.store.projection.projector import Projector
from trueweave.testing import HashEmbedder

NAMES = ["Ada", "Ben", "Cas", "Dan", "Eve", "Fay", "Gus", "Hal"]
STORES: list[StoreName] = ["neo4j", "chroma"]


def document(uri: str, *names: str, version: int = 0) -> Document:
    links = [Link(a, b, "knows", keywords=("acquaintance",)) for a, b in pairwise(names)]
    mentions = tuple(Mention(name, "person", f"{name} of {uri}") for name in names)
    return Document(uri, (Chunk(f"text {version} of {uri}", mentions=mentions, links=tuple(links)),))


@pytest.fixture
def settings(neo4j_url: str, chroma_url: str) -> Settings:
    return Settings.load().model_copy(update={"neo4j_url": neo4j_url, "chroma_url": chroma_url})


@pytest.fixture
async def trueweave(database: Database, settings: Settings) -> AsyncIterator[AsyncTrueweave]:
    entered = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
    async with aclosing(entered) as opened:
        yield opened
        for one in await opened.projections.status():
            await opened.projections.remove(one.store)


async def exact(trueweave: AsyncTrueweave, store: StoreName) -> bool:
    """Whether the copy is as the record is, once it has caught up."""
    await trueweave.projections.catch_up(store)
    differences = await trueweave.projections.verify(store)
    assert differences == []
    [state] = [one for one in await trueweave.projections.status() if one.store == store]
    return state.live and not state.building and not state.behind and not state.problem


@pytest.mark.parametrize("store", STORES)
async def test_whatever_comes_and_goes_the_copy_ends_as_the_record(trueweave: AsyncTrueweave, store: StoreName) -> None:
    chance = random.Random(7)
    uris: set[str] = set()
    for step in range(12):
        kind = chance.choice(["add", "add", "change", "remove", "merge", "rename", "undo", "communities"])
        if kind == "add" or not uris:
            uri = f"d{step}"
            uris.add(uri)
            await trueweave.add_documents([document(uri, *chance.sample(NAMES, 4))])
        elif kind == "change":
            uri = chance.choice(sorted(uris))
            await trueweave.add_documents([document(uri, *chance.sample(NAMES, 3), version=step)])
        elif kind == "remove":
            uri = chance.choice(sorted(uris))
            uris.discard(uri)
            await trueweave.remove([uri])
        elif kind == "merge":
            one, other = chance.sample(NAMES, 2)
            await trueweave.rules.merge(NameKey(one), NameKey(other))
        elif kind == "rename":
            await trueweave.rules.rename(NameKey(chance.choice(NAMES)), f"Renamed {step}")
        elif kind == "undo":
            for rule in (await trueweave.rules.all())[:1]:
                await trueweave.rules.undo(rule.id)
        else:
            await trueweave.communities.find()
            await trueweave.communities.write_reports()
        if step in (0, 3, 4, 8):
            assert await exact(trueweave, store)
    assert await exact(trueweave, store)
    first = sorted(uris)[:2]
    assert await trueweave.switch_off(first) == len(first)
    assert await exact(trueweave, store)
    assert await trueweave.switch_on(first[:1]) == 1
    assert await exact(trueweave, store)


SOURCES = """
MATCH (e:Entity {copy: $copy}) OPTIONAL MATCH (e)<-[:MENTIONS]-(c:Chunk)
WITH e, collect(DISTINCT c.id) AS chunks RETURN e.displayName AS name, e.source_id AS listed, chunks
UNION
MATCH (a:Entity {copy: $copy})-[r]->(b:Entity)
OPTIONAL MATCH (:NamePair {copy: a.copy, relation: r.id})<-[:STATES]-(c:Chunk)
WITH a, r, b, collect(DISTINCT c.id) AS chunks
RETURN a.displayName + ' > ' + b.displayName AS name, r.source_id AS listed, chunks
"""


async def test_entities_and_relations_in_neo4j_list_the_chunks_they_are_from(
    trueweave: AsyncTrueweave, neo4j: Any
) -> None:
    async def listed() -> dict[str, int]:
        assert await exact(trueweave, "neo4j")
        copy, _ = await projections.live(trueweave.workspace, "neo4j")
        rows = neo4j.execute_query(SOURCES, copy=copy).records
        for row in rows:
            assert sorted(row["listed"]) == sorted(row["chunks"]), row["name"]
        return {row["name"]: len(row["listed"]) for row in rows}

    await trueweave.add_documents([document("a", "Ada", "Ben"), document("b", "Ada", "Ben", "Cas")])
    assert await listed() == {"Ada": 2, "Ben": 2, "Cas": 1, "Ada > Ben": 2, "Ben > Cas": 1}
    await trueweave.add_documents([document("c", "Ada", "Ben"), document("b", "Ben", "Cas", version=1)])
    assert await listed() == {"Ada": 2, "Ben": 3, "Cas": 1, "Ada > Ben": 2, "Ben > Cas": 1}
    await trueweave.remove(["a"])
    assert await listed() == {"Ada": 1, "Ben": 2, "Cas": 1, "Ada > Ben": 1, "Ben > Cas": 1}
    await trueweave.add_documents([document("d", "Benjamin", "Cas")])
    await listed()
    await trueweave.rules.merge(NameKey("Ben"), NameKey("Benjamin"))
    merged = await listed()
    assert [count for name, count in merged.items() if name.endswith(" > Cas")] == [2]
    await trueweave.remove(["b", "d"])
    assert await listed() == {"Ada": 1, "Ben": 1, "Ada > Ben": 1}


@pytest.mark.parametrize("store", STORES)
async def test_a_copy_is_built_anew_beside_the_live_one_which_answers_meanwhile(
    trueweave: AsyncTrueweave, store: StoreName
) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben"), document("b", "Cas", "Dan")])
    await trueweave.projections.catch_up(store)
    before, _ = await projections.live(trueweave.workspace, store)
    seen: list[str | None] = []

    def look(_: Any) -> None:
        seen.append("written")

    await trueweave.projections.rebuild(store, look)
    after, _ = await projections.live(trueweave.workspace, store)
    assert before != after
    assert seen
    async with aclosing(StoreClients()) as stores:
        target = stores.target(trueweave.settings, store)
        assert before
        assert await target.position(before) is None, "the one before is dropped"
    assert await exact(trueweave, store)


async def test_an_export_is_loaded_into_the_neo4j_that_holds_the_copy(
    trueweave: AsyncTrueweave, tmp_path: Path, neo4j: Any
) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben"), document("b", "Cas", "Dan")])
    assert await exact(trueweave, "neo4j")
    await trueweave.graph.export(tmp_path / "graph.cypher")
    for statement in (tmp_path / "graph.cypher").read_text("utf-8").split(";\n"):
        if statement:
            neo4j.execute_query(statement)
    assert await trueweave.projections.verify("neo4j") == [], "the script leaves the copy as it is"
    await trueweave.projections.rebuild("neo4j")
    assert await exact(trueweave, "neo4j")


@pytest.mark.parametrize("store", STORES)
async def test_changes_that_are_kept_no_longer_and_a_copy_that_is_lost_mean_another_one(
    trueweave: AsyncTrueweave, store: StoreName
) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    await trueweave.projections.catch_up(store)
    first, _ = await projections.live(trueweave.workspace, store)
    assert first
    async with aclosing(StoreClients()) as stores:
        await stores.target(trueweave.settings, store).drop(first)
    await trueweave.add_documents([document("b", "Cas", "Dan")])
    assert await exact(trueweave, store)
    second, _ = await projections.live(trueweave.workspace, store)
    assert second != first
    await trueweave.add_documents([document("c", "Eve", "Fay")])
    async with trueweave.workspace.transaction() as tx:
        await tx.connection.execute("UPDATE workspace SET changes_gone = (SELECT max(position) FROM outbox)")
        await tx.connection.execute("DELETE FROM outbox")
        await tx.connection.execute("UPDATE consumer SET position = 0")
    await trueweave.add_documents([document("d", "Gus", "Hal")])
    assert await exact(trueweave, store)
    assert (await projections.live(trueweave.workspace, store))[0] != second


@pytest.mark.nightly  # Neo4j plans every statement anew for each of three copies
async def test_members_of_communities_that_go_and_come_back_are_members_again(trueweave: AsyncTrueweave) -> None:
    documents = [
        document("a", "Ada", "Ben", "Cas", "Dan"),
        document("b", "Dan", "Eve", "Fay"),
        document("c", "Fay", "Hal"),
    ]
    await trueweave.add_documents(documents)
    await trueweave.communities.find()
    assert await exact(trueweave, "neo4j")
    merged = await trueweave.rules.merge(NameKey("Ada"), NameKey("Ben"))
    await trueweave.remove(["c"])
    assert await exact(trueweave, "neo4j")
    await trueweave.projections.rebuild("neo4j")
    assert await exact(trueweave, "neo4j")
    await trueweave.rules.undo(merged.id)
    await trueweave.add_documents([documents[-1]])
    assert await exact(trueweave, "neo4j")
    await trueweave.projections.rebuild("neo4j")
    assert await exact(trueweave, "neo4j")


async def test_another_embedding_model_means_another_copy_of_the_vectors(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    await trueweave.projections.catch_up("chroma")
    before, _ = await projections.live(trueweave.workspace, "chroma")
    await trueweave.maintenance.change_space(HashEmbedder(32))
    assert await exact(trueweave, "chroma")
    assert (await projections.live(trueweave.workspace, "chroma"))[0] != before


async def test_vectors_that_are_made_are_copied_and_those_that_are_dropped_are_not(
    database: Database, settings: Settings
) -> None:
    chosen = settings.model_copy(update={"graph_vectors": False, "vectors": "chroma"})
    async with aclosing(await AsyncTrueweave.enter(database, "without", HashEmbedder(), settings=chosen)) as without:
        await without.add_documents([document("a", "Ada", "Ben", "Cas")])
        for _ in range(2):
            assert await exact(without, "chroma")
            assert (await without.retrieve("Ada", "naive")).passages
            with pytest.raises(NoGraphVectors):
                await without.retrieve("Ada", "local")
            await without.vectors.make()
            assert await exact(without, "chroma")
            assert (await without.retrieve("Ada", "hybrid")).passages
            await without.vectors.drop()
        await without.projections.remove("chroma")


@pytest.mark.parametrize("store", STORES)
async def test_a_batch_that_fails_leaves_the_position_where_it_was(
    trueweave: AsyncTrueweave, store: StoreName, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    await trueweave.projections.catch_up(store)
    copy, _ = await projections.live(trueweave.workspace, store)
    await trueweave.add_documents([document("b", "Cas", "Dan")])
    async with aclosing(StoreClients()) as stores:
        target = stores.target(trueweave.settings, store)
        assert copy
        before = await target.position(copy)

        async def cut_off(*_: Any) -> None:
            raise StoreUnavailable("cut off")

        with monkeypatch.context() as patched:
            patched.setattr(type(target), "write", cut_off)
            with pytest.raises(StoreUnavailable, match="cut off"):
                await trueweave.projections.catch_up(store)
        assert await target.position(copy) == before
    [status] = await trueweave.projections.status()
    assert status.behind
    assert status.problem == "cut off"
    assert await exact(trueweave, store)


@pytest.mark.parametrize("store", STORES)
async def test_a_workspace_that_is_dropped_takes_its_copy_along(
    database: Database, settings: Settings, store: StoreName
) -> None:
    async with aclosing(await AsyncTrueweave.enter(database, "gone", HashEmbedder(), settings=settings)) as gone:
        await gone.add_documents([document("a", "Ada", "Ben")])
        await gone.projections.catch_up(store)
        copy, _ = await projections.live(gone.workspace, store)
        assert copy
        await gone.maintenance.drop()
    async with aclosing(StoreClients()) as stores:
        target = stores.target(settings, store)
        assert await target.position(copy) is not None
        stop = asyncio.Event()
        running = asyncio.create_task(Projector(database, target).run(stop))
        async with asyncio.timeout(30):
            while await projections.copies_of_dropped(database, store):  # noqa: ASYNC110 (another task does it)
                await asyncio.sleep(0.05)
        stop.set()
        await running
        assert await target.position(copy) is None


async def test_a_question_may_wait_for_what_was_written_before(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    with pytest.raises(ProjectionMissing, match="project start chroma"):
        await asked(trueweave, vectors="chroma")
    await trueweave.projections.catch_up("chroma")
    await trueweave.add_documents([document("b", "Cas", "Dan")])
    assert await asked(trueweave, vectors="chroma") == {"a"}, "the copy does not know of b yet"
    with pytest.raises(ProjectionBehind, match="projection_wait"):
        await asked(trueweave, vectors="chroma", projection_wait=0.2)
    stop = asyncio.Event()
    running = asyncio.create_task(trueweave.projections.start("chroma", stop))
    assert await asked(trueweave, vectors="chroma", projection_wait=30.0) == {"a", "b"}
    stop.set()
    await running


@pytest.mark.parametrize(("store", "setting"), [("neo4j", "graph"), ("chroma", "vectors")])
async def test_a_copy_that_is_lost_while_questions_are_asked_is_told(
    trueweave: AsyncTrueweave, store: StoreName, setting: str
) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    await trueweave.projections.catch_up(store)
    changed = trueweave.settings.model_copy(update={setting: store})
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), changed)) as asking:
        assert (await asking.retrieve("Who knows Ada?", "local")).passages
        copy, _ = await projections.live(trueweave.workspace, store)
        assert copy
        async with aclosing(StoreClients()) as stores:
            await stores.target(trueweave.settings, store).drop(copy)
        with pytest.raises(ProjectionMissing, match=f"project rebuild {store}"):
            await asking.retrieve("Who knows Ada?", "local")


async def test_types_that_are_new_since_the_last_question_are_followed(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben")])
    await trueweave.projections.catch_up("neo4j")
    changed = trueweave.settings.model_copy(update={"graph": "neo4j"})
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), changed)) as asking:
        [ada] = [one.id for one in await asking.graph.entities() if one.name == "Ada"]
        assert [one.name for one in await asking.graph.neighbours(ada)] == ["Ben"]
        mentions = (Mention("Ada", "person"), Mention("Cas", "person"))
        link = Link("Ada", "Cas", "taught", keywords=("teacher",), source_type="person", target_type="person")
        await trueweave.add_documents([Document("b", (Chunk("Ada taught Cas.", 0, 0, mentions, (link,)),))])
        await trueweave.projections.catch_up("neo4j")
        assert {one.name for one in await asking.graph.neighbours(ada)} == {"Ben", "Cas"}


async def asked(trueweave: AsyncTrueweave, **changes: Any) -> set[str]:
    """The documents that a question finds by these settings."""
    changed = trueweave.settings.model_copy(update=changes)
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), changed)) as asking:
        return {passage.uri for passage in (await asking.retrieve("text", "naive")).passages}


async def test_many_projectors_at_once_do_each_others_work_no_harm(trueweave: AsyncTrueweave) -> None:
    await trueweave.projections.enable("neo4j")
    stop = asyncio.Event()
    running = [asyncio.create_task(trueweave.projections.start("neo4j", stop)) for _ in range(3)]
    for n in range(8):
        await trueweave.add_documents([document(f"d{n}", *NAMES[n % 4 : n % 4 + 3])])
        if n % 3 == 2:
            await trueweave.remove([f"d{n - 1}"])
    stop.set()
    await asyncio.gather(*running)
    assert await exact(trueweave, "neo4j")


ODD = [
    "Robert'); MATCH (n) DETACH DELETE n //",
    '"quoted"',
    "`back``ticked`",
    "back\\slash \\u0060 \\",
    "new\nline\ttab",
    "{braces: $copy}",
    "Entity",
    "MENTIONS",
    "零件 Ünïcode ÅÄÖ",
    "1st",
    "   ",
    "x" * 500,
]


async def test_names_types_and_keywords_made_of_cypher_are_stored_as_they_are(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("bystander", "Ada", "Ben")])
    for n, odd in enumerate(ODD):
        mentions = (Mention(f"{odd} a", odd, odd), Mention("Ada", odd))
        links = (Link(f"{odd} a", "Ada", odd, keywords=(odd,)), Link("Ada", "Ben", odd, keywords=(odd, "knows")))
        await trueweave.add_documents([Document(f"odd {n} {odd}", (Chunk(f"{odd} text", 0, 0, mentions, links),), odd)])
    assert await exact(trueweave, "neo4j")
    assert await exact(trueweave, "chroma")
    expected = await found_by(trueweave)
    assert await found_by(trueweave, graph="neo4j", vectors="chroma") == expected
    assert expected


async def found_by(trueweave: AsyncTrueweave, **changes: Any) -> list[Any]:
    changed = trueweave.settings.model_copy(update=changes)
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), changed)) as asking:
        found = await asking.retrieve("Who knows Ada?", "local")
        return [[passage.uri for passage in found.passages], [relation.id for relation in found.relations]]


async def test_a_store_that_is_away_is_told_with_its_address(trueweave: AsyncTrueweave) -> None:
    nowhere = {"neo4j_url": "bolt://neo4j:x@127.0.0.1:1", "chroma_url": "http://127.0.0.1:1"}
    settings = trueweave.settings.model_copy(update=nowhere)
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), settings)) as away:
        with pytest.raises(StoreUnavailable, match=r"Neo4j at 127\.0\.0\.1:1 is unavailable"):
            await away.projections.catch_up("neo4j")
        with pytest.raises(StoreUnavailable, match=r"Chroma at 127\.0\.0\.1:1 is unavailable"):
            await away.projections.catch_up("chroma")
        [chroma, neo4j] = await away.projections.status()
        assert "is unavailable" in neo4j.problem
        assert "is unavailable" in chroma.problem
    async with trueweave.workspace.transaction() as tx:
        await projections.remove(tx, "neo4j")
        await projections.remove(tx, "chroma")


async def test_a_store_without_an_address_is_told(trueweave: AsyncTrueweave) -> None:
    settings = trueweave.settings.model_copy(update={"neo4j_url": None, "chroma_url": None})
    async with aclosing(AsyncTrueweave(trueweave.workspace, HashEmbedder(), settings)) as none:
        for store in STORES:
            with pytest.raises(ConfigError, match=f"{store}_url"):
                await none.projections.catch_up(store)
    assert await trueweave.projections.status() == []
