"""Generated passages, as many as one likes, with names as unevenly distributed as in real text.

Which names passages are about follows the law of Zipf and Mandelbrot: the share of rank r falls with (r + 50) ** -1.33,
so that a few names are everywhere, most are nearly nowhere, and new ones never cease (about as many as mentions **
0.75). What a name is related to is drawn from partners of its own by the same law. Words are drawn from real passages
as often as they are there, and nearly half of a passage's from the words of its topic, of which there are 5,000. Each
passage has two triples; its `lot`, from 0 to 99, is drawn at random, for filters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import corpora
import numpy as np
from numpy.typing import NDArray

TRIPLES = 2
_EXPONENT, _SHIFT, _PARTNER_SHIFT = 1 / 0.75, 50.0, 3.0
_TOPICS, _OF_TOPIC = 5_000, 60
_GENERAL_WORDS, _TOPICAL_WORDS = 25, 20
_AT_ONCE = 1_000
_WORD = re.compile(r"[a-z]+")
_LARGE_PRIMES = 7_919, 104_729


def lines(number: int, first: int = 0) -> Iterator[str]:
    """So many passages as JSON lines, from the one of the number `first`, which is divisible by 1,000. What a passage
    says depends on its number alone."""
    assert first % _AT_ONCE == 0, "passages are made in blocks"
    for block in range(first // _AT_ONCE, -(-(first + number) // _AT_ONCE)):
        size = min(_AT_ONCE, first + number - block * _AT_ONCE)
        yield from (json.dumps(row) + "\n" for row in islice(_block(block), size))


def _block(block: int) -> Iterator[dict[str, Any]]:
    vocabulary, shares, predicates = _words()
    chance = np.random.default_rng(block)
    subjects = _ranks(chance.random((_AT_ONCE, TRIPLES)), _SHIFT)
    which = _ranks(chance.random((_AT_ONCE, TRIPLES)), _PARTNER_SHIFT)
    objects = _ranks(_hashed(subjects, which), _SHIFT)
    topics = (chance.random(_AT_ONCE) ** 2 * _TOPICS).astype(np.int64)
    general = np.searchsorted(shares, chance.random((_AT_ONCE, _GENERAL_WORDS)))
    topical = chance.integers(0, _OF_TOPIC, (_AT_ONCE, _TOPICAL_WORDS))
    said = chance.integers(0, len(predicates), (_AT_ONCE, TRIPLES))
    lots = chance.integers(0, 100, _AT_ONCE)
    for n in range(_AT_ONCE):
        theme = _theme(int(topics[n]))
        words = [vocabulary[at] for at in general[n].tolist()] + [vocabulary[theme[at]] for at in topical[n].tolist()]
        chance.shuffle(words)
        triples = [
            [name(int(subjects[n, t])), predicates[said[n, t]], name(int(objects[n, t]))] for t in range(TRIPLES)
        ]
        parts = [f"{s} {p} {o}: {' '.join(words[t::TRIPLES])}." for t, (s, p, o) in enumerate(triples)]
        yield {
            "id": f"{block * _AT_ONCE + n}",
            "title": triples[0][0],
            "text": " ".join(parts),
            "metadata": {"lot": int(lots[n])},
            "entities": list(dict.fromkeys(end for triple in triples for end in (triple[0], triple[2]))),
            "triples": [triple for triple in triples if triple[0] != triple[2]],
        }


def name(rank: int) -> str:
    """The name of a rank: two words of real names, and a third for every other; each rank has another."""
    words = _name_words()
    size = len(words)
    first, second = rank % size * _LARGE_PRIMES[0], rank // size * _LARGE_PRIMES[1] + rank
    two = f"{words[first % size]} {words[second % size]}"
    return two if rank % 2 else f"{two} {words[(first + second) % size]}"


def _ranks(chances: NDArray[np.float64], shift: float) -> NDArray[np.int64]:
    """The ranks that numbers between 0 and 1 stand for, by Zipf and Mandelbrot."""
    ranks = shift * ((1 - chances) ** (-1 / (_EXPONENT - 1)) - 1)
    return (ranks % len(_name_words()) ** 2).astype(np.int64)


def _hashed(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number between 0 and 1 for each pair, always the same."""
    mixed = (one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (other.astype(np.uint64) + np.uint64(1))
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed: NDArray[np.float64] = ((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(11)).astype(np.float64) / 2.0**53
    return hashed


@cache
def _theme(topic: int) -> list[int]:
    vocabulary, _, _ = _words()
    words: list[int] = np.random.default_rng((1, topic)).integers(0, len(vocabulary), _OF_TOPIC).tolist()
    return words


@cache
def _name_words() -> list[str]:
    words = {w for row in corpora.rows("scale/fb15k237/entities") for w in row["name"].split() if w.isalpha()}
    listed = sorted(word for word in words if word[0].isupper() and len(word) > 2)
    while any(len(listed) % prime == 0 for prime in _LARGE_PRIMES):  # all products with a prime must differ
        listed.pop()
    return listed


@cache
def _words() -> tuple[list[str], NDArray[np.float64], list[str]]:
    """The words of real passages, their cumulated shares, and what a name may do to another."""
    counts: Counter[str] = Counter()
    for text in islice(corpora.passages("wikipedia_paragraphs"), 10_000):
        counts.update(_WORD.findall(text.lower()))
    common = counts.most_common(50_000)
    shares = np.cumsum([count for _, count in common], dtype=np.float64)
    relations = {row["relation"].strip("/").split("/")[-1] for row in corpora.rows("scale/fb15k237/relations")}
    return [word for word, _ in common], shares / shares[-1], sorted(one.replace("_", " ") for one in relations)
