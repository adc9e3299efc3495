"""A chat model as used for one question."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from trueweave.core.errors import QuestionTooLong
from trueweave.core.evidence import Usage
from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.core.protocols import StreamingLLM, forget_reply
from trueweave.models.clean import clean_pieces, clean_reply
from trueweave.models.reply_stream import Stream
from trueweave.text import tokens


class UsageMeter:
    """Adds up the usage of replies. Cached ones cost nothing."""

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, reply: Reply) -> None:
        one = Usage(kept=1) if reply.kept else Usage(1, 0, reply.tokens_in, reply.tokens_out, reply.price)
        self.usage += one


@dataclass(frozen=True)
class QuestionLLM:
    """A chat model with a limit on prompts: raises QuestionTooLong for a prompt with more than `most_tokens` tokens,
    before anything is sent. Replies, including those of a model that the user passed in, are cleaned and added to the
    meter."""

    llm: StreamingLLM
    most_tokens: int
    meter: UsageMeter = field(default_factory=UsageMeter)

    @property
    def model(self) -> str:
        return self.llm.model

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply."""
        await self._check_size(prompt)
        reply = clean_reply(prompt, await self.llm.complete(prompt, purpose))
        self.meter.add(reply)
        return reply

    async def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they arrive, and at the end the complete reply."""
        await self._check_size(prompt)
        async with aclosing(clean_pieces(prompt, self.llm.stream(prompt, purpose))) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    self.meter.add(piece)
                yield piece

    async def forget(self, prompt: Prompt) -> None:
        """Delete the cached reply to this prompt, if the model has a cache."""
        await forget_reply(self.llm, prompt)

    async def _check_size(self, prompt: Prompt) -> None:
        size = await asyncio.to_thread(message_tokens, prompt)
        if size > self.most_tokens:
            raise QuestionTooLong(
                f"for this question the model would be given {size:,} tokens at once, and {self.most_tokens:,} are "
                "allowed. Shorten the question and its instructions, or lower the parameters of the method."
            )


def message_tokens(prompt: Prompt) -> int:
    """The tokens of all messages of a prompt."""
    return sum(tokens.count(message.content) for message in prompt.messages)
