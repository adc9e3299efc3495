"""Which names are one entity: by their normal form, by rules of people, and by suggestions that somebody accepted."""

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Mention, NameKey, ResolutionSettings, Settings
from trueweave.errors import RuleError
from trueweave.extend import Database

DIFFERENT = (
    ("Paul Muller", "Paula Muller"),
    ("Prednisone", "Prednisolone"),
    ("Sodium Nitrate", "Sodium Nitrite"),
    ("Christian Berg", "Christina Berg"),
    ("Mr. Fezziwig", "Mrs. Fezziwig"),
)


async def add(trueweave: AsyncTrueweave, *names: str | NameKey) -> None:
    """A document for each of these names."""
    await trueweave.add_documents(document(name) for name in names)


def document(name: str | NameKey) -> Document:
    key = NameKey(name) if isinstance(name, str) else name
    text = f"A long day it was, and {key.name} was seen again."
    return Document(
        f"{key.name} {key.type}", (Chunk(text, mentions=(Mention(key.name, key.type, spans=((23, 24),)),)),)
    )


async def groups(trueweave: AsyncTrueweave) -> set[frozenset[str]]:
    return {frozenset((e.name, *e.aliases)) for e in await trueweave.graph.entities()}


async def assert_exact(trueweave: AsyncTrueweave) -> None:
    verdict = await trueweave.maintenance.verify()
    assert verdict.exact, verdict.differences


async def test_names_that_look_alike_stay_apart_by_default(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *(name for pair in DIFFERENT for name in pair))
    assert await groups(trueweave) == {frozenset((name,)) for pair in DIFFERENT for name in pair}


async def test_spellings_of_one_name_are_one_by_default(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, "Acme Inc.", "ACME, Inc", "Acme", "Coca-Cola", "Coca Cola", "Zürich", "ZURICH")
    assert await groups(trueweave) == {
        frozenset(("Acme Inc.", "ACME, Inc", "Acme")),
        frozenset(("Coca-Cola", "Coca Cola")),
        frozenset(("Zürich", "ZURICH")),
    }


