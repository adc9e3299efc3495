"""Model replies, stored the moment they arrive and shared by all who ask the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from trueweave.core.model_calls import Purpose
from trueweave.store.postgres.batcher import Background, Batcher
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queue.liveness import Liveness

_FIRST_LOOK, _LATER_LOOKS = 0.05, 0.5


class PostgresReplies:
    """The replies of one model in one workspace. Implements `trueweave.core.protocols.Replies`."""

    def __init__(self, workspace: Workspace, liveness: Liveness, model: str) -> None:
        self._workspace = workspace
        self._liveness = liveness
        self._model = model
        self._asking: set[UUID] = set()
        self._keeping: set[UUID] = set()
        self._background = Background()
        self._ask = Batcher(self._ask_all, unclaimed=self._give_back)
        self._keep = Batcher(self._keep_all)
        self._forget = Batcher(self._forget_all)

    async def aclose(self) -> None:
        """Wait until claims of cancelled callers have been released."""
        await self._ask.idle()
        await self._background.aclose()

    async def ask(self, key: UUID) -> bytes | None:
        """The reply for this key; None if there is none and the caller must ask the model.

        If somebody else is asking at the moment, this waits for their reply; if they give up, it is the caller's turn.
        """
        pause = _FIRST_LOOK
        while (found := await self._ask(key)) is _BUSY:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LATER_LOOKS)
        return found

    async def claim(self, keys: Sequence[UUID]) -> dict[UUID, bytes | None]:
        """What is available for these keys right now: stored replies, and None for those the caller must ask for.

        Keys that somebody else is asking for are left out. This never waits, so two callers that want the same keys in
        different orders do not wait for each other.
        """
        found = await self._ask.all(keys)
        return {key: reply for key, reply in zip(keys, found, strict=True) if reply is not _BUSY}

    async def keep(self, key: UUID, payload: bytes, purpose: Purpose) -> bytes:
        """Store a reply, however long the database is unavailable; returns the stored one, which may be another if that
        was first."""
        self._keeping.add(key)
        try:
            return await self._keep((key, payload, purpose))
        finally:
            self._keeping.discard(key)
            self._asking.discard(key)

    async def forget(self, *keys: UUID) -> None:
        """Release keys that the caller got no reply for, or no longer waits for, so that anybody may ask, unless the
        reply is being stored."""
        unanswered = [key for key in keys if key not in self._keeping]
        try:
            await self._forget.all(unanswered)
        finally:
            self._asking.difference_update(unanswered)

    def _give_back(self, key: UUID, found: bytes | None) -> None:
        """Release a key whose caller was cancelled before being told to ask for it."""
        if found is None:
            self._background.start(self.forget(key))

    async def _forget_all(self, keys: Sequence[UUID]) -> list[None]:
        async def forget() -> None:
            async with self._workspace.transaction(booking=True) as tx:
                await tx.run("reply.forget", keys=Ids(keys), owner=self._liveness.owner)

        await self._workspace.retry_while_down(forget)
        return [None] * len(keys)

    async def drop(self, key: UUID) -> None:
        """Delete the reply."""

        async def drop() -> None:
            async with self._workspace.transaction(booking=True) as tx:
                await tx.run("reply.drop", keys=Ids([key]))

        await self._workspace.retry_while_down(drop)

    async def _ask_all(self, keys: Sequence[UUID]) -> list[bytes | None]:
        async def ask() -> dict[UUID, bytes | None]:
            wanted = set(keys)
            async with self._workspace.transaction(booking=True) as tx:
                owner = self._liveness.owner
                rows = await tx.rows("reply.ask", keys=Ids(wanted), owner=owner, model=self._model)
                found: dict[UUID, bytes | None] = {key: payload for key, _, payload in rows}
                if missing := wanted - found.keys() - self._asking:
                    found |= dict.fromkeys(await self._take_over(tx, missing), None)
            return found

        found = await self._workspace.retry_while_down(ask)
        given: list[bytes | None] = []
        for key in keys:
            reply = found.get(key, _BUSY)
            if reply is None and key in self._asking:
                reply = _BUSY  # of two concurrent askers, only one asks
            elif reply is None:
                self._asking.add(key)
            given.append(reply)
        return given

    async def _take_over(self, tx: Transaction, keys: set[UUID]) -> list[UUID]:
        """Those of the keys that nobody is asking for any longer, which are now claimed by this process.

        Keys claimed by this process that none of its calls is asking for come from a transaction whose outcome is
        unknown.
        """
        return [key for (key,) in await tx.rows("reply.take_over", keys=Ids(keys), owner=self._liveness.owner)]

    async def _keep_all(self, replies: Sequence[tuple[UUID, bytes, Purpose]]) -> list[bytes]:
        async def keep() -> dict[UUID, bytes]:
            unique = {key: (payload, purpose) for key, payload, purpose in replies}
            purposes = [purpose for _, purpose in unique.values()]
            async with self._workspace.transaction(booking=True) as tx:
                rows = await tx.rows(
                    "reply.keep",
                    keys=Ids(unique),
                    payloads=[payload for payload, _ in unique.values()],
                    stages=Texts(purpose.stage for purpose in purposes),
                    documents=Texts(purpose.document for purpose in purposes),
                    texts=[purpose.text_hash for purpose in purposes],
                    chunks=[_as_array(purpose.chunk_hashes) for purpose in purposes],
                    model=self._model,
                    owner=self._liveness.owner,
                )
            return dict(rows)

        kept = await self._workspace.retry_while_down(keep)
        return [kept[key] for key, *_ in replies]


async def answered(tx: Transaction, keys: Sequence[UUID]) -> set[UUID]:
    """Those of the keys that have a stored reply."""
    return {key for (key,) in await tx.rows("reply.answered", keys=Ids(keys))}


def _as_array(ids: Sequence[UUID]) -> str | None:
    """These ids as PostgreSQL writes an array, because it cannot unnest arrays of arrays; None if there are none."""
    return f"{{{','.join(map(str, ids))}}}" if ids else None


_BUSY = b""  # no payload is empty
