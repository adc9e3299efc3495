"""The contract of connectors: a suite to inherit from, with one fixture to override.

class TestMyConnector(ConnectorContract):
    @pytest.fixture
    def remote(self) -> RemoteTexts:
        ...  # an empty place that the suite writes texts to, and that the connector reads
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from trueweave.core.connectors import Connector, Item
from trueweave.core.record import is_storable


class RemoteTexts(Protocol):
    """A place with texts by name, and the connector that reads it."""

    def put(self, name: str, text: str) -> None:
        """Write a text, or replace it by another."""
        ...

    def delete(self, name: str) -> None:
        """Delete a text."""
        ...

    def open(self) -> Connector:
        """A new connector for the place."""
        ...


class ConnectorContract:
    """The contract of a `Connector`."""

    @pytest.fixture
    def remote(self) -> RemoteTexts:
        raise NotImplementedError("override remote: it gives a place with texts, and the connector that reads it")

    def test_every_item_is_listed_once_with_a_uri_that_stays(self, remote: RemoteTexts) -> None:
        remote.put("one", "The first text.")
        remote.put("two", "The second text.")
        first, again = listed(remote), listed(remote)
        assert len(first) == 2
        assert first.keys() == again.keys()
        assert all(uri and is_storable(uri) and len(uri.encode()) <= 2000 for uri in first)

    def test_a_version_stays_until_the_content_changes(self, remote: RemoteTexts) -> None:
        remote.put("one", "The first text.")
        remote.put("two", "The second text.")
        before, same = listed(remote), listed(remote)
        assert {uri: item.version for uri, item in before.items()} == {uri: item.version for uri, item in same.items()}
        remote.put("two", "Another second text.")
        changed = [uri for uri, item in listed(remote).items() if item.version != before[uri].version]
        versions = {item.version for item in before.values()}
        assert len(changed) == 1 or versions == {""}, "an item with a version changes it with its content, and no other"

    def test_an_item_is_fetched_into_the_folder(self, remote: RemoteTexts, tmp_path: Path) -> None:
        remote.put("one", "The first text.")
        with opened(remote) as connector:
            [item] = _items(connector)
            fetched = connector.fetch(item, tmp_path, "")
        assert fetched is not None
        assert fetched.path.parent == tmp_path
        assert b"The first text." in fetched.path.read_bytes()

    def test_a_validator_tells_whether_the_content_has_changed(self, remote: RemoteTexts, tmp_path: Path) -> None:
        remote.put("one", "The first text.")
        validator = _fetched(remote, tmp_path / "1")[0]
        if not validator:
            return  # the connector relies on versions alone
        assert _fetched(remote, tmp_path / "2", validator)[1] is None
        remote.put("one", "Another text.")
        assert b"Another text." in (_fetched(remote, tmp_path / "3", validator)[1] or b"")

    def test_a_deleted_item_is_no_longer_listed(self, remote: RemoteTexts) -> None:
        remote.put("one", "The first text.")
        remote.put("two", "The second text.")
        before = listed(remote)
        remote.delete("two")
        after = listed(remote)
        assert len(after) == 1
        assert after.keys() < before.keys()


@contextmanager
def opened(remote: RemoteTexts) -> Iterator[Connector]:
    """A connector that is closed at the end."""
    with closing(remote.open()) as connector:
        yield connector


def listed(remote: RemoteTexts) -> dict[str, Item]:
    """The items that a new connector lists, by uri. No uri is listed twice."""
    with opened(remote) as connector:
        items = _items(connector)
    found = {item.uri: item for item in items}
    assert len(found) == len(items), "a uri is listed twice"
    return found


def _items(connector: Connector) -> list[Item]:
    return [one for one in connector.items() if isinstance(one, Item)]


def _fetched(remote: RemoteTexts, folder: Path, validator: str = "") -> tuple[str, bytes | None]:
    folder.mkdir()
    with opened(remote) as connector:
        [item] = _items(connector)
        fetched = connector.fetch(item, folder, validator)
        return (fetched.validator, fetched.path.read_bytes()) if fetched else ("", None)
