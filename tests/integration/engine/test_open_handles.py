"""A workspace that is open notices that it was dropped, or that a bulk load has replaced its index."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.integration.bulk.test_bulk import load, opened, rows, written
from tests.integration.serving import serving
from trueweave import AsyncClient, AsyncTrueweave, Chunk, Document, Mention
from trueweave.errors import UnknownWorkspace, WorkspaceReplaced
from trueweave.extend import Database
from trueweave.methods import Keyword, Naive
from trueweave.store.postgres.reading.question_server import QuestionServer
from trueweave.testing import HashEmbedder

SAID = Document("old", (Chunk("The old harbour of Ambrel", mentions=(Mention("Ambrel", "place"),)),))
COUNT = b"SELECT count(*) FROM document"

READS: dict[str, Callable[[AsyncTrueweave], Awaitable[object]]] = {
    "one statement": lambda it: it.workspace.read(COUNT),
    "a question by words": lambda it: it.retrieve("harbour", Keyword()),
    "a question by meaning": lambda it: it.retrieve("harbour", Naive()),
    "an answer": lambda it: it.ask("harbour", Keyword(), context_only=True),
    "a search": lambda it: it.search("harbour"),
    "documents": lambda it: it.list_documents(),
    "status": lambda it: it.status(),
    "entities": lambda it: it.graph.entities(),
    "neighbours of a vector": lambda it: _nearest(it),
}


async def _nearest(trueweave: AsyncTrueweave) -> object:
    [vector] = await HashEmbedder().embed(["harbour"], "query")
    return await trueweave.graph.nearest("chunk", vector, 5)


@pytest.mark.parametrize("read", READS)
async def test_nothing_is_read_from_a_workspace_that_was_dropped(
    url: str, trueweave: AsyncTrueweave, read: str
) -> None:
    await trueweave.add_documents([SAID])
    await READS[read](trueweave)
    async with Database(url) as elsewhere:
        other = await AsyncTrueweave.enter(elsewhere, "test", HashEmbedder())
        await other.maintenance.drop()
    for _ in range(2):
        with pytest.raises(UnknownWorkspace, match="was dropped"):
            await READS[read](trueweave)


async def replace(url: str, folder: Path, *, name: str = "bulk") -> None:
    """Replace the index of a workspace by a bulk load, in another process as far as open handles can tell."""
    async with Database(url) as elsewhere, opened(elsewhere, name, folder) as other:
        await load(other, folder, str(written(folder / "a.jsonl", rows(4))))


async def test_a_question_after_a_bulk_load_is_answered_from_the_new_index(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path) as it:
        await it.add_documents([SAID])
        number = it.workspace.id
        await replace(url, tmp_path)
        found = await it.retrieve("Lovelace Babbage London Cobol Hopper met", Keyword())
        assert {passage.uri.partition("#")[0] for passage in found.passages} == {"a.jsonl"}
        assert it.workspace.id != number
        await it.add_documents([Document("new", (Chunk("It can be written to as well."),))])
        assert (await it.status()).documents == 6
        assert (await it.maintenance.verify()).exact


async def test_another_call_after_a_bulk_load_fails_once_and_then_uses_the_new_index(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path) as it, opened(database, "bulk", tmp_path) as another:
        await it.add_documents([SAID])
        for _ in range(2):
            await replace(url, tmp_path)
            with pytest.raises(WorkspaceReplaced, match="Try again"):
                await it.status()
            assert (await it.status()).documents == 5
            assert (await another.status()).documents == 5, "what one has noticed, all of the process know"


async def test_a_question_that_began_before_the_switch_ends_on_the_former_index(
    database: Database, url: str, tmp_path: Path
) -> None:
    async with opened(database, "bulk", tmp_path) as it:
        await it.add_documents([SAID])
        question = QuestionServer(it.workspace, standbys=False)
        assert await question.read(COUNT) == [(1,)]
        await replace(url, tmp_path)
        assert await question.read(COUNT) == [(1,)]
        assert await QuestionServer(it.workspace, standbys=False).read(COUNT) == [(5,)], "the next one does not"


async def test_a_server_uses_the_new_index_at_once_also_for_keys_of_one_workspace(url: str, tmp_path: Path) -> None:
    async with serving(url, extractor="capitals") as server:
        key = await server.key("write", "bulk")
        async with server.client(key) as client:
            body = {"documents": [{"uri": "old", "text": "The old harbour of Ambrel"}]}
            assert (await client.post("/v1/workspaces/bulk/documents", json=body)).status_code == 202
            assert (await client.get("/v1/workspaces/bulk/documents")).json()["items"] == []
            await replace(url, tmp_path)
            first = await client.get("/v1/workspaces/bulk/documents")
            assert (first.status_code, first.json()["code"]) == (503, "workspace_replaced")
            assert int(first.headers["retry-after"]) > 0
            again = await client.get("/v1/workspaces/bulk/documents")
            assert len(again.json()["items"]) == 4
        await replace(url, tmp_path)
        async with AsyncClient.open(server.url, "bulk", key=key) as trueweave:
            assert len(await trueweave.list_documents()) == 4, "the client tries again by itself"
