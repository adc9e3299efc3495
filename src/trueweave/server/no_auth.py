"""Serving without authentication (`--no-auth`): to programs on this machine, until the first key is created."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.types import Scope

from trueweave.server.origins import Origin, is_direct, origin_of, own_origin
from trueweave.server.problems import Refusal
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.public_errors import translated

_log = logging.getLogger(__name__)
_SAME_SITE = frozenset({"same-origin", "none"})  # "same-site" includes pages served from other ports of this machine


class NoAuth:
    """Whether this process still serves without authentication. Once it has seen a valid key, it never does again."""

    def __init__(self) -> None:
        self._has_ended = False

    async def is_in_force(self, database: Database) -> bool:
        """Whether no valid key exists. Each request queries the database: another process may create the first key."""
        if not self._has_ended:
            with translated():
                self._has_ended = await api_keys.any_valid(database)
            if self._has_ended:
                _log.warning("--no-auth ended: there is a key now", extra={"event": "server.no_auth_ended"})
        return not self._has_ended


def check_local(scope: Scope, headers: Headers) -> None:
    """Raise Refusal unless the request comes directly from a program on this machine, or from a page of this server.

    A web page of another origin can send requests to loopback addresses, and a proxy on this machine makes remote
    requests look local.
    """
    if not is_direct(scope, headers):
        raise _refusal("This request came through a proxy or from another machine.")
    own = own_origin(scope, headers)
    if own is None or (own.host, own.port) not in _own(scope):
        raise _refusal("The Host header does not name the address and port of this server.")
    if headers.get("sec-fetch-site", "none") not in _SAME_SITE or not _is_own_origin(headers, own):
        raise _refusal("This request came from a web page of another origin.")


def _own(scope: Scope) -> set[tuple[str, int]]:
    """The host and port pairs that clients may use for the socket that received this request."""
    host, port = scope["server"]
    return {(f"[{host}]" if ":" in host else host, port), ("localhost", port)}


def _is_own_origin(headers: Headers, own: Origin) -> bool:
    given = headers.getlist("origin")
    return not given or origin_of(given) == own


def _refusal(detail: str) -> Refusal:
    return Refusal(
        403,
        "forbidden",
        f"{detail} With --no-auth, the server answers only direct requests from this machine.",
        "Make a key with `trueweave keys create NAME`, and send it as `Authorization: Bearer twk_…`.",
    )
