"""Searches for entities and relations under a filter, where vectors are made from all documents: these decide the
order. What is found exists as it is shown in a workspace with only the documents that pass, and the limit is filled."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.rights.test_lookups_under_filters import MANY, Told, corpus, decide, rules
from trueweave import AsyncTrueweave, Document, Filter, Range, ResolutionSettings, Settings
from trueweave.extend import Database
from trueweave.testing import HashEmbedder

TEXTS = ("ada", "the engine in London", "who knew the others", "zzz")
PASSING: list[tuple[Filter, Callable[[Document], bool]]] = [
    (Filter(metadata={"k": (0, 2)}), lambda one: one.uri[-1] in "023568"),
    (~Filter(prefix="folder 1"), lambda one: not one.uri.startswith("folder 1")),
    (Filter(metadata={"n": Range(2, 6)}), lambda one: one.uri[-1] in "23456"),
    (Filter(prefix="no folder"), lambda _: False),
]


@asynccontextmanager
async def opened(database: Database, name: str) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings(graph_vectors=True)
    async with aclosing(await AsyncTrueweave.enter(database, name, HashEmbedder(8), settings=settings)) as index:
        yield index


async def searched(told: Told) -> tuple[dict[Any, list[str]], dict[Any, Sequence[str]]]:
    """What searches find, without ids, and what each searched by."""
    graph, found, by = told.index.graph, dict[Any, list[str]](), dict[Any, Sequence[str]]()
    for text in TEXTS:
        for limit in (1, 3, MANY):
            for type_ in ("", "person"):
                entities = await graph.search_entities(text, limit, type=type_, **told.given)
                found["entities", text, limit, type_] = [repr(told.entity(one.item)) for one in entities.items]
                by["entities", text, limit, type_] = entities.by
            relations = await graph.search_relations(text, limit, **told.given)
            found["relations", text, limit] = [repr(told.relation(one.item)) for one in relations.items]
            by["relations", text, limit] = relations.by
    return found, by


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fuzzy", [False, True])
async def test_what_is_found_exists_among_the_documents_that_pass(
    database: Database, seed: int, *, fuzzy: bool
) -> None:
    chance = random.Random(f"search {seed}")
    documents, decided = corpus(chance, 9), rules(chance)
    passing, passes = PASSING[seed]
    async with opened(database, "all") as index, opened(database, "passing") as alone:
        for one in (index, alone):
            if fuzzy:
                await one.rules.change_resolution(ResolutionSettings("fuzzy", 80))
        documents = [replace(one, readers=None) for one in documents]
        await index.add_documents(documents)
        await decide(index, decided)
        await alone.add_documents([one for one in documents if passes(one)])
        await decide(alone, decided)
        told, told_alone = Told(index, filter=passing), Told(alone)
        await told.learn()
        await told_alone.learn()
        found, by = await searched(told)
        expected, expected_by = await searched(told_alone)
    for what, items in found.items():
        assert by[what] == expected_by[what]
        there = expected[*what[:2], MANY, *what[3:]]
        assert not Counter(items) - Counter(there), (what, decided)
        assert len(items) == min(what[2], len(there)), (what, decided)
