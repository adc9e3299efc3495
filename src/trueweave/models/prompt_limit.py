"""A chat model that is given no longer prompts than a question may have."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from trueweave.core.errors import QuestionTooLong
from trueweave.core.model_calls import Prompt, Purpose
from trueweave.models.wrappers import Ask, LLMWrapper, ReplyStream, Stream
from trueweave.text import tokens


@dataclass(frozen=True)
class PromptLimitLLM(LLMWrapper):
    """A chat model. QuestionTooLong for a prompt with more tokens than `most`, before anything is sent."""

    most: int

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        size = await asyncio.to_thread(prompt_tokens, prompt)
        if size > self.most:
            raise QuestionTooLong(
                f"for this question the model would be given {size:,} tokens at once, and {self.most:,} are allowed. "
                "Shorten the question and its instructions, or lower the parameters of the method."
            )
        async with aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                yield piece
        yield heard.reply


def prompt_tokens(prompt: Prompt) -> int:
    """The tokens of all messages of a prompt."""
    return sum(tokens.count(message.content) for message in prompt.messages)
