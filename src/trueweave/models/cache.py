"""A cache of replies, by a key of everything that a reply depends on.

It has two parts for each kind of model. The outer one looks for a reply, and asks if there is none. The inner one
stores what the model replied, inside the budget: a reply is stored before it is booked, so a process that is killed in
between leaves a call that counts as lost, and not one that is paid for again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

import numpy as np

from trueweave.core.model_calls import Prompt, Purpose, Reply, TextRole
from trueweave.core.protocols import Replies, Vectors
from trueweave.core.telemetry.measurements import CacheLookup, measure
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, ReplyWrapper, Stream
from trueweave.text.names import key

_TEXTS_AT_ONCE = 64
_FIRST_LOOK, _LATER_LOOKS = 0.05, 0.5  # seconds between checks of what other processes ask for


@dataclass(frozen=True)
class CachedLLM(LLMWrapper):
    """A chat model that is asked the same thing once, over all processes. A StoringLLM further in stores its
    replies."""

    replies: Replies

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The cached reply, in one piece, or else the model's."""
        asked = prompt_key(self.model, prompt)
        kept = await self.replies.ask(asked)
        measure(CacheLookup("chat", int(kept is not None), int(kept is None)))
        if kept is None:
            try:
                async with aclosing(ReplyStream(ask())) as heard:
                    async for piece in heard:
                        yield piece
            except BaseException:
                await asyncio.shield(self.replies.forget(asked))
                raise
            yield heard.reply
            return
        reply = _unpacked(kept)
        yield reply.text
        yield reply

    async def forget(self, prompt: Prompt) -> None:
        """Delete the cached reply to this: it was unusable, and another call may give a better one."""
        await self.replies.drop(prompt_key(self.model, prompt))


@dataclass(frozen=True)
class StoringLLM(ReplyWrapper):
    """A chat model whose replies are stored for CachedLLM."""

    replies: Replies

    async def _received(self, prompt: Prompt, purpose: Purpose, reply: Reply, *, begun: bool) -> Reply:
        """The reply, once it is stored."""
        # It will be paid for, so it is stored even if the caller no longer waits for it.
        storing = self.replies.keep(prompt_key(self.model, prompt), _packed(reply), purpose)
        first = _unpacked(await asyncio.shield(storing))
        # If another process stored a reply first, all use that one, except for who has read the pieces of this one.
        return reply if begun else replace(reply, text=first.text, finish=first.finish)


@dataclass(frozen=True)
class CachedEmbedder(EmbedderWrapper):
    """An embedding model that is given the same text once, over all processes. A StoringEmbedder further in stores its
    vectors."""

    replies: Replies

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order: those in the cache, and the model's for the others.

        Texts that no other process embeds come first, before waiting for other processes: two that embed the same texts
        in a different order would deadlock otherwise.
        """
        keys = [_text_key(self, text, role) for text in texts]
        unique = dict(zip(keys, texts, strict=True))
        kept: dict[UUID, Vectors] = {}
        pause = _FIRST_LOOK
        while missing := [asked for asked in unique if asked not in kept]:
            claimed = await self.replies.claim(missing)
            if not claimed:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LATER_LOOKS)
            ours = {asked: unique[asked] for asked, found in claimed.items() if found is None}
            measure(CacheLookup("embeddings", len(claimed) - len(ours), len(ours)))
            kept |= {asked: _vector(found) for asked, found in claimed.items() if found is not None}
            kept |= await self._embed_all(ours, role)
        return _stacked([kept[asked] for asked in keys], self.dimensions)

    async def _embed_all(self, texts: Mapping[UUID, str], role: TextRole) -> dict[UUID, Vectors]:
        """The vectors of texts that this process embeds. Claims of texts whose vectors are not stored are released."""
        words = list(texts.values())
        # One call per batch, so that a failure of one batch does not cost the others again: they are stored.
        parts = (words[at : at + _TEXTS_AT_ONCE] for at in range(0, len(words), _TEXTS_AT_ONCE))
        rows: list[Vectors] = []
        try:
            outcomes = await asyncio.gather(
                *(self.embedder.embed(part, role) for part in parts), return_exceptions=True
            )
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
                rows.extend(outcome)
        except BaseException:
            await asyncio.shield(self.replies.forget(*texts))
            raise
        return dict(zip(texts, rows, strict=True))


@dataclass(frozen=True)
class StoringEmbedder(EmbedderWrapper):
    """An embedding model whose vectors are stored for CachedEmbedder."""

    replies: Replies

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order, once they are stored; where another process was first, the row of that one."""
        made = await self.embedder.embed(texts, role)
        storing = [
            self.replies.keep(
                _text_key(self, text, role),
                row.astype(np.float32).tobytes(),
                Purpose("embed", text_hash=key("text", text)),
            )
            for text, row in zip(texts, made, strict=True)
        ]
        # Also when the caller no longer waits.
        return _stacked(list(map(_vector, await asyncio.shield(asyncio.gather(*storing)))), self.dimensions)


def prompt_key(model: str, prompt: Prompt) -> UUID:
    """The key of all that a reply depends on."""
    said = [part for m in prompt.messages for part in (m.role, m.content)]
    return key("chat", model, f"{prompt.max_tokens} {prompt.temperature}", prompt.schema, *said)


def _packed(reply: Reply) -> bytes:
    return json.dumps([reply.text, reply.tokens_in, reply.tokens_out, reply.finish]).encode()


def _unpacked(kept: bytes) -> Reply:
    text, tokens_in, tokens_out, finish = json.loads(kept)
    return Reply(text, tokens_in, tokens_out, finish, price=Decimal(0), kept=True)


def _text_key(embedder: EmbedderWrapper, text: str, role: TextRole) -> UUID:
    return key("embedding", embedder.model, str(embedder.dimensions), role, text)


def _vector(kept: bytes) -> Vectors:
    return np.frombuffer(kept, dtype=np.float32)


def _stacked(rows: list[Vectors], dimensions: int) -> Vectors:
    return np.stack(rows) if rows else np.zeros((0, dimensions), dtype=np.float32)
