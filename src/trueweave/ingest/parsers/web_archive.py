"""Web archives (WARC): the main text of their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord

from trueweave.core.errors import NotText, UnreadableFile
from trueweave.ingest.loading import web
from trueweave.ingest.loading.reading import decode
from trueweave.ingest.parsers import page
from trueweave.ingest.session_process import ParsedFile
from trueweave.text.names import storable
from trueweave.text.text_builder import TextBuilder

_URL, _DATE = "WARC-Target-URI", "WARC-Date"
_PAGES = ("text/html", "application/xhtml+xml")
_LARGEST = 16 * 2**20  # bytes of a page, unpacked


def read(task: dict[str, Any], make: Callable[[], TextBuilder]) -> Iterator[ParsedFile]:
    """The pages of an archive, and what is left out."""
    with Path(task["path"]).open("rb") as file:
        try:
            for record in ArchiveIterator(file):
                if record.rec_type in ("response", "resource") and (url := record.rec_headers.get_header(_URL)):
                    yield _document(record, storable(url), make())
        except ArchiveLoadFailed as error:
            raise UnreadableFile(f"it is damaged, or not a WARC file ({str(error).strip().splitlines()[0]})") from error


def _document(record: ArcWarcRecord, url: str, draft: TextBuilder) -> ParsedFile:
    headers = record.http_headers
    status = headers.get_statuscode() if headers else "200"
    said = Message()
    said["content-type"] = (headers or record.rec_headers).get_header("Content-Type") or ""
    kind = said.get_content_type() if said["content-type"] else ""
    if status != "200":
        return ParsedFile(url, draft, "", skipped="not a page of an archive: its server answered with an error")
    if kind not in (*_PAGES, "text/plain"):
        return ParsedFile(
            url, draft, "", skipped="not a page of an archive: an image, a style, a script or another file"
        )
    data = record.content_stream().read(_LARGEST + 1)
    if len(data) > _LARGEST:
        return ParsedFile(url, draft, "", skipped=f"larger than {_LARGEST // 2**20} MiB")
    try:
        text = _text(data, said.get_content_charset(), kind, url)
    except NotText:
        return ParsedFile(url, draft, "", unpacked=len(data), skipped="not text")
    title = page.write(text, draft) if kind in _PAGES else ""
    if kind not in _PAGES:
        draft.block(text)
    draft.metadata["url"] = url
    if date := record.rec_headers.get_header(_DATE):
        draft.metadata["date"] = date
    return ParsedFile(url, draft, title, unpacked=len(data))


def _text(data: bytes, charset: str | None, kind: str, url: str) -> str:
    try:
        if charset:  # that of the server overrides what the page declares
            return data.decode(charset)
    except (LookupError, ValueError):
        pass
    return (web.text_of if kind in _PAGES else decode)(data, url).text
