"""Counted: what the model calls for one question took, all in all."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

from trueweave.evidence import Usage
from trueweave.models.around import AroundLLM, Ask, Listening, Stream
from trueweave.types import Prompt, Purpose, Reply


class Meter:
    """Adds up what replies took. Those that were kept cost nothing."""

    def __init__(self) -> None:
        self.usage = Usage()

    def count(self, reply: Reply) -> None:
        one = Usage(kept=1) if reply.kept else Usage(1, 0, reply.tokens_in, reply.tokens_out, reply.price)
        self.usage += one


@dataclass(frozen=True)
class MeteredLLM(AroundLLM):
    """A chat model whose replies a meter counts."""

    meter: Meter

    async def _pass_on(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        async with aclosing(Listening(ask())) as heard:
            async for piece in heard:
                yield piece
        self.meter.count(heard.reply)
        yield heard.reply
