"""Questions written by a language model, which are kept if their quotes stand word for word in the passages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.bench.drafts import ONE, TWO, Draft, Quote
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import BUILT_IN, PromptSet, fence, object_schema
from trueweave.store.postgres.view.sampling import SampledText

MOST_TOKENS = 600  # of a reply

_TEXT = {"type": "string"}
_QUOTE = object_schema({"passage": {"type": "integer"}, "quote": _TEXT})
_SCHEMA = json.dumps(object_schema({"question": _TEXT, "answer": _TEXT, "quotes": {"type": "array", "items": _QUOTE}}))


class _Quoted(Lenient):
    passage: int = 0
    quote: str = ""


class _Written(Lenient):
    question: str = ""
    answer: str = ""
    quotes: Sequence[_Quoted] = ()


@dataclass(frozen=True)
class QuestionWriter:
    """Asks a model for questions. Equal passages are sent and paid for once."""

    llm: LLM
    prompts: PromptSet = BUILT_IN

    def prompt(self, passages: Sequence[SampledText]) -> Prompt:
        """The prompt for one passage, or for two that speak of the name for which they were chosen."""
        shown = [f"Passage {number}:\n{fence(one.text)}" for number, one in enumerate(passages, 1)]
        names = [f"The name that both speak of:\n{fence(passages[0].name)}"] if len(passages) > 1 else []
        messages = Message("system", self.prompts.load("question").text), Message("user", "\n".join(shown + names))
        return Prompt(messages, MOST_TOKENS, _SCHEMA)

    async def write(self, passages: Sequence[SampledText]) -> Draft | str:
        """A question about these passages, or why there is none. A reply that cannot be read is not kept, so that the
        model is asked again next time."""
        prompt = self.prompt(passages)
        purpose = Purpose("question", passages[-1].uri, chunk_hashes=tuple(one.text_hash for one in passages))
        reply = await self.llm.complete(prompt, purpose)
        try:
            found, _ = read(_Written, reply.text, cut_off=reply.finish == "length")
        except Unusable:
            await forget_reply(self.llm, prompt)
            return "the reply of the model could not be read"
        return await asyncio.to_thread(_draft, found, passages)


def _draft(found: _Written, passages: Sequence[SampledText]) -> Draft | str:
    question, answer = " ".join(found.question.split()), " ".join(found.answer.split())
    if not (question and answer):
        return "the model found nothing to ask"
    quotes = {one.passage: quote for one in found.quotes if (quote := _word_for_word(one, passages))}
    if len(quotes) < len(passages):
        return "a quote is not word for word in its passage"
    in_order = sorted(quotes.items(), key=lambda one: (answer.lower() in one[1].text.lower(), one[0]))
    kind = ONE if len(passages) == 1 else TWO
    return Draft(question, answer, kind, tuple(quote for _, quote in in_order), passages[0].name)


def _word_for_word(one: _Quoted, passages: Sequence[SampledText]) -> Quote | None:
    """The quote as its passage has it, which may break lines elsewhere; None if it does not have it."""
    said = one.quote.split()
    if not (said and 1 <= one.passage <= len(passages)):
        return None
    passage = passages[one.passage - 1]
    found = re.search(r"\s+".join(map(re.escape, said)), passage.text)
    return Quote(passage.uri, found[0]) if found else None
