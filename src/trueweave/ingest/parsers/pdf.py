"""PDF: the text of its pages."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]

from trueweave.core.errors import UnreadableFile
from trueweave.text.text_builder import PARAGRAPH, TextBuilder

_HYPHEN_AT_LINE_END = re.compile(r"[\x02\xad\ufffe]\r?\n?")


def read(path: Path, draft: TextBuilder) -> str:
    """Write the pages into the draft, and return the title."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        locked = "assword" in str(error)
        raise UnreadableFile(
            "it is locked; save it without a password"
            if locked
            else f"it is damaged, or not a PDF ({str(error).rstrip('.')}); save it again"
        ) from error
    for number in range(len(document)):
        draft.page(document.get_page_label(number) or str(number + 1))
        page = document[number]
        text = page.get_textpage().get_text_bounded()
        page.close()
        draft.block(_HYPHEN_AT_LINE_END.sub("", text).replace("\r\n", "\n"), PARAGRAPH)
    if not draft.text:
        raise UnreadableFile("it contains no text, perhaps only images; run text recognition (OCR) first")
    return str(document.get_metadata_dict().get("Title", ""))
