"""Text search: BM25 to the last digit, the same after every history, and each workspace's own."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from trueweave import AsyncTrueweave, Chunk, Document
from trueweave.extend import Database

K1, B = 1.2, 0.75
ALPHABET = [f"{a}{b}{c}" for a in "bgkmz" for b in "aou" for c in "nrx"]  # words that no stemmer changes


async def add(trueweave: AsyncTrueweave, **texts: str) -> None:
    await trueweave.add_documents(Document(uri, (Chunk(text),)) for uri, text in texts.items())


async def search(
    trueweave: AsyncTrueweave,
    question: str,
    most: int = 10,
    scope: Sequence[str] | None = None,
    k1: float = K1,
    b: float = B,
) -> list[tuple[str, float]]:
    """What is found, as (uri, score), in the order in which it is found."""
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        rows = await (
            await tx.execute("SELECT c.id, d.id, d.uri FROM chunk c JOIN document d ON d.id = c.document")
        ).fetchall()
        documents = [document for _, document, uri in rows if scope is None or uri in scope]
        values = {"question": question, "most": most, "k1": k1, "b": b, "scope": None if scope is None else documents}
        found = await tx.execute("SELECT * FROM search_text(%(question)s, %(most)s, %(k1)s, %(b)s, %(scope)s)", values)
        uris: dict[UUID, str] = {chunk: uri for chunk, _, uri in rows}
        return [(uris[chunk], score) for chunk, score in await found.fetchall()]


def bm25(texts: dict[str, str], question: str, k1: float = K1, b: float = B) -> dict[str, float]:
    """The score of every text that has a word of the question, by the formula. Words are what spaces part."""
    counts = {uri: Counter(text.split()) for uri, text in texts.items()}
    average = sum(c.total() for c in counts.values()) / len(counts)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in set(question.split()):
        having = sum(word in c for c in counts.values())
        idf = log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for uri, c in counts.items():
            if c[word]:
                scores[uri] += idf * c[word] / (c[word] + k1 * (1 - b + b * c.total() / average))
    return dict(scores)


def random_texts(chance: random.Random, count: int) -> dict[str, str]:
    """Texts of 1 to 40 words, some of which are much more frequent than others."""
    weights = [1 / (n + 1) for n in range(len(ALPHABET))]
    return {f"u{n}": " ".join(chance.choices(ALPHABET, weights, k=chance.randint(1, 40))) for n in range(count)}


async def test_scores_are_what_the_formula_says(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, one="apple banana banana", two="apple cherry", three="dates and the others")
    found = await search(trueweave, "A banana, an apple?")
    average = (3 + 2 + 2) / 3  # "and" and "the" are no words
    rare, common = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)
    norm = {length: K1 * (1 - B + B * length / average) for length in (2, 3)}
    expected = [
        ("one", rare * 2 / (2 + norm[3]) + common / (1 + norm[3])),
        ("two", common / (1 + norm[2])),
    ]
    assert [uri for uri, _ in found] == ["one", "two"]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


async def test_words_are_stemmed_and_what_joins_them_parts_them(trueweave: AsyncTrueweave) -> None:
    await add(trueweave, one="The well-known runners/walkers of 1990-2000 met at example.com <today>.", two="nothing")
    for question in ("runner", "WALKER", "known", "2000", "1990", "example", "today", "meet met"):
        assert [uri for uri, _ in await search(trueweave, question)] == ["one"], question


@pytest.mark.parametrize("seed", range(4))
async def test_random_corpora_score_as_with_bm25s_and_by_the_formula(trueweave: AsyncTrueweave, seed: int) -> None:
    import bm25s  # type: ignore[import-untyped]

    chance = random.Random(seed)
    texts = random_texts(chance, 300)
    await add(trueweave, **texts)
    peer = bm25s.BM25(k1=K1, b=B)
    peer.index([text.split() for text in texts.values()], show_progress=False)
    for _ in range(10):
        question = " ".join(chance.sample(ALPHABET, chance.randint(1, 8)))
        found = await search(trueweave, question, most=300)
        expected = bm25(texts, question)
        assert dict(found) == pytest.approx(expected)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        theirs = dict(zip(texts, map(float, peer.get_scores(question.split())), strict=True))
        assert dict(found) == pytest.approx({uri: s for uri, s in theirs.items() if s > 0}, rel=1e-4)
        k1, b = chance.uniform(0.5, 2), chance.uniform(0, 1)
        assert dict(await search(trueweave, question, 300, k1=k1, b=b)) == pytest.approx(bm25(texts, question, k1, b))
        few = await search(trueweave, question, most=5)
        assert few == found[:5]


async def test_a_scope_weighs_its_documents_and_no_others(trueweave: AsyncTrueweave) -> None:
    texts = random_texts(random.Random(5), 60)
    await add(trueweave, **texts)
    everything = dict(await search(trueweave, "ban bar bax gan", most=60))
    inside = ["u1", "u7", "u30", "u31"]
    found = await search(trueweave, "ban bar bax gan", scope=inside)
    assert dict(found) == {uri: score for uri, score in everything.items() if uri in inside}
    assert await search(trueweave, "ban", scope=[]) == []


async def test_more_matches_than_the_budget_still_give_as_many_as_are_asked_for(trueweave: AsyncTrueweave) -> None:
    """One word in so many chunks, all alike, that its one posting list exceeds what a search reads."""
    await trueweave.add_documents(Document(f"u{n}", (Chunk("common"),)) for n in range(2100))
    await add(trueweave, rare="common rarity")
    assert len(await search(trueweave, "common", most=50)) == 50
    found = await search(trueweave, "common rarity", most=50)
    assert (found[0][0], len(found)) == ("rare", 50)


async def test_whatever_came_and_went_the_sums_are_those_of_a_rebuild(trueweave: AsyncTrueweave) -> None:
    chance = random.Random(8)
    texts: dict[str, str] = {}
    for _ in range(12):
        change = random_texts(chance, 20)
        gone = chance.sample(sorted(texts), min(len(texts), 5))
        await add(trueweave, **change)
        await trueweave.remove(gone)
        texts = {uri: text for uri, text in {**texts, **change}.items() if uri not in gone}
        expected = bm25(texts, "ban bar gux zox")
        assert dict(await search(trueweave, "ban bar gux zox", most=100)) == pytest.approx(expected)
    assert (await trueweave.maintenance.verify()).exact
    await trueweave.remove(list(texts))
    async with trueweave.workspace.transaction() as tx:
        left = await tx.execute(
            "SELECT 1 FROM word UNION ALL SELECT 1 FROM corpus UNION ALL SELECT 1 FROM text_lines()"
        )
        assert await left.fetchall() == []


async def test_a_chunk_that_both_versions_have_stays_as_it_is(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([Document("u", (Chunk("apple banana"), Chunk("cherry")))])
    before = await search(trueweave, "apple")
    await trueweave.add_documents([Document("u", (Chunk("apple banana"), Chunk("damson")))])
    assert await search(trueweave, "apple") == before
    assert await search(trueweave, "cherry") == []
    assert len(await search(trueweave, "damson")) == 1
    assert (await trueweave.maintenance.verify()).exact


async def test_settlers_of_the_same_words_wait_for_each_other_and_lose_nothing(database: Database) -> None:
    trueweaves = [await AsyncTrueweave.enter(database, "test") for _ in range(4)]
    texts = random_texts(random.Random(9), 80)
    parts = [dict(list(texts.items())[n::4]) for n in range(4)]

    async def come_and_go(trueweave: AsyncTrueweave, part: dict[str, str]) -> None:
        for uri, text in part.items():
            await add(trueweave, **{uri: text})
        await trueweave.remove(list(part)[:5])

    await asyncio.gather(*map(come_and_go, trueweaves, parts))
    left = {uri: text for part in parts for uri, text in list(part.items())[5:]}
    assert dict(await search(trueweaves[0], "ban bar mox", most=200)) == pytest.approx(bm25(left, "ban bar mox"))
    assert (await trueweaves[0].maintenance.verify()).exact


async def test_a_workspace_neither_finds_nor_counts_the_words_of_another(database: Database, url: str) -> None:
    mine, other = await AsyncTrueweave.enter(database, "mine"), await AsyncTrueweave.enter(database, "other")
    await add(mine, a="apple banana", b="cherry")
    alone = await search(mine, "apple cherry")
    await add(other, c="apple apple secret", d="cherry tree")
    assert await search(mine, "apple cherry") == alone
    assert await search(mine, "secret") == []
    async with other.workspace.transaction() as tx:
        [theirs] = await (await tx.execute("SELECT id FROM document WHERE uri = 'c'")).fetchall()
    async with mine.workspace.transaction() as tx:
        found = await tx.execute("SELECT * FROM search_text('apple', 9, 1.2, 0.75, %(scope)s)", {"scope": list(theirs)})
        assert await found.fetchall() == []
    await mine.maintenance.drop()
    assert len(await search(other, "apple")) == 1
    with psycopg.connect(url) as owner:
        left = owner.execute("SELECT DISTINCT workspace FROM trueweave.bm25_index").fetchall()
        assert left == [(other.workspace.id,)]


async def test_two_workspaces_of_the_same_documents_have_the_same_digest(database: Database) -> None:
    one, two = await AsyncTrueweave.enter(database, "one"), await AsyncTrueweave.enter(database, "two")
    texts = random_texts(random.Random(3), 30)
    await add(one, **texts)
    await add(two, **dict(reversed(texts.items())))
    assert await one.maintenance.digest() == await two.maintenance.digest()
    await add(two, u1="another word")
    assert await one.maintenance.digest() != await two.maintenance.digest()


@pytest.mark.parametrize(
    "verb", ["SELECT FROM bm25_index", "DELETE FROM bm25_index", "INSERT INTO bm25_index VALUES (1)"]
)
async def test_the_working_role_cannot_touch_the_words_of_chunks(trueweave: AsyncTrueweave, verb: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        async with trueweave.workspace.transaction() as tx:
            await tx.connection.execute(verb.encode())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("", 0),
        ("the of and", 0),
        ("apple'); DROP TABLE trueweave.chunk; --", 1),
        ("' OR 1=1 \\ %s %(question)s :* & | ! <-> {}", 0),
        ("apple " * 10_000, 1),
        (" ".join(f"w{n}" for n in range(10_000)) + " apple", 1),
        ("москвы", 1),
        ("東京タワー", 1),
        ("café", 1),
        ("🍎", 0),
        ("x" * 50_000, 0),
    ],
)
async def test_any_question_is_only_words(trueweave: AsyncTrueweave, question: str, found: int) -> None:
    await add(trueweave, a="apple", b="Москва Москвы", c="東京タワー に行く", d="the of", e="🍎🍏 café")
    assert len(await search(trueweave, question)) == found


async def test_an_empty_workspace_answers_nothing(trueweave: AsyncTrueweave) -> None:
    assert await search(trueweave, "apple") == []
    assert await search(trueweave, "apple", scope=["nowhere"]) == []


async def test_a_chunk_longer_than_a_tsvector_can_be_is_stored_and_found(trueweave: AsyncTrueweave, url: str) -> None:
    words = " ".join(f"{n:07x}" for n in range(120_000))
    with psycopg.connect(url) as other, pytest.raises(errors.ProgramLimitExceeded, match="too long for tsvector"):
        other.execute("SELECT to_tsvector('simple', %s)", [words])
    await add(trueweave, long=f"beginning {words}", empty="", short="beginning")
    assert {uri for uri, _ in await search(trueweave, "beginning")} == {"long", "short"}
    assert (await trueweave.maintenance.verify()).exact
