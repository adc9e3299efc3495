"""The origins of web pages: which one is the server's own, and where browsers may have a session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import Scope

from trueweave.core.errors import ConfigError
from trueweave.server.loopback import is_loopback
from trueweave.server.problems import Refusal

COOKIE = "__Host-tw"  # browsers store it only if it is Secure, for one host, and came over https
LOCAL_COOKIE = "tw"

_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[0-9a-z.-]+)(?::(?P<port>[0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-real-ip"})
_READS = frozenset({"GET", "HEAD"})


class Origin(NamedTuple):
    """Scheme, host and port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def origin_of(given: list[str]) -> Origin | None:
    """The origin in the values of a header `Origin`; None unless there is exactly one, and it is valid."""
    if len(given) != 1:
        return None
    scheme, _, authority = given[0].partition("://")
    return _origin(scheme, authority)


def own_origin(scope: Scope, headers: Headers) -> Origin | None:
    """The origin that a request was sent to; None unless it has exactly one valid `Host`."""
    given = headers.getlist("host")
    return _origin(scope["scheme"], given[0]) if len(given) == 1 else None


def _origin(scheme: str, authority: str) -> Origin | None:
    found = _AUTHORITY.fullmatch(authority.lower())
    return Origin(scheme, found["host"], int(found["port"] or _PORTS[scheme])) if found and scheme in _PORTS else None


def is_direct(scope: Scope, headers: Headers) -> bool:
    """Whether a program on this machine sent a request, without a proxy."""
    server, client = scope.get("server"), scope.get("client")
    if not (server and client and is_loopback(server[0]) and is_loopback(client[0])):
        return False
    if scope["http_version"] == "1.0":  # used by proxies, such as nginx, that may add no header
        return False
    names = {name.lower() for name in headers}
    return names.isdisjoint(_PROXY_HEADERS) and not any(name.startswith("x-forwarded-") for name in names)


@dataclass(frozen=True)
class SessionOrigins:
    """Where browsers may have a session: at the https origin of `public_url`; without that, at any https origin that
    the server itself listens at; and over http only at `local_host`, directly from this machine.

    Browsers send a cookie to all ports of its host, so over http another server on this machine would receive it. The
    name of `local_host` is random: no other server is visited under it.
    """

    public: Origin | None = None
    local_host: str | None = None

    @classmethod
    def of(cls, public_url: str | None, local_host: str | None = None) -> SessionOrigins:
        """Raises ConfigError if `public_url` is not an https origin."""
        public = origin_of([public_url.rstrip("/")]) if public_url else None
        if public_url and (public is None or public.scheme != "https"):
            raise ConfigError(
                f"public_url is {public_url}. Set it to the address that browsers use: https, a host and, if needed, a "
                "port, as in https://trueweave.example.com."
            )
        return cls(public, local_host)

    def cookie(self, scope: Scope, headers: Headers) -> str | None:
        """The name of the cookie that may carry a session in this request; None if none may."""
        own = self.own(scope, headers)
        if own and own.scheme == "https":
            return COOKIE
        is_local = own and self.local_host and own.host == self.local_host and is_direct(scope, headers)
        return LOCAL_COOKIE if is_local else None

    def own(self, scope: Scope, headers: Headers) -> Origin | None:
        """The origin of this server, as the browser that sent the request knows it."""
        return self.public or own_origin(scope, headers)

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise Refusal if a page of another origin may have made a browser send this request with its cookie.

        Browsers send `Origin` with every write, and `Sec-Fetch-Site` with every request to an https or loopback origin.
        Neither can be set by scripts. A read may come without them, or from the address bar.
        """
        site, given = headers.getlist("sec-fetch-site"), headers.getlist("origin")
        if scope["method"] in _READS:
            is_own = site in ([], ["same-origin"], ["none"]) and (
                not given or origin_of(given) == self.own(scope, headers)
            )
        else:
            own = self.own(scope, headers)
            is_own = site == ["same-origin"] and own is not None and origin_of(given) == own
        if not is_own:
            raise Refusal(
                403,
                "forbidden",
                "This request did not come from a page of this server.",
                "Send it from the web UI, or send a key as `Authorization: Bearer twk_…`. If a proxy is in front, set "
                "public_url to the address that browsers use.",
            )
