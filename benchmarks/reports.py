"""Made-up reports that Trueweave and its peer both index, a model that reads them at once, and an embedder for both.

A report is one line, "Report 7 …", of 90 everyday words among which 6 made-up names stand. Report n draws its names
from the first 2(n + 1), early ones more often, so that the graph grows with the corpus and has hubs. Each name is an
entity, and each is related to the next, the last to the first. All follows from the numbers alone, and all is just as
the peer's driver has it: the texts, what is found in them, and what it costs to embed a text.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from trueweave import Source
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.extend import Prompt, Reply, Vectors

NAMES = 6  # in each report

_ALL_SYLLABLES = "ka ro mi ten vu lo sha pre nor gil dex fa zu bel tor quin mar ost len wy"
_SENTENCE = (
    "the system was observed to operate under normal conditions and it produced several records "
    "that were stored for later review by the team"
)
_SYLLABLES, _WORDS = _ALL_SYLLABLES.split(), _SENTENCE.split()
_REPORT = re.compile(r"Report (\d+) .*")
_NAME = re.compile(r"\b[A-Z][a-z]+\d+\b")
_WORD = re.compile(r"\w+")


def name(number: int) -> str:
    """The name with that number: three syllables and the number, such as Kamilo12."""
    chance = random.Random(number * 7919 + 1)
    return "".join(chance.choice(_SYLLABLES) for _ in range(3)).capitalize() + str(number)


def report(number: int) -> str:
    """The text of a report, always the same for the same number."""
    chance = random.Random(number)
    known = max(2 * NAMES, 2 * (number + 1))
    chosen: set[int] = set()
    while len(chosen) < NAMES:
        chosen.add(int(known * chance.random() ** 2))
    words = [chance.choice(_WORDS) for _ in range(90)]
    # The order is that in which a set of small integers is walked, which CPython keeps the same from run to run.
    for place, one in enumerate(chosen):
        words.insert(15 * place + 3, name(one))
    return f"Report {number} {' '.join(words)}."


def found(text: str) -> dict[str, Any]:
    """What the model says of the first report in `text`: entities and relations, in the form that Trueweave asks
    for."""
    match = _REPORT.search(text)
    if match is None:
        raise ValueError(f"There is no report in {text[:80]!r}. The model can read nothing but reports.")
    number = match[1]
    names = list(dict.fromkeys(_NAME.findall(match[0])))[:NAMES]
    entities = [
        {
            "name": one,
            "type": "Concept",
            "description": f"{one} appears in report {number} as an observed component.",
            "emphasis": 5,
        }
        for one in names
    ]
    relations = [
        {
            "source": one,
            "target": other,
            "description": f"{one} relates to {other} in report {number}.",
            "keywords": ["relates", "cooccurs"],
            "strength": 5,
            "emphasis": 5,
        }
        for one, other in zip(names, [*names[1:], *names[:1]], strict=True)
    ]
    return {"entities": entities, "relations": relations}


def graph(chunks: int) -> tuple[int, int, int]:
    """How many entities there are in so many reports, how many relations, and how many pairs that are related.

    Trueweave has a relation for each direction, its peer one for both.
    """
    said = [found(report(number)) for number in range(chunks)]
    names = {entity["name"] for each in said for entity in each["entities"]}
    related = {(relation["source"], relation["target"]) for each in said for relation in each["relations"]}
    return len(names), len(related), len(set(map(frozenset, related)))


def texts(document: int, chunks_each: int) -> list[str]:
    """The reports in a document, one for each of its chunks."""
    return [report(number) for number in range(document * chunks_each, (document + 1) * chunks_each)]


def sources(documents: int, chunks_each: int) -> list[Source]:
    """Documents of so many reports each, every report a paragraph."""
    return [Source(f"f{number}.txt", "\n\n".join(texts(number, chunks_each))) for number in range(documents)]


@dataclass(frozen=True)
class ReportReader:
    """A chat model that takes no time: it finds the names in a report, and nothing more when it is asked again."""

    model: str = "vllm/instant"

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        said = prompt.messages[-1].content
        match purpose.stage:
            case "extract":
                text = json.dumps(found(said))
            case "glean":
                text = '{"entities": [], "relations": []}'
            case "summarise":
                text = f"Summary: {said[-200:]}"
            case other:
                raise ValueError(f"The model was asked to {other} {purpose.document}, which nothing here calls for.")
        return Reply(text, tokens_in=1000, tokens_out=500)

    async def close(self) -> None:
        """There is nothing to let go of."""


@dataclass(frozen=True)
class ReportEmbedder:
    """Hashes each word of a text to a place and a sign, and counts a capitalised one elsewhere as well.

    Word by word in Python, as the peer's driver does it, so that a text costs both systems the same. For indexes of
    real texts there is trueweave.testing.HashEmbedder, which is quicker.
    """

    dimensions: int = 384
    model: str = "testing/reports"
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word in set(_WORD.findall(text)):
                code = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
                row[code % self.dimensions] += 1.0 if (code >> 32) & 1 else -1.0
                if word[0].isupper():
                    row[(code >> 16) % self.dimensions] += 3.0
            row /= np.linalg.norm(row) or 1.0
        return matrix
