"""The documents that came from addresses, with the versions of the items that they were read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction

_PAGE = 5000


class ConnectorDocument(NamedTuple):
    """A document, the item it came from, that item's version, the validator of its content, and a hash of what it was
    read with. With an empty uri, all documents of the item."""

    uri: str
    item: str
    version: str
    validator: str
    recipe: UUID


class KnownItem(NamedTuple):
    """A document of an address, its item, and whether another address has it, too."""

    uri: str
    item: str
    is_elsewhere: bool


async def stored(tx: Transaction, origin: UUID, items: Mapping[str, UUID]) -> list[tuple[str, str, str, bool]]:
    """Those of these items that the workspace has: uri, version, validator, and whether all their documents are there,
    read with the recipe of the item."""
    rows = await tx.rows("connector_document.stored", origin=origin, items=Texts(items), recipes=Ids(items.values()))
    return [tuple(row) for row in rows]


async def record(tx: Transaction, origin: UUID, read: Sequence[ConnectorDocument]) -> None:
    """Record items that were read, with their documents, or that were found unchanged."""
    fresh = [one for one in read if one.uri]
    await tx.run(
        "connector_document.record",
        origin=origin,
        recipes=Ids(one.recipe for one in fresh),
        uris=Texts(one.uri for one in fresh),
        items=Texts(one.item for one in fresh),
        versions=Texts(one.version for one in fresh),
        validators=Texts(one.validator for one in fresh),
    )
    unchanged = [one for one in read if not one.uri]
    await tx.run(
        "connector_document.unchanged",
        origin=origin,
        items=Texts(one.item for one in unchanged),
        versions=Texts(one.version for one in unchanged),
    )


async def page(tx: Transaction, origin: UUID, after: str) -> list[KnownItem]:
    """The next documents of an address, in the order of their uris."""
    return [
        KnownItem(*row) for row in await tx.rows("connector_document.page", origin=origin, after=after, limit=_PAGE)
    ]


async def forget(tx: Transaction, origin: UUID, uris: Sequence[str]) -> None:
    """Forget documents of an address that were removed."""
    await tx.run("connector_document.forget", origin=origin, uris=Texts(uris))
