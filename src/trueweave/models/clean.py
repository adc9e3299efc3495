"""Replies without characters that neither a database nor a terminal can hold: NUL, and halves of surrogate pairs."""

from __future__ import annotations

import codecs
from contextlib import aclosing
from dataclasses import dataclass, replace

from trueweave.models.wrappers import Ask, LLMWrapper, ReplyStream, Stream
from trueweave.types import Prompt, Purpose

_CODE = "utf-16-le"


class Cleaning:
    """A text that comes in pieces. If a surrogate pair is split between two, the first half is held until the second
    comes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(_CODE)("replace")

    def feed(self, piece: str, *, final: bool = False) -> str:
        """The piece as it can be held: without NUL, with U+FFFD for each half character."""
        return self._decoder.decode(piece.encode(_CODE, "surrogatepass"), final).replace("\0", "")


def cleaned(text: str) -> str:
    """The text as it can be held."""
    return Cleaning().feed(text, final=True)


@dataclass(frozen=True)
class CleanLLM(LLMWrapper):
    """A chat model whose replies can be stored and shown."""

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply, cleaned."""
        cleaning = Cleaning()
        async with aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                if clean := cleaning.feed(piece):
                    yield clean
        if heard.begun and (left := cleaning.feed("", final=True)):
            yield left
        yield replace(heard.reply, text=cleaned(heard.reply.text))
