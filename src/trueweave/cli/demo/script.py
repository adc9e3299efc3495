"""The question of the demo, its right passages, and the scripted model that answers it with one false sentence."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.demo import QUESTIONS

LETTER = "documents/letters/1921-02-11-marrack-to-breck.md"  # the one that is removed
START, END = "Gull Stack", "Ferrin"  # of the path
_SENTENCES = {  # each with the words of the passage that it cites
    "The lens for Gull Stack was ground by Isolde Marrack": "the lens for Gull Stack was ground by Isolde Marrack",
    "Isolde Marrack was bound to Tobias Wendle for seven years": (
        "Isolde Marrack was bound to Tobias Wendle for seven years"
    ),
    "Tobias Wendle kept his workshop in Osmunster": "Tobias Wendle, optician, kept his workshop in Ferrin",
}
_UNKNOWN = "[0] What was found does not say who taught Isolde Marrack."


@dataclass(frozen=True)
class DemoQuestion:
    """A question, and for each passage that holds the answer the uri of its document and some of its words."""

    question: str
    passages: tuple[tuple[str, str], ...]
    answers: tuple[str, ...]
    kind: str

    @property
    def uris(self) -> frozenset[str]:
        return frozenset(uri for uri, _ in self.passages)


def questions() -> list[DemoQuestion]:
    """The questions that come with the demo. The first is the one that it asks."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [
        DemoQuestion(
            row["question"],
            tuple(zip(row["supporting"], row["quotes"], strict=True)),
            tuple(row["answers"]),
            row["kind"],
        )
        for row in rows
    ]


def words(text: str) -> re.Pattern[str]:
    """A pattern for these words, wherever their lines end."""
    return re.compile(r"\s+".join(map(re.escape, text.split())))


class ScriptedModel:
    """Answers the question of the demo from passages that it is given, always with the same sentences. The last one is
    false. If the passage of one is missing, it says that the answer is not known."""

    model = "scripted"

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The whole reply."""
        return _reply(prompt.messages[-1].content)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """The reply in one piece, and then as a whole."""
        reply = _reply(prompt.messages[-1].content)
        yield reply.text
        yield reply


def _reply(shown: str) -> Reply:
    cited = [_cited(sentence, quote, shown) for sentence, quote in _SENTENCES.items()]
    text = " ".join(filter(None, cited)) if all(cited) else _UNKNOWN
    return Reply(text, len(shown) // 4, len(text) // 4)


def _cited(sentence: str, quote: str, shown: str) -> str:
    """The sentence with its citation; empty if no passage has the words."""
    found = words(quote).search(shown)
    if found is None:
        return ""
    numbers = re.findall(r"^\[(\d+)\] ", shown[: found.start()], re.MULTILINE)
    return f'{sentence} [{numbers[-1]} "{found[0]}"].'
