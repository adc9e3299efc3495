"""Markdown: the text is kept as it is, its headings become places, and its front matter becomes metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from trueweave.core.record import Place, Source, stated_readers
from trueweave.ingest.loading.front_matter import front_matter
from trueweave.ingest.loading.reading import read_text

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Markdown:
    """Reads CommonMark. Front matter is metadata, and no part of the text. The title is that of the front matter, or
    the first heading of level 1. The key `readers` of the front matter names the groups that may read the document."""

    suffixes: frozenset[str] = frozenset({".md", ".markdown"})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        whole, notes = read_text(path)
        front, metadata, problem = front_matter(whole)
        text = whole[front:]
        places = tuple(Place(p.start - front, p.kind, p.label, p.level, p.offset) for p in headings(whole, front))
        titles = [str(metadata.pop("title", None) or "").strip()]
        titles += [place.label for place in places if place.level == 1]
        readers = stated_readers(uri, metadata.pop("readers")) if "readers" in metadata else None
        title = next(filter(None, titles), "")
        yield Source(uri, text, title, metadata, places, (*notes, *problem), readers=readers)


def headings(text: str, start: int) -> Iterator[Place]:
    """The headings of a text from there on, as places."""
    blocks, inline = _parsers()
    lines = [start, *(end.end() for end in _LINE_END.finditer(text, start))]
    tokens = blocks.parse(text[start:])
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.map:
            children = inline.parseInline(content.content)[0].children or []
            label = " ".join("".join(child.content or " " * (child.type == "softbreak") for child in children).split())
            place = lines[opening.map[0]]
            yield Place(place, "heading", label, int(opening.tag[1:]), place)


@cache
def _parsers() -> tuple[MarkdownIt, MarkdownIt]:
    """One parser for blocks only, for whole documents, and one for the words of a heading."""
    blocks = MarkdownIt("commonmark")
    blocks.core.ruler.enableOnly(["normalize", "block"])
    return blocks, MarkdownIt("commonmark")
