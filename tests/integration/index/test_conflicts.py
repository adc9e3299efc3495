"""Conflicts: what counts as one, on which side it is, what dates tell, and that they follow the documents."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from tests.conflicts import FUNCTIONAL, conflicts
from tests.integration.rights.test_lookups_under_filters import GROUPS, corpus, decide, document, rules
from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link, Mention, NameKey, Settings
from trueweave.core.conflicts import newest
from trueweave.core.functional import Uniqueness
from trueweave.core.record import Json
from trueweave.extend import Database
from trueweave.store.postgres.record import resolution
from trueweave.types import Conflict

KINDS: dict[str, Uniqueness] = {
    "born in": "one target",
    "works for": "one target at a time",
    "chief executive of": "one source at a time",
}


DATES: tuple[dict[str, Json], ...] = ({}, {"date": "2023"}, {"date": "2024-05"})


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(functional_relations=KINDS, embedding_model=None)
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as opened:
        yield opened


def says(uri: str, *triples: tuple[str, str, str], date: str = "", **more: Any) -> Document:
    chunks = tuple(
        Chunk(
            f"{source} {what} {target}.",
            mentions=(Mention(source), Mention(target)),
            links=(Link(source, target, f"it says so in {uri}", (what,)),),
        )
        for source, what, target in triples
    )
    return Document(uri, chunks, metadata={"date": date} if date else {}, **more)


def shape(found: Sequence[Conflict]) -> list[Any]:
    """The subject, the relation, the status and the values, each with its documents."""
    return [(one.name, one.relation, one.status, _sides(one)) for one in found]


def _sides(found: Conflict) -> list[Any]:
    return [(side.name, [said.uri for said in side.statements]) for side in found.sides]


async def test_two_values_of_what_has_one_are_a_conflict_with_its_statements(index: AsyncTrueweave) -> None:
    await index.add_documents(
        [
            says("a", ("Ada", "born in", "London"), date="1843"),
            says("b", ("Ada", "Born in", "Paris"), ("Ada", "met", "Byron"), ("Ada", "met", "Babbage")),
            says("c", ("Byron", "born in", "London"), ("Ada", "born in", "London")),
        ]
    )
    [found] = await index.graph.conflicts()
    assert shape([found]) == [("Ada", "born in", "contradiction", [("London", ["a", "c"]), ("Paris", ["b"])])]
    assert (found.uniqueness, found.values) == ("one target", 2)
    assert [(one.documents, one.date) for one in found.sides] == [(2, "1843"), (1, "")]
    assert found.subject == (await index.graph.entity("Ada")).entity.id
    [said, _] = found.sides[0].statements
    assert (said.text, said.source, said.target, said.date) == ("Ada born in London.", "Ada", "London", "1843")
    [passage] = await index.passages(said.chunk)
    assert (passage.uri, passage.date) == ("a", "1843")


async def test_the_end_that_is_unique_decides_whose_conflict_it_is(index: AsyncTrueweave) -> None:
    await index.add_documents(
        [
            says("a", ("Ada", "chief executive of", "Acme"), ("Ada", "works for", "Acme")),
            says("b", ("Bob", "chief executive of", "Acme"), ("Bob", "works for", "Acme")),
            says("c", ("Ada", "chief executive of", "Other"), ("Ada", "works for", "Other")),
        ]
    )
    assert shape(await index.graph.conflicts()) == [
        ("Acme", "chief executive of", "contradiction", [("Ada", ["a"]), ("Bob", ["b"])]),
        ("Ada", "works for", "contradiction", [("Acme", ["a"]), ("Other", ["c"])]),
    ]


@pytest.mark.parametrize(
    ("first", "second", "always", "for_now", "latest"),
    [
        ("2023", "2024-05-01", "contradiction", "may have changed", "Rome"),
        ("2024-05-01", "2023", "contradiction", "may have changed", "Oslo"),
        ("2024-05-01", "2024-05-01", "contradiction", "contradiction", None),
        ("2024", "2024-05-01", "contradiction", "contradiction", None),  # some time in that year
        ("2024-05-01", "2024-05-01T12:00:00Z", "contradiction", "contradiction", None),
        ("2024-05-01T23:30:00-02:00", "2024-05-02T01:00:00Z", "contradiction", "may have changed", "Oslo"),
        ("2024", "", "contradiction", "contradiction", "Oslo"),
        ("", "", "contradiction", "contradiction", None),
        ("yesterday", "2024", "contradiction", "contradiction", "Rome"),
    ],
)
async def test_what_may_change_contradicts_itself_unless_all_dates_tell_it_apart(
    index: AsyncTrueweave, first: str, second: str, always: str, for_now: str, latest: str | None
) -> None:
    await index.add_documents(
        [
            says("a", ("Ada", "born in", "Oslo"), ("Ada", "works for", "Oslo"), date=first),
            says("b", ("Ada", "born in", "Rome"), ("Ada", "works for", "Rome"), date=second),
        ]
    )
    born, works = await index.graph.conflicts()
    assert (born.status, works.status) == (always, for_now)
    for one in (born, works):
        assert next((side.name for side in one.sides if side.entity == one.newest), None) == latest
        assert latest in (None, one.sides[0].name)


async def test_the_latest_document_of_each_value_counts_and_all_values_are_compared(index: AsyncTrueweave) -> None:
    await index.add_documents(
        [
            says("a", ("Ada", "works for", "Acme"), date="2020"),
            says("b", ("Ada", "works for", "Other"), date="2022"),
            says("c", ("Ada", "works for", "Acme"), date="2024"),
            says("d", ("Ada", "works for", "Third"), date="2021"),
        ]
    )
    [found] = await index.graph.conflicts(statements=1)
    assert shape([found]) == [
        ("Ada", "works for", "may have changed", [("Acme", ["c"]), ("Other", ["b"]), ("Third", ["d"])])
    ]
    assert [one.documents for one in found.sides] == [2, 1, 1]
    await index.add_documents([says("e", ("Ada", "works for", "Fourth"))])
    [found] = await index.graph.conflicts()
    assert (found.status, found.newest) == ("contradiction", found.sides[0].entity)
    assert found.sides[-1].name == "Fourth", "what has no date comes last"


async def test_triples_state_their_predicate(index: AsyncTrueweave) -> None:
    def triple(uri: str, place: str) -> Document:
        return Document(uri, (Chunk("Ada.", links=(Link("Ada", place, "Born in"),)),))

    await index.add_documents([triple("a", "London"), triple("b", "Paris")])
    assert [one.name for one in await index.graph.conflicts()] == ["Ada"]


async def test_names_of_one_entity_are_one_value_and_one_subject(index: AsyncTrueweave) -> None:
    await index.add_documents([says("a", ("Ada", "born in", "Oslo")), says("b", ("Lovelace", "born in", "Kristiania"))])
    assert await index.graph.conflicts() == []
    merged = await index.rules.merge(NameKey("Ada"), NameKey("Lovelace"))
    assert [one.values for one in await index.graph.conflicts()] == [2]
    same = await index.rules.merge(NameKey("Oslo"), NameKey("Kristiania"))
    assert await index.graph.conflicts() == []
    await index.rules.undo(same.id)
    assert len(await index.graph.conflicts()) == 1
    await index.rules.undo(merged.id)
    assert await index.graph.conflicts() == []


async def test_a_suppressed_relation_is_no_side_of_a_conflict(index: AsyncTrueweave) -> None:
    await index.add_documents([says("a", ("Ada", "born in", "Oslo")), says("b", ("Ada", "born in", "Rome"))])
    suppressed = await index.rules.suppress(NameKey("Ada"), target=NameKey("Rome"))
    for filter in (None, Filter(prefix="a") | Filter(prefix="b")):
        assert await index.graph.conflicts(filter=filter) == []
    await index.rules.undo(suppressed.id)
    assert len(await index.graph.conflicts()) == 1


async def test_a_conflict_goes_and_comes_back_with_its_documents(index: AsyncTrueweave) -> None:
    one, other = says("a", ("Ada", "born in", "Oslo")), says("b", ("Ada", "born in", "Rome"))
    await index.add_documents([one, other])
    [before] = await conflicts(index)
    await index.switch_off(["b"])
    assert await conflicts(index) == []
    await index.switch_on(["b"])
    assert await conflicts(index) == [before]
    await index.add_documents([says("b", ("Ada", "born in", "Oslo"))])
    assert await conflicts(index) == []
    await index.add_documents([other])
    assert await conflicts(index) == [before]
    await index.remove(["a"])
    assert await conflicts(index) == []


async def test_a_setting_applies_to_what_was_extracted_before(index: AsyncTrueweave) -> None:
    await index.add_documents([says("a", ("Ada", "met", "Byron")), says("b", ("Ada", "met", "Babbage"))])
    assert await index.graph.conflicts() == []
    given = Settings(functional_relations={"met": "one target"}, embedding_model=None)
    async with aclosing(await AsyncTrueweave.enter(index.database, "test", settings=given)) as changed:
        assert [one.name for one in await changed.graph.conflicts()] == ["Ada"]
    none = Settings(embedding_model=None)
    async with aclosing(await AsyncTrueweave.enter(index.database, "test", settings=none)) as unset:
        assert await unset.graph.conflicts() == []


async def test_a_limit_keeps_the_first_names(index: AsyncTrueweave) -> None:
    names = ["Cleo", "Ada", "Bob"]
    await index.add_documents(
        [says(f"{name}{place}", (name, "born in", place)) for name in names for place in ("Oslo", "Rome")]
    )
    assert [one.name for one in await index.graph.conflicts(2)] == ["Ada", "Bob"]
    assert [one.name for one in await index.graph.conflicts(2, filter=~Filter(prefix="Ada"))] == ["Bob", "Cleo"]


@pytest.mark.parametrize("seed", range(6))
async def test_after_any_history_there_are_the_conflicts_of_a_fresh_build(database: Database, seed: int) -> None:
    """Whether they are computed from the view, or from the documents that pass a filter."""
    chance = random.Random(seed)
    settings = Settings(functional_relations=FUNCTIONAL, embedding_model=None)
    async with aclosing(await AsyncTrueweave.enter(database, "lived", settings=settings)) as lived:
        for _ in range(12):
            await _step(lived, chance)
        survivors = [one async for one in lived.documents()]
        chance.shuffle(survivors)
        async with aclosing(await AsyncTrueweave.enter(database, "fresh", settings=settings)) as fresh:
            for rule in await lived.rules.all():
                await resolution.add_rule(fresh.workspace, rule)
            for one in survivors:
                await fresh.add_documents([one])
            expected = await conflicts(fresh)
            assert expected, "the histories are to have conflicts"
            assert await conflicts(lived) == expected
            everything = ~Filter(prefix="no document has this")
            assert await conflicts(lived, filter=everything) == await conflicts(fresh, filter=everything) == expected


async def _step(index: AsyncTrueweave, chance: random.Random) -> None:
    """Change documents or rules."""
    uris = [f"folder {n % 3}/{n}" for n in range(12)]
    match chance.choice(("add", "add", "add", "add", "remove", "off", "on", "rule", "undo")):
        case "add":
            new = (document(chance, n) for n in chance.sample(range(12), 6))
            await index.add_documents([replace(one, metadata=chance.choice(DATES), readers=()) for one in new])
        case "remove":
            await index.remove([chance.choice(uris)])
        case "off":
            await index.switch_off(chance.sample(uris, 2))
        case "on":
            await index.switch_on(uris)
        case "rule":
            await decide(index, rules(chance)[:2])
        case "undo":
            for rule in (await index.rules.all())[:1]:
                await index.rules.undo(rule.id)


@pytest.mark.parametrize("seed", range(4))
async def test_a_caller_sees_the_conflicts_between_the_documents_that_it_reads(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    documents = [replace(one, metadata={**one.metadata, **chance.choice(DATES)}) for one in corpus(chance, 14)]
    decided, some = rules(chance), 0
    settings = Settings(functional_relations=FUNCTIONAL, embedding_model=None)
    filters = None, Filter(metadata={"k": chance.randint(0, 2)})
    async with aclosing(await AsyncTrueweave.enter(database, "all", settings=settings)) as index:
        await index.add_documents(documents)
        await decide(index, decided)
        for n, groups in enumerate(([], chance.sample(GROUPS, 1), chance.sample(GROUPS, 2), ["*"])):
            visible = [one for one in documents if groups == ["*"] or not one.readers or {*one.readers} & {*groups}]
            async with aclosing(await AsyncTrueweave.enter(database, f"alone {n}", settings=settings)) as alone:
                await alone.add_documents([replace(one, readers=()) for one in visible])
                await decide(alone, decided)
                expected = await conflicts(alone)
                assert await conflicts(index.acting_as(groups)) == expected, groups
                for given in filters:
                    shown = await conflicts(index.acting_as(groups), filter=given)
                    assert shown == await conflicts(alone, filter=given), (groups, given)
                some += len(expected)
    assert some


def test_dates_that_overlap_are_not_one_after_the_other() -> None:
    from uuid import UUID

    a, b, c = (UUID(int=n) for n in range(3))
    assert newest([]) is None
    assert newest([(a, "2024"), (b, "2025"), (c, "")]) == b
    assert newest([(a, "2024"), (b, "2024-12-31")]) is None
    assert newest([(a, "2024-01-01T00:00:00.5Z"), (b, "2024-01-01T01:00:00.5+01:00")]) is None
