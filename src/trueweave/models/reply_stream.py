"""Replies that arrive in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from typing import Self

from trueweave.core.errors import BadReply
from trueweave.core.model_calls import Reply

Stream = AsyncGenerator[str | Reply, None]


class ReplyStream:
    """The pieces of a reply as they arrive. `reply` is the complete reply, once all pieces have been read; `begun` says
    whether any has."""

    reply: Reply

    def __init__(self, pieces: AsyncIterator[str | Reply]) -> None:
        self._pieces = pieces
        self.begun = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        piece = await anext(self._pieces, None)
        if isinstance(piece, str):
            self.begun = True
            return piece
        if piece is None:
            raise BadReply("a model's stream ended without the whole reply, which is to be its last item.")
        self.reply = piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop reading, and close the underlying stream."""
        if isinstance(self._pieces, AsyncGenerator):
            await self._pieces.aclose()


async def without_pieces(reply: Awaitable[Reply]) -> Stream:
    """A complete reply as a stream."""
    yield await reply
