"""A model that answers at once and counts what it is asked, and an embedder that counts its texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trueweave.core.graph import Metric
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.extend import Embedder, Prompt, Reply, Vectors
from trueweave.text import tokens

_FINDINGS = 5


class Counting:
    """Writes a report for every prompt, another one for another prompt.

    What it was asked before, or whoever went before, costs nothing: such replies are kept.
    """

    model = "counting/model"

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known = set(known)
        self.calls = 0
        self.tokens_in = 0

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        asked = hashlib.sha256(repr(prompt).encode()).hexdigest()
        if asked not in self.known:
            self.known.add(asked)
            self.calls += 1
            self.tokens_in += sum(tokens.count(message.content) for message in prompt.messages)
        return Reply(_report(asked[:12]), 0, 0)


@dataclass
class CountingEmbedder:
    """An embedder that counts its texts."""

    inner: Embedder
    texts: int = 0
    model: str = field(init=False)
    dimensions: int = field(init=False)
    metric: Metric = field(init=False)

    def __post_init__(self) -> None:
        self.model, self.dimensions, self.metric = self.inner.model, self.inner.dimensions, self.inner.metric

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.texts += len(texts)
        return await self.inner.embed(texts, role)


def _report(key: str) -> str:
    told = [
        {"summary": f"Finding {n} of {key}", "text": f"What {key} says of it.", "references": [f"E{n}"]}
        for n in range(1, _FINDINGS + 1)
    ]
    return json.dumps({"title": key, "summary": f"All of {key}.", "rating": 5, "reason": "", "findings": told})
