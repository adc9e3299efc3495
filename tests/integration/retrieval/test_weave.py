"""walk and weave beside the same walk written down in memory, on small corpora made at random; and two hops by hand."""

import random
from collections import Counter, defaultdict
from math import exp
from typing import TypeVar
from uuid import UUID

import numpy as np
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Mention
from trueweave.methods import Keyword, Naive, Walk, Weave
from trueweave.testing import HashEmbedder
from trueweave.text import phrases

Scores = dict[UUID, float]
T = TypeVar("T")

NAMES = ["Ada Byron", "Babbage", "Cambridge", "Difference Engine", "London", "Menabrea", "Turin", "Royal Society"]
VERBS = ["met", "wrote to", "admired", "built", "left", "described", "visited"]


def corpus(seed: int, size: int) -> list[Document]:
    """A document about each name, and others; each names a few."""
    chance = random.Random(seed)
    made = []
    for n in range(size):
        title = NAMES[n] if n < len(NAMES) else f"Letter {n}"
        said = ". ".join(f"{chance.choice(NAMES)} {chance.choice(VERBS)} {chance.choice(NAMES)}" for _ in range(3))
        text = f"{title}\n{said}."
        mentions = tuple(Mention(name) for name in {title, *NAMES} if name in text)
        made.append(Document(f"d{n}", (Chunk(text, mentions=mentions),), title=title))
    return made


class Oracle:
    """The walk in memory."""

    def __init__(self, documents: list[Document], ids: dict[str, UUID], walk: Walk) -> None:
        self._walk = walk
        known = {phrases.phrase(name) for name in NAMES} | {phrases.phrase(d.title) for d in documents}
        self._vocabulary = phrases.Vocabulary(known, {one.split()[0]: phrases.MOST_WORDS for one in known})
        self.texts = {ids[d.uri]: d.chunks[0].text for d in documents}
        self.defines = {ids[d.uri]: phrases.phrase(d.title) for d in documents}
        self.inside: dict[UUID, set[str]] = {}
        self.postings: defaultdict[str, Counter[UUID]] = defaultdict(Counter)
        for document in documents:
            id_ = ids[document.uri]
            found = phrases.occurrences(phrases.words(document.chunks[0].text), self._vocabulary)
            self.inside[id_] = {one.phrase for one in found if one.start >= len(document.title)}
            for one in found:
                self.postings[one.phrase][id_] += 1

    def names(self, question: str) -> list[phrases.Occurrence]:
        found = phrases.occurrences(phrases.words(question), self._vocabulary)
        return [one for one in found if self.postings[one.phrase]]

    def mass(self, question: str, near: Scores, matching: Scores, similarity: Scores) -> Scores:
        low, high, top = min(near.values()), max(near.values()), max(matching.values(), default=0.0)
        self.scale = max(0.3 * (high - low), 0.01)
        seed: Scores = defaultdict(float)
        for id_, value in near.items():
            seed[id_] += 0.7 * (value - low) / (high - low + 1e-9)
        for id_, value in matching.items():
            seed[id_] += 0.3 * value / (top + 1e-9)
        restart = share({id_: exp((s - 1) / 0.05) for id_, s in first(seed, 20).items()})
        asked = {one.phrase for one in self.names(question)}
        if asked:
            start = share({name: 1 / len(self.postings[name]) for name in asked})
            restart = mixed(restart, share(self.propagate(start, similarity)), self._walk.question_name_share)
        mass = restart
        for step in range(self._walk.iterations):
            names: defaultdict[str, float] = defaultdict(float)
            for id_, part in first(mass, self._walk.frontier if step else 20).items():
                weights = share({name: 1 / (len(self.postings[name]) + 3) for name in self.inside[id_]})
                for name, weight in weights.items():
                    names[name] += part * weight
            mass = mixed(restart, self.propagate(names, similarity), self._walk.damping)
        return mass

    def propagate(self, names: dict[str, float], similarity: Scores) -> Scores:
        arrived: Scores = defaultdict(float)
        for name, mass in names.items():
            weights = {
                id_: exp(similarity[id_] / self.scale) * (1 if self.defines[id_] == name else 0.03 * min(times, 3))
                for id_, times in self.postings[name].items()
            }
            for id_, weight in share(first(weights, self._walk.passages_per_name)).items():
                arrived[id_] += mass * weight
        return arrived


