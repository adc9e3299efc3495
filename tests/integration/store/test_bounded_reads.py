"""Lists and exports hold little in memory, however long the labels and documents are."""

from typing import Any

import psycopg
import pytest

from tests.integration.serving import fill, serving
from trueweave import AsyncTrueweave, Chunk, Document, Mention, NameKey
from trueweave.errors import RuleError
from trueweave.extend import Database
from trueweave.store.postgres.record import record, resolution

RULES = "/v1/workspaces/mine/rules"
TEXT = ("a" * 1000 + " ") * 1000  # a megabyte of few words


async def test_a_page_of_rules_reads_no_more_than_the_page(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    made = resolution._rule

    def counted(*row: object) -> object:
        read.append(1)
        return made(*row)  # type: ignore[arg-type]

    monkeypatch.setattr(resolution, "_rule", counted)
    async with serving(url) as server:
        trueweave = await fill(server.database, "mine")
        for n in range(6):
            await trueweave.rules.describe(NameKey(f"Name {n}"), f"It is {n}.")
        read.clear()
        async with server.client(await server.key("read", "mine")) as client:
            assert len((await client.get(f"{RULES}?limit=2")).json()["items"]) == 2
    assert len(read) == 3, "one more shows whether there is another page"


async def test_pages_of_rules_have_all_rules_and_facts_once_in_order(url: str) -> None:
    async with serving(url) as server:
        trueweave = await fill(server.database, "mine")
        made = [await trueweave.rules.describe(NameKey(f"Name {n}"), f"It is {n}.") for n in range(5)]
        made += [await trueweave.rules.add(Mention(f"Fact {n}")) for n in range(4)]
        async with server.client(await server.key("write", "mine")) as client:
            for limit in (1, 2, 3, 5, 9, 50):
                found, page = list[str](), dict[str, Any](next="")
                while page["next"] is not None:
                    page = (await client.get(RULES, params={"limit": limit, "cursor": page["next"]})).json()
                    found += [one["id"] for one in page["items"]]
                assert found == [str(one.id) for one in made]
            first = (await client.get(RULES, params={"limit": 2})).json()
            await trueweave.rules.undo(made[1].id)  # the last of the page
            rest = (await client.get(RULES, params={"limit": 50, "cursor": first["next"]})).json()
            assert [one["id"] for one in rest["items"]] == [str(one.id) for one in made[2:]]


async def test_a_label_has_a_longest_length(url: str, trueweave: AsyncTrueweave) -> None:
    with pytest.raises(RuleError, match="has 20,001 characters; 20,000 are allowed"):
        await trueweave.rules.describe(NameKey("Ada"), "x" * 20_001)
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            body = {"kind": "describe", "names": [{"name": "Ada"}], "label": "x" * 20_001}
            assert (await client.post(RULES, json=body)).status_code == 422


@pytest.mark.parametrize("large", [1, 3])
async def test_an_export_holds_documents_by_their_bytes(database: Database, large: int) -> None:
    trueweave = await AsyncTrueweave.enter(database, "mine")
    await trueweave.add_documents([Document(f"small/{n}", (Chunk(f"Word {n}."),)) for n in range(40)])
    for n in range(6):
        chunks = [Chunk(f"{n} {m} {TEXT}", m * 2_000_000) for m in range(large)]
        await trueweave.add_documents([Document(f"large/{n}", tuple(chunks))])
    sizes, uris = list[int](), list[str]()
    async for page in record.read(trueweave.workspace):
        sizes.append(sum(len(chunk.text) for document in page for chunk in document.chunks))
        uris += [document.uri for document in page]
    assert sorted(uris) == sorted([*(f"small/{n}" for n in range(40)), *(f"large/{n}" for n in range(6))])
    assert max(sizes) <= 4 * 2**20
    await trueweave.aclose()


async def test_small_documents_are_read_many_at_once(url: str, database: Database) -> None:
    trueweave = await AsyncTrueweave.enter(database, "mine")
    await trueweave.add_documents([Document(f"{n}", (Chunk(f"Word {n}."),)) for n in range(300)])
    assert [len(page) async for page in record.read(trueweave.workspace)] == [300]
    await trueweave.aclose()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.document").fetchone() == (300,)
