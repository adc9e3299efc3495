"""Removing characters from replies that neither a database nor a terminal can hold (NUL, unpaired surrogates), and the
fences of the prompt, which small models repeat."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from trueweave.core.model_calls import Prompt, Reply
from trueweave.models import prompts
from trueweave.models.reply_stream import ReplyStream, Stream

_CODE = "utf-16-le"


class Cleaning:
    """Cleans a text that arrives in pieces. If a surrogate pair is split between two pieces, the first half is held
    back until the second arrives."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(_CODE)("replace")

    def feed(self, piece: str, *, final: bool = False) -> str:
        """The piece without NUL, and with U+FFFD for each unpaired surrogate."""
        return self._decoder.decode(piece.encode(_CODE, "surrogatepass"), final).replace("\0", "")


def cleaned(text: str) -> str:
    """The text without NUL, and with U+FFFD for each unpaired surrogate."""
    return Cleaning().feed(text, final=True)


class Unfencing:
    """Removes the fences of a prompt, `<<<MARK` and `MARK>>>` with the following newline, from a reply that arrives in
    pieces. The beginning of a fence is held back until it is complete, or turns out to be something else."""

    def __init__(self, prompt: Prompt) -> None:
        marks = {mark for message in prompt.messages for mark in prompts.fence_marks(message.content)}
        self._fence = re.compile(f"(?:<<<)?(?:{'|'.join(sorted(marks))})(?:>>>)?\n?") if marks else None
        whole = [f"{before}{mark}>>>\n" for mark in marks for before in ("<<<", "")]
        self._beginnings = {fence[:length] for fence in whole for length in range(1, len(fence))}
        self._longest = max(map(len, self._beginnings), default=0)
        self._held = ""

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Take in a piece. Returns the text so far that is not part of a fence."""
        if self._fence is None:
            return piece
        text = self._held + piece
        end = len(text) if final else self._complete(text)
        self._held = text[end:]
        return self._fence.sub("", text[:end])

    def strip(self, text: str) -> str:
        """A whole text without fences."""
        return self._fence.sub("", text) if self._fence else text

    def _complete(self, text: str) -> int:
        """The position where the longest possible beginning of a fence at the end of a text starts."""
        first = max(len(text) - self._longest, 0)
        return next((at for at in range(first, len(text)) if text[at:] in self._beginnings), len(text))


async def clean_pieces(prompt: Prompt, pieces: AsyncIterator[str | Reply]) -> Stream:
    """A streamed reply to this prompt, cleaned: its pieces, and at the end the complete reply."""
    cleaning, unfencing = Cleaning(), Unfencing(prompt)
    async with aclosing(ReplyStream(pieces)) as received:
        async for piece in received:
            if clean := unfencing.feed(cleaning.feed(piece)):
                yield clean
    if received.begun and (left := unfencing.feed(cleaning.feed("", final=True), final=True)):
        yield left
    yield replace(received.reply, text=unfencing.strip(cleaned(received.reply.text)))


def clean_reply(prompt: Prompt, reply: Reply) -> Reply:
    """A complete reply to this prompt, cleaned."""
    return replace(reply, text=Unfencing(prompt).strip(cleaned(reply.text)))
