"""A feed in any version of RSS or Atom: its entries, as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import feedparser

from trueweave.core.errors import UnreadableFile
from trueweave.text.text_builder import LINE, TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write one JSON object for each entry into the draft: link, version, title, author and date. Returns the title of
    the feed."""
    feed = feedparser.parse(path.read_bytes())
    if not feed.entries and not feed.version:
        raise UnreadableFile("it is not a feed in RSS or Atom")
    for entry in feed.entries:
        when = entry.get("updated_parsed") or entry.get("published_parsed")
        found = {
            "link": entry.get("link", ""),
            "version": f"{entry.get('id', '')} {entry.get('updated', '') or entry.get('published', '')}",
            "title": entry.get("title", ""),
            "author": entry.get("author", ""),
            "date": f"{when[0]:04}-{when[1]:02}-{when[2]:02}T{when[3]:02}:{when[4]:02}:{when[5]:02}+00:00"
            if when
            else "",
        }
        draft.block(json.dumps(found), LINE)
    return str(feed.feed.get("title", ""))
