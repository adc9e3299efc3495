"""Connectors by the scheme of an address."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from urllib.parse import urlsplit

from trueweave.core.connectors import Connector, ConnectorContext
from trueweave.core.errors import ConfigError
from trueweave.core.plugins import Broken, broken, entry_points, load
from trueweave.core.record import is_storable
from trueweave.text.uris import is_address

GROUP = "trueweave.connectors"

_LONGEST = 2000


def scheme_of(address: str) -> str:
    """The scheme of an address, such as `git+https`: the name of its connector."""
    if not is_address(address):
        raise ConfigError(f"{address[:100]!r} is not an address. Addresses look like https://example.org/.")
    return address.partition(":")[0].lower()


def check_address(address: str) -> None:
    """ConfigError if there is no connector for the scheme of an address, or the address is invalid."""
    _entry(address)


def open_connector(address: str, context: ConnectorContext) -> Connector:
    """The connector for an address. ConfigError if there is none for its scheme, or the address is invalid."""
    make = load(_entry(address), "connector", lambda kept: kept)
    connector: Connector = make(address, context)
    return connector


def _entry(address: str) -> EntryPoint:
    scheme = scheme_of(address)
    _check(address)
    found = [entry for entry in entry_points(group=GROUP) if entry.name == scheme]
    if not found:
        known = ", ".join(sorted({entry.name for entry in entry_points(group=GROUP)}))
        raise ConfigError(
            f"there is no connector for {scheme}:// addresses. There are connectors for {known}; packages can add more "
            f"with the entry point group {GROUP}."
        )
    if len(found) > 1:
        values = " and ".join(entry.value for entry in found)
        raise ConfigError(f"{values} are both connectors for {scheme}:// addresses. Uninstall one of them.")
    return found[0]


def broken_connectors() -> list[Broken]:
    """The installed connectors that cannot be imported, with the reasons."""
    return broken(GROUP, "connector", ())


def _check(address: str) -> None:
    if not is_storable(address) or any(ord(letter) < 33 for letter in address) or len(address) > _LONGEST:
        raise ConfigError(
            f"{address[:100]!r} is not a valid address: it has spaces or control characters, or more than {_LONGEST:,} "
            "characters."
        )
    try:
        has_password = urlsplit(address).password is not None
    except ValueError as error:
        raise ConfigError(f"{address[:100]!r} is not a valid address: {error}.") from error
    if has_password:
        raise ConfigError(
            f"an address of {scheme_of(address)}:// has a password in it, which would become part of the names of "
            "documents. Put the password into an environment variable, and name the variable, as in "
            "--secret password=MY_PASSWORD."
        )
