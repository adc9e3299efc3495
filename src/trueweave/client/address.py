"""The address of a server, and its key."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from trueweave.core.errors import ConfigError
from trueweave.core.settings import secret

KEY_VARIABLE = "TRUEWEAVE_KEY"

_SCHEMES = ("https", "http")
_KEY = re.compile(r"[\x21-\x7e]+")


def is_server(url: str) -> bool:
    """Whether this is the address of a server, and not of a database."""
    return url.partition("://")[0].lower() in _SCHEMES


def checked_address(url: str, *, insecure: bool = False) -> str:
    """The address of a server, without a trailing slash. Raises ConfigError if it is not valid, or if a key would cross
    a network unencrypted and `insecure` does not allow it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is no address of a server: {error}. Write it like https://example.org.") from error
    if parts.scheme.lower() not in _SCHEMES or not host:
        raise ConfigError(f"{url!r} is no address of a server. Write it like https://example.org.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ConfigError(
            f"the address of the server at {host} has a user, a query or a fragment. Leave that out; the key is given "
            f"as `key`, or in {KEY_VARIABLE}."
        )
    if parts.scheme.lower() == "http" and not insecure and not _is_loopback(host):
        raise ConfigError(
            f"http://{host} would send key and documents unencrypted. Use https, or say insecure=True where the "
            "network between is trusted."
        )
    return url.rstrip("/")


def found_key(key: str | None) -> str | None:
    """The given key, or else that of the environment; None if there is none, because a server may need none."""
    found = key or secret(KEY_VARIABLE)
    if found is not None and not _KEY.fullmatch(found):
        raise ConfigError(
            f"the key of the server holds a space or a character that no key has. Check it, or {KEY_VARIABLE}."
        )
    return found


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
