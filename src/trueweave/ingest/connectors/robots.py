"""The robots.txt of a site: which pages programs may fetch, and how fast."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from trueweave.core.errors import InvalidDocument, ItemGone, SourceUnavailable
from trueweave.ingest.connectors.http import AGENT, HttpFetcher

if TYPE_CHECKING:
    from protego import Protego

_MOST = 500 * 2**10  # bytes, as RFC 9309 suggests; the rest is ignored


@dataclass(frozen=True)
class Robots:
    """The rules of a site for Trueweave."""

    rules: Protego

    @classmethod
    def read(cls, url: str, http: HttpFetcher) -> Robots:
        """The rules of the site of a url. Without a robots.txt everything is allowed; SourceUnavailable if it cannot be
        read, as nobody knows what is allowed then."""
        from protego import Protego

        parts = urlsplit(url)
        file = io.BytesIO()
        try:
            http.get(f"{parts.scheme}://{parts.netloc}/robots.txt", file)
        except ItemGone:
            return cls(Protego.parse(""))
        except InvalidDocument as error:
            raise SourceUnavailable(f"the pages of {parts.netloc} are not fetched: {error}") from error
        rules = Protego.parse(file.getvalue()[:_MOST].decode(errors="replace"))
        if delay := rules.crawl_delay(AGENT):
            http.keep_to(url, delay)
        return cls(rules)

    def allows(self, url: str) -> bool:
        """Whether a page may be fetched."""
        return bool(self.rules.can_fetch(url, AGENT))
