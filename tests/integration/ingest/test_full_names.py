"""Full names in place of short ones, in the index: exact whatever comes and goes, the same by a bulk load, and undone
by the setting."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import permutations
from pathlib import Path

import pytest

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.bulk.flows import LocalFlow
from trueweave.bulk.run import bulk_load
from trueweave.engine.model_settings import recipe
from trueweave.engine.workspace_models import models_of_load
from trueweave.extend import Database
from trueweave.index.linking import link
from trueweave.index.settle import settle
from trueweave.ingest.loading.rows import row_source
from trueweave.ingest.own import Given
from trueweave.store.postgres.view.digest import differences
from trueweave.types import OutOfDate

TEXTS = {
    "arthur": "Arthur Koestler moved to Vienna. There Koestler wrote a letter to Manes Sperber.",
    "mary": "Mary Koestler moved to Leeds. A year later Koestler met Manes Sperber.",
    "nobody": "It is known that Koestler wrote, and that Sperber wrote back to Koestler.",
}


def sources(*names: str) -> list[Source]:
    return [Source(name, TEXTS[name]) for name in names]


async def opened(database: Database, name: str, *, short_names: bool = True) -> AsyncTrueweave:
    settings = Settings(extractor="capitals", short_names=short_names)
    return await AsyncTrueweave.enter(database, name, settings=settings)


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await opened(database, "test")) as made:
        yield made


async def entities(index: AsyncTrueweave) -> set[str]:
    return {one.name for one in await index.graph.entities()}


async def test_each_document_decides_for_itself(index: AsyncTrueweave) -> None:
    await index.add(*sources("arthur", "mary", "nobody"))
    found = await entities(index)
    assert found == {"Arthur Koestler", "Mary Koestler", "Koestler", "Manes Sperber", "Sperber", "Vienna", "Leeds"}
    arthur = (await index.graph.entity("Arthur Koestler")).entity
    assert arthur.count == 2
    assert {r.target_name for r in await index.graph.relations(arthur.id)} | {
        r.source_name for r in await index.graph.relations(arthur.id)
    } == {"Arthur Koestler", "Vienna", "Manes Sperber"}
    [document] = [one async for one in index.documents() if one.uri == "arthur"]
    [chunk] = document.chunks
    written = [chunk.text[start:end] for m in chunk.mentions if m.name == "Arthur Koestler" for start, end in m.spans]
    assert written == ["Arthur Koestler", "Koestler"]
    assert (await index.maintenance.verify()).exact


async def test_the_index_is_the_same_in_any_order_and_without_what_was_removed(database: Database) -> None:
    digests = set()
    for n, order in enumerate(permutations(TEXTS)):
        async with aclosing(await opened(database, f"order {n}")) as index:
            for name in order:
                await index.add(*sources(name))
            await index.remove(["mary"])
            assert (await index.maintenance.verify()).exact
            digests.add(json.dumps(await index.maintenance.digest(), default=str, sort_keys=True))
    async with aclosing(await opened(database, "never there")) as index:
        await index.add(*sources("arthur", "nobody"))
        digests.add(json.dumps(await index.maintenance.digest(), default=str, sort_keys=True))
        assert "Mary Koestler" not in await entities(index)
    assert len(digests) == 1


async def test_a_bulk_load_gives_the_same_graph(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items()))
    async with aclosing(await opened(database, "bulk")) as bulk, aclosing(await opened(database, "online")) as online:
        report, made = await bulk_load(
            bulk.workspace,
            [str(file)],
            tmp_path / "spool",
            LocalFlow(),
            settings=bulk.settings,
            recipe=recipe(bulk.settings),
            open_models=models_of_load,
            embedder=None,
            given=Given(),
        )
        await settle(made, None)
        await link(made)
        assert report.documents == 3
        await online.add(*(row_source({"id": name, "text": text}, str(file), "") for name, text in TEXTS.items()))
        assert await differences(online.workspace, made) == []
        assert "Arthur Koestler" in await entities(online)


async def test_without_the_setting_names_are_those_that_are_written(index: AsyncTrueweave, database: Database) -> None:
    await index.add(*sources("arthur"))
    async with aclosing(await opened(database, "test", short_names=False)) as other:
        assert await other.maintenance.out_of_date() == [OutOfDate(1, ("short_names",))]
        assert (await other.add(*sources("arthur"))).new == 1
        assert await other.maintenance.out_of_date() == []
        assert await entities(other) == {"Arthur Koestler", "Koestler", "Manes Sperber", "Vienna"}
        assert (await other.maintenance.verify()).exact
