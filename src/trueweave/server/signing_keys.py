"""The public keys of an identity provider: found through its discovery document, and cached.

Requests to the provider are rate-limited, so tokens with made-up key ids cannot flood it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpx2
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from trueweave.server.loopback import is_loopback

_log = logging.getLogger(__name__)

_FRESH = 300.0  # seconds after which the keys are fetched again; until then a withdrawn key is still accepted
_USABLE = 3600.0  # seconds for which cached keys are used while the provider does not answer
_PAUSE = 10.0  # seconds between two attempts to fetch them
_PATIENCE = 5.0  # timeout in seconds for fetching both documents
_MOST_BYTES = 2**20
_MOST_KEYS = 100
_RSA_BITS = 2048
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",), "Ed25519": ("EdDSA",)}


class ProviderUnavailable(Exception):
    """The identity provider does not return keys, and no usable ones are cached."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the identity provider does not answer")
        self.retry_after = max(1, round(seconds))


class ProviderUnusable(Exception):
    """The provider's response cannot be used."""


class _SigningKey(NamedTuple):
    """A public key with its id, for one algorithm."""

    id: str | None
    algorithm: str
    key: PyJWK


class SigningKeys:
    """The keys of one issuer, for these algorithms."""

    def __init__(self, issuer: str, algorithms: Collection[str], now: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._algorithms = frozenset(algorithms)
        self._now = now
        self._keys: tuple[_SigningKey, ...] = ()
        self._read = self._tried = -_USABLE - 1
        self._has_failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """The key with this id for this algorithm; None if the provider has none. Without an id, the provider must have
        exactly one key for the algorithm. Raises ProviderUnavailable if the keys cannot be fetched."""
        found = self._known(key_id, algorithm)
        if found is None or self._now() - self._read > _FRESH:
            await self._renew()
            found = self._known(key_id, algorithm)
        if self._has_failed and not (found and self._is_usable):
            raise ProviderUnavailable(_PAUSE - (self._now() - self._tried))
        return found

    async def aclose(self) -> None:
        """Cancel a fetch in progress."""
        if self._fetching:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    @property
    def _is_usable(self) -> bool:
        return self._now() - self._read <= _USABLE

    def _known(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        fitting = [one.key for one in self._keys if one.algorithm == algorithm and key_id in (None, one.id)]
        return fitting[0] if len(fitting) == 1 else None

    async def _renew(self) -> None:
        """Fetch the keys again, unless that was tried a moment ago. Concurrent callers wait for the same attempt. If
        the last attempt failed and the cached keys are still usable, nobody waits."""
        if self._fetching is None or self._fetching.done():
            if self._now() - self._tried < _PAUSE:
                return
            self._tried = self._now()
            self._fetching = asyncio.create_task(self._fetch())
        if not (self._has_failed and self._is_usable):
            await asyncio.shield(self._fetching)

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE), httpx2.AsyncClient(timeout=_PATIENCE) as client:
                self._keys = self._usable(await self._documents(client))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ProviderUnusable) as error:
            self._has_failed = True
            reason = str(error) or type(error).__name__
            _log.warning(
                "the keys of %s cannot be fetched: %s", self._issuer, reason, extra={"event": "oidc.unavailable"}
            )
            return
        self._has_failed = False
        self._read = self._now()

    async def _documents(self, client: httpx2.AsyncClient) -> list[Any]:
        """The keys as the provider publishes them."""
        described = await fetch_json(client, f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if described.get("issuer") != self._issuer:
            raise ProviderUnusable(f"its discovery document belongs to {str(described.get('issuer'))[:200]!r}")
        place = described.get("jwks_uri")
        if not isinstance(place, str) or not is_safe(place):
            raise ProviderUnusable("its discovery document has no https jwks_uri")
        keys = (await fetch_json(client, place)).get("keys")
        if not isinstance(keys, list):
            raise ProviderUnusable("its key set has no list of keys")
        return keys[:_MOST_KEYS]

    def _usable(self, published: list[Any]) -> tuple[_SigningKey, ...]:
        found: list[_SigningKey] = []
        for one in published:
            if not isinstance(one, dict) or one.get("use", "sig") != "sig":
                continue
            for algorithm in self._algorithms & _algorithms_of(one):
                try:
                    key = PyJWK(one, algorithm)
                except PyJWTError as error:
                    _log.info("a key of %s cannot be used: %s", self._issuer, error, extra={"event": "oidc.key"})
                    continue
                if algorithm not in _RSA or key.key.key_size >= _RSA_BITS:
                    id_ = one.get("kid")
                    found.append(_SigningKey(id_ if isinstance(id_, str) else None, algorithm, key))
        if not found:
            raise ProviderUnusable("its key set has no key for the algorithms of oidc_algorithms")
        return tuple(found)


def is_safe(url: str) -> bool:
    """Whether responses from this URL cannot be changed in transit: it uses https or a loopback address."""
    try:
        place = urlsplit(url)
    except ValueError:
        return False
    host = place.hostname or ""
    return bool(host) and (place.scheme == "https" or (place.scheme == "http" and is_loopback(host)))


def _algorithms_of(key: dict[str, Any]) -> frozenset[str]:
    """The algorithms that a published key may be used with, never one with a shared secret."""
    match key.get("kty"):
        case "RSA":
            fitting = frozenset(_RSA)
        case "EC" | "OKP":
            fitting = frozenset(_CURVES.get(str(key.get("crv")), ()))
        case _:
            return frozenset()
    named = key.get("alg")
    return fitting if named is None else fitting & {str(named)}


async def fetch_json(client: httpx2.AsyncClient, url: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Fetch a JSON object of bounded size, with GET, or by sending a form. Redirects are not followed. Raises
    ProviderUnusable for any other answer."""
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    method = "GET" if form is None else "POST"
    async with client.stream(method, url, data=form, headers=headers, follow_redirects=False) as response:
        if response.status_code != 200 or "content-encoding" in response.headers:
            raise ProviderUnusable(f"{url} answers with status {response.status_code}, and not with plain JSON")
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _MOST_BYTES:
                raise ProviderUnusable(f"{url} answers with more than {_MOST_BYTES:,} bytes")
    try:
        found = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise ProviderUnusable(f"{url} does not answer with JSON") from error
    if not isinstance(found, dict):
        raise ProviderUnusable(f"{url} does not answer with a JSON object")
    return cast("dict[str, Any]", found)
