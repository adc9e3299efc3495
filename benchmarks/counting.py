"""A model that answers at once and counts what it is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from trueweave.core.model_calls import Purpose
from trueweave.extend import Prompt, Reply
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


def _report(key: str) -> str:
    told = [
        {"summary": f"Finding {n} of {key}", "text": f"What {key} says of it.", "references": [f"E{n}"]}
        for n in range(1, _FINDINGS + 1)
    ]
    return json.dumps({"title": key, "summary": f"All of {key}.", "rating": 5, "reason": "", "findings": told})
