"""RTF: its text, without formatting."""

from __future__ import annotations

import re
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from trueweave.core.errors import UnreadableFile
from trueweave.text.names import storable
from trueweave.text.text_builder import PARAGRAPH, TextBuilder

_START = "{\\rtf"
_INFO = 20_000  # characters at the start of a file in which its properties are
_BLANK_LINES = re.compile(r"\n\s*\n")


def read(path: Path, draft: TextBuilder) -> str:
    """Write the paragraphs into the draft, and return the title of the properties."""
    content = path.read_bytes().decode("latin-1")
    if not content.lstrip("\ufeff \r\n\t").startswith(_START):
        raise UnreadableFile("it is not an RTF file; rename it with the right extension")
    for part in _BLANK_LINES.split(_plain(content)):
        draft.block(part, PARAGRAPH)
    if author := _property("author", content):
        draft.metadata["author"] = author
    return _property("title", content)


def _property(name: str, content: str) -> str:
    found = re.search(rf"{{\\{name} ([^{{}}]*)}}", content[:_INFO])
    text = _plain(f"{_START}1 {found[1]}}}") if found else ""
    return storable(" ".join(text.split()))


def _plain(content: str) -> str:
    text: str = rtf_to_text(content, errors="replace")  # type: ignore[no-untyped-call]
    return text
