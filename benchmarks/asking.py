"""What questions are measured with: the questions, a model that takes no time, and figures of many times."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

import numpy as np
import reports

from trueweave import Document
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.extend import Prompt, Reply, Vectors

_QUESTION = re.compile(r"How does (.+?) relate to (.+?)(?:, as to (.+))?\?")
_WORD = re.compile(r"[a-z]{5,}")


def about_reports(count: int, chunks: int) -> list[str]:
    """Questions about two names each in so many reports, drawn as the peer's driver draws them."""
    chance = random.Random(5)

    def name() -> str:
        return reports.name(int(max(60, 2 * chunks) * chance.random() ** 2))

    return [f"How does {name()} relate to {name()}?" for _ in range(count)]


def about_passages(count: int, documents: Sequence[Document]) -> list[str]:
    """Questions about two documents each, with a few words of the first."""
    chance = random.Random(7)
    made = []
    for _ in range(count):
        one, other = chance.sample(documents, 2)
        words = sorted(set(_WORD.findall(one.chunks[0].text)))
        told = " ".join(chance.sample(words, min(3, len(words)))) or "everything"
        made.append(f"How does {one.title} relate to {other.title}, as to {told}?")
    return made


@dataclass(frozen=True)
class InstantModel:
    """A chat model that knows the form of the questions: it names their keywords, and guesses what it was asked."""

    model: str = "vllm/instant"

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        found = _QUESTION.search(prompt.messages[-1].content)
        if found is None:
            raise ValueError(f"there is no question of the usual form in {prompt.messages[-1].content[:200]!r}")
        names = [found[1], found[2]]
        match purpose.stage:
            case "keywords":
                text = json.dumps({"low_level": names, "high_level": [f"relates {name}" for name in names]})
            case "guess":
                text = f"{found[1]} relates to {found[2]}: {found[3] or ''}"
            case other:
                raise ValueError(f"the model was asked to {other}, which nothing here calls for")
        return Reply(text, tokens_in=500, tokens_out=50)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        reply = await self.complete(prompt, purpose)
        yield reply.text
        yield reply


@dataclass(frozen=True)
class KnownVectors:
    """An embedder that has embedded everything beforehand."""

    model: str
    dimensions: int
    metric: Metric
    known: dict[str, Vectors] = field(repr=False)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        return np.stack([self.known[text] for text in texts])


def p50(milliseconds: Sequence[float]) -> float:
    return round(median(milliseconds), 2)


def p95(milliseconds: Sequence[float]) -> float:
    return round(quantiles(milliseconds, n=20, method="inclusive")[-1], 2)


@dataclass(frozen=True)
class Target:
    """What was to be reached, and what was."""

    what: str
    at_most: float
    measured: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.at_most

    def __str__(self) -> str:
        return f"{'met   ' if self.is_met else 'MISSED'} {self.what}: {self.measured:g}, at most {self.at_most:g}"


def listed(targets: Iterable[Target]) -> list[dict[str, object]]:
    """Targets as they are kept with the figures."""
    return [{"what": one.what, "at_most": one.at_most, "measured": one.measured, "met": one.is_met} for one in targets]
