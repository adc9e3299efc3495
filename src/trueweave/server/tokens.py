"""Checks tokens of an identity provider (OpenID Connect) and reads from their claims who calls and what is allowed."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jwt
from jwt.exceptions import InvalidSubjectError, PyJWTError

from trueweave.core.errors import ConfigError
from trueweave.core.record import groups_of, is_group, is_storable
from trueweave.core.settings import Settings
from trueweave.server.problems import Refusal
from trueweave.server.signing_keys import ProviderUnavailable, SigningKeys, is_safe
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import NO_LIMITS, SCOPES, KeyLimits, KeyScope
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.public_errors import translated

ALL_WORKSPACES = "*"
SCOPE_PREFIX = "trueweave:"

_log = logging.getLogger(__name__)
_LEEWAY = 30.0  # seconds by which the clocks of two machines may differ
_FRESH = 5.0  # seconds for which a checked token is trusted without another check
_MOST = 10_000
_LONGEST = 16 * 2**10
_LONGEST_SUBJECT = 255  # the limit in the standard
_MOST_NAMES = 1000
_NAME = 200
_FAR = 2**53  # seconds


class ValidToken(NamedTuple):
    """The caller that a valid token identifies. `id` is issuer and subject; it cannot equal the prefix of a key. It
    reads as `groups`."""

    id: str
    name: str
    scope: KeyScope
    workspaces: frozenset[int] | None
    groups: tuple[str, ...] = ()
    limits: KeyLimits = NO_LIMITS


class _Claimed(NamedTuple):
    """The claims of a token: subject, scope, workspaces by name (None means all), groups (None if the claim is not
    valid) and expiry."""

    subject: str
    scope: KeyScope | None
    names: frozenset[str] | None
    groups: tuple[str, ...] | None
    expires: float


def check_provider(settings: Settings) -> None:
    """Raise ConfigError if the settings name an identity provider whose tokens cannot be checked safely."""
    if settings.oidc_issuer is None:
        return
    if not is_safe(settings.oidc_issuer):
        raise ConfigError(
            f"oidc_issuer is {settings.oidc_issuer}, and keys fetched from there could be forged. Use an address "
            "that starts with https://, or one of this machine."
        )
    if not settings.oidc_audience:
        raise ConfigError(
            "oidc_issuer is set and oidc_audience is not: any token of the provider would be accepted, even one "
            "for another application. Set it to the provider's name for this server."
        )


class Tokens:
    """Checks tokens of the configured provider. Valid tokens are cached for a few seconds."""

    def __init__(self, database: Database, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        assert settings.oidc_issuer
        self._database = database
        self._issuer = settings.oidc_issuer
        self._settings = settings
        self._keys = SigningKeys(self._issuer, settings.oidc_algorithms, now)
        self._now = now
        self._known: OrderedDict[bytes, tuple[ValidToken, float]] = OrderedDict()  # by hash, so that no token is stored

    async def find(self, token: str) -> ValidToken | None:
        """The caller that a token identifies; None if the token is not valid. Raises Refusal if it grants no scope, if
        its groups are not valid, or if the keys of the provider cannot be fetched."""
        if len(token) > _LONGEST:
            return None
        hashed = hashlib.sha256(token.encode(errors="replace")).digest()
        found, until = self._known.get(hashed, (None, 0.0))
        if found and self._now() < until:
            return found
        self._known.pop(hashed, None)
        claimed = await self._claimed(token)
        if claimed is None:
            return None
        if claimed.scope is None:
            wanted = ", ".join(f"{SCOPE_PREFIX}{one}" for one in SCOPES)
            raise Refusal(
                403,
                "forbidden",
                f"The token has none of {wanted} in its claim {self._settings.oidc_scope_claim}.",
                "Ask the administrator of the identity provider for one of them.",
                {"WWW-Authenticate": 'Bearer error="insufficient_scope"'},
            )
        if claimed.groups is None:
            raise Refusal(
                403,
                "forbidden",
                f"The claim {self._settings.oidc_groups_claim} of the token is neither a text nor a list of texts.",
                "Ask the administrator of the identity provider to put the names of groups into it.",
            )
        valid = ValidToken(
            f"{self._issuer}#{claimed.subject}",
            claimed.subject,
            claimed.scope,
            await self._numbers(claimed.names),
            claimed.groups,
        )
        left = min(_FRESH, claimed.expires + _LEEWAY - time.time())
        self._known[hashed] = valid, self._now() + left
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return valid

    async def identity(self, token: str, client: str, nonce: str) -> str | None:
        """The subject of an ID token that the provider issued for this client and this login; None if it is not valid.
        Raises Refusal if the keys of the provider cannot be fetched."""
        claims = await self._verified(token, client) if len(token) <= _LONGEST else None
        if claims is None:
            return None
        if claims.get("nonce") != nonce or claims.get("azp", client) != client:
            _log.info("an ID token was refused: it is of another login", extra={"event": "oidc.refused"})
            return None
        return str(claims["sub"])

    async def aclose(self) -> None:
        """Cancel any request to the provider."""
        await self._keys.aclose()

    async def _claimed(self, token: str) -> _Claimed | None:
        """The claims of a token, if the provider issued it for this server and it is valid now."""
        assert self._settings.oidc_audience
        claims = await self._verified(token, self._settings.oidc_audience)
        try:
            return None if claims is None else self._read(claims)
        except PyJWTError as error:
            _log.info("a token was refused: %s", error, extra={"event": "oidc.refused"})
            return None

    async def _verified(self, token: str, audience: str) -> Mapping[str, Any] | None:
        """All claims of a token, if the provider issued it for this audience and it is valid now."""
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key_id = header.get("alg"), header.get("kid")
            if algorithm not in self._settings.oidc_algorithms:
                raise jwt.InvalidAlgorithmError(f"the algorithm {str(algorithm)[:20]!r} is not among oidc_algorithms")
            key = await self._keys.find(key_id, algorithm)
            if key is None:
                raise jwt.InvalidKeyError("the provider has no such key for this algorithm")
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                [algorithm],
                audience=audience,
                issuer=self._issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            return claims
        except PyJWTError as error:
            _log.info("a token was refused: %s", error, extra={"event": "oidc.refused"})
            return None
        except ProviderUnavailable as error:
            raise Refusal(
                503,
                "identity_provider_unavailable",
                "The token cannot be checked, because the identity provider does not answer.",
                "Try again later. Keys of this server still work.",
                {"Retry-After": str(error.retry_after)},
            ) from error

    def _read(self, claims: Mapping[str, Any]) -> _Claimed:
        subject = claims["sub"]
        if not subject or len(subject) > _LONGEST_SUBJECT or not subject.isprintable():
            raise InvalidSubjectError("the subject is empty, too long, or has characters that cannot be printed")
        said = _at(claims, self._settings.oidc_scope_claim)
        words = said.split() if isinstance(said, str) else _texts(said)
        scopes = [one for one in SCOPES if f"{SCOPE_PREFIX}{one}" in words]
        named = _at(claims, self._settings.oidc_workspaces_claim)
        names = [named] if isinstance(named, str) else _texts(named)
        return _Claimed(
            subject,
            scopes[-1] if scopes else None,
            None if ALL_WORKSPACES in names else frozenset(names),
            _groups(_at(claims, self._settings.oidc_groups_claim)),
            float(min(int(claims["exp"]), _FAR)),
        )

    async def _numbers(self, names: frozenset[str] | None) -> frozenset[int] | None:
        """The ids of the workspaces with these names. Unknown names are ignored."""
        if names is None:
            return None
        usable = sorted(one for one in names if one and len(one) <= _NAME and is_storable(one))
        if not usable:
            return frozenset()
        with translated():
            return await api_keys.numbers(self._database, usable[:_MOST_NAMES])


def _groups(value: Any) -> tuple[str, ...] | None:
    """The groups in a claim: none if it is missing, None if it has another form. No document can have readers whose
    name cannot be that of a group, so these are left out."""
    if value is None:
        return ()
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return None
    return groups_of(one for one in names if is_group(one))


def _at(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of this name; if there is none, the name is read as a dotted path."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) or found is claims else None
    return found


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
