"""Sessions of browsers: opened with a key or for a caller that logged in otherwise, found by their secret, and closed.

The secret is in a cookie; the database has its SHA-256. A session opened with a key may do what the key may do now, and
ends with it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import IDLE, KeyScope, ValidKey, hash_of
from trueweave.store.postgres.db import Database

LONGEST = timedelta(days=7)

_FORM = re.compile(r"[0-9A-Za-z_-]{43}")
_MOST_OF_CALLER = 100


class OpenedSession(NamedTuple):
    """A new session with its secret, which is only known now."""

    secret: str
    ends: datetime


class ValidSession(NamedTuple):
    """A session that is valid now: who it is for, the prefix of its key if it was opened with one, and its end."""

    caller: ValidKey
    key: str | None
    ends: datetime


async def open_for_key(database: Database, prefix: str) -> OpenedSession | None:
    """Open a session for a key; None if the key has been revoked or has expired."""
    secret = secrets.token_urlsafe(32)
    async with database.transaction(None) as tx:
        rows = await tx.rows("web_session.open_for_key", secret_hash=hash_of(secret), prefix=prefix, longest=LONGEST)
        await tx.run("web_session.prune", caller=prefix, idle=IDLE, most=_MOST_OF_CALLER)
    return OpenedSession(secret, rows[0][0]) if rows else None


async def open_for_caller(
    database: Database,
    caller: str,
    name: str,
    scope: KeyScope,
    workspaces: Collection[int] | None,
    groups: Collection[str] = (),
) -> OpenedSession:
    """Open a session for a caller that logged in without a key, with the rights that it has now."""
    secret = secrets.token_urlsafe(32)
    async with database.transaction(None) as tx:
        ends = await tx.value(
            "web_session.open_for_caller",
            secret_hash=hash_of(secret),
            caller=caller,
            name=name,
            scope=scope,
            workspaces=None if workspaces is None else sorted(workspaces),
            groups=sorted(groups),
            longest=LONGEST,
        )
        await tx.run("web_session.prune", caller=caller, idle=IDLE, most=_MOST_OF_CALLER)
    return OpenedSession(secret, ends)


def is_session(secret: str) -> bool:
    """Whether a secret has the form of one of a session. If not, it cannot be one."""
    return _FORM.fullmatch(secret) is not None


async def find(database: Database, given: Sequence[str]) -> list[ValidSession | None]:
    """The sessions that these secrets belong to, in one transaction; None for each that has ended or never was."""
    hashes = [hash_of(secret) for secret in given]
    async with database.transaction(None) as tx:
        rows = {bytes(row[0]): row[1:] for row in await tx.rows("web_session.find", hashes=hashes, idle=IDLE)}
        keys = await api_keys.valid(tx, {row[0] for row in rows.values() if row[0] is not None})
        found: dict[bytes, ValidSession] = {}
        for hashed, (key, caller, name, scope, workspaces, groups, ends, _) in rows.items():
            if key is None:
                ids = None if workspaces is None else frozenset(workspaces)
                found[hashed] = ValidSession(ValidKey(caller, name, scope, ids, tuple(groups)), None, ends)
            elif valid := keys.get(key):
                found[hashed] = ValidSession(valid, key, ends)
        if used := [hashed for hashed in found if rows[hashed][-1]]:
            await tx.run("web_session.used", hashes=used)
    return [found.get(hashed) for hashed in hashes]


async def close(database: Database, secret: str) -> None:
    """End a session."""
    async with database.transaction(None) as tx:
        await tx.run("web_session.close", secret_hash=hash_of(secret))
