"""What a rule would change, and decisions on suggested names while others decide as well."""

import asyncio
from uuid import uuid4

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.errors import RuleError
from trueweave.store.postgres.locks import lock_view
from trueweave.testing.tables import rows

ADA, AUGUSTA, BYRON, LONDON = NameKey("Ada"), NameKey("Augusta"), NameKey("Byron"), NameKey("London")
TEXTS = [
    Document("1", (Chunk("Ada, Byron, London.", links=(Link("Ada", "Byron", "daughter"), Link("Ada", "London"))),)),
    Document("2", (Chunk("Augusta knew Byron.", links=(Link("Augusta", "Byron"), Link("Augusta", "Ada"))),)),
    Document("3", (Chunk("Ada.", mentions=(Mention("Ada", description="a countess"),)),)),
]


@pytest.fixture
async def family(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents(TEXTS)
    return trueweave


async def test_a_preview_is_what_the_rule_changes_and_changes_nothing(family: AsyncTrueweave, url: str) -> None:
    kinds = {
        "merge": ((ADA, AUGUSTA), "", None),
        "split": ((ADA,), "", None),
        "rename": ((ADA,), "Ada King", None),
        "retype": ((LONDON,), "city", None),
        "describe": ((BYRON,), "A poet.", None),
        "suppress": ((BYRON,), "", None),
        "suppress a relation": ((ADA,), "", BYRON),
        "retype a relation": ((ADA,), "kin", BYRON),
        "describe a relation": ((ADA,), "his daughter", BYRON),
    }
    for what, (names, label, target) in kinds.items():
        kind: object = what.split()[0]
        stored = rows(url)
        previewed = await family.rules.preview(kind, *names, label=label, target=target)  # type: ignore[arg-type]
        assert rows(url) == stored, what
        entities = {one.id: one for one in await family.graph.entities()}
        relations = {one.id: one for one in await family.graph.relations()}
        make = getattr(family.rules, str(kind))
        rule = await make(*names, *([label] if label else []), **({"target": target} if target else {}))
        after = {one.id: one for one in await family.graph.entities()}
        related = {one.id: one for one in await family.graph.relations()}
        changed = {id_ for id_ in {**entities, **after} if entities.get(id_) != after.get(id_)}
        listed = {(one.before or one.after).id for one in previewed.entities}  # type: ignore[union-attr]
        assert listed <= changed, what
        assert previewed.entities_changed + previewed.neighbours_changed == len(changed), what
        for entity in previewed.entities:
            assert entity.after is None or after[entity.after.id] == entity.after, what
        changed_relations = {id_ for id_ in {**relations, **related} if relations.get(id_) != related.get(id_)}
        assert {(one.before or one.after).id for one in previewed.relations} == changed_relations, what  # type: ignore[union-attr]
        for relation in previewed.relations:
            assert relation.after is None or related[relation.after.id] == relation.after, what
        assert changed or changed_relations or kind == "split", what
        await family.rules.undo(rule.id)


async def test_a_preview_of_a_merge_lists_both_entities(family: AsyncTrueweave) -> None:
    found = await family.rules.preview("merge", ADA, AUGUSTA)
    assert [(one.before and one.before.name, one.after and one.after.count) for one in found.entities] == [
        ("Ada", 4),
        ("Augusta", None),
    ]
    assert (found.entities_changed, found.neighbours_changed, len(found.relations)) == (2, 1, found.relations_changed)
    some = await family.rules.preview("merge", ADA, AUGUSTA, limit=1)
    assert (len(some.entities), len(some.relations), some.entities_changed) == (1, 1, 2)


async def test_a_preview_leaves_out_what_waits_for_other_reasons(family: AsyncTrueweave) -> None:
    async with family.workspace.transaction() as tx:
        await tx.execute("INSERT INTO rule (id, kind, label) VALUES (gen_random_uuid(), 'rename', 'Rome')")
        await tx.execute("INSERT INTO dirty_name (name) SELECT id FROM name WHERE written = 'London'")
    found = await family.rules.preview("rename", BYRON, label="Lord Byron")
    assert [one.after and one.after.name for one in found.entities] == ["Lord Byron"]


async def test_rules_that_cannot_be_made_have_no_preview(family: AsyncTrueweave) -> None:
    with pytest.raises(RuleError, match="takes 2 to 100 names"):
        await family.rules.preview("merge", ADA)
    with pytest.raises(RuleError, match="nothing to preview"):
        await family.rules.preview("add", ADA)
    nothing = await family.rules.preview("rename", NameKey("Nobody"), label="x")
    assert (nothing.entities_changed, nothing.relations_changed) == (0, 0)


async def test_two_who_decide_at_once_are_not_both_right(family: AsyncTrueweave) -> None:
    async with family.workspace.transaction() as tx:
        await lock_view(tx)  # both wait here
        deciding = [
            asyncio.create_task(family.rules.decide(ADA, AUGUSTA, same=True, by="one")),
            asyncio.create_task(family.rules.decide(AUGUSTA, ADA, same=True, by="two")),
            asyncio.create_task(family.rules.decide(ADA, AUGUSTA, same=False, by="three")),
        ]
        while len(await waiting(family)) < len(deciding):  # noqa: ASYNC110 (the state of the database)
            await asyncio.sleep(0.01)
    decided = await asyncio.gather(*deciding, return_exceptions=True)
    refused = [one for one in decided if isinstance(one, RuleError)]
    assert len(refused) == 2
    reasons = "one entity already: (one|two) merged them|somebody has already decided that .* are not the same"
    for error in refused:
        with pytest.raises(RuleError, match=reasons):
            raise error
    assert len(await family.rules.all()) == (0 if decided[2] is None else 1)


async def waiting(trueweave: AsyncTrueweave) -> list[object]:
    """Who waits for the lock of the view."""
    async with trueweave.workspace.transaction() as tx:
        cursor = await tx.execute("SELECT pid FROM pg_locks WHERE NOT granted")
        return list(await cursor.fetchall())


async def test_a_name_that_vanished_is_not_decided_on(family: AsyncTrueweave) -> None:
    await family.remove(["2"])
    for same in (True, False):
        with pytest.raises(RuleError, match="no document mentions Augusta any more"):
            await family.rules.decide(ADA, AUGUSTA, same=same)
    assert await family.rules.all() == []


async def test_a_decision_is_undone(family: AsyncTrueweave) -> None:
    rule = await family.rules.decide(ADA, AUGUSTA, same=True, by="me", id=uuid4())
    assert rule is not None
    assert [one.by for one in await family.rules.all()] == ["me"]
    assert (await family.graph.entity("Ada")).entity == (await family.graph.entity("Augusta")).entity
    await family.rules.undo(rule.id)
    assert await family.rules.decide(ADA, AUGUSTA, same=False) is None
    assert await family.rules.suggest_again(AUGUSTA, ADA)
    assert not await family.rules.suggest_again(AUGUSTA, ADA)
    assert await family.rules.decide(ADA, AUGUSTA, same=True) is not None


async def test_suggestions_are_listed_page_by_page_and_by_type(trueweave: AsyncTrueweave) -> None:
    from trueweave.store.postgres.record import suggestions

    pairs = [("Annabella", "Annabela", "person"), ("Byronn", "Byronnn", "person"), ("Londinium", "Londinum", "place")]
    mentions = tuple(Mention(name, type_) for one, other, type_ in pairs for name in (one, other))
    await trueweave.add_documents([Document("d", (Chunk("Names.", mentions=mentions),))])
    every = await trueweave.rules.suggestions(80)
    assert len(every) == 3
    found, after = [], None
    while page := (await suggestions.suggest(trueweave.workspace, 80, 1, after=after)).items:
        [(after, one)] = page
        found.append(one)
    assert found == every
    assert [one.number for one in found] == [1, 2, 3]
    places = await suggestions.suggest(trueweave.workspace, 80, 10, type_="Place")
    assert ([one.one.name.type for _, one in places.items], places.total) == (["place"], 1)
