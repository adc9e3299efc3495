"""`rephrase`, `hyde`, `rewrite`, `decompose`: a language model puts the question in other words, with which another
method searches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.errors import BadReply, ConfigError
from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import fence, object_schema
from trueweave.retrieval.context import Method, Need, QueryContext
from trueweave.retrieval.methods.auto import Auto
from trueweave.retrieval.methods.combine import Each, Instead
from trueweave.retrieval.methods.naive import Naive
from trueweave.retrieval.methods.parameters import CHECKED

_SHORT = 200  # tokens of a sentence or two
_SHOWN = 200  # characters of a reply
_SCHEMA = json.dumps(object_schema({"questions": {"type": "array", "items": {"type": "string"}}}))


class _Parts(Lenient):
    questions: Sequence[str]


@dataclass(frozen=True, config=CHECKED)
class Rephrase:
    """What another method finds for the question as the beginning of its answer: "X is" instead of "What is X?"."""

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})

    part: Method = Field(default=Naive(), description="The method that searches.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence for the beginning of an answer, which sounds like the passages that are wanted."""
        begun = await _written("rephrase", query.text, _SHORT, context)
        return await Instead(begun, self.part, "document").retrieve(query, context)


@dataclass(frozen=True, config=CHECKED)
class Hyde:
    """What another method finds for a made-up passage that answers the question."""

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})

    part: Method = Field(default=Naive(), description="The method that searches.")
    passage_tokens: int = Field(default=300, ge=50, le=2000, description="How long the made-up passage may be.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence for the passage, which is embedded as documents are. The passage itself is not evidence."""
        passage = await _written("hyde", query.text, self.passage_tokens, context)
        return await Instead(passage, self.part, "document").retrieve(query, context)


@dataclass(frozen=True, config=CHECKED)
class Rewrite:
    """What another method finds for the question as a search engine would want it, without anything irrelevant."""

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})

    part: Method = Field(default=Auto(), description="The method that searches.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence for the rewritten question."""
        return await Instead(await _written("rewrite", query.text, _SHORT, context), self.part).retrieve(query, context)


@dataclass(frozen=True, config=CHECKED)
class Decompose:
    """What another method finds for the question and for the simpler questions that it is made of, fused."""

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})

    part: Method = Field(default=Auto(), description="The method that searches.")
    most: int = Field(default=4, ge=1, le=20, description="How many simpler questions to ask.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The passages that the question and its parts agree on, as many as `part` finds for one of them."""
        parts = await context.once(f"parts of {query.text}", lambda: self._parts(query.text, context))
        asked = tuple(dict.fromkeys((query.text, *parts)))
        return await Each(asked, self.part).retrieve(query, context)

    async def _parts(self, question: str, context: QueryContext) -> list[str]:
        llm = _model("decompose", context)
        instructions = context.prompts.load("decompose").render(most=str(self.most))
        prompt = Prompt((Message("system", instructions), Message("user", fence(question))), 2 * _SHORT, _SCHEMA)
        reply = await llm.complete(prompt, Purpose("decompose"))
        try:
            found, _ = read(_Parts, reply.text, cut_off=reply.finish == "length")
        except Unusable as problem:
            await forget_reply(llm, prompt)
            raise BadReply(
                f"{llm.model} returned no readable parts of the question: {problem}. Its reply begins "
                f"{reply.text[:_SHOWN]!r}. Try another model, or a method that needs none, such as --method fuse."
            ) from problem
        parts = [text.strip() for text in found.questions if text.strip()][: self.most]
        context.note("decompose", *(Scored(text, 1.0) for text in parts))
        return parts


async def _written(
    name: Literal["rephrase", "hyde", "rewrite"], question: str, tokens: int, context: QueryContext
) -> str:
    """What the model writes in the place of a question, by the prompt of that name; the question if it writes nothing.
    The trace shows it."""

    async def write() -> str:
        llm = _model(name, context)
        messages = Message("system", context.prompts.load(name).text), Message("user", fence(question))
        prompt = Prompt(messages, tokens)
        text = (await llm.complete(prompt, Purpose(name))).text.strip()
        if not text:
            await forget_reply(llm, prompt)
        context.note(name, *([Scored(text, 1.0)] if text else []))
        return text or question

    return await context.once(f"{name} {tokens} {question}", write)


def _model(name: str, context: QueryContext) -> LLM:
    if context.llm is None:
        raise ConfigError(
            f"the method {name} needs a language model. Set model in trueweave.toml, or use another method: "
            "`trueweave methods` lists them."
        )
    return context.llm
