"""Keywords of a question: the specific things in it, and its themes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from trueweave.core.errors import BadReply
from trueweave.core.evidence import Keywords, Query, Scored
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.core.record import Chunk, Source
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import PromptSet, fence, object_schema
from trueweave.retrieval.context import QueryContext
from trueweave.text.names import tidy
from trueweave.text.stopwords import NEVER_ALONE

_MOST = 10  # keywords of a kind
_MAX_TOKENS = 400
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_PURPOSE = Purpose("keywords")


class _Found(Lenient):
    low_level: Sequence[str]
    high_level: Sequence[str] = ()


_WORDS = {"type": "array", "items": {"type": "string"}}
_SCHEMA = json.dumps(object_schema({"low_level": _WORDS, "high_level": _WORDS}))


async def keywords(query: Query, context: QueryContext) -> Keywords:
    """The question's keywords: from the model, in one call, or without a model from its names and phrases.

    If there are none of a kind, the question itself takes their place.
    """
    return await context.once(f"keywords of {query.text}", lambda: _keywords(query, context))


async def _keywords(query: Query, context: QueryContext) -> Keywords:
    found = await _asked(query.text, context.llm, context.prompts) if context.llm else await _looked_for(query.text)
    whole = [query.text]
    low, high = (_distinct(words) or whole for words in (found.low, found.high))
    context.note("low-level keywords", *(Scored(word, 1.0) for word in low))
    context.note("high-level keywords", *(Scored(word, 1.0) for word in high))
    return Keywords(tuple(low), tuple(high))


async def _asked(question: str, llm: LLM, prompts: PromptSet) -> Keywords:
    instructions = prompts.load("keywords").render(most=str(_MOST))
    messages = Message("system", instructions), Message("user", fence(question))
    prompt = Prompt(messages, _MAX_TOKENS, _SCHEMA)
    reply = await llm.complete(prompt, _PURPOSE)
    try:
        found, _ = read(_Found, reply.text, cut_off=reply.finish == "length")
    except Unusable as problem:
        await forget_reply(llm, prompt)
        raise BadReply(
            f"{llm.model} returned no readable keywords for the question: {problem}. Its reply begins "
            f"{reply.text[:200]!r}. Try another model, or a method that needs none, such as --method fuse."
        ) from problem
    return Keywords(tuple(found.low_level), tuple(found.high_level))


async def _looked_for(question: str) -> Keywords:
    """The names in the question, and the phrases between its function words."""
    [found] = await CapitalsExtractor().extract(Source("question", question), [Chunk(question)])
    names = [mention.name for mention in found.mentions]
    rest = question
    for name in sorted(names, key=len, reverse=True):
        rest = rest.replace(name, "\n")
    phrases = [phrase for line in rest.splitlines() for phrase in _phrases(line)]
    return Keywords((*names, *phrases), (question,))


def _phrases(text: str) -> list[str]:
    """Runs of words without function words."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(text):
        if word.lower() in NEVER_ALONE:
            runs.append([])
        else:
            runs[-1].append(word)
    return [" ".join(run) for run in runs if run]


def _distinct(words: Sequence[str]) -> list[str]:
    return list({word.lower(): word for word in map(tidy, words) if word}.values())[:_MOST]
