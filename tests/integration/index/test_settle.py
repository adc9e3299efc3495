"""Settling: atomic for readers, several at once, and right in every race that can be staged.

The embedder is called between planning (without a lock) and writing (with one). What it does there is what another
process might have done just then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, ResolutionSettings
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.errors import DatabaseUnavailable, SpaceMismatch
from trueweave.extend import Database, Vectors, Workspace
from trueweave.graph.contribution import contribution
from trueweave.index import settle as view_settle
from trueweave.index.settle import settle
from trueweave.store.postgres.locks import lock_view
from trueweave.store.postgres.record import record
from trueweave.testing import Faults, HashEmbedder


def document(uri: str, *names: str, text: str = "some text", links: Sequence[Link] = ()) -> Document:
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names)), links=tuple(links)),))


async def store(trueweave: AsyncTrueweave, *documents: Document) -> None:
    await record.store(trueweave.workspace, [contribution(d) for d in documents])


@dataclass
class Meanwhile:
    """A hash embedder during whose first call something else happens."""

    happens: Callable[[], Awaitable[object]]
    model: str = "testing/hash"
    dimensions: int = 64
    metric: Metric = "cosine"
    calls: list[Sequence[str]] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.calls.append(texts)
        if len(self.calls) == 1:
            await self.happens()
        return await HashEmbedder(self.dimensions).embed(texts, role)


async def race(
    trueweave: AsyncTrueweave, first: Document | list[Document], meanwhile: Callable[[], Awaitable[object]]
) -> AsyncTrueweave:
    """Settle documents, and let something else happen between their plan and the lock."""
    slow = AsyncTrueweave(trueweave.workspace, Meanwhile(meanwhile))
    await store(slow, *([first] if isinstance(first, Document) else first))
    await slow.maintenance.settle()
    await trueweave.maintenance.settle()
    verdict = await trueweave.maintenance.verify()
    assert verdict.exact, verdict.differences
    return slow


async def names_of(trueweave: AsyncTrueweave) -> set[frozenset[str]]:
    return {frozenset((e.name, *e.aliases)) for e in await trueweave.graph.entities()}


async def settle_in_the_meantime(trueweave: AsyncTrueweave, *documents: Document) -> None:
    """What another process does that claims other documents than the slow one."""
    await store(trueweave, *documents)
    await trueweave.maintenance.settle()


async def test_two_new_names_that_are_alike_find_each_other(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy"))
    await race(
        trueweave,
        document("a", "Marten Aldous"),
        lambda: settle_in_the_meantime(trueweave, document("b", "Marten Aldouse")),
    )
    assert await names_of(trueweave) == {frozenset(("Marten Aldous", "Marten Aldouse"))}


async def test_a_merge_rule_laid_down_meanwhile_holds_for_a_live_name_and_a_new_one(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("b", "Paris")])
    rule = NameKey("Paris"), NameKey("Lutetia")
    await race(trueweave, document("a", "Lutetia"), lambda: trueweave.rules.merge(*rule))
    assert await names_of(trueweave) == {frozenset(("Paris", "Lutetia"))}


async def test_a_merge_rule_laid_down_meanwhile_holds_for_two_new_names(trueweave: AsyncTrueweave) -> None:
    rule = NameKey("Paris"), NameKey("Lutetia")
    await race(trueweave, [document("a", "Lutetia"), document("b", "Paris")], lambda: trueweave.rules.merge(*rule))
    assert await names_of(trueweave) == {frozenset(("Paris", "Lutetia"))}


async def test_a_rule_without_types_holds_for_a_name_that_another_process_brings_with_a_new_type(
    trueweave: AsyncTrueweave,
) -> None:
    await trueweave.rules.merge(NameKey("Paris"), NameKey("Lutetia"))
    typed = [Document(uri, (Chunk(uri, mentions=(Mention("Paris", type_),)),)) for uri, type_ in (("b", "place"),)]
    await race(
        trueweave,
        Document("a", (Chunk("a", mentions=(Mention("Lutetia", "town"),)),)),
        lambda: settle_in_the_meantime(trueweave, *typed),
    )
    assert await names_of(trueweave) == {frozenset(("Paris", "Lutetia"))}


async def test_a_change_of_settings_meanwhile_reaches_names_that_were_not_live_yet(trueweave: AsyncTrueweave) -> None:
    loose = ResolutionSettings("fuzzy", threshold=80)
    await trueweave.rules.change_resolution(ResolutionSettings("exact"))
    both = [document("a", "Martena Aldous"), document("b", "Marten Aldouse")]
    await race(trueweave, both, lambda: trueweave.rules.change_resolution(loose))
    assert await names_of(trueweave) == {frozenset(("Martena Aldous", "Marten Aldouse"))}


async def test_more_of_a_hub_meanwhile_is_added_up(trueweave: AsyncTrueweave) -> None:
    link = Link("Hub", "Spoke", "holds", strength=3)
    meanwhile = document("b", "Hub", links=[link, link])
    await race(trueweave, document("a", "Hub", links=[link]), lambda: settle_in_the_meantime(trueweave, meanwhile))
    [hub] = [e for e in await trueweave.graph.entities() if e.name == "Hub"]
    [relation] = await trueweave.graph.relations(hub.id)
    assert (hub.count, hub.degree, relation.weight, relation.count) == (2, 1, 9, 3)


async def test_a_cluster_that_falls_apart_meanwhile_stays_apart(trueweave: AsyncTrueweave) -> None:
    ends = ("Marten Aldous", "Martena Aldouses")
    bridge = "Martena Aldous"
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy", threshold=90))
    await trueweave.add_documents([document("x", ends[0]), document("y", ends[1]), document("z", bridge)])
    assert len(await trueweave.graph.entities()) == 1
    await race(trueweave, document("a", ends[0], "Elsewhere"), lambda: trueweave.remove(["z"]))
    assert frozenset((ends[1],)) in await names_of(trueweave)


async def test_texts_that_did_not_change_are_not_embedded_again(trueweave: AsyncTrueweave) -> None:
    async def settle_other() -> None:
        await settle_in_the_meantime(trueweave, document("b", "Hub", "Other"))

    slow = await race(trueweave, document("a", "Hub", "Spoke", text="a text"), settle_other)
    embedder = slow._core._embedder
    assert isinstance(embedder, Meanwhile)
    texts = [text for call in embedder.calls for text in call]
    assert sorted(texts) == sorted(set(texts)), "a new plan embeds only what the last one did not"


async def test_an_update_embeds_only_the_chunk_that_changed(trueweave: AsyncTrueweave) -> None:
    chunks = tuple(Chunk(f"chunk {n}", start=10 * n, mentions=(Mention("Ada"),)) for n in range(5))
    await trueweave.add_documents([Document("a", chunks)])
    watching = Meanwhile(lambda: asyncio.sleep(0))
    again = AsyncTrueweave(trueweave.workspace, watching)
    await again.add_documents(
        [Document("a", (*chunks[:4], Chunk("something else", start=40, mentions=(Mention("Ada"),))))]
    )
    assert watching.calls == [["something else"]]


async def test_readers_see_an_update_all_at_once(trueweave: AsyncTrueweave) -> None:
    """Until the new version is settled, everything is as the old one says; then everything is as the new one says."""
    await trueweave.add_documents([document("a", "Old name", text="old", links=[Link("Old name", "Thing")])])
    before = await trueweave.maintenance.digest()
    await store(trueweave, document("a", "New name", text="new", links=[Link("New name", "Thing")]))
    assert await trueweave.maintenance.digest() == before
    seen = set()
    settling = asyncio.create_task(settle(trueweave.workspace, HashEmbedder()))
    while not settling.done():
        seen.add(await trueweave.maintenance.digest())
        await asyncio.sleep(0)
    seen.add(await trueweave.maintenance.digest())
    assert len(seen) == 2
    assert before in seen


async def test_a_settler_waits_for_another_that_writes_and_for_no_reader(trueweave: AsyncTrueweave) -> None:
    async with trueweave.workspace.transaction() as writing:
        await lock_view(writing)
        waiting = asyncio.create_task(trueweave.add_documents([document("a", "Alpha")]))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done, "the view is locked"
        assert await trueweave.graph.entities() == [], "readers see the view as it was"
    await asyncio.wait_for(waiting, 10)
    assert {e.name for e in await trueweave.graph.entities()} == {"Alpha"}


async def test_many_settlers_on_the_same_names_end_without_a_deadlock(trueweave: AsyncTrueweave) -> None:
    names = [f"Name {chr(65 + n)}" for n in range(12)]
    batches = [[document(f"{w}/{n}", *names[n:], *names[:n]) for n in range(12)] for w in range(4)]
    settlers = [AsyncTrueweave(trueweave.workspace, HashEmbedder()) for _ in batches]
    await asyncio.wait_for(asyncio.gather(*(s.add_documents(b) for s, b in zip(settlers, batches, strict=True))), 60)
    assert (await trueweave.status()).documents == 48
    assert (await trueweave.maintenance.verify()).exact


async def test_many_documents_go_in_one_pass(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(document(f"{n}", f"Name {n % 7}") for n in range(300))
    assert await trueweave.remove([f"{n}" for n in range(0, 300, 2)]) == 150
    assert (await trueweave.status()).documents == 150
    assert (await trueweave.maintenance.verify()).exact


async def test_documents_that_come_while_a_settler_gathers_go_together_and_a_full_batch_is_not_waited_after(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_settle, "DOCUMENTS_AT_ONCE", 3)
    coming = [[document(f"{n}", f"Name {n}") for n in range(at, at + 2)] for at in (3, 5)]
    before: list[int] = []

    async def gather() -> None:
        before.append((await trueweave.status()).documents)
        for some in coming:
            await store(trueweave, *some)
        coming.clear()

    await store(trueweave, document("0", "Name 0"))
    settled = await settle(trueweave.workspace, HashEmbedder(), gather=gather)
    assert settled.documents == (await trueweave.status()).documents == 5
    assert before == [1, 5]  # the four that came were a full batch and one more


async def test_storing_the_same_again_changes_nothing(trueweave: AsyncTrueweave) -> None:
    assert await trueweave.add_documents([document("a", "Ada")]) == 1
    changes = await trueweave.graph.changes()
    assert await trueweave.add_documents([document("a", "Ada")]) == 0
    assert await trueweave.graph.changes() == changes


async def test_an_update_and_its_undoing_before_settling_is_nothing(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada")])
    changes = await trueweave.graph.changes()
    await store(trueweave, document("a", "Ida"))
    await store(trueweave, document("a", "Ada"))
    await trueweave.maintenance.settle()
    assert await trueweave.graph.changes() == changes


async def test_the_outbox_tells_what_changed(trueweave: AsyncTrueweave) -> None:
    start = (await trueweave.graph.changes())[-1].position  # the embedding space was told
    await trueweave.add_documents([document("a", "Ada", links=[Link("Ada", "London")])])
    position = (await trueweave.graph.changes())[-1].position
    assert {(c.kind, c.removed, len(c.ids)) for c in await trueweave.graph.changes(after=start)} == {
        ("document", False, 1), ("chunk", False, 1), ("entity", False, 2), ("relation", False, 1),
    }  # fmt: skip
    await trueweave.remove(["a"])
    assert {(c.kind, c.removed, len(c.ids)) for c in await trueweave.graph.changes(after=position)} == {
        ("document", True, 1), ("chunk", True, 1), ("entity", True, 2), ("relation", True, 1),
    }  # fmt: skip


async def test_the_outbox_waits_for_transactions_that_may_still_write_to_it(trueweave: AsyncTrueweave) -> None:
    async with trueweave.workspace.transaction() as unfinished:
        start = len(await trueweave.graph.changes())
        await unfinished.execute("INSERT INTO outbox (kind, removed, ids) VALUES ('entity', false, '{}')")
        await trueweave.add_documents([document("a", "Ada")])
        assert len(await trueweave.graph.changes()) == start, "an earlier position may still appear"
    assert len(await trueweave.graph.changes()) == start + 4


async def test_a_workspace_with_vectors_is_not_settled_without_its_model(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada")])
    stranger = AsyncTrueweave(trueweave.workspace, HashEmbedder(32))
    with pytest.raises(SpaceMismatch, match="testing/hash"):
        await stranger.add_documents([document("b", "Ida")])


async def test_a_document_that_was_settled_is_free_for_its_next_version_whatever_breaks_after(
    url: str, trueweave: AsyncTrueweave, full: bool
) -> None:
    faults = Faults()
    async with Database(url, connection_class=faults.connection_class()) as broken:
        settler = AsyncTrueweave(Workspace(broken, trueweave.workspace.id), HashEmbedder())
        await store(trueweave, document("a", "Ada"))
        faults.break_at(None)
        await settler.maintenance.settle()
        # The write is in the last third of all statements, and what comes after it behind.
        chances = range(faults.chances)
        for chance in chances if full else chances[2 * len(chances) // 3 :: 3]:
            await store(trueweave, document("a", f"Ada{chance}"))
            faults.break_at(chance)
            with suppress(DatabaseUnavailable):
                await settler.maintenance.settle()
            faults.break_at(None)
            await trueweave.maintenance.settle()
            assert (await trueweave.status()).waiting_documents == 0, f"a lease was left behind at chance {chance}"


async def test_who_is_to_stop_settles_the_batch_that_is_begun_and_no_other(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_settle, "DOCUMENTS_AT_ONCE", 2)
    some = [Document(f"doc/{n}", (Chunk(f"text {n}"),)) for n in range(5)]
    await record.store(trueweave.workspace, [contribution(one) for one in some])
    asked = iter([False, True])
    settled = await settle(trueweave.workspace, HashEmbedder(), is_stopping=lambda: next(asked, True))
    assert settled.documents == 2
    assert (await settle(trueweave.workspace, HashEmbedder())).documents == 3
