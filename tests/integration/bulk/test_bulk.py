"""Bulk loading gives the same index as adding the same documents one after the other. Here its steps run in this
process; tests/e2e/test_ray.py has them on a cluster."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueweave import AsyncTrueweave, NameKey, Settings, Source
from trueweave.bulk import process, shards
from trueweave.bulk.flows import LocalFlow
from trueweave.bulk.pipeline import Told
from trueweave.bulk.run import bulk_load, untold
from trueweave.engine.model_settings import recipe
from trueweave.engine.workspace_models import models_of_load
from trueweave.errors import ConfigError, DatabaseUnavailable, UnknownWorkspace, WorkspaceReplaced
from trueweave.extend import Database, Embedder, Workspace
from trueweave.graph.aggregate import EMPTY, NameRow
from trueweave.graph.contribution import Contribution
from trueweave.index.linking import link
from trueweave.index.settle import settle
from trueweave.ingest import stages
from trueweave.ingest.extract import preannotated
from trueweave.ingest.loading.rows import row_source
from trueweave.ingest.own import Given
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.bulk import load_names
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.view.digest import differences
from trueweave.testing import HashEmbedder
from trueweave.types import BulkReport

WORDS = ["river", "bridge", "built", "old", "stone", "engineer", "flood", "school", "market", "harbour", "winter"]
NAMES = ["Ada Lovelace", "ada lovelace", "Charles Babbage", "London", "Analytical Engine", "Grace Hopper", "Cobol"]

NOTHING = Given()
MERGED = (NameKey("London"), NameKey("Cobol"))


def rows(number: int, seed: int = 0, first: int = 0) -> list[dict[str, object]]:
    """Documents: most have their text alone, some their entities too."""
    chosen = random.Random(seed)
    made: list[dict[str, object]] = []
    for n in range(first, first + number):
        met = f"{chosen.choice(NAMES)} met {chosen.choice(NAMES)} in 18{n:02}."
        text = f"{' '.join(chosen.choices(WORDS, k=30))}. {met}"
        row: dict[str, object] = {"id": str(n), "text": text, "title": f"Title {n % 7}", "metadata": {"year": 1800 + n}}
        if n % 3 == 0:
            s, t = chosen.sample(NAMES, 2)
            row["entities"] = [{"name": s, "type": "person", "description": f"said of {s}", "emphasis": 1 + n % 9}]
            relation = {"source": s, "target": t, "keywords": ["Knew", "met"], "description": f"in {n}", "strength": 3}
            row["relations"] = [relation]
        made.append(row)
    return made


def written(file: Path, documents: list[dict[str, object]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in documents))
    return file


@asynccontextmanager
async def opened(
    database: Database, name: str, folder: Path, embedder: Embedder | None = None
) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(extractor="capitals", project_folder=folder)
    async with aclosing(await AsyncTrueweave.enter(database, name, embedder, settings=settings, make=True)) as made:
        yield made


async def add_online(trueweave: AsyncTrueweave, folder: Path, documents: list[dict[str, object]]) -> None:
    """Add documents by the queue, and those whose entities are given directly."""
    given = written(folder / "given.jsonl", [row for row in documents if "entities" in row])
    await trueweave.add_documents(preannotated.read(given, uri="a.jsonl"))
    await trueweave.add(*(row_source(row, "a.jsonl", "") for row in documents if "entities" not in row))


async def load(
    trueweave: AsyncTrueweave, folder: Path, *paths: str, told: Told = untold, given: Given = NOTHING
) -> BulkReport:
    report, made = await bulk_load(
        trueweave.workspace,
        paths,
        folder / "spool",
        LocalFlow(),
        settings=trueweave.settings,
        recipe=recipe(trueweave.settings),
        embedder=given.embedder,
        open_models=models_of_load,
        given=given,
        told=told,
    )
    await settle(made, given.embedder)  # as `maintenance.bulk_load` does
    await link(made)
    return report


async def check_same(database: Database, folder: Path) -> None:
    """The workspaces `online` and `bulk` show the same."""
    async with opened(database, "online", folder) as online, opened(database, "bulk", folder) as bulk:
        assert await differences(online.workspace, bulk.workspace) == []
        assert await online.maintenance.digest() == await bulk.maintenance.digest()
        assert (await bulk.maintenance.verify()).exact


@pytest.mark.parametrize("mode", ["exact", "fuzzy"])
async def test_bulk_and_online_builds_have_the_same_digest(database: Database, tmp_path: Path, mode: str) -> None:
    documents = rows(60)
    for name in ("online", "bulk"):
        await database.open_workspace(name, make=True, resolution=mode)  # type: ignore[arg-type]
    async with opened(database, "online", tmp_path) as online:
        await add_online(online, tmp_path, documents)
    async with opened(database, "bulk", tmp_path) as bulk:
        report = await load(bulk, tmp_path, str(written(tmp_path / "a.jsonl", documents)))
    assert (report.documents, report.kept, report.failed) == (60, 0, ())
    await check_same(database, tmp_path)


async def test_a_load_into_a_workspace_with_documents_is_as_if_all_had_been_added(
    database: Database, tmp_path: Path
) -> None:
    """Some documents are replaced by the load, and one that came twice counts as it came last."""
    before, loaded, again = rows(30, seed=1), rows(30, seed=2, first=20), rows(3, seed=3, first=40)
    async with opened(database, "online", tmp_path) as online:
        for some in (before, loaded, again):
            await add_online(online, tmp_path, some)
        await online.rules.merge(*MERGED)
        await online.maintenance.settle()
    async with opened(database, "bulk", tmp_path) as bulk:
        await add_online(bulk, tmp_path, before)
        await bulk.rules.merge(*MERGED)
        await bulk.maintenance.settle()
        former = (await bulk.graph.entity(NameKey("Grace Hopper", "person"))).entity.id
        added = {one.uri: one.added for one in await bulk.list_documents()}
        file = written(tmp_path / "a.jsonl", [*loaded, *again])
        report = await load(bulk, tmp_path, str(file))
        with pytest.raises(WorkspaceReplaced):
            await bulk.list_documents(limit=100)
        assert len(await bulk.list_documents(limit=100)) == 50, "the handle uses the new index from then on"
    assert (report.kept, report.documents) == (20, 50)
    await check_same(database, tmp_path)
    async with opened(database, "bulk", tmp_path) as bulk:
        assert (await bulk.graph.entity(NameKey("Grace Hopper", "person"))).entity.id == former
        kept = {one.uri: one.added for one in await bulk.list_documents()}
        assert {uri: kept[uri] for uri in ("a.jsonl#1", "a.jsonl#2")} == {
            uri: added[uri] for uri in ("a.jsonl#1", "a.jsonl#2")
        }


async def test_what_comes_and_goes_during_a_load_is_in_it(database: Database, tmp_path: Path) -> None:
    before, loaded, meanwhile = rows(12, seed=1), rows(12, seed=2, first=20), rows(6, seed=3, first=30)
    async with opened(database, "online", tmp_path) as online:
        for some in (before, loaded, meanwhile):
            await add_online(online, tmp_path, some)
        await online.remove(["a.jsonl#3"])
    async with opened(database, "bulk", tmp_path) as bulk:
        await add_online(bulk, tmp_path, before)
        file = written(tmp_path / "a.jsonl", loaded)

        async def change() -> None:
            await add_online(bulk, tmp_path / "meanwhile", meanwhile)
            await bulk.remove(["a.jsonl#3"])

        (tmp_path / "meanwhile").mkdir()
        loop = asyncio.get_running_loop()

        def told(stage: str, done: int, _total: int) -> None:
            if stage == "Resolving names" and done == 0:
                asyncio.run_coroutine_threadsafe(change(), loop).result()

        await load(bulk, tmp_path, str(file), told=told)
    await check_same(database, tmp_path)


async def test_a_load_that_was_stopped_works_no_shard_twice(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = rows(60)
    file = written(tmp_path / "a.jsonl", documents)
    monkeypatch.setattr(shards, "LINES_AT_ONCE", 10)
    worked: list[str] = []

    async def noted(source: Source, *args: Any) -> Contribution:
        worked.append(source.uri)
        if len(worked) == 30:
            raise DatabaseUnavailable("the database is away")
        return await stages.work(source, *args)

    monkeypatch.setattr(process, "work", noted)
    async with opened(database, "bulk", tmp_path) as bulk:
        with pytest.raises(DatabaseUnavailable):
            await load(bulk, tmp_path, str(file))
        assert await bulk.list_documents() == []
        complete = len(list((tmp_path / "spool").glob("*/*.json")))
        done = set(worked)
        worked.clear()
        await load(bulk, tmp_path, str(file))
    assert complete >= 2
    assert len(done & set(worked)) <= 10  # those of the shard that was under way
    async with opened(database, "online", tmp_path) as online:
        await add_online(online, tmp_path, documents)
    await check_same(database, tmp_path)


async def test_parquet_folders_and_lines_are_loaded_and_what_cannot_be_read_is_told(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    documents = rows(8)
    pq.write_table(pa.Table.from_pylist(documents[:4]), folder / "a.parquet", row_group_size=3)
    written(folder / "b.jsonl", [*documents[4:], {"id": "9"}])
    (folder / "c.md").write_text("# Ada Lovelace\n\nShe lived in London.")
    (folder / "d.bin").write_bytes(b"\x00\x01")
    (folder / "id_rsa").write_text("secret")
    (folder / ".gitignore").write_text("old.parquet\n")
    pq.write_table(pa.Table.from_pylist(documents), folder / "old.parquet")
    async with opened(database, "bulk", tmp_path) as bulk:
        report = await load(bulk, tmp_path, str(folder))
    async with opened(database, "bulk", tmp_path) as bulk:
        uris = {one.uri for one in await bulk.list_documents()}
    assert uris == {*(f"in/a.parquet#{n}" for n in range(4)), *(f"in/b.jsonl#{n}" for n in range(4, 8)), "in/c.md"}
    [(where, reason)] = report.failed
    assert "line 5" in where
    assert "its text is missing" in reason
    assert sorted(path for path, _ in report.skipped) == ["in/.gitignore", "in/d.bin", "in/id_rsa", "in/old.parquet"]


async def test_a_workspace_that_is_copied_elsewhere_is_not_loaded_in_bulk(database: Database, tmp_path: Path) -> None:
    async with opened(database, "bulk", tmp_path) as bulk:
        async with bulk.workspace.transaction() as tx:
            await outbox.advance(tx, "neo4j:1", 0)
        with pytest.raises(ConfigError, match="copied to neo4j:1"):
            await load(bulk, tmp_path, str(written(tmp_path / "a.jsonl", rows(2))))


async def test_money_replies_and_keys_stay_with_the_workspace(database: Database, tmp_path: Path) -> None:
    async with opened(database, "bulk", tmp_path) as bulk:
        await bulk.budget.allow(tokens=1000)
        await bulk.maintenance.change_settings({"max_chunk_size": 700})
        number = bulk.workspace.id
        await api_keys.make(database, "reader", "read", [number])
        await load(bulk, tmp_path, str(written(tmp_path / "a.jsonl", rows(4))))
        with pytest.raises(UnknownWorkspace):
            await bulk.budget.allow(tokens=1)
    async with opened(database, "bulk", tmp_path) as bulk:
        assert bulk.workspace.id != number
        assert bulk.maintenance.own_settings == {"max_chunk_size": 700}
        assert (await bulk.budget.get()).token_cap == 1000
        [key] = await api_keys.listed(database, 10)
        assert key.workspaces == ("bulk",)


async def test_an_embedder_of_the_program_embeds_on_the_cluster(database: Database, tmp_path: Path) -> None:
    documents, embedder = rows(30), HashEmbedder(32)
    async with opened(database, "online", tmp_path, embedder) as online:
        await add_online(online, tmp_path, documents)
    async with opened(database, "bulk", tmp_path, embedder) as bulk:
        await load(bulk, tmp_path, str(written(tmp_path / "a.jsonl", documents)), given=Given(embedder))
    await check_same(database, tmp_path)
    async with opened(database, "bulk", tmp_path, embedder) as bulk:
        async with bulk.workspace.transaction() as tx:
            space = await vectors.space(tx)
        assert space
        assert [some async for some in vectors.missing(bulk.workspace, space)] == []
        [vector] = await embedder.embed([str(documents[7]["text"])], "query")
        [hit] = await bulk.graph.nearest("chunk", vector, 1)
    assert hit.distance == pytest.approx(0, abs=0.01)


async def test_what_cannot_be_sent_to_other_processes_is_refused(database: Database, tmp_path: Path) -> None:
    class Local(HashEmbedder):
        pass

    async with opened(database, "bulk", tmp_path) as bulk:
        with pytest.raises(ConfigError, match="cannot be sent to other processes"):
            await load(bulk, tmp_path, str(written(tmp_path / "a.jsonl", rows(1))), given=Given(Local()))


async def test_parts_whose_names_share_phrases_are_loaded_at_once(database: Database, workspace: Workspace) -> None:
    """A regression: they inserted the phrases in an order of their own each, which is a deadlock."""
    entity = uuid4()

    async def load_part(type_: str, numbers: Sequence[int]) -> None:
        names = [NameRow(uuid4(), f"Thing {n}", type_, 1, EMPTY, entity) for n in numbers]
        async with workspace.transaction() as tx:
            await load_names(tx, names, ())

    numbers = range(5000)
    await asyncio.gather(load_part("person", numbers), load_part("place", numbers[::-1]))
    async with workspace.transaction() as tx:
        [(found,)] = await (await tx.connection.execute("SELECT count(*) FROM phrase")).fetchall()
    assert found == len(numbers)
