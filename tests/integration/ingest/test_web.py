"""Documents from the web: the index follows a site, and a hostile site does no harm."""

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.web_site import Answer, Site, web_site
from trueweave import AsyncTrueweave, Event, Settings
from trueweave.errors import ConfigError, RemovalNotConfirmed, SourceUnavailable
from trueweave.events import Skipped, Unreadable
from trueweave.extend import Database
from trueweave.testing import HashEmbedder

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{}</channel></rss>"""


def settings(**changed: object) -> Settings:
    given: dict[str, object] = {"extractor": "capitals", "source_networks": ["127.0.0.0/8"], "source_pause": 0}
    return Settings.model_validate({**given, **changed})


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        yield found


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=settings())) as opened:
        yield opened


async def texts(index: AsyncTrueweave) -> dict[str, str]:
    return {document.uri: "".join(chunk.text for chunk in document.chunks) async for document in index.documents()}


async def problems(index: AsyncTrueweave, address: str) -> list[str]:
    """Why pages of an address could not be read."""
    heard: list[Event] = []
    await index.sync(address, listener=heard.append)
    return [one.reason for one in heard if isinstance(one, Unreadable)]


async def test_the_main_text_of_a_page_is_read_and_an_unchanged_page_is_not_fetched_again(
    index: AsyncTrueweave, site: Site
) -> None:
    made = " ".join(f"Ada Smith made copper kettle number {n} in Leeds, and it holds two litres." for n in range(9))
    url = site.page("/kettle", made, "The kettle")
    body = site.pages["/kettle"].body
    site.pages["/kettle"].body = body.replace(b"<article>", b"<nav>Home Products</nav><article>")
    assert (await index.add(url)).new == 1
    assert await texts(index) == {url: made}
    assert (await index.document(url)).title == "The kettle"
    assert site.taken() == [("/kettle", 200)]
    again = await index.add(url)
    assert (again.new, again.extracted, site.taken()) == (0, 0, [("/kettle", 304)])
    site.page("/kettle", "Ben Jones made the iron kettle.")
    assert (await index.sync(url)).new == 1
    assert await texts(index) == {url: "Ben Jones made the iron kettle."}
    del site.pages["/kettle"]
    with pytest.raises(RemovalNotConfirmed, match="1 of the 1 documents"):
        await index.sync(url)
    assert len(await texts(index)) == 1
    assert (await index.sync(url, confirmed=True)).removed == 1
    assert await texts(index) == {}


async def test_the_index_follows_a_sitemap(index: AsyncTrueweave, site: Site) -> None:
    paths = [f"/{n}" for n in range(10)]
    for path in paths:
        site.page(path, f"Ada Lovelace wrote page {path}.")
    address = site.sitemap("/sitemap.xml", *paths, "/private/x", modified="2026-01-02")
    site.pages["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private/\n")
    heard: list[Event] = []
    assert (await index.sync(address, listener=heard.append)).new == 10
    assert [one for one in heard if isinstance(one, Skipped)] == [
        Skipped(f"{site.url}/private/x", "disallowed by the robots.txt of its site")
    ]
    document = await index.document(f"{site.url}/3")
    assert document.metadata == {"date": "2026-01-02T00:00:00"}
    site.taken()

    unchanged = await index.sync(address)
    assert (unchanged.unchanged, unchanged.new) == (10, 0)
    assert site.taken() == [("/robots.txt", 200), ("/sitemap.xml", 200)]

    await index.remove([f"{site.url}/5"])  # a person removed it, but it is still there
    site.page("/3", "Grace Hopper wrote page 3.")
    site.sitemap("/sitemap.xml", *paths[:9], modified="2026-01-02")
    assert (await index.plan_sync(address)).removed == (f"{site.url}/9",)
    assert (await index.sync(address)).removed == 1  # one of ten needs no confirmation
    assert sorted(path for path, _ in site.taken() if path.strip("/").isdigit()) == ["/5"]
    assert len(await texts(index)) == 9

    site.sitemap("/sitemap.xml", *paths[:4], modified="2026-01-03")
    with pytest.raises(RemovalNotConfirmed, match="5 of the 9 documents") as raised:
        await index.sync(address)
    assert (raised.value.missing, raised.value.documents) == (5, 9)
    assert "/3" not in [path for path, _ in site.taken()], "nothing is fetched before it is confirmed"
    assert (await index.sync(address, confirmed=True)).removed == 5
    assert (await texts(index))[f"{site.url}/3"] == "Grace Hopper wrote page 3."


async def test_a_list_that_is_incomplete_or_unavailable_removes_nothing(index: AsyncTrueweave, site: Site) -> None:
    for path in ("/a", "/b"):
        site.page(path, f"Ada Lovelace wrote {path}.")
    site.sitemap("/one.xml", "/a")
    site.sitemap("/two.xml", "/b")
    both = "".join(f"<sitemap><loc>{site.url}/{name}.xml</loc></sitemap>" for name in ("one", "two"))
    site.pages["/all.xml"] = Answer(f"<sitemapindex>{both}</sitemapindex>".encode())
    address = f"sitemap+{site.url}/all.xml"
    assert (await index.sync(address)).new == 2
    site.pages["/two.xml"] = Answer(b"oops", 500)
    broken = await index.sync(address, confirmed=True)
    assert (broken.unreadable, broken.removed) == (1, 0)
    site.pages["/two.xml"] = Answer(b"<urlset><url><loc>")
    assert (await index.sync(address, confirmed=True)).removed == 0
    del site.pages["/all.xml"]
    with pytest.raises(SourceUnavailable, match="no longer exists"):
        await index.sync(address, confirmed=True)
    site.pages["/robots.txt"] = Answer(b"", 503)
    with pytest.raises(SourceUnavailable, match=r"pages of 127\.0\.0\.1:\d+ are not fetched"):
        await index.sync(address, confirmed=True)
    assert len(await texts(index)) == 2


async def test_a_run_that_is_interrupted_does_not_fetch_again_what_was_stored(
    index: AsyncTrueweave, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueweave.ingest.intake._MOST", 2)
    reached, go_on = threading.Event(), threading.Event()

    def wait(write: object) -> None:
        reached.set()
        go_on.wait(30)

    paths = [f"/{n}" for n in range(6)]
    for path in paths:
        site.page(path, f"Ada Lovelace wrote page {path}.")
    late, site.pages["/4"] = site.pages["/4"], Answer(write=wait)
    address = site.sitemap("/sitemap.xml", *paths, modified="2026-01-02")
    running = asyncio.create_task(index.sync(address))
    await asyncio.to_thread(reached.wait, 30)
    running.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    site.taken()
    site.pages["/4"] = late
    await index.sync(address)
    assert [path for path, _ in site.taken() if path.strip("/").isdigit()] == ["/4", "/5"]
    assert len(await texts(index)) == 6


async def test_other_settings_fetch_everything_again(index: AsyncTrueweave, database: Database, site: Site) -> None:
    site.page("/a", "Ada Lovelace wrote it.")
    address = site.sitemap("/sitemap.xml", "/a", modified="2026-01-02")
    await index.sync(address)
    site.taken()
    changed = settings(max_chunk_size=500)
    async with aclosing(await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=changed)) as other:
        assert (await other.sync(address)).new == 1
    assert ("/a", 200) in site.taken()


async def test_pages_that_leave_a_feed_are_kept(index: AsyncTrueweave, site: Site) -> None:
    def entry(path: str) -> str:
        link = site.page(path, f"Ada Lovelace wrote {path}.")
        when = "<pubDate>Tue, 06 Jan 2026 10:00:00 GMT</pubDate>"
        return f"<item><title>About {path}</title><link>{link}#top</link><author>Ada</author>{when}</item>"

    site.pages["/news.xml"] = Answer(FEED.format(entry("/a") + entry("/b")).encode())
    address = f"feed+{site.url}/news.xml"
    assert (await index.sync(address)).new == 2
    document = await index.document(f"{site.url}/a")
    assert (document.title, document.metadata) == (
        "About /a",
        {"author": "Ada", "date": "2026-01-06T10:00:00+00:00"},
    )
    site.pages["/news.xml"] = Answer(FEED.format(entry("/c")).encode())
    site.taken()
    assert (await index.sync(address)).removed == 0
    assert ("/a", 200) not in site.taken()
    assert len(await texts(index)) == 3
    site.pages["/news.xml"] = Answer(b"Not a feed")
    with pytest.raises(SourceUnavailable, match="not a feed"):
        await index.sync(address)


async def test_two_addresses_with_the_same_page_remove_it_when_both_have_lost_it(
    index: AsyncTrueweave, site: Site
) -> None:
    for path in ("/a", "/b"):
        site.page(path, f"Ada Lovelace wrote {path}.")
    one, two = site.sitemap("/1.xml", "/a", "/b"), site.sitemap("/2.xml", "/a")
    await index.sync(one, two)
    site.sitemap("/1.xml", "/b")
    assert (await index.sync(one, confirmed=True)).removed == 0
    assert len(await texts(index)) == 2


# --- hostile sites ------------------------------------------------------------------------------------


async def test_nothing_is_fetched_from_private_addresses(database: Database, site: Site) -> None:
    site.page("/secret", "Ada Lovelace keeps the secret.")
    opened = await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=settings(source_networks=[]))
    async with aclosing(opened) as index:
        for url in (f"{site.url}/secret", f"{site.url.replace('127.0.0.1', 'localhost')}/secret"):
            assert ["private or reserved" in one for one in await problems(index, url)] == [True], url
        assert site.taken() == []


@pytest.mark.parametrize(
    "target",
    [
        "http://[::1]:1/",
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "file:///etc/passwd",
    ],
)
async def test_a_redirect_leads_to_no_forbidden_address(index: AsyncTrueweave, site: Site, target: str) -> None:
    site.pages["/go"] = Answer(status=302, headers={"location": target})
    [reason] = await problems(index, f"{site.url}/go")
    assert "private or reserved" in reason or "it redirects to 'file:" in reason
    assert await texts(index) == {}


async def test_a_name_that_changes_its_address_leads_nowhere_else(
    index: AsyncTrueweave, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name has an allowed address when it is looked up first, and a forbidden one afterwards."""
    import socket

    real, asked = socket.getaddrinfo, []

    def rebinding(host: str, port: int, *args: object, **more: object) -> object:
        if host != "rebinding.example":
            return real(host, port, *args, **more)  # type: ignore[arg-type]
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "10.0.0.1", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr("socket.getaddrinfo", rebinding)
    site.page("/a", "Ada Lovelace wrote it.", connection="close")
    url = f"{site.url.replace('127.0.0.1', 'rebinding.example')}/a"
    assert await problems(index, url) == []
    assert asked == ["rebinding.example"], "the address that was checked is the one that is connected to"
    [reason] = await problems(index, url)
    assert "has the address 10.0.0.1" in reason


