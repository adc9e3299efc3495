"""A cache of replies, by a key of everything that a reply depends on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

import numpy as np

from trueweave.measuring import CacheLookup, measure
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, Stream
from trueweave.protocols import Replies, Vectors
from trueweave.text.names import key
from trueweave.types import Prompt, Purpose, Reply, TextRole

_TEXTS_AT_ONCE = 64
_FIRST_LOOK, _LATER_LOOKS = 0.05, 0.5  # seconds between checks of what other processes ask for


@dataclass(frozen=True)
class CachedLLM(LLMWrapper):
    """A chat model that is asked the same thing once, over all processes."""

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
            # It is paid for, so it is stored even if the caller no longer waits for it.
            first = _unpacked(await asyncio.shield(self.replies.keep(asked, _packed(heard.reply), purpose)))
            # If another process stored a reply first, all use that one, except for who has read the pieces of this one.
            yield heard.reply if heard.begun else replace(heard.reply, text=first.text, finish=first.finish)
            return
        reply = _unpacked(kept)
        yield reply.text
        yield reply

    async def forget(self, prompt: Prompt) -> None:
        """Delete the cached reply to this: it was unusable, and another call may give a better one."""
        await self.replies.drop(prompt_key(self.model, prompt))


@dataclass(frozen=True)
class CachedEmbedder(EmbedderWrapper):
    """An embedding model that is given the same text once, over all processes."""

    replies: Replies

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order: those in the cache, and the model's for the others.

        Texts that no other process embeds come first, before waiting for other processes: two that embed the same texts
        in a different order would deadlock otherwise.
        """
        keys = [key("embedding", self.model, str(self.dimensions), role, text) for text in texts]
        unique = dict(zip(keys, texts, strict=True))
        kept: dict[UUID, bytes] = {}
        pause = _FIRST_LOOK
        while missing := [asked for asked in unique if asked not in kept]:
            claimed = await self.replies.claim(missing)
            if not claimed:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LATER_LOOKS)
            ours = {asked: unique[asked] for asked, found in claimed.items() if found is None}
            measure(CacheLookup("embeddings", len(claimed) - len(ours), len(ours)))
            kept |= {asked: found for asked, found in claimed.items() if found is not None}
            kept |= await self._embed_all(ours, role)
        rows = [np.frombuffer(kept[asked], dtype=np.float32) for asked in keys]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    async def _embed_all(self, texts: Mapping[UUID, str], role: TextRole) -> dict[UUID, bytes]:
        """The vectors of texts that this process embeds. Claims of texts whose vectors are not stored are released."""
        asked = list(texts)
        kept: dict[UUID, asyncio.Future[bytes]] = {}
        # One call per batch, stored when it is done, so that a failure of one batch does not cost the others again.
        some = [asked[at : at + _TEXTS_AT_ONCE] for at in range(0, len(asked), _TEXTS_AT_ONCE)]
        calls = (self._embed({one: texts[one] for one in part}, role, kept) for part in some)
        try:
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            if left := [one for one in asked if one not in kept]:
                await asyncio.shield(self.replies.forget(*left))
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
        return {one: await found for one, found in kept.items()}

    async def _embed(self, texts: Mapping[UUID, str], role: TextRole, kept: dict[UUID, asyncio.Future[bytes]]) -> None:
        made = await self.embedder.embed(list(texts.values()), role)
        packed = [row.astype(np.float32).tobytes() for row in made]
        keeping = {
            one: asyncio.ensure_future(self.replies.keep(one, row, Purpose("embed", text_hash=key("text", text))))
            for (one, text), row in zip(texts.items(), packed, strict=True)
        }
        kept |= keeping  # also when the caller no longer waits
        await asyncio.shield(asyncio.gather(*keeping.values()))


def prompt_key(model: str, prompt: Prompt) -> UUID:
    """The key of all that a reply depends on."""
    said = [part for m in prompt.messages for part in (m.role, m.content)]
    return key("chat", model, f"{prompt.max_tokens} {prompt.temperature}", prompt.schema, *said)


def _packed(reply: Reply) -> bytes:
    return json.dumps([reply.text, reply.tokens_in, reply.tokens_out, reply.finish]).encode()


def _unpacked(kept: bytes) -> Reply:
    text, tokens_in, tokens_out, finish = json.loads(kept)
    return Reply(text, tokens_in, tokens_out, finish, price=Decimal(0), kept=True)
