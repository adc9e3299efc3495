"""Logging in at the identity provider: the authorization code flow with PKCE, of which the server is the client.

The browser is sent to the provider and comes back with a code. The server exchanges the code for tokens, checks them,
and forgets them: the browser never has one.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx2

from trueweave.core.errors import ConfigError
from trueweave.core.settings import Settings, secret
from trueweave.server.signing_keys import ProviderUnavailable, ProviderUnusable, fetch_json, is_safe
from trueweave.server.tokens import Tokens, ValidToken

_FRESH = 300.0  # seconds for which the addresses of the provider are cached
_PAUSE = 10.0  # seconds between two attempts to fetch them
_PATIENCE = 10.0  # timeout in seconds for a request to the provider


class LoginFailed(Exception):
    """The provider did not log anybody in, or its tokens are not valid here."""


class StartedLogin(NamedTuple):
    """A login in progress. The browser keeps it in a cookie, so that no other browser can finish it."""

    state: str
    nonce: str
    verifier: str
    next: str

    def packed(self) -> str:
        """The form in the cookie."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @classmethod
    def unpacked(cls, text: str) -> StartedLogin | None:
        """The login in a cookie; None if it is not valid."""
        try:
            found = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, RecursionError):
            return None
        is_valid = isinstance(found, list) and len(found) == 4 and all(isinstance(one, str) and one for one in found)
        return cls(*found) if is_valid else None


class _Addresses(NamedTuple):
    """The addresses of the provider."""

    authorization: str
    token: str


def check_login(settings: Settings) -> None:
    """Raise ConfigError if the settings of logging in at a provider are incomplete."""
    if settings.oidc_client_id is None:
        return
    if settings.oidc_issuer is None:
        raise ConfigError("oidc_client_id is set and oidc_issuer is not. Set both, or neither.")
    if (variable := settings.oidc_client_secret_variable) and not secret(variable):
        raise ConfigError(f"oidc_client_secret_variable names {variable}, which is not set. Set it, or leave it out.")


class ProviderLogin:
    """Logs browsers in at the provider of the settings."""

    def __init__(self, settings: Settings, tokens: Tokens, now: Callable[[], float] = time.monotonic) -> None:
        assert settings.oidc_issuer
        assert settings.oidc_client_id
        self._issuer = settings.oidc_issuer
        self._client_id = settings.oidc_client_id
        variable = settings.oidc_client_secret_variable
        self._secret = secret(variable) if variable else None
        self._scopes = settings.oidc_login_scopes
        self._tokens = tokens
        self._now = now
        self._found: _Addresses | None = None
        self._read = self._tried = -_FRESH - 1
        self._fetching = asyncio.Lock()

    async def start(self, callback: str, next_path: str) -> tuple[str, StartedLogin]:
        """The address at the provider to send the browser to, and what the browser has to bring back. Raises
        ProviderUnavailable."""
        place = (await self._addresses()).authorization
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        started = StartedLogin(state, nonce, verifier, next_path)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(started.verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": callback,
            "scope": " ".join(dict.fromkeys(("openid", *self._scopes))),
            "state": started.state,
            "nonce": started.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{place}{'&' if '?' in place else '?'}{urlencode(asked)}", started

    async def finish(self, started: StartedLogin, code: str, callback: str) -> ValidToken:
        """The caller that the provider logged in. Raises LoginFailed or ProviderUnavailable, and Refusal if the token
        grants no scope here."""
        given = await self._exchanged(code, started.verifier, callback)
        identity, access = given.get("id_token"), given.get("access_token")
        if not isinstance(identity, str):
            raise LoginFailed("the provider gave no ID token")
        subject = await self._tokens.identity(identity, self._client_id, started.nonce)
        if subject is None:
            raise LoginFailed("the ID token is not valid: the reason is in the log")
        # Providers with access tokens that only they can read put the claims into the ID token.
        for token in (access, identity):
            found = await self._tokens.find(token) if isinstance(token, str) else None
            if found:
                if found.name != subject:
                    raise LoginFailed("access token and ID token have different subjects")
                return found
        raise LoginFailed("neither the access token nor the ID token has the audience of oidc_audience")

    async def _exchanged(self, code: str, verifier: str, callback: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "code_verifier": verifier,
        }
        auth = (quote(self._client_id, safe=""), quote(self._secret, safe="")) if self._secret else None
        if auth is None:
            form["client_id"] = self._client_id
        place = (await self._addresses()).token
        try:
            async with asyncio.timeout(_PATIENCE), httpx2.AsyncClient(timeout=_PATIENCE, auth=auth) as client:
                return await fetch_json(client, place, form)
        except ProviderUnusable as error:
            raise LoginFailed(str(error)) from error
        except (httpx2.HTTPError, TimeoutError) as error:
            raise ProviderUnavailable(_PAUSE) from error

    async def _addresses(self) -> _Addresses:
        async with self._fetching:
            if self._found and self._now() - self._read < _FRESH:
                return self._found
            if self._now() - self._tried < _PAUSE:
                raise ProviderUnavailable(_PAUSE - (self._now() - self._tried))
            self._tried = self._now()
            place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            try:
                async with asyncio.timeout(_PATIENCE), httpx2.AsyncClient(timeout=_PATIENCE) as client:
                    described = await fetch_json(client, place)
            except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ProviderUnusable) as error:
                raise ProviderUnavailable(_PAUSE) from error
            found = [described.get(name) for name in ("authorization_endpoint", "token_endpoint")]
            are_safe = all(isinstance(one, str) and is_safe(one) for one in found)
            if described.get("issuer") != self._issuer or not are_safe:
                raise ProviderUnavailable(_PAUSE)
            self._found, self._read = _Addresses(*map(str, found)), self._now()
            return self._found
