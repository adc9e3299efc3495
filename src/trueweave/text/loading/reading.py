"""Reading text: bytes to characters, by rules and without guessing."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import BinaryIO

from trueweave.errors import UnreadableFile
from trueweave.text.draft import MOST_TEXT
from trueweave.text.names import storable


def read_text(path: Path) -> str:
    """All characters of a text file as they are, but for NUL."""
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """All of a file that is no larger than a document may be."""
    with path.open("rb") as file:
        return read_stream(file, str(path))


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """All that is in a stream, if it is no more than a document may be."""
    data = stream.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise UnreadableFile(f"{name} is larger than {MOST_TEXT // 2**20} MiB. Split it into smaller files.")
    return data


def decode(data: bytes, name: str) -> str:
    """The characters: UTF-8, or UTF-16 if a byte order mark says so."""
    try:
        return storable(data.decode(encoding(data)))
    except UnicodeDecodeError as error:
        raise not_text(name, error) from error


def open_text(path: Path) -> io.TextIOWrapper:
    """The file, to be read in lines, line ends as they are."""
    file = path.open("rb")
    return io.TextIOWrapper(file, encoding(file.peek(4)), newline="")


def encoding(head: bytes) -> str:
    """The encoding of what begins like this."""
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def not_text(name: str, error: UnicodeDecodeError) -> UnreadableFile:
    """What to say of a file that is in another encoding."""
    if error.encoding.startswith("utf-16"):
        return UnreadableFile(f"{name} begins like UTF-16 and is not: {error.reason}. Save it as UTF-8.")
    byte = error.object[error.start]
    return UnreadableFile(
        f"{name} is not UTF-8: byte {byte:#04x} makes no sense there. Save it as UTF-8, or convert it: "
        "iconv -f WINDOWS-1252 -t UTF-8, if that is what it is in."
    )
