"""Questions of a caller find what they find in a workspace that has only the documents that the caller reads. Look-ups
are compared in `test_lookups_under_filters.py`."""

import random
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.rights.test_lookups_under_filters import GROUPS, NAMES, SAID, corpus, decide, rules
from trueweave import AsyncTrueweave, Document, Filter, Passage
from trueweave.extend import Database, Method
from trueweave.index.settle import settle
from trueweave.methods import Fuse, Keyword, Naive, Walk, Weave
from trueweave.testing import HashEmbedder

MOST = 100
METHODS: list[Method] = [Naive(MOST), Keyword(MOST), Fuse(top_k=MOST), Walk(top_k=MOST), Weave(top_k=MOST)]


def told(passage: Passage) -> str:
    """A passage without what tells nothing of its document: its id and score, and the order of equal texts."""
    copies = sorted([passage.uri, *(one.uri for one in passage.also)])
    return repr((copies, passage.text, passage.copies, passage.page, passage.headings))


async def found(index: AsyncTrueweave, questions: Sequence[str], filter: Filter) -> dict[Any, Any]:
    """All that questions find, as sets where the order may differ."""
    made: dict[Any, Any] = {}
    for question in questions:
        for method in METHODS:
            evidence = await index.retrieve(question, method, filter=filter)
            made[question, type(method).__name__] = sorted(map(told, evidence.passages)), evidence.reason
            assert not evidence.entities
            assert not evidence.relations
        answer = await index.ask(question, Fuse(top_k=MOST), context_only=True, filter=filter)
        made[question, "ask"] = sorted(map(told, answer.evidence.passages))
        made[question, "search"] = sorted(map(told, await index.search(question, 100, filter=filter)))
        made[question, "recall"] = await index.recall(question)
    return made


def prefixed(documents: Sequence[Document]) -> list[Document]:
    """Those of a folder have the readers of a rule."""
    return [replace(one, readers=None) if one.uri.startswith("folder 1") else one for one in documents]


def reads(document: Document, groups: Sequence[str], of_rule: Sequence[str]) -> bool:
    readers = of_rule if document.readers is None else document.readers
    return not readers or not {*readers}.isdisjoint(groups)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", range(3))
async def test_questions_of_a_caller_find_what_its_documents_say(database: Database, seed: int) -> None:
    chance = random.Random(100 + seed)
    documents, decided = prefixed(corpus(chance, 12)), rules(chance)
    of_rule = chance.sample(GROUPS, chance.randint(0, 2))
    off = chance.choice(documents).uri
    questions = [f"{chance.choice(NAMES)} {chance.choice(SAID)} {chance.choice(NAMES)}?" for _ in range(2)]
    filters = Filter(), Filter(metadata={"k": chance.randint(0, 2)}), ~Filter(prefix="folder 0")
    async with aclosing(await AsyncTrueweave.enter(database, "all", HashEmbedder(8))) as index:
        await index.access.set("folder 1/**", of_rule)
        await index.add_documents(documents)
        await decide(index, decided)
        async with index.workspace.transaction() as tx:
            await tx.execute("UPDATE document SET off = true WHERE uri = %(off)s", {"off": off})
        await settle(index.workspace, HashEmbedder(8))
        for n, groups in enumerate(([], chance.sample(GROUPS, 1), chance.sample(GROUPS, 2))):
            visible = [one for one in documents if reads(one, groups, of_rule) and one.uri != off]
            async with aclosing(await AsyncTrueweave.enter(database, f"visible {n}", HashEmbedder(8))) as alone:
                await alone.add_documents([replace(one, readers=()) for one in visible])
                await decide(alone, decided)
                for filter in filters:
                    expected = await found(alone, questions, filter)
                    assert await found(index.acting_as(groups), questions, filter) == expected, (groups, filter)


async def test_scores_and_steps_are_not_shown(database: Database) -> None:
    chance = random.Random(7)
    async with aclosing(await AsyncTrueweave.enter(database, "all", HashEmbedder(8))) as index:
        await index.add_documents(corpus(chance, 12))
        for method in METHODS:
            evidence = await index.acting_as(["a"]).retrieve("Ada wrote letters", method)
            assert {one.score for one in evidence.passages} == {0.0}
            assert evidence.trace.steps == ()
        compared = await index.acting_as(["a"]).compare("Ada wrote letters", ["weave", "naive", "mix"])
        assert [bool(row.problem) for row in compared.rows] == [False, False, True]
        assert {one.score for row in compared.rows for one in row.evidence.passages} == {0.0}
        assert all(row.evidence.trace.steps == () for row in compared.rows)
