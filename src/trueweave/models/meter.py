"""A meter of what all model calls for one question took."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

from trueweave.evidence import Usage
from trueweave.models.wrappers import Ask, LLMWrapper, ReplyStream, Stream
from trueweave.types import Prompt, Purpose, Reply


class Meter:
    """Adds up what replies took. Cached ones cost nothing."""

    def __init__(self) -> None:
        self.usage = Usage()

    def count(self, reply: Reply) -> None:
        one = Usage(kept=1) if reply.kept else Usage(1, 0, reply.tokens_in, reply.tokens_out, reply.price)
        self.usage += one


@dataclass(frozen=True)
class MeteredLLM(LLMWrapper):
    """A chat model whose replies a meter counts."""

    meter: Meter

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        async with aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                yield piece
        self.meter.count(heard.reply)
        yield heard.reply
