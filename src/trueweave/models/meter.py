"""A meter of what all model calls for one question took."""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.core.evidence import Usage
from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.models.wrappers import ReplyWrapper


class Meter:
    """Adds up what replies took. Cached ones cost nothing."""

    def __init__(self) -> None:
        self.usage = Usage()

    def count(self, reply: Reply) -> None:
        one = Usage(kept=1) if reply.kept else Usage(1, 0, reply.tokens_in, reply.tokens_out, reply.price)
        self.usage += one


@dataclass(frozen=True)
class MeteredLLM(ReplyWrapper):
    """A chat model whose replies a meter counts."""

    meter: Meter

    async def _received(self, prompt: Prompt, purpose: Purpose, reply: Reply, *, begun: bool) -> Reply:
        self.meter.count(reply)
        return reply