async def test_fuzzy_takes_alike_names_for_one_as_before(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy"))
    await add(trueweave, *(name for pair in DIFFERENT[:3] for name in pair), "Acme Inc.", "Acme")
    assert await groups(trueweave) == {*map(frozenset, DIFFERENT[:3]), frozenset(("Acme Inc.",)), frozenset(("Acme",))}
    await assert_exact(trueweave)


@pytest.mark.parametrize("mode", ["exact", "fuzzy", "off"])
async def test_a_new_workspace_resolves_names_as_the_settings_say(database: Database, mode: str) -> None:
    settings = Settings.model_validate({"resolution": mode})
    made = await AsyncTrueweave.enter(database, "new", settings=settings)
    assert (await made.rules.resolution()).mode == mode
    again = await AsyncTrueweave.enter(database, "new", settings=Settings(resolution="exact"))
    assert (await again.rules.resolution()).mode == mode, "a workspace that is there stays as it is"


# --- rules that give no type --------------------------------------------------------------------------


async def test_a_bare_name_means_every_entity_of_that_name_now_and_later(trueweave: AsyncTrueweave) -> None:
    ada, countess = "Ada Lovelace", "Countess of Lovelace"
    await add(trueweave, NameKey(ada, "person"), NameKey(countess, "title"), NameKey("Babbage", "person"))
    rule = await trueweave.rules.merge(NameKey(ada), NameKey(countess))
    assert await groups(trueweave) == {frozenset((ada, countess)), frozenset(("Babbage",))}
    await add(trueweave, NameKey(countess, "person"), NameKey(ada, "mathematician"), NameKey(ada))
    assert len(await trueweave.graph.entities()) == 2
    await assert_exact(trueweave)
    await trueweave.rules.undo(rule.id)
    assert len(await trueweave.graph.entities()) == 6, "each name and type is an entity of its own again"
    await assert_exact(trueweave)


async def test_a_name_with_a_type_means_that_one_alone(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, NameKey("Mercury", "planet"), NameKey("Mercury", "element"), NameKey("Quicksilver", "element"))
    await trueweave.rules.merge(NameKey("Mercury", "element"), NameKey("Quicksilver", "element"))
    assert await groups(trueweave) == {frozenset(("Mercury",)), frozenset(("Mercury", "Quicksilver"))}


async def test_split_and_rename_take_bare_names_too(trueweave: AsyncTrueweave) -> None:
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy", same="name"))
    await add(
        trueweave, NameKey("Paul Muller", "person"), NameKey("Paul Muller", "author"), NameKey("Paula Muller", "author")
    )
    assert len(await trueweave.graph.entities()) == 1
    await trueweave.rules.split(NameKey("Paul Muller"))
    await trueweave.rules.rename(NameKey("Paul Muller"), "P. Muller")
    assert {e.name for e in await trueweave.graph.entities()} == {"P. Muller", "Paula Muller"}
    await assert_exact(trueweave)


async def test_it_is_told_which_names_documents_mention(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, NameKey("Ada", "person"), NameKey("Ada", "language"))
    ada, person, nobody = NameKey("Ada"), NameKey("Ada", "person"), NameKey("Nobody")
    found = await trueweave.rules.mentioned([ada, person, nobody])
    assert found == {ada: (NameKey("Ada", "language"), person), person: (person,), nobody: ()}


# --- suggestions --------------------------------------------------------------------------------------


async def suggested(trueweave: AsyncTrueweave, *, rejected: bool = False) -> list[frozenset[str]]:
    found = await trueweave.rules.suggestions(rejected=rejected)
    return [frozenset((one.one.name.name, one.other.name.name)) for one in found]


async def test_fuzzy_pairs_are_suggested_with_evidence_of_both_sides(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, NameKey("Paul Muller", "p"), NameKey("Paula Muller", "p"), NameKey("Paula Müller", "x"))
    [found] = await trueweave.rules.suggestions()
    assert {found.one.name, found.other.name} == {NameKey("Paul Muller", "p"), NameKey("Paula Muller", "p")}
    assert found.score == 95.7
    for side in (found.one, found.other):
        assert side.mentions == 1
        [passage] = side.passages
        assert passage.uri == f"{side.name.name} p"
        assert f"{side.name.name} was seen" in passage.text


async def test_an_accepted_pair_is_a_merge_rule_that_can_be_undone(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *DIFFERENT[0])
    [found] = await trueweave.rules.suggestions()
    [rule] = await trueweave.rules.accept(found.id)
    assert rule in await trueweave.rules.all()
    assert await groups(trueweave) == {frozenset(DIFFERENT[0])}
    assert await suggested(trueweave) == []
    await assert_exact(trueweave)
    await trueweave.rules.undo(rule.id)
    assert len(await trueweave.graph.entities()) == 2
    assert await suggested(trueweave) == [frozenset(DIFFERENT[0])]


async def test_a_rejected_pair_is_not_suggested_again_however_it_is_written(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *DIFFERENT[0], *DIFFERENT[1])
    await trueweave.rules.suggestions()
    [rejected] = await trueweave.rules.reject(1)
    left = next(pair for pair in DIFFERENT[:2] if {name.name for name in rejected} != set(pair))
    assert await suggested(trueweave) == [frozenset(left)]
    await add(trueweave, *(name.name.upper() for name in rejected), *(f"{name.name}." for name in rejected))
    assert await suggested(trueweave) == [frozenset(left)]
    assert len(await suggested(trueweave, rejected=True)) == 1
    await trueweave.rules.accept(1)
    assert await suggested(trueweave, rejected=True) == []


async def test_a_pair_that_a_rule_splits_is_not_suggested(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *DIFFERENT[0])
    await trueweave.rules.split(NameKey("Paula Muller"))
    assert await suggested(trueweave) == []


async def test_all_pairs_above_a_threshold_are_accepted_at_once(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *DIFFERENT[0], "Sodium Nitrate", "Sodium Nitrite")
    rules = await trueweave.rules.accept_above(94)
    assert [frozenset(name.name for name in rule.names) for rule in rules] == [frozenset(DIFFERENT[0])]
    assert len(await trueweave.graph.entities()) == 3
    await assert_exact(trueweave)


async def test_of_two_entities_with_many_spellings_the_most_alike_pair_is_suggested(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, "Marten Aldous", "MARTEN ALDOUS", "Marten-Aldous", "Marten Aldouse", "Marten Aldouse Inc.")
    [found] = await trueweave.rules.suggestions()
    assert found.score > 96


@pytest.mark.parametrize("which", ["1", "abc", ""])
async def test_a_suggestion_that_is_not_in_the_last_list_is_an_error(trueweave: AsyncTrueweave, which: str) -> None:
    with pytest.raises(RuleError, match="there is no suggestion"):
        await trueweave.rules.accept(which)


async def test_a_suggestion_whose_names_are_gone_is_an_error(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, *DIFFERENT[0])
    await trueweave.rules.suggestions()
    await trueweave.remove(["Paul Muller "])
    with pytest.raises(RuleError, match="no document mentions both names any more"):
        await trueweave.rules.accept(1)
