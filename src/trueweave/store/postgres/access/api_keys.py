"""API keys of the server: created, found by their public prefix, listed and revoked.

A secret has 256 random bits and is stored as its SHA-256. Passwords need a slow hash because people choose from few;
there are too many such secrets to try, so a fast hash, which adds no cost to a request, is appropriate.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

from trueweave.core.errors import InvalidArgument
from trueweave.core.record import groups_of
from trueweave.store.postgres.db import Database, Transaction

KeyScope = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)

KEY_START = "twk_"
IDLE = timedelta(hours=12)  # without a request, after which a session ends

_PREFIX = re.compile(r"[0-9a-f]{12}")
_FORM = re.compile(r"twk_([0-9a-f]{12})_([0-9A-Za-z_-]{43})")
_LONGEST_NAME = 200
_MOST_GROUPS = 1000
_IS_FIRST_TODAY = 5  # index of the column in a row of `find` that says whether this is the key's first use today
_NO_KEY: tuple[Any, ...] = (bytes(32),)


class KeyLimits(NamedTuple):
    """Daily limits (UTC) on the model usage of one caller: tokens and money. None means no own limit."""

    tokens_per_day: int | None = None
    spend_per_day: Decimal | None = None

    def lowered_to(self, other: KeyLimits) -> KeyLimits:
        """The lower of both limits, for tokens and for money."""
        return KeyLimits(
            min((one for one in (self.tokens_per_day, other.tokens_per_day) if one is not None), default=None),
            min((one for one in (self.spend_per_day, other.spend_per_day) if one is not None), default=None),
        )


NO_LIMITS = KeyLimits()


@dataclass(frozen=True, slots=True)
class ApiKeyInfo:
    """A key as listed. `workspaces` are names; None means all. It reads as `groups`. Today's usage is only known for
    keys with a limit. `sessions` are those of browsers that are logged in with it."""

    prefix: str
    name: str
    scope: KeyScope
    workspaces: tuple[str, ...] | None
    groups: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    last_used: date | None
    max_tokens_per_day: int | None
    max_spend_per_day: Decimal | None
    tokens_today: int
    spend_today: Decimal
    sessions: int
    sessions_last_used: datetime | None


class MadeKey(NamedTuple):
    """A new key with its secret, which is shown only now."""

    prefix: str
    token: str
    created: datetime
    expires: datetime | None
    limits: KeyLimits


class ValidKey(NamedTuple):
    """The caller identified by a key that is valid now. `workspaces` are ids; None means all. It reads as `groups`.
    `makers` are the callers whose limits it shares, with those limits."""

    prefix: str
    name: str
    scope: KeyScope
    workspaces: frozenset[int] | None
    groups: tuple[str, ...] = ()
    limits: KeyLimits = NO_LIMITS
    makers: tuple[tuple[str, KeyLimits], ...] = ()


class WorkspaceRow(NamedTuple):
    """A workspace as shown to a caller."""

    id: int
    name: str
    created: datetime


async def make(
    database: Database,
    name: str,
    scope: KeyScope,
    workspaces: Collection[int] | None,
    expires: datetime | None = None,
    limits: KeyLimits = NO_LIMITS,
    groups: Collection[str] = (),
) -> MadeKey:
    """Create a key, which reads as these groups. Only a hash of its secret is stored."""
    made = await _make(database, "api_key.make", name, scope, workspaces, expires, limits, groups)
    assert made, "only a key that another one makes can be refused"
    return made


async def derive(
    database: Database,
    maker: str,
    makers: Collection[str],
    name: str,
    scope: KeyScope,
    workspaces: Collection[int] | None,
    expires: datetime | None = None,
    limits: KeyLimits = NO_LIMITS,
    groups: Collection[str] = (),
) -> MadeKey | None:
    """Create a key for the caller `maker`, which shares the limits of `makers`. It expires no later and has no higher
    limits than its maker. None if the maker has been revoked or has expired."""
    return await _make(
        database, "api_key.derive", name, scope, workspaces, expires, limits, groups, maker=maker, makers=list(makers)
    )


async def _make(
    database: Database,
    query: str,
    name: str,
    scope: KeyScope,
    workspaces: Collection[int] | None,
    expires: datetime | None,
    limits: KeyLimits,
    groups: Collection[str],
    **more: object,
) -> MadeKey | None:
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise InvalidArgument(f"a key needs a name of 1 to {_LONGEST_NAME} characters, to identify its owner.")
    if len(groups) > _MOST_GROUPS:
        raise InvalidArgument(f"a key has {_MOST_GROUPS:,} groups at most.")
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    async with database.transaction(None) as tx:
        rows = await tx.rows(
            query,
            prefix=prefix,
            secret_hash=hash_of(secret),
            name=name,
            scope=scope,
            workspaces=None if workspaces is None else sorted(workspaces),
            groups=list(_checked(groups)),
            expires=expires,
            tokens=limits.tokens_per_day,
            spend=limits.spend_per_day,
            **more,
        )
    if not rows:
        return None
    [(created, ends, *lowered)] = rows
    return MadeKey(prefix, f"{KEY_START}{prefix}_{secret}", created, ends, KeyLimits(*lowered))


def _checked(groups: Collection[str]) -> tuple[str, ...]:
    try:
        return groups_of(groups)
    except ValueError as error:
        raise InvalidArgument(f"{error}.") from error


def is_key(token: str) -> bool:
    """Whether a token has the form of a key. If not, it cannot be one."""
    return _FORM.fullmatch(token) is not None


async def find(database: Database, tokens: Sequence[str]) -> list[ValidKey | None]:
    """The callers that these keys identify, in one transaction; None for each that is not a key, was revoked, or has
    expired."""
    parts = [match.groups() if (match := _FORM.fullmatch(token)) else ("", "") for token in tokens]
    async with database.transaction(None) as tx:
        rows = {row[0]: row[1:] for row in await tx.rows("api_key.find", prefixes=[prefix for prefix, _ in parts])}
        found = [_proven(prefix, secret, rows.get(prefix)) for prefix, secret in parts]
        await _note_use(tx, {one.prefix: rows[one.prefix] for one in found if one})
    return found


async def valid(tx: Transaction, prefixes: Collection[str]) -> dict[str, ValidKey]:
    """The keys with these prefixes that are valid now, for sessions, whose own secrets were checked already."""
    if not prefixes:
        return {}
    rows = {row[0]: row[1:] for row in await tx.rows("api_key.find", prefixes=sorted(prefixes))}
    await _note_use(tx, rows)
    return {prefix: _valid(prefix, row) for prefix, row in rows.items()}


async def _note_use(tx: Transaction, rows: Mapping[str, Sequence[Any]]) -> None:
    if first := sorted(prefix for prefix, row in rows.items() if row[_IS_FIRST_TODAY]):
        await tx.run("api_key.used", prefixes=first)


def _proven(prefix: str, secret: str, row: Sequence[Any] | None) -> ValidKey | None:
    stored, *_ = row or _NO_KEY
    return _valid(prefix, row) if hmac.compare_digest(bytes(stored), hash_of(secret)) and row else None


def _valid(prefix: str, row: Sequence[Any]) -> ValidKey:
    _, name, scope, workspaces, groups, _, tokens, spend, makers, *lists = row
    ids = None if workspaces is None else frozenset(workspaces)
    shared = (
        tuple((caller, KeyLimits(*limits)) for caller, *limits in zip(makers, *lists, strict=True)) if makers else ()
    )
    return ValidKey(prefix, name, scope, ids, tuple(groups), KeyLimits(tokens, spend), shared)


async def listed(
    database: Database,
    limit: int,
    *,
    within: Collection[int] | None = None,
    after: tuple[datetime, str] | None = None,
) -> list[ApiKeyInfo]:
    """Keys in order of creation: all, or those restricted to these workspaces. `after` is the creation time and prefix
    of the last key of the previous page."""
    created, prefix = after or (None, None)
    ids = None if within is None else sorted(within)
    async with database.transaction(None) as tx:
        rows = await tx.rows("api_key.listed", limit=limit, within=ids, after=created, prefix=prefix, idle=IDLE)
    return [ApiKeyInfo(p, n, s, None if is_all else tuple(w), tuple(g), *rest) for p, n, s, is_all, w, g, *rest in rows]


async def revoke(database: Database, prefix: str, *, within: Collection[int] | None = None) -> bool:
    """Revoke a key; returns whether there is one with this prefix, among those restricted to these workspaces."""
    ids = None if within is None else sorted(within)
    async with database.transaction(None) as tx:
        return await tx.value("api_key.revoke", prefix=prefix, within=ids) is not None


async def is_usable(database: Database, caller: str) -> bool:
    """Whether a caller is not a key that was revoked or has expired. Nothing is known about tokens of an identity
    provider."""
    if not _PREFIX.fullmatch(caller):
        return True
    async with database.transaction(None) as tx:
        return bool(await tx.rows("api_key.find", prefixes=[caller]))


async def any_valid(database: Database) -> bool:
    """Whether there is a key that is valid now."""
    async with database.transaction(None) as tx:
        return bool(await tx.value("api_key.any"))


async def workspaces(
    database: Database, limit: int, *, only: Collection[int] | None = None, after: str = ""
) -> list[WorkspaceRow]:
    """Workspaces by name, after this one: all, or those with these ids."""
    ids = None if only is None else sorted(only)
    async with database.transaction(None) as tx:
        return [WorkspaceRow(*row) for row in await tx.rows("api_key.workspaces", only=ids, after=after, limit=limit)]


async def numbers(database: Database, names: Collection[str]) -> frozenset[int]:
    """The ids of the workspaces with these names; unknown names are left out."""
    async with database.transaction(None) as tx:
        return frozenset(id_ for (id_,) in await tx.rows("api_key.numbers", names=list(names)))


def hash_of(secret: str) -> bytes:
    """What the database stores of a secret. Secrets are random and long, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).digest()
