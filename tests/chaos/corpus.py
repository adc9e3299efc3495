"""Documents to work on, and a language model that reads them: both depend on their arguments alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from trueweave import Source
from trueweave.testing.model_server import Asked

MIN_CHUNK, MAX_CHUNK = 30, 70  # tokens: a paragraph is a chunk
MOST_CHUNKS = 40

_ONSETS, _ENDS = ("Bal", "Cor", "Dun", "Fer", "Gil", "Hol", "Mar", "Nor", "Pel", "Tor"), ("a", "en", "im", "oth", "us")
_MIDDLES = ("da", "ke", "li", "mo", "ru", "sta", "vin")
_NAMES = [f"{onset}{middle}{end}" for onset in _ONSETS for middle in _MIDDLES for end in _ENDS]
_DEEDS = ("met", "paid", "warned", "taught", "followed", "wrote to", "worked with", "bought grain from")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_SHARED = 0.1  # of the paragraphs are the same in many documents


def documents(count: int, seed: int) -> Iterator[Source]:
    """So many documents of 1 to 40 paragraphs that speak of the same few hundred names."""
    for number in range(count):
        random = Random(f"{seed} {number}")
        paragraphs = [_paragraph(random, seed) for _ in range(random.randint(1, MOST_CHUNKS))]
        yield Source(f"doc/{number:04}", "\n\n".join(paragraphs), f"Document {number}")


def _paragraph(random: Random, seed: int) -> str:
    if random.random() < _SHARED:
        random = Random(f"{seed} shared {random.randrange(50)}")
    return " ".join(_sentence(random) for _ in range(4))


def _sentence(random: Random) -> str:
    first, second = (_NAMES[int(len(_NAMES) * random.random() ** 2)] for _ in range(2))
    return f"{first} {random.choice(_DEEDS)} {second} on day {random.randrange(10_000)} of the long count."


def reply(asked: Asked) -> str:
    """What the model says: of a passage, the capitalised names with the sentences that hold them, and of two that
    stand together, that they are related; of anything else, one sentence."""
    passage = asked.messages[-1].content
    if asked.schema is None:
        return f"Much is told of {_NAME.findall(passage)[0]}."
    entities: dict[str, str] = {}
    relations = []
    for sentence in re.findall(r"[^.\n]+\.", passage):
        names = _NAME.findall(sentence)
        for name in names:
            entities.setdefault(name, sentence)
        relations += [(one, other, sentence) for one, other in pairwise(names) if one != other]
    return json.dumps(
        {
            "entities": [
                {"name": name, "type": "person", "description": said, "emphasis": 5} for name, said in entities.items()
            ],
            "relations": [
                {"source": a, "target": b, "description": said, "keywords": ["day"], "strength": 3, "emphasis": 4}
                for a, b, said in relations
            ],
        }
    )
