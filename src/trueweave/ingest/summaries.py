"""Summarises long descriptions, once per content."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trueweave.core.errors import BadReply
from trueweave.core.events import Listener, WorkFailed, ignore
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.queue import failed_work
from trueweave.store.postgres.view import summaries

Summarise = Callable[[str, str], Awaitable[str]]  # (name, descriptions) -> one short description

AT_ONCE = 32


async def summarise_some(workspace: Workspace, summarise: Summarise, listener: Listener = ignore) -> int:
    """Summarise some of the queued descriptions; returns the number processed, 0 if the queue is empty.

    If the model fails, the description itself is used until it changes. A summary that fails because of a bug is marked
    and reported, and skipped until the description changes.
    """
    wanted = await summaries.due(workspace, AT_ONCE)
    # All finish, because they are paid for.
    outcomes = await asyncio.gather(*(summarise(one.name, one.description) for one in wanted), return_exceptions=True)
    made = {one.hash: text for one, text in zip(wanted, outcomes, strict=True) if isinstance(text, str) and text}
    await summaries.keep(workspace, made)
    failed = [(one, error) for one, error in zip(wanted, outcomes, strict=True) if one.hash not in made]
    if useless := [one.hash for one, error in failed if isinstance(error, str | BadReply)]:
        await summaries.drop(workspace, useless)
    for one, error in failed:
        if isinstance(error, BaseException) and not isinstance(error, BadReply):
            words = await failed_work.mark_defect(workspace, "summary", error, str(one.hash), one.name)
            listener(WorkFailed("summary", one.name, words))
    return len(wanted)