def first(weights: Scores, most: int) -> Scores:
    return dict(sorted(weights.items(), key=lambda pair: -pair[1])[:most])


def share(weights: dict[T, float]) -> dict[T, float]:
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()} if total else {}


def mixed(a: Scores, b: Scores, part: float) -> Scores:
    return {key: (1 - part) * a.get(key, 0) + part * b.get(key, 0) for key in {**a, **b}}


@pytest.mark.parametrize("df_cap", [100, 3])
@pytest.mark.parametrize("seed", range(4))
async def test_the_walk_goes_as_written_down(trueweave: AsyncTrueweave, seed: int, df_cap: int) -> None:
    """By few names that are common, and by most: these lead to known chunks, and here all are known."""
    documents = corpus(seed, 30)
    await trueweave.add_documents(documents)
    walk = Walk(top_k=30, df_cap=df_cap)
    question = "Who met Babbage in the town that Menabrea left?"
    near = {p.id: p.score for p in (await trueweave.retrieve(question, Naive(top_k=100))).passages}
    ids = {p.uri: p.id for p in (await trueweave.retrieve(question, Naive(top_k=100))).passages}
    matching = {p.id: p.score for p in (await trueweave.retrieve(question, Keyword(top_k=100))).passages}
    oracle = Oracle(documents, ids, walk)
    asked = question
    for one in oracle.names(question):
        asked = asked[: one.start] + " " * (one.end - one.start) + asked[one.end :]
    embedder = HashEmbedder()
    vector, rest = await embedder.embed([question, " ".join(asked.split())], "query")
    looked_for = 0.5 * vector + 0.5 * rest
    looked_for /= np.linalg.norm(looked_for)
    vectors = await embedder.embed(list(oracle.texts.values()), "document")
    similarity = {id_: float(row @ looked_for) for id_, row in zip(oracle.texts, vectors, strict=True)}
    mass = oracle.mass(question, near, matching, similarity)
    found = await trueweave.retrieve(question, walk)
    assert {p.id: p.score for p in found.passages} == pytest.approx(first(mass, 30), rel=0.02, abs=1e-4)
    assert found.trace.statements <= 8
    assert np.isclose(sum(mass.values()), 1, atol=0.05)


async def test_the_second_hop_is_found_by_the_name_in_between(trueweave: AsyncTrueweave) -> None:
    def about(title: str, text: str, *names: str) -> Document:
        return Document(title, (Chunk(f"{title}\n{text}", mentions=tuple(map(Mention, (title, *names)))),), title=title)

    await trueweave.add_documents(
        [
            about("Ambrel Bridge", "A bridge over the Lhine, put up by Tovrick Works.", "Tovrick Works", "Lhine"),
            about("Tovrick Works", "A maker of iron in Dorn. Its head is Quendrith Vossalar.", "Quendrith Vossalar"),
            *(
                about(f"Bridge {n}", "A bridge. The firm that put up the bridge has a head.", "Lhine")
                for n in range(20)
            ),
        ]
    )
    question = "Who is the head of the firm that put up Ambrel Bridge?"
    woven = await trueweave.retrieve(question, Weave(top_k=2))
    assert {p.uri for p in woven.passages} == {"Ambrel Bridge", "Tovrick Works"}
    plain = await trueweave.retrieve(question, Naive(top_k=2))
    assert "Tovrick Works" not in {p.uri for p in plain.passages}
    hidden = await trueweave.retrieve(question, Weave(top_k=5), filter=Filter(uris=("Bridge 1", "Bridge 2")))
    assert {p.uri for p in hidden.passages} <= {"Bridge 1", "Bridge 2"}


async def test_a_corpus_without_names_is_ranked_by_text_and_vectors(trueweave: AsyncTrueweave) -> None:
    weathers = ["rain and fog", "snow and hail", "wind and sun", "frost and thaw", "storm and calm"]
    await trueweave.add_documents([Document(text, (Chunk(f"there was {text} all day"),)) for text in weathers])
    assert (await trueweave.retrieve("when was there hail?", Weave(top_k=1))).passages[0].uri == "snow and hail"
