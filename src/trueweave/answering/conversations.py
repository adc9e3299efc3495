"""Conversations: consecutive questions, each understood in the context of the previous turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from trueweave.answering.options import AskOptions
from trueweave.core.answers import Answer
from trueweave.core.events import Listener, ignore
from trueweave.core.evidence import Filter, Usage
from trueweave.core.model_calls import Message
from trueweave.core.parameters import takes
from trueweave.core.streams import Stream
from trueweave.retrieval.context import Method

_KEPT = 6000  # tokens of the conversation; a model is shown less


class AsksAsync(Protocol):
    """What a conversation is held with: an AsyncTrueweave or an AsyncClient."""

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""

    @takes(AskOptions)
    async def ask(self, asked: AskOptions) -> Answer:
        """The answer to a question."""
        ...

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Stream[str | Answer]:
        """The answer in pieces, and at the end the complete answer."""
        ...


class Asks(Protocol):
    """What a synchronous conversation is held with: a Trueweave or a Client."""

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""

    @takes(AskOptions)
    def ask(self, asked: AskOptions) -> Answer:
        """The answer to a question."""
        ...

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Iterator[str | Answer]:
        """The answer in pieces, and at the end the complete answer."""
        ...


class ConversationState:
    """The state of a conversation, synchronous or not: its method and filter, the recent turns, and the usage."""

    def __init__(self, method: str | Method | None, filter: Filter | None, history: Sequence[Message]) -> None:
        self.method = method
        self._filter = filter
        self._said = tuple(history)
        self._usage = Usage()

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far; the oldest turns may have been dropped."""
        return self._said

    @property
    def usage(self) -> Usage:
        """The usage of all questions so far."""
        return self._usage

    def clear(self) -> None:
        """Start over with an empty conversation."""
        self._said = ()

    def _next(self, question: str, listener: Listener, *, has_model: bool) -> dict[str, Any]:
        """The arguments of `ask` and `stream` for the next question."""
        how = {"filter": self._filter, "history": self.history, "listener": listener}
        return {"question": question, "method": self.method, "context_only": not has_model, **how}

    def _heard(self, question: str, piece: str | Answer) -> None:
        """Keep a question and its answer, and drop the oldest turns that no longer fit."""
        from trueweave.answering.conversation import trimmed

        if isinstance(piece, Answer):
            said = Message("user", question), Message("assistant", piece.text)
            self._said = trimmed((*self._said, *said), _KEPT)
            self._usage += piece.usage


class AsyncConversation(ConversationState):
    """Consecutive questions, each understood in the context of the previous turns. Made by `trueweave.conversation`.

    You can set `method` between two questions. An answer that was not read to its end is not part of the conversation.
    """

    def __init__(
        self,
        trueweave: AsksAsync,
        hand_out: Callable[[AsyncGenerator[str | Answer, None], Listener], Stream[str | Answer]],
        method: str | Method | None,
        filter: Filter | None,
        history: Sequence[Message],
    ) -> None:
        super().__init__(method, filter, history)
        self._trueweave = trueweave
        self._hand_out = hand_out

    async def ask(self, question: str, *, listener: Listener = ignore) -> Answer:
        """The answer to a question, with every citation checked; without a language model, an answer with no text and
        the evidence found. The listener receives the question as it was understood (`Rewritten`)."""
        asked = self._next(question, listener, has_model=self._trueweave.has_model)
        answer = await self._trueweave.ask(**asked)
        self._heard(question, answer)
        return answer

    def stream(self, question: str, *, listener: Listener = ignore) -> Stream[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the complete answer: see `ask`."""
        return self._hand_out(self._pieces(question, listener), listener)

    async def _pieces(self, question: str, listener: Listener) -> AsyncGenerator[str | Answer, None]:
        asked = self._next(question, listener, has_model=self._trueweave.has_model)
        async with aclosing(self._trueweave.stream(**asked)) as stream:
            async for piece in stream:
                self._heard(question, piece)
                yield piece


class Conversation(ConversationState):
    """Consecutive questions, each understood in the context of the previous turns. Made by `trueweave.conversation`.

    You can set `method` between two questions. An answer that was not read to its end is not part of the conversation.
    """

    def __init__(
        self,
        trueweave: Asks,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
    ) -> None:
        super().__init__(method, filter, history)
        self._trueweave = trueweave

    def ask(self, question: str, *, listener: Listener = ignore) -> Answer:
        """The answer to a question, with every citation checked; without a language model, an answer with no text and
        the evidence found. The listener receives the question as it was understood (`Rewritten`)."""
        answer = self._trueweave.ask(**self._next(question, listener, has_model=self._trueweave.has_model))
        self._heard(question, answer)
        return answer

    def stream(self, question: str, *, listener: Listener = ignore) -> Iterator[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the complete answer: see `ask`."""
        for piece in self._trueweave.stream(**self._next(question, listener, has_model=self._trueweave.has_model)):
            self._heard(question, piece)
            yield piece
