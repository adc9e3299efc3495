"""Pages of the web: a single page, the pages of a sitemap, and those of a feed."""

from __future__ import annotations

import codecs
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from email.message import Message
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import unquote, urldefrag, urlsplit

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, InvalidDocument, ItemGone, SourceUnavailable
from trueweave.core.events import Skipped, Unreadable
from trueweave.core.record import Json
from trueweave.ingest.connectors.http import HttpFetcher, HttpResponse
from trueweave.ingest.connectors.robots import Robots
from trueweave.ingest.connectors.sitemaps import SitemapEntry, entries
from trueweave.ingest.loading.documents import Parsed
from trueweave.ingest.parsing import ParserLimits, parse

_PAGE = Parsed(frozenset({".html"}), "trueweave.ingest.parsers.page:read")
_FEED = "trueweave.ingest.parsers.feed:read"
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
_DEEPEST = 3  # sitemaps within sitemaps
_MOST_SITEMAPS = 1000


class _Pages:
    """What these connectors have in common: fetching one page."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        try:
            # Each page is parsed in a process that writes no bytecode: importing them here compiles them once.
            for name in ("trafilatura", "feedparser", "protego"):
                import_module(name)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"reading pages of the web needs {error.name}, which is not installed. Run: "
                'pip install "trueweave[web]".'
            ) from error
        context.check_secrets("token")
        token = context.secret("token")
        self._url = address.partition("+")[2] if "+" in address.partition(":")[0] else address
        self._context = context
        self._http = HttpFetcher(context)
        self._host = urlsplit(self._url).netloc
        self._authorization = {"authorization": f"Bearer {token}"} if token else {}

    def close(self) -> None:
        self._http.close()

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        path = folder / "page"
        with path.open("wb") as file:
            response = self._get(item.uri, file, _conditions(validator))
        if response.status == 304:
            return None
        kind = _content_type(response)
        suffix = _SUFFIXES.get(kind.get_content_type(), PurePosixPath(unquote(urlsplit(response.url).path)).suffix)
        is_page = suffix in (".html", ".htm", ".xhtml", "")
        if is_page:
            _mark_encoding(path, kind.get_content_charset())
        named = path.rename(folder / f"page{'.html' if is_page else suffix}")
        return Fetched(named, _validator(response), _PAGE if is_page else None)

    def _get(self, url: str, file: BinaryIO, headers: dict[str, str]) -> HttpResponse:
        is_own = urlsplit(url).netloc == self._host  # the token is for one host
        return self._http.get(url, file, headers | (self._authorization if is_own else {}))


class WebPage(_Pages):
    """One page: `https://example.org/about`."""

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        yield Item(urldefrag(self._url)[0])


class Sitemap(_Pages):
    """The pages of a sitemap, and of the sitemaps that it lists: `sitemap+https://example.org/sitemap.xml`. A text file
    with one address on each line is a sitemap, too."""

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        robots = Robots.read(self._url, self._http)
        done: set[str] = set()
        waiting = [(self._url, 0)]
        while waiting:
            url, depth = waiting.pop()
            if url in done:
                continue
            done.add(url)
            try:
                with tempfile.TemporaryFile() as file:
                    self._get(url, file, {})
                    file.seek(0)
                    for one in entries(cast("BinaryIO", file), self._context.max_bytes):
                        if urlsplit(one.url).netloc != self._host:
                            yield Skipped(one.url[:200], "in the sitemap of another host")
                        elif one.is_sitemap and (depth == _DEEPEST or len(done) + len(waiting) >= _MOST_SITEMAPS):
                            yield Unreadable(
                                one.url, f"{one.url} is not read: sitemaps are nested too deeply, or too many."
                            )
                        elif one.is_sitemap:
                            waiting.append((one.url, depth + 1))
                        elif not robots.allows(one.url):
                            yield Skipped(one.url, "disallowed by the robots.txt of its site")
                        else:
                            yield _item(one)
            except (InvalidDocument, ItemGone) as error:
                if depth == 0:
                    raise SourceUnavailable(str(error)) from error
                yield Unreadable(url, str(error))


class Feed(_Pages):
    """The pages that a feed links to: `feed+https://example.org/news.xml`. A feed has the latest entries only, so pages
    that are no longer in it are kept."""

    is_complete = False

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        robots: dict[str, Robots] = {}
        with tempfile.NamedTemporaryFile(suffix=".feed") as file:
            try:
                self._get(self._url, cast("BinaryIO", file), {})
                file.flush()
                found = parse(Path(file.name), self._url, _FEED, ParserLimits(file=self._context.max_bytes))
            except (InvalidDocument, ItemGone) as error:
                raise SourceUnavailable(str(error).replace(file.name, self._url)) from error
        for line in found.text.splitlines():
            entry = json.loads(line)
            link = urldefrag(entry["link"])[0]
            if urlsplit(link).scheme not in ("http", "https"):
                yield Skipped(link[:200] or entry["title"][:200], "entries of a feed without a page")
                continue
            host = urlsplit(link).netloc
            if host not in robots:
                try:
                    robots[host] = Robots.read(link, self._http)
                except SourceUnavailable as error:
                    yield Unreadable(link, str(error))
                    continue
            if not robots[host].allows(link):
                yield Skipped(link, "disallowed by the robots.txt of its site")
                continue
            metadata: dict[str, Json] = {name: entry[name] for name in ("title", "author") if entry[name]}
            yield Item(link, entry["version"].strip(), metadata, _date(entry["date"]))


def _item(entry: SitemapEntry) -> Item:
    return Item(urldefrag(entry.url)[0], entry.modified, date=_date(entry.modified))


def _date(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def _conditions(validator: str) -> dict[str, str]:
    """Headers that ask for a page only if it has changed."""
    kind, _, value = validator.partition(" ")
    return {{"etag": "if-none-match", "modified": "if-modified-since"}[kind]: value} if validator else {}


def _validator(response: HttpResponse) -> str:
    if etag := response.headers.get("etag"):
        return f"etag {etag}"
    modified = response.headers.get("last-modified")
    return f"modified {modified}" if modified else ""


def _content_type(response: HttpResponse) -> Message:
    message = Message()
    message["content-type"] = response.headers.get("content-type", "")
    return message


def _mark_encoding(path: Path, charset: str | None) -> None:
    """Convert a page to UTF-8 with a byte order mark if its server declares the encoding: that overrides what the page
    declares."""
    if charset is None:
        return
    with suppress(LookupError):
        data = path.read_bytes()
        if not data.startswith(codecs.BOM_UTF8):
            path.write_bytes(codecs.BOM_UTF8 + data.decode(codecs.lookup(charset).name, "replace").encode())
