"""Paid calls to models: chat, embedding and reranking, with one function each that reads in the order of what happens.

The order is the same for all: look in the cache; reserve the maximum cost of the call; wait for a rate limit slot; call
the model; release the slot; store the reply; book the call. `attempts.py` has the shared steps.

A reply is stored before it is booked, so if a process is killed in between, the call counts as lost, but it is not paid
for again. The slot is held only while the model is being called.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from trueweave.core.events import Noted, tell
from trueweave.core.model_calls import Prompt, Purpose, Reply, TextRole
from trueweave.core.protocols import Replies, Reranker, StreamingLLM, Vectors
from trueweave.core.telemetry.measurements import CacheLookup, measure
from trueweave.core.telemetry.spans import Attributes
from trueweave.models.attempts import CallTerms
from trueweave.models.clean import clean_pieces
from trueweave.models.embedder_wrapper import EmbedderWrapper
from trueweave.models.reply_stream import ReplyStream, Stream, without_pieces
from trueweave.models.stored_replies import (
    cached_name,
    pack_reply,
    pack_vector,
    prompt_key,
    text_key,
    unpack_reply,
    unpack_vector,
)
from trueweave.models.telemetry import note_prompt, note_reply, note_usage, observed
from trueweave.models.usage import most_prompt_tokens, most_text_tokens, text_tokens, with_counted_tokens
from trueweave.text.names import key

_EMBED = Purpose("embed")
_RERANK = Purpose("rerank")
_TEXTS_AT_ONCE = 64
_FIRST_LOOK, _LATER_LOOKS = 0.05, 0.5  # seconds between checks on texts that other processes are embedding


@dataclass(frozen=True)
class PaidChat:
    """A chat model that is asked the same thing only once, over all processes. `variant` identifies what its replies
    depend on besides model and prompt."""

    llm: StreamingLLM
    replies: Replies
    terms: CallTerms
    variant: str = ""

    @property
    def model(self) -> str:
        return self.llm.model

    @property
    def cached_as(self) -> str:
        """The name of the model in the keys of cached replies."""
        return cached_name(self.model, self.variant)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The complete reply, with its price. Raises BudgetReached if it might cost more than is left."""
        call = self._call(prompt, purpose, lambda: without_pieces(self.llm.complete(prompt, purpose)))
        async with aclosing(ReplyStream(call)) as received:
            async for _ in received:
                pass
        return received.reply

    def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they arrive, then the complete reply. A cached reply is a single piece."""
        return self._call(prompt, purpose, lambda: self.llm.stream(prompt, purpose))

    async def forget(self, prompt: Prompt) -> None:
        """Delete the cached reply to this prompt: it was unusable, and another call may give a better one."""
        await self.replies.drop(prompt_key(self.cached_as, prompt))

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Callable[[], AsyncIterator[str | Reply]]) -> Stream:
        """The reply as a stream. `ask` calls the model once; a complete reply is a stream without pieces."""
        asked = prompt_key(self.cached_as, prompt)
        cached = await self.replies.ask(asked)
        measure(CacheLookup("chat", int(cached is not None), int(cached is None)))
        if cached is not None:
            reply = unpack_reply(cached)
            yield reply.text
            yield reply
            return
        about: Attributes = {
            "gen_ai.request.max_tokens": prompt.max_tokens,
            "gen_ai.request.temperature": prompt.temperature,
            "trueweave.purpose": purpose.stage,
        }
        async with _forgotten_on_error(self.replies, asked):
            async for attempt in self.terms.attempts(
                self.model, purpose, most_prompt_tokens(prompt), prompt.max_tokens
            ):
                async with attempt:
                    async with (
                        attempt.slot(),
                        aclosing(ReplyStream(clean_pieces(prompt, ask()))) as received,
                    ):
                        with observed("chat", self.model, about) as span:
                            if self.terms.traces_content:
                                note_prompt(span, prompt)
                            async for piece in received:
                                attempt.begun = True
                                yield piece
                            note_usage(span, received.reply)
                            if self.terms.traces_content:
                                note_reply(span, received.reply)
                    reply = self._counted(prompt, received.reply)
                    reply = await self._stored(asked, reply, purpose, begun=attempt.begun)
                    reply = replace(reply, price=await attempt.book(reply.tokens_in, reply.tokens_out))
        yield reply

    def _counted(self, prompt: Prompt, reply: Reply) -> Reply:
        """The reply with the tokens to book for it. Impossible counts of the server are reported."""
        counted = with_counted_tokens(prompt, reply)
        for problem in counted.problems:
            tell(Noted(f"{self.model}: {problem}."))
        return counted

    async def _stored(self, asked: UUID, reply: Reply, purpose: Purpose, *, begun: bool) -> Reply:
        # It will be paid for, so store it even if the caller no longer waits for it.
        first = unpack_reply(await asyncio.shield(self.replies.keep(asked, pack_reply(reply), purpose)))
        # If another process stored a reply first, all use that one, except a caller who has already read pieces of this
        # one.
        return reply if begun else replace(reply, text=first.text, finish=first.finish)


@dataclass(frozen=True)
class PaidEmbedder(EmbedderWrapper):
    """An embedding model that is given the same text only once, over all processes. Tokens are counted here, not by the
    server."""

    replies: Replies
    terms: CallTerms

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order, from the cache or from the model. Raises BudgetReached if the call might cost
        more than is left.

        Texts that no other process is embedding come first, before waiting for other processes: otherwise two processes
        that embed the same texts in a different order would deadlock.
        """
        keys = [text_key(self, text, role) for text in texts]
        unique = dict(zip(keys, texts, strict=True))
        known: dict[UUID, Vectors] = {}
        pause = _FIRST_LOOK
        while missing := [asked for asked in unique if asked not in known]:
            claimed = await self.replies.claim(missing)
            if not claimed:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LATER_LOOKS)
            ours = {asked: unique[asked] for asked, found in claimed.items() if found is None}
            measure(CacheLookup("embeddings", len(claimed) - len(ours), len(ours)))
            known |= {asked: unpack_vector(found) for asked, found in claimed.items() if found is not None}
            known |= await self._embed_claimed(ours, role)
        rows = [known[asked] for asked in keys]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    async def _embed_claimed(self, texts: Mapping[UUID, str], role: TextRole) -> dict[UUID, Vectors]:
        """The vectors of texts that this process has claimed. The claims on those that are not stored are released."""
        items = list(texts.items())
        # One call per batch, so that the failure of one does not cost the others again: they are stored.
        parts = (dict(items[at : at + _TEXTS_AT_ONCE]) for at in range(0, len(items), _TEXTS_AT_ONCE))
        known: dict[UUID, Vectors] = {}
        async with _forgotten_on_error(self.replies, *texts):
            outcomes = await asyncio.gather(*(self._call(part, role) for part in parts), return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
                known |= outcome
        return known

    async def _call(self, asked: Mapping[UUID, str], role: TextRole) -> dict[UUID, Vectors]:
        """The vectors of one batch; if another process was first, those that it stored."""
        texts = list(asked.values())
        about = {"gen_ai.embeddings.dimension.count": self.dimensions, "trueweave.texts": len(texts)}
        async for attempt in self.terms.attempts(self.model, _EMBED, most_text_tokens(texts)):
            async with attempt:
                async with attempt.slot():
                    with observed("embeddings", self.model, about):
                        rows = await self.embedder.embed(texts, role)
                stored = await self._stored(asked, rows)
                await attempt.book(await asyncio.to_thread(text_tokens, texts))
        return stored

    async def _stored(self, asked: Mapping[UUID, str], rows: Vectors) -> dict[UUID, Vectors]:
        storing = [
            self.replies.keep(one, pack_vector(row), Purpose("embed", text_hash=key("text", text)))
            for (one, text), row in zip(asked.items(), rows, strict=True)
        ]
        # Even if the caller no longer waits.
        stored = await asyncio.shield(asyncio.gather(*storing))
        return dict(zip(asked, map(unpack_vector, stored), strict=True))


@dataclass(frozen=True)
class PaidReranker:
    """A reranker whose calls are paid for. Tokens are counted here, not by the server. Scores are not cached."""

    reranker: Reranker
    terms: CallTerms

    @property
    def model(self) -> str:
        return self.reranker.model

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order. Raises BudgetReached if that might cost more than is left."""
        pairs = [f"{question}\n{text}" for text in texts]
        async for attempt in self.terms.attempts(self.model, _RERANK, most_text_tokens(pairs)):
            async with attempt:
                async with attempt.slot():
                    with observed("rerank", self.model, {"trueweave.texts": len(texts)}):
                        scores = await self.reranker.score(question, texts)
                await attempt.book(await asyncio.to_thread(text_tokens, pairs))
        return scores


@asynccontextmanager
async def _forgotten_on_error(replies: Replies, *asked: UUID) -> AsyncIterator[None]:
    """On an error, release claims to other processes, except where a reply is stored."""
    try:
        yield
    except BaseException:
        await asyncio.shield(replies.forget(*asked))
        raise
