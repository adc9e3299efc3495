"""Reads sitemaps: XML, packed or not, and lists of addresses in text."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.connectors.http import unpacked

_PIECE = 64 * 2**10
_GZIP = zlib.MAX_WBITS | 16
_GZIP_START = b"\x1f\x8b"
_LONGEST = 2000


class SitemapEntry(NamedTuple):
    """A page, or another sitemap, and when it was modified, as the sitemap says."""

    url: str
    modified: str
    is_sitemap: bool


def entries(file: BinaryIO, most: int) -> Iterator[SitemapEntry]:
    """The entries of a sitemap, one at a time. UnreadableFile if it is no sitemap, or unpacks to more than `most`
    bytes."""
    pieces = _pieces(file, most)
    first = next(pieces, b"")
    if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        yield from _in_xml(first, pieces)
    else:
        yield from _in_text(first, pieces)


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(_GZIP) if file.read(2) == _GZIP_START else None
    file.seek(0)
    size = 0
    while piece := file.read(_PIECE):
        try:
            for part in unpacked(piece, unpacking) if unpacking else (piece,):
                size += len(part)
                if size > most:
                    raise UnreadableFile(f"the sitemap unpacks to more than {most:,} bytes.")
                yield part
        except zlib.error as error:
            raise UnreadableFile(f"the sitemap cannot be unpacked: {error}.") from error


def _in_xml(first: bytes, pieces: Iterator[bytes]) -> Iterator[SitemapEntry]:
    reader = _XmlEntries()
    piece: bytes | None = first
    try:
        while piece is not None:
            reader.parser.Parse(piece, False)
            yield from reader.taken()
            piece = next(pieces, None)
        reader.parser.Parse(b"", True)
    except ExpatError as error:
        raise UnreadableFile(f"the sitemap is not valid XML: {error}.") from error
    yield from reader.taken()


class _XmlEntries:
    """Collects entries while a sitemap is parsed. No tree is built, as a sitemap may have any number of entries."""

    def __init__(self) -> None:
        self.parser = ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._depth = 0
        self._said = ""
        self._fields: dict[str, str] = {}
        self._found: list[SitemapEntry] = []

    def taken(self) -> list[SitemapEntry]:
        """The entries found since the last call."""
        found, self._found = self._found, []
        return found

    def _start(self, tag: str, _: Mapping[str, str]) -> None:
        self._depth += 1
        self._said = ""

    def _text(self, text: str) -> None:
        if len(self._said) <= _LONGEST:
            self._said += text

    def _end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if self._depth == 3:
            self._fields[name] = self._said.strip()
        elif self._depth == 2:
            if name in ("url", "sitemap") and 0 < len(self._fields.get("loc", "")) <= _LONGEST:
                modified = self._fields.get("lastmod", "")
                self._found.append(SitemapEntry(self._fields["loc"], modified[:100], name == "sitemap"))
            self._fields = {}
        self._depth -= 1


def _in_text(first: bytes, pieces: Iterator[bytes]) -> Iterator[SitemapEntry]:
    left = b""
    piece: bytes | None = first
    while piece is not None:
        *lines, left = (left + piece).split(b"\n")
        yield from map(_line, filter(_is_address, lines))
        if len(left) > _PIECE:
            raise UnreadableFile("the list of addresses has a line that is too long.")
        piece = next(pieces, None)
    if _is_address(left):
        yield _line(left)


def _is_address(line: bytes) -> bool:
    return line.strip().startswith((b"http://", b"https://")) and len(line) <= _LONGEST


def _line(line: bytes) -> SitemapEntry:
    return SitemapEntry(line.strip().decode(errors="replace"), "", is_sitemap=False)
