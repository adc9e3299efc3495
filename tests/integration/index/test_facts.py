"""People correct facts: rules that retype, describe, suppress and add entities and relations."""

from collections.abc import AsyncIterator

import pytest

from tests.oracle import assert_view_is_right
from trueweave import AsyncTrueweave, Chunk, Document, Entity, Filter, Link, Mention, NameKey, Relation, Settings
from trueweave.errors import RuleError, UnknownEntity
from trueweave.methods import Global, Local, Subgraph
from trueweave.testing import HashEmbedder

ADA, BABBAGE, BYRON = NameKey("Ada Lovelace"), NameKey("Charles Babbage"), NameKey("Lord Byron")


def document(uri: str, *links: Link, year: int = 1843) -> Document:
    mentions = tuple(
        Mention(name, "person", f"{name} of {uri}") for link in links for name in (link.source, link.target)
    )
    text = " ".join(f"{link.source} {link.description} {link.target}." for link in links)
    return Document(uri, (Chunk(text, mentions=mentions, links=links),), metadata={"year": year})


LETTERS = Link("Ada Lovelace", "Charles Babbage", "wrote to", ("correspondence",))
FATHER = Link("Lord Byron", "Ada Lovelace", "was the father of", ("family",))


@pytest.fixture
async def trueweave(url: str) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(extractor="capitals", embedding_model=None)
    async with AsyncTrueweave.open(url, "facts", HashEmbedder(16), settings=settings, make=True) as opened:
        await opened.add_documents([document("a", LETTERS), document("b", FATHER, LETTERS)])
        yield opened


async def entities(trueweave: AsyncTrueweave) -> dict[str, Entity]:
    return {one.name: one for one in await trueweave.graph.entities()}


async def relations(trueweave: AsyncTrueweave) -> dict[tuple[str, str], Relation]:
    ids = [one.id for one in await trueweave.graph.entities()]
    return {(one.source_name, one.target_name): one for one in await trueweave.graph.relations(*ids)}


async def test_a_suppressed_entity_is_in_no_evidence_and_comes_back_as_it_was(trueweave: AsyncTrueweave) -> None:
    before = await trueweave.maintenance.digest()
    rule = await trueweave.rules.suppress(ADA, by="Grace")
    assert set(await entities(trueweave)) == {"Charles Babbage", "Lord Byron"}
    assert not await relations(trueweave)
    assert all(one.degree == 0 for one in (await entities(trueweave)).values())
    for method in (Local(), Global(), Subgraph()):
        for filter_ in (Filter(), Filter(metadata={"year": 1843})):
            found = await trueweave.retrieve("Who wrote to Charles Babbage?", method, filter=filter_)
            assert "Ada Lovelace" not in {one.name for one in found.entities}
            assert not found.relations
    for sought in ("Ada Lovelace", "Ada Lovelac", "Lovelace"):
        with pytest.raises(UnknownEntity) as raised:
            await trueweave.graph.entity(sought)
        assert not any(ADA.name in near for near in raised.value.near), "nor is it suggested"
        found_names = {one.item.name for one in (await trueweave.graph.search_entities(sought)).items}
        assert ADA.name not in found_names
    await trueweave.add_documents([document("c", LETTERS)])
    assert "Ada Lovelace" not in await entities(trueweave), "rules hold for documents that come later"
    assert (await trueweave.maintenance.verify()).exact
    await assert_view_is_right(trueweave)
    await trueweave.remove(["c"])
    await trueweave.rules.undo(rule.id)
    assert await trueweave.maintenance.digest() == before
    assert (await entities(trueweave))["Ada Lovelace"].degree == 2


async def test_a_suppressed_relation_is_gone_and_its_ends_stay(trueweave: AsyncTrueweave) -> None:
    rule = await trueweave.rules.suppress(ADA, target=BABBAGE)
    assert set(await relations(trueweave)) == {("Lord Byron", "Ada Lovelace")}
    assert (await entities(trueweave))["Ada Lovelace"].degree == 1
    assert (await trueweave.maintenance.verify()).exact
    await trueweave.rules.undo(rule.id)
    assert len(await relations(trueweave)) == 2


async def test_a_rule_is_about_the_entities_that_have_its_names(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.merge(ADA, NameKey("Countess of Lovelace"))
    alias = Link("Countess of Lovelace", "Charles Babbage", "met", ("society",))
    await trueweave.add_documents([document("c", alias)])
    hidden = await trueweave.rules.suppress(NameKey("Countess of Lovelace"), target=BABBAGE)
    assert ("Ada Lovelace", "Charles Babbage") not in await relations(trueweave)
    await trueweave.rules.split(NameKey("Countess of Lovelace"))  # another entity now: only its own relation is hidden
    assert set(await relations(trueweave)) == {("Ada Lovelace", "Charles Babbage"), ("Lord Byron", "Ada Lovelace")}
    await assert_view_is_right(trueweave)
    await trueweave.rules.undo(hidden.id)
    assert len(await relations(trueweave)) == 3


async def test_types_and_descriptions_of_people_outweigh_those_of_documents(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.retype(ADA, "mathematician")
    await trueweave.rules.describe(ADA, "Wrote the first program.\nFor no machine.")
    await trueweave.rules.retype(ADA, "colleague", target=BABBAGE)
    await trueweave.rules.describe(ADA, "Translated Menabrea for him.", target=BABBAGE)
    ada, letters = (await entities(trueweave))["Ada Lovelace"], (await relations(trueweave))[ADA.name, BABBAGE.name]
    assert (ada.type, ada.description) == ("mathematician", "Wrote the first program.\nFor no machine.")
    assert (letters.type, letters.description) == ("colleague", "Translated Menabrea for him.")
    assert (await trueweave.maintenance.verify()).exact
    hits = await trueweave.graph.search_entities("Wrote the first program. For no machine.", limit=3)
    assert hits.items[0].item.name == "Ada Lovelace", "it is found by what it is described as"


async def test_what_a_person_adds_is_stated_in_a_document_that_can_be_cited(trueweave: AsyncTrueweave) -> None:
    fact = Link("Charles Babbage", "Lord Byron", "never met him", ("acquaintance",))
    rule = await trueweave.rules.add(fact, by="Grace")
    assert (await relations(trueweave))["Charles Babbage", "Lord Byron"].type == "acquaintance"
    [listed] = await trueweave.rules.all()
    assert (listed.id, listed.kind, listed.by) == (rule.id, "add", "Grace")
    assert listed.made
    found = await trueweave.retrieve("Did Charles Babbage meet Lord Byron?", "keyword")
    assert any(passage.uri == f"fact:{rule.id}" for passage in found.passages)
    assert (await trueweave.maintenance.verify()).exact
    await trueweave.rules.undo(rule.id)
    assert ("Charles Babbage", "Lord Byron") not in await relations(trueweave)


async def test_rules_say_who_made_them_and_when(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.suppress(BYRON, by="Grace")
    [rule] = await trueweave.rules.all()
    assert (rule.by, rule.names, rule.target) == ("Grace", (BYRON,), None)
    assert rule.made


async def test_a_rule_that_says_nothing_is_refused(trueweave: AsyncTrueweave) -> None:
    with pytest.raises(RuleError, match="takes one name of the entity, and its type"):
        await trueweave.rules.retype(ADA, " ")
    with pytest.raises(RuleError, match="has no relation to itself"):
        await trueweave.rules.suppress(ADA, target=ADA)
