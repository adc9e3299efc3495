"""Settling: atomic for readers, several at once, and right in every race that can be staged.

The embedder is called between planning (without locks) and writing (with them). What it does there is what another
process might have done just then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from weft import AsyncWeft, Chunk, Document, Link, Mention, NameKey, ResolutionSettings
from weft.errors import SpaceMismatch
from weft.graph.contribution import contribution
from weft.ingest.settle import settle
from weft.protocols import Vectors
from weft.store.postgres import record
from weft.store.postgres.locks import lock, shards_of
from weft.testing import HashEmbedder
from weft.text.names import name_id
from weft.types import Metric


def document(uri: str, *names: str, text: str = "some text", links: Sequence[Link] = ()) -> Document:
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names)), links=tuple(links)),))


async def store(weft: AsyncWeft, *documents: Document) -> None:
    await record.store(weft.database, weft.workspace, [contribution(d) for d in documents])


@dataclass
class Meanwhile:
    """A hash embedder during whose first call something else happens."""

    happens: Callable[[], Awaitable[object]]
    model: str = "testing/hash"
    dimensions: int = 64
    metric: Metric = "cosine"
    calls: list[Sequence[str]] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(texts)
        if len(self.calls) == 1:
            await self.happens()
        return await HashEmbedder(self.dimensions).embed(texts)


async def race(
    weft: AsyncWeft, first: Document | list[Document], meanwhile: Callable[[], Awaitable[object]]
) -> AsyncWeft:
    """Settle documents, and let something else happen between their plan and their locks."""
    slow = AsyncWeft(weft.database, weft.workspace, Meanwhile(meanwhile))
    await store(slow, *([first] if isinstance(first, Document) else first))
    await slow.settle()
    await weft.settle()
    verdict = await weft.verify()
    assert verdict.exact, verdict.differences
    return slow


async def names_of(weft: AsyncWeft) -> set[frozenset[str]]:
    return {frozenset((e.name, *e.aliases)) for e in await weft.entities()}


async def settle_in_the_meantime(weft: AsyncWeft, *documents: Document) -> None:
    """What another process does that claims other documents than the slow one."""
    await store(weft, *documents)
    await weft.settle()


async def test_two_new_names_that_are_alike_find_each_other(weft: AsyncWeft) -> None:
    await race(
        weft, document("a", "Marten Aldous"), lambda: settle_in_the_meantime(weft, document("b", "Marten Aldouse"))
    )
    assert await names_of(weft) == {frozenset(("Marten Aldous", "Marten Aldouse"))}


async def test_a_merge_rule_laid_down_meanwhile_holds_for_a_live_name_and_a_new_one(weft: AsyncWeft) -> None:
    await weft.add_documents([document("b", "Paris")])
    rule = NameKey("Paris"), NameKey("Lutetia")
    await race(weft, document("a", "Lutetia"), lambda: weft.merge(*rule))
    assert await names_of(weft) == {frozenset(("Paris", "Lutetia"))}


async def test_a_merge_rule_laid_down_meanwhile_holds_for_two_new_names(weft: AsyncWeft) -> None:
    rule = NameKey("Paris"), NameKey("Lutetia")
    await race(weft, [document("a", "Lutetia"), document("b", "Paris")], lambda: weft.merge(*rule))
    assert await names_of(weft) == {frozenset(("Paris", "Lutetia"))}


async def test_a_change_of_settings_meanwhile_reaches_names_that_were_not_live_yet(weft: AsyncWeft) -> None:
    loose = ResolutionSettings(threshold=80)
    await weft.change_resolution(ResolutionSettings("exact"))
    both = [document("a", "Martena Aldous"), document("b", "Marten Aldouse")]
    await race(weft, both, lambda: weft.change_resolution(loose))
    assert await names_of(weft) == {frozenset(("Martena Aldous", "Marten Aldouse"))}


async def test_more_of_a_hub_meanwhile_is_added_up(weft: AsyncWeft) -> None:
    link = Link("Hub", "Spoke", "holds", strength=3)
    meanwhile = document("b", "Hub", links=[link, link])
    await race(weft, document("a", "Hub", links=[link]), lambda: settle_in_the_meantime(weft, meanwhile))
    [hub] = [e for e in await weft.entities() if e.name == "Hub"]
    [relation] = await weft.relations(hub.id)
    assert (hub.count, hub.degree, relation.weight, relation.count) == (2, 1, 9, 3)


async def test_a_cluster_that_falls_apart_meanwhile_stays_apart(weft: AsyncWeft) -> None:
    ends = ("Marten Aldous", "Martena Aldouses")
    bridge = "Martena Aldous"
    await weft.change_resolution(ResolutionSettings(threshold=90))
    await weft.add_documents([document("x", ends[0]), document("y", ends[1]), document("z", bridge)])
    assert len(await weft.entities()) == 1
    await race(weft, document("a", ends[0], "Elsewhere"), lambda: weft.remove(["z"]))
    assert frozenset((ends[1],)) in await names_of(weft)


async def test_texts_that_did_not_change_are_not_embedded_again(weft: AsyncWeft) -> None:
    async def settle_other() -> None:
        await settle_in_the_meantime(weft, document("b", "Hub", "Other"))

    slow = await race(weft, document("a", "Hub", "Spoke", text="a text"), settle_other)
    embedder = slow._embedder
    assert isinstance(embedder, Meanwhile)
    texts = [text for call in embedder.calls for text in call]
    assert sorted(texts) == sorted(set(texts)), "a new plan embeds only what the last one did not"


async def test_an_update_embeds_only_the_chunk_that_changed(weft: AsyncWeft) -> None:
    chunks = tuple(Chunk(f"chunk {n}", start=10 * n, mentions=(Mention("Ada"),)) for n in range(5))
    await weft.add_documents([Document("a", chunks)])
    watching = Meanwhile(lambda: asyncio.sleep(0))
    again = AsyncWeft(weft.database, weft.workspace, watching)
    await again.add_documents(
        [Document("a", (*chunks[:4], Chunk("something else", start=40, mentions=(Mention("Ada"),))))]
    )
    assert watching.calls == [["something else"]]


async def test_readers_see_an_update_all_at_once(weft: AsyncWeft) -> None:
    """Until the new version is settled, everything is as the old one says; then everything is as the new one says."""
    await weft.add_documents([document("a", "Old name", text="old", links=[Link("Old name", "Thing")])])
    before = await weft.digest()
    await store(weft, document("a", "New name", text="new", links=[Link("New name", "Thing")]))
    assert await weft.digest() == before
    seen = set()
    settling = asyncio.create_task(settle(weft.database, weft.workspace, HashEmbedder()))
    while not settling.done():
        seen.add(await weft.digest())
        await asyncio.sleep(0)
    seen.add(await weft.digest())
    assert len(seen) == 2
    assert before in seen


async def test_settlers_of_different_names_do_not_wait_for_each_other(weft: AsyncWeft) -> None:
    async with weft.database.transaction(weft.workspace) as settling_alpha:
        await lock(settling_alpha, shards_of([name_id("Alpha", "")]))
        await asyncio.wait_for(weft.add_documents([document("b", "Omega")]), 10)
        assert {e.name for e in await weft.entities()} == {"Omega"}
        waiting = asyncio.create_task(weft.add_documents([document("a", "Alpha")]))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done, "a settler of the same name waits"
    await waiting
    assert {e.name for e in await weft.entities()} == {"Alpha", "Omega"}


async def test_many_settlers_on_the_same_names_end_without_a_deadlock(weft: AsyncWeft) -> None:
    names = [f"Name {chr(65 + n)}" for n in range(12)]
    batches = [[document(f"{w}/{n}", *names[n:], *names[:n]) for n in range(12)] for w in range(4)]
    settlers = [AsyncWeft(weft.database, weft.workspace, HashEmbedder()) for _ in batches]
    await asyncio.wait_for(asyncio.gather(*(s.add_documents(b) for s, b in zip(settlers, batches, strict=True))), 60)
    assert (await weft.status()).documents == 48
    assert (await weft.verify()).exact


async def test_many_documents_go_in_one_pass(weft: AsyncWeft) -> None:
    await weft.add_documents(document(f"{n}", f"Name {n % 7}") for n in range(300))
    assert await weft.remove([f"{n}" for n in range(0, 300, 2)]) == 150
    assert (await weft.status()).documents == 150
    assert (await weft.verify()).exact


async def test_storing_the_same_again_changes_nothing(weft: AsyncWeft) -> None:
    assert await weft.add_documents([document("a", "Ada")]) == 1
    changes = await weft.changes()
    assert await weft.add_documents([document("a", "Ada")]) == 0
    assert await weft.changes() == changes


async def test_an_update_and_its_undoing_before_settling_is_nothing(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "Ada")])
    changes = await weft.changes()
    await store(weft, document("a", "Ida"))
    await store(weft, document("a", "Ada"))
    await weft.settle()
    assert await weft.changes() == changes


async def test_the_outbox_tells_what_changed(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "Ada", links=[Link("Ada", "London")])])
    position = (await weft.changes())[-1].position
    assert {(c.kind, c.removed, len(c.ids)) for c in await weft.changes()} == {
        ("document", False, 1), ("chunk", False, 1), ("entity", False, 2), ("relation", False, 1),
    }  # fmt: skip
    await weft.remove(["a"])
    assert {(c.kind, c.removed, len(c.ids)) for c in await weft.changes(after=position)} == {
        ("document", True, 1), ("chunk", True, 1), ("entity", True, 2), ("relation", True, 1),
    }  # fmt: skip


async def test_the_outbox_waits_for_transactions_that_may_still_write_to_it(weft: AsyncWeft) -> None:
    async with weft.database.transaction(weft.workspace) as unfinished:
        await unfinished.execute("INSERT INTO outbox (kind, removed, ids) VALUES ('entity', false, '{}')")
        await weft.add_documents([document("a", "Ada")])
        assert await weft.changes() == [], "an earlier position may still appear"
    assert len(await weft.changes()) == 4


async def test_a_workspace_with_vectors_is_not_settled_without_its_model(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "Ada")])
    stranger = AsyncWeft(weft.database, weft.workspace, HashEmbedder(32))
    with pytest.raises(SpaceMismatch, match="testing/hash"):
        await stranger.add_documents([document("b", "Ida")])


async def test_verify_settles_what_waits(weft: AsyncWeft) -> None:
    await store(weft, document("a", "Ada"))
    assert (await weft.verify()).exact
    assert (await weft.status()).documents == 1
