"""EPUB: its chapters, in reading order."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree
from zipfile import ZipFile

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.loading import web
from trueweave.text.text_builder import TextBuilder

_CONTAINER = "META-INF/container.xml"
_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_PAGES = ("application/xhtml+xml", "text/html")


def read(path: Path, draft: TextBuilder) -> str:
    """Write the chapters into the draft, and return the title."""
    with ZipFile(path) as archive:
        if _CONTAINER not in archive.namelist():
            raise UnreadableFile("it is not an EPUB file; rename it with the right extension")
        root = ElementTree.fromstring(archive.read(_CONTAINER)).find(".//{*}rootfile")
        where = root.attrib["full-path"] if root is not None else ""
        package = ElementTree.fromstring(archive.read(where))
        for name in _spine(package, posixpath.dirname(where)):
            _write_chapter(web.text_of(archive.read(name), name).text, name, draft)
    return package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or ""


def _spine(package: ElementTree.Element, folder: str) -> list[str]:
    """The names of the chapters' files, in order."""
    pages = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in package.iterfind(".//{*}manifest/{*}item")
        if item.get("media-type") in _PAGES
    }
    order = (item.get("idref") for item in package.iterfind(".//{*}spine/{*}itemref"))
    return [pages[id_] for id_ in order if id_ in pages]


def _write_chapter(page: str, name: str, draft: TextBuilder) -> None:
    """Add a chapter, under its title, if it has no headings of its own."""
    if not _HEADING.search(page):
        trial = TextBuilder()
        title = web.write(page, trial)
        if trial.text:
            draft.heading(title or posixpath.basename(name), 1)
    web.write(page, draft, offsets=False)
