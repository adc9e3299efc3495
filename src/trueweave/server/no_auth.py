"""Serving without authentication (`--no-auth`): to programs on this machine, until the first key is created."""

from __future__ import annotations

import logging
import re

from starlette.datastructures import Headers
from starlette.types import Scope

from trueweave.server.loopback import is_loopback
from trueweave.server.problems import Refusal
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.public_errors import translated

_log = logging.getLogger(__name__)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[0-9a-z.-]+)(?::(?P<port>[0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-real-ip"})
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
    if not _is_direct(scope, headers):
        raise _refusal("This request came through a proxy or from another machine.")
    host = _authority(headers.getlist("host"), scope["scheme"])
    if host is None or host not in _own(scope):
        raise _refusal("The Host header does not name the address and port of this server.")
    if headers.get("sec-fetch-site", "none") not in _SAME_SITE or not _is_own_origin(scope, headers, host):
        raise _refusal("This request came from a web page of another origin.")


def _is_direct(scope: Scope, headers: Headers) -> bool:
    server, client = scope.get("server"), scope.get("client")
    if not (server and client and is_loopback(server[0]) and is_loopback(client[0])):
        return False
    if scope["http_version"] == "1.0":  # used by proxies, such as nginx, that may add no header
        return False
    names = {name.lower() for name in headers}
    return names.isdisjoint(_PROXY_HEADERS) and not any(name.startswith("x-forwarded-") for name in names)


def _own(scope: Scope) -> set[tuple[str, int]]:
    """The host and port pairs that clients may use for the socket that received this request."""
    host, port = scope["server"]
    return {(f"[{host}]" if ":" in host else host, port), ("localhost", port)}


def _is_own_origin(scope: Scope, headers: Headers, host: tuple[str, int]) -> bool:
    given = headers.getlist("origin")
    if not given:
        return True
    scheme, _, authority = given[0].partition("://")
    return len(given) == 1 and scheme == scope["scheme"] and _authority([authority], scheme) == host


def _authority(given: list[str], scheme: str) -> tuple[str, int] | None:
    """Host and port of HOST, HOST:PORT or [HOST]:PORT; None unless exactly one is given."""
    found = _AUTHORITY.fullmatch(given[0].lower()) if len(given) == 1 else None
    return (found["host"], int(found["port"] or _PORTS[scheme])) if found and scheme in _PORTS else None


def _refusal(detail: str) -> Refusal:
    return Refusal(
        403,
        "forbidden",
        f"{detail} With --no-auth, the server answers only direct requests from this machine.",
        "Make a key with `trueweave keys create NAME`, and send it as `Authorization: Bearer twk_…`.",
    )
