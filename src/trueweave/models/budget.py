"""Budgets: the most that a call may cost is reserved before it is made.

The most that a prompt can be is one token a byte: no byte-level tokenizer makes more. So the cap holds for any model,
whatever its tokenizer, and what was reserved beyond the real cost is released when the reply states its usage. usage.py
says which counts of a server are accepted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TypeVar
from uuid import UUID

from trueweave.core.errors import ModelError
from trueweave.core.model_calls import Call, Prompt, Purpose, TextRole
from trueweave.core.money import Price
from trueweave.core.protocols import Ledger, Vectors
from trueweave.core.telemetry import caller_usage
from trueweave.core.telemetry.measurements import Charged, measure
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, RerankerWrapper, Stream
from trueweave.text import tokens

_PER_MESSAGE = 16  # what a chat template puts around a message
_EMBED = Purpose("embed")
_RERANK = Purpose("rerank")
_UNASKED = "model_was_not_asked"

T = TypeVar("T")


@dataclass(frozen=True)
class BudgetedLLM(LLMWrapper):
    """A chat model whose calls are charged to the budget, by the tokens that its replies state. A `price` of None is
    unknown, and recorded as such."""

    ledger: Ledger
    price: Price | None
    currency: str = "USD"

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply with its price; BudgetReached when it might cost more than is left."""
        most = most_tokens(prompt)
        price = self.price.of(most, prompt.max_tokens) if self.price else None
        call = Call(self.model, purpose, most, prompt.max_tokens, price)
        id_ = await _reserve(self.ledger, call)
        try:
            async with aclosing(ReplyStream(ask())) as heard:
                async for piece in heard:
                    yield piece
        except BaseException as error:
            await _release(self.ledger, id_, call, error)
            raise
        reply = heard.reply
        cost = self.price.of(reply.tokens_in, reply.tokens_out) if self.price else None
        await _book(self.ledger, id_, reply.tokens_in, reply.tokens_out, cost)
        measure(Charged(self.model, purpose.stage, reply.tokens_in, reply.tokens_out, cost, self.currency))
        yield replace(reply, price=cost)


@dataclass(frozen=True)
class BudgetedEmbedder(EmbedderWrapper):
    """An embedding model whose calls are charged to the budget. Its tokens are counted here, not by the server."""

    ledger: Ledger
    price: Price | None
    currency: str = "USD"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order; BudgetReached when that might cost more than is left."""
        call = partial(self.embedder.embed, texts, role)
        return await _paid(self.ledger, self.price, self.currency, self.model, _EMBED, texts, call)


@dataclass(frozen=True)
class BudgetedReranker(RerankerWrapper):
    """A reranker whose calls are charged to the budget. Its tokens are counted here, not by the server."""

    ledger: Ledger
    price: Price | None
    currency: str = "USD"

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order; BudgetReached when that might cost more than is left."""
        ask = partial(self.reranker.score, question, texts)
        read = pairs(question, texts)
        return await _paid(self.ledger, self.price, self.currency, self.model, _RERANK, read, ask)


def pairs(question: str, texts: Sequence[str]) -> list[str]:
    """What a model that reranks reads: the question with each of the texts."""
    return [f"{question}\n{text}" for text in texts]


async def _paid(
    ledger: Ledger,
    price: Price | None,
    currency: str,
    model: str,
    purpose: Purpose,
    texts: Sequence[str],
    ask: Callable[[], Awaitable[T]],
) -> T:
    """The result of a call to a model that reads these texts and writes none, charged to the budget."""
    most = sum(len(text.encode()) + _PER_MESSAGE for text in texts)
    call = Call(model, purpose, most, 0, price.of(most, 0) if price else None)
    id_ = await _reserve(ledger, call)
    try:
        found = await ask()
    except BaseException as error:
        await _release(ledger, id_, call, error)
        raise
    taken = await asyncio.to_thread(lambda: sum(map(tokens.count, texts)))
    cost = price.of(taken, 0) if price else None
    await _book(ledger, id_, taken, 0, cost)
    measure(Charged(model, purpose.stage, taken, 0, cost, currency))
    return found


def most_tokens(prompt: Prompt) -> int:
    """More tokens than any tokenizer makes of a prompt."""
    return len(prompt.schema.encode()) + sum(len(m.content.encode()) + _PER_MESSAGE for m in prompt.messages)


def mark_unasked(error: BaseException) -> None:
    """Note on an error that it came before the model was asked."""
    vars(error)[_UNASKED] = True


async def _reserve(ledger: Ledger, call: Call) -> UUID:
    await caller_usage.admit(call)
    return await ledger.reserve(call)


async def _book(ledger: Ledger, id_: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
    caller_usage.add(tokens_in + tokens_out, price)
    await asyncio.shield(ledger.book(id_, tokens_in, tokens_out, price))


async def _release(ledger: Ledger, id_: UUID, call: Call, error: BaseException) -> None:
    """A server that refused a call has not charged for it, nor has one that was not asked yet. One that did not answer,
    or whose caller stopped waiting, may have."""
    charged = error.charged if isinstance(error, ModelError) else _UNASKED not in vars(error)
    if charged:
        caller_usage.add(call.tokens_in + call.tokens_out, call.price)
    await asyncio.shield(ledger.release(id_, charged=charged))
