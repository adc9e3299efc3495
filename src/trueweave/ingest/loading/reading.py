"""Reading text: bytes to characters. UTF-8 and UTF-16 with a byte order mark; other likely encodings are read with a
note."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trueweave.core.errors import NotText, UnreadableFile
from trueweave.text.names import storable
from trueweave.text.text_builder import MOST_TEXT

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f\v\x1a\x1b"} | {0x7F})
_SPACES = b" \t\n\r\f\v"
_HIGH = bytes(range(128, 256))
_NOT_IN_WINDOWS_1252 = b"\x81\x8d\x8f\x90\x9d"
_MOST_HIGH = 0.3  # share of letters: no language of Western Europe has more accented letters
_MOST_CONTROLS = 0.01
_BLOCK = 2**20


class DecodedText(NamedTuple):
    """Characters, and notes on how they were read."""

    text: str
    notes: tuple[str, ...] = ()


def read_text(path: Path) -> DecodedText:
    """All characters of a text file, except NUL."""
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """The content of a file, up to the maximum size of a document."""
    with path.open("rb") as file:
        return read_stream(file, str(path))


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """The content of a stream, up to the maximum size of a document."""
    data = stream.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise UnreadableFile(f"{name} is larger than {MOST_TEXT // 2**20} MiB. Split it into smaller files.")
    return data


def decode(data: bytes, name: str) -> DecodedText:
    """The characters: by the byte order mark, as UTF-8, or in the most likely encoding, with a note."""
    try:
        return DecodedText(storable(data.decode(_marked(data) or "utf-8")))
    except UnicodeDecodeError as error:
        likely = None if _marked(data) else _likely(data)
        if likely is None:
            raise undecodable(name, error) from error
        return DecodedText(storable(data.decode(likely)), (_note(likely),))


def is_binary(data: bytes) -> bool:
    """Whether this is not text, judging by its bytes."""
    if _marked(data):
        return False
    return 0 in data or _share(data, _CONTROLS) > _MOST_CONTROLS


def open_text(path: Path) -> tuple[io.TextIOWrapper, tuple[str, ...]]:
    """The open file, with its original line ends, and notes on its encoding.

    It is read once before, because only the whole file shows whether it is UTF-8.
    """
    with path.open("rb") as file:
        encoding, notes = _encoding(file, str(path))
    return io.TextIOWrapper(path.open("rb"), encoding, newline=""), notes


def _encoding(file: BinaryIO, name: str) -> tuple[str, tuple[str, ...]]:
    block = file.read(_BLOCK)
    if marked := _marked(block):
        return marked, ()
    decoder = codecs.getincrementaldecoder("utf-8")()
    error: UnicodeDecodeError | None = None
    likely: str | None = "cp1252"
    while block:
        if error is None:
            try:
                decoder.decode(block)
            except UnicodeDecodeError as first:
                error, likely = first, _likely(block)
        elif likely == "cp1252":
            likely = _likely(block) and _western(block)
        block = file.read(_BLOCK)
    if error is None:
        return "utf-8", ()
    if likely is None:
        raise undecodable(name, error) from error
    return likely, (_note(likely),)


def _marked(data: bytes) -> str | None:
    """The encoding by the byte order mark."""
    return next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), None)


def _likely(data: bytes) -> str | None:
    """The most likely encoding of bytes that are not UTF-8; None if there is none."""
    if 0 in data:
        return _without_mark(data)
    if _share(data, _CONTROLS) > _MOST_CONTROLS or _share(data, _HIGH) > _MOST_HIGH:
        return None
    return _western(data)


def _western(data: bytes) -> str:
    return "latin-1" if _share(data, _NOT_IN_WINDOWS_1252) else "cp1252"


def _without_mark(data: bytes) -> str | None:
    """UTF-16, if every other byte suggests it: in Western text most letters have a NUL beside them."""
    first, second = data[::2].count(0), data[1::2].count(0)
    if len(data) % 2 or max(first, second) < len(data) / 4 or min(first, second):
        return None
    return "utf-16-le" if second else "utf-16-be"


def _share(data: bytes, which: bytes) -> float:
    """The share of these bytes among those that are not white space."""
    solid = len(data.translate(None, _SPACES))
    return (len(data) - len(data.translate(None, which))) / solid if solid else 0.0


def _note(encoding: str) -> str:
    called = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}.get(encoding, encoding.upper())
    return f"it is not UTF-8 and was read as {called}; if letters look wrong, save it as UTF-8"


def undecodable(name: str, error: UnicodeDecodeError) -> NotText:
    """The error for a file in another encoding, or that is not text at all."""
    if error.encoding.startswith("utf-16"):
        return NotText(f"{name} begins like UTF-16 and is not: {error.reason}. Save it as UTF-8.")
    if is_binary(error.object):
        return not_text(name)
    byte = error.object[error.start]
    return NotText(
        f"{name} is not UTF-8: byte {byte:#04x} is not valid, and it is not Western text either. Convert it from "
        "its encoding, for example with: iconv -f WINDOWS-1251 -t UTF-8."
    )


def not_text(name: str) -> NotText:
    """The error for a file that is not text."""
    return NotText(
        f"{name} is not text: it contains bytes that do not occur in text. Save it as text, preferably UTF-8."
    )
