"""The connectors keep to their contract, and the parts that they share to theirs."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tests.web_site import Answer, Site, web_site
from trueweave.errors import ConfigError
from trueweave.extend import Connector, ConnectorContext, Item
from trueweave.ingest.connectors import open_connector
from trueweave.ingest.connectors.http import is_forbidden
from trueweave.ingest.connectors.listing import Listing, StoredItem
from trueweave.testing.connectors import ConnectorContract, RemoteTexts
from trueweave.text.uris import is_address

CONTEXT = ConnectorContext(networks=(ip_network("127.0.0.0/8"),))


class SitemapOfTexts:
    """Texts on a web site, and a sitemap of them."""

    def __init__(self, site: Site, *, modified: bool) -> None:
        self._site = site
        self._texts: dict[str, int] = {}
        self._modified = modified

    def put(self, name: str, text: str) -> None:
        self._texts[name] = self._texts.get(name, 0) + 1
        self._site.page(f"/{name}", text)

    def delete(self, name: str) -> None:
        del self._texts[name], self._site.pages[f"/{name}"]

    def open(self) -> Connector:
        if not self._modified:
            addresses = "\n".join(f"{self._site.url}/{name}" for name in self._texts)
            self._site.pages["/all.txt"] = Answer(addresses.encode())
            return open_connector(f"sitemap+{self._site.url}/all.txt", CONTEXT)
        urls = "".join(
            f"<url><loc>{self._site.url}/{name}</loc><lastmod>2026-01-{n:02}</lastmod></url>"
            for name, n in self._texts.items()
        )
        self._site.pages["/all.xml"] = Answer(f"<urlset>{urls}</urlset>".encode())
        return open_connector(f"sitemap+{self._site.url}/all.xml", CONTEXT)


class TestSitemap(ConnectorContract):
    @pytest.fixture(params=[True, False], ids=["with dates", "list of addresses"])
    def remote(self, request: pytest.FixtureRequest) -> Iterator[RemoteTexts]:
        with web_site() as site:
            yield SitemapOfTexts(site, modified=request.param)


@pytest.mark.parametrize(
    ("address", "forbidden"),
    [
        ("93.184.216.34", False),
        ("2606:2800:220:1::1", False),
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("10.20.2.3", False),  # allowed below
        ("100.64.0.1", True),
        ("169.254.169.254", True),
        ("0.0.0.0", True),
        ("224.0.0.1", True),
        ("255.255.255.255", True),
        ("::1", True),
        ("fe80::1", True),
        ("fd00::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:10.20.0.1", False),
        ("2002:7f00:1::", True),  # 127.0.0.1 by 6to4
        ("64:ff9b::7f00:1", True),  # 127.0.0.1 by NAT64
    ],
)
def test_reserved_addresses_are_forbidden_unless_their_network_is_allowed(address: str, forbidden: bool) -> None:
    assert is_forbidden(ip_address(address), [ip_network("10.20.0.0/16")]) is forbidden


def test_a_listing_tells_new_from_changed_from_unchanged() -> None:
    listing = Listing()
    for n in range(2500):
        assert listing.add(Item(f"urn:{n}", version="1"))
    assert not listing.add(Item("urn:7", version="2"))
    listing.compare(
        [
            StoredItem("urn:0", "1", "v", is_current=True),
            StoredItem("urn:1", "0", "v", is_current=True),
            StoredItem("urn:2", "1", "v", is_current=False),
        ]
    )
    assert listing.counts() == {"new": 2497, "changed": 2, "unchanged": 1}
    to_fetch = list(listing.to_fetch())
    assert [one.uri for some in listing.items() for one in some] == [f"urn:{n}" for n in range(2500)]
    assert {item.uri: known for item, known in to_fetch[:3]} == {"urn:1": "v", "urn:2": "", "urn:3": ""}
    assert listing.has("urn:0")
    listing.lost("urn:0")
    assert not listing.has("urn:0")
    assert not listing.has("urn:2500")
    listing.close()


@pytest.mark.parametrize(
    ("given", "expected"),
    [("https://x.org", True), ("git+file:///a", True), ("a/b.md", False), ("urn:x", False), (Path("a"), False)],
)
def test_an_address_is_told_from_a_path(given: object, expected: bool) -> None:
    assert is_address(given) is expected


def test_an_unknown_scheme_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no connector for gopher:// addresses. There are connectors for .*https"):
        open_connector("gopher://x.org", CONTEXT)
