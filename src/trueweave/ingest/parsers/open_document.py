"""OpenDocument text (.odt): paragraphs, headings, lists and tables, in the order of the document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

from trueweave.core.errors import UnreadableFile
from trueweave.text.names import storable
from trueweave.text.text_builder import TextBuilder

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_LEFT_OUT = frozenset({f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_TEXT}note-citation"})
_SPACES = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_STATED = ("creator", "date")
_MOST_SPACES = 100


def read(path: Path, draft: TextBuilder) -> str:
    """Write the body into the draft, and return the title of the properties."""
    with ZipFile(path) as archive:
        names = archive.namelist()
        if "content.xml" not in names:
            raise UnreadableFile("it is not an OpenDocument file, or it is encrypted")
        body = ElementTree.fromstring(archive.read("content.xml")).find(f".//{_OFFICE}text")
        properties = ElementTree.fromstring(archive.read("meta.xml")) if "meta.xml" in names else Element("none")
    if body is None:
        raise UnreadableFile("it is an OpenDocument file, but not a text")
    _write(body, draft)
    stated = {name: storable((properties.findtext(f".//{_DUBLIN_CORE}{name}") or "").strip()) for name in _STATED}
    if stated["creator"]:
        draft.metadata["author"] = stated["creator"]
    if stated["date"]:
        draft.metadata["date"] = stated["date"].partition(".")[0]  # nanoseconds, which dates of metadata do not have
    return properties.findtext(f".//{_DUBLIN_CORE}title") or ""


def _write(parent: Element, draft: TextBuilder) -> None:
    waiting = [iter(parent)]
    while waiting:
        element = next(waiting[-1], None)
        if element is None:
            waiting.pop()
        elif element.tag == f"{_TEXT}h":
            draft.heading(_text(element), _level(element))
        elif element.tag == f"{_TEXT}p":
            draft.block(_text(element))
        elif element.tag == f"{_TABLE}table":
            draft.table(_rows(element))
        elif element.tag not in _LEFT_OUT:
            waiting.append(iter(element))


def _level(heading: Element) -> int:
    level = heading.get(f"{_TEXT}outline-level", "1")
    return min(max(int(level), 1), 6) if level.isdecimal() and len(level) < 3 else 1


def _rows(table: Element) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        yield [" ".join(_text(cell).split()) for cell in row if cell.tag.startswith(_TABLE)]


def _text(element: Element) -> str:
    """The text of a paragraph or cell, without comments. Cells may hold several paragraphs."""
    parts: list[str] = []
    waiting: list[Element | str] = [element]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        if one.tag in _LEFT_OUT:
            continue
        if one.tag == f"{_TEXT}s":
            count = one.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdecimal() and len(count) < 9 else 1, _MOST_SPACES))
        parts.append(_SPACES.get(one.tag, one.text or ""))
        if one.tag == f"{_TEXT}p" and one is not element:
            waiting.append(" ")
        for child in reversed(one):
            waiting += [child.tail or "", child]
    return "".join(parts)