async def test_endless_and_slow_and_large_replies_end(database: Database, site: Site) -> None:
    limited = settings(source_max_bytes=100_000, source_seconds=1, source_max_items=5)

    def drip(write: object) -> None:
        while True:
            write(b"x")  # type: ignore[operator]
            threading.Event().wait(0.05)

    site.pages["/slow"] = Answer(write=drip)
    packed = gzip.compress(b"x" * 10_000_000)
    site.pages["/bomb"] = Answer(packed, headers={"content-encoding": "gzip"})
    site.pages["/loop"] = Answer(status=302, headers={"location": "/loop"})
    site.pages["/odd"] = Answer(b"x", headers={"content-encoding": "br"})
    opened = await AsyncTrueweave.enter(database, "web", HashEmbedder(), settings=limited)
    async with aclosing(opened) as index:
        for path, expected in (
            ("/slow", "not complete after 1 s"),
            ("/bomb", "larger than 0.0953674 MiB"),
            ("/loop", "redirects more than 5 times"),
            ("/odd", "packed as 'br'"),
            ("/missing", None),
        ):
            found = await problems(index, f"{site.url}{path}")
            assert [expected in one for one in found if expected] == ([True] if expected else [])

        site.pages["/self.xml"] = Answer(
            f"<sitemapindex><sitemap><loc>{site.url}/self.xml</loc></sitemap></sitemapindex>".encode()
        )
        assert await problems(index, f"sitemap+{site.url}/self.xml") == []
        site.pages["/bomb.xml.gz"] = Answer(gzip.compress(b"<urlset>" + b" " * 10_000_000))
        with pytest.raises(SourceUnavailable, match="unpacks to more than"):
            await index.sync(f"sitemap+{site.url}/bomb.xml.gz")
        laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
        bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><urlset><url><loc>&l9;</loc></url></urlset>'
        site.pages["/laughs.xml"] = Answer(bomb.encode())
        with pytest.raises(SourceUnavailable, match="not valid XML"):
            await index.sync(f"sitemap+{site.url}/laughs.xml")

        many = [f"/{n}" for n in range(20)]
        site.pages |= {path: Answer(status=500) for path in many}
        address = site.sitemap("/many.xml", *many)
        found = await problems(index, address)
        assert [one for one in found if "more than 5 items" in one]
        assert len([one for one in found if "status 500" in one]) == 5


