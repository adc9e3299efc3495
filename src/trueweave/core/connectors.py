"""What a connector implements: the documents of another system, listed with their versions and fetched one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Protocol

from trueweave.core.errors import ConfigError
from trueweave.core.events import Skipped, Unreadable
from trueweave.core.protocols import Loader
from trueweave.core.record import Json

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be fetched: a page, a file, a message.

    `uri` is that of its document. While `version` stays the same, the item is not fetched again; an empty version is
    unknown, and the item is fetched, or asked about, in each run. `metadata` and `date` become metadata of the
    document, unless the file has its own. `readers` are the groups that may read it, whatever the file says; None if
    the connector does not know them. Where they change, the item is fetched again.
    """

    uri: str
    version: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    date: datetime | None = None
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content of an item, in a file. The file's extension selects the loader, unless one is given.

    `validator` is passed to the next `fetch` of this item, which can then find out whether it has changed: an ETag, for
    example.
    """

    path: Path
    validator: str = ""
    loader: Loader | None = None


class Connector(Protocol):
    """Lists the items at an address, and fetches them.

    Register it as an entry point in the group `trueweave.connectors`, named after the scheme of its addresses: a class
    or function that returns the connector when called with an address and a `ConnectorContext`. A connector is used by
    one run, in threads, by one at a time, so its methods may block.
    """

    @property
    def is_complete(self) -> bool:
        """Whether `items` lists all that there is. If not, as with a feed, documents that are no longer listed are
        kept."""
        ...

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        """The items, one at a time, the parts of the list that could not be read, and what is left out on purpose.
        Nothing is removed in a run in which a part could not be read. Raises `SourceUnavailable` if there is no list at
        all."""
        ...

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        """Write the content of an item to a file in this folder, which is empty. None if the item has not changed since
        `validator` was returned; that is empty if the item has never been fetched.

        An OSError, or an `InvalidDocument` such as `UnreadableFile`, makes this item unreadable; the others are still
        fetched. `ItemGone` says that it no longer exists. Any other error ends the run.
        """
        ...

    def close(self) -> None:
        """Release connections and files."""
        ...


@dataclass(frozen=True, slots=True)
class ConnectorContext:
    """What a connector may use. It must keep to the limits: bytes of one item, items of one address, seconds for one
    request, and seconds between requests to one host.

    `networks` are the private networks that it may connect to; `trueweave.extend.HttpFetcher` keeps to them and to the
    limits. If `ambient_credentials` is false, a caller of a server gave the address, and the connector must not use
    credentials that it finds by itself, in the environment or in files.
    """

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    networks: tuple[Network, ...] = ()
    max_bytes: int = 64 * 2**20
    max_items: int = 100_000
    seconds: float = 60.0
    pause: float = 0.0
    ambient_credentials: bool = True

    def secret(self, name: str) -> str | None:
        """A credential by the name that the connector gives it, such as `token`; None if the caller gave none."""
        return self.secrets.get(name)

    def check_secrets(self, *known: str) -> None:
        """ConfigError if the caller gave a credential that the connector does not know."""
        if unknown := sorted({*self.secrets} - {*known}):
            takes = f"It takes {', '.join(known)}" if known else "It takes none"
            raise ConfigError(f"this connector does not use a secret called {unknown[0]!r}. {takes}.")
