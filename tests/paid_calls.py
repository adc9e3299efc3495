"""Paid calls without a database: nothing is cached, everything is affordable, and no call waits for a slot."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from trueweave.core.model_calls import Call, Purpose
from trueweave.core.money import Price
from trueweave.core.protocols import Embedder, Ledger, RateLimiter, Replies, Reranker, StreamingLLM
from trueweave.models.attempts import CallTerms
from trueweave.models.paid import PaidChat, PaidEmbedder, PaidReranker
from trueweave.models.retry import Patience


class OpenLedger:
    """A ledger without a cap."""

    async def reserve(self, call: Call) -> UUID:
        return uuid4()

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None: ...

    async def release(self, id: UUID, *, charged: bool) -> None: ...


class Unlimited:
    """A rate limiter without limits."""

    @asynccontextmanager
    async def acquire(self, tokens: int) -> AsyncIterator[None]:
        yield


class NoReplies:
    """A cache that is always empty."""

    async def ask(self, key: UUID) -> bytes | None:
        return None

    async def claim(self, keys: Sequence[UUID]) -> dict[UUID, bytes | None]:
        return dict.fromkeys(keys)

    async def keep(self, key: UUID, payload: bytes, purpose: Purpose) -> bytes:
        return payload

    async def forget(self, *keys: UUID) -> None: ...

    async def drop(self, key: UUID) -> None: ...


def terms(
    ledger: Ledger | None = None,
    price: Price | None = None,
    *,
    limiter: RateLimiter | None = None,
    places: int = 1000,
    **retries: Any,
) -> CallTerms:
    retries.setdefault("patience", Patience(tries=1))
    return CallTerms(ledger or OpenLedger(), limiter or Unlimited(), asyncio.Semaphore(places), price, **retries)


def paid_chat(llm: StreamingLLM, ledger: Ledger | None = None, price: Price | None = None, **more: Any) -> PaidChat:
    """A chat model that is paid for and not cached."""
    return PaidChat(llm, NoReplies(), terms(ledger, price, **more))


def patient_chat(llm: StreamingLLM, *patience_and_clock: Any) -> PaidChat:
    """A chat model with this patience and clock."""
    return PaidChat(llm, NoReplies(), _patient(*patience_and_clock))


def patient_embedder(embedder: Embedder, *patience_and_clock: Any) -> PaidEmbedder:
    return PaidEmbedder(embedder, NoReplies(), _patient(*patience_and_clock))


def patient_reranker(reranker: Reranker, *patience_and_clock: Any) -> PaidReranker:
    return PaidReranker(reranker, _patient(*patience_and_clock))


def cached_chat(llm: StreamingLLM, replies: Replies, ledger: Ledger | None = None) -> PaidChat:
    return PaidChat(llm, replies, terms(ledger))


def cached_embedder(embedder: Embedder, replies: Replies, ledger: Ledger | None = None) -> PaidEmbedder:
    return PaidEmbedder(embedder, replies, terms(ledger))


def _patient(patience: Any, clock: Any) -> CallTerms:
    return terms(patience=patience, clock=clock)