async def test_a_token_goes_to_its_own_host_alone(
    index: AsyncTrueweave, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_TOKEN", "abc")
    with web_site() as other:
        there = other.page("/there", "Grace Hopper wrote it.")
        site.pages["/here"] = Answer(status=302, headers={"location": there})
        assert (await index.add(f"{site.url}/here", secrets={"token": "SITE_TOKEN"})).new == 1
        assert site.seen_headers[-1]["authorization"] == "Bearer abc"
        assert "authorization" not in other.seen_headers[-1]
    for wrong, why in (({"tokn": "SITE_TOKEN"}, "secret called 'tokn'"), ({"token": "NOT_SET"}, "NOT_SET")):
        with pytest.raises(ConfigError, match=why):
            await index.add(f"{site.url}/here", secrets=wrong)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("gopher://example.org/", "no connector for gopher://"),
        ("https://ada:pw@example.org/", "has a password in it"),
        ("https://exa mple.org/", "not a valid address"),
        ("https:///x", "not an address of HTTP"),
    ],
)
async def test_an_invalid_address_is_refused_with_the_reason(index: AsyncTrueweave, address: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        await index.add(address)


def test_networks_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_SOURCE_NETWORKS", '["10.20.0.0/16"]')
    assert Settings.load().source_networks == (ip_network("10.20.0.0/16"),)
