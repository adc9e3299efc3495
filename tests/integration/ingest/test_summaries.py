"""Long descriptions are summed up once for each content, and the index itself does not depend on it."""

import asyncio

from tests.integration.index.test_settle import document
from trueweave import AsyncTrueweave, Chunk, Document, Mention
from trueweave.errors import BadReply
from trueweave.ingest.summaries import summarise_some
from trueweave.store.postgres.view.view import LONG_DESCRIPTION

LONG = "She wrote the first program, and more than that. " * (LONG_DESCRIPTION // 40)


def described(uri: str, *descriptions: str) -> Document:
    mentions = tuple(Mention("Ada", description=each) for each in descriptions)
    return Document(uri, (Chunk(f"Ada {uri}", mentions=mentions),))


class Asked:
    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, name: str, descriptions: str) -> str:
        self.names.append(name)
        await asyncio.sleep(0)
        return f"{name}, in short ({len(descriptions)})"


async def _summary(trueweave: AsyncTrueweave) -> str:
    [ada] = [e for e in await trueweave.graph.entities() if e.name == "Ada"]
    return ada.summary


async def test_a_long_description_is_summed_up_once_and_again_when_it_changes(trueweave: AsyncTrueweave) -> None:
    asked = Asked()
    await trueweave.add_documents([described("a", LONG), document("b", "Bob")])
    before = await trueweave.maintenance.digest()
    assert await summarise_some(trueweave.workspace, asked) == 1
    assert await summarise_some(trueweave.workspace, asked) == 0
    assert await _summary(trueweave) == f"Ada, in short ({len(LONG.strip())})"
    assert await trueweave.maintenance.digest() == before

    await trueweave.add_documents([described("c", "A mathematician.")])
    assert await _summary(trueweave) == "", "it does not sum up what is said now"
    assert await summarise_some(trueweave.workspace, asked) == 1
    await trueweave.remove(["c"])
    assert await _summary(trueweave) == f"Ada, in short ({len(LONG.strip())})", "what was summed up once is known"
    assert await summarise_some(trueweave.workspace, asked) == 0
    assert asked.names == ["Ada", "Ada"]


async def test_a_description_that_changed_before_it_was_summed_up_is_not_paid_for(trueweave: AsyncTrueweave) -> None:
    asked = Asked()
    await trueweave.add_documents([described("a", LONG)])
    await trueweave.add_documents([described("a", "Short now.")])
    assert await summarise_some(trueweave.workspace, asked) == 0
    assert asked.names == []


async def test_a_model_that_fails_at_it_is_not_asked_for_ever(trueweave: AsyncTrueweave) -> None:
    async def fail(name: str, descriptions: str) -> str:
        raise BadReply("empty")

    await trueweave.add_documents([described("a", LONG)])
    assert await summarise_some(trueweave.workspace, fail) == 1
    assert await summarise_some(trueweave.workspace, fail) == 0
    assert await _summary(trueweave) == ""
